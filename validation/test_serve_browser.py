"""The server's pages in real Chromium: whole stories, refusals, two tabs, the back button, other sites, every page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsing import Visitor, answered, chromium, why_missing
from serving import PASSWORD, Served, listening, served
from survey import STUDY, SURVEY

pytestmark = pytest.mark.skipif(why_missing() is not None, reason=why_missing() or "")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as found:
        yield found


def ask(visitor: Visitor, epsilon: str, label: str = "Smoking") -> None:
    page = visitor.go("/ask")
    page.fill("#label", label)
    page.check("input[value=smoking]")
    page.fill("#epsilon", epsilon)
    page.click("form.ask > p > button")


def test_a_steward_invites_an_analyst_and_decides(server: Served) -> None:
    with listening(server) as address, chromium() as browser:
        sam, eve = Visitor(browser, address), Visitor(browser, address)
        page = sam.sign_in("sam")
        sam.go("/people")
        page.fill("#name", "eve")
        page.click("text=Create a one-time link")
        link = page.inner_text("#link")
        eve.page.goto(link)
        eve.page.fill("#password", PASSWORD)
        eve.page.fill("#again", PASSWORD)
        eve.page.click("main button")
        eve.sign_in("eve")
        ask(eve, "1.75")
        eve.page.wait_for_selector("text=for a steward")
        sam.go("/questions")
        page.click("td >> text=Smoking")
        assert "outside the guarantee" in page.inner_text("main")
        assert sam.faults() == []
        page.click("text=Approve")
        page.wait_for_url("**/questions")
        answered(server, eve)
        sam.go("/audit")
        assert "approved" in page.inner_text("table")
        eve.page.goto(link)
        assert "used before" in eve.page.inner_text("main")
        assert sam.complaints() == eve.complaints() == []


def test_refusals_are_in_words_and_what_is_over_budget_is_not_asked(server: Served) -> None:
    with listening(server) as address, chromium() as browser:
        ann = Visitor(browser, address)
        page = ann.sign_in("ann")
        ask(ann, "3")
        assert "2 of the budget is left" in page.inner_text("[role=alert]")
        assert ann.faults() == []
        ask(ann, "much")
        assert page.inner_text("[role=alert]")
        ann.go("/ask")
        page.fill("#label", "Nothing")
        page.fill("#epsilon", "1")
        page.wait_for_selector("#plan .refusal")
        ann.go("/people")
        assert "right 'people'" in page.inner_text("[role=alert]")
        assert not server.front.questions.seen_by(server.person("steward"))


def test_a_session_that_has_ended_leads_to_the_sign_in(server: Served) -> None:
    with listening(server) as address, chromium() as browser:
        ann = Visitor(browser, address)
        page = ann.sign_in("ann")
        ann.go("/ask")
        server.time.now += 24 * 3600
        page.fill("#label", "Late")
        page.fill("#epsilon", "1")
        page.wait_for_url("**/sign-in*")  # the live plan was refused, and the page knows what to do
        ann.go("/questions")
        assert page.url == f"{address}/sign-in?next=%2Fquestions"


def test_the_form_of_another_site_does_nothing(server: Served, tmp_path: Path) -> None:
    with listening(server) as address, chromium() as browser:
        sam = Visitor(browser, address)
        page = sam.sign_in("sam")
        evil = tmp_path / "evil.html"
        evil.write_text(
            f'<form method="post" action="{address}/people"><input name="name" value="mallory">'
            '<input name="role" value="steward"></form><button onclick="document.forms[0].submit()">win</button>'
        )
        page.goto(f"file://{evil}")
        page.click("button")
        page.wait_for_selector("[role=alert]")
        assert "mallory" not in [each.name for each in server.front.people.all()]


def test_two_tabs_and_the_back_button_ask_once(server: Served) -> None:
    with listening(server) as address, chromium() as browser:
        ann = Visitor(browser, address)
        page = ann.sign_in("ann")
        ask(ann, "0.25")
        page.wait_for_selector("text=queued")
        page.go_back()
        page.wait_for_selector("#label")
        other = ann.context.new_page()
        other.goto(f"{address}/questions")
        assert other.locator("tbody tr").count() == 1
        other.goto(f"{address}/ask")
        other.click("text=Sign out")
        other.wait_for_url("**/sign-in")
        page.goto(f"{address}/questions")
        assert page.url == f"{address}/sign-in?next=%2Fquestions"
        page.go_back()
        page.wait_for_load_state()
        assert "Falls" not in page.content() or "/sign-in" in page.url  # nothing of it was kept
        assert len(server.front.questions.seen_by(server.person("steward"))) == 1


PAGES = {
    "ann": ("/", "/catalogue", "/ask", "/questions", "/releases", "/verify", "/you", "/questions/{q}", "/releases/{r}"),
    "sam": ("/", "/questions", "/people", "/audit", "/you", "/questions/{q}", "/questions/{q}/plan"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_free_of_serious_faults_and_fits_a_phone(server: Served, scheme: str, tmp_path: Path) -> None:
    with listening(server) as address, chromium() as browser:
        how = {"viewport": {"width": 390, "height": 800}, "color_scheme": scheme}
        ann = Visitor(browser, address, **how)
        ann.sign_in("ann")
        ask(ann, "0.25", "Smoking, and a long label that has to find its place on a narrow screen")
        answered(server, ann)
        names = {"q": re.sub(".*/", "", ann.page.url), "r": server.front.published()[0].id}
        for name, paths in PAGES.items():
            visitor = ann if name == "ann" else Visitor(browser, address, **how)
            if name != "ann":
                visitor.sign_in(name)
            for path in paths:
                page = visitor.go(path.format(**names))
                assert visitor.faults() == [], path
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, path
                assert page.locator("h1").count() == 1, path
            assert visitor.complaints() == []


def test_a_keyboard_is_enough_to_sign_in_and_to_reach_the_content(server: Served) -> None:
    with listening(server) as address, chromium() as browser:
        ann = Visitor(browser, address)
        page = ann.go("/sign-in")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.focus("#name")
        page.keyboard.type("ann")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("#left")


WEIGHTS = STUDY.replace("[budget]", "[columns.weight]\nbounds = [0, 200]\nmissing = 70\n[budget]").replace(
    'epsilon = "2"', 'epsilon = "9"'
)
WEIGHED = "\n".join(
    f"{line},{'weight' if number == 0 else 60 + number}" for number, line in enumerate(SURVEY.splitlines())
)


@pytest.fixture
def weighing(tmp_path: Path) -> Iterator[Served]:
    serve = '[serve]\npolicy = "automatic"\nallowance = "9"\ntime_limit = 10\nvisible_after = 12\n'
    with served(tmp_path, study=WEIGHTS, survey=WEIGHED + "\n", serve=serve) as found:
        yield found


def test_a_mean_by_group_is_asked_by_the_keyboard_alone_and_explored(weighing: Served) -> None:
    with listening(weighing) as address, chromium() as browser:
        ann = Visitor(browser, address, viewport={"width": 1100, "height": 900})
        page = ann.sign_in("ann")
        ann.go("/ask")
        page.focus("#model")
        while page.input_value("#model") != "number":
            page.keyboard.press("m")  # the first letter goes through the choices that begin with it
        page.wait_for_selector("legend:text('What to publish')")
        assert page.evaluate("document.activeElement.id") == "model"  # the fields changed, the focus did not
        page.keyboard.press("Tab")
        page.keyboard.type("Weight by age")
        page.keyboard.press("Tab")
        page.keyboard.press("w")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")  # the mean
        page.focus("#its-by")
        page.keyboard.press("f")
        page.focus("#epsilon")
        page.keyboard.type("4")
        page.wait_for_selector("#width .plainly")
        assert "mean of weight (population)" in str(page.text_content("#width"))
        assert "epsilon = 5" in page.inner_text("#plan")  # what is left after it
        assert ann.faults() == []
        page.keyboard.press("Enter")
        page.wait_for_selector("text=queued")
        answered(weighing, ann)
        page.click("text=Read the release")
        page.wait_for_selector("[data-drawn=yes] svg")
        page.select_option("#group", "fall=true")
        page.wait_for_url("**group=fall*")
        page.wait_for_selector("[data-drawn=yes] svg")
        assert page.locator("tbody tr").count() == 2  # of these records and of the population
        assert ann.faults() == []
        assert ann.complaints() == []


KINDS = {
    "regression": {"#its-formula": "weight ~ smoking"},
    "logistic": {"#its-formula": "fall ~ age"},
    "network": {"#its-edges": "age -> fall"},
}


def test_other_models_and_queries_are_asked_by_their_own_fields(weighing: Served) -> None:
    with listening(weighing) as address, chromium() as browser:
        ann = Visitor(browser, address, viewport={"width": 390, "height": 800})
        page = ann.sign_in("ann")
        for model, fields in KINDS.items():
            ann.go("/ask")
            page.select_option("#model", model)
            for place, text in fields.items():
                page.wait_for_selector(place)
                page.fill(place, text)
            page.fill("#label", model)
            page.fill("#epsilon", "1")
            page.wait_for_selector("#plan dl")
            assert ann.faults() == [], model
        ann.go("/ask")
        page.fill("#label", "Falls")
        page.fill("#epsilon", "1")
        page.check("input[value=fall]")
        page.select_option("#kind", "probability")
        page.wait_for_selector("#of-event")
        page.fill("#of-event", "true")
        page.fill("#mechanism", "PosteriorSampling.truncated")
        page.press("#mechanism", "Tab")
        page.wait_for_selector("#its-least")
        assert page.input_value("#of-event") == "true"  # what was filled in stays
        page.fill("#its-least", "0.01")
        page.fill("#its-prior", "1")
        page.wait_for_selector("#plan dl")
        assert ann.faults() == []
        page.click("form.ask > p > button")
        page.wait_for_selector("text=queued")
        answered(weighing, ann)
        assert "the randomness of that draw" in page.inner_text("main")
        assert ann.complaints() == []
