"""Fail fast on releases whose noisy sums contradict each other.

A notice is the value of a noisy sum, its information (one over its variance) and how fast its likelihood falls far out
(b = 1 / rate). By Bernstein's inequality a sum is farther than t from its mean with a probability of about
e^(-t^2 / (2 (sd^2 + b t))), so beyond t = max(120 b, 30 sd) with less than e^-50.
"""

from collections.abc import Sequence

import numpy as np

from discreet._core.errors import DiscreetError
from discreet.inference._row_windows import TOO_FAR

Notice = tuple[float, float, float]

_REACHES, _DEVIATIONS = 120.0, 30.0


def require_agreement(notices: Sequence[Notice]) -> None:
    """Refuse notices of one count that lie too far apart for noise to explain."""
    if notices:
        values = np.array([value for value, _, _ in notices])
        far = np.array([farthest(notice) for notice in notices])
        if float((values - far).max()) > float((values + far).min()):
            raise DiscreetError(TOO_FAR)


def require_total(notices: Sequence[Sequence[Notice]], total: int) -> None:
    """Refuse notices of counts that add up to a known total, if no notice of each is near enough to it."""
    if all(notices):
        least = sum(max(notice[0] - farthest(notice) for notice in own) for own in notices)
        most = sum(min(notice[0] + farthest(notice) for notice in own) for own in notices)
        if not least <= total <= most:
            raise DiscreetError(TOO_FAR)


def farthest(notice: Notice) -> float:
    """Return the farthest that the noise of a sum reaches."""
    _, information, rate = notice
    return float(max(_REACHES / max(rate, 1e-300), _DEVIATIONS / np.sqrt(max(information, 1e-300))))
