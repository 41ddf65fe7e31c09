"""Calibration finds the largest scale that the exact privacy curve allows, and reads none without certifying it."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Counts
from discreet.choices import HellingerCalibrated
from discreet.inference import Problem
from discreet.mechanism import with_fields
from discreet.tables._importance_solver import WeightedTablesSolver
from uncalibrated_hellinger import HellingerSmooth

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
DIE = dc.Categories("die", levels=("a", "b", "c"), prior=(1, 1, 2), outside="a")


@pytest.mark.parametrize(("size", "wanted"), [(10, 0.8055374957538), (20, 0.8300430290175), (50, 0.8813113744390)])
def test_the_pure_scales_of_the_global_sensitivity(size: int, wanted: float) -> None:
    scale = HellingerCalibrated(COIN, size, 1, 0, smoothing=0).scale
    assert wanted * (1 - 3e-6) < scale <= wanted


@pytest.mark.parametrize(
    ("model", "size", "epsilon", "delta"),
    [
        (COIN, 60, "1", "0"),
        (COIN, 60, "1", "1e-4"),
        (COIN, 200, "0.3", "1e-6"),
        (DIE, 9, "2", "0"),
        (DIE, 9, "1", "0.01"),
    ],
)
def test_the_scale_fits_and_a_larger_one_does_not(model: dc.Categories, size: int, epsilon: str, delta: str) -> None:
    mechanism = HellingerCalibrated(model, size, epsilon, delta)
    assert mechanism.fits(mechanism.compared(mechanism.scale))
    assert not mechanism.fits(mechanism.compared(mechanism.scale * Fraction("1.0001")))
    assert mechanism.guarantee.epsilon == Fraction(epsilon)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.ENUMERATED
    again = HellingerCalibrated(model, size, epsilon, delta, mechanism.smoothing, mechanism.scale)
    assert again == mechanism
    assert again.guarantee == mechanism.guarantee


def test_a_scale_that_does_not_fit_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="does not give epsilon = 1 with delta = 0"):
        HellingerCalibrated(COIN, 20, 1, 0, smoothing=0, scale="0.8301")


def test_calibration_halves_the_error_of_balanced_data() -> None:
    published = HellingerSmooth(COIN, 100, 1, "1e-8")
    calibrated = HellingerCalibrated(COIN, 100, 1, 0, smoothing="0.07")
    table = np.array([50, 50])
    errors = [
        float(np.exp(m.log_prob(m.tables.all, table)) @ m.tables.distances(table[None])[0])
        for m in (published, calibrated)
    ]
    assert errors[0] == pytest.approx(0.348103779044, abs=1e-11)
    assert errors[1] < 0.069


def test_more_delta_allows_more_scale() -> None:
    scales = [HellingerCalibrated(COIN, 80, 1, delta).scale for delta in (0, "1e-9", "1e-4", "1e-2", "0.1")]
    assert scales == sorted(scales)
    assert scales[-1] > scales[0]


@pytest.mark.parametrize(("smoothing", "word"), [("-1", "smoothing"), ("nan", "smoothing"), ("1000", "smoothing")])
def test_nonsense_is_refused(smoothing: str, word: str) -> None:
    with pytest.raises(dc.DeclarationError, match=word):
        HellingerCalibrated(COIN, 10, 1, 0, smoothing=smoothing)


def test_too_many_tables_to_compare_have_a_proved_scale_and_too_many_to_draw_from_are_refused() -> None:
    mechanism = HellingerCalibrated(COIN, 20_000, 1)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.PROVED
    assert mechanism.scale < Fraction(1, 2)
    with pytest.raises(dc.DeclarationError, match="GeometricHistogram"):
        HellingerCalibrated(dc.Categories("x", levels=tuple(range(200)), outside=0), 10_000, 1)


def test_other_facts_mean_another_scale() -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    mechanism = dc.choices.HellingerCalibrated(coin, size=10, epsilon=1)
    assert with_fields(mechanism, epsilon=2) == dc.choices.HellingerCalibrated(coin, size=10, epsilon=2)
    assert with_fields(mechanism, size=6) == dc.choices.HellingerCalibrated(coin, size=6, epsilon=1)
    assert with_fields(mechanism) == mechanism


def test_a_few_tables_have_the_sums_of_many_rather_than_certified_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dc.Categories("x", levels=tuple("abcdefgh"), outside="a")
    mechanism = dc.choices.HellingerCalibrated(model, 120, 1)
    tables = np.array([[15] * 8, [50, 10, 10, 10, 10, 10, 10, 10], [113, 1, 1, 1, 1, 1, 1, 1]])
    certified = [mechanism.moments(table).log_normaliser.middle for table in tables]
    monkeypatch.setattr(HellingerCalibrated, "moments", None)
    np.testing.assert_allclose(mechanism.log_normalisers(tables), certified, atol=1e-9)


def test_sums_of_a_table_take_its_sensitivity_once_and_count_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of 8 levels and 400 records is read in some seconds; five of them together are refused."""
    asked, plain = [], HellingerCalibrated._sensitivity

    def counted(mechanism: HellingerCalibrated, table: Counts) -> float:
        asked.append(tuple(table))
        return plain(mechanism, table)

    mechanism = dc.choices.HellingerCalibrated(dc.Categories("x", levels=tuple("abcdefgh"), outside="a"), 400, 1)
    monkeypatch.setattr(HellingerCalibrated, "_sensitivity", counted)
    tables = np.array([[50] * 8, [330, 10, 10, 10, 10, 10, 10, 10], [393, 1, 1, 1, 1, 1, 1, 1]])
    assert np.isfinite(mechanism.log_prob(tables[0], tables)).all()
    assert len(asked) == len(set(asked)) == len(tables)
    problem = Problem.before(mechanism)
    assert WeightedTablesSolver().rejection(problem) is None
    together = Problem(mechanism.model, mechanism.size, problem.observed * 5)
    assert "operations" in str(WeightedTablesSolver().rejection(together))


@pytest.mark.parametrize(("levels", "size"), [(6, 1_000), (8, 3_000), (4, 501)])
def test_choices_among_tables_of_many_records_have_near_sums(levels: int, size: int) -> None:
    """All sums at once took up to 6 ms a table; near ones are as exact as the draws need, and checked."""
    model = dc.Categories("x", levels=tuple("abcdefgh"[:levels]), outside="a")
    assert dc.choices.HellingerCalibrated(model, size, 1).has_near_sums
