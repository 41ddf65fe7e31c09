"""A reader's own records of the same population: what they tell is added to the prior, exactly.

Given the parameters, own records and those behind a release are independent. So the posterior given both is that of the
release under the prior which own records have turned into a posterior already:

    rows of probabilities:  Dirichlet(alpha + own counts), each row with counts of its own;
    a regression:           w ~ N(M^-1 b / sigma^2, M^-1),  M = l I + A / sigma^2,  A = X'X and b = X'y of own records.

No privacy is spent, and nothing protects own records: a posterior that holds them is as confidential as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError, SecretError
from discreet.models.linear_regression import LinearRegression
from discreet.models.model import Model
from discreet.models.moments import Moments
from discreet.models.network import Network
from discreet.records import as_source, sum_moments
from discreet.records.counting import Statistics

if TYPE_CHECKING:
    from discreet.models.categories import Categories


@dataclass(frozen=True, eq=False)
class Informed:
    """A model whose prior holds own records; several where the strength of the prior is to be learnt.

    `log_weights` say how likely own records are under each of them, and `records` how many there are.
    """

    models: tuple[Model, ...]
    log_weights: tuple[float, ...]
    records: int


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


class InformedRegression(LinearRegression):
    """A regression with the moments of own records, in public units."""

    _own: tuple[Moments, int]

    @classmethod
    def of(cls, model: LinearRegression, own: Moments, size: int) -> "InformedRegression":
        """Return a regression as it is known to somebody who has summed these moments."""
        found = object.__new__(cls)
        found.__dict__.update(model.__dict__ | {"_own": (own, size), "is_prior_declared": True})
        return found

    @property
    def own(self) -> tuple[Moments, int]:
        return self._own


def own_counts(model: "Categories | Network", own: object) -> Counts:
    """Return own records as counts of a model's cells: they are given as such, or as anything that holds records."""
    _refuse_statistics(own)
    if _are_counts(own):
        counts = model.counts(np.asarray(own))
        if counts.ndim != 1:
            raise DeclarationError("own must be one row of counts, or records. Nothing was read.")
        return counts
    tables = as_source(own).count_families(model.tables)
    return np.concatenate([table.ravel() for table in tables]).astype(np.int64)


def informed_categories(model: "Categories", own: object) -> Informed:
    """Return a table with own records in its prior: if none was declared, for every strength that may be meant."""
    counts = own_counts(model, own)
    meant = model.proposals(is_evidence_known=True) if model.is_prior_open else (model,)
    models = tuple(model.with_prior((each.concentration + counts).tolist()) for each in meant)
    return Informed(models, tuple(float(each.log_evidence(counts)) for each in meant), int(counts.sum()))


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


def informed_regression(model: LinearRegression, own: object) -> Informed:
    """Return a regression with the moments of own records in its prior."""
    _refuse_statistics(own)
    if _are_counts(own):
        raise DeclarationError("For a regression, pass your own records themselves, not counts. Nothing was read.")
    sums, records = sum_moments(own, model.layout.plan)
    moments = model.layout.unpack(sums * model.layout.weights, records)
    return Informed((InformedRegression.of(model, moments, records),), (0.0,), records)


def _are_counts(own: object) -> bool:
    """Tell whether these are whole numbers, not records."""
    if isinstance(own, np.ndarray):
        return own.dtype.kind in "iu"
    if not isinstance(own, Sequence) or isinstance(own, str | bytes):
        return False
    return len(own) > 0 and all(isinstance(value, Integral) for value in own)


def _refuse_statistics(own: object) -> None:
    if isinstance(own, Statistics):
        raise SecretError(
            "Statistics are secret and may only go to discreet.publish. Nothing was read. Pass your own records, as "
            "a frame, a file or lists, or their counts."
        )
