"""A statement about a network tells the truth in words, and nothing that others wrote can be more than text in it."""

import re

import discreet as dc
from discreet.report.statement._page import statement_html
from discreet.report.statement._results import MOST_ROWS
from discreet.report.statement._statement import statement

NASTY = "<script>alert(1)</script> | *bold* `code` [l](x)"
LEVELS = {"cancer": ("no", "yes"), "smoker": ("no", "yes"), NASTY: ("no", "yes")}
NETWORK = dc.Network.naive_bayes(
    "cancer", ["smoker", NASTY], LEVELS, outside={name: each[0] for name, each in LEVELS.items()}
)
RELEASE = dc.simulate(
    dc.CubeCounts(NETWORK, 200, 1), [100, 50, 20, 30, 90, 60, 25, 25], dc.SeededBits(8), label="Signs of cancer"
)


def test_it_tells_the_variables_what_they_depend_on_and_the_promise() -> None:
    text = statement(RELEASE, dc.infer(RELEASE), dc.verify(RELEASE))
    assert text.startswith("# SIMULATED: Privacy statement: Signs of cancer\n")
    assert "**200 simulated records**. The question: in a Bayesian network of 3 variables, how often" in text
    assert "- **cancer** (no, yes); missing and other values count as no\n" in text
    assert "- **smoker** (no, yes); missing and other values count as no; given cancer\n" in text
    assert "**epsilon = 1, delta = 0.**" in text
    assert "the arrows between them" in text
    assert "all its parameters 1" in text


def test_its_tables_are_those_of_the_posterior() -> None:
    posterior = dc.infer(RELEASE)
    text = statement(RELEASE, posterior)
    mean = posterior.mean_tables()["smoker"][1, 1]
    assert f"| smoker=yes | cancer=yes | {100 * mean:.1f} % |" in text
    assert f"| cancer=yes | - | {100 * posterior.mean_tables()['cancer'][1]:.1f} % |" in text


def test_names_that_others_wrote_stay_text() -> None:
    text = statement(RELEASE, dc.infer(RELEASE))
    assert "<script>" not in text
    page = statement_html(text)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; | *bold* `code` [l](x)" in page


def test_a_large_network_is_cut_and_says_so() -> None:
    names = [f"item {number}" for number in range(30)]
    network = dc.Network.from_edges(*names, levels=dict.fromkeys(names, ("no", "yes")), outside="no")
    release = dc.simulate(dc.FamilyHistograms(network, 20, 60), [15, 5] * 30, dc.SeededBits(9))
    text = statement(release, dc.infer(release))
    assert f"Only the first {MOST_ROWS} of 60 lines are shown" in text
    assert "and 10 more columns" in text
    assert len(re.findall(r"^\| item", text, re.MULTILINE)) == MOST_ROWS
