"""A proposal along the logarithm of a spread: against a funnel whose mass and means are known."""

import numpy as np
import pytest

from discreet._core.arrays import Floats
from discreet.mathematics import along, by_draws
from discreet.mathematics._ridges import ALONG, Ridge

CENTRE, WIDTH = -1.0, 0.8


class Funnel:
    """s ~ Normal(-1, 0.8), and two effects ~ Normal(0, e^s) given it: a density that is normalised."""

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        steps, scaled = (theta[:, 1] - CENTRE) / WIDTH, theta[:, [0, 2]] * np.exp(-theta[:, [1]])
        logs = -np.log(WIDTH) - steps**2 / 2 - 2 * theta[:, 1] - np.square(scaled).sum(axis=1) / 2
        effects = -scaled * np.exp(-theta[:, [1]])
        spread = -steps / WIDTH - 2 + np.square(scaled).sum(axis=1)
        return logs - 1.5 * np.log(2 * np.pi), np.stack([effects[:, 0], spread, effects[:, 1]], axis=1)

    def values(self, theta: Floats) -> Floats:
        return self(theta)[0]


def test_a_funnel_has_the_mass_and_the_means_that_are_known() -> None:
    ridge = along(Funnel(), 1, np.zeros(3))
    found = by_draws(Funnel(), ridge, 4_000, 1_000, 4_000, np.random.default_rng(811))
    assert found.shape < 0.5
    assert found.log_mass == pytest.approx(0, abs=4 * 0.01)
    assert found.log_mass_error < 0.01
    mean = float(found.weights @ found.points[:, 1])
    assert mean == pytest.approx(CENTRE, abs=4 * WIDTH / 45)
    assert float(found.weights @ (found.points[:, 1] - mean) ** 2) == pytest.approx(WIDTH**2, rel=0.15)


@pytest.mark.parametrize("rises", [np.zeros(len(ALONG)), np.linspace(-9, 0, len(ALONG))])
def test_draws_follow_the_density_that_is_stated_between_values_and_in_the_tails(rises: Floats) -> None:
    ridge = along(Funnel(), 1, np.zeros(3))
    ridge = Ridge(1, ridge.values, rises, ridge.peaks)
    points = ridge.draw(20_000, np.random.default_rng(812))
    logs = ridge.log_density(points)
    for low, high in [(-np.inf, -10.0), (-10.0, -3.0), (-3.0, 1.9), (1.9, 2.5), (2.5, np.inf)]:
        inside = (points[:, 1] > low) & (points[:, 1] <= high)
        at = np.linspace(max(low, -30.0), min(high, 25.0), 2_001)
        middles = np.array([peak.location for peak in ridge.peaks])
        centres = np.stack([np.interp(at, ridge.values, middles[:, k]) for k in (0, 1)], axis=1)
        rows = np.insert(centres, 1, at, axis=1)
        factors = np.array([np.diag(peak.factor) for peak in ridge.peaks])
        scales = np.stack([np.interp(at, ridge.values, factors[:, k]) for k in (0, 1)], axis=1)
        degrees = ridge.peaks[0].degrees  # at its centre a t law of two dimensions is 1 / (2 pi |L|)
        assert degrees == 4
        density = np.exp(ridge.log_density(rows)) * 2 * np.pi * scales.prod(axis=1)
        chance = float(np.trapezoid(density, at))
        assert abs(inside.mean() - chance) <= 4 * np.sqrt(chance * (1 - chance) / len(points)) + 1e-4
    assert np.isfinite(logs).all()
