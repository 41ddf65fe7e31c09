"""Declared graphs: every variable once, parents that exist, and an order in which parents stand before children."""

from collections import Counter
from heapq import heapify, heappop, heappush

from discreet.errors import DeclarationError
from discreet.records.columns import Column
from discreet.records.nearest import meant


def check_graph(variables: tuple[Column, ...], parents: tuple[tuple[str, ...], ...]) -> None:
    """Refuse what is no graph: variables that are none, names that are unknown or given twice."""
    if not variables or not all(isinstance(variable, Column) for variable in variables):
        raise DeclarationError("A network needs one or more variables, each a Column.")
    names = [variable.name for variable in variables]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise DeclarationError(f"Every variable of a network is declared once; twice: {', '.join(map(repr, twice))}.")
    if len(parents) != len(names):
        raise DeclarationError(f"A network of {len(names)} variables needs {len(names)} lists of parents.")
    known = set(names)
    for name, above in zip(names, parents, strict=True):
        if unknown := [parent for parent in above if parent not in known]:
            raise DeclarationError(
                f"{name!r} has the parent {unknown[0]!r}, which is no variable of the network."
                f"{meant(unknown[0], names)}"
            )
        if len(set(above)) < len(above):
            raise DeclarationError(f"{name!r} names a parent twice: {', '.join(map(repr, above))}.")


def parents_first(names: list[str], parents: tuple[tuple[str, ...], ...]) -> list[int]:
    """Return the places of the variables, parents before children, else in the order of declaration."""
    place = {name: number for number, name in enumerate(names)}
    missing = [len(above) for above in parents]
    children: list[list[int]] = [[] for _ in names]
    for number, above in enumerate(parents):
        for parent in above:
            children[place[parent]].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        order.append(heappop(ready))
        for child in children[order[-1]]:
            missing[child] -= 1
            if not missing[child]:
                heappush(ready, child)
    if len(order) < len(names):
        stuck = [name for number, name in enumerate(names) if missing[number]]
        raise DeclarationError(
            f"The arrows must not run in a circle; there is one among {', '.join(map(repr, stuck))}."
        )
    return order
