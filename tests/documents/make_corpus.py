"""How the documents of a version were made, kept to be read. Run it once for each version, never for an old one.

    PYTHONPATH=src python tests/documents/make_corpus.py

writes the folder of the version that is installed, such as `0.1`: one release of every kind of mechanism and model,
published on a ledger where that is allowed and simulated where a guarantee is only claimed; ledgers with every kind of
entry under both accountants; one study for every model; and `expected.json`, what `infer` and `verify` said of them. A
folder that exists is left alone: 0.1's documents can no longer be made by any other code, and that is their worth.
All records are made up.
"""

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from test_corpus import HERE, asked, inferred, promised, totals

import discreet as dc
from discreet import as_published
from discreet import mechanisms as by
from discreet.models import InverseGamma, Poisson
from discreet.models.exponential import Exponential
from discreet.models.normal_mean import NormalMean
from discreet.releases.release import mechanism_document

SIZE = 24
PATIENTS: dict[str, list[Any]] = {
    "ward": [("A", "B", "C")[row * row % 3] for row in range(SIZE)],
    "smoker": ["yes" if row % 3 == 0 else "no" for row in range(SIZE)],
    "cough": ["yes" if row % 4 == 0 or row % 3 == 0 else "no" for row in range(SIZE)],
    "fever": ["yes" if row % 5 == 0 or row % 4 == 0 else "no" for row in range(SIZE)],
    "smoking": [("never", "former", "current", "pipe")[row % 7 % 4] for row in range(SIZE)],
    "age": [18 + 3 * row for row in range(SIZE)],
    "stay": [1 + row % 5 + row // 8 for row in range(SIZE)],
    "falls": [(0, 0, 1, 0, 2, 0)[row % 6] for row in range(SIZE)],
}
PLACE = "patients.csv"
NO_YES = ("no", "yes")
SYMPTOMS = dict.fromkeys(("smoker", "cough", "fever"), NO_YES)

one = dc.Categories("smoker", levels=NO_YES, prior=0.5, outside=NO_YES[0])
wards = dc.Categories("ward", levels=("A", "B", "C"), prior=(0.5, 1, 2), outside="A")
crossed = dc.Categories(
    ("ward", "smoker"),
    levels={"ward": ("A", "B", "C"), "smoker": NO_YES},
    prior=0.7,
    outside={"ward": "A", "smoker": NO_YES[0]},
)
bands = dc.Categories(
    [dc.Column.banded("age", (0, 30, 50, 120)), dc.Column("fever", NO_YES, outside=NO_YES[0])], prior=0.7
)
outside = dc.Categories("smoking", levels=("never", "former", "current"), outside="other", prior=0.7)
undecided = dc.Categories("ward", levels=("A", "B", "C"), outside="A")
naive = dc.Network.naive_bayes(
    "smoker", ["cough", "fever"], SYMPTOMS, prior=0.7, outside={name: each[0] for name, each in SYMPTOMS.items()}
)
own_prior = {"smoker": 2, "cough": 0.5, "fever": 0.7}
tree = dc.Network.from_edges(
    "smoker -> cough -> fever",
    levels=SYMPTOMS,
    prior=own_prior,
    outside={name: each[0] for name, each in SYMPTOMS.items()},
)
graph = dc.Network.from_edges(
    "smoker -> fever",
    "cough -> fever",
    levels=SYMPTOMS,
    prior=dc.EquivalentSize(4),
    outside={name: each[0] for name, each in SYMPTOMS.items()},
)
pair = dc.Network.from_edges(
    "smoker -> cough", levels={"smoker": NO_YES, "cough": NO_YES}, prior=0.7, outside=NO_YES[0]
)
plain_graph = dc.Network.from_edges(
    "ward -> cough", levels={"ward": ("A", "B", "C"), "cough": NO_YES}, outside={"ward": "A", "cough": NO_YES[0]}
)
stays = dc.LinearRegression("stay", ["age"], {"stay": (0, 10), "age": (0, 100)}, noise="0.2")
mixed = dc.LinearRegression(
    "stay", [dc.Column("smoker", NO_YES, outside=NO_YES[0])], {"stay": (0, 10)},
    prior_precision=2, noise=InverseGamma(3, "0.1"), missing={"stay": 4},
)  # fmt: skip
bounded = dc.LinearRegression("stay", ["age"], {"stay": (0, 10), "age": (0, 100)}, norm_bound=1, noise="0.5")
falls = Poisson("falls", most=3, shape=2, rate=2)
times = Exponential("stay", high=10, bands=5, shape=2, rate=8)
means = NormalMean("age", low=0, high=100, variance=400, bands=5, prior_records=2)

draw: dict[str, Any] = {"size": SIZE, "epsilon": 1, "delta": "1e-4"}
CASES: dict[str, Any] = {
    "geometric-one": by.GeometricHistogram(one, SIZE, 1),
    "geometric-wards": by.GeometricHistogram(wards, SIZE, "1/3"),
    "geometric-crossed": by.GeometricHistogram(crossed, SIZE, 2),
    "geometric-bands": by.GeometricHistogram(bands, SIZE, "1.5"),
    "geometric-outside": by.GeometricHistogram(outside, SIZE, 1),
    "geometric-ones": by.GeometricHistogram(undecided, SIZE, 1),
    "laplace": by.DiscreteLaplaceCounts(wards, SIZE, 1),
    "gaussian-histogram": by.DiscreteGaussianHistogram(wards, SIZE, 1, "1e-5"),
    "gaussian-counts": by.DiscreteGaussianCounts(wards, SIZE, 1, "1e-5"),
    "cube": by.CubeCounts(naive, SIZE, 2),
    "joint": by.JointHistograms(pair, SIZE, 2),
    "families-naive": by.FamilyHistograms(naive, SIZE, 2),
    "families-tree": by.FamilyHistograms(tree, SIZE, 3, shares=(2, 1)),
    "families-graph": by.FamilyHistograms(graph, SIZE, 1),
    "families-ones": by.FamilyHistograms(plain_graph, SIZE, 3),
    "family-gaussians": by.FamilyGaussians(tree, SIZE, 2, "1e-5"),
    "updates": as_published.LaplaceUpdates(pair, SIZE, 2),
    "fourier-updates": as_published.FourierUpdates(pair, SIZE, 2),
    "fourier-counts": by.FourierCounts(pair, SIZE, 2),
    "contrasts": by.ContrastGaussians(pair, SIZE, 2, "1e-5"),
    "hellinger-global": by.HellingerGlobal(wards, SIZE, 1),
    "hellinger-smooth": by.HellingerSmooth(one, SIZE, 1, "1e-3"),
    "hellinger-proved": by.HellingerSmoothProved(one, SIZE, 1, "1e-3"),
    "hellinger-reciprocal": by.HellingerReciprocal(one, SIZE, 1),
    "hellinger-local": as_published.HellingerLocal(one, SIZE, 1),
    "hellinger-calibrated": by.HellingerCalibrated(one, SIZE, 1),
    "hellinger-table": as_published.HellingerTable(one, SIZE, 1),
    "permute-and-flip": by.PermuteAndFlip(wards, SIZE, 1),
    "laplace-rounded": as_published.RoundedLaplace(wards, SIZE, 1, 2, 2),
    "laplace-floored": as_published.FlooredLaplace(wards, SIZE, 1, 2, 3),
    "laplace-truncated": as_published.TruncatedLaplace(wards, SIZE, 1, 2, 2),
    "laplace-clamped": as_published.ClampedLaplace(one, SIZE, 1, 2, 1),
    "draw-categories": by.PosteriorSampling.tempered(wards, **draw),
    "draw-truncated": by.PosteriorSampling.truncated(one, size=SIZE, epsilon=2),
    "draw-poisson": by.PosteriorSampling.tempered(falls, **draw, grid_bits=16),
    "draw-exponential": by.PosteriorSampling.tempered(times, **draw, grid_bits=16),
    "draw-normal": by.PosteriorSampling.tempered(means, **draw, grid_bits=8),
    "network-draw": by.NetworkSampling.tempered(pair, **draw),
    "network-draw-truncated": by.NetworkSampling.truncated(pair, size=SIZE, epsilon=3),
    "network-maximum": by.NetworkMaximum(pair, SIZE, 4, 4),
    "maximum": by.MaximumPosterior(wards, SIZE, 1, 8),
    "box-moments": by.BoxMoments(stays, SIZE, 4),
    "box-moments-mixed": by.BoxMoments(mixed, SIZE, 16),
    "laplace-moments": by.LaplaceMoments(stays, SIZE, 4),
    "gaussian-moments": by.GaussianMoments(stays, SIZE, 4, "1e-5"),
    "ball-draw": by.BallDraw(bounded, SIZE, 2, 256),
}
PLANNED = ("geometric-one", "gaussian-histogram", "laplace")
IN_GROUPS = ("geometric-one", "families-naive")
FOR_PATIENTS = ("geometric-wards", "gaussian-counts", "laplace")
ALL_ONES = (undecided, plain_graph)

STUDY = """[data]
path = "{place}"
size = {size}
unit = "one patient"
rows_per_unit = 2
{columns}
[budget]
epsilon = "20"
delta = "1e-5"
ledger = "study.ledger"
population = "made-up patients"
{questions}"""
COUNTED = "".join(f'[columns.{name}]\nlevels = ["no", "yes"]\noutside = "no"\n' for name in SYMPTOMS)
STUDIES = {
    "categories.toml": (
        COUNTED + '[columns.age]\nbands = [0, 30, 50, 120]\n[columns.smoking]\nlevels = ["never", "former"]\n'
        'outside = "former"\n',
        '[questions.smoking]\ncolumns = ["smoking"]\nepsilon = "0.5"\nprior = 0.5\nlabel = "Smoking, in words"\n'
        '[questions.crossed]\nmodel = "categories"\ncolumns = ["age", "fever"]\nmechanism = "DiscreteGaussianCounts"\n'
        "epsilon = 1\ndelta = 1e-6\nprior = [0.5, 1, 2, 1, 1, 1, 1, 0.5]\n",
    ),
    "naive-bayes.toml": (
        COUNTED,
        '[questions.cough]\nmodel = "naive-bayes"\ntarget = "smoker"\nfeatures = ["cough", "fever"]\n'
        'mechanism = "CubeCounts"\nepsilon = 2\nprior = { equivalent_size = 4 }\n',
    ),
    "network.toml": (
        COUNTED,
        '[questions.tree]\nmodel = "network"\nedges = ["smoker -> cough", "cough -> fever"]\n'
        'mechanism = "FamilyHistograms"\nepsilon = "3"\nprior = { smoker = 2, cough = 0.5, fever = [0.5, 1] }\n',
    ),
    "bif.toml": (
        "",
        '[questions.graph]\nmodel = "network"\nbif = "graph.bif"\nmechanism = "FamilyHistograms"\nepsilon = 2\n'
        "prior = 0.5\n",
    ),
    "regression.toml": (
        '[columns.stay]\nbounds = [0, 10]\n[columns.age]\nbounds = [0, 100]\nmissing = 40\n[columns.ward]\n'
        'levels = ["A", "B", "C"]\n',
        '[questions.stay]\nmodel = "regression"\nformula = "stay ~ age + ward"\nnoise = 0.2\nprior = 2\n'
        'mechanism = "GaussianMoments"\nepsilon = 4\ndelta = "1e-6"\n',
    ),
}  # fmt: skip


def neighbouring_tables(model: Any) -> list[list[int]]:
    """Return the statistics of the made-up patients, and of the same patients with the first one replaced."""
    replaced = {name: [values[1], *values[1:]] for name, values in PATIENTS.items()}
    return [[int(number) for number in model.statistics(data).open_for_publishing()] for data in (PATIENTS, replaced)]


class Corpus:
    """The folder of one version, and what is said of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.releases: dict[str, Any] = {}
        self.ledgers: dict[str, Any] = {}
        (folder / "releases").mkdir(parents=True)
        (folder / "studies").mkdir()

    def keep(self, name: str, release: dc.Release) -> None:
        """Write a release and what is said of it; a prior of ones is also stated by the reader."""
        (self.folder / "releases" / f"{name}.json").write_text(release.to_json(), "utf-8")
        prior = 1.0 if release.model in ALL_ONES else None
        self.releases[name] = {
            "kind": mechanism_document(release.mechanism)["kind"],
            "digest": release.digest,
            "promised": promised(release, neighbouring_tables(release.mechanism.model)),
            "prior": prior,
            "inferred": inferred(release, prior),
        }
        print(f"{process_time():6.1f} s", name, self.releases[name]["inferred"].get("method", "refused"))

    def publish(self, ledger: dc.Ledger, prefix: str, names: tuple[str, ...], **how: Any) -> None:
        """Publish cases on a ledger, each under a request of its own."""
        for name in names:
            mechanism, kept = CASES[name], f"{prefix}{name}"
            secret = mechanism.model.statistics(PATIENTS)
            release = dc.publish(mechanism, secret, ledger, f"patients, {kept}", request=kept, data=PLACE, **how)
            self.keep(kept, release)
            self.ledgers.setdefault(ledger.path.name, {"releases": [], "requests": {}})
            self.ledgers[ledger.path.name]["releases"].append(kept)
            self.ledgers[ledger.path.name]["requests"][kept] = [kept, PLACE]

    def plan(self, ledger: dc.Ledger, prefix: str, **how: Any) -> None:
        """Publish a plan."""
        chosen = [CASES[name] for name in PLANNED]
        secrets, labels = [each.model.statistics(PATIENTS) for each in chosen], [f"planned, {n}" for n in PLANNED]
        plan = dc.Plan(chosen, "1e-6")
        releases = dc.publish_plan(plan, secrets, ledger, labels, request="plan", **how)
        for name, release in zip(PLANNED, releases, strict=True):
            self.keep(f"{prefix}{name}", release)
            self.ledgers[ledger.path.name]["releases"].append(f"{prefix}{name}")


def fill(corpus: Corpus) -> None:
    """Publish what may be published, and rehearse what is only claimed."""
    claimed = tuple(n for n, each in CASES.items() if each.guarantee.evidence is dc.Evidence.CLAIMED)
    ledger = dc.Ledger.create(corpus.folder / "basic.ledger", 110, "0.001", "made-up patients")
    corpus.publish(ledger, "", tuple(name for name in CASES if name not in claimed))
    ledger.change_limit(120, reason="a plan is to be published, too")
    corpus.plan(ledger, "basic-plan-")
    mechanism = CASES["geometric-one"]
    ledger.charge(mechanism.guarantee, "charged in vain", mechanism_document(mechanism))
    for name in (*claimed, "geometric-wards", "box-moments"):
        model = CASES[name].model
        made_up = np.array(neighbouring_tables(model)[0])
        corpus.keep(f"simulated-{name}", dc.simulate(CASES[name], made_up, dc.SeededBits(7), f"rehearsal, {name}"))
    unit = dc.Unit("one patient", rows=2)
    ledger = dc.Ledger.create(
        corpus.folder / "zcdp.ledger", 24, "1e-5", "made-up patients", "one patient", accountant="zcdp"
    )
    corpus.publish(ledger, "zcdp-", FOR_PATIENTS, unit=unit)
    corpus.plan(ledger, "zcdp-plan-", unit=unit)
    ledger.change_limit(32, reason="a second year")
    for place, adjacency in (("within", dc.Adjacency.REPLACE_WITHIN_GROUP), ("exchange", dc.Adjacency.REPLACE_ONE)):
        groups = dc.Ledger.create(
            corpus.folder / f"{place}.ledger", 20, population="made-up patients", groups=("north", "south"),
            adjacency=adjacency,
        )  # fmt: skip
        corpus.publish(groups, f"{place}-north-", IN_GROUPS, group="north")
        corpus.publish(groups, f"{place}-south-", IN_GROUPS[:1], group="south")
        corpus.publish(groups, f"{place}-all-", IN_GROUPS[1:])


def main() -> None:
    """Write the folder of the installed version."""
    folder = HERE / ".".join(dc.__version__.split(".")[:2])
    if folder.exists():
        sys.exit(f"{folder.name} was made before, and is never made again.")
    corpus = Corpus(folder)
    rows = zip(*PATIENTS.values(), strict=True)
    table = "\n".join([",".join(PATIENTS), *(",".join(map(str, row)) for row in rows)])
    (folder / "studies" / PLACE).write_text(table + "\n", "utf-8")
    (folder / "studies" / "graph.bif").write_text(graph.to_bif(), "utf-8")
    studies: dict[str, Any] = {}
    for name, (columns, questions) in STUDIES.items():
        path = folder / "studies" / name
        path.write_text(STUDY.format(place=PLACE, size=SIZE, columns=columns, questions=questions), "utf-8")
        studies[name] = {question: asked(each) for question, each in dc.Study(path).questions.items()}
    fill(corpus)
    for name, said in corpus.ledgers.items():
        said["totals"] = totals(dc.Ledger.open(folder / name))
    expected = {
        "software": f"discreet {dc.__version__}",
        "level": 0.9,
        "mechanism_kinds": sorted(dc.Mechanism.registered()),
        "model_kinds": ["Categories", "Exponential", "LinearRegression", "Network", "NormalMean", "Poisson"],
        "releases": corpus.releases,
        "ledgers": corpus.ledgers,
        "studies": studies,
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
