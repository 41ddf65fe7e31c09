"""What the documents of a version are about: made-up patients, and a small mechanism for every form of a document.

`make_corpus.py` publishes these. Each is tiny, so that it is read in a moment: 24 records, a few cells, coarse grids.
"""

from typing import Any

import discreet as dc
from discreet.programs import Program
from discreet.programs import _families as families
from discreet.programs.families import LaplaceScale, NormalPrecision
from discreet_papers import as_published

SIZE, PERSONS = 24, 10
PATIENTS: dict[str, list[Any]] = {
    "ward": [("A", "B", "C")[row * row % 3] for row in range(SIZE)],
    "smoker": ["yes" if row % 3 == 0 else "no" for row in range(SIZE)],
    "cough": ["yes" if row % 4 == 0 or row % 3 == 0 else "no" for row in range(SIZE)],
    "fever": ["yes" if row % 5 == 0 or row % 4 == 0 else "no" for row in range(SIZE)],
    "smoking": [("never", "former", "current", "pipe")[row % 7 % 4] for row in range(SIZE)],
    "age": [18 + 3 * row for row in range(SIZE)],
    "stay": [1 + row % 5 + row // 8 for row in range(SIZE)],
    "falls": [(0, 0, 1, 0, 2, 0)[row % 6] for row in range(SIZE)],
    "change": [(row * 5 % 9 - 4) / 2 for row in range(SIZE)],
    "weight": [1 + row % 4 for row in range(SIZE)],
    "admitted": [f"2025-{1 + row // 2:02}-{1 + row:02}" for row in range(SIZE)],
    "insured": [row % 3 > 0 for row in range(SIZE)],
    "patient": [f"p{row % 8}" for row in range(SIZE)],
}
NO_YES = ("no", "yes")
SYMPTOMS = dict.fromkeys(("smoker", "cough", "fever"), NO_YES)
NONE_OF_THEM = dict.fromkeys(SYMPTOMS, "no")
SMOKER, COUGH, FEVER = (dc.Column(name, NO_YES, outside="no") for name in SYMPTOMS)
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
AGES = dc.Column.banded("age", (0, 30, 50, 120))
STAYS = dc.Column.banded("stay", (0, 2, 4, 6, 10))
FALLS = dc.Column("falls", (0, 1, 2), outside=2)
SEASONS = dc.Column.banded("admitted", ("2025-01-01", "2025-06-01", "2026-01-01"), names=("first half", "second half"))

one = dc.Categories("smoker", levels=NO_YES, prior=0.5, outside="no")
wards = dc.Categories("ward", levels=("A", "B", "C"), prior=(0.5, 1, 2), outside="A")
seasons = dc.Categories([SEASONS], prior=0.7)
insured = dc.Categories("insured", levels=(False, True), outside=False, prior=0.7)
undecided = dc.Categories("ward", levels=("A", "B", "C"), outside="A")
naive = dc.Network.naive_bayes("smoker", ["cough", "fever"], SYMPTOMS, prior=0.7, outside=NONE_OF_THEM)
tree = dc.Network.from_edges(
    "smoker -> cough -> fever", levels=SYMPTOMS, prior={"smoker": 2, "cough": 0.5, "fever": 0.7}, outside=NONE_OF_THEM
)
graph = dc.Network.from_edges(
    "smoker -> fever", "cough -> fever", levels=SYMPTOMS, prior=dc.EquivalentSize(4), outside=NONE_OF_THEM
)
pair = dc.Network.from_edges(
    "smoker -> cough", levels=dict.fromkeys(("smoker", "cough"), NO_YES), prior=0.7, outside="no"
)
root = dc.Network.from_edges("smoker", levels={"smoker": NO_YES}, prior=0.7, outside="no")
undecided_pair = pair.with_prior(None)
stays = dc.LinearRegression("stay", ["age"], {"stay": (0, 10), "age": (0, 100)}, noise="0.2", missing="middle")
mixed = dc.LinearRegression(
    "stay",
    [SMOKER],
    {"stay": (0, 10)},
    prior_precision=2,
    noise=dc.regression.InverseGamma(3, "0.1"),
    missing={"stay": 4},
)
bounded = dc.LinearRegression(
    "stay", ["age"], {"stay": (0, 10), "age": (0, 100)}, norm_bound=1, noise="0.5", missing="middle"
)
curved = dc.LinearRegression(
    "stay",
    ["age"],
    {"stay": (0, 10), "age": (0, 100)},
    prior_precision=None,
    noise="0.2",
    terms=(("age", "age"),),
    missing="middle",
)
falls = dc.programs.families.PoissonRate("falls", most=3, shape=2, rate=2, outside=3)
successes = dc.programs.families.BinomialProbability("falls", trials=3, alpha=2, beta=2, outside=0)
scales = LaplaceScale("change", reach=2, bands=2, shape=2, rate=2, outside="usual")
precisions = NormalPrecision("change", reach=2, bands=2, shape=2, rate=2, outside="usual")

sums = dc.NumberSums("age", (0, 100), ("mean", "variance"), missing=40, unit=8)
gapped_sums = dc.NumberSums("age", (0, 100), ("mean", "sum"), unit=8)
grouped_sums = dc.NumberSums("age", (0, 100), by=SMOKER, missing=40, unit=8)
dated_sums = dc.NumberSums("admitted", ("2025-01-01", "2026-01-01"), missing="2025-07-01", unit=16)
totals = dc.NumberSums("stay", (0, 30), missing=0, unit=8, persons=dc.Persons("patient", PERSONS, "total", (0, 10)))
largest = dc.NumberSums("stay", (0, 10), missing=0, unit=8, persons=dc.Persons("patient", PERSONS, "largest"))
weighted = dc.WeightedSums("stay", (0, 10), weights=dc.Weights("weight", 4, "fixed by design"), missing=0)
every_row = dc.WeightedSums("stay", (0, 10), rows=dc.numbers.PersonRows("patient", PERSONS, 4))
cells = dc.NumberTable("age", (0, 100), 5, quantiles=("0.5",), missing=40)
gapped_cells = dc.NumberTable("stay", (0, 12), 4, asks=("distribution",), is_whole=True)
grouped_cells = dc.NumberTable("age", (0, 100), 2, quantiles=("0.5",), missing=40, by=SMOKER)
cells_of_persons = dc.NumberTable("stay", (0, 10), 2, missing=0, persons=dc.Persons("patient", PERSONS, "smallest"))
even = dc.NumberTable("falls", (0, 3), edges=(0, 1, 2, 3), missing=0, quantiles=("0.5",))

PROGRAMS: dict[str, Program] = {
    "logistic": dc.Logistic("fever ~ smoker", [SMOKER, FEVER]),
    "multinomial": dc.programs.Multinomial("ward ~ smoker", [SMOKER, WARD], prior="Normal(0, 1)"),
    "log-linear": dc.programs.LogLinear("~ smoker + fever + smoker:fever", [SMOKER, FEVER]),
    "family-poisson": families.Poisson(FALLS, rate="Gamma(2, 2)"),
    "family-binomial": families.Binomial(FALLS, trials=3),
    "family-negative-binomial": families.NegativeBinomial(FALLS),
    "family-exponential": families.Exponential(STAYS),
    "family-gamma": families.Gamma(STAYS),
    "family-log-normal": families.LogNormal(STAYS, mean="Normal(1, 1)", sd="HalfNormal(1)"),
    "family-normal": families.Normal(STAYS),
}

draw: dict[str, Any] = {"size": SIZE, "epsilon": 1, "delta": "1e-4"}
CASES: dict[str, Any] = {
    "geometric-one": dc.tables.GeometricHistogram(one, SIZE, 1),
    "geometric-wards": dc.tables.GeometricHistogram(wards, SIZE, "1/3"),
    "geometric-seasons": dc.tables.GeometricHistogram(seasons, SIZE, 1),
    "geometric-insured": dc.tables.GeometricHistogram(insured, SIZE, 1),
    "geometric-undecided": dc.tables.GeometricHistogram(undecided, SIZE, 1),
    "laplace": dc.tables.DiscreteLaplaceCounts(wards, SIZE, 1),
    "gaussian-histogram": dc.tables.DiscreteGaussianHistogram(wards, SIZE, 1, "1e-5"),
    "gaussian-counts": dc.tables.DiscreteGaussianCounts(wards, SIZE, 1, "1e-5"),
    "cube": dc.networks.CubeCounts(naive, SIZE, 2),
    "joint": dc.networks.JointHistograms(pair, SIZE, 2),
    "families-naive": dc.networks.FamilyHistograms(naive, SIZE, 2),
    "families-undecided": dc.networks.FamilyHistograms(undecided_pair, SIZE, 3),
    "family-gaussians": dc.networks.FamilyGaussians(tree, SIZE, 2, "1e-5"),
    "updates": as_published.LaplaceUpdates(pair, SIZE, 2),
    "fourier-updates": as_published.FourierUpdates(root, SIZE, 2),
    "fourier-counts": dc.networks.FourierCounts(root, SIZE, 2),
    "contrasts": dc.networks.ContrastGaussians(root, SIZE, 2, "1e-5"),
    "hellinger-global": dc.choices.HellingerGlobal(one, SIZE, 1),
    "hellinger-smooth": dc.choices.HellingerSmooth(one, SIZE, 1, "1e-3"),
    "hellinger-proved": dc.choices.HellingerSmoothProved(one, SIZE, 1, "1e-3"),
    "hellinger-reciprocal": dc.choices.HellingerReciprocal(one, SIZE, 1),
    "hellinger-local": as_published.HellingerLocal(one, SIZE, 1),
    "hellinger-calibrated": dc.choices.HellingerCalibrated(one, SIZE, 1),
    "hellinger-table": as_published.HellingerTable(one, SIZE, 1),
    "hellinger-published-global": as_published.PublishedHellingerGlobal(one, SIZE, 1),
    "hellinger-published-smooth": as_published.PublishedHellingerSmooth(one, SIZE, 1, "1e-3"),
    "total-variation": dc.choices.TotalVariationChoice(one, SIZE, 1),
    "permute-and-flip": dc.choices.PermuteAndFlip(one, SIZE, 1),
    "laplace-rounded": as_published.RoundedLaplace(wards, SIZE, 1, 2, 2),
    "laplace-floored": as_published.FlooredLaplace(wards, SIZE, 1, 2, 3),
    "laplace-truncated": as_published.TruncatedLaplace(wards, SIZE, 1, 2, 2),
    "laplace-clamped": as_published.ClampedLaplace(one, SIZE, 1, 2, 1),
    "draw-categories": dc.draws.PosteriorSampling.tempered(one, **draw),
    "draw-binomial": dc.draws.PosteriorSampling.tempered(successes, **draw, grid_bits=4),
    "rate-truncation": dc.draws.RateTruncation(falls, SIZE, 8, lowest="0.5", highest=2, grid_bits=4),
    "rate-truncation-scale": dc.draws.RateTruncation(scales, SIZE, 8, lowest="0.5", highest=2, grid_bits=4),
    "rate-truncation-precision": dc.draws.RateTruncation(precisions, SIZE, 8, lowest="0.5", highest=2, grid_bits=4),
    "network-draw": dc.draws.NetworkSampling.tempered(root, **draw),
    "network-maximum": dc.choices.NetworkMaximum(root, SIZE, 4, 4),
    "maximum": dc.choices.MaximumPosterior(wards, SIZE, 1, 8),
    "cone-moments": dc.regression.ConeMoments(stays, SIZE, 4),
    "box-moments": dc.regression.BoxMoments(stays, SIZE, 4),
    "box-moments-mixed": dc.regression.BoxMoments(mixed, SIZE, 16),
    "box-moments-curved": dc.regression.BoxMoments(curved, SIZE, 8),
    "laplace-moments": dc.regression.LaplaceMoments(stays, SIZE, 4),
    "gaussian-moments": dc.regression.GaussianMoments(stays, SIZE, 4, "1e-5"),
    "ball-draw": dc.draws.BallDraw(bounded, SIZE, 2, 64),
    "sums": dc.numbers.GeometricSums(sums, SIZE, 2),
    "sums-gapped": dc.numbers.GeometricSums(gapped_sums, SIZE, 2),
    "sums-grouped": dc.numbers.GeometricSums(grouped_sums, SIZE, 2),
    "sums-dated": dc.numbers.GeometricSums(dated_sums, SIZE, 2),
    "sums-totals": dc.numbers.GeometricSums(totals, PERSONS, 2),
    "sums-largest": dc.numbers.GeometricSums(largest, PERSONS, 2),
    "sums-weighted": dc.numbers.GeometricSums(weighted, SIZE, 2),
    "sums-every-row": dc.numbers.GeometricSums(every_row, PERSONS, 2),
    "cells": dc.numbers.TreeTable(cells, SIZE, 2),
    "cells-gapped": dc.numbers.TreeTable(gapped_cells, SIZE, 2),
    "cells-grouped": dc.numbers.TreeTable(grouped_cells, SIZE, 2),
    "cells-of-persons": dc.numbers.TreeTable(cells_of_persons, PERSONS, 2),
    "median": dc.numbers.ChosenCounts(dc.NumberQuantiles("age", (0, 100), ("0.5",), missing=40), SIZE, 4),
    "quartiles": dc.numbers.ChosenTable(dc.NumberQuantiles("age", (0, 100), ("0.25", "0.75"), is_whole=True), SIZE, 4),
    "paths": dc.numbers.PathTable.per_unit(cells, SIZE, "0.05"),
    "paths-of-groups": dc.numbers.GroupPaths.per_unit(grouped_cells, SIZE, "0.05", between=20),
    "metric-sums": dc.numbers.MetricSums.per_unit(dc.NumberSums("stay", (0, 10), missing=0, unit=8), SIZE, "0.5"),
    "metric-sums-grouped": dc.numbers.MetricSums.per_unit(grouped_sums, SIZE, "0.05"),
    "levels-on-a-tree": dc.tables.TreeLevels.per_unit(wards, SIZE, "0.5", {"A": "C", "B": "C"}, {"A": "1/2"}),
} | {name: dc.tables.GeometricHistogram(program.table, SIZE, 2) for name, program in PROGRAMS.items()}
CONTINUED = ("geometric-one", "geometric-wards", "laplace")
"""Cases that every version holds, also where their documents are written as they were."""


def form(document: object) -> object:
    """Return how a document is written, whatever its numbers and names: kinds, versions, fields and their types."""
    if isinstance(document, dict):
        kind = (document.get("kind"), document.get("version", 1))
        return kind, tuple((name, form(value)) for name, value in sorted(document.items()) if name != "kind")
    if isinstance(document, list | tuple):
        return "list", tuple(sorted({repr(form(each)) for each in document}))
    return document if isinstance(document, bool) else type(document).__name__
