"""What people see before they ask, decide or compare: plans, earlier releases, reasons, pictures of other epsilons."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import AUTOMATIC, Served, ask, asked, served, state

BY_STEWARD = AUTOMATIC.replace('"automatic"', '"steward"').replace('allowance = "1.5"\n', "")
PLAN = {"model": "categories", "label": "Smoking", "epsilon": "0.25", "its.columns": ["smoking"]}


@pytest.fixture
def decided(tmp_path: Path) -> Iterator[Served]:
    """Give a survey whose steward decides about every question."""
    with served(tmp_path, serve=BY_STEWARD) as found:
        yield found


def answered(server: Served, body: dict[str, object]) -> dict[str, object]:
    """Let a question be asked, approved and answered."""
    found = ask(server.program("analyst"), body)
    if state(server, found)[0] == "waiting":
        server.front.questions.decide(server.person("steward"), str(found["id"]), True, "")
    server.publish_all()
    assert state(server, found)[0] == "answered"
    return found


def test_a_steward_sees_the_reason_the_plan_and_what_is_published_on_the_same_columns(decided: Served) -> None:
    answered(decided, asked("0.5", "Smoking in spring"))
    waiting = ask(decided.program("analyst"), asked("0.25", "Smoking") | {"reason": "For the <board>"})
    assert waiting["reason"] == "For the <board>"
    page = decided.browser("steward").get(f"/questions/{waiting['id']}")
    for words in ("For the &lt;board&gt;", "Smoking in spring", "ann has used", "epsilon = 0.5", "(smoking)"):
        assert words in page
    plan = decided.browser("steward").get(f"/questions/{waiting['id']}/plan")
    for words in ("left now", "epsilon = 1.5", "left afterwards", "epsilon = 1.25", "percentage points"):
        assert words in plan
    assert "What is known already" not in decided.browser("analyst").get(f"/questions/{waiting['id']}")


def test_a_reason_is_no_part_of_the_question(decided: Served) -> None:
    program = decided.program("analyst")
    first = ask(program, asked() | {"reason": "one"}, key="k")
    assert ask(program, asked() | {"reason": "two"}, key="k")["id"] == first["id"]
    assert "reason" not in first["question"]  # type: ignore[operator]  # an object
    for wrong in (7, "x" * 1001, "\u202eback"):
        refusal = program.post("/api/1/questions", json=asked() | {"reason": wrong})
        assert refusal.status_code == 422, wrong


def test_questions_that_wait_come_first_and_are_filtered_counted_and_decided_together(decided: Served) -> None:
    first, second, third = (ask(decided.program("analyst"), asked(f"0.{n}", f"Number {n}")) for n in (1, 2, 3))
    steward = decided.browser("steward")
    assert "3<span" in steward.get("/")
    fields = {"id": [str(first["id"]), str(second["id"])]}
    assert steward.post("/questions/decisions", decision="maybe", **fields) == 422
    assert steward.post("/questions/decisions", decision="decline", **fields) == 422  # without a reason
    assert steward.post("/questions/decisions", decision="approve", **fields) == 303
    assert [state(decided, each)[0] for each in (first, second, third)] == ["queued", "queued", "waiting"]
    page = steward.get("/questions")
    assert page.index("Number 3") < page.index("Number 2") < page.index("Number 1")
    shown = steward.get("/questions?state=queued&by=ann")
    assert "Number 3" not in shown
    assert "Number 1" in shown
    assert "Number" not in steward.get("/questions?by=nobody")
    assert steward.client.get("/questions?state=lost").status_code == 400


def test_what_is_published_already_is_said_to_be_free_while_asking(server: Served) -> None:
    analyst = server.browser("analyst")

    def plan() -> str:
        return analyst.client.post("/ask/plan", data={"guard": analyst.guard, **PLAN}).text

    assert "Already published" not in plan()
    found = answered(server, asked("0.25", "Smoking, the first time"))
    release = server.front.questions.get(str(found["id"]), server.person("steward")).release
    assert f'Already published: free. <a href="/releases/{release}"' in plan()
    told = server.program("analyst").post("/api/1/plans", json=asked("0.25")).json()
    assert told["published"] == release
    assert "canonical" not in told
    before = server.front.budget["spent"]
    answered(server, asked("0.25", "Smoking"))
    assert server.front.budget["spent"] == before


def test_in_a_budget_of_periods_nothing_is_said_to_be_free(tmp_path: Path) -> None:
    from survey import STUDY

    per = STUDY.replace("[budget]\n", '[budget]\nper = "quarter"\nallowance = "1"\n')
    with served(tmp_path, study=per) as server:
        answered(server, asked("0.25", "Smoking"))
        assert server.program("analyst").post("/api/1/plans", json=asked("0.25")).json()["published"] is None


def test_widths_at_other_epsilons_are_computed_points(server: Served) -> None:
    analyst = server.browser("analyst")
    sent = {"guard": analyst.guard, **PLAN}
    page = analyst.client.post("/ask/curve", data=sent).text
    assert page.count('<circle class="exact"') == page.count(":0.") >= 4
    assert '<output id="slid">0.25</output>' in page
    assert "No widths" in analyst.client.post("/ask/curve", data=sent | {"its.columns": "lost"}).text
    width = analyst.client.post("/ask/width", data=sent).text
    assert "Each share will be known to about ±" in width


def test_releases_are_searched_shown_side_by_side_and_linked_from_the_budget(server: Served) -> None:
    for epsilon, label in (("0.25", "Smoking in spring"), ("0.5", "Smoking in summer")):
        answered(server, asked(epsilon, label))
    analyst = server.browser("analyst")
    home = analyst.get("/")
    shown = server.front.published()
    for release in shown:
        assert f'<td><a href="/releases/{release.id}">{release.label}</a></td>' in home
    assert home.count("data-chart=") == 2
    found = analyst.get("/releases?q=SPRING+smoking")
    assert "Smoking in spring" in found
    assert "Smoking in summer" not in found
    both = "&".join(f"release={each.id}" for each in shown)
    page = analyst.get(f"/beside?{both}")
    assert page.count("data-chart=") == 2
    assert page.count(" %</td>") >= 16
    assert analyst.client.get(f"/beside?release={shown[0].id}").status_code == 400
    assert analyst.client.get(f"/beside?release={shown[0].id}&release=lost").status_code == 404


def test_charts_have_the_colours_of_a_dark_page(server: Served) -> None:
    answered(server, asked("0.25", "Smoking"))
    place = f"/releases/{server.front.published()[0].id}/chart"
    analyst = server.browser("analyst")
    assert "#0072B2" in analyst.get(place)
    assert "#0072B2" not in analyst.get(f"{place}?dark=1")
