"""The black-box audit: planted errors are found, honest mechanisms are left alone, and its bounds are exact."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import discreet as dc
from discreet.draws import BallDraw
from discreet.noise.randomness._samplers import RandomBits
from discreet.report.charts._planning import audit_chart
from discreet.verification import audit, epsilon_lower_bound
from discreet.verification._audit import neighbouring_pairs, projections
from discreet_papers.as_published import HellingerLocal
from discreet_papers.as_published.hellinger_table import HellingerTable
from discreet_papers.as_published.published_laplace import RoundedLaplace
from discreet_papers.optimum import optimum
from uncalibrated_hellinger import HellingerGlobal

Counts = NDArray[np.int64]
COIN, DIE = (dc.Categories("x", levels=levels, outside=levels[0]) for levels in (("no", "yes"), ("a", "b", "c")))
HEAVY = dc.Categories("x", levels=("a", "b", "c"), prior=20, outside="a")


@dataclass(frozen=True)
class Planted:
    honest: Any
    claimed: str
    fault: Callable[[Any, Counts, RandomBits], Counts] = lambda honest, counts, bits: honest.sample(counts, bits)

    @property
    def model(self) -> Any:
        return self.honest.model

    @property
    def size(self) -> int:
        return int(self.honest.size)

    @property
    def guarantee(self) -> dc.Guarantee:
        return dc.Guarantee(self.claimed)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        return self.fault(self.honest, counts, bits)


def reused(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    return np.asarray(counts + (honest.sample(counts, bits) - counts)[..., :1])


def clamped(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    return np.asarray(counts + np.clip(honest.sample(counts, bits) - counts, -3, 3))


def even(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    return np.asarray(counts + 2 * (honest.sample(counts, bits) - counts))


def reseeded(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
    return np.asarray(honest.sample(counts, dc.SeededBits(5)))


FAULTS: dict[str, Any] = {
    "exponent epsilon/S": (HellingerTable(COIN, 8, 1), 60_000),
    "sensitivity halved": (Planted(dc.GeometricHistogram(COIN, 20, 2), "1"), 5_000),
    "sensitivity halved, three cells": (Planted(RoundedLaplace(DIE, 20, 1, 1, 3), "1"), 60_000),
    "noise reused across cells": (Planted(dc.tables.DiscreteLaplaceCounts(DIE, 20, 1), "1", reused), 5_000),
    "noise clamped before it is added": (Planted(dc.GeometricHistogram(COIN, 20, 1), "1", clamped), 60_000),
    "even noise": (Planted(dc.GeometricHistogram(COIN, 20, "0.5"), "1", even), 5_000),
    "noise seeded in every call": (Planted(dc.tables.DiscreteLaplaceCounts(COIN, 20, 1), "1", reseeded), 5_000),
    "local sensitivity": (HellingerLocal(HEAVY, 90, 1), 400_000),
}
HONEST: dict[str, Any] = {
    "two cells": dc.GeometricHistogram(COIN, 20, 1),
    "three cells": dc.GeometricHistogram(DIE, 20, 1),
    "with delta": dc.tables.DiscreteGaussianHistogram(COIN, 20, 1, "0.01"),
    "enumerated epsilon": HellingerGlobal(COIN, 8, 1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_errors_are_found(name: str) -> None:
    """Seed 1; validation/test_audit_power.py measures how often this succeeds: at least 95 times in a hundred."""
    mechanism, draws = FAULTS[name]
    found = audit(mechanism, draws, seed=1)
    assert found.violates, str(found)
    assert found.epsilon_lower > found.claimed.epsilon
    assert sum(abs(a - b) for a, b in zip(*found.pair, strict=True)) == 2


@pytest.mark.parametrize("name", HONEST)
def test_honest_mechanisms_are_left_alone(name: str) -> None:
    found = audit(HONEST[name], 100_000, seed=1)
    assert not found.violates, str(found)


def test_the_worst_pair_and_event_are_found() -> None:
    """The largest loss, 0.639112, is at the pair (0, 8), (1, 7) or its mirror image, on the first corner alone.

    There P = 0.2656 and Q = 0.1402, so with 25,000 draws the bound is 0.588 with a standard deviation of 0.019.
    """
    found = audit(HellingerGlobal(COIN, 8, 1), 100_000, seed=1)
    assert found.pair in (((0, 8), (1, 7)), ((8, 0), (7, 1)))
    assert found.hits[0] / found.draws == pytest.approx(0.265631, abs=4 * 0.0028)
    assert found.epsilon_lower == pytest.approx(0.588, abs=4 * 0.019)


def test_delta_is_taken_off() -> None:
    """A mechanism that shows the data with probability 0.01 is (0, 0.01)-private; a claim of delta = 0.002 is false."""

    def sometimes(honest: Any, counts: Counts, bits: RandomBits) -> Counts:
        shown = bits.words(len(counts)) < np.uint64(int(0.01 * 2.0**64))
        return np.asarray(np.where(shown[:, None], counts, 0))

    @dataclass(frozen=True)
    class Approximate(Planted):
        delta: str = "0.01"

        @property
        def guarantee(self) -> dc.Guarantee:
            return dc.Guarantee(self.claimed, self.delta)

    honest = dc.GeometricHistogram(COIN, 20, 1)
    assert not audit(Approximate(honest, "0.1", sometimes), 100_000).violates
    assert audit(Approximate(honest, "0.1", sometimes, "0.002"), 100_000).violates


@pytest.mark.parametrize(("p", "q", "draws", "delta"), [(0.5, 0.2, 40, 0.0), (0.95, 0.3, 25, 0.1), (0.3, 0.1, 60, 0.0)])
def test_the_bound_is_wrong_no_more_often_than_it_says(p: float, q: float, draws: int, delta: float) -> None:
    """The exact probability that the bound exceeds ln((p - delta)/q), summed over all hits: at most 1 - confidence."""
    truth = np.log((p - delta) / q)
    hits = range(draws + 1)
    bounds = np.array([[epsilon_lower_bound(x, y, draws, delta, 0.9) for y in hits] for x in hits])
    chances = np.outer(binom.pmf(hits, draws, p), binom.pmf(hits, draws, q))
    assert 0 < chances[bounds > truth].sum() <= 0.1


def test_extreme_hits_have_sensible_bounds() -> None:
    assert epsilon_lower_bound(0, 0, 100, 0.0, 0.95) == 0
    assert epsilon_lower_bound(100, 100, 100, 0.0, 0.95) == 0
    assert epsilon_lower_bound(100, 0, 100, 0.0, 0.95) == pytest.approx(
        np.log(0.025 ** (1 / 100) / (1 - 0.025 ** (1 / 100))), rel=1e-9
    )
    assert epsilon_lower_bound(3, 0, 100, 0.05, 0.95) == 0


@pytest.mark.parametrize(("model", "size"), [(COIN, 1), (COIN, 9), (DIE, 1), (HEAVY, 30)])
def test_pairs_are_neighbours_and_hold_the_corners(model: dc.Categories, size: int) -> None:
    pairs = neighbouring_pairs(model, size, np.random.default_rng(3))
    for first, second in pairs:
        assert np.abs(first - second).sum() == 2
        assert first.sum() == second.sum() == size
        assert min(first.min(), second.min()) >= 0
    assert any(first.max() == size for first, _ in pairs)


def test_every_projection_gives_one_whole_number_for_each_output() -> None:
    outputs = np.random.default_rng(1).integers(-5, 30, size=(500, 3))
    pair = np.array([20, 0, 0]), np.array([19, 1, 0])
    names = set()
    for name, projection, edges_of in projections(pair, 3, np.random.default_rng(2)):
        values = projection(outputs)
        assert values.shape == (500,)
        assert (np.diff(edges_of(values)) > 0).all()
        names.add(name)
    assert {"number 1", "number 1 modulo 2", "number 1 less number 2", "the total", "the whole output"} <= names


def test_an_audit_is_repeatable_readable_and_documented() -> None:
    mechanism = Planted(dc.GeometricHistogram(COIN, 20, 2), "1")
    found = audit(mechanism, 5_000, seed=9)
    assert found == audit(mechanism, 5_000, seed=9)
    assert str(found).startswith("The claim is false (epsilon = 1, delta = 0): epsilon is at least")
    document = found.document()
    assert document["violates"] is True
    assert document["hits"] == list(found.hits)
    chart = audit_chart([("doubled", found)])
    assert chart["data"]["values"][0]["text"] == "claim refuted"


def test_pairs_may_be_given_and_nonsense_is_refused() -> None:
    mechanism = dc.GeometricHistogram(COIN, 20, 1)
    found = audit(mechanism, 2_000, pairs=[((10, 10), (11, 9))])
    assert set(found.pair) == {(10, 10), (11, 9)}
    for confidence in (0.0, 1.0, float("nan")):
        with pytest.raises(dc.DeclarationError, match="confidence"):
            audit(mechanism, confidence=confidence)
    for draws in (10, 2.5):
        with pytest.raises(dc.DeclarationError, match="draws"):
            audit(mechanism, draws)  # type: ignore[arg-type]
    for pairs in ([], [((1, 2), (1, 2, 3))]):
        with pytest.raises(dc.DeclarationError, match="pairs"):
            audit(mechanism, pairs=pairs)
    with pytest.raises(dc.DeclarationError, match="Neighbouring data sets"):
        neighbouring_pairs("a model", 3, np.random.default_rng(1))  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="at least one audit"):
        audit_chart([])


def test_pairs_that_are_no_neighbours_are_refused() -> None:
    mechanism = dc.GeometricHistogram(dc.Categories("coin", levels=("heads", "tails"), outside="heads"), 10, 1)
    for pair in (((10, 0), (0, 10)), ((10, 0), (9, 0)), ((10, 0), (11, -1)), ((10, 0), (10, 0))):
        with pytest.raises(dc.DeclarationError, match="must be neighbours"):
            audit(mechanism, pairs=[pair])
    with pytest.raises(dc.DeclarationError, match="pairs of flat rows"):
        audit(mechanism, pairs=[5])  # type: ignore[list-item]
    with pytest.raises(dc.DeclarationError, match="confidence"):
        audit(mechanism, confidence="x")  # type: ignore[arg-type]
    for nothing in (None, "a mechanism"):
        with pytest.raises(dc.DeclarationError, match="takes a mechanism"):
            audit(nothing)  # type: ignore[arg-type]
        with pytest.raises(dc.DeclarationError, match="of a mechanism"):
            dc.accuracy(nothing)  # type: ignore[arg-type]
        with pytest.raises(dc.DeclarationError, match="for Categories"):
            optimum(nothing, 5, 1)  # type: ignore[arg-type]


CHAIN = dc.Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", norm_bound=1, missing="middle")
OTHERS: dict[str, tuple[Any, int]] = {
    "network": (dc.FamilyHistograms(CHAIN, 20, 1), 8_000),
    "network, parities": (dc.networks.FourierCounts(CHAIN, 20, 1), 8_000),
    "regression": (dc.regression.BoxMoments(LINE, 50, 1), 4_000),
    "family": (
        dc.PosteriorSampling.tempered(dc.PoissonRate("x", most=4, outside=4), size=20, epsilon=1, delta="1e-3"),
        1_000,
    ),
    "draw of a regression": (BallDraw(LINE, 50, 1, steps=64), 1_000),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_models_are_audited_with_made_up_neighbours(name: str) -> None:
    mechanism, draws = OTHERS[name]
    assert not audit(mechanism, draws, seed=1).violates


@pytest.mark.parametrize("honest", [dc.FamilyHistograms(CHAIN, 20, 8), dc.regression.BoxMoments(LINE, 50, 8)])
def test_planted_errors_are_found_in_other_models(honest: Any) -> None:
    """An eighth of the noise that the claim needs."""
    assert audit(Planted(honest, "1"), 8_000, seed=1).violates
