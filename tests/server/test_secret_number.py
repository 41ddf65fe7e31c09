"""A served study whose number of records is secret: asked, planned, read, and nothing tells how many there are."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from serving import Served, ask, served, spent, state

STUDY = """
[data]
path = "survey.csv"
neighbours = "add or remove one person"
about = 300
[columns.ward]
levels = ["A", "B"]
outside = "A"
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[columns.age]
bounds = [0, 100]
[budget]
epsilon = "2"
ledger = "study.db"
groups = "ward"
[questions]
"""
FALLS: dict[str, object] = {"columns": ["fall"], "epsilon": "0.25", "label": "Falls"}
ASKED: Mapping[str, dict[str, object]] = {
    "table": FALLS,
    "some": FALLS | {"where": "ward = A", "about": 200},
    "some, without a guess": FALLS | {"where": "ward = A"},
    "mean": {"model": "number", "column": "age", "ask": ["mean"], "by": "ward", "epsilon": "0.5", "label": "Age"},
    "median": {"model": "number", "column": "age", "ask": ["quantiles"], "epsilon": "0.5", "label": "Age"},
    "classifier": {
        "model": "naive-bayes", "target": "fall", "features": ["ward"], "epsilon": "0.5", "label": "Who falls",
    },
}  # fmt: skip


def survey(number: int) -> str:
    rows = "".join(f"{'AB'[each % 4 == 0]},{('no', 'yes')[each % 5 == 0]},{each % 90}\n" for each in range(number))
    return f"ward,fall,age\n{rows}"


def document_of(server: Served, question: Mapping[str, object]) -> str:
    listed = server.program("analyst").get("/api/1/releases").json()["releases"]
    found = next(each for each in listed if each["label"] == question["label"])
    return f"/api/1/releases/{found['id']}"


@pytest.mark.parametrize("name", ASKED)
def test_the_whole_road_of_a_question(tmp_path: Path, name: str) -> None:
    question = ASKED[name]
    with served(tmp_path, study=STUDY, survey=survey(240)) as server:
        ann = server.program("analyst")
        plan = ann.post("/api/1/plans", json={"question": question}).json()
        assert "whether you are in the data: epsilon" in plan["promises"]
        assert plan["reason"] == "the number of records is secret"
        assert set(plan["mechanisms"]) <= {
            "LaplaceTable", "GaussianTable", "CubeSums", "LaplaceSums", "BlockTable", "CubeTables",
        }  # fmt: skip
        assert ("No width can be predicted" in plan["words"]) is ("without" in name), plan["words"]
        assert state(server, ask(ann, {"question": question})) == ("queued", "")
        server.publish_all()
        assert spent(server) == Fraction(str(question["epsilon"]))
        place = document_of(server, question)
        found = ann.get(f"{place}/reading").json()
        assert found["rows"]
        number = found["number_of_records"]
        assert number["low"] <= number["mean"] <= number["high"]
        assert ann.get(f"{place}/table").status_code == 200
        browser, identity = server.browser("analyst"), place.rsplit("/", 1)[1]
        for page in ("", "/statement"):
            assert "secret" in browser.get(f"/releases/{identity}{page}")


def test_pages_say_that_the_number_is_secret_and_plan_by_the_guess(tmp_path: Path) -> None:
    with served(tmp_path, study=STUDY, survey=survey(240)) as server:
        browser = server.browser("analyst")
        assert "<dt>records</dt><dd>secret</dd>" in browser.get("/")
        assert "The number of records is secret" in browser.get("/catalogue")
        assert server.program("analyst").get("/api/1/study").json()["size"] is None
        form = {
            "guard": browser.guard,
            "model": "categories",
            "its.columns": ["fall"],
            "epsilon": "0.25",
            "label": "Falls",
        }
        assert "what your record says: epsilon 0.5" in browser.client.post("/ask/plan", data=form).text
        page = browser.client.post("/ask/width", data=form | {"where": "ward = A"}).text
        assert "about = 500" in page  # a guess of how many there are is missing
        page = browser.client.post("/ask/width", data=form).text
        assert "90% intervals will be" in page


def test_groups_are_charged_by_the_largest(tmp_path: Path) -> None:
    with served(tmp_path, study=STUDY, survey=survey(240)) as server:
        ann = server.program("analyst")
        for ward in "AB":
            ask(ann, {"question": FALLS | {"where": f"ward = {ward}", "label": f"Falls in {ward}"}})
        ask(ann, {"question": FALLS})
        server.publish_all()
        assert spent(server) == Fraction(1, 2)


@pytest.mark.parametrize("name", ["table", "some", "mean"])
def test_what_can_be_seen_is_the_same_for_nobody_and_for_many(tmp_path: Path, name: str) -> None:
    seen = []
    for number in (0, 1, 3000):
        folder = tmp_path / str(number)
        folder.mkdir()
        with served(folder, study=STUDY, survey=survey(number)) as server:
            ann = server.program("analyst")
            asked, begun = ask(ann, {"question": ASKED[name]}), server.time.now
            server.publish_all()
            seen.append((state(server, asked), server.time.now - begun, ann.get("/api/1/budget").json()["spent"]))
    assert seen[0][0] == ("answered", "")
    assert seen[0] == seen[1] == seen[2]
