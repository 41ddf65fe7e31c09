"""A second look with an attacker's eyes: each test is an attack that must not succeed, and some once did."""

import resource
from ipaddress import ip_network
from pathlib import Path

import pytest
from sqlalchemy import event, update

from discreet.report._documents import harmless
from discreet.server import _audit as audit
from discreet.server._desk import _KEPT_BYTES, Counter, Work
from discreet.server._front import Settings
from discreet.server._guard import neighbourhood
from discreet.server._limits import Rates
from discreet.server._people import FREE_FAILURES
from discreet.server._questions import LONGEST, MOST_A_DAY
from discreet.server._schema import questions
from discreet.server._slot import little_memory
from serving import HOST, PASSWORD, Served, ask, asked, served, spent, state
from survey import STUDY, SURVEY


def test_nobody_is_sent_to_a_name_that_the_request_made_up(server: Served) -> None:
    """Once a slash at the end was answered by a redirect to the Host of the request, before the guard."""
    for path in ("/ask/", "/sign-in/", "//evil.example/sign-in/", "/api/1/study/", "/%2f%2fevil.example"):
        answer = server.client().get(path, headers={"host": "evil.example"})
        assert "location" not in answer.headers, path
        assert answer.status_code in (400, 404), path
    for path in ("/sign-in?next=//evil.example", "/?url=https://evil.example"):
        location = server.client().get(path).headers.get("location", "/sign-in")
        assert location.partition("?")[0] == "/sign-in"


def test_a_second_forwarded_header_does_not_hide_where_somebody_comes_from(tmp_path: Path) -> None:
    """Some proxies add a line of their own below the one that came in: the last word is theirs."""
    settings = Settings(frozenset({HOST}), (ip_network("10.0.0.5"),), rates=Rates(sign_in=2))
    with served(tmp_path, settings=settings) as server:
        for k in range(3):
            forged = [("x-forwarded-for", f"203.0.113.{k}"), ("x-forwarded-for", "198.51.100.1")]
            client = server.client("10.0.0.5")
            found = client.post("/sign-in", data={"name": "x", "password": "y"}, headers=forged)
        assert found.status_code == 429


def test_a_name_beside_the_proxys_own_is_refused(tmp_path: Path) -> None:
    settings = Settings(frozenset({HOST}), (ip_network("10.0.0.5"),), "x-remote-user", True)
    with served(tmp_path, settings=settings) as server:
        both = [("x-remote-user", "sam"), ("x-remote-user", "ann")]
        assert server.client("10.0.0.5").get("/people", headers=both).status_code == 400


def test_a_network_of_many_addresses_has_the_rates_of_one_person() -> None:
    assert neighbourhood("2001:db8::1") == neighbourhood("2001:db8::ffff:1") != neighbourhood("2001:db8:0:1::1")
    assert neighbourhood("192.0.2.1") != neighbourhood("192.0.2.2")
    assert neighbourhood("unknown") == "unknown"


def test_a_form_from_the_same_name_without_tls_is_refused(tmp_path: Path) -> None:
    settings = Settings(frozenset({HOST}), is_secure=True)
    with served(tmp_path, settings=settings) as server:
        form = {"name": "ann", "password": PASSWORD}
        for origin, status in ((f"http://{HOST}", 403), (f"https://{HOST}", 303)):
            assert server.client().post("/sign-in", data=form, headers={"origin": origin}).status_code == status


def written_in(server: Served, name: str) -> list[int]:
    """Return how many rows each transaction of a refused sign-in wrote: a disk takes as long as there are some."""
    found: list[int] = []

    def begun(connection: object, cursor: object, statement: str, *more: object) -> None:
        if statement.startswith("BEGIN"):
            found.append(0)
        found[-1] += statement.startswith(("INSERT", "UPDATE", "DELETE"))

    event.listen(server.queue.engine, "before_cursor_execute", begun)
    try:
        assert server.client().post("/sign-in", data={"name": name, "password": "wrong"}).status_code == 401
    finally:
        event.remove(server.queue.engine, "before_cursor_execute", begun)
    return found


def test_a_refused_sign_in_writes_as_often_whether_or_not_the_name_exists(server: Served) -> None:
    """A refusal of an unknown name wrote nothing, and was quicker by the time of two writes to the disk."""
    known, unknown = written_in(server, "ann"), written_in(server, "nobody")
    assert [each > 0 for each in known] == [each > 0 for each in unknown]
    assert sum(each > 0 for each in known) == 2
    for _ in range(FREE_FAILURES):
        written_in(server, "ann")
    assert [each > 0 for each in written_in(server, "ann")] == [each > 0 for each in known]  # locked by now
    server.front.people.close("ann", "sam")
    assert [each > 0 for each in written_in(server, "ann")] == [each > 0 for each in known]
    assert not any("nobody" in line.about for line in audit.lines(server.queue))


