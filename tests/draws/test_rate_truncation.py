"""Draws that are kept to parameters within a rate: their exact loss, their sampler, their metric and their reading."""

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import chisquare

import discreet as dc
from discreet.draws import RateTruncation
from discreet.privacy import compositions

FAMILIES = [
    dc.PoissonRate("x", most=3, shape=2, rate=2, outside=3),
    dc.ExponentialRate("x", high=4, bands=3, shape=2, rate=3, outside="usual"),
    dc.NormalMean("x", low=0, high=4, variance=2, bands=3, prior_records=2, outside="usual"),
    dc.programs.families.BinomialProbability("x", trials=2, alpha=2, beta=3, outside=0),
    dc.programs.families.LaplaceScale("x", reach=4, bands=2, shape=2, rate=3, outside="usual"),
    dc.programs.families.NormalPrecision("x", reach=3, bands=2, shape=2, rate=3, outside="usual"),
]
NAMED: Any = {"ids": lambda model: type(model).__name__}


def log_posterior(model: Any, row: Any, places: Any, power: float) -> Any:
    """Return the log density of the truncated posterior on a fine grid, from prior and likelihood alone."""
    prior = model.posterior_given_total(Fraction(0), 0)
    step = places[1] - places[0]
    logs = np.asarray(prior.log_mass(places - step / 2, places + step / 2))
    values = np.array([float(value) for value in model.values])
    if isinstance(model, dc.PoissonRate):
        each = np.log(places)[:, None] * values - places[:, None]
    elif isinstance(model, dc.NormalMean):
        each = (2 * places[:, None] * values - places[:, None] ** 2) / (2 * float(model.variance))
    elif isinstance(model, dc.programs.families.BinomialProbability):
        each = np.log(places)[:, None] * values + np.log1p(-places)[:, None] * (model.trials - values)
    else:
        each = float(model.shape_of_record) * np.log(places)[:, None] - places[:, None] * values
    logs = logs + power * each @ row
    return logs - logsumexp(logs)


@pytest.mark.parametrize("model", FAMILIES, **NAMED)
@pytest.mark.parametrize("power", ["1", "0.4"])
def test_the_charged_loss_is_the_largest_of_all_neighbours(model: Any, power: str) -> None:
    """All data sets of three records, on a grid of 4,000 parameters, from prior times likelihood."""
    low, high = ("0.2", "0.9")
    mechanism = RateTruncation(model, 3, 50, low, high, power)
    places = 0.2 + 0.7 * (np.arange(4000) + 0.5) / 4000
    levels = range(len(model.cells))
    laws: dict[tuple[int, ...], Any] = {
        data: log_posterior(model, np.bincount(data, minlength=len(levels)), places, float(power))
        for data in combinations_with_replacement(levels, 3)
    }
    worst = max(
        float(np.abs(laws[tuple(sorted((*rest, x)))] - laws[tuple(sorted((*rest, y)))]).max())
        for rest in combinations_with_replacement(levels, 2)
        for x in levels
        for y in levels
    )
    assert worst <= float(mechanism.guarantee.epsilon)
    assert worst == pytest.approx(float(mechanism.guarantee.epsilon), rel=2e-3)
    assert mechanism.guarantee.epsilon <= mechanism.range * Fraction(1_000_001, 1_000_000)
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        RateTruncation(model, 3, mechanism.loss * Fraction(99, 100), low, high, power)


@pytest.mark.parametrize("model", [FAMILIES[0], FAMILIES[2], FAMILIES[3]], **NAMED)
def test_samples_follow_the_stated_likelihood(model: Any) -> None:
    mechanism = RateTruncation(model, 5, 50, "0.2", "0.9", grid_bits=4)
    table = np.zeros(len(model.cells), dtype=np.int64)
    table[:2] = 3, 2
    cells = np.arange(mechanism.first, mechanism.last + 1)[:, None]
    expected = np.exp(mechanism.log_prob(cells, table))
    assert expected.sum() == pytest.approx(1, abs=1e-9)
    drawn = mechanism.sample(np.tile(table, (1200, 1)), dc.SeededBits(17))
    counts = np.bincount(drawn[:, 0] - mechanism.first, minlength=len(cells))
    assert chisquare(counts, 1200 * expected / expected.sum()).pvalue > 1e-4


