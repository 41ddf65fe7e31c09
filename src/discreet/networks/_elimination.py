"""Questions to any graph, by variable elimination: sum or maximise one variable after another out of small tables.

P(event) = sum over all levels of prod_v P(v | parents) [v as the event says]. A variable occurs in few of these
factors; their product, summed over it, is a factor of its neighbours. Whoever makes the smallest new factor goes first.
Only the variables of the event and what they depend on matter: all others sum to one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.networks._model import Network

Tables = dict[str, Floats]
"""P(variable | parents) by name, axes (..., rows of parents, levels); a root has one row."""

Event = dict[str, NDArray[np.bool_]]
"""For each variable that an event is about, which levels are meant."""

_MOST_NUMBERS = 200_000_000  # in one factor


@dataclass(frozen=True, eq=False)
class Factor:
    """Numbers for all combinations of levels of some variables, axes (..., *names)."""

    names: tuple[str, ...]
    values: Floats


def chance_of(event: Event, tables: Tables, model: Network) -> Floats:
    """Return P(event) under each set of tables."""
    return joint_chances((), event, tables, model)


def joint_chances(names: Sequence[str], event: Event, tables: Tables, model: Network) -> Floats:
    """Return P(names, event), axes (..., *names)."""
    if not names and not event:
        return np.ones(())
    wanted = needed_for({*names, *event}, model)
    factors = [_restricted(name, event, tables, model) for name in wanted]
    for name in elimination_order([factor.names for factor in factors], set(names), _batch(factors), model):
        touched = [factor for factor in factors if name in factor.names]
        factors = [factor for factor in factors if name not in factor.names] + [product_of(touched, (name,), model)]
    return product_of(factors, (), model, order=tuple(names)).values


def most_probable(event: Event, tables: Tables, model: Network) -> tuple[dict[str, int], float]:
    """Return the level of every variable in the most probable record of an event, and that record's probability.

    `tables` are one set, without further axes. Logarithms are maximised out instead of summed out, and the best levels
    are then read off in reverse order.
    """
    factors = [_restricted(variable.name, event, tables, model) for variable in model.variables]
    with np.errstate(divide="ignore"):
        factors = [Factor(factor.names, np.log(factor.values)) for factor in factors]
    done: list[tuple[str, Factor]] = []
    for name in elimination_order([factor.names for factor in factors], set(), 1, model):
        touched = [factor for factor in factors if name in factor.names]
        joined = _sum_of_logs(touched, model)
        done.append((name, joined))
        rest = tuple(each for each in joined.names if each != name)
        best = Factor(rest, joined.values.max(axis=joined.names.index(name)))
        factors = [factor for factor in factors if name not in factor.names] + [best]
    levels: dict[str, int] = {}
    for name, joined in reversed(done):
        index = tuple(slice(None) if each == name else levels[each] for each in joined.names)
        levels[name] = int(joined.values[index].argmax())
    return levels, float(np.exp(sum(float(factor.values) for factor in factors)))


def needed_for(names: Iterable[str], model: Network) -> list[str]:
    """Return these variables and all that they depend on, in the order of the network."""
    needed = set(names)
    for variable, above in zip(reversed(model.variables), reversed(model.parents), strict=True):
        if variable.name in needed:
            needed.update(above)
    return [variable.name for variable in model.variables if variable.name in needed]


def _restricted(name: str, event: Event, tables: Tables, model: Network) -> Factor:
    """Return P(variable | parents) with one axis for each of them, 0 where the event says otherwise."""
    family = next(family for family in model.families if family[-1] == name)
    table = tables[name]
    values = table.reshape(*table.shape[:-2], *model.shape(family))
    return Factor(family, values * event[name] if name in event else values)


def elimination_order(scopes: Sequence[tuple[str, ...]], kept: set[str], batch: int, model: Network) -> list[str]:
    """Return all variables but those that are kept, whoever makes the smallest table first: one pass over names alone.

    So a graph that needs too large a table is refused before any table is made.
    """
    levels = {variable.name: len(variable.levels) for variable in model.variables}
    around: dict[str, set[str]] = {name: set() for scope in scopes for name in scope}
    for scope in scopes:
        for name in scope:
            around[name] |= set(scope)
    sizes = {name: prod(levels[each] for each in near) for name, near in around.items()}
    order = []
    for _ in range(len(around) - len(kept)):
        name = min((each for each in sizes if each not in kept), key=lambda each: (sizes[each], each))
        check_size(batch * sizes.pop(name))
        near = around.pop(name) - {name}
        for other in near:
            around[other] = (around[other] | near) - {name}
            sizes[other] = prod(levels[each] for each in around[other])
        order.append(name)
    check_size(batch * prod(levels[name] for name in kept))
    return order


def _batch(factors: Sequence[Factor]) -> int:
    """Return how many sets of tables there are."""
    return max(prod(factor.values.shape[: factor.values.ndim - len(factor.names)]) for factor in factors)


def product_of(
    factors: Sequence[Factor], without: tuple[str, ...], model: Network, order: tuple[str, ...] | None = None
) -> Factor:
    """Return the product of factors, summed over some variables."""
    every = dict.fromkeys(name for factor in factors for name in factor.names)
    names = tuple(name for name in every if name not in without) if order is None else order
    labels = {name: number for number, name in enumerate(every)}
    terms: list[Any] = []
    for factor in factors:
        terms += [factor.values, [..., *(labels[name] for name in factor.names)]]
    values = np.einsum(*terms, [..., *(labels[name] for name in names)], optimize=len(factors) > 2)
    return Factor(names, np.asarray(values))


def _sum_of_logs(factors: Sequence[Factor], model: Network) -> Factor:
    """Return the sum of factors of logarithms, over all their variables."""
    names = tuple(dict.fromkeys(name for factor in factors for name in factor.names))
    total = np.zeros(model.shape(names))
    for factor in factors:
        own = tuple(name for name in names if name in factor.names)
        turned = factor.values.transpose([factor.names.index(name) for name in own])
        total = total + turned.reshape([len_ if n in own else 1 for n, len_ in zip(names, total.shape, strict=True)])
    return Factor(names, total)


def check_size(numbers: int) -> None:
    """Refuse a table of more numbers than are held at a time."""
    if numbers > _MOST_NUMBERS:
        raise DeclarationError(
            f"This question needs a table of about {numbers:.0e} numbers, and at most {_MOST_NUMBERS:.0e} are "
            "allowed: too many variables of the graph depend on each other at once. Nothing was computed. Ask about "
            "fewer variables, or condition on one that separates them."
        )
