"""The front as a process: what it may touch, how it is started, and many who ask at once."""

import json
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import discreet as dc
from discreet._core.documents import canonical_json
from discreet.cli._main import main
from discreet.cli._serve import saying
from discreet.server import Pair, People, Queue, ServerAddress, run_front
from discreet.server._client import ServerError
from discreet.server._confine import version
from discreet.server._schema import FRONT_RIGHTS, QueueError, audit, metadata
from discreet.server._start import first_link
from postgresql_server import WHY_MISSING, is_here, running
from serving import CHEAP, PASSWORD, Served, listening

STOLEN = """
import os, socket, sys
from pathlib import Path
from discreet.server._confine import confine
folder = Path(sys.argv[1])
assert confine(folder / "queue")
(folder / "queue" / "own").write_text("mine")
assert (folder / "queue" / "own").read_text() == "mine"
def tried(work):
    try:
        work()
    except OSError as problem:
        return type(problem).__name__
    return "done"
attempts = [
    lambda: (folder / "survey.csv").read_bytes(),
    lambda: (folder / "study.toml").read_bytes(),
    lambda: (folder / "study.db").read_bytes(),
    lambda: (folder / "study.db").open("ab"),
    lambda: os.truncate(folder / "study.db", 0),
    lambda: os.rename(folder / "study.db", folder / "queue" / "study.db"),
    lambda: os.link(folder / "study.db", folder / "queue" / "linked.db"),
    lambda: os.listdir(folder),
    lambda: (folder / "other.db").write_text("a new ledger"),
    lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 1),
    lambda: Path("/etc/passwd").read_bytes(),
]
print(*[tried(each) for each in attempts])
"""


REACHING = """
import os, signal, socket, sys
from pathlib import Path
from discreet.server._confine import confine
assert confine(Path(sys.argv[1]))
def tried(work):
    try:
        work()
    except PermissionError:
        return "refused"
    return "done"
child = os.fork()
if child == 0:
    signal.pause()
attempts = [
    lambda: os.kill(os.getppid(), 0),
    lambda: socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[2]),
    lambda: os.kill(child, signal.SIGKILL),
]
print(*[tried(each) for each in attempts])
"""


