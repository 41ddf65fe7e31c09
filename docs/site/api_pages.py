"""The pages of the API reference: one for each public name, and one for each folder that lists its names.

No page is written by hand. The front door is `discreet.__all__`, the folders are those that `discreet/__init__.pyi`
imports and the few in MORE_FOLDERS, and the names of a folder are its `__all__`: a name has its page once it is public.
"""

import ast
import inspect
from collections.abc import Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import discreet
from docstrings import escaped, summary

MORE_FOLDERS = (
    "mathematics",
    "mathematics.distributions",
    "noise.randomness",
    "programs.families",
    "records",
    "release",
    "report.charts",
    "report.statement",
    "sklearn",
    "study",
)
"""Folders with public names that the front door does not import as a module."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Declare": (
        "Categories",
        "Column",
        "EquivalentSize",
        "Exponential",
        "LinearRegression",
        "Network",
        "NormalMean",
        "Poisson",
        "Unit",
    ),
    "Count records where they are": ("Source", "Statistics", "read"),
    "Plan": ("accuracy", "compare", "suggest"),
    "Mechanisms and what they promise": ("GeometricHistogram", "Guarantee", "Mechanism", "Plan", "compose"),
    "Keep account": ("Accountant", "Budget", "Ledger"),
    "Publish": ("QuerySession", "Question", "Release", "SeededBits", "Study", "publish", "publish_plan", "simulate"),
    "Ask a server": ("Client",),
    "Read and check": ("audit", "infer", "verify"),
    "Errors": (
        "BudgetError",
        "DeclarationError",
        "DiscreetError",
        "DocumentError",
        "LedgerError",
        "PublishError",
        "SecretError",
        "SourceError",
        "VerificationError",
    ),
}
"""The names of the front door by what one does with them; a name in no group stands under OTHERS."""
OTHERS = "Others"

_BUILT_IN = (BaseException, tuple, dict, Enum)  # their own methods are described elsewhere


def folders() -> tuple[str, ...]:
    """Return the folders that have public names, without the leading `discreet.`, in alphabetical order."""
    stub = ast.parse(Path(discreet.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module == "discreet"]
    named = {alias.name for node in imports for alias in node.names} | set(MORE_FOLDERS)
    return tuple(sorted(name for name in named if public_names(import_module(f"discreet.{name}"))))


def public_names(folder: ModuleType) -> tuple[str, ...]:
    """Return the names that a folder lists, or, where it lists none, those that it defines."""
    listed = getattr(folder, "__all__", None)
    if listed is None:
        listed = [name for name, what in vars(folder).items() if getattr(what, "__module__", "") == folder.__name__]
    return tuple(sorted(name for name in listed if not name.startswith("_")))


def front_door() -> dict[str, tuple[str, ...]]:
    """Return the names of the front door by group, each once."""
    names = [name for name in discreet.__all__ if not name.startswith("_")]
    groups = {group: tuple(name for name in given if name in names) for group, given in GROUPS.items()}
    grouped = {name for group in groups.values() for name in group}
    others = tuple(name for name in names if name not in grouped)
    return {**groups, **({OTHERS: others} if others else {})}


def pages() -> dict[str, str]:
    """Return the text of every page of the reference, in reStructuredText, by its path without ending."""
    found: dict[str, str] = {"index": _front_page()}
    for names in front_door().values():
        found |= {name: _name_page("discreet", name) for name in names}
    for folder in folders():
        found[f"{folder}/index"] = _folder_page(folder)
        found |= {f"{folder}/{name}": _name_page(f"discreet.{folder}", name) for name in own_names(folder)}
    return found


@cache
def places_of_names() -> dict[str, str]:
    """Return under which name each public name has its page, by the module in which it is defined."""
    found = {}
    for folder in ["", *folders()]:
        module = import_module(f"discreet.{folder}".rstrip("."))
        names = own_names(folder) if folder else tuple(name for group in front_door().values() for name in group)
        for what, name in ((getattr(module, name), name) for name in names):
            if inspect.isclass(what) or inspect.isroutine(what):
                found[f"{what.__module__}.{what.__qualname__}"] = f"{module.__name__}.{name}"
    return found


def own_names(folder: str) -> tuple[str, ...]:
    """Return the names of a folder that have no page at the front door."""
    module = import_module(f"discreet.{folder}")
    return tuple(name for name in public_names(module) if not _is_at_front_door(module, name))


def _is_at_front_door(module: ModuleType, name: str) -> bool:
    return name in discreet.__all__ and getattr(discreet, name) is getattr(module, name)


def _front_page() -> str:
    parts = [
        _title("API reference"),
        "``import discreet as dc`` gives you the names on this page, which are all that most studies need. Everything "
        "else is in namespaces such as ``dc.mechanisms``, which are listed at the end.",
    ]
    for group, names in front_door().items():
        parts += [_heading(group), _table("discreet", {name: name for name in names})]
    rows = [
        (f":doc:`discreet.{folder} <{folder}/index>`", escaped(summary(import_module(f"discreet.{folder}"))))
        for folder in folders()
    ]
    parts += [_heading("Namespaces"), _list_table(rows)]
    parts += [_toctree([f"{folder}/index" for folder in folders()])]
    return "\n\n".join(parts) + "\n"


def _folder_page(folder: str) -> str:
    module = import_module(f"discreet.{folder}")
    own = own_names(folder)
    places = {name: name if name in own else f"../{name}" for name in public_names(module)}
    parts = [
        _title(f"discreet.{folder}"),
        f".. automodule:: discreet.{folder}\n   :no-members:\n   :no-index:",
        _table(module.__name__, places),
    ]
    return "\n\n".join(parts) + "\n"


def _name_page(module: str, name: str) -> str:
    """Return the page of a name; it is in no table of contents, as these are written out on every page of the site."""
    what = getattr(import_module(module), name)
    if inspect.isclass(what):
        kind = "autoexception" if issubclass(what, BaseException) else "autoclass"
        above = _documented_above(what)
        shared = ", ".join(["object", *(each.__name__ for each in above)])
        inherited = "" if issubclass(what, _BUILT_IN) else f"\n   :inherited-members: {shared}"
        links = ", ".join(f":py:class:`~{places_of_names()[_full_name(each)]}`" for each in above)
        also = f"It also has the members of {links}.\n\n" if links else ""
        directive = f"{also}.. {kind}:: {module}.{name}\n   :members:{inherited}"
    elif inspect.isroutine(what):
        directive = f".. autofunction:: {module}.{name}"
    else:
        directive = f".. autodata:: {module}.{name}\n   :no-value:"
    folder = module.removeprefix("discreet").removeprefix(".")
    up = f"In :doc:`discreet.{folder} <index>`" if folder else "In :doc:`discreet <index>`"
    return f":orphan:\n\n{_title(name)}\n\n{up}\n\n{directive}\n"


def _documented_above(what: type) -> tuple[type, ...]:
    """Return the nearest classes above one that have a page of their own: their members are described there."""
    found: list[type] = []
    for each in what.__mro__[1:]:
        if _full_name(each) in places_of_names() and not any(issubclass(near, each) for near in found):
            found.append(each)
    return tuple(found)


def _full_name(what: type) -> str:
    return f"{what.__module__}.{what.__qualname__}"


def _table(module: str, places: Mapping[str, str]) -> str:
    owner = import_module(module)
    return _list_table(
        [(f":doc:`{name} <{place}>`", escaped(summary(getattr(owner, name)))) for name, place in places.items()]
    )


def _list_table(rows: list[tuple[str, str]]) -> str:
    lines = [f"   * - {first}\n     - {second}" for first, second in rows]
    return ".. list-table::\n   :widths: 30 70\n\n" + "\n".join(lines)


def _toctree(places: list[str]) -> str:
    return ".. toctree::\n   :hidden:\n\n" + "\n".join(f"   {place}" for place in places)


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}"


def _heading(text: str) -> str:
    return f"{text}\n{'-' * len(text)}"