def test_questions_that_are_taken_back_do_not_fill_the_disk(tmp_path: Path) -> None:
    with served(tmp_path, serve="") as server:
        program = server.program("analyst")
        first = ask(program)
        with server.queue.write_transaction() as connection:
            row = connection.execute(questions.select()).one()._mapping
            many = [dict(row) | {"number": None, "id": f"x{k}", "state": "withdrawn"} for k in range(MOST_A_DAY - 1)]
            connection.execute(questions.insert(), many)
        refused = program.post("/api/1/questions", json=asked("0.5"))
        assert refused.status_code == 409
        assert "within a day" in refused.json()["detail"]
        server.time.now += 86_401
        program = server.program("analyst")
        assert ask(program, asked("0.5"))["id"] != first["id"]
        long = program.post("/api/1/plans", json=asked(columns=["smoking"] * (LONGEST // 8)))
        assert long.status_code == 422
        assert f"at most {LONGEST} characters" in long.json()["detail"]


def test_a_label_is_what_it_looks_like_and_stays_on_its_line(server: Served) -> None:
    program = server.program("analyst")
    for label in ("a\u202eb", "a\u2066b", "a\nb", "a\x00b", "a\x1b[2Jb", "  ", ""):
        answer = program.post("/api/1/plans", json=asked(label=label))
        assert answer.status_code == 422, label
        assert "label" in answer.json()["detail"]


def test_a_label_that_looks_like_a_formula_or_markup_is_text_everywhere(tmp_path: Path) -> None:
    sneaky = STUDY.replace('"never"', '"=cmd(1)"').replace('"former"', '"@x"').replace('"current"', '"-1+1"')
    with served(tmp_path, study=sneaky, survey=SURVEY) as server:
        program = server.program("analyst")
        ask(program, asked(label="=HYPERLINK(1)"))
        server.publish_all()
        release = server.front.published()[0].id
        for path in (f"/api/1/releases/{release}/table", f"/releases/{release}/table"):
            client = program if path.startswith("/api") else server.browser("analyst").client
            answer = client.get(path)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            for line in answer.text.splitlines():
                assert line.startswith(("quantity", "'=cmd(1)", "'@x", "'-1+1", "other")), line
    for sign in ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"):
        assert str(harmless(f"{sign}x"))[0] == "'"
    assert harmless(-0.5) == -0.5


HOSTILE: tuple[dict[str, object], ...] = (
    {"epsilon": "no number", "is_charged": 1}, {"epsilon": "1/0", "state": "queued"}, {"declaration": "[" * 100_000},
    {"declaration": "{"}, {"declaration": '"text"'}, {"declaration": '{"question": {"further": {}}}'},
    {"label": "\x1b[2J\n" * 10_000}, {"account": "x" * 100_000}, {"begun_at": -1e300}, {"decided_by": "sam"},
)  # fmt: skip


def test_whatever_a_front_writes_into_the_queue_the_publisher_lives_and_the_ledger_holds(tmp_path: Path) -> None:
    """Each of these is written over a question that waits its turn; then an honest one is asked."""
    with served(tmp_path) as server:
        program = server.program("analyst")
        for number, forged in enumerate(HOSTILE):
            found = ask(program, asked(f"0.0{number + 1}"))
            with server.queue.write_transaction() as connection:
                connection.execute(update(questions).where(questions.c.id == found["id"]).values(**forged))
            server.publish_all()
            assert state(server, found)[0] in ("answered", "refused", "waiting"), forged
            with server.queue.write_transaction() as connection:  # so that the next is judged by itself
                connection.execute(questions.delete())
        honest = ask(program)
        server.publish_all()
        assert state(server, honest)[0] == "answered"
        ledger = server.publisher.study.ledger()
        ledger.check()
        assert ledger.limit.covers(ledger.spent)


@pytest.mark.parametrize("epsilon", ["no number", "1/0"])
def test_what_a_front_writes_over_earlier_questions_stops_no_publisher(server: Served, epsilon: str) -> None:
    program = server.program("analyst")
    first, second = ask(program), ask(program, asked("0.5"))
    with server.queue.write_transaction() as connection:
        forged = update(questions).where(questions.c.id == first["id"])
        connection.execute(forged.values(epsilon=epsilon, state="answered", is_charged=1))
    server.publish_all()
    now, words = state(server, second)
    assert now == "refused"
    assert spent(server) == 0
    assert "not a number" in words


def test_an_approval_is_good_for_one_answer_and_cannot_be_played_again(server: Served) -> None:
    program, steward = server.program("analyst"), server.program("steward")
    draw = {"columns": ["fall"], "prior": 1, "mechanism": "PosteriorSampling.truncated", "least": "0.01"}
    body = {"question": draw | {"epsilon": "1.6", "label": "x"}, "query": {"kind": "mean"}}
    found = ask(program, body)
    path = f"/api/1/questions/{found['id']}/decision"
    assert steward.post(path, json={"approve": True}).status_code == 200
    server.publish_all()
    before = server.publisher.study.ledger().spent
    with server.queue.write_transaction() as connection:  # a front puts the same approved question back
        connection.execute(update(questions).values(state="queued"))
    server.publish_all()
    assert server.publisher.study.ledger().spent == before
    assert steward.post(path, json={"approve": True}).status_code == 409
    assert program.post(path, json={"approve": True}).status_code == 403


def test_plans_and_answers_of_a_desk_take_bounded_memory() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(MemoryError), little_memory(1 << 30):
        bytearray(8 << 30)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    counter = Counter(60.0, 1 << 30, nice=0)
    for number in range(300):
        work = Work(f"{number}", "reading", (), "ann")
        counter.done(work, ("", "done"), size=1 << 20, seconds=0.0)
    assert sum(size for size, _ in counter._kept.values()) <= _KEPT_BYTES
    assert "299" in counter._kept


def test_what_a_page_shows_is_kept_by_no_cache_and_framed_by_nobody(server: Served) -> None:
    browser = server.browser("analyst")
    for path in ("/", "/ask", "/questions", "/releases", "/you", "/catalogue"):
        headers = browser.client.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["content-type"].startswith("text/html; charset=utf-8")
