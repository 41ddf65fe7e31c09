"""Events of a network as text, and their probability under given tables."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet._core.errors import DeclarationError
from discreet.mechanism import Parameters
from discreet.networks._elimination import Event, chance_of
from discreet.networks._model import Network
from discreet.records import Column, Level, text_of


def read_event(text: object, declared: Sequence[Column]) -> Event:
    """Read 'smoker=yes, age=old': a comma means 'and'; a variable that is named twice may have either level."""
    columns = {column.name: column for column in declared}
    event: Event = {}
    for part in text.split(",") if isinstance(text, str) else [""]:
        name, equals, level = (piece.strip() for piece in part.partition("="))
        column = columns.get(name)
        levels = [text_of(known) for known in column.levels] if column else []
        if not equals or level not in levels:
            shown = declared[0]
            raise DeclarationError(
                f"Cannot read {text!r}: write 'variable=level' with declared names, such as "
                f"'{shown.name}={shown.levels[0]}'; several are joined by commas."
            )
        event.setdefault(name, np.zeros(len(levels), dtype=np.bool_))[levels.index(level)] = True
    return event


def levels_of(codes: Mapping[str, int], model: Network) -> dict[str, Level]:
    """Return the level of each variable from its index."""
    return {column.name: column.levels[codes[column.name]] for column in model.variables}


def both(one: Event, two: Event) -> Event:
    """Return the event that two events happen."""
    return {name: _and(one.get(name), two.get(name)) for name in one | two}


def _and(one: NDArray[np.bool_] | None, two: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if one is None or two is None:
        found = two if one is None else one
        assert found is not None
        return found
    return one & two


def chance_under(model: Network, event: object, parameters: Parameters, given: object = None) -> float:
    """Return P(event), or P(event | given), under one set of tables with axes (parents..., levels)."""
    if not isinstance(parameters, Mapping):
        raise DeclarationError("The parameters of a network must be tables, keyed by the name of their variable.")
    tables = {name: table.reshape(-1, table.shape[-1]) for name, table in parameters.items()}
    wanted = read_event(event, model.variables)
    if given is None:
        return float(chance_of(wanted, tables, model))
    known = read_event(given, model.variables)
    return float(chance_of(both(wanted, known), tables, model)) / float(chance_of(known, tables, model))
