"""What may be declared as the graph of a network: columns by name, and parents that stand before their children."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import prod

from discreet._core.errors import DeclarationError, meant
from discreet.records import Column, Level

MOST_CELLS = 10_000_000
"""The most cells that all tables of a network may have together."""
_LARGEST_PART = 32  # kinds of records of a part of a network


def columns_named(
    names: Iterable[str],
    levels: Mapping[str, Sequence[Level] | Column],
    outside: Level | Mapping[str, Level] | None,
) -> list[Column]:
    """Return the declared column of each name."""
    wanted = list(names)
    named = set(levels) if isinstance(levels, Mapping) else set()
    if named != set(wanted):
        differing = sorted(map(str, named ^ set(wanted)))
        raise DeclarationError(
            f"levels must declare every variable of the network and no others; check {', '.join(map(repr, differing))}."
        )
    homes = outside if isinstance(outside, Mapping) else dict.fromkeys(wanted, outside)
    if strange := set(homes) - named:
        raise DeclarationError(f"outside may name the variables {sorted(named)}; it names {sorted(map(str, strange))}.")
    return [_column(name, levels[name], homes.get(name)) for name in wanted]


def _column(name: str, declared: Sequence[Level] | Column, outside: Level | None) -> Column:
    if not isinstance(declared, Column):
        return Column(name, declared, outside)
    if declared.name != name:
        raise DeclarationError(f"levels[{name!r}] declares a column with another name, {declared.name!r}.")
    return declared


def parents_by_edges(edges: Sequence[str]) -> dict[str, list[str]]:
    """Return the parents of every name in arrows such as 'smoker -> cancer'; a name alone stands for itself."""
    parents: dict[str, list[str]] = {}
    for edge in edges:
        names = [name.strip() for name in edge.split("->")] if isinstance(edge, str) else [""]
        if not all(names):
            raise DeclarationError(f"An edge is written 'parent -> child', or a name alone; got {edge!r}.")
        for name in names:
            parents.setdefault(name, [])
        for parent, child in pairwise(names):
            parents[child].append(parent)
    return parents


def checked_graph(
    variables: Sequence[Column], parents: Sequence[Sequence[str]]
) -> tuple[tuple[Column, ...], tuple[tuple[str, ...], ...]]:
    """Return variables and the parents of each; refuse what is none, and what is no graph over columns."""
    given = tuple(variables if isinstance(variables, Iterable) else ())
    if not isinstance(parents, Iterable) or not all(isinstance(names, Iterable) for names in parents):
        raise DeclarationError(
            f"A network needs the parents of each variable, a sequence of names that may be empty; got {parents!r}."
        )
    above = tuple(tuple(names) for names in parents)
    check_graph(given, above)
    return given, above


def check_graph(variables: tuple[Column, ...], parents: tuple[tuple[str, ...], ...]) -> None:
    """Refuse what is not a graph over columns: names that are declared twice, or parents that are not declared."""
    if not variables or not all(isinstance(variable, Column) for variable in variables):
        raise DeclarationError("A network needs at least one variable, and each must be a Column.")
    names = [variable.name for variable in variables]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise DeclarationError(
            f"Every variable of a network must be declared only once; declared twice: {', '.join(map(repr, twice))}."
        )
    if len(parents) != len(names):
        raise DeclarationError(f"A network of {len(names)} variables needs {len(names)} lists of parents.")
    known = set(names)
    for name, above in zip(names, parents, strict=True):
        if unknown := [parent for parent in above if parent not in known]:
            raise DeclarationError(
                f"{name!r} has the parent {unknown[0]!r}, which is not a variable of the "
                f"network.{meant(unknown[0], names)}"
            )
        if len(set(above)) < len(above):
            raise DeclarationError(f"{name!r} names a parent twice: {', '.join(map(repr, above))}.")


def parents_first(names: list[str], parents: tuple[tuple[str, ...], ...]) -> list[int]:
    """Return the indices of the variables, parents before children, else in the order of declaration."""
    index = {name: number for number, name in enumerate(names)}
    missing = [len(above) for above in parents]
    children: list[list[int]] = [[] for _ in names]
    for number, above in enumerate(parents):
        for parent in above:
            children[index[parent]].append(number)
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
        raise DeclarationError(f"The graph must not contain a cycle; there is one among {', '.join(map(repr, stuck))}.")
    return order


def ancestral_parts(variables: Sequence[Column], parents: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return indices of variables with all their ancestors: one list for all that look alike, most records first."""
    above: dict[str, set[str]] = {}
    for variable, own in zip(variables, parents, strict=True):
        above[variable.name] = {variable.name}.union(*(above[parent] for parent in own))
    found: dict[tuple[int, ...], list[int]] = {}
    for names in above.values():
        indices = [index for index, variable in enumerate(variables) if variable.name in names]
        levels = tuple(len(variables[index].levels) for index in indices)
        if len(indices) < len(variables) and prod(levels) <= _LARGEST_PART:
            found.setdefault(levels, indices)
    return [found[levels] for levels in sorted(found, key=lambda levels: -prod(levels))]


def check_sizes(tables: Mapping[tuple[str, ...], int], cells: int) -> None:
    """Refuse tables of too many cells, by the names of their families, or too many in all."""
    for family, size in tables.items():
        if size > MOST_CELLS:
            raise DeclarationError(
                f"The table of {family[-1]!r} given {', '.join(map(repr, family[:-1]))} has {size} cells; "
                f"at most {MOST_CELLS} are allowed. Declare fewer parents or fewer levels."
            )
    if cells > MOST_CELLS:
        raise DeclarationError(f"The tables have {cells} cells in all; at most {MOST_CELLS} are allowed.")
