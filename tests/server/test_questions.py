"""From a question to an answer: policy, allowances, keys, refusals and signatures."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import discreet as dc
from discreet._core.documents import canonical_json
from discreet.ledger import SigningKey
from discreet.server._desk import Customer
from discreet.server._queries import read_query
from discreet.server._schema import questions
from discreet.synthesis import SynthesisPosterior
from serving import ASKED, AUTOMATIC, Served, ask, asked, served, spent, state
from survey import STUDY, SURVEY


def test_a_question_within_the_allowance_is_charged_published_and_read(server: Served) -> None:
    program = server.program("analyst")
    found = ask(program)
    assert found["state"] == "queued"
    assert server.publish_all() == 1
    done = program.get(f"/api/1/questions/{found['id']}").json()
    assert done["state"] == "answered"
    release = dc.Release.from_json(program.get(f"/api/1/releases/{done['release']}").text)
    assert release.guarantee.epsilon == Fraction(1, 4)
    assert dc.verify(release, ledger=server.publisher.study.ledger()).epsilon == 0.25
    reading = program.get(f"/api/1/releases/{done['release']}/reading?level=0.8").json()
    assert [row["quantity"] for row in reading["rows"]] == ["never", "former", "current", "other"]
    assert program.get("/api/1/budget").json()["spent"]["epsilon"] == "0.25"
    assert "quantity" in program.get(f"/api/1/releases/{done['release']}/table").text
    server.front.desk = Impatient()
    page = server.browser("analyst").get(f"/releases/{done['release']}")
    assert "was stopped" in page  # in words, with the release itself
    assert f'href="/releases/{done["release"]}/document">download it' in page


class Impatient:
    """A desk that ends whatever it is asked for."""

    def ask(self, customer: Customer, name: str, *arguments: object) -> object:
        raise dc.DeclarationError("This takes longer than the 0 seconds that a server spends on it, so it was stopped.")


def test_the_plan_says_all_before_anything_is_spent(server: Served) -> None:
    plan = server.program("analyst").post("/api/1/plans", json=ASKED).json()
    assert plan["mechanism"] == "GeometricHistogram"
    assert plan["reason"]
    assert 0 < plan["exact_width"] < plan["width"] <= 1
    assert plan["remaining"] == {"name": "epsilon", "left": "2", "after": "1.75"}
    assert plan["allowance"]["left"] == "1.5"
    browser = server.browser("analyst")
    form = {"guard": browser.guard, "model": "categories", "its.columns": "smoking", "label": "x", "epsilon": "30"}
    page = browser.client.post("/ask/plan", data=form).text
    assert "costs more than is left" in page
    assert "left afterwards" not in page
    assert spent(server) == 0


def test_beyond_the_allowance_a_steward_decides(server: Served) -> None:
    program, steward = server.program("analyst"), server.program("steward")
    first, second = ask(program, asked("1")), ask(program, asked("0.75"))
    assert (first["state"], second["state"]) == ("queued", "waiting")
    server.publish_all()
    path = f"/api/1/questions/{second['id']}"
    assert steward.post(f"{path}/decision", json={"approve": False}).status_code == 422  # it says no word
    assert steward.post(f"{path}/decision", json={"approve": True}).json()["decided_by"] == "sam"
    assert steward.post(f"{path}/decision", json={"approve": True}).status_code == 409
    server.publish_all()
    assert state(server, second)[0] == "answered"
    assert spent(server) == Fraction(7, 4)


def test_with_a_steward_every_question_waits_and_may_be_taken_back(tmp_path: Path) -> None:
    with served(tmp_path, serve="") as server:
        program = server.program("analyst")
        one, two = ask(program), ask(program)
        assert server.publish_all() == 0
        assert program.post(f"/api/1/questions/{one['id']}/withdrawal").json()["state"] == "withdrawn"
        browser = server.browser("steward")
        assert "outside the guarantee" in browser.get(f"/questions/{two['id']}")
        assert browser.post(f"/questions/{two['id']}/decision", decision="decline", words="Too fine.") == 303
        assert state(server, two) == ("declined", "Too fine.")
        assert spent(server) == 0


def test_a_forged_approval_of_the_front_is_held_against_the_allowance(server: Served) -> None:
    """A front that was taken over may write what it likes into the queue: the publisher reads it as a stranger's."""
    program = server.program("analyst")
    found = ask(program, asked("1.75"))
    with server.queue.write_transaction() as connection:
        connection.execute(update(questions).values(state="queued"))
    server.publish_all()
    assert state(server, found)[0] == "waiting"
    with server.queue.write_transaction() as connection:
        forged = {"state": "queued", "declaration": '{"question": {"bif": "/etc/passwd"}}'}
        connection.execute(update(questions).values(**forged))
    server.publish_all()
    assert state(server, found)[0] == "refused"
    with server.queue.write_transaction() as connection:
        lied = {"state": "queued", "declaration": canonical_json(asked("50")), "epsilon": "0.001", "decided_by": "sam"}
        connection.execute(update(questions).values(**lied))
    server.publish_all()
    assert state(server, found)[0] == "refused"  # the ledger alone decides
    assert spent(server) == 0


