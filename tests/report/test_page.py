"""A page for readers without Python: what it holds, that nothing in it is code but its own, and how it works."""

import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from browsing import AXE, chromium, why_missing
from discreet._core.errors import LittleInformationWarning
from discreet.report.page._contents import LEVELS, contents_of
from discreet.report.page._page import posterior_page, write_page

NASTY = "</script><script>document.title='owned'</script>"
FALLS = dc.Categories(
    ("ward", "fall"),
    levels={"ward": ("A", "B", "empty", NASTY), "fall": ("no", "yes")},
    outside={"ward": "A", "fall": "no"},
)
RELEASE = dc.simulate(
    dc.GeometricHistogram(FALLS, size=600, epsilon="0.3"),
    [220, 30, 240, 60, 0, 0, 40, 10],
    dc.SeededBits(4),
    label=f"Falls {NASTY} <img src=x onerror=alert(1)>",
)


@pytest.fixture(scope="module")
def posterior() -> dc.tables.CategoriesPosterior:
    found = dc.infer(RELEASE)
    assert isinstance(found, dc.tables.CategoriesPosterior)
    return found


@pytest.fixture(scope="module")
def page(posterior: dc.tables.CategoriesPosterior) -> str:
    return posterior_page(posterior)


class Parts(HTMLParser):
    """The tags of a page, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = attrs, text + data


def known(page: str) -> dict[str, object]:
    found = [text for attrs, text in Parts(page).scripts if attrs.get("id") == "known"]
    return dict(json.loads(found[0]))


def test_names_of_strangers_are_text_and_nothing_else(page: str) -> None:
    parts = Parts(page)
    assert "img" not in parts.tags
    assert [attrs.get("type") for attrs, _ in parts.scripts] == [
        *["application/json"] * 2, None, None, "module",
    ]  # fmt: skip
    assert NASTY not in page


def test_only_the_scripts_that_are_named_by_their_hash_may_run(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert policy[1].count("'sha256-") == 3
    scripts = policy[1].split("script-src")[1]
    assert "unsafe" not in scripts
    assert not {"src", "href", "onclick"} & Parts(page).attributes


def test_the_release_inside_is_the_release(page: str) -> None:
    (text,) = [text for attrs, text in Parts(page).scripts if attrs.get("id") == "release-0"]
    assert dc.Release.from_json(text).digest == RELEASE.digest


def test_intervals_at_every_level_are_those_of_the_posterior(
    page: str, posterior: dc.tables.CategoriesPosterior
) -> None:
    intervals = known(page)["intervals"]
    assert isinstance(intervals, dict)
    for level in LEVELS:
        shown = [(each["low"], each["high"]) for each in intervals[f"{level:g}"]]
        assert shown == [(row.low, row.high) for row in posterior.rows(level)]


def test_group_rates_are_those_of_the_posterior_and_an_empty_group_has_none(
    posterior: dc.tables.CategoriesPosterior,
) -> None:
    groups = contents_of(posterior)["groups"]
    (found,) = [each for each in groups if each["event"] == "fall=yes" and each["by"] == "ward"]
    with pytest.warns(LittleInformationWarning):
        rows = posterior.rates("fall=yes", "ward")
    assert found["unknown"] == [False, False, True, False]
    assert [row.is_unknown for row in rows] == found["unknown"]
    for row, mean, ends in zip(rows, found["means"], found["intervals"]["0.9"], strict=True):
        assert mean == pytest.approx(row.mean)
        assert (ends["low"], ends["high"]) == pytest.approx((row.low, row.high), abs=0.05 * row.sd)


def test_draws_in_the_page_are_those_of_the_posterior(page: str, posterior: dc.tables.CategoriesPosterior) -> None:
    draws = known(page)["draws"]
    assert isinstance(draws, dict)
    (array,) = draws["arrays"]
    numbers = np.frombuffer(b64decode(array["data"]), dtype="<f4").reshape(8, draws["count"])
    assert np.allclose(numbers, posterior.draws(draws["count"], 0)["theta"].T, atol=1e-7)
    assert array["labels"] == [row.quantity for row in posterior.rows()]


def test_what_is_no_posterior_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="No page was written"):
        posterior_page(RELEASE)  # type: ignore[arg-type]


@pytest.mark.skipif(why_missing() is not None, reason=why_missing() or "")
def test_a_reader_sorts_chooses_levels_and_compares(posterior: dc.tables.CategoriesPosterior, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    write_page(posterior, place)
    said: list[str] = []
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True, color_scheme="dark")
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(place.as_uri())
        page.wait_for_selector("#chart[data-drawn='0.9'] svg")
        page.click("th[data-field=mean] button")
        assert page.inner_text("#rows tbody tr td").startswith("ward=B, fall=no")
        page.select_option("#level", "0.5")
        page.wait_for_selector("#chart[data-drawn='0.5']")
        row = next(each for each in posterior.rows(0.5) if each.quantity == "ward=B, fall=no")
        assert row.interval_text in page.inner_text("#rows tbody tr")
        page.select_option("#question", label="fall=yes, by ward")
        page.select_option("#group-one", label="B")
        page.select_option("#group-two", label="A")
        answer = page.inner_text("#group-answer")
        shown = re.search(r"is ([\d.]+)\. The difference", answer)
        assert shown is not None
        exact = float((posterior.risk_difference("fall=yes", "ward=B", "ward=A").draws > 0).mean())
        assert float(shown[1]) == pytest.approx(exact, abs=0.03)
        page.select_option("#group-one", label="empty")
        assert "Nothing is known about empty" in page.inner_text("#group-answer")
        page.fill("#filter", "ward=a")
        assert page.inner_text("#shown") == "2 of 8 lines are shown."
        with page.expect_download() as download:
            page.click("#csv")
        written = Path(download.value.path()).read_bytes()
        assert written.startswith("\ufeff".encode())
        assert written.count(b"\r\n") == 3
        assert page.title() != "owned"
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        page.evaluate(AXE.read_text("utf-8"))
        faults = page.evaluate("async () => (await axe.run()).violations")
        assert [each["id"] for each in faults if each["impact"] in ("serious", "critical")] == []
    assert said == []
