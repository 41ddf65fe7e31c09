"""The prior of a network row by row: all rows of a variable have the same, unless a reader has own records of them."""

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.models.model import Model

if TYPE_CHECKING:
    from discreet.inference.posteriors.network import NetworkPosterior
    from discreet.models.informed import Informed
    from discreet.models.network import Network


class RowPriors(Model["NetworkPosterior"]):
    """A model of rows of probabilities, each with a Dirichlet prior; what it is about is declared in `Network`."""

    @cached_property
    def row_priors(self: "Network") -> tuple[Floats, ...]:  # type: ignore[misc]  # there is no other
        """Return the Dirichlet parameters of every row (rows, levels) of every variable: all rows have the same."""
        rows = [prod(self.shape(above)) for above in self.parents]
        return tuple(np.tile(np.array(own), (count, 1)) for own, count in zip(self.prior, rows, strict=True))

    def informed_by(self: "Network", own: object) -> "Informed":  # type: ignore[misc]
        """Return the network with own records in the prior of its rows: records, or counts of all cells."""
        from discreet.models.informed import informed_network

        return informed_network(self, own)
