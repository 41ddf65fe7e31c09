"""From a question to an answer: policy, allowances, keys, refusals, fixed moments, crashes and canaries."""

import json
import logging
import os
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

import discreet as dc
from discreet.documents import canonical_json
from discreet.guarantees import chain
from discreet.guarantees.signatures import SigningKey
from discreet.serve import audit
from discreet.serve.publisher import WITHHELD, Publisher
from discreet.serve.queries import read_query
from discreet.serve.schema import metadata, questions
from discreet.serve.slot import Outcome, fork, in_a_process
from serving import ASKED, AUTOMATIC, Served, served
from survey import STUDY, SURVEY


def asked(epsilon: str = "0.25", label: str = "Smoking", **keys: object) -> dict[str, object]:
    return {"question": {"columns": ["smoking"], "epsilon": epsilon, "label": label, **keys}}


def ask(program: TestClient, body: object = ASKED, key: str | None = None) -> dict[str, object]:
    answer = program.post("/api/1/questions", json=body, headers={} if key is None else {"idempotency-key": key})
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, object] = answer.json()
    return found


def state(server: Served, found: dict[str, object]) -> tuple[str, str]:
    now = server.front.questions.get(str(found["id"]), server.person("steward"))
    return now.state, now.words


def spent(server: Served) -> Fraction:
    return Fraction(server.publisher.study.ledger().spent.document()["epsilon"])


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


def test_the_plan_says_all_before_anything_is_spent(server: Served) -> None:
    plan = server.program("analyst").post("/api/1/plans", json=ASKED).json()
    assert plan["mechanism"] == "GeometricHistogram"
    assert plan["reason"]
    assert 0 < plan["exact_width"] < plan["width"] <= 1
    assert plan["remaining"] == {"name": "epsilon", "left": "2"}
    assert plan["allowance"]["left"] == "1.5"
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
    with server.queue.writing() as connection:
        connection.execute(update(questions).values(state="queued"))
    server.publish_all()
    assert state(server, found)[0] == "waiting"
    with server.queue.writing() as connection:
        forged = {"state": "queued", "declaration": '{"question": {"bif": "/etc/passwd"}}'}
        connection.execute(update(questions).values(**forged))
    server.publish_all()
    assert state(server, found)[0] == "refused"
    with server.queue.writing() as connection:
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
    assert "0.25 is left" in early.json()["detail"]
    late = ask(program, asked("0.25"))
    with server.queue.writing() as connection:  # as if two had asked at once
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
    (asked(code="import os"), 422, "'code' is no key"),
    ({"question": {"model": "network", "bif": "../../etc/passwd", "epsilon": "1", "label": "x"}}, 422, "no files"),
    ({"question": {"model": "network", "bif": "/etc/passwd", "epsilon": "1", "label": "x"}}, 422, "no files"),
    (asked("-1"), 422, "above 0"),
    (asked("nan"), 422, ""),
    (asked(label="x" * 501), 422, "1 to 500"),
    (asked(further={}), 422, ""),
    ({"question": asked()["question"], "query": {"probability": "never"}}, 422, "fresh draw"),
    ({"ask": 1}, 422, "`question`"),
    ([], 400, "object of JSON"),
]


def test_what_makes_no_sense_is_refused_in_words_and_not_queued(server: Served) -> None:
    program = server.program("analyst")
    for body, status, words in REFUSED:
        for path in ("/api/1/plans", "/api/1/questions"):
            answer = program.post(path, json=body)
            assert answer.status_code == status, (body, answer.text)
            assert words in answer.json()["detail"], (body, answer.text)
    assert not server.front.questions.seen_by(server.person("steward"))


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


@pytest.mark.parametrize(
    "path", ["../app.py", "..%2fapp.py", "vendor/../../app.py", "/etc/passwd", "%2e%2e/schema.py", ""]
)
def test_no_file_is_given_out_that_is_not_listed(server: Served, path: str) -> None:
    assert server.client().get(f"/static/{path}").status_code in (303, 404)


def test_an_answer_of_a_fresh_draw_is_paid_for_each_time(server: Served) -> None:
    body = {
        "question": {
            "columns": ["fall"], "epsilon": "0.5", "label": "Falls", "prior": 1,
            "mechanism": "PosteriorSampling.truncated", "least": "0.01",
        },
        "query": {"probability": "true"},
    }  # fmt: skip
    program = server.program("analyst")
    both = [ask(program, body), ask(program, body)]
    server.publish_all()
    answers = [program.get(f"/api/1/questions/{each['id']}").json() for each in both]
    assert [each["state"] for each in answers] == ["answered", "answered"]
    assert all(0 <= each["answer"] <= 1 for each in answers)
    assert spent(server) == 1
    assert "luck of that draw" in server.browser("analyst").get(f"/questions/{both[0]['id']}")