@pytest.mark.skipif(version() < 6, reason="This version of Landlock restricts neither signals nor abstract sockets.")
def test_a_stolen_front_reaches_no_other_process(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as place:
        place.bind("\0" + f"discreet-{tmp_path.name}-{os.getpid()}")
        place.listen()
        done = subprocess.run(
            [sys.executable, "-c", REACHING, str(tmp_path), place.getsockname()[1:].decode()],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stdout.split() == ["refused", "refused", "done"], done.stderr  # its own child it may end


@pytest.mark.skipif(version() == 0, reason="This kernel has no Landlock: the front is kept apart by users alone.")
def test_a_stolen_front_cannot_read_a_record_or_write_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    for name in ("survey.csv", "study.toml", "study.db"):
        (tmp_path / name).write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = str(place.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-c", STOLEN, str(tmp_path), port], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    refused = done.stdout.split()
    allowed_links = {"PermissionError", "OSError"}  # renaming across what is allowed is told as another device
    assert len(refused) == 11
    assert set(refused) <= allowed_links, refused
    assert (tmp_path / "study.db").read_text() == "secret"


def test_front_and_publisher_share_a_queue_by_their_group(tmp_path: Path) -> None:
    """Once SQLite made the file, which the group could only read: a front with a user of its own wrote nothing."""
    before = os.umask(0o007)  # as the units say
    try:
        queue = Queue(tmp_path / "queue.db")
        queue.create()
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        queue.engine.dispose()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("queue.db", "queue.db-shm", "queue.db-wal"), 0o660)


def draw(epsilon: str) -> dict[str, object]:
    return {"columns": ["fall"], "epsilon": epsilon, "label": "Falls", "prior": 1,
            "mechanism": "PosteriorSampling.truncated", "least": "0.01"}  # fmt: skip


@pytest.mark.parametrize("sent", ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "", "nonsense\r\n\r\n"])
def test_an_answer_that_breaks_off_is_told_in_words(sent: str) -> None:
    """So it happens when the front is stopped while it answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection = server.accept()[0]
            with connection:
                connection.recv(1000)
                connection.sendall(sent.encode())

        other = threading.Thread(target=answer)
        other.start()
        with pytest.raises(ServerError, match=r"broke off|does not answer"):
            dc.Client(f"http://127.0.0.1:{server.getsockname()[1]}", "token").budget()
        other.join()


def test_the_client_has_the_verbs_of_the_pages(server: Served) -> None:
    keys: dict[str, Any] = {"columns": ["smoking"], "epsilon": "0.25", "label": "Smoking"}
    with listening(server) as address:
        client, steward = (dc.Client(address, server.token(role)) for role in ("analyst", "steward"))
        assert client.study()["size"] == 6
        assert client.plan(**keys)["epsilon"] == "0.25"
        question = client.ask(**keys, key="k")
        assert client.ask(**keys, key="k")["id"] == question["id"]
        with pytest.raises(ServerError, match="still queued"):
            client.wait(str(question["id"]), 0.0)
        server.publish_all()
        done = client.wait(str(question["id"]))
        release = client.release(str(done["release"]))
        assert release.label == "Smoking"
        assert client.verify(release)["epsilon"] == "0.25"
        assert client.reading(str(done["release"]), 0.5)["level"] == 0.5
        assert [each["id"] for each in client.releases()] == [done["release"]]
        assert [each["id"] for each in client.questions("answered")] == [question["id"]]
        waiting = client.ask(columns=["smoking"], epsilon="1.6", label="Much")
        assert steward.decide(str(waiting["id"]), False, "Too much.")["state"] == "declined"
        with pytest.raises(ServerError, match="already declined"):
            client.withdraw(str(waiting["id"]))
        assert steward.audit()[0]["what"] == "declined"
        assert client.budget()["currency"] == "epsilon"
        with pytest.raises(ServerError, match="right 'audit'") as refusal:
            client.audit()
        assert refusal.value.status == 403
    with pytest.raises(ServerError, match="does not answer"):
        client.budget()


@pytest.mark.parametrize("address", ["http://data.example", "ftp://data.example", "data.example"])
def test_a_token_is_not_sent_in_the_clear(address: str) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Client(address, "secret")
    assert "secret" not in repr(dc.Client("https://data.example", "secret"))


def test_many_who_race_for_little_room_get_just_what_there_is(server: Served) -> None:
    """Twelve at once for room for five; validation has two hundred for fifty, over HTTP."""
    for number in range(12):
        server.join(f"racer{number}", "analyst")
    person = server.person("analyst")

    def race(number: int) -> str:
        client = server.client()
        racer = type(person)(f"racer{number}", "analyst", person.rights)
        client.headers["authorization"] = f"Bearer {server.front.keys.make_token(racer, 't', ['ask'], 1)[1]}"
        body = {"question": draw("0.4"), "query": {"kind": "probability", "event": "true"}}
        return str(client.post("/api/1/questions", json=body).json()["state"])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(race, range(12))) == ["queued"] * 12
    server.publish_all()
    states = [each.state for each in server.front.questions.seen_by(server.person("steward"))]
    assert sorted(states) == ["answered"] * 5 + ["refused"] * 7
    ledger = server.publisher.study.ledger()
    assert ledger.spent.document()["epsilon"] == "2"
    assert ledger.check() == 11


DESKS = """
import json, sys
from pathlib import Path
from discreet._core.errors import DiscreetError
from discreet.server._confine import confine
from discreet.server._desk import Customer, Desk
if __name__ == "__main__":
    confine(Path(sys.argv[1]))
    study, keys = json.load(sys.stdin)
    ann = Customer("ann")
    def told(desk, *question):
        try:
            return desk.ask(ann, *question)
        except DiscreetError as problem:
            return str(problem)
    desk = Desk(seconds=60)
    found = told(desk, "plan", study, keys)
    print(found["epsilon"])
    del keys["question"]["label"]
    print(told(desk, "plan", study, keys))
    desk.slow.seconds = -1.0  # no time at all
    print(told(desk, "verification", "[[0]]"))
    desk.slow.seconds, keys["question"]["label"] = 60.0, "Smoking"
    print(told(desk, "plan", study, keys) == found, len(desk.quick._kept), len(desk.slow._kept))
    small = Desk(seconds=60, memory=1 << 20)
    print(told(small, "verification", "[" + "0," * 4_000_000 + "0]"))
    small.close()
    told(desk, "verification", "[2]")  # its process runs from here on
    (server,) = desk.slow._servers
    process = server._process
    process.is_alive = lambda: True
    process.kill()
    process.join()
    print(told(desk, "verification", "[]"))
    print(told(desk, "verification", "[1]"))
    desk.close()
"""


def test_the_desk_of_a_confined_front_works_apart_and_ends_what_takes_too_much(server: Served, tmp_path: Path) -> None:
    """Once the limit of memory was worked out from a file that a confined desk cannot read: no plan was ever shown."""
    (tmp_path / "queue").mkdir()
    keys = {"question": {"columns": ["smoking"], "epsilon": "0.25", "label": "Smoking"}}
    done = subprocess.run(
        [sys.executable, "-c", DESKS, str(tmp_path / "queue")], input=canonical_json([server.front.study, keys]),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plan, refusal, late, known, large, ended, again = done.stdout.splitlines()
    assert plan == "0.25"
    assert "needs a label" in refusal
    assert "CPU seconds that a server spends on it, so it was stopped" in late
    assert known == "True 2 0"  # the plan and the refusal are known, and what took too long may be tried again
    assert "more memory than a server allows" in large
    assert "end of the process that computes plans and posteriors" in ended
    assert "nforeseen" not in again  # the next one has a new process


@pytest.mark.parametrize(
    ("reached", "words"),
    [
        (ServerAddress("0.0.0.0:8000"), "behind a proxy with TLS"),
        (ServerAddress("10.0.0.7:8000", "http://data.example", ("10.0.0.5",)), "behind a proxy with TLS"),
        (ServerAddress("127.0.0.1:8000", None, (), "X-Remote-User"), "needs --proxy"),
        (ServerAddress("127.0.0.1"), "an IP address and a port"),
        (ServerAddress("data.example:80"), "an IP address and a port"),
        (ServerAddress("127.0.0.1:8000", None, ("here",)), "address or a network"),
    ],
)
def test_a_front_is_not_started_where_it_would_be_seen_in_the_clear(reached: ServerAddress, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        reached.settings(8000)


def test_both_processes_are_started_apart(tmp_path: Path) -> None:
    pair = Pair(tmp_path / "study.toml", "queue.db", ServerAddress(), None, None, print)
    front = " ".join(pair.commands()["front"])
    assert "study.toml" not in front
    assert "study.toml" in " ".join(pair.commands()["publisher"])


def test_a_first_steward_is_given_a_link_until_somebody_has_used_it(tmp_path: Path) -> None:
    queue = Queue(tmp_path / "queue.db")
    with pytest.raises(QueueError, match="There is no queue"):
        queue.require()
    queue.create()
    assert first_link(queue) is not None
    link = first_link(queue)
    assert link is not None
    people = People(queue, hasher=CHEAP)
    with pytest.raises(dc.DeclarationError, match="name must have"):
        people.use_link(link, PASSWORD)
    assert people.use_link(link, PASSWORD, chosen="anna") == "anna"
    assert [(each.name, each.role) for each in people.all()] == [("anna", "steward")]
    assert first_link(queue) is None
    queue.engine.dispose()


@pytest.mark.skipif(not is_here(), reason=WHY_MISSING)
def test_on_a_server_the_front_has_the_rights_of_a_front_and_no_others(tmp_path: Path) -> None:
    with running() as server:
        base = server.address
        place = base.replace("postgres@", "front@")
        admin = Queue(base)
        with admin.write_transaction() as connection:
            connection.exec_driver_sql("CREATE ROLE front LOGIN")
        admin.create("front")
        admin.create("front")  # again, as at every start
        with admin.write_transaction() as connection:
            connection.exec_driver_sql("CREATE TABLE entries (sequence BIGINT)")  # a ledger in the same database
        front = Queue(place)
        people = People(front, hasher=CHEAP)
        people.use_link(people.invite("ann", "analyst", "test"), PASSWORD)
        people.check("ann", PASSWORD)
        assert set(FRONT_RIGHTS) == set(metadata.tables)
        for statement in (
            "INSERT INTO facts VALUES ('budget', '{}')", "DELETE FROM releases", "DELETE FROM questions",
            "UPDATE audit SET what = 'x'", "DELETE FROM audit", "TRUNCATE audit", "DROP TABLE sessions",
            "INSERT INTO entries VALUES (1)", "SELECT * FROM entries", "ALTER TABLE audit DISABLE TRIGGER ALL",
        ):  # fmt: skip
            with pytest.raises(QueueError), front.write_transaction() as connection:
                connection.exec_driver_sql(statement)
        with front.read_transaction() as connection:
            assert len(connection.execute(select(audit)).all()) == 2
        for queue in (front, admin):
            queue.engine.dispose()


def test_commands_refuse_in_words_and_start_nothing(tmp_path: Path, server: Served) -> None:
    run, queue = CliRunner(), str(server.folder / "queue.db")
    study = str(server.folder / "study.toml")
    for words, said in (
        (["serve", str(tmp_path / "none.toml")], "There is no study file"),
        (["serve", study, "--address", "0.0.0.0:80"], "behind a proxy with TLS"),
        (["serve-front", "--queue", str(tmp_path / "nowhere" / "queue.db")], "no folder"),
        (["serve-account", "ann", "--role", "analyst", "--queue", queue], "already"),
        (["serve-account", "a b", "--role", "analyst", "--queue", queue], "An account's name"),
    ):
        done = run.invoke(main, words)
        assert done.exit_code == 1, words
        assert said in " ".join(done.output.split()), (words, done.output)
    made = run.invoke(main, ["serve-account", "zoe", "--role", "steward", "--queue", queue])
    link = made.output.split("/welcome/")[1].strip()
    assert People(server.queue, hasher=CHEAP).link_account(link) == "zoe"
    told = json.loads(
        run.invoke(main, ["serve-account", "yan", "--role", "auditor", "--queue", queue, "--json"]).output
    )
    assert (told["name"], told["role"]) == ("yan", "auditor")
    assert People(server.queue, hasher=CHEAP).link_account(told["path"].removeprefix("/welcome/")) == "yan"


@pytest.mark.parametrize(
    ("is_alone", "landlock", "said"),
    [
        (False, 0, ["no namespaces", "no Landlock"]), (False, 3, ["no namespaces", "too old to restrict"]),
        (False, 4, ["no namespaces"]), (True, 0, []), (True, 4, []),
    ],
)  # fmt: skip
def test_a_front_says_what_the_system_cannot_forbid_it(
    is_alone: bool, landlock: int, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, heard = Queue(tmp_path / "queue.db"), list[str]()
    queue.create()
    monkeypatch.setattr("discreet.server._start.version", lambda: landlock)
    monkeypatch.setattr("discreet.server._start.confine", lambda *_: landlock > 0)
    monkeypatch.setattr("discreet.server._start.may_isolate", lambda *_: is_alone)
    monkeypatch.setattr("discreet.server._start.isolate", lambda *_: None)
    monkeypatch.setattr("uvicorn.Server.run", lambda _, sockets: sockets[0].close())
    run_front(str(tmp_path / "queue.db"), ServerAddress("127.0.0.1:0"), heard.append)
    assert len(heard) == len(said)
    assert all(words in each for words, each in zip(said, heard, strict=True))
    queue.engine.dispose()


def test_a_process_that_goes_on_says_each_thing_as_one_json_document() -> None:
    run = CliRunner()
    done = run.invoke(main, ["serve-front", "--queue", "nowhere.db", "--json"])
    assert json.loads(done.output)["exit_code"] == done.exit_code != 0
    heard: list[str] = []
    with run.isolation() as (out, *_):
        saying(True, heard.append)("listening")
        assert json.loads(out.getvalue()) == {"said": "listening"}
    saying(False, heard.append)("listening")
    assert heard == ["listening"]
