"""What a question may not tell by the way: fixed moments, overruns, crashes, and records that must never be seen."""

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

import discreet as dc
from discreet.ledger import _chain as chain
from discreet.server import Publisher
from discreet.server import _audit as audit
from discreet.server._publisher import WITHHELD
from discreet.server._schema import metadata, questions
from discreet.server._slot import Outcome, fork, in_a_process
from serving import Served, ask, asked, served, spent, state
from survey import STUDY


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
        with server.queue.read_transaction() as connection:
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
    with server.queue.write_transaction() as connection:
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
            slot=server.publisher._slot, monotonic=server.time.monotonic,
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