@pytest.mark.parametrize(
    "written", [{"mean": False}, {"code": "x"}, {"probability": 1}, {"predictive": "a", "records": 0}, 7]
)
def test_a_query_is_a_declaration_and_never_code(written: object) -> None:
    with pytest.raises(dc.DeclarationError, match="A query is"):
        read_query(written)


def test_what_became_of_a_question_is_shown_at_a_fixed_moment_whatever_the_records(tmp_path: Path) -> None:
    for number, seconds in enumerate((0.0, 3.0, 9.5)):  # as if counting took so long
        folder = tmp_path / str(number)
        folder.mkdir()
        with served(folder) as server:
            found = ask(server.program("analyst"))
            begun = server.time.now

            def slowly(work: Callable[[], None], limit: float, here: Served = server, took: float = seconds) -> Outcome:
                asked = here.publisher._next()
                assert asked is not None
                here.time.now += took if asked.state == "running" else 0.0
                work()
                return Outcome()

            server.publisher._slot = slowly
            server.publish_all()
            done = server.front.questions.get(str(found["id"]), server.person("steward"))
            assert (done.begun_at, done.visible_at) == (begun, begun + 12)
            assert server.front.published()[0].visible_at == begun + 12
            charges = server.front.budget["charges"]
            assert isinstance(charges, list)
            assert not any("at" in charge for charge in charges)


def test_nothing_can_be_seen_in_the_queue_before_its_moment(server: Served) -> None:
    ask(server.program("analyst"))
    seen: list[str] = []

    def looking(seconds: float) -> None:
        with server.queue.reading() as connection:
            seen.append(str([row for table in metadata.tables.values() for row in connection.execute(select(table))]))
        server.time.now += seconds

    server.publisher._sleep = looking
    server.publish_all()
    release = dc.Release.from_json(server.front.published()[0].text)
    assert len(seen) == 1
    assert str(list(release.output)).replace(" ", "") not in seen[0]
    assert '"spent":{"delta":"0","epsilon":"0"}' in seen[0]


def test_a_front_that_lies_about_the_beginning_of_a_slot_gains_no_moment(server: Served) -> None:
    found = ask(server.program("analyst"))
    with server.queue.writing() as connection:
        connection.execute(update(questions).values(state="running", begun_at=server.time.now - 1000))
    now = server.time.now
    server.publish_all()
    done = server.front.questions.get(str(found["id"]), server.person("steward"))
    assert (done.state, done.visible_at) == ("answered", now + 12)


def test_what_others_wrote_is_text_on_every_page_and_nothing_else(server: Served) -> None:
    label = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    found = ask(server.program("analyst"), asked(label=label))
    server.publish_all()
    release = server.front.published()[0].id
    analyst, steward = server.browser("analyst"), server.browser("steward")
    pages = [analyst.get(path) for path in ("/", "/questions", f"/questions/{found['id']}", f"/releases/{release}")]
    pages += [steward.get(path) for path in ("/audit", f"/releases/{release}/statement", f"/verify?release={release}")]
    for text in pages:
        assert "<script>alert" not in text
        assert "<img src=x" not in text
    assert "script-src" not in analyst.client.get(f"/releases/{release}/statement").headers["content-security-policy"]


def test_a_question_that_runs_over_its_time_stops_all_others_until_a_steward_has_noted_it(server: Served) -> None:
    program, steward = server.program("analyst"), server.browser("steward")
    slow, other = ask(program), ask(program, asked("0.5"))
    calls: list[float] = []

    def over(work: Callable[[], None], limit: float) -> Outcome:
        calls.append(limit)
        return Outcome() if len(calls) == 1 else Outcome(is_overrun=True)

    server.publisher._slot, usual = over, server.publisher._slot
    server.publish_all()
    assert state(server, slow)[0] == "failed"
    assert state(server, other)[0] == "queued"
    server.publisher._slot = usual
    assert server.publish_all() == 0
    assert "took longer" in steward.get("/")
    assert steward.post(f"/questions/{slow['id']}/acknowledgement") == 303
    server.publish_all()
    assert state(server, other)[0] == "answered"