@pytest.mark.parametrize("model", FAMILIES[:4], **NAMED)
@pytest.mark.filterwarnings("ignore::discreet._core.errors.LittleInformationWarning")
def test_the_reading_is_the_sum_over_all_tables(model: Any) -> None:
    mechanism = RateTruncation(model, 4, 50, "0.2", "0.9", "0.7", draws=2)
    counts = np.zeros(len(model.cells), dtype=np.int64)
    counts[:3] = 1, 2, 1
    release = dc.simulate(mechanism, counts, dc.SeededBits(3))
    posterior = dc.infer(release)
    low, high = {"NormalMean": (-10.0, 14.0), "Binomial": (1e-9, 1 - 1e-9)}.get(type(model).__name__, (1e-6, 12.0))
    edges = np.linspace(low, high, 6001)
    middles = (edges[:-1] + edges[1:]) / 2
    tables = np.array(list(compositions(4, len(model.cells))))
    logs = np.log(np.maximum(model.level_probabilities(middles), 1e-300)) @ tables.T
    logs = logs + gammaln(5) - gammaln(tables + 1).sum(axis=1) + mechanism.log_prob(release.counts, tables)
    weights = logsumexp(logs, axis=1) + model.posterior_given_total(Fraction(0), 0).log_mass(edges[:-1], edges[1:])
    shares = np.exp(weights - logsumexp(weights))
    assert posterior.mean["parameter"] == pytest.approx(float(shares @ middles), rel=1e-3)
    assert posterior.log_evidence == pytest.approx(float(logsumexp(weights)), abs=1e-3)


def test_records_far_outside_the_interval_keep_their_digits() -> None:
    """Totals that put the posterior's own mode 10,000 nats away: next to an end the density is an exponential."""
    mechanism = RateTruncation(
        dc.ExponentialRate("x", high=4, bands=4, shape=2, rate=3, outside="usual"), 10_000, 50, "0.2", "0.9"
    )
    totals = np.array([39_000.0])  # a rate of about 0.256 of 10,000 records: inside
    inside = sum(np.exp(mechanism.log_prob_of_totals(np.array([cell]), totals)) for cell in coarse(mechanism))
    assert np.isfinite(inside).all()
    far = np.array([2_000.0])  # a rate of about 5: all mass is next to 0.9, with the slope (n + 1) / 0.9 - total
    slope = 10_001 / 0.9 - 2003
    cell = int(0.899 * 2**32)
    expected = -slope * (0.9 - cell / 2**32) + np.log(slope * 2.0**-32)
    assert float(mechanism.log_prob_of_totals(np.array([cell]), far)[0]) == pytest.approx(expected, abs=0.02)


def coarse(mechanism: RateTruncation) -> list[int]:
    return [int(cell) for cell in np.linspace(mechanism.first, mechanism.last, 5)]


def test_the_promise_under_the_metric_is_the_rate_for_each_unit() -> None:
    mechanism = RateTruncation(FAMILIES[0], 20, 9, "0.5", 2)
    metric = mechanism.guarantee.metric
    assert metric is not None
    assert float(metric.epsilon) == pytest.approx(np.log(4), rel=1e-8)
    assert metric.at(1, 2).epsilon == metric.epsilon
    assert metric.at(0, 3).epsilon == mechanism.loss < 3 * metric.epsilon
    words = str(dc.verify(mechanism))
    assert "compared under the metric" in words
    both_sides = RateTruncation(FAMILIES[4], 20, 9, "0.1", "0.5").guarantee.metric
    assert both_sides is not None
    assert "stand for the same number" in both_sides.words


def test_a_metric_that_is_stated_too_gently_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = RateTruncation(FAMILIES[0], 20, 9, "0.5", 2)
    honest = mechanism.rate
    monkeypatch.setattr(RateTruncation, "rate", property(lambda self: honest / 2))
    monkeypatch.setattr(RateTruncation, "loss", property(lambda self: honest / 2))
    with pytest.raises(dc.VerificationError):
        dc.verify(mechanism)


@pytest.mark.parametrize("model", FAMILIES, **NAMED)
def test_the_widest_interval_and_the_largest_power_use_epsilon_up(model: Any) -> None:
    widest = RateTruncation.at_rate(model, size=30, epsilon=1, grid_bits=24)
    assert widest.power == 1
    assert 0.999 < widest.guarantee.epsilon <= 1
    tempered = RateTruncation.tempered(model, size=30, epsilon=1, lowest="0.05", highest="0.95", grid_bits=24)
    assert tempered.power < 1
    assert 0.999 < tempered.guarantee.epsilon <= 1
    assert tempered.rho <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"lowest": 0, "highest": 1}, "must lie above 0"),
        ({"lowest": 2, "highest": 1}, "No cell of a grid"),
        ({"lowest": "0.5", "highest": 1, "power": 2}, "power must be at most 1"),
        ({"lowest": "0.5", "highest": 1, "grid_bits": 51}, "grid_bits"),
    ],
)
def test_nonsense_is_refused_in_words(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        RateTruncation(FAMILIES[0], 10, 50, **keys)
    with pytest.raises(dc.DeclarationError, match="between 0 and 1"):
        RateTruncation(FAMILIES[3], 10, 50, "0.5", 1)


def test_outputs_outside_the_interval_are_refused() -> None:
    mechanism = RateTruncation(FAMILIES[0], 10, 50, "0.5", 2, grid_bits=4)
    with pytest.raises(dc.DocumentError, match="outside the declared interval"):
        mechanism.space.check(np.array([mechanism.last + 1]))
    with pytest.raises(dc.DocumentError, match="must hold 1 numbers"):
        mechanism.space.check(np.array([9, 9]))
