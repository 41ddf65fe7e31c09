"""The near part of Hellinger normalisers against certified sums and against lists of all candidates."""

import warnings
from math import comb, log

import numpy as np
import pytest

import discreet as dc
from discreet.choices import HellingerCalibrated, HellingerGlobal, HellingerReciprocal, HellingerSmooth
from discreet.choices._hellinger_approximate import ApproximateNormaliser, log_near, rough_log_near
from discreet.choices._hellinger_moments import hellinger_moments
from discreet.choices._pair_bound import pair_bound
from discreet.inference import Problem, why_unreadable
from discreet.privacy import compositions
from discreet.tables._enumeration import EnumerationSolver
from discreet.tables._importance_solver import WeightedTablesSolver


def categories(cells: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), prior=1, outside=0)


@pytest.mark.parametrize(
    ("table", "scale"),
    [([150, 150, 150, 150], 15.0), ([2_000, 600, 300, 100], 40.0), ([1_000, 0, 3], 60.0), ([500, 20, 10, 5, 1], 8.0)],
)
def test_the_near_part_is_what_certified_sums_leave_beside_the_uniform_part(table: list[int], scale: float) -> None:
    counts, alpha = np.array(table), np.ones(len(table))
    uniform = log(comb(int(counts.sum()) + len(table) - 1, len(table) - 1)) - scale
    certified = hellinger_moments(alpha, counts, scale).log_normaliser.middle
    assert np.logaddexp(uniform, log_near(alpha, counts, scale)) == pytest.approx(certified, abs=1e-4)


def test_candidates_that_are_spread_evenly_give_nearly_all_of_the_near_part() -> None:
    """A hundred thousand records in ten cells, where the rough formula alone is off by a thousandth."""
    counts, scale = np.full(10, 10_000), 80.0
    rough = rough_log_near(1.0 + counts[None], np.array([scale]))[0]
    assert rough == pytest.approx(log_near(np.ones(10), counts, scale), abs=2e-3)


@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerReciprocal])
def test_refined_likelihoods_are_those_of_a_list_of_all_candidates(kind: type) -> None:
    """Of 40 records in three cells single candidates matter, so that the rough part is off by far more."""
    mechanism = kind(categories(3), 40, 4)
    tables = np.array(list(compositions(40, 3)))
    near = ApproximateNormaliser(np.ones(3), 40, mechanism.scales, mechanism.distances)
    output = np.array([20, 12, 8])
    exact = mechanism.log_prob(output, tables)
    rough = np.abs(near.log_prob(output, tables) - exact).max()
    assert rough > 0.05
    near.refine(tables[::17])
    assert np.abs(near.log_prob(output, tables) - exact).max() < 0.05
    assert np.abs(near.errors(tables[5::97])).max() < 0.05


@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerReciprocal])
def test_a_hundred_thousand_records_in_ten_levels_can_be_read(kind: type) -> None:
    assert why_unreadable(kind(categories(10), 100_000, 1)) is None
    assert why_unreadable(HellingerSmooth(categories(10), 100_000, 1, "1e-8")) is None


def test_a_choice_that_tells_nothing_is_read_as_the_prior() -> None:
    """Under the global sensitivity nearly all of 1e39 candidates are alike: P(r | k) = 1/|R| but for 1e-30."""
    mechanism = HellingerGlobal(categories(10), 100_000, 1)
    release = dc.simulate(mechanism, [10_000] * 10, dc.SeededBits(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = dc.infer(release)
    assert posterior.log_evidence == pytest.approx(-log(comb(100_009, 9)), abs=0.05)
    assert posterior.mean[0] == pytest.approx(0.1, abs=0.01)
    assert "weighted draws" in posterior.method


@pytest.mark.parametrize(("cells", "size", "smoothing"), [(4, 600, "0.05"), (4, 600, 0), (10, 100_000, "0.001")])
def test_a_calibrated_choice_beyond_comparison_has_a_proved_scale(cells: int, size: int, smoothing: str | int) -> None:
    """For random neighbours the bound of one pair stays below epsilon; twice the scale is refused."""
    mechanism = HellingerCalibrated(categories(cells), size, 1, smoothing=smoothing)
    assert mechanism.guarantee.evidence.value == "proved"
    assert mechanism.pure_epsilon == 1
    generator = np.random.default_rng(5)
    for concentration in (0.2, 1.0, 50.0):
        table = generator.multinomial(size, generator.dirichlet(np.full(cells, concentration)))
        moved = table.copy()
        moved[[int(table.argmax()), int(table.argmin())]] += [-1, 1]
        one, two = mechanism.scales(np.stack([table, moved])).tolist()
        assert pair_bound(one, two, float(mechanism.distances(table[None], moved[None])[0])) <= 1
    with pytest.raises(dc.DeclarationError, match="does not give epsilon"):
        HellingerCalibrated(categories(cells), size, 1, smoothing=smoothing, scale=2 * mechanism.scale)


@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerReciprocal])
def test_near_sums_read_what_a_list_of_all_tables_reads(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """496 tables of 30 records: means within 5 Monte Carlo errors of 1,000 draws, evidence within .1."""
    mechanism = kind(categories(3), 30, 8)
    problem = Problem.of([dc.simulate(mechanism, np.array([5, 15, 10]), dc.SeededBits(2))])
    exact = EnumerationSolver().solve(problem)
    monkeypatch.setattr("discreet.choices._hellinger_mechanism.MOST_CANDIDATES", 100)
    monkeypatch.setattr("discreet.choices._hellinger_mechanism.MOST_ENUMERATED", 100)
    monkeypatch.setattr("discreet.choices._hellinger_sums.MOST_RECORDS", 10)
    monkeypatch.setattr("discreet.tables._importance_solver._TRIALS", 1_000)
    assert mechanism.has_near_sums
    found = WeightedTablesSolver().solve(problem)
    steps = np.arange(exact.counts.marginals.shape[1])
    deviations = np.sqrt(exact.counts.marginals @ steps**2 - (exact.counts.marginals @ steps) ** 2)
    assert (np.abs(found.mean_counts - exact.mean_counts) <= 5 * deviations / np.sqrt(1_000)).all()
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)
    assert "where checked" in found.method
