"""The house stays as it was designed: imports point one way, and public names are listed."""

import ast
import subprocess
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType, ModuleType

import pytest

import discreet as dc

ROOT = Path(dc.__file__).parent

ORDER = (
    "_core",
    "mathematics",
    "records",
    "privacy",
    "noise",
    "mechanism",
    "ledger",
    "release",
    "inference",
    "tables",
    "numbers",
    "regression",
    "networks",
    "synthesis",
    "programs",
    "draws",
    "choices",
    "publishing",
    "verification",
    "planning",
    "report",
    "study",
    "server",
    "cli",
    "sklearn",
)
"""The folders: each imports only those that stand above it."""

ASKED_LATER = {
    ("inference/_prior_strengths.py", "networks"),  # networks learn a strength for each family
    ("inference/_infer.py", "programs"),  # `infer(release, model=...)` reads a table by a program
    ("release/_release.py", "programs"),  # `release.likelihood()`
}
"""Imports inside functions of what stands below, each of which few readers need."""

FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(path: Path) -> set[str]:
    """Return the modules and packages of the library that a file imports, for types alone or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discreet."):
            found.add(node.module.removeprefix("discreet."))
        if isinstance(node, ast.Import):
            found |= {name.name.removeprefix("discreet.") for name in node.names if name.name.startswith("discreet.")}
    return found


def test_every_folder_has_its_place() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(ORDER)


def test_folders_import_only_folders_above_them() -> None:
    wrong = []
    for path in FILES:
        name, own = path.relative_to(ROOT).as_posix(), path.relative_to(ROOT).parts[0]
        below = {found.split(".")[0] for found in imported(path)} & set(ORDER[ORDER.index(own) + 1 :])
        wrong += [f"{name} must not import {folder}" for folder in below if (name, folder) not in ASKED_LATER]
    assert wrong == []


def test_private_modules_are_imported_only_inside_their_folder() -> None:
    wrong = []
    for path in FILES:
        own = path.relative_to(ROOT).parts[0]
        for found in imported(path):
            folder, _, rest = found.partition(".")
            if folder not in (own, "_core") and any(part.startswith("_") for part in rest.split(".")):
                wrong.append(f"{path.relative_to(ROOT)} must not import {found}")
    assert wrong == []


def test_the_library_works_without_the_papers() -> None:
    words = ("import discreet_papers", "from discreet_papers")
    assert [str(path) for path in FILES if any(word in path.read_text() for word in words)] == []


def test_the_front_door_loads_nothing_until_it_is_asked() -> None:
    code = (
        "import sys, discreet; loaded = {name for name in sys.modules if name.startswith('discreet.')}; "
        "assert loaded == {'discreet._core', 'discreet._core.kinds', 'discreet._core.on_demand'}, loaded; "
        "assert 'numpy' not in sys.modules; "
        "assert 'Categories' in dir(discreet) and 'discreet.tables' not in sys.modules; "
        "discreet.Categories; assert 'Categories' in vars(discreet); "
        "slow = {'scipy.stats', 'scipy.optimize', 'sqlalchemy', 'dp_accounting'} & set(sys.modules); "
        "assert not slow, slow; from discreet import *; slow = {'scipy.stats', 'sqlalchemy', 'dp_accounting'}; "
        "assert not slow & set(sys.modules), slow & set(sys.modules); assert Network is discreet.Network"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_type_checkers_read_is_what_is_loaded() -> None:
    stub = ast.parse((ROOT / "__init__.pyi").read_text("utf-8"))
    (listed,) = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(listed) == dc.__all__
    assert set(dc.__all__) <= set(dir(dc))
    for name in dc.__all__:
        assert not (ROOT / name).is_dir(), f"{name} is a folder as well"
        assert not (ROOT / f"{name}.py").exists(), f"{name} is a file as well"


@pytest.mark.parametrize("folder", ["mechanism", "tables", "noise", "planning", "inference"])
def test_folders_can_be_asked_for(folder: str) -> None:
    assert isinstance(getattr(dc, folder), ModuleType)
    assert folder in dir(dc)


def test_the_front_door_shows_what_users_need_and_nothing_internal() -> None:
    hidden = {"_core", "mathematics", "records", "release", "study", "server", "cli", "sklearn"}
    folders = set(ORDER) - hidden
    assert set(dir(dc)) == {*dc.__all__, *folders}
    assert set(dir(dc.inference)) == set(dc.inference.__all__)
    assert isinstance(dc.mathematics, ModuleType)  # there, but not shown
    assert "mathematics" not in dir(dc)


def test_every_name_that_the_front_door_imports_is_listed() -> None:
    stub = ast.parse((ROOT / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module != "discreet"]
    assert sorted(alias.name for node in imports for alias in node.names) == dc.__all__


@pytest.mark.parametrize("name", ["Categoris", "_private", "discreet_papers", "HellingerGlobal"])
def test_what_is_not_there_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(dc, name)


def test_public_names_are_listed_and_documented() -> None:
    assert sorted(dc.__all__) == list(dc.__all__)
    for name in dc.__all__:
        assert name == "__version__" or getattr(dc, name).__doc__, f"{name} has no docstring"


def test_every_public_method_has_a_docstring_or_overrides_one_that_has() -> None:
    extras = ("discreet.programs.bridges.", "discreet.sklearn")  # which need libraries that are not always there
    names = [found.name for found in walk_packages(dc.__path__, "discreet.") if not found.name.startswith(extras)]
    modules = [import_module(name) for name in names]
    classes = {made for module in modules for made in vars(module).values() if isinstance(made, type)}
    own = [each for each in classes if each.__module__.startswith("discreet.") and not each.__name__.startswith("_")]
    lacking = []
    for made in own:
        for name, member in vars(made).items():
            is_method = isinstance(member, FunctionType | property | cached_property | classmethod | staticmethod)
            is_patched = getattr(member, "__module__", made.__module__) != made.__module__  # by `conftest.py`
            versions = [vars(kind)[name] for kind in made.__mro__ if name in vars(kind)]
            if is_method and not is_patched and not name.startswith("_") and not any(each.__doc__ for each in versions):
                lacking.append(f"{made.__module__}.{made.__qualname__}.{name}")
    assert len(own) > 500
    assert lacking == []
