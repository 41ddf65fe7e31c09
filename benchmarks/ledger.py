"""What a ledger takes: charge, publish and verify from ten entries to a million, beside a bare durable insert.

    python benchmarks/ledger.py                         in a file, at 10, 1,000, 100,000 and 1,000,000 entries
    python benchmarks/ledger.py --server                on a private PostgreSQL server
    python benchmarks/ledger.py --sizes 10,1000,100000

The growth exponent is the slope of log(time) over log(entries). The bare insert puts the same bytes into a table of the
same database in one durable transaction, on a connection that stays open; it takes turns with the charges. The release
that is verified is the oldest one, which has the longest path. Eight processes are held against one, and so are bare
inserts that take the same kind of lock and look at the newest entry: what handing on a lock costs on this machine.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import record

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import discreet as dc
from discreet._core.documents import canonical_json
from discreet._core.exact import exact_text
from discreet.ledger import Entry, ServerChain
from discreet.ledger._chain import chain_digest, digests_at, linked, newest
from discreet.ledger._schema import NEWEST
from discreet.privacy import read_amount
from discreet.release import mechanism_document

if TYPE_CHECKING:
    from sqlalchemy import Engine

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
SECRET = COIN.statistics({"x": ["no", "yes", "yes"]})
MECHANISM = dc.GeometricHistogram(COIN, size=3, epsilon=1)
FORK = multiprocessing.get_context("fork")
_AT_A_TIME = 20_000
SECONDS = 8  # of charges that several processes make together
WARM = 6  # times that something is done before it is timed: a driver prepares a statement when it comes again


def grow(ledger: dc.Ledger, entries: int) -> None:
    """Append copies of the newest charge until a ledger has so many entries: sums included, in few transactions."""
    pattern = next(entry for entry in reversed(ledger.entries()[-4:]) if entry.kind == "charge").body
    while (head := ledger.head).sequence < entries:
        with ledger._chain.write_transaction() as connection:
            digests, spent = _Digests(connection, head), read_amount(head.body["spent"]).epsilon
            rows = []
            for number in range(head.sequence + 1, min(entries, head.sequence + _AT_A_TIME) + 1):
                spent += MECHANISM.guarantee.epsilon
                sums = {"epsilon": exact_text(spent), "delta": "0"}
                body: Any = {**pattern, "nonce": f"{number:032x}", "spent": sums, "shares": {"": sums}}
                body["back"] = [digests[each] for each in linked(number)]
                text, before = canonical_json(body), digests[number - 1]
                digests[number] = chain_digest(number, text, before)
                rows.append((number, canonical_json(body["spent"]), before, digests[number], text))
            columns = "(sequence, spent, previous, digest, body)"
            marks = ", ".join(["?" if connection.dialect.name == "sqlite" else "%s"] * 5)
            connection.exec_driver_sql(f"INSERT INTO entries {columns} VALUES ({marks})", rows)


class _Digests(dict[int, str]):
    """The hashes of entries: those just made, and those that are looked up."""

    def __init__(self, connection: Any, head: Entry) -> None:
        super().__init__({head.sequence: head.digest})
        self._connection = connection

    def __missing__(self, number: int) -> str:
        (self[number],) = digests_at(self._connection, [number])
        return self[number]


def timed(work: Callable[[], object], times: int) -> float:
    """Return the median time of some work, in milliseconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        found.append((time.perf_counter() - started) * 1000)
    return median(found)


def _plain(ledger: dc.Ledger) -> "Engine":
    """Return the way to a ledger's database that any program takes: begin, insert, commit."""
    chain = ledger._chain
    if isinstance(chain, ServerChain):
        return chain._engine().execution_options(isolation_level="READ COMMITTED")
    return chain._files


@contextmanager
def bare(ledger: dc.Ledger, in_turn: bool = False) -> Iterator[Callable[[], None]]:
    """Give a bare durable insert of the bytes of an entry, into a table of the same database.

    In turn, it takes a lock first and looks at the newest entry, as every ledger must that several processes share.
    """
    with ledger._chain.read_transaction() as connection:
        entry = newest(connection)
    row = {"body": canonical_json(entry.body), "previous": entry.previous, "digest": entry.digest}
    with _plain(ledger).connect() as connection:
        is_file = connection.dialect.name == "sqlite"
        if is_file:
            connection.exec_driver_sql("PRAGMA synchronous = EXTRA")
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS bare (body TEXT, previous TEXT, digest TEXT)")
        connection.commit()
        marks = "?, ?, ?" if is_file else "%s, %s, %s"

        def insert() -> None:
            if is_file:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            if in_turn:
                connection.exec_driver_sql("SELECT 1" if is_file else "SELECT pg_advisory_xact_lock(1, 2)")
                connection.exec_driver_sql(NEWEST).one()
            connection.exec_driver_sql(f"INSERT INTO bare VALUES ({marks})", tuple(row.values()))
            connection.commit()

        yield insert


