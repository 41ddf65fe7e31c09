"""What a release of the software says of itself agrees: version, extras, versions of libraries, policies."""

import re
import sys
from pathlib import Path

import pytest

import discreet as dc

PROJECT = Path(__file__).parent.parent
sys.path.append(str(PROJECT / "release"))

from try_release import LOADS, declared, extras, oldest_allowed  # noqa: E402 - of a folder that is no package


def known() -> dict[str, str]:
    """Return the versions of the constraints file, by the plain name of each library."""
    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {plain(name): version for name, version in pairs}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


def test_the_citation_names_this_version() -> None:
    assert f"\nversion: {dc.__version__}\n" in (PROJECT / "CITATION.cff").read_text("utf-8")


def test_the_papers_and_the_change_log_name_this_version() -> None:
    papers = (PROJECT / "papers" / "pyproject.toml").read_text("utf-8")
    assert f'version = "{dc.__version__}"' in papers
    assert f'"discreet=={dc.__version__}"' in papers
    newest = re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[0]
    assert newest == dc.__version__


def test_every_extra_is_tried_and_every_dependency_has_an_oldest_version() -> None:
    assert set(LOADS) == set(extras())
    assert len(oldest_allowed()) == len(declared()[""])


@pytest.mark.parametrize("extra", sorted(declared()))
def test_tested_versions_are_allowed_ones(extra: str) -> None:
    """Each library that is declared stands in the constraints file, at no older version than is allowed."""
    for words in declared()[extra]:
        name = plain(re.split(r"[\[<>=\s]", words)[0])
        if name == "discreet" or extra == "docs":
            continue
        assert name in known(), f"{name} is not in constraints.txt"
        least = re.search(r">=\s*([\d.]+)", words)
        assert least is None or numbers(known()[name]) >= numbers(least[1])


@pytest.mark.parametrize("name", ["SECURITY.md", "CITATION.cff", "docs/policies.md", ".pre-commit-config.yaml"])
def test_what_strangers_look_for_is_there(name: str) -> None:
    assert (PROJECT / name).read_text("utf-8").strip()
