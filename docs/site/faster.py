"""What Sphinx and furo compute anew for each of several hundred pages, computed once."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain


class OnePlaceForEachName(PythonDomain):
    """Sphinx goes through all names whenever a signature mentions one; here each mention is looked up once."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._found: dict[tuple[object, ...], Any] = {}

    def find_obj(self, env: Any, *asked: Any) -> Any:
        """Return the places of a name, those found before while no name was added."""
        key = (*asked, len(self.objects))
        if key not in self._found:
            self._found[key] = super().find_obj(env, *asked)
        return self._found[key]


_KEPT: dict[str, str] = {}


def keep_contents(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Give the pages of a folder that stand in no table of contents the same one: nothing in it is marked for them."""
    folder, _, name = page.rpartition("/")
    if "toctree" in context and folder.startswith("reference") and name != "index":
        context["toctree"] = partial(_kept, folder, context["toctree"])


def _kept(folder: str, contents: Callable[..., str], **how: object) -> str:
    if folder not in _KEPT:
        _KEPT[folder] = contents(**how)
    return _KEPT[folder]