def test_work_in_a_process_ends_with_its_time_and_tells_refusals_alone() -> None:
    def refuse() -> None:
        raise dc.BudgetError("not enough")

    def fail() -> None:
        raise ValueError("canary-7f3a")

    started = time.monotonic()
    assert in_a_process(lambda: time.sleep(60), 0.3).is_overrun
    assert time.monotonic() - started < 30
    assert in_a_process(lambda: None, 30.0) == Outcome()
    assert str(in_a_process(refuse, 30.0).problem) == "not enough"
    assert in_a_process(fail, 30.0) == Outcome(is_silent=True)
    assert in_a_process(lambda: os.kill(os.getpid(), signal.SIGKILL), 30.0) == Outcome(is_silent=True)


@pytest.mark.parametrize("point", ["charge-begun", "charged", "drawn", "recorded"])
def test_a_publisher_that_dies_anywhere_loses_nothing_and_leaves_nothing_unpaid(tmp_path: Path, point: str) -> None:
    with served(tmp_path) as server:
        found = ask(server.program("analyst"))
        child = fork()
        if child == 0:  # a publisher that is killed at this point of the ledger
            chain.action = lambda reached: os.kill(os.getpid(), signal.SIGKILL) if reached == point else None
            server.queue.engine.dispose(close=False)
            server.publisher.step()
            os._exit(0)
        _, ended = os.waitpid(child, 0)
        assert os.WTERMSIG(ended) == signal.SIGKILL
        assert state(server, found)[0] == "running"
        fresh = Publisher(
            tmp_path / "study.toml", server.queue, clock=server.time, sleep=server.time.sleep,
            slot=server.publisher._slot,
        )  # fmt: skip
        fresh.prepare()
        assert fresh.step()
        assert state(server, found)[0] == "answered"
        ledger = fresh.study.ledger()
        assert ledger.check() >= 3
        published = [entry for entry in ledger.entries() if entry.kind == "release"]
        assert len(published) == len(server.front.published()) == 1
        wasted = Fraction(1, 4) if point in ("charged", "drawn") else 0
        assert spent(server) == Fraction(1, 4) + wasted


WORD, TIMES = "canary-7f3a", 79
OTHER = "canary-age-5d1e"
CANARIES = "smoking,age,fall\n" + f"{WORD},{OTHER},true\n" * TIMES + "never,33,false\n" * 62


@pytest.mark.parametrize("size", [TIMES + 62, TIMES])
def test_no_record_sings_in_any_response_log_row_or_error(
    tmp_path: Path, size: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    declared = STUDY.replace("size = 6", f"size = {size}").replace('outside = "other"', 'outside = "never"')
    told: list[str] = []
    with served(tmp_path, study=declared, survey=CANARIES) as server:
        server.publisher._slot, server.publisher._report = in_a_process, told.append
        program, steward = server.program("analyst"), server.browser("steward")
        bodies = [ask(program), ask(program, asked("0.125", columns=["age", "fall"]))]
        (tmp_path / "survey.csv").rename(tmp_path / "moved.csv")
        bodies.append(ask(program, asked("0.5")))
        server.publisher.step()
        (tmp_path / "moved.csv").rename(tmp_path / "survey.csv")
        server.publish_all()
        shown = [program.get(f"/api/1/questions/{each['id']}").text for each in bodies]
        shown += [steward.get(path) for path in ("/", "/questions", "/audit", "/releases", "/people")]
        for release in server.front.published():
            for part in ("", "/reading", "/table"):
                shown.append(program.get(f"/api/1/releases/{release.id}{part}").text)
            shown.append(steward.get(f"/releases/{release.id}/statement"))
        states = [json.loads(text)["state"] for text in shown[:3]]
        assert states[0] == "failed"
        assert json.loads(shown[0])["words"] == WITHHELD
        assert states[1:] == (["answered", "answered"] if size == TIMES + 62 else ["failed", "failed"])
        shown += [line.about for line in audit.lines(server.queue)]
    out, err = capfd.readouterr()
    for text in (*shown, *told, out, err, caplog.text):
        assert not [song for song in (WORD, OTHER) if song in text], text[:300]
    for path in tmp_path.iterdir():
        if path.name.startswith(("queue.db", "study.db")):
            assert WORD.encode() not in path.read_bytes()


def test_a_study_says_how_it_is_served_and_nonsense_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    for wrong, words in (
        ('policy = "none"', "'automatic' or 'steward'"),
        ('policy = "automatic"', "serve.allowance"),
        ('allowance = "1"', "serve.allowance"),
        ("time_limit = 30\nvisible_after = 30", "larger than the first"),
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
