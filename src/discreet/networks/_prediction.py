"""The probabilities of one variable given what is known about a record, with the rest summed out.

Given draws t of the true tables, the next record has the probability prod_v P_t(v | parents), where P_t are the means
of the rows; each record uses one row of every table, so this is exact. What is not known is summed out,

    P(target | known) ~ sum_t sum_{unknown} prod_v P_t(v | parents),

by variable elimination, together for all records in which the same variables are known. In naive Bayes an unknown
feature simply drops out of the product, and where the posterior is a finite sum, so is this: no draws are needed.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.networks._elimination import Factor, Tables, elimination_order, needed_for, product_of
from discreet.networks._model import Network
from discreet.networks._records_to_predict import UNKNOWN

_NUMBERS = 10_000_000  # numbers in all factors of a batch of records
Joint = Callable[[Counts], Floats]
"""Log P(class, features) of a naive Bayes network for every class (columns), for rows of codes of its features."""


def chances_of(target: str, codes: Counts, model: Network, joint: Joint | None, tables: Callable[[], Tables]) -> Floats:
    """Return P(target = level | known) for rows of codes of all variables; those of the target are ignored.

    `joint` is that of a naive Bayes network, None for other graphs. `tables` gives draws of the means of all rows, axes
    (draws, rows of parents, levels).
    """
    index = [variable.name for variable in model.variables].index(target)
    if joint is not None:
        logs = _of_naive_bayes(index, codes, model, joint)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))
    records = codes.copy()
    records[:, index] = UNKNOWN
    found, which = np.unique(records, axis=0, return_inverse=True)
    return np.asarray(_by_draws(index, found, model, tables())[which.ravel()])


def _levels(model: Network, index: int) -> int:
    return len(model.variables[index].levels)


def _of_naive_bayes(index: int, records: Counts, model: Network, joint: Joint) -> Floats:
    """Return log P(target, known) of a naive Bayes network (records, levels), whatever variable the target is."""
    if index == 0:
        return joint(records[:, 1:])
    columns = []
    for level in range(_levels(model, index)):
        features = records[:, 1:].copy()
        features[:, index - 1] = level
        logs = joint(features)
        known = np.take_along_axis(logs, np.maximum(records[:, :1], 0), axis=1)[:, 0]
        columns.append(np.where(records[:, 0] == UNKNOWN, logsumexp(logs, axis=1), known))
    return np.stack(columns, axis=1)


def _by_draws(index: int, records: Counts, model: Network, drawn: Tables) -> Floats:
    """Average over draws of the tables, together for all records in which the same variables are known."""
    result = np.empty((len(records), _levels(model, index)))
    patterns, which = np.unique(records != UNKNOWN, axis=0, return_inverse=True)
    for number, known in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        plan = _Plan(index, known, model)
        draws = len(next(iter(drawn.values())))
        step = max(1, int(_NUMBERS // (draws * plan.size)))
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            result[some] = plan.chances(records[some], drawn)
    return result


class _Plan:
    """How the target's probabilities are computed where the same variables are known: the order of elimination."""

    def __init__(self, index: int, known: Sequence[bool], model: Network) -> None:
        self._model = model
        self._names = [variable.name for variable in model.variables]
        self._target = self._names[index]
        self._known = {name for name, is_known in zip(self._names, known, strict=True) if is_known}
        wanted = set(needed_for({self._target, *self._known}, model))
        self._families = [family for family in model.families if family[-1] in wanted]
        scopes = [tuple(name for name in family if name not in self._known) for family in self._families]
        self._order = elimination_order([*scopes, (self._target,)], {self._target}, 1, model)
        self.size = float(sum(np.prod(model.shape(scope)) for scope in scopes))
        """How many numbers the factors of one record hold for one draw, before variables are eliminated."""

    def chances(self, records: Counts, tables: Tables) -> Floats:
        """Return P(target | known) for rows of codes, averaged over draws."""
        factors = [self._given(family, records, tables[family[-1]]) for family in self._families]
        for name in self._order:
            touched = [factor for factor in factors if name in factor.names]
            factors = [factor for factor in factors if name not in factor.names]
            factors.append(_scaled(product_of(touched, (name,), self._model)))
        total = Factor((self._target,), np.ones((1, 1, *self._model.shape((self._target,)))))
        for factor in factors:
            total = _scaled(product_of([total, factor], (), self._model, order=(self._target,)))
        weights = np.asarray(total.values.sum(axis=1))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _given(self, family: tuple[str, ...], records: Counts, table: Floats) -> Factor:
        """Return P(variable | parents) at what is known, axes (records, draws, *unknown)."""
        known = [index for index, name in enumerate(family) if name in self._known]
        others = [index for index, name in enumerate(family) if name not in self._known]
        shaped = table.reshape(len(table), *self._model.shape(family))
        turned = shaped.transpose(*(1 + index for index in known), 0, *(1 + index for index in others))
        codes = tuple(records[:, self._names.index(family[index])] for index in known)
        values = turned[codes] if known else turned[None]
        return Factor(tuple(family[index] for index in others), values)


def _scaled(factor: Factor) -> Factor:
    """Return a factor scaled to a largest entry of 1 for every record: only shares matter, and none vanishes."""
    peaks = factor.values.max(axis=tuple(range(1, factor.values.ndim)), keepdims=True)
    return Factor(factor.names, factor.values / np.where(peaks > 0, peaks, 1.0))
