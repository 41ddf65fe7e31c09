"""The papers are a distribution of their own, which follows the library and adds one command to it."""

import tomllib
from importlib.metadata import entry_points, version
from pathlib import Path

import discreet as dc
from discreet_papers.command import reproduce

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_papers_have_the_version_of_the_library() -> None:
    assert PROJECT["version"] == dc.__version__ == version("discreet-papers")
    assert f"discreet=={dc.__version__}" in PROJECT["dependencies"]


def test_the_command_is_installed() -> None:
    (found,) = entry_points(group="discreet.commands", name="reproduce")
    assert found.load() is reproduce
    assert PROJECT["entry-points"]["discreet.commands"]["reproduce"] == found.value
