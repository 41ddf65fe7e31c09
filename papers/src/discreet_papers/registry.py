"""Find every reproduction by listing the modules of this package, so that no list can go stale.

A module `paper_004/figure_1.py` holds one `REPRODUCTION`, named after its place: 004-figure-1.
"""

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from discreet._core.errors import DeclarationError
from discreet_papers.reproduction import Reproduction

_PACKAGE, _FOLDER = "discreet_papers", Path(__file__).parent


def modules(prefix: str, *inside: str) -> list[str]:
    """Return the full names of the modules whose own name begins with a prefix, in a folder of this package."""
    found = iter_modules([str(_FOLDER.joinpath(*inside))])
    return sorted(".".join([_PACKAGE, *inside, module.name]) for module in found if module.name.startswith(prefix))


@lru_cache(maxsize=1)
def reproductions() -> tuple[Reproduction, ...]:
    """Return all reproductions, in the order of their names."""
    papers = [module.rpartition(".")[2] for module in modules("paper_")]
    found = [import_module(module).REPRODUCTION for paper in papers for module in modules("", paper)]
    return tuple(sorted(found, key=lambda reproduction: reproduction.name))


def reproduction_named(name: str) -> Reproduction:
    """Return one reproduction."""
    for reproduction in reproductions():
        if reproduction.name == name:
            return reproduction
    raise DeclarationError(
        f"There is no reproduction {name!r}. Nothing was computed. The known ones are "
        f"{', '.join(reproduction.name for reproduction in reproductions())}."
    )
