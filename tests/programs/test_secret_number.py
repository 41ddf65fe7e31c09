"""Programs read tables of a secret number of records: beside sums over all tables and all numbers of records."""

import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import poisson

import discreet as dc
from discreet.programs import Likelihood
from discreet.tables import GaussianTable, LaplaceTable

THREE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
CROSSED = dc.Categories(("g", "y"), {"g": ("a", "b"), "y": ("no", "yes")}, outside={"g": "a", "y": "no"})
VISITS = dc.Categories(dc.Column("visits", tuple(range(6)), outside=5))
CHANCES = [(0.3, 0.1, 0.6), (0.05, 0.9, 0.05), (1 - 2e-9, 1e-9, 1e-9), (0.5, 0, 0.5)]


def released(mechanism: Any, *output: int) -> Any:
    return dc.Release(mechanism, output, "known", dc.Unit("one record"), simulated=True)


@cache
def every_table(cells: int, most: int) -> Any:
    return np.array(list(product(range(most), repeat=cells)))


def over_tables(release: Any, chances: Any, most: int) -> tuple[float, Any, Any]:
    """Return log P(z | p), E k and Cov k by adding up all tables with counts below a number."""
    counts = every_table(len(chances), most)
    logs = release.mechanism.log_prob(np.array(release.output), counts) + xlogy(counts, chances).sum(axis=1)
    logs += gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)
    value = float(logsumexp(logs))
    weights = np.exp(logs - value)
    return value, weights @ counts, np.cov(counts.T, aweights=weights, bias=True)


@pytest.mark.parametrize(
    ("mechanism", "output"),
    [
        (LaplaceTable(THREE, 1), (3, -1, 6)),
        (LaplaceTable(THREE, 1), (-9, -1, -4)),
        (LaplaceTable(THREE, "1.5"), (0, 19, 2)),
        (GaussianTable(THREE, 2, "1e-2", total=0), (3, -1, 6)),
    ],
    ids=["counts", "hardly anybody", "one cell", "Gaussian"],
)
def test_the_likelihood_is_the_sum_over_tables_and_numbers(mechanism: Any, output: tuple[int, ...]) -> None:
    release = released(mechanism, *output)
    likelihood = Likelihood(release)
    for chances in np.array(CHANCES):
        with np.errstate(divide="ignore"):
            logs = np.log(chances)
        value, expected, covariance = over_tables(release, chances, 60)
        found, means = likelihood(logs)
        assert float(found) == pytest.approx(value, abs=1e-10)
        assert means == pytest.approx(expected, abs=1e-8)
        assert likelihood.values(logs) == found
        assert likelihood.covariance_times(logs, [1, 2, -1]) == pytest.approx(covariance @ [1, 2, -1], abs=1e-6)


def test_true_tables_are_drawn_from_their_distribution() -> None:
    release, chances = released(LaplaceTable(THREE, 1), 3, -1, 6), np.array([0.3, 0.1, 0.6])
    _, expected, covariance = over_tables(release, chances, 60)
    drawn = Likelihood(release).draw_counts(np.log(chances), 40_000, seed=1)
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.06)
    assert np.cov(drawn.T, bias=True) == pytest.approx(covariance, abs=0.35)


@pytest.mark.parametrize("total", [0, "1/5"])
@pytest.mark.parametrize("chances", [(0.3, 0.7, 0.6, 0.4), (0.95, 0.05, 0.05, 0.95)])
def test_shares_of_covariates_are_integrated_out(total: Any, chances: tuple[float, ...]) -> None:
    """Here a noisy number of records is used: with two groups the sum of their sizes binds nothing that is long."""
    own = () if total == 0 else (11,)
    release = released(LaplaceTable(CROSSED, 2, total=total), 3, -1, 6, 2, *own)
    counts = every_table(4, 20)
    groups, number = counts[:, [0, 2]] + counts[:, [1, 3]], counts.sum(axis=1)
    logs = release.mechanism.log_prob(np.array(release.output), counts) + xlogy(counts, chances).sum(axis=1)
    logs += gammaln(number + 1) - gammaln(counts + 1).sum(axis=1)
    logs += gammaln(groups + 1).sum(axis=1) - gammaln(number + 2)  # Dirichlet(1, 1)
    value = float(logsumexp(logs))
    found, means = Likelihood(release).given("g")(np.log(chances))
    assert float(found) == pytest.approx(value, abs=1e-7)
    assert means == pytest.approx(np.exp(logs - value) @ counts, abs=1e-6)


