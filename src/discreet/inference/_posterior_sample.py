"""Joint draws from a posterior: the parameters, and the counts or moments behind the releases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError

Group = Mapping[str, NDArray[Any]]
"""Named arrays of an ArviZ group, with axes (chains, draws, ...); what was observed lacks these two."""


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """Draws of the parameters, named as in `draws`, with the counts or moments of the records in the same order.

    `hidden` has a row for each draw, or is None if it was not drawn. Chains follow one another, each with the same
    number of draws. `statistics` are further numbers for every draw, by name.
    """

    parameters: Mapping[str, Floats]
    hidden: Counts | Floats | None = None
    chains: int = 1
    statistics: Mapping[str, Floats | Counts] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Return the number of draws, of all chains together."""
        return len(next(iter(self.parameters.values())))

    @property
    def behind(self) -> Floats:
        """Return what is hidden as real numbers; refuse in words if it was not drawn."""
        if self.hidden is None:
            raise DeclarationError("the hidden numbers behind the releases were not drawn")
        return np.asarray(self.hidden, dtype=np.float64)

    def some(self, most: int) -> "PosteriorSample":
        """Return at most this many of the draws, evenly spaced, as one chain."""
        step = -(-self.count // most)
        parameters = {name: values[::step] for name, values in self.parameters.items()}
        return PosteriorSample(parameters, None if self.hidden is None else self.hidden[::step])

    def chained(self, values: NDArray) -> NDArray:  # type: ignore[type-arg]  # numbers of any kind
        """Return numbers of every draw with axes (chains, draws, ...)."""
        return values.reshape(self.chains, -1, *values.shape[1:])