def test_the_same_question_is_charged_once_whoever_asks(server: Served) -> None:
    program = server.program("analyst")
    first = ask(program)
    server.publish_all()
    server.join("bob", "analyst")
    again = ask(program, asked(label="The same in other words"))
    server.publish_all()
    assert state(server, again)[0] == "answered"
    one, two = (server.front.questions.get(str(each["id"]), server.person("steward")) for each in (first, again))
    assert one.release == two.release
    assert spent(server) == Fraction(1, 4)


def test_a_key_is_one_question_of_one_account(server: Served) -> None:
    program = server.program("analyst")
    first = ask(program, key="k")
    assert ask(program, key="k")["id"] == first["id"]
    assert program.post("/api/1/questions", json=asked("0.5"), headers={"idempotency-key": "k"}).status_code == 409
    server.join("bob", "analyst")
    keys = server.front.keys
    bob = server.client()
    person = type(server.person("analyst"))("bob", "analyst", server.person("analyst").rights)
    bob.headers["authorization"] = f"Bearer {keys.make_token(person, 't', ['ask', 'read'], 1)[1]}"
    assert ask(bob, key="k")["id"] != first["id"]
    assert bob.get(f"/api/1/questions/{first['id']}").status_code == 404  # somebody else's


def test_the_budget_ends_and_what_is_too_much_is_refused_in_words(server: Served) -> None:
    program, steward = server.program("analyst"), server.program("steward")
    for epsilon in ("1", "0.75"):
        found = ask(program, asked(epsilon))
        if found["state"] == "waiting":
            steward.post(f"/api/1/questions/{found['id']}/decision", json={"approve": True})
    server.publish_all()
    early = program.post("/api/1/questions", json=asked("0.3"))
    assert early.status_code == 409
    assert early.headers["content-type"] == "application/problem+json"
    assert "only 0.25 of the budget is left" in early.json()["detail"]
    late = ask(program, asked("0.25"))
    with server.queue.write_transaction() as connection:  # as if two had asked at once
        wanted = update(questions).where(questions.c.id == late["id"])
        connection.execute(wanted.values(declaration=canonical_json(asked("0.3")), state="queued", decided_by="sam"))
    server.publish_all()
    reached, words = state(server, late)
    assert reached == "refused"
    assert "needs epsilon = 0.3" in words
    assert str(server.folder) not in words
    assert spent(server) == Fraction(7, 4)


REFUSED: list[tuple[object, int, str]] = [
    ({"question": {"columns": ["smokin"], "epsilon": "1", "label": "x"}}, 422, "Did you mean 'smoking'"),
    ({"question": {"columns": ["smoking"], "label": "x"}}, 422, "epsilon is missing"),
    ({"question": {"columns": ["smoking"], "epsilon": "1"}}, 422, "needs a label"),
    (asked(mechanism="HellingerLocal"), 422, "HellingerLocal"),
    (asked(code="import os"), 422, "'code' is not a key"),
    (
        {"question": {"model": "network", "bif": "../../etc/passwd", "epsilon": "1", "label": "x"}},
        422,
        "cannot name a file",
    ),
    ({"question": {"model": "network", "bif": "/etc/passwd", "epsilon": "1", "label": "x"}}, 422, "cannot name a file"),
    (asked("-1"), 422, "above 0"),
    (asked("nan"), 422, ""),
    (asked(label="x" * 501), 422, "1 to 500"),
    (asked(further={}), 422, ""),
    ({"question": asked()["question"], "query": {"kind": "probability", "event": "never"}}, 422, "fresh draw"),
    ({"ask": 1}, 422, "`question`"),
    ([], 400, "JSON object"),
]


def test_what_makes_no_sense_is_refused_in_words_and_not_queued(server: Served) -> None:
    program = server.program("analyst")
    for body, status, words in REFUSED:
        for path in ("/api/1/plans", "/api/1/questions"):
            answer = program.post(path, json=body)
            assert answer.status_code == status, (body, answer.text)
            assert words in answer.json()["detail"], (body, answer.text)
    assert not server.front.questions.seen_by(server.person("steward"))


def test_all_columns_at_once_are_asked_published_and_read_and_need_a_delta(server: Served) -> None:
    program = server.program("analyst")
    keys: dict[str, Any] = {"model": "synthesis", "columns": ["smoking", "age", "fall"]}
    refused = program.post("/api/1/questions", json=asked("1", **keys))
    assert refused.status_code == 422
    assert "needs a delta above 0" in refused.json()["detail"]
    assert spent(server) == 0
    found = ask(program, asked("1", delta="1e-6", **keys))
    server.publish_all()
    assert state(server, found)[0] == "answered"
    (published,) = server.front.published()
    page = server.browser("analyst").get(f"/releases/{published.id}")
    assert "generalised least squares" in page
    posterior = dc.infer(dc.Release.from_json(published.text))
    assert isinstance(posterior, SynthesisPosterior)
    assert len(posterior.synthesize(5, seed=1)["age"]) == 5


