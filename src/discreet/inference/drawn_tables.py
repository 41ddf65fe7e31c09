"""Questions to one network with known tables, such as a drawn one: the probability of an event, on any graph.

P(event) = sum over all levels that the event allows of prod_i P(x_i | parents). The sum is taken variable by variable:
`einsum` chooses the order of elimination.
"""

import string
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DeclarationError
from discreet.inference.network_queries import Event
from discreet.models.network import Network

Floats = NDArray[np.float64]

MOST_VARIABLES = len(string.ascii_letters)


def event_chance(event: Event, tables: Mapping[str, Floats], model: Network) -> float:
    """Return P(event) for tables P(variable | parents) with axes (parents..., levels).

    >>> net = Network.from_edges("a -> b", levels={"a": (0, 1), "b": (0, 1)})
    >>> tables = {"a": np.array([0.75, 0.25]), "b": np.array([[0.5, 0.5], [0.0, 1.0]])}
    >>> event_chance({"b": np.array([False, True])}, tables, net)
    0.625
    """
    if len(model.variables) > MOST_VARIABLES:
        raise DeclarationError(f"Drawn networks answer questions about at most {MOST_VARIABLES} variables.")
    letter = dict(zip((variable.name for variable in model.variables), string.ascii_letters, strict=False))
    terms = ["".join(letter[name] for name in family) for family in model.families]
    allowed = [letter[name] for name in event]
    factors = [np.asarray(tables[family[-1]]) for family in model.families]
    return float(
        np.einsum(f"{','.join(terms + allowed)}->", *factors, *map(np.float64, event.values()), optimize="greedy")
    )
