"""Pages that stand alone take all their colours from one palette, which has a light, a dark and a printed version."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import discreet as dc
from discreet.report._ledger_page import ledger_page
from discreet.report._theme import PAGE_COLOURS
from discreet.report.statement._page import statement_html


def _ledger_page(folder: Path) -> str:
    model = dc.Categories("fall", levels=("no", "yes"), outside="no")
    ledger = dc.Ledger.create(folder / "budget.db", epsilon=1)
    dc.publish(
        dc.GeometricHistogram(model, size=2, epsilon="1/2"), model.statistics({"fall": ["no", "yes"]}), ledger, "falls"
    )
    return ledger_page(ledger)


@pytest.mark.parametrize("kind", ["statement", "ledger", "release"])
def test_a_page_has_no_colours_but_those_of_the_palette(kind: str, tmp_path: Path) -> None:
    if kind == "release":  # its style sheet is a file, to which the page prepends the palette
        page = PAGE_COLOURS + files("discreet.report.page").joinpath("page.css").read_text("utf-8")
    else:
        page = statement_html("# A statement\n\n> Beware.") if kind == "statement" else _ledger_page(tmp_path)
    assert PAGE_COLOURS in page
    rest = page.replace(PAGE_COLOURS, "")
    assert re.findall(r"#[0-9a-fA-F]{3,6}\b(?=[;\s\"}])", rest) == []
    light, dark, printed = (set(re.findall(r"(--[\w-]+):", part)) for part in PAGE_COLOURS.split(":root")[1:])
    assert set(re.findall(r"var\((--[\w-]+)\)", rest)) <= light
    assert light == dark
    assert printed | {"--on-blue"} == light  # buttons are not printed
