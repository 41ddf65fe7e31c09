"""Every Python example of README and docs runs, in order, in an empty folder, with warnings as errors."""

import re
from pathlib import Path

import pytest

from page_examples import run_page

PROJECT = Path(__file__).parent.parent
SINGLE = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "papers" / "README.md"]
PAGES = sorted([*SINGLE, *(PROJECT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is verified or planned on a page is compared or simulated a little: both are tested elsewhere."""
    monkeypatch.setattr("discreet.verification._enumerate.MOST_COMPARISONS", 20_000)
    monkeypatch.setattr("discreet.planning._accuracy.MOST_STUDIES", 4)
    monkeypatch.chdir(tmp_path)
    for _ in run_page(page):
        pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
