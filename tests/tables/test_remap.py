"""The Bayes remap: its accuracy, exactly summed, against optima found by linear programming."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.mathematics import hellinger_rows
from discreet.privacy import compositions
from discreet.tables import NoisyCounts

Floats = NDArray[np.float64]


def model_of(levels: int, prior: float | tuple[float, ...] = 1) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abcdefghij"[:levels]), prior=prior, outside="a")


def _expected_hellinger(
    mechanism: NoisyCounts, outputs: NDArray[np.int64], read: Callable[[dc.Release], Floats]
) -> float:
    """Return the prior-predictive mean Hellinger distance between what is read and what the truth would give."""
    model = mechanism.model
    tables = np.array(list(compositions(mechanism.size, len(model.cells))))
    total = 0.0
    for output in outputs:
        joint = np.exp(model.log_evidence(tables) + mechanism.log_prob(output, tables))
        chosen = read(dc.Release(mechanism, tuple(int(v) for v in output), "x", simulated=True))
        total += float(joint @ hellinger_rows(chosen, model.concentration + tables))
    return total


@pytest.mark.parametrize(("size", "optimum"), [(5, 0.187714), (10, 0.174606), (20, 0.147664)])
def test_the_remapped_geometric_attains_the_optimum_over_all_mechanisms(size: int, optimum: float) -> None:
    """The LP optimum over all epsilon-private mechanisms, prior (1, 1), epsilon = 1."""
    mechanism = dc.GeometricHistogram(model_of(2), size=size, epsilon=1)
    outputs = np.array([(z, size - z) for z in range(-25, size + 26)])
    found = _expected_hellinger(
        mechanism, outputs, lambda release: np.array(dc.infer(release).bayes_remap().concentration)
    )
    assert found == pytest.approx(optimum, abs=1e-6)


def test_the_clamped_geometric_has_the_stated_accuracy() -> None:
    """The specified accuracy of the geometric with clamping: prior (1, 1), epsilon = 1, n = 100."""
    mechanism = dc.GeometricHistogram(model_of(2), size=100, epsilon=1)
    outputs = np.array([(z, 100 - z) for z in range(-40, 141)])
    clamped = 1.0 + np.clip(outputs, 0, 100)
    at_centre = np.exp(mechanism.log_prob(outputs, np.array([50, 50]))) @ hellinger_rows(
        clamped, np.array([51.0, 51.0])
    )
    assert at_centre == pytest.approx(0.05941652441310, abs=1e-13)
    mean = _expected_hellinger(mechanism, outputs, lambda release: np.clip(release.counts.astype(float), 0, 100) + 1)
    assert mean == pytest.approx(0.08170678141647, abs=1e-13)


def test_the_remap_of_small_tables_is_the_best_of_all() -> None:
    for seed in range(5):
        model = model_of(3, (0.1, 0.5, 0.1))
        release = dc.simulate(dc.GeometricHistogram(model, size=17, epsilon="0.3"), (9, 7, 1), dc.SeededBits(seed))
        tables = np.array(list(compositions(17, 3)))
        logs = model.log_evidence(tables) + release.mechanism.log_prob(release.counts, tables)
        weights, parameters = np.exp(logs - np.logaddexp.reduce(logs)), model.concentration + tables
        losses = hellinger_rows(parameters[:, None, :], parameters[None, :, :]) @ weights
        found = np.array(dc.infer(release).bayes_remap().concentration)
        assert hellinger_rows(found, parameters) @ weights == pytest.approx(losses.min(), abs=1e-12)
