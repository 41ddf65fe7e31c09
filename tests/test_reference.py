"""The reference says what goes in, what comes out and what goes wrong, and shows an example that runs.

Functions of the front door say all of it. Of the other public names, `reference_gaps.txt` lists those whose docstring
has no example yet: a name may leave that list, none may join it.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from api_pages import folders, front_door, own_names

GAPS = Path(__file__).parent / "reference_gaps.txt"
FUNCTIONS = sorted(name for names in front_door().values() for name in names if inspect.isroutine(getattr(dc, name)))


def parameters_said(docstring: str) -> set[str]:
    """Return the names before the colon of each argument."""
    listed = docstring.partition("\nArgs:\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^    \*{0,2}(\w+): ", listed, re.MULTILINE))


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public class and function once, by the name of its page."""
    for names in front_door().values():
        yield from ((f"discreet.{name}", getattr(dc, name)) for name in names)
    for folder in folders():
        module = import_module(f"discreet.{folder}")
        yield from ((f"discreet.{folder}.{name}", getattr(module, name)) for name in own_names(folder))


def lacks_example(what: Any) -> bool:
    """Return whether a function or class, other than an error, has no example."""
    is_error = inspect.isclass(what) and issubclass(what, BaseException)
    return (inspect.isclass(what) or inspect.isroutine(what)) and not is_error and ">>>" not in (what.__doc__ or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_front_door_say_what_goes_in_and_out(name: str) -> None:
    function = getattr(dc, name)
    docstring = inspect.getdoc(function) or ""
    assert parameters_said(docstring) == set(inspect.signature(function).parameters)
    assert "\nReturns:\n" in docstring
    assert ">>> " in docstring


def test_no_name_without_an_example_joins_the_list() -> None:
    lacking = {name for name, what in public() if lacks_example(what)}
    listed = set(GAPS.read_text("utf-8").split())
    assert lacking - listed == set(), "new public names need an example that runs"
    assert listed - lacking == set(), "these have an example now: take them off the list"