def test_a_rate_has_the_posterior_of_a_plain_sum() -> None:
    release = released(LaplaceTable(VISITS, 1), 4, 9, 7, 3, 1, 0)
    posterior: Any = dc.infer(release, model=dc.programs.Poisson(rate="Gamma(4, 2)"))
    rates = np.arange(0.01, 7, 0.02)
    chances: Any = poisson.pmf(np.arange(6), rates[:, None])
    chances[:, -1] = poisson.sf(4, rates)
    # counts of Poisson(lambda p) records are independent: a plain sum over lambda, and one for each cell
    lambdas, k = np.arange(0.1, 80, 0.2), np.arange(60)
    noise = np.exp(-np.abs(np.array(release.output)[:, None] - k))
    cells = np.array([poisson.pmf(k, (lambdas[:, None] * chances[:, i])[..., None]) @ noise[i] for i in range(6)])
    weights = rates**3 * np.exp(-2 * rates) * cells.prod(axis=0).sum(axis=0)
    weights /= weights.sum()
    row = posterior.quantity("rate")
    assert row.mean == pytest.approx(float(weights @ rates), abs=2e-3)
    assert row.sd == pytest.approx(float(np.sqrt(weights @ rates**2 - (weights @ rates) ** 2)), abs=2e-3)
    number = posterior.number_of_records
    assert number.mean == pytest.approx(dc.infer(release).number_of_records.mean, abs=1e-9)
    assert posterior.size == round(number.mean)
    assert "The number of records is secret" in posterior.remarks()[0]
    assert posterior.facts()["number_of_records"]["low"] == number.interval(0.9).low


def test_a_logistic_regression_of_a_secret_number_goes_the_whole_way() -> None:
    release = dc.simulate(LaplaceTable(CROSSED, 1), [300, 60, 150, 90], dc.SeededBits(1), "falls")
    posterior: Any = dc.infer(release, model=dc.Logistic("y ~ g", columns=CROSSED.columns))
    low, high = posterior.quantity("g=b").interval(0.999)
    assert low < np.log(90 / 150) - np.log(60 / 300) < high
    assert "secret" in posterior.remarks()[0]
    public = dc.simulate(dc.GeometricHistogram(CROSSED, 600, 2), [300, 60, 150, 90], dc.SeededBits(1), "falls")
    known: Any = dc.infer(public, model=dc.Logistic("y ~ g", columns=CROSSED.columns))
    assert posterior.quantity("g=b").sd == pytest.approx(known.quantity("g=b").sd, rel=0.15)


def test_nothing_is_spent_on_a_number_that_a_program_does_not_read() -> None:
    many = dc.Column("visits", tuple(range(25)), outside=24)
    program = dc.programs.Poisson(many, rate="Gamma(4, 3)")
    assert LaplaceTable(program.table, 1).total == 0
    counts = np.bincount(np.arange(120) % 7, minlength=25)
    measured = dc.simulate(LaplaceTable(dc.Categories(many), 1), counts, dc.SeededBits(1), "v")
    assert len(measured.output) == 26  # the number of records, too
    assert "the noisy number of records was not used" in dc.infer(measured, model=program).method


def test_populations_of_secret_and_public_numbers_are_read_together() -> None:
    secret = dc.simulate(LaplaceTable(VISITS, 1), [30, 40, 30, 15, 5, 2], dc.SeededBits(1), "secret")
    public = dc.simulate(dc.GeometricHistogram(VISITS, 80, 1), [22, 28, 18, 8, 3, 1], dc.SeededBits(2), "public")
    found: Any = dc.infer(populations={"a": secret, "b": public}, model=dc.programs.Poisson(rate="Gamma(4, 3)"))
    assert "a (about " in found.text.populations
    assert "b (80 records)" in found.text.populations
    with pytest.raises(dc.DeclarationError, match="several populations"):
        _ = found.number_of_records


def test_intervals_of_a_rate_hold_its_value_as_often_as_stated() -> None:
    """60 releases of 40 records, where noise is wide: 90 % intervals hold 54 of 60 on average, 4 sd is 9.3."""
    generator, held = np.random.default_rng(7), 0
    for seed in range(60):
        rate = generator.gamma(4, 1 / 3)
        counts = np.bincount(np.minimum(generator.poisson(rate, 40), 5), minlength=6)
        release = dc.simulate(LaplaceTable(VISITS, "0.7"), counts, dc.SeededBits(seed), "v")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dc.LittleInformationWarning)
            posterior: Any = dc.infer(release, model=dc.programs.Poisson(rate="Gamma(4, 3)"))
        low, high = posterior.quantity("rate").interval(0.9)
        held += low <= rate <= high
    assert 44 <= held <= 60


def test_a_likelihood_does_not_know_a_secret_number() -> None:
    likelihood = Likelihood(released(LaplaceTable(CROSSED, 1), 3, -1, 6, 2))
    for each in (likelihood, likelihood.given("g")):
        with pytest.raises(dc.DeclarationError, match="number of records is secret"):
            _ = each.size


def test_the_bridge_to_jax_refuses_in_words() -> None:
    pytest.importorskip("numpyro")
    from discreet.programs.bridges.numpyro import jax_likelihood

    with pytest.raises(dc.DeclarationError, match="here it is secret"):
        jax_likelihood(Likelihood(released(LaplaceTable(THREE, 1), 3, -1, 6)))
