"""Groups of which one stands out: what a mixed model makes of it, with normal intercepts and with those of a t.

Eight wards of as many records have the same log odds but the last, which is far above. A model in which intercepts vary
normally draws it towards the others, without privacy too: that is what such a model says. Here is how often 90 %
intervals hold the log odds of that ward and of the others, on exact counts and on releases, under several priors of
the spread. The bars: with t intercepts the outlying ward is held at least as often as with normal ones, but for two
standard errors of the difference, and the other wards hold .9 but for .05 and three standard errors.

    DISCREET_VALIDATION=full pytest -s validation/test_outlying_groups.py
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats
from scipy.special import expit

import discreet as dc
from discreet.programs._model import _Known, points_of

WARDS = dc.Column("ward", tuple("ABCDEFGH"), outside="A")
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
LAST = len(WARDS.levels) - 1
NORMAL, TAILS = "falls ~ (1 | ward)", "falls ~ (1 | ward, t)"
BATCH = 5


@dataclass(frozen=True)
class Outlier:
    """A formula and a prior, size, log odds, how far the last ward stands out, and epsilon, or None: exact counts."""

    formula: str
    spread: str
    size: int
    common: float
    away: float
    epsilon: str | None
    seed: int

    @property
    def name(self) -> str:
        """Say what it is."""
        where = "exact counts" if self.epsilon is None else f"epsilon {self.epsilon}"
        return f"{self.formula}, spread {self.spread}, one ward of {self.size // (LAST + 1)} {self.away:+g}, {where}"

    @property
    def truths(self) -> Any:
        """Return the log odds of every ward."""
        return self.common + self.away * (np.arange(LAST + 1) == LAST)

    def batch(self, number: int) -> list[list[float]]:
        """Return for every data set, of each ward, whether its interval holds its log odds; and the last one's mean."""
        table = dc.Logistic(self.formula, [WARDS, FALLS], spread=self.spread).table
        chances = np.stack([expit(-self.truths), expit(self.truths)], axis=1).ravel() / (LAST + 1)
        found = []
        for place in range(BATCH * number, BATCH * (number + 1)):
            counts = np.random.default_rng([self.seed, place]).multinomial(self.size, chances)
            points, grouped = self._read(table, counts, place)
            values = table.bound.natural(points)
            logits = values[:, :1] + values[:, 2:]
            own = [grouped.distribution(column) for column in logits.T]
            ends = [each.interval(0.9) for each in own]
            inside = [float(e.low <= t <= e.high) for e, t in zip(ends, self.truths, strict=True)]
            found.append([*inside, own[-1].mean])
        return found

    def _read(self, table: Any, counts: Any, place: int) -> tuple[Any, Any]:
        if self.epsilon is None:
            found = points_of(_Known(table.bound, counts.astype(float)), table.bound)
            return found.points, _Weighted(found.grouped)
        mechanism: Any = dc.GeometricHistogram(table, self.size, self.epsilon)
        release = dc.simulate(mechanism, counts, dc.SeededBits(self.seed * 100_000 + place), "made up")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior: Any = dc.infer(release)
        return posterior.solution.found.points, _Weighted(posterior.solution.grouped)


@dataclass(frozen=True)
class _Weighted:
    grouped: Any

    def distribution(self, column: Any) -> Any:
        """Return the distribution of a quantity, given its value at every point."""
        from discreet.mathematics.distributions import WeightedDraws

        return WeightedDraws(column, self.grouped)


USUAL = "HalfNormal(2.5)"
FAR = ((2_000, -1.5, 2.0), (2_000, -3.0, 4.0), (400, -1.5, 2.0))
SETTINGS = [
    *(Outlier(NORMAL, "HalfNormal(1)", *far, None, 620 + k) for k, far in enumerate(FAR)),
    *(Outlier(NORMAL, spread, *FAR[1], None, 621) for spread in ("HalfStudentT(3, 2.5)", "Exponential(1)")),
    *(Outlier(f, USUAL, *far, None, 620 + k) for f in (NORMAL, TAILS) for k, far in enumerate(FAR)),
    *(Outlier(f, USUAL, *far, "1", 623 + k) for f in (NORMAL, TAILS) for k, far in enumerate(FAR)),
]


def found_by(setting: Outlier) -> Any:
    """Return rows of what was held, data set by data set; data sets are the same under every model."""
    return np.concatenate(kept("outlying-groups", setting.name, setting.seed, repeats(1, 12), setting.batch))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_how_often_the_log_odds_of_wards_are_held(setting: Outlier) -> None:
    found = found_by(setting)
    last, others = found[:, LAST], found[:, :LAST].mean(axis=1)
    error, error_of_others = (float(x.std(ddof=1) / np.sqrt(len(found))) for x in (last, others))
    away = found[:, -1].mean() - setting.truths[-1]
    print(
        f"\n{setting.name}, {len(found)} data sets: the outlying ward {last.mean():.2f} +- {error:.2f}, its mean "
        f"{away:+.2f} from the truth; the others {others.mean():.3f} +- {error_of_others:.3f}"
    )
    assert others.mean() >= 0.9 - 0.05 - 3 * max(error_of_others, 0.01)


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("epsilon", [None, "1"])
def test_t_intercepts_hold_the_outlying_ward_at_least_as_often(
    far: tuple[int, float, float], epsilon: str | None
) -> None:
    normal, tails = (
        found_by(s)[:, LAST]
        for f in (NORMAL, TAILS)
        for s in SETTINGS
        if (s.formula, s.spread, (s.size, s.common, s.away), s.epsilon) == (f, USUAL, far, epsilon)
    )
    gain = tails - normal
    print(
        f"\none ward of {far[0] // (LAST + 1)} {far[2]:+g}, epsilon {epsilon}: t holds it {gain.mean():+.3f} more often"
    )
    assert gain.mean() >= -2 * max(float(gain.std(ddof=1)) / np.sqrt(len(gain)), 0.02)
