"""Lazy loading, so that `import discreet` and `discreet --help` start at once.

There are four sorts of it, and one rule for each.

- **Names of a package**: its `__init__.pyi` imports them and lists them in `__all__`, as any package would; type
  checkers and editors read that file. Its `__init__.py` calls `names_on_demand`, which reads the same file, so there
  is one list. The front door, `discreet`, is such a package.
- **Commands**: `cli/_main.py` says where each stands.
- **Libraries that take long to load and are needed in few modules** (sqlalchemy, dp_accounting, duckdb, narwhals,
  scipy.stats, scipy.optimize, scipy.signal, scipy.interpolate) are imported in the functions that need them, not at the
  top of a file.
- **Kinds** (mechanisms, models, programs, metrics), solvers and posteriors: `kinds.py` says in which module each
  built-in one is defined, and `make kinds` writes it. Other distributions announce theirs as entry points of the group
  "discreet.kinds": the name is the kind, the value is the module that defines it and imports its solver and posterior.
"""

import ast
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from discreet._core.kinds import KINDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

ENTRY_POINTS = "discreet.kinds"
ANNOUNCED: set[str] = set()
"""Modules that were loaded because distributions announce them, not because the running program imports them."""


def load_kind(sort: str, kind: str) -> None:
    """Load the module that defines a kind: the library's own, otherwise that of a distribution that announces it."""
    if (home := KINDS.get(sort, {}).get(kind)) is not None:
        import_module(home)
    else:
        for announced in _announced().select(name=kind):
            _load(announced)


@cache
def load_all_kinds(sort: str) -> None:
    """Load every kind of one sort, once: the library's own, then what other distributions announce, of any sort."""
    for home in KINDS.get(sort, {}).values():
        import_module(home)
    load_announced()


@cache
def load_announced() -> None:
    """Load what other distributions announce, once."""
    for announced in _announced():
        _load(announced)


def _announced() -> "EntryPoints":
    from importlib.metadata import entry_points  # slow to import

    return entry_points(group=ENTRY_POINTS)


def _load(announced: "EntryPoint") -> None:
    """Load what a distribution announces; a kind of the library's own cannot be replaced."""
    origin = announced.dist.name if announced.dist is not None else announced.value
    if any(announced.name in homes for homes in KINDS.values()):
        warnings.warn(
            f"{origin} announces the kind {announced.name}, which is one of discreet's own: it was not loaded.",
            stacklevel=4,
        )
        return
    before = set(sys.modules)
    try:
        announced.load()
    except Exception as problem:  # noqa: BLE001 - whatever is wrong there, all else goes on without it
        warnings.warn(
            f"{announced.value} of {origin} could not be loaded, so that the models and mechanisms in it are not "
            f"known: {problem}. Install {origin} again, in the version that belongs to this discreet.",
            stacklevel=4,
        )
    ANNOUNCED.update(name for name in set(sys.modules) - before if not name.startswith("discreet."))


def names_on_demand(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are imported in its `__init__.pyi`.

    Its folders, which are imported there as well, and other modules inside the package can be asked for as if they had
    been imported. `dir` and tab completion show the names and the folders, and nothing else.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module or package for node in imports for alias in node.names}
    listed: list[str] = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    folders = [name for name, home in homes.items() if home == package]

    def load(name: str) -> object:
        if name in homes and name not in folders:
            found: object = getattr(import_module(homes[name]), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            found = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, found)  # asked once only
        return found

    def names() -> list[str]:
        return sorted({*listed, *folders})

    return load, names, listed
