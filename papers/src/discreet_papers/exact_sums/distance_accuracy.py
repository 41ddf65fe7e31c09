"""How far a Hellinger mechanism goes among more candidates than can be listed, and whether it says anything at all.

What a reader would learn needs a sum over all candidates. The distance does not: E[H], E[H^2] and the share of a draw
that is the same for all data are known between bounds for each table of counts, at any size. They are averaged over
made-up tables.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Protocol, runtime_checkable

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.choices._hellinger_moments import HellingerMoments
from discreet.mechanism import Sized, require_mechanism

MOST_STUDIES = 20
"""The number of simulated tables: each takes up to a second."""
_MOSTLY = 0.9


@dataclass(frozen=True)
class DistanceAccuracy:
    """The accuracy to expect of one draw, averaged over `studies` made-up tables: each figure with its standard error.

    `hellinger` is E[H], the expected Hellinger distance between the drawn and the exact posterior, and
    `hellinger_square` is E[H^2]; `truth` is the probability of drawing the exact posterior itself, and `uniform_share`
    that of the part that is the same for all data. `gap` is the largest difference between the certified bounds of
    E[H].
    """

    size: int
    hellinger: float
    hellinger_square: float
    truth: float
    uniform_share: float
    gap: float
    studies: int
    errors: dict[str, float]

    @property
    def warning(self) -> str:
        """Say that the output hardly depends on the data, if that is so."""
        if self.uniform_share < _MOSTLY:
            return ""
        return (
            f"its output hardly depends on the data: {self.uniform_share:.1%} of its distribution is uniform over all "
            "candidates"
        )

    def document(self) -> dict[str, object]:
        """Return all figures by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"warning": self.warning}


@runtime_checkable
class HasCountDistance(Protocol):
    """A mechanism whose output's distance from the counts is known without listing all outputs."""

    def count_distance(self, counts: Counts) -> HellingerMoments:
        """Return the moments of the distance of an output from these counts."""


def distance_accuracy(mechanism: Sized, repeats: int = MOST_STUDIES, seed: int = 2) -> DistanceAccuracy:
    """Return averages over at most 20 tables drawn from the prior."""
    require_mechanism(mechanism, "Distances are those")
    if not isinstance(mechanism, HasCountDistance):
        raise DeclarationError(
            f"How far an output of {type(mechanism).__name__} lies from the counts is not known without listing all "
            "outputs."
        )
    generator, model = np.random.default_rng(seed), mechanism.model
    studies = min(whole(repeats, "repeats", least=2), MOST_STUDIES)
    found = [mechanism.count_distance(model.simulate(mechanism.size, generator).statistics) for _ in range(studies)]
    names = {"hellinger": "distance", "hellinger_square": "square", "truth": "truth", "uniform_share": "uniform_share"}
    values = {ours: np.array([getattr(each, theirs).middle for each in found]) for ours, theirs in names.items()}
    errors = {name: float(each.std(ddof=1) / sqrt(studies)) for name, each in values.items()}
    gap = max(each.distance.upper - each.distance.lower for each in found)
    means = {name: float(each.mean()) for name, each in values.items()}
    return DistanceAccuracy(mechanism.size, gap=gap, studies=studies, errors=errors, **means)
