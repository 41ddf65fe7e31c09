"""What is loaded when it is first asked for, so that `import discreet` and `discreet --help` start at once.

There are three kinds of it, and one rule for each.

- **Names of a package**: its `__init__.pyi` imports them and lists them in `__all__`, as any package would; type
  checkers and editors read that file. Its `__init__.py` calls `names_on_demand`, which reads the same file, so there
  is one list. The front door, `discreet`, is such a package.
- **Commands**: `command_line/main.py` says where each stands.
- **Libraries that take long to load and are needed in few places** (sqlalchemy, dp_accounting, scipy.stats,
  scipy.optimize, scipy.signal, scipy.interpolate) are imported in the functions that need them, not at the top of a
  file.
"""

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def names_on_demand(
    package: str, file: str, gone: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are imported in its `__init__.pyi`.

    Names that are imported there and not in its `__all__` can be asked for and are not listed, except rooms of the
    package. Modules inside the package can be asked for as well, as if they had been imported. `gone` says what to use
    in place of names that are no more.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module or package for node in imports for alias in node.names}
    listed: list[str] = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    rooms = [name for name, home in homes.items() if home == package]

    def load(name: str) -> object:
        if name in homes and name not in rooms:
            found: object = _inside(homes[name], name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            found = import_module(f"{package}.{name}")
        else:
            instead = f" any more: use {gone[name]}" if name in gone else ""
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{instead}", name=name, obj=sys.modules[package]
            )
        setattr(sys.modules[package], name, found)  # asked once only
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *listed, *rooms})

    return load, names, listed


def _inside(home: str, name: str) -> object:
    """Return what a module holds under a name, or the module of that name in it."""
    module = import_module(home)
    return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
