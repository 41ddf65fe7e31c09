"""Every Python example of README and docs runs, in order, in an empty folder, with warnings as errors."""

import re
import warnings
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
SINGLE = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "papers" / "README.md"]
PAGES = sorted([*SINGLE, *(PROJECT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
    for number, block in enumerate(BLOCK.findall(page.read_text()), start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(block, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
