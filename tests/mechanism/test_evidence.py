"""What releases are evidence of: all kinds of mechanisms, by the likelihood that they state themselves."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.mechanism import Additive, Choice, Draw, Measurement, Mechanism, Quantities, Sized
from discreet.networks._measured_tables import FamilyCounts
from discreet.noise import has_density, preserved, product_of
from discreet.tables._mechanisms import TableCells
from discreet_papers import as_published
from discreet_papers.as_published.published_laplace import (
    ClampedLaplace,
    FlooredLaplace,
    RoundedLaplace,
    TruncatedLaplace,
)
from every_pair import ACCEPTED, MODELS, made

TABLE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
COIN = dc.Categories("x", levels=("a", "b"), prior=20, outside="a")
NET = dc.Network.from_edges("a -> b", "c", levels={"a": (0, 1), "b": (0, 1, 2), "c": (0, 1)}, outside=0)
YES_NO = dc.Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", (0, 1)), outside=0)
BAYES = dc.Network.naive_bayes("y", ["a", "b"], levels={"y": (0, 1, 2), "a": (0, 1), "b": (0, 1)}, outside=0)
ITEMS = dc.Network.from_edges("a", "b", levels={"a": (0, 1), "b": (0, 1)}, outside=0)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
BALL = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise=1, norm_bound=1, missing="middle")
GROUPS = dc.Column("g", ("a", "b"), outside="a")
SUMS = dc.NumberSums("x", (0, 1), by=GROUPS, unit=2)
CELLS = dc.NumberTable("x", (0, 4), 4, by=GROUPS)
ORDERED = dc.NumberTable("x", (0, 4), edges=(0, 1, 3, 4), missing=0)
BY_GROUP = dc.NumberTable("x", (0, 2), 2, missing=0, by=dc.Column("g", ("a", "b"), outside="a"))
SIZE = 4
MEASURED: dict[str, Additive] = {
    "FamilyHistograms": dc.FamilyHistograms(NET, SIZE, 1),
    "FamilyGaussians": dc.networks.FamilyGaussians(NET, SIZE, 1, "1e-3"),
    "LaplaceUpdates": as_published.LaplaceUpdates(NET, SIZE, 1),
    "JointHistograms": dc.networks.JointHistograms(NET, SIZE, 1),
    "CubeCounts": dc.CubeCounts(BAYES, SIZE, 1),
    "FourierCounts": dc.networks.FourierCounts(YES_NO, SIZE, 1),
    "FourierUpdates": as_published.FourierUpdates(YES_NO, SIZE, 1),
    "ContrastGaussians": dc.networks.ContrastGaussians(NET, SIZE, 1, "1e-3"),
    "BoxMoments": dc.regression.BoxMoments(LINE, SIZE, 1),
    "LaplaceMoments": dc.regression.LaplaceMoments(LINE, SIZE, 1),
    "GaussianMoments": dc.regression.GaussianMoments(LINE, SIZE, 1, "1e-3"),
    "GeometricSums": dc.GeometricSums(SUMS, SIZE, 1, squares="1/2"),
    "TreeTable": dc.TreeTable(CELLS, SIZE, 1, blocks=2),
    "PathTable": dc.numbers.PathTable(ORDERED, SIZE, 1),
    "GroupPaths": dc.numbers.GroupPaths(BY_GROUP, SIZE, 1),
    "MetricSums": dc.numbers.MetricSums(dc.NumberSums("x", (0, 1), missing=0, unit=2), SIZE, 1),
}
OTHERS: dict[str, Mechanism] = {
    "RoundedLaplace": RoundedLaplace(TABLE, SIZE, 1, 2, 3),
    "FlooredLaplace": FlooredLaplace(TABLE, SIZE, 1, 1, 2),
    "TruncatedLaplace": TruncatedLaplace(TABLE, SIZE, 1, 2, 2),
    "ClampedLaplace": ClampedLaplace(TABLE, SIZE, 1, 2, 2),
    "HellingerGlobal": dc.choices.HellingerGlobal(TABLE, SIZE, 1),
    "PublishedHellingerGlobal": as_published.PublishedHellingerGlobal(TABLE, SIZE, 1),
    "PublishedHellingerSmooth": as_published.PublishedHellingerSmooth(TABLE, SIZE, 1, "1e-3"),
    "HellingerSmooth": dc.choices.HellingerSmooth(TABLE, SIZE, 1, "0.1"),
    "HellingerSmoothProved": dc.choices.HellingerSmoothProved(TABLE, SIZE, 1, "0.1"),
    "HellingerReciprocal": dc.choices.HellingerReciprocal(TABLE, SIZE, 1),
    "HellingerLocal": as_published.HellingerLocal(TABLE, SIZE, 1),
    "HellingerCalibrated": dc.choices.HellingerCalibrated(TABLE, SIZE, 1),
    "HellingerTable": as_published.HellingerTable(TABLE, SIZE, 1),
    "PermuteAndFlip": dc.choices.PermuteAndFlip(TABLE, SIZE, 1),
    "MaximumPosterior": dc.choices.MaximumPosterior(TABLE, SIZE, 1, resolution=6),
    "TotalVariationChoice": dc.choices.TotalVariationChoice(COIN, SIZE, 1),
    "NetworkMaximum": dc.choices.NetworkMaximum(ITEMS, SIZE, 1, resolution=4),
    "PosteriorSampling": dc.PosteriorSampling.truncated(COIN, size=SIZE, epsilon=1, least="0.1"),
    "RateTruncation": dc.draws.RateTruncation(dc.PoissonRate("x", 3, outside=3), SIZE, 9, lowest="0.5", highest=2),
    "NetworkSampling": dc.draws.NetworkSampling.truncated(ITEMS, size=SIZE, epsilon=1, least="0.1"),
    "BallDraw": dc.draws.BallDraw(BALL, SIZE, 1, steps=16),
    "ChosenCounts": dc.numbers.ChosenCounts(dc.NumberQuantiles("x", (0, 9), ("0.5",), is_whole=True), SIZE, 1),
    "ChosenTable": dc.numbers.ChosenTable(dc.NumberQuantiles("x", (0, 30), missing=0, is_whole=True), SIZE, 1),
}
BULK = dc.WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
GENERATED: dict[str, Mechanism] = {
    "BallMoments": dc.BallMoments(BULK, SIZE, 1),
    "ConeMoments": dc.regression.ConeMoments(LINE, SIZE, 1),
}
"""Noise without a likelihood in closed form."""
OTHERS["GaussianBallMoments"] = dc.regression.GaussianBallMoments(BULK, SIZE, 1, "1e-3")
for kind in sorted(set(dc.Mechanism.registered()) - set(MEASURED | OTHERS | GENERATED)):
    of_any_model = made(kind, MODELS[ACCEPTED[kind][-1]], SIZE)
    (MEASURED if isinstance(of_any_model, Additive) else OTHERS)[kind] = of_any_model
EVERY: dict[str, Mechanism] = MEASURED | OTHERS
SCORED = {"PairGaussians", "GaussianPairTables"}
"""Their scores decide what is measured, and are no evidence: what was measured holds for every choice."""


def some_counts(mechanism: Mechanism, seed: int = 0) -> NDArray[np.int64]:
    """Return counts or moments of made-up records."""
    generator = np.random.default_rng(seed)
    model = mechanism.model
    if isinstance(model, dc.LinearRegression):
        x, y = (generator.integers(-model.grid, model.grid + 1, SIZE) for _ in "xy")
        sums = {"x": x.sum() * model.grid, "x * x": (x * x).sum(), "x * y": (x * y).sum(), "y": y.sum() * model.grid}
        pairs = zip(model.layout.names, model.layout.weights.tolist(), strict=True)
        return np.array([int(sums[name]) * weight for name, weight in pairs], dtype=np.int64)
    if isinstance(model, dc.WeightedRegression):
        return model.simulate(SIZE, generator).statistics
    rows = rows_of_records(model)
    return np.asarray(rows[generator.integers(0, len(rows), SIZE)].sum(axis=0))


def rows_of_records(model: Any) -> NDArray[np.int64]:
    """Return the counts or sums of each possible single record."""
    if isinstance(model, dc.NumberSums):
        records = product((0.0, 0.5, 1.0, "gap"), "ab")
        return np.array([model.rehearse({"x": [value], "g": [group]}) for value, group in records])
    if isinstance(model, dc.NumberQuantiles):
        return model.contributions(model.length)[0]
    if isinstance(model, dc.Synthesis):
        return model.contributions(1_000)[0]
    if not isinstance(model, dc.Network):
        return np.eye(len(model.cells), dtype=np.int64)
    names = [variable.name for variable in model.variables]
    rows = []
    for levels in product(*(range(len(variable.levels)) for variable in model.variables)):
        record = dict(zip(names, levels, strict=True))
        parts = []
        for family in model.maximal_families:
            table = np.zeros(model.shape(family), dtype=np.int64)
            table[tuple(record[name] for name in family)] = 1
            parts.append(table.ravel())
        rows.append(np.concatenate(parts))
    return np.array(rows)


def test_every_mechanism_that_a_document_may_name_is_registered_and_in_this_suite() -> None:
    assert set(EVERY | GENERATED) == set(dc.Mechanism.registered()) == set(Mechanism.kinds.newest)
    for name, mechanism in (EVERY | GENERATED).items():
        assert Mechanism.kinds.newest[name] is type(mechanism)
        assert mechanism.document_kind == name


@pytest.mark.parametrize("name", list(GENERATED))
def test_noise_without_a_density_is_evidence_that_no_likelihood_is_asked_of(name: str) -> None:
    mechanism = GENERATED[name]
    counts = some_counts(mechanism)
    output = mechanism.sample(counts, dc.SeededBits(4))
    (part,) = mechanism.evidence(output)  # type: ignore[misc]
    assert isinstance(part, Measurement)
    assert not has_density(part.noise.structure)
    asks: list[Callable[[], object]] = [
        lambda: mechanism.log_prob(output, counts),
        lambda: part.log_likelihood(counts),
    ]
    for ask in asks:
        with pytest.raises(DeclarationError, match="no density in closed form"):
            ask()


@pytest.mark.parametrize("name", sorted(set(EVERY) - SCORED))
def test_evidence_has_the_likelihood_that_the_mechanism_states(name: str) -> None:
    mechanism = EVERY[name]
    counts = some_counts(mechanism)
    output = mechanism.sample(counts, dc.SeededBits(4))
    assert output.shape == (mechanism.space.length,)
    for table in (counts, some_counts(mechanism, 1)):
        stated = getattr(mechanism, "log_prob_of_counts", mechanism.log_prob)  # places are given, counts are evidence
        expected = float(stated(output, table))
        found = mechanism.evidence(output)
        parts = found if isinstance(found, tuple) else (found,)
        total = sum(float(np.asarray(part.log_likelihood(table))) for part in parts)
        assert total == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", list(EVERY))
def test_evidence_is_known_before_anything_is_drawn(name: str) -> None:
    found = EVERY[name].evidence(np.zeros(EVERY[name].space.length, dtype=np.int64))
    draws = ("PosteriorSampling", "RateTruncation", "NetworkSampling", "BallDraw")
    kinds = {True: Measurement, False: Draw if name in draws else Choice}
    measured = name in {*MEASURED, *SCORED} or name.endswith("Laplace") or name.startswith(("Chosen", "GaussianBall"))
    assert all(isinstance(part, kinds[measured]) for part in (found if isinstance(found, tuple) else (found,)))


@pytest.mark.parametrize("name", [name for name in OTHERS if "Hellinger" in name or name == "PermuteAndFlip"])
def test_the_weights_of_a_choice_are_those_of_all_candidates(name: str) -> None:
    mechanism = OTHERS[name]
    choice = mechanism.evidence(some_counts(mechanism))
    assert isinstance(choice, Choice)
    tables = np.stack([some_counts(mechanism, seed) for seed in (1, 2)])
    weights = choice.log_weights(tables)
    assert weights.shape == (2, len(choice.candidates()))
    assert np.exp(weights).sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_too_many_candidates_are_not_listed_and_it_says_so() -> None:
    many = dc.choices.HellingerGlobal(dc.Categories("x", levels=range(4), outside=0), size=600, epsilon=1)
    with pytest.raises(DeclarationError, match="36361101 candidate posteriors"):
        many.evidence(np.array([150] * 4)).candidates()


@pytest.mark.parametrize("name", [*MEASURED, "RoundedLaplace", "FlooredLaplace", "ClampedLaplace"])
def test_terms_of_single_numbers_multiply_to_the_likelihood(name: str) -> None:
    mechanism = EVERY[name]
    counts = some_counts(mechanism)
    for part in mechanism.evidence(mechanism.sample(counts, dc.SeededBits(6))):  # type: ignore[union-attr]
        if product_of(part.noise.structure) is not None:
            terms = part.log_terms(part.of.apply(counts))
            assert terms.sum() - part.noise.log_normaliser == pytest.approx(
                float(part.log_likelihood(counts)), rel=1e-11
            )


@pytest.mark.parametrize("name", list(MEASURED))
def test_slopes_are_about_the_derivatives_by_counts(name: str) -> None:
    mechanism = MEASURED[name]
    counts = some_counts(mechanism).astype(float)
    for part in mechanism.evidence(mechanism.sample(counts.astype(np.int64), dc.SeededBits(8))):
        slope = part.slope(counts)
        assert slope.shape == counts.shape
        assert part.information.shape == (part.of.length,)
        if "Gaussian" in name and not any(preserved(part.noise.structure)):
            for place in range(len(counts)):
                step = np.zeros(len(counts))
                step[place] = 1
                central = (part.log_likelihood(counts + step) - part.log_likelihood(counts - step)) / 2
                near = 1e-2 if part.noise.log_normaliser == 0 else 1e-6  # rounding bends the law a little
                assert slope[place] == pytest.approx(float(central), rel=near, abs=1e-3 * near)


@pytest.mark.parametrize("name", list(MEASURED))
def test_quantities_are_linear_and_their_transpose_is_that_of_the_matrix(name: str) -> None:
    quantities = MEASURED[name].quantities
    cells = len(some_counts(MEASURED[name]))
    matrix = np.asarray(quantities.apply(np.eye(cells, dtype=np.int64)))
    generator = np.random.default_rng(3)
    rows, values = generator.integers(0, 9, (5, cells)), generator.standard_normal((5, quantities.length))
    assert np.array_equal(quantities.apply(rows), rows @ matrix)
    assert quantities.apply(rows / 3) == pytest.approx(rows / 3 @ matrix, rel=1e-12)
    assert quantities.transpose(values) == pytest.approx(values @ matrix.T, rel=1e-12)
    pieces = quantities.pieces()
    assert np.array_equal(np.concatenate([piece.apply(rows) for piece in pieces], axis=1), quantities.apply(rows))
    assert quantities.length == sum(quantities.blocks) == sum(piece.length for piece in pieces)


@pytest.mark.parametrize("name", [name for name in MEASURED if "Moments" not in name])
def test_no_pair_of_records_costs_more_than_is_computed_and_one_costs_as_much(name: str) -> None:
    mechanism = MEASURED[name]
    noise, measured = mechanism.noise, mechanism.measured(rows_of_records(mechanism.model))
    replaced = np.unique([one - two for one, two in combinations(measured, 2)], axis=0)
    changes = replaced if isinstance(mechanism, Sized) else np.unique(measured, axis=0)  # one comes or goes
    assert max(noise.privacy_loss(change).epsilon for change in changes) == mechanism.pure_epsilon
    rho = max(float(noise.privacy_loss(change).rho) for change in changes)
    if type(mechanism).rho is Additive.rho or mechanism.pure_epsilon == inf:
        assert float(mechanism.rho) == pytest.approx(rho, rel=1e-8)
    else:  # it states a sharper one, such as that of its privacy loss, r tanh(r / 2) and not r^2 / 2
        low, high = sorted((rho, float(mechanism.computed_loss().rho)))
        assert 0.999 * low <= float(mechanism.rho) <= high * (1 + 1e-9)
    if mechanism.pure_epsilon < inf or not name.startswith("Contrast"):
        computed = mechanism.computed_loss()
        losses = [noise.privacy_loss(change).curve for change in changes[:60]]
        for share in (0.0, 0.3, 0.8):
            epsilon = share * float(mechanism.guarantee.epsilon)
            assert max(loss.delta_at(epsilon) for loss in losses) <= computed.delta_at(epsilon) * (1 + 1e-6) + 1e-12


def test_evidence_comes_table_by_table_where_noise_is_independent() -> None:
    families = MEASURED["FamilyHistograms"].evidence(np.zeros(8, dtype=np.int64))
    assert [part.of.tables for part in families] == [(("a", "b"),), (("c",),)]
    joint = MEASURED["JointHistograms"].evidence(np.zeros(8, dtype=np.int64))
    assert [part.of.tables for part in joint] == [(("a", "b"), ("c",))]
    cube = MEASURED["CubeCounts"].evidence(np.zeros(9, dtype=np.int64))
    assert [part.of.tables for part in cube] == [(("y",),), None, None, None]
    assert TableCells(TABLE).tables == (("x",),)
    updates = MEASURED["LaplaceUpdates"].evidence(np.zeros(10, dtype=np.int64))
    assert [part.of.tables for part in updates] == [(("a",),), (("a", "b"),), (("c",),)]


def test_changes_that_cannot_be_listed_are_maximised_by_elimination() -> None:
    long = dc.Network.from_edges(" -> ".join("abcdefghij"), levels=dict.fromkeys("abcdefghij", (0, 1)), outside=0)
    fourier = as_published.FourierUpdates(long, SIZE, 1)
    assert fourier.quantities.changes() is None
    patterns = np.array(list(product((0, 1), repeat=10)))
    blocks = [["abcdefghij".index(name) for name in block] for block in fourier.basis.blocks]
    most = max(sum(int(pattern[block].sum()) % 2 for block in blocks) for pattern in patterns)
    assert fourier.pure_epsilon == most * fourier.rate
    assert Quantities.most(FamilyCounts(NET, NET.families), (Fraction(1),) * 3, (2, 6, 2), 1) == 6


def test_blocks_without_numbers_add_nothing_to_what_one_record_can_move() -> None:
    tables, weights = FamilyCounts(NET, NET.families), (Fraction(1), Fraction(7), Fraction(2), Fraction(9))
    (change,) = tables.changes()
    for blocks in ((0, 2, 6, 2), (2, 0, 6, 2), (2, 6, 0, 2), (2, 6, 2, 0)):
        ends = np.cumsum(blocks)
        obvious = sum(
            weight * abs(int(number))
            for weight, size, end in zip(weights, blocks, ends, strict=True)
            for number in change[end - size : end]
        )
        assert tables.most(weights, blocks, 1) == obvious
