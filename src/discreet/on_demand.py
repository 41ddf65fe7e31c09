"""What is loaded when it is first asked for, so that `import discreet` and `discreet --help` start at once.

There are four kinds of it, and one rule for each.

- **Names of a package**: its `__init__.pyi` imports them and lists them in `__all__`, as any package would; type
  checkers and editors read that file. Its `__init__.py` calls `names_on_demand`, which reads the same file, so there
  is one list. The front door, `discreet`, is such a package.
- **Commands**: `command_line/main.py` says where each stands.
- **Libraries that take long to load and are needed in few places** (sqlalchemy, dp_accounting, duckdb, narwhals,
  scipy.stats, scipy.optimize, scipy.signal, scipy.interpolate) are imported in the functions that need them, not at the
  top of a file.
- **What registers by itself**: models, mechanisms, engines and posteriors, each in a file of its room. Whoever asks for
  all of them calls `everything_registered` first, so that no list names them. Other distributions announce the modules
  with theirs as entry points of the group "discreet.kinds".
"""

import ast
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

ROOMS = ("models", "mechanisms", "reading.engines", "inference.posteriors", "as_published")
"""The rooms in which a new file needs no line elsewhere."""
ENTRY_POINTS = "discreet.kinds"


@cache
def everything_registered() -> None:
    """Load what registers by itself, once: every file of the rooms, then what other distributions announce."""
    for room in (import_module(f"discreet.{name}") for name in ROOMS):
        for found in iter_modules(room.__path__):
            import_module(f"{room.__name__}.{found.name}")
    for announced in entry_points(group=ENTRY_POINTS):
        try:
            announced.load()
        except Exception as problem:  # noqa: BLE001 - whatever is wrong there, all else goes on without it
            origin = announced.dist.name if announced.dist is not None else announced.value
            warnings.warn(
                f"{announced.value} of {origin} could not be loaded, so that the models and mechanisms in it are not "
                f"known: {problem}. Install {origin} again, in the version that belongs to this discreet.",
                stacklevel=3,
            )


def names_on_demand(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are imported in its `__init__.pyi`.

    Its rooms, which are imported there as well, and other modules inside the package can be asked for as if they had
    been imported; the rooms are shown beside the names.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module or package for node in imports for alias in node.names}
    listed: list[str] = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    rooms = [name for name, home in homes.items() if home == package]

    def load(name: str) -> object:
        if name in homes and name not in rooms:
            found: object = getattr(import_module(homes[name]), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            found = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, found)  # asked once only
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *listed, *rooms})

    return load, names, listed
