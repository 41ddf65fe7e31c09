"""A network with a reader's own records in its prior, as counts of every row."""

from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.mechanism import Informed, own_counts
from discreet.networks._model import Network


class InformedNetwork(Network):
    """A network whose rows have priors of their own: what was declared, and own counts of the same row."""

    own_rows: Counts

    @classmethod
    def of(cls, network: Network, own: Counts) -> "InformedNetwork":
        """Return a network as it is known to somebody who has counted these cells of the maximal families."""
        priors = {v.name: row for v, row in zip(network.variables, network.prior, strict=True)}
        found = cls(network.variables, network.parents, priors)
        object.__setattr__(found, "own_rows", own)
        return found

    @cached_property
    def row_priors(self) -> tuple[Floats, ...]:
        tables = [self.table(variable.name, self.own_rows) for variable in self.variables]
        return tuple(
            np.array(prior) + table.reshape(-1, table.shape[-1])
            for prior, table in zip(self.prior, tables, strict=True)
        )


def informed_network(model: Network, own: object) -> Informed:
    """Return a network with own records in its prior; strengths of variables with many levels are not learnt."""
    counts = own_counts(model, own)
    totals = {int(table.sum()) for table in model.split(counts)}
    if len(totals) > 1:
        raise DeclarationError(
            f"The tables of own counts of the network have different totals, {sorted(totals)}: every table must "
            "count the same records. Nothing was read."
        )
    (known,) = model.proposals(is_evidence_known=False) if model.is_prior_open else (model,)
    return Informed((InformedNetwork.of(known, counts),), (0.0,), totals.pop())
