"""A statement tells the truth about a release, in words, and nothing that others wrote can be more than text in it."""

import math
import re
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import discreet as dc
from discreet.draws import BallDraw
from discreet.report.statement._page import statement_html
from discreet.report.statement._results import MOST_ROWS
from discreet.report.statement._statement import statement

FALLS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)
REHEARSAL = dc.simulate(
    dc.GeometricHistogram(FALLS, size=600, epsilon="0.3"), [270, 30, 240, 60], dc.SeededBits(70), label="falls"
)
SMALL = dc.Categories("x", levels=("a", "b"), outside="a")
NASTY = "<script>alert(1)</script> | *bold* _it_ `code` [l](x) \\ &amp; ~~no~~ a_b # head #"


def small(label: str = "small", epsilon: str = "1", levels: tuple[str, ...] = ("a", "b")) -> dc.Release:
    mechanism = dc.GeometricHistogram(dc.Categories("x", levels=levels, outside=levels[0]), size=40, epsilon=epsilon)
    counts = [20, 20] + [0] * (len(levels) - 2)
    return dc.simulate(mechanism, counts, dc.SeededBits(71), label=label)


def told(release: dc.Release) -> str:
    return statement(release, dc.infer(release))


class Page(HTMLParser):
    """What a browser sees: the tags in order, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += [tag] if tag not in ("thead", "tbody") else []

    def handle_data(self, data: str) -> None:
        self.text += data


def body(page: str) -> Page:
    return Page(page.split("<body>")[1].split("</body>")[0])


def words(text: str) -> str:
    return "".join(text.split())


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.create(tmp_path / "study.db", epsilon="2", unit="one patient")


@pytest.fixture
def published(ledger: dc.Ledger) -> dc.Release:
    data = {"x": ["a"] * 60 + ["b"] * 40}
    mechanism = dc.GeometricHistogram(SMALL, size=100, epsilon="1")
    unit = dc.Unit("one patient", rows=2)
    return dc.publish(mechanism, SMALL.statistics(data), ledger=ledger, label="patients", unit=unit)


def test_it_tells_what_was_asked_of_how_many_records_and_under_which_promise() -> None:
    text = told(REHEARSAL)
    assert text.startswith("# SIMULATED: Privacy statement: falls\n")
    assert "**600 simulated records**" in text
    assert "how often does each of the 4 combinations of the levels of ward and fall occur?" in text
    assert "- **ward** (A, B); missing and other values count as A\n" in text
    assert "- **fall** (no, yes); missing and other values count as no\n" in text
    assert "The unit of protection is **one record**: whatever any single record says is protected" in text
    assert "differ by this change: replace one record." in text
    assert "**epsilon = 0.3, delta = 0.**" in text
    assert "`GeometricHistogram`" in text


def test_the_results_are_the_posteriors_numbers() -> None:
    posterior = dc.infer(REHEARSAL)
    text = statement(REHEARSAL, posterior)
    for cell in posterior.mean:
        low, high = posterior.interval(cell, 0.9)
        mean, share = posterior.mean[cell], posterior.privacy_share(0.9)[cell]
        names = posterior.event_of(cell)
        assert names in ("ward=A, fall=no", "ward=A, fall=yes", "ward=B, fall=no", "ward=B, fall=yes")
        row = f"| {names} | {mean:.1%} | {100 * low:.1f} to {high:.1%} | {share:.0%} |".replace("%", " %")
        assert row in text
    assert f"about as informative as {posterior.equivalent_records:.0f} records without noise" in text
    assert "Each interval was read from the noisy sum of its own share" in text
    assert "It is this program's default, because none was declared." in text


def test_narrow_intervals_are_told_with_more_digits() -> None:
    mechanism = dc.GeometricHistogram(SMALL, size=400_000, epsilon="1")
    release = dc.simulate(mechanism, [100_000, 300_000], dc.SeededBits(72))
    posterior = dc.infer(release)
    low, high = posterior.interval("a", 0.9)
    assert f"| a | {100 * posterior.mean['a']:.2f} % | {100 * low:.2f} to {100 * high:.2f} % |" in told(release)


def test_another_prior_than_the_holders_is_named() -> None:
    posterior = dc.infer(REHEARSAL, prior=(1, 2, 3, 4))
    assert "with parameters from 1 to 4. The holder declared none." in statement(REHEARSAL, posterior)
    declared = dc.simulate(
        dc.GeometricHistogram(FALLS.with_prior(1), 600, "0.3"), [270, 30, 240, 60], dc.SeededBits(70)
    )
    assert "The data holder had declared a different prior." in statement(
        declared, dc.infer(declared, prior=(1, 2, 3, 4))
    )
    assert "a different prior" not in told(REHEARSAL)


def test_answers_to_further_questions_stand_below_the_results_as_text() -> None:
    posterior = dc.infer(REHEARSAL)
    sentence = posterior.differ("fall=yes", "ward").sentence
    text = statement(REHEARSAL, posterior, answers=[sentence, NASTY])
    assert "The groups of ward" in text
    assert "<script>" not in text


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1/3", "0.5", "1", "2.5", "7", "20", "900", "10000"])
def test_the_factor_is_e_to_the_epsilon_and_never_rounded_down(epsilon: str) -> None:
    found = re.search(r"more than \*\*e\^\(?([^ )]+)\)? = ([^*]+)\*\*", told(small(epsilon=epsilon)))
    assert found is not None
    assert Fraction(found[1]) == Fraction(epsilon)
    stated = Decimal(found[2].replace(",", "").replace(" x 10^", "E"))
    with localcontext(prec=60):
        exact = (Decimal(Fraction(epsilon).numerator) / Fraction(epsilon).denominator).exp()
        assert exact <= stated <= exact * Decimal("1.001")


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "3", "40"])
def test_the_chances_after_the_release_are_bounds_and_tight(epsilon: str) -> None:
    text, factor = told(small(epsilon=epsilon)), math.exp(float(epsilon))
    rows = re.findall(r"^\| (\d+) % \| ([\d.]+) % \| ([\d.]+) % \|$", text, re.MULTILINE)
    assert [int(before) for before, _, _ in rows] == [1, 10, 50]
    for before, least, most in rows:
        odds = int(before) / (100 - int(before))
        low, high = (100 * o / (1 + o) for o in (odds / factor, odds * factor))
        assert low - 0.01 <= float(least) <= low + 1e-9
        assert high - 1e-9 <= float(most) <= high + 0.01


def test_no_reader_who_knows_the_others_moves_further_than_the_table_says() -> None:
    mechanism = dc.GeometricHistogram(SMALL, size=5, epsilon="0.5")
    (most,) = re.findall(r"\| 50 % \| [\d.]+ % \| ([\d.]+) % \|", told(small(epsilon="0.5")))
    outputs = mechanism.outputs_near(margin=9)
    here, there = (mechanism.log_prob(outputs, [k, 5 - k]) for k in (3, 2))
    believed = 1 / (1 + min(math.exp(two - one) for one, two in zip(here, there, strict=True)))
    assert believed <= float(most) / 100
    assert believed > float(most) / 100 - 1e-3


def test_a_charged_release_names_entry_and_hash(published: dc.Release, ledger: dc.Ledger) -> None:
    text = statement(published, dc.infer(published), dc.verify(published, ledger=ledger))
    assert published.receipt is not None
    assert f"**entry 2** of the ledger, with hash {published.receipt.head}" in text
    assert f"Fingerprint of the release: {published.digest}" in text
    assert "Epsilon is an upper bound: the actual privacy loss may be smaller." in text
    assert "**Not recomputed:**" in text
    assert "**Compared:**" in text
    assert "**By proof alone:**" in text
    assert "the newest of 3 entries builds on entry 2 and its record" in text
    assert "rests on a **mathematical proof**, which the documentation of `GeometricHistogram` gives" in text
    for jargon in ("norm", "inequality", "||", "rho", "small instance", "pure epsilon"):
        assert jargon not in text
    assert "SIMULATED" not in text.upper()
    assert "**100 records**" in text


def test_a_unit_of_several_records_is_stated_as_such(published: dc.Release) -> None:
    text = statement(published, dc.infer(published))
    assert "The unit of protection is **one patient** with up to 2 records" in text
    assert "replace one record, up to 2 times" in text
    assert "**epsilon = 2, delta = 0.**" in text
    assert "A person with more than 2 records is protected less" in text


def test_without_a_certificate_it_says_that_nothing_was_checked() -> None:
    assert "Nothing was checked for this statement." in told(REHEARSAL)


def test_it_says_what_is_not_promised() -> None:
    text = told(REHEARSAL).split("## What is not promised")[1]
    for promise in (
        "Other releases add up",
        "Groups are protected less",
        "Several rows",
        "What is true of people in general",
        "Public",
    ):
        assert f"- **{promise}" in text
    assert "family of four whose records depend on each other, the factor is e^1.2 = 3.321" in text


def test_a_simulation_is_flagged_loudly_and_has_no_receipt() -> None:
    text = told(REHEARSAL)
    assert "> **SIMULATED. This is not a release of real records.**" in text
    assert "**no ledger was charged**" in text
    page = statement_html(text)
    assert "<title>SIMULATED: Privacy statement: falls</title>" in page
    assert "<blockquote><strong>SIMULATED." in page


def test_results_of_several_releases_are_named_as_such() -> None:
    again = dc.simulate(
        dc.GeometricHistogram(FALLS, size=600, epsilon="0.2"), [270, 30, 240, 60], dc.SeededBits(73), label="again"
    )
    text = statement(again, dc.infer(REHEARSAL, again))
    assert "inferred from **2 releases together**, whose epsilons add up to 0.5." in text
    assert "releases together" not in told(REHEARSAL)


def test_a_delta_above_zero_is_not_explained_by_odds(monkeypatch: pytest.MonkeyPatch) -> None:
    release = small()
    posterior = dc.infer(release)
    promise = dc.Guarantee("1", "1e-6", reason="for this test")
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: promise))
    text = statement(release, posterior)
    assert "**epsilon = 1, delta = 1e-6.**" in text
    assert "**e^1 = 2.719** (rounded up) times what it is now, plus delta." in text
    assert "odds" not in text
    assert "probability before the release" not in text
    assert "and delta grows as well" in text


def test_a_guarantee_that_is_only_claimed_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    release = small()
    posterior = dc.infer(release)
    promise = dc.Guarantee("1", evidence=dc.privacy.Evidence.CLAIMED, reason="somebody said so")
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: promise))
    assert "- The guarantee is **only claimed, neither proved nor computed**: do not rely on it." in statement(
        release, posterior
    )


def test_a_posterior_or_a_certificate_of_another_release_is_refused() -> None:
    release, other = small(), small(epsilon="2")
    with pytest.raises(dc.DeclarationError, match="The posterior was not read from 'small'"):
        statement(release, dc.infer(other))
    with pytest.raises(dc.DeclarationError, match="The certificate is not about 'small'"):
        statement(release, dc.infer(release), dc.verify(other))


def test_a_large_table_shows_the_likeliest_cells_and_says_so() -> None:
    release = small(levels=tuple(f"level {number}" for number in range(45)))
    text = told(release)
    results = text.split("## What the results are")[1].split("## What is not promised")[0]
    assert f"Only the {MOST_ROWS} most likely of 45 lines are shown." in results
    assert len(re.findall(r"^\| level", results, re.MULTILINE)) == MOST_ROWS
    posterior = dc.infer(release)
    first = max(posterior.mean, key=lambda cell: posterior.mean[cell])
    assert f"| {first} |" in results
    assert "level 9, ... 45 in all" in text


def test_text_that_others_wrote_is_never_markup() -> None:
    release = small(label=NASTY, levels=(NASTY, "", "a|b"))
    text = told(release)
    assert "<script" not in text
    page = statement_html(text)
    assert "<script" not in page
    seen = body(page)
    assert words(NASTY) in words(seen.text)
    assert set(seen.tags) <= {"h1", "h2", "blockquote", "p", "strong", "code", "ul", "li", "table", "tr", "th", "td"}
    assert "<td>a|b</td>" in page
    assert "<td>(empty)</td>" in page


def test_what_a_stranger_wrote_elsewhere_is_only_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = replace(
        small(), simulated=False, receipt=dc.ledger.Receipt(7, "<img src=x>", "<b>"), software="*evil* <b>"
    )
    posterior = dc.infer(stranger)
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: dc.Guarantee("1", reason="| <i> |")))
    page = statement_html(statement(stranger, posterior))
    assert "with hash &lt;img src=x&gt;." in page
    assert "made with *evil* &lt;b&gt;." in page
    assert "<i>" not in page


def test_whatever_is_given_as_markdown_no_tag_gets_through() -> None:
    page = body(statement_html("# <b>x</b>\n\n<script>y</script>\n\n- **<i>z</i>**\n- `<u>`\n\n> &lt;s&gt;"))
    assert page.tags == ["h1", "p", "ul", "li", "strong", "li", "code", "blockquote"]
    assert page.text.split() == ["<b>x</b>", "<script>y</script>", "<i>z</i>", "<u>", "<s>"]


def test_the_page_stands_alone() -> None:
    page = statement_html(told(REHEARSAL))
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in page
    for reference in ("http:", "https:", "src=", "href=", "url(", "@import"):
        assert reference not in page
    assert "@media print" in page


def assert_same_as_a_full_converter(markdown: str) -> None:
    """Hold our small converter against a complete one: same tags in the same order, same text."""
    ours, theirs = body(statement_html(markdown)), Page(MarkdownIt("commonmark").enable("table").render(markdown))
    assert words(ours.text) == words(theirs.text)
    outer = [tag for index, tag in enumerate(theirs.tags) if tag != "p" or theirs.tags[index - 1] != "blockquote"]
    assert ours.tags == outer


def test_the_page_is_what_a_full_markdown_converter_makes_of_it(published: dc.Release, ledger: dc.Ledger) -> None:
    assert_same_as_a_full_converter(told(REHEARSAL))
    assert_same_as_a_full_converter(statement(published, dc.infer(published), dc.verify(published, ledger=ledger)))
    assert_same_as_a_full_converter(told(small(label=NASTY, levels=(NASTY, "", "a|b"))))


@settings(max_examples=60, deadline=None)
@given(
    st.text(
        st.sampled_from(list("ab1 _*`~#[]()<>&;|\\!-+=\"'$")) | st.characters(exclude_categories=["Cs", "Cc"]),
        max_size=99,
    )
)
def test_any_label_and_any_level_stay_what_they_are(text: str) -> None:
    told_of_it = told(small(label=f"x{text}", levels=(f"{text}x", "b")))
    assert_same_as_a_full_converter(told_of_it)
    shown = "".join(letter for letter in text if letter.isprintable())
    assert words(shown) in words(body(statement_html(told_of_it)).text)


def test_a_release_that_nobody_can_read_has_a_statement_that_says_so() -> None:
    opinions = dc.Categories("opinion", levels=tuple("abcdefghijklmnop"), outside="d")
    mechanism = dc.choices.HellingerReciprocal(opinions, size=600, epsilon=6)
    release = dc.simulate(mechanism, [300, 300, *[0] * 14], dc.SeededBits(73), label="opinions")
    text = statement(replace(release, reading="none"), None)
    assert "**There is no posterior, as the holder declared when it was published (reading = 'none')**" in text
    assert "a sum over all candidates of 600 records in 16 cells" in text
    assert "**opinion** (" in text
    assert "**There is no posterior**" in statement(release, None)
    with pytest.raises(dc.DeclarationError, match="has no posterior, as its holder declared"):
        dc.infer(replace(release, reading="none"))


def test_the_statement_of_an_unread_regression_gives_its_bounds() -> None:
    line = dc.LinearRegression(
        "pay", ["age"], {"age": (18, 70), "pay": (0, 9000)}, noise="0.5", norm_bound=1, missing="middle"
    )
    release = dc.simulate(BallDraw(line, 30, 1), np.zeros(len(line.cells), dtype=int), dc.SeededBits(74), label="pay")
    text = statement(release, None)
    assert "**age** (18 to 70; values beyond are clipped to these bounds" in text
    assert "the columns and levels, everything else that the model declares, epsilon" in text


def test_a_release_that_can_be_read_has_no_statement_without_its_posterior() -> None:
    with pytest.raises(dc.DeclarationError, match="takes a posterior"):
        statement(REHEARSAL, None)
    declared = replace(REHEARSAL, reading="none")
    assert "declared that there would be no posterior (reading = 'none'); it was read anyway." in told(declared)


def test_the_page_of_a_statement_shows_the_intervals_and_names_in_it_are_only_text() -> None:
    levels = ("<b>", "never & ever", "a level with a name that is much too long for a picture")
    model = dc.Categories("smoking", levels=levels, outside="<b>")
    release = dc.simulate(dc.GeometricHistogram(model, size=300, epsilon=1), [100, 150, 50], dc.SeededBits(1))
    posterior = dc.infer(release)
    page = statement_html(statement(release, posterior), posterior)
    picture = page.partition("<svg")[2].partition("</svg>")[0]
    assert page.index("<svg") > page.index("What the results are")
    assert picture.count('class="interval"') == 3
    assert "&lt;b&gt;" in picture
    assert "<b>" not in picture
    assert "a level with a name that is\u2026" in picture
    assert "<svg" not in statement_html(statement(release, posterior))