MALFORMED = [
    (b"{", "application/json", 400),
    (b"\xff\xfe", "application/json", 400),
    (b'{"a": 1, "a": 2}', "application/json", 400),
    (b'{"question": NaN}', "application/json", 400),
    (b"[" * 60_000, "application/json", 400),
    (b"{}", "text/plain", 415),
    (b"{}", "application/x-www-form-urlencoded", 415),
    (b" " * 70_000, "application/json", 413),
]


def test_malformed_and_oversized_bodies_are_refused(server: Served) -> None:
    program = server.program("analyst")
    for content, kind, status in MALFORMED:
        answer = program.post("/api/1/plans", content=content, headers={"content-type": kind})
        assert answer.status_code == status, content[:40]
        assert answer.headers["content-type"] == "application/problem+json"


def test_no_file_is_given_out_that_is_not_listed(server: Served) -> None:
    client = server.client()
    for path in ("../app.py", "..%2fapp.py", "vendor/../../app.py", "/etc/passwd", "%2e%2e/schema.py", ""):
        assert client.get(f"/static/{path}").status_code in (303, 404), path


def test_an_answer_of_a_fresh_draw_is_paid_for_each_time(server: Served) -> None:
    body = {
        "question": {
            "columns": ["fall"], "epsilon": "0.5", "label": "Falls", "prior": 1,
            "mechanism": "PosteriorSampling.truncated", "least": "0.01",
        },
        "query": {"kind": "probability", "event": "true"},
    }  # fmt: skip
    program = server.program("analyst")
    both = [ask(program, body), ask(program, body)]
    server.publish_all()
    answers = [program.get(f"/api/1/questions/{each['id']}").json() for each in both]
    assert [each["state"] for each in answers] == ["answered", "answered"]
    assert all(0 <= each["answer"] <= 1 for each in answers)
    assert spent(server) == 1
    assert "the randomness of that draw" in server.browser("analyst").get(f"/questions/{both[0]['id']}")


@pytest.mark.parametrize(
    "written",
    [{"kind": "code"}, {"kind": ["mean"]}, {"code": "x"}, {"kind": "mean", "code": "x"}, {"kind": "probability"}, 7],
)
def test_a_query_is_a_declaration_and_never_code(written: object) -> None:
    with pytest.raises(dc.DeclarationError, match="query"):
        read_query(written)


def test_a_study_says_how_it_is_served_and_nonsense_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    for wrong, words in (
        ('policy = "none"', "'automatic' or 'steward'"),
        ('policy = "automatic"', "serve.allowance"),
        ('allowance = "1"', "serve.allowance"),
        ("time_limit = 30\nvisible_after = 30", "longer than the first"),
        ("time_limt = 3", "Did you mean 'time_limit'"),
    ):
        path.write_text(f"{STUDY}[serve]\n{wrong}\n")
        with pytest.raises(dc.DeclarationError, match=words):
            dc.Study(path)
    path.write_text(STUDY + AUTOMATIC)
    document = dc.Study(path).public_document()
    assert "survey.csv" not in canonical_json(document)
    assert "study.db" not in canonical_json(document)
    assert SURVEY


def test_a_holder_with_a_key_signs_what_is_released(server: Served) -> None:
    key = SigningKey.new("the office")
    server.publisher.key = key
    ask(server.program("analyst"))
    server.publish_all()
    release = dc.Release.from_json(server.front.published()[0].text)
    assert key.public.signed(release.unsigned(), release.signatures)
    assert dc.verify(release, server.publisher.study.ledger()).epsilon == 0.25


LINE = """
[columns.x]
bounds = [0, 10]
missing = 5
[columns.y]
bounds = [0, 10]
missing = 5
"""


@pytest.mark.parametrize("further", [{"noise": "0.2"}, {}], ids=["noise known", "noise not known"])
def test_a_plan_never_says_that_privacy_helps(tmp_path: Path, further: dict[str, object]) -> None:
    """Both widths come from the same simulated studies, whether the noise around the line is known or not."""
    study = STUDY.replace("[budget]", f"{LINE}[budget]").replace("size = 6", "size = 500").replace('"2"', '"200"')
    keys = {"model": "regression", "formula": "y ~ x", "epsilon": "40", "label": "A line", **further}
    with served(tmp_path, study=study) as server:
        plan = server.program("analyst").post("/api/1/plans", json={"question": keys}).json()
        browser = server.browser("analyst")
        form = {"guard": browser.guard, "model": "regression", "its.formula": "y ~ x", "label": "A line",
                "epsilon": "40", **{f"its.{key}": value for key, value in further.items()}}  # fmt: skip
        page = browser.client.post("/ask/width", data=form).text
    assert plan.get("width", 0) > 0, plan
    assert [row["quantity"] for row in plan["rows"]] == ["intercept", "x"]
    assert ">without privacy</th>" in page
    assert "expected width" in page
    for row in plan["rows"]:
        assert row["width"] > row["exact_width"] - 3 * row["cost_error"]
