"""The server as it is run: real processes on loopback, many analysts at once, kill -9, made-up requests.

`DISCREET_VALIDATION=full` races 200 analysts for room for 50 answers and soaks for ten minutes, killing one of the two
processes every minute; otherwise it is less.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.server import People, Queue
from discreet.server import _audit as audit
from discreet.server._client import ServerError
from discreet.server._keys import Keys
from discreet.server._roles import RIGHTS, Person
from discreet.server._schema import QueueError
from postgresql_server import WHY_MISSING, is_here
from postgresql_server import running as postgresql
from serving import CHEAP, PASSWORD, listening, served
from survey import STUDY, SURVEY

FULL = os.environ.get("DISCREET_VALIDATION") == "full"
ANALYSTS, ROOM, SOAK, KILL_EVERY = (200, 50, 600.0, 60.0) if FULL else (40, 8, 20.0, 8.0)
COST = "0.25"
SERVE = '[serve]\npolicy = "automatic"\nallowance = "1"\ntime_limit = 4\nvisible_after = 4.2\n'
PROGRAM = (sys.executable, "-c", "from discreet.cli import main; main(prog_name='discreet')")
DRAW: dict[str, object] = {
    "columns": ["fall"], "epsilon": COST, "label": "Falls", "prior": 1, "mechanism": "PosteriorSampling.truncated",
    "least": "0.01",
}  # fmt: skip


class Running:
    """A server that was started as its users start it."""

    def __init__(self, folder: Path, room: int) -> None:
        (folder / "survey.csv").write_text(SURVEY)
        limit = str(Fraction(COST) * room)
        (folder / "study.toml").write_text(STUDY.replace('epsilon = "2"', f'epsilon = "{limit}"', 1) + SERVE)
        self.study, self.log = dc.Study(folder / "study.toml"), folder / "log"
        with socket.create_server(("127.0.0.1", 0)) as free:  # several of these tests may run side by side
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        words = (*PROGRAM, "serve", str(folder / "study.toml"), "--address", self.address)
        with self.log.open("w") as written:
            self.process = subprocess.Popen(words, stdout=written, stderr=subprocess.STDOUT)
        while "/welcome/" not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        self.queue = Queue(folder / "study.serve" / "queue.db")

    def client(self, name: str, role: str = "analyst") -> dc.Client:
        """Return the client of somebody with an account."""
        people = People(self.queue, hasher=CHEAP)
        people.use_link(people.invite(name, role, "test"), PASSWORD)
        scopes = [scope for scope in ("read", "ask", "decide", "audit") if scope in RIGHTS[role]]
        token = Keys(self.queue).make_token(Person(name, role, RIGHTS[role]), "test", scopes, 1)[1]
        return dc.Client(f"http://{self.address}", token)

    def child(self, name: str) -> int:
        """Return the number of the front's or the publisher's process."""
        for place in Path("/proc").glob("[0-9]*"):
            try:
                parent = re.findall(r"PPid:\s+(\d+)", (place / "status").read_text())[0]
                words = (place / "cmdline").read_bytes()
            except OSError:
                continue  # it ended meanwhile
            if parent == str(self.process.pid) and f"serve-{name}".encode() in words:
                return int(place.name)
        return 0

    def memory(self) -> int:
        """Return the kilobytes of the process that answers: the innermost, as the outer ones only wait for it."""
        children: dict[str, str] = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                parent = re.findall(r"PPid:\s+(\d+)", (place / "status").read_text())[0]
                if b"serve-front" in (place / "cmdline").read_bytes():
                    children[parent] = place.name
            except OSError:
                continue  # it ended meanwhile
        found = str(self.process.pid)
        while found in children:
            found = children[found]
        return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{found}/status").read_text())[0])

    def kill(self, name: str) -> None:
        """Kill one of its processes, without a word of warning, once it is there."""
        while (child := self.child(name)) == 0:
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)


@contextmanager
def running(folder: Path, room: int) -> Iterator[Running]:
    found = Running(folder, room)
    try:
        yield found
    finally:
        found.process.send_signal(signal.SIGTERM)
        found.process.wait(60)
        found.queue.engine.dispose()


def patiently(work: "dc.Client", **keys: object) -> dict[str, object]:
    """Ask again, under the same key, until the front is there."""
    for _ in range(200):
        try:
            return work.ask({"kind": "probability", "event": "true"}, **keys)  # type: ignore[arg-type]
        except ServerError as problem:
            if problem.status not in (0, 429, 503):
                raise
            time.sleep(0.2)
    raise AssertionError("the front did not come back")


def test_analysts_who_race_for_room_get_exactly_what_there_is(tmp_path: Path) -> None:
    with running(tmp_path, ROOM) as server:
        clients = [server.client(f"a{number}") for number in range(ANALYSTS)]
        clients[0].plan({"kind": "probability", "event": "true"}, **DRAW)

        def race(client: dc.Client) -> tuple[str, float]:
            started = time.perf_counter()
            question = patiently(client, **DRAW, key="once")
            return str(question["id"]), time.perf_counter() - started

        started = time.perf_counter()
        with ThreadPoolExecutor(32) as pool:
            asked = list(pool.map(race, clients))
        took = time.perf_counter() - started
        times = np.array([seconds for _, seconds in asked])
        print(
            f"{ANALYSTS} questions in {took:.1f} s, {ANALYSTS / took:.0f} a second; "
            f"p50 {1000 * np.quantile(times, 0.5):.0f} ms, p95 {1000 * np.quantile(times, 0.95):.0f} ms"
        )
        states = [client.wait(name, 2000)["state"] for client, (name, _) in zip(clients, asked, strict=True)]
        assert states.count("answered") == ROOM
        assert states.count("refused") == ANALYSTS - ROOM
        ledger = server.study.ledger()
        assert ledger.remaining.document()["epsilon"] == "0"
        assert ledger.check() == 1 + 2 * ROOM
        assert audit.check(server.queue) > ANALYSTS


def test_front_and_publisher_are_killed_in_turn_and_nothing_is_lost_or_unpaid(tmp_path: Path) -> None:
    number = 6
    with running(tmp_path, 3 * number) as server:
        client = server.client("ann")
        ids = []
        for place in range(number):
            ids.append(str(patiently(client, **DRAW, key=f"k{place}")["id"]))
            assert patiently(client, **DRAW, key=f"k{place}")["id"] == ids[-1]
            time.sleep(0.7 * place)
            server.kill(("publisher", "front")[place % 2])
        steward = server.client("sam", "steward")
        for name in ids:  # beyond the allowance a steward decides
            while True:
                try:
                    if client.question(name)["state"] == "waiting":
                        steward.decide(name, True)
                    assert client.wait(name, 300)["state"] == "answered"
                    break
                except ServerError as problem:
                    if problem.status not in (0, 409, 503):
                        raise
                    time.sleep(0.2)
        ledger = server.study.ledger()
        kinds = [entry.kind for entry in ledger.entries()]
        print(f"{number} questions: {kinds.count('charge')} charges, {kinds.count('release')} releases")
        assert kinds.count("release") == number == len(client.releases())
        assert ledger.check() == len(kinds)
        for each in client.releases():
            assert dc.verify(client.release(str(each["id"])), ledger=ledger).epsilon <= 0.25


@pytest.mark.skipif(not is_here(), reason=WHY_MISSING)
def test_two_fronts_share_a_queue_and_a_ledger_on_a_server(tmp_path: Path) -> None:
    """Whoever asks at either front is answered by the one publisher; a front that is killed takes nothing with it."""
    with postgresql() as server, ExitStack() as stack:
        ledger = server.place()
        server.execute("CREATE ROLE front LOGIN")
        (tmp_path / "survey.csv").write_text(SURVEY)
        (tmp_path / "study.toml").write_text(STUDY.replace('ledger = "study.db"', f'ledger = "{ledger}"') + SERVE)
        study = str(tmp_path / "study.toml")
        words = ("serve-publisher", study, "--queue", server.address, "--front-role", "front")
        stack.enter_context(started(*words))
        queue = Queue(server.address)
        stack.callback(queue.engine.dispose)
        made(queue)
        told = server.address.replace("postgres@", "front@")
        addresses = [f"127.0.0.1:{port}" for port in (8766, 8767)]
        fronts = [stack.enter_context(started("serve-front", "--queue", told, "--address", at)) for at in addresses]
        for at in addresses:
            answering(at)
        people = People(queue, hasher=CHEAP)
        people.use_link(people.invite("ann", "analyst", "test"), PASSWORD)
        person = Person("ann", "analyst", RIGHTS["analyst"])
        token = Keys(queue).make_token(person, "test", ["read", "ask"], 1)[1]
        here, there = (dc.Client(f"http://{at}", token) for at in addresses)
        first = patiently(here, **DRAW, key="once")
        assert patiently(there, **DRAW, key="once")["id"] == first["id"]
        fronts[0].kill()
        assert there.wait(str(first["id"]), 60)["state"] == "answered"
        second = patiently(there, **{**DRAW, "label": "Falls again"}, key="twice")
        assert there.wait(str(second["id"]), 60)["state"] == "answered"
        assert dc.Study(study).ledger().check() == 5
        assert audit.check(queue) > 0


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([*PROGRAM, *words])
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def made(queue: Queue) -> None:
    for _ in range(300):
        try:
            return queue.require()
        except QueueError:  # a front refuses to start before
            time.sleep(0.1)
    raise AssertionError("the publisher made no queue")


def answering(address: str) -> None:
    host, port = address.split(":")
    for _ in range(300):
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nobody listens at {address}")


HEAVY: dict[str, object] = {"columns": ["age", "fall", "smoking"], "mechanism": "GeometricHistogram"}


def test_one_greedy_account_holds_up_nobody(tmp_path: Path) -> None:
    """One analyst sends plans as fast as the limit lets through; twenty others ask and read a release all the while."""
    seconds, number = (60.0, 20) if FULL else (15.0, 20)
    with running(tmp_path, 400) as server:
        greedy, others = server.client("greedy"), [server.client(f"a{each}") for each in range(number)]
        first = patiently(others[0], **DRAW, key="once")
        release = str(others[0].wait(str(first["id"]), 120)["release"])
        plain: dict[str, object] = {"columns": ["smoking"], "epsilon": "0.001"}
        others[0].reading(release)
        until = time.monotonic() + seconds
        refused: list[int] = []
        times: dict[str, list[float]] = {"ask": [], "read": []}

        def spoil(place: int) -> int:
            sent = 0
            while time.monotonic() < until:
                sent += 1
                try:
                    greedy.plan(**HEAVY, epsilon=f"0.{place}{sent:05}1", label="x")
                except ServerError as problem:
                    if problem.status not in (429, 503) or problem.seconds is None:
                        raise
                    time.sleep(0.2)
            return sent

        def work(place: int) -> None:
            turn = 0
            while time.monotonic() < until:
                turn += 1
                for name in times:
                    begun = time.perf_counter()
                    try:
                        if name == "ask":
                            others[place].ask(**plain, label=f"{place} {turn}")  # type: ignore[arg-type]
                        else:
                            others[place].reading(release, level=0.5 + 0.4 * (turn % 7) / 7)
                    except ServerError as problem:
                        refused.append(problem.status)
                    times[name].append(time.perf_counter() - begun)
                time.sleep(1.0)

        with ThreadPoolExecutor(8 + number) as pool:
            sent = [pool.submit(spoil, place) for place in range(8)]
            for done in [pool.submit(work, place) for place in range(number)]:
                done.result()
            plans = sum(each.result() for each in sent)
        for name, found in times.items():
            print(
                f"{name}: {len(found)} requests of {number} others beside {plans} plans of one account: p50 "
                f"{np.quantile(found, 0.5):.2f} s, p95 {np.quantile(found, 0.95):.2f} s"
            )
        assert not refused


def test_a_soak_with_kills_loses_nothing_and_memory_stays_flat(tmp_path: Path) -> None:
    with running(tmp_path, ROOM) as server:
        clients = [server.client(f"a{number}") for number in range(4)]
        asking = server.client("asker")
        end = time.monotonic() + SOAK
        asked: list[str] = []
        sizes: list[int] = []

        def look(client: dc.Client) -> int:
            done = 0
            while time.monotonic() < end:
                try:
                    client.budget()
                    client.questions()
                    done += 2
                except ServerError as problem:
                    if problem.status not in (0, 429, 503):
                        raise
                    time.sleep(0.2)
            return done

        def spend() -> None:
            while time.monotonic() < end and len(asked) < 3:
                asked.append(str(patiently(asking, **DRAW, key=f"k{len(asked)}")["id"]))
                time.sleep(KILL_EVERY / 3)

        def disturb() -> int:
            kills = 0
            while time.monotonic() < end - KILL_EVERY:
                time.sleep(KILL_EVERY)
                sizes.append(server.memory())
                server.kill(("front", "publisher")[kills % 2])
                kills += 1
            return kills

        with ThreadPoolExecutor(6) as pool:
            looking = [pool.submit(look, client) for client in clients]
            others = pool.submit(spend), pool.submit(disturb)
            done, kills = sum(each.result() for each in looking), (others[0].result(), others[1].result())[1]
        for name in asked:
            while True:
                try:
                    assert asking.wait(name, 120)["state"] == "answered"
                    break
                except ServerError as problem:
                    if problem.status not in (0, 503):
                        raise
                    time.sleep(0.2)
        kinds = [entry.kind for entry in server.study.ledger().entries()]
        print(
            f"{done} requests in {SOAK:g} s with {kills} kills; memory of the front before each "
            f"{', '.join(f'{size / 1024:.0f}' for size in sizes)} MB; {kinds.count('charge')} charges, "
            f"{kinds.count('release')} releases"
        )
        assert kinds.count("release") == len(asked)
        assert max(sizes) < 1.3 * min(sizes)


SCHEMATHESIS = Path(os.environ.get("SCHEMATHESIS", Path(sys.prefix) / "schemathesis"))
"""Where `make validate` puts it: apart, as it is a plug-in of pytest too."""


@pytest.mark.skipif(not SCHEMATHESIS.is_dir(), reason="No schemathesis: `make validate` installs it.")
@pytest.mark.parametrize("role", list(RIGHTS))
def test_requests_that_a_machine_makes_up_find_no_fault(tmp_path: Path, role: str) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    with served(tmp_path) as server, listening(server) as address:
        words = [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/api/1/openapi.json", "--checks", checks]
        words += ["-H", f"Authorization: Bearer {server.token(role)}", "--max-examples", "100" if FULL else "10"]
        words += ["--seed", "26", "--no-color", "--phases", "examples,coverage,fuzzing"]
        places = os.pathsep.join([str(SCHEMATHESIS), *sys.path])
        done = subprocess.run(
            words, env=os.environ | {"PYTHONPATH": places}, capture_output=True, text=True, check=False, cwd=tmp_path
        )
        print(f"{role}: " + done.stdout[-600:])
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert audit.check(server.queue) > 0
