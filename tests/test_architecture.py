"""The house stays as it was designed: imports point one way, public names are listed, files stay small."""

import ast
from pathlib import Path

import pytest

import discreet as dc

ROOT = Path(dc.__file__).parent

ORDER = (
    ("version", "errors", "failpoints"),
    ("exact", "canonical", "columns", "special"),
    ("randomness", "distributions", "divergences", "sources"),
    ("models",),
    ("guarantees", "certificates"),
    ("ledger",),
    ("mechanisms",),
    ("releases",),
    ("inference",),
    ("planning",),
    ("study", "template", "charts", "statement", "sklearn", "session"),
    ("reproductions",),
    ("command_line",),
)
FLOOR = {name: number for number, names in enumerate(ORDER) for name in names}


def rooms(path: Path) -> set[str]:
    """Return the rooms of the house that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discreet."):
            found.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("discreet.")}
    return found


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for room in rooms(path) - {own}:
        same_floor = {("divergences", "distributions"), ("guarantees", "certificates")}
        assert FLOOR[room] < FLOOR[own] or (own, room) in same_floor, f"{own} must not import {room}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_stay_small_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_public_names_are_listed_and_documented() -> None:
    assert sorted(dc.__all__) == list(dc.__all__)
    for name in dc.__all__:
        assert name == "__version__" or getattr(dc, name).__doc__, f"{name} has no docstring"