def measured(ledger: dc.Ledger, release: dc.Release, times: int) -> dict[str, float]:
    """Return what each step takes, in milliseconds."""
    charge = MECHANISM.guarantee
    document = mechanism_document(MECHANISM)

    def pay() -> None:
        ledger.charge(charge, "charged", document)

    with bare(ledger) as insert:
        for _ in range(WARM):
            insert()
            pay()
        turns = [(timed(insert, 1), timed(pay, 1)) for _ in range(times)]
    return {
        "bare insert": median(first for first, _ in turns),
        "charge": median(second for _, second in turns),
        "publish": timed(lambda: dc.publish(MECHANISM, SECRET, ledger, "published"), times),
        "verify": timed(lambda: dc.verify(release, ledger=ledger), times),
        "look up": timed(lambda: ledger.charge_of(*_receipt(release)), times),
    }


def _receipt(release: dc.Release) -> tuple[int, str]:
    assert release.receipt is not None
    return release.receipt.sequence, release.receipt.head


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the slope of log(time) over log(entries)."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _charge_often(address: str, number: int, ready: Any) -> None:
    ledger = dc.Ledger.open(address)
    for turn in range(WARM + number):
        if turn == WARM:
            ready.wait()
        ledger.charge(MECHANISM.guarantee, "charged", {"kind": "none"})


def _insert_often(address: str, number: int, ready: Any) -> None:
    with bare(dc.Ledger.open(address), in_turn=True) as insert:
        for turn in range(WARM + number):
            if turn == WARM:
                ready.wait()
            insert()


def throughput(work: Callable[[str, int, Any], None], address: str, processes: int, number: int) -> float:
    """Return how many times a second some processes do some work together, `number` times in all."""
    ready = FORK.Barrier(processes + 1)
    share = number // processes
    working = [FORK.Process(target=work, args=(address, share, ready)) for _ in range(processes)]
    for process in working:
        process.start()
    ready.wait()
    started = time.perf_counter()
    for process in working:
        process.join()
    assert all(process.exitcode == 0 for process in working)
    return number / (time.perf_counter() - started)


@contextmanager
def place(server: bool) -> Iterator[str]:
    """Give room for a ledger: a file, or a private server."""
    if server:
        from postgresql_server import running

        with running(durable=True) as found:
            yield found.place()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "ledger.db")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--server", action="store_true")
    asked.add_argument("--sizes", default="10,1000,100000,1000000")
    asked.add_argument("--times", type=int, default=15)
    asked.add_argument("--turns", type=int, default=5, help="how often one process and eight take turns")
    asked.add_argument("--json", type=Path, help="write the figures into a file too")
    given = asked.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with place(given.server) as address:
        ledger = dc.Ledger.create(address, epsilon=10**8)
        release = dc.publish(MECHANISM, SECRET, ledger, "the oldest")
        for _ in range(3):
            dc.publish(MECHANISM, SECRET, ledger, "published")
        found: dict[int, dict[str, float]] = {}
        print(f"{'entries':>10} {'bare insert':>12} {'charge':>9} {'publish':>9} {'verify':>9} {'look up':>9}  ms")
        for size in sizes:
            grow(ledger, size)
            found[size] = figures = measured(ledger, release, given.times)
            print(f"{size:>10} " + " ".join(f"{figures[n]:>{max(9, len(n) + 1)}.2f}" for n in figures), flush=True)
        for name in ("charge", "publish", "verify", "look up"):
            print(f"growth exponent of {name}: {exponent(sizes, [found[size][name] for size in sizes]):.3f}")
        where = "on a server" if given.server else "in a file"
        for size in sizes:
            mine, insert = found[size]["charge"], found[size]["bare insert"]
            bare, goal = f"bare insert {insert:.2f} ms", "at most 3 bare inserts"
            record(f"charge {where}, {size:,} entries", mine, "ms", bare, goal, mine > 3 * insert)
            record(f"publish {where}, {size:,} entries", found[size]["publish"], "ms")
        worst = max(found[size]["charge"] / found[size]["bare insert"] for size in sizes)
        print(f"charge, in bare inserts: at most {worst:.2f}")
        ways = [(work, processes) for work in (_charge_often, _insert_often) for processes in (1, 8)]
        in_time = int(SECONDS / 8 / found[sizes[-1]]["charge"] * 1000)  # disks differ by a factor of 20
        often = 8 * max(20, min(300, in_time))
        turns = [[throughput(work, address, processes, often) for work, processes in ways] for _ in range(given.turns)]
        one, eight, bare_one, bare_eight = map(median, zip(*turns, strict=True))
        record(f"charges a second {where}, eight processes", eight, "1/s", f"one process {one:.0f}")
        print(f"charges a second: one process {one:.0f}, eight together {eight:.0f}: {eight / one:.2f}")
        print(f"bare inserts in turn: one {bare_one:.0f}, eight together {bare_eight:.0f}: {bare_eight / bare_one:.2f}")
        started = time.perf_counter()
        if sizes[-1] <= 100_000:
            print(f"check of all {ledger.check()} entries: {time.perf_counter() - started:.1f} s")
        if given.json is not None:
            given.json.write_text(json.dumps({"sizes": found, "a second": turns}))


if __name__ == "__main__":
    main()
