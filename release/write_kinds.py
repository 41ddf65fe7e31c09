"""Write src/discreet/_core/kinds.py, which says where each built-in kind and posterior is: what `make kinds` does.

A document, a release or a study then loads the modules of what it names, and no others. tests/core/test_kinds.py fails
if the file is not what this would write.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import discreet
from discreet._core.documents import MECHANISMS, MODELS
from discreet.inference import Posterior
from discreet.privacy import Metric
from discreet.programs import Program

FILE = Path(discreet.__file__).parent / "_core" / "kinds.py"
FOLDERS = (
    "privacy",
    "mechanism",
    "inference",
    "tables",
    "numbers",
    "regression",
    "networks",
    "synthesis",
    "programs",
    "draws",
    "choices",
)
EXTRAS = "discreet.programs.bridges."  # which need libraries that are not always there
HEAD = '''"""Where each built-in kind and posterior is defined. Written by `make kinds`; do not edit."""
# fmt: off

'''


def name_of(made: type) -> str:
    """Return the module and the name of a class."""
    return f"{made.__module__}.{made.__qualname__}"


def is_ours(made: Any) -> bool:
    """Tell whether a class is the library's own, not one of a test or of another distribution."""
    return bool(made.__module__.startswith("discreet."))


def homes(made: dict[str, Any]) -> dict[str, str]:
    """Return the modules of the library's own classes, by their kinds."""
    return {kind: each.__module__ for kind, each in sorted(made.items()) if is_ours(each)}


def text() -> str:
    """Return what the file should hold, from the classes that register when everything is loaded."""
    for folder in FOLDERS:
        package = import_module(f"discreet.{folder}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(EXTRAS):
                import_module(module.name)
    kinds = {
        "mechanism": homes(MECHANISMS.newest),
        "metric": homes(Metric.kinds),
        "model": homes(MODELS.newest),
        "program": homes(Program.kinds.newest),
    }
    posteriors = {name_of(shown): made.__module__ for shown, made in Posterior.registered.items() if is_ours(made)}
    lines = ["KINDS: dict[str, dict[str, str]] = {"]
    for sort, found_there in kinds.items():
        lines += [
            f'    "{sort}": {{',
            *(f'        "{kind}": "{home}",' for kind, home in found_there.items()),
            "    },",
        ]
    lines += ["}", '"""The module of each kind that a document may name."""', ""]
    lines += ["POSTERIORS: dict[str, str] = {"]
    lines += [f'    "{shown}": "{home}",' for shown, home in sorted(posteriors.items())]
    lines += ["}", '"""The module of the posterior that shows a kind of result."""']
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
