"""Do the groups differ? One question, with a probability and a plain sentence for its answer.

Two models of the same noisy sums are compared: all groups share one rate, mu; or each has its own,
theta_g ~ Beta(kappa mu, kappa (1 - mu)). In both, mu is uniform; in the second, so is 1/(1 + kappa), for kappa from
1/10 to 10,000: groups that are more alike than that count as equal. Counts are summed out exactly, and mu and kappa on
grids that are refined where the weight lies. Each model has prior probability 1/2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from discreet._core.arrays import Floats
from discreet.mechanism import sized
from discreet.release import Release
from discreet.tables._groups import Group, Sizes, groups_of
from discreet.tables._model import Categories

Range = tuple[float, float]

_LOGITS = (-9.0, 9.0)
_LOG_KAPPAS = np.linspace(np.log(0.1), np.log(1e4), 13)
_POINTS = 15  # points of a grid over logit mu
_NEAR = 14.0  # nats: the next grid covers all points within this distance of the best
_ENOUGH = 7  # this many points so near are enough
_LAID = 3  # about how many grids are used


@dataclass(frozen=True)
class Difference:
    """Whether the rate of an event differs between groups: its probability, and the groups furthest apart."""

    event: str
    by: str
    probability: float
    highest: str
    lowest: str

    @property
    def sentence(self) -> str:
        """Return the answer in one plain sentence or two."""
        groups = f"The groups of {self.by} {_verdict(self.probability)} in how often {self.event} occurs"
        ends = f" The highest rate is that of {self.highest}, the lowest that of {self.lowest}."
        known = f"{groups}: the probability that they do is {_rounded(self.probability)} (0.5 a priori)."
        return known + (ends if self.probability > 0.75 else "")

    def __str__(self) -> str:
        return self.sentence

    def document(self) -> dict[str, object]:
        """Return the answer as a document."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"sentence": self.sentence}


def difference_between_groups(
    model: Categories,
    releases: Sequence[Release[Categories]],
    event: object,
    by: str,
    rates: Callable[[], Floats],
    patience: float = 1.0,
) -> Difference:
    """Return whether groups differ; `rates` gives their expected rates, in the order of the column's levels.

    Anything that takes more than `patience` times the usual work is refused before it begins.
    """
    points = _LAID * _POINTS * (1 + len(_LOG_KAPPAS))
    groups = groups_of(releases, model, event, by, least=2, points=points, patience=patience)
    size = sized(releases[0].mechanism).size
    one_rate = _over_means(groups, size, inf, _LOGITS)[0]
    jacobians, own_rates, where = _LOG_KAPPAS - 2 * np.logaddexp(0, _LOG_KAPPAS), [], _LOGITS
    for log_kappa in _LOG_KAPPAS:
        found, where = _over_means(groups, size, float(np.exp(log_kappa)), where)
        own_rates.append(found)
    several = float(logsumexp(np.array(own_rates) + jacobians) - logsumexp(jacobians))
    names = [group.name for group in groups]
    means = rates()
    highest, lowest = names[int(np.argmax(means))], names[int(np.argmin(means))]
    return Difference(str(event), by, float(expit(several - one_rate)), highest, lowest)


def _over_means(groups: Sequence[Group], size: int, kappa: float, where: Range) -> tuple[float, Range]:
    """Return the log of the integral over mu of P(z | mu, kappa), mu uniform, and where the weight lies."""

    def log_weight(logit: float) -> float:
        jacobian = float(log_expit(logit) + log_expit(-logit))
        return Sizes(groups, size, float(expit(logit)), kappa).counts.log_sum + jacobian

    return log_integral(log_weight, where)


def log_integral(log_weight: Callable[[float], float], where: Range) -> tuple[float, Range]:
    """Return log of the integral of e^log_weight over [-9, 9], and where its weight lies.

    The grid is narrowed or widened until the weight lies inside it and fills half of it.
    """
    low, high = where
    while True:
        edges = np.linspace(low, high, _POINTS + 1)
        points, step = ((edges[1:] + edges[:-1]) / 2).tolist(), float(edges[1] - edges[0])
        weights = np.array([log_weight(point) for point in points])
        near = np.flatnonzero(weights > weights.max() - _NEAR)
        is_inside = (near[0] > 0 or low == _LOGITS[0]) and (near[-1] < _POINTS - 1 or high == _LOGITS[1])
        margin = 1.5 * step if is_inside else high - low
        low, high = max(points[near[0]] - margin, _LOGITS[0]), min(points[near[-1]] + margin, _LOGITS[1])
        if step < 1e-9 or (is_inside and len(near) >= _ENOUGH):
            return float(logsumexp(weights) + np.log(step)), (low, high)


def _verdict(probability: float) -> str:
    steps = ((0.99, "almost certainly differ"), (0.9, "very probably differ"), (0.75, "probably differ"))
    for least, words in steps:
        if probability >= least:
            return words
    if probability > 0.25:
        return "may or may not differ"
    return "probably do not differ" if probability > 0.1 else "very probably do not differ"


def _rounded(probability: float) -> str:
    """Return a probability with as many digits as are meaningful.

    >>> [_rounded(value) for value in (0.999994, 0.87, 0.0002)]
    ['above 0.999', '0.87', 'below 0.001']
    """
    if probability > 0.999:
        return "above 0.999"
    return "below 0.001" if probability < 0.001 else f"{probability:.2g}" if probability < 0.9 else f"{probability:.3g}"
