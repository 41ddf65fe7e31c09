"""The publisher: takes questions from the queue one after the other and answers them through `publish`.

Every question has a time slot of the same length, `visible_after`. A separate process counts the records and draws the
output; it is ended at the public `time_limit`, whatever it is doing. The outcome is written to the queue when the slot
ends, and the next slot begins then, so every time that can be observed follows from public facts alone. A question that
is refused because of public facts takes no slot. That a question exceeded its time limit can be observed; no further
question is then taken until a steward has acknowledged it.

A question is published under a name that is computed from what it asks. So whatever crashes in between, it is charged
and answered once: a question that was running is taken again, and a release that is on record is returned again. The
front is not trusted: whatever it wrote is read as untrusted input.
"""

import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from discreet._core.documents import canonical_json, digest_of
from discreet._core.errors import BudgetError, DeclarationError, DiscreetError, LedgerError, SourceError
from discreet._core.exact import exact_text
from discreet.ledger import Ledger, SigningKey, shortfall
from discreet.privacy import Accountant, Concentrated, cost_of, zcdp_cost
from discreet.release import Release
from discreet.server._audit import PUBLISHER, note
from discreet.server._facts import ALIVE, BUDGET, STUDY, budget_of, fact_of, write_fact
from discreet.server._people import Clock
from discreet.server._queries import answer_of
from discreet.server._questions import (
    ANSWERED,
    FAILED,
    JOINED,
    QUEUED,
    REFUSED,
    RUNNING,
    WAITING,
    QueuedQuestion,
    Read,
    read_declaration,
    used,
)
from discreet.server._schema import Queue, questions, releases
from discreet.server._slot import Outcome, in_a_process, little_memory
from discreet.study import Study

WITHHELD = "It could not be published. The reason is withheld here: a steward finds it in the publisher's output."
OVERRUN = "It took longer than the public time limit and was stopped. A steward has to look at it."
_EVERY = 5.0  # seconds between signs of life (heartbeats)

Slot = Callable[[Callable[[], None], float], Outcome]


class Publisher:
    """Holds the records and the ledger, and answers the questions of a queue."""

    def __init__(
        self,
        study: str | Path,
        queue: Queue,
        key: SigningKey | None = None,
        clock: Clock = time.time,
        sleep: Callable[[float], None] = time.sleep,
        slot: Slot = in_a_process,
        report: Callable[[str], None] = lambda words: None,
        monotonic: Clock = time.monotonic,
    ) -> None:
        self.study, self.queue, self.key = Study(study), queue, key
        self.clock, self._sleep, self._slot, self._report = clock, sleep, slot, report
        self._monotonic = monotonic
        self._told_at = -_EVERY

    def prepare(self, front: str | None = None) -> None:
        """Create the queue if there is none, open the ledger, and tell the front what the study declares."""
        self.queue.create(front)
        ledger = self.study.ledger()
        with self.queue.write_transaction() as connection:
            write_fact(connection, STUDY, self.study.public_document())
            write_fact(connection, BUDGET, budget_of(ledger))
            write_fact(connection, ALIVE, {"at": self.clock()})
            note(
                connection, self.clock(), PUBLISHER, "publisher started", f"entry {ledger.head.sequence} of the ledger"
            )

    def run(self, poll: float = 0.2, is_over: Callable[[], bool] = lambda: False) -> None:
        """Answer questions until `is_over` says so."""
        while not is_over():
            if not self.step():
                self._live()
                self._sleep(poll)

    def _live(self) -> None:
        """Report now and then that the publisher is running, and what others have charged in the meantime."""
        if self._monotonic() - self._told_at < _EVERY:
            return
        self._told_at, ledger = self._monotonic(), self.study.ledger()
        head = fact_of(self.queue, BUDGET).get("head")
        moved = not isinstance(head, dict) or head.get("digest") != ledger.head.digest
        with self.queue.write_transaction() as connection:
            write_fact(connection, ALIVE, {"at": self.clock()})
            if moved:
                write_fact(connection, BUDGET, budget_of(ledger))

    def step(self) -> bool:
        """Take one question, if there is one, and finish it; tell whether there was one."""
        if (asked := self._next()) is None:
            return False
        try:
            read = self._read(asked)
            if self._is_beyond_allowance(asked, read):
                self._wait_for_steward(asked)
                return True
            request = self._request(asked, read)
            ledger = self.study.ledger()
            if not ledger.is_answered(request):
                self._require_room(ledger, read)
            elif asked.state == QUEUED:
                self._finish(asked, ANSWERED, read, request, "It was published before: nothing was charged.", free=True)
                return True
        except DiscreetError as problem:
            self._finish(asked, REFUSED, None, "", self._words(problem))
            return True
        self._in_slot(asked, read, request)
        return True

    def _read(self, asked: QueuedQuestion) -> Read:
        """Read a question, first in another process: one that takes too long there, or crashes it, is refused."""
        limit = self.study.serving.time_limit

        def trial() -> None:
            with little_memory():
                read_declaration(self.study, asked.keys)

        tried = self._slot(trial, limit)
        if tried.problem is not None:
            raise tried.problem
        if tried.is_silent or tried.is_overrun:
            raise DeclarationError("This question could not be read. Nothing was published and nothing was charged.")
        return read_declaration(self.study, asked.keys)

    def _in_slot(self, asked: QueuedQuestion, read: Read, request: str) -> None:
        """Give a question its slot: whatever happens in it, the outcome can be seen only at its end.

        How long it lasts goes by a monotonic clock, which nobody can set; the time of day is only written down.
        """
        serving = self.study.serving
        begun, until = self.clock(), self._monotonic() + serving.visible_after  # a whole slot, if it is taken again
        with self.queue.write_transaction() as connection:
            mine = update(questions).where(questions.c.number == asked.number)
            connection.execute(mine.values(state=RUNNING, begun_at=begun))
            note(connection, begun, PUBLISHER, "begun", f"{asked.id}: {asked.label}")

        def publish() -> None:
            self.study.publish_question(read.question, request)

        outcome = self._slot(publish, serving.time_limit)
        self._sleep(max(0.0, until - self._monotonic()))
        ledger = self.study.ledger()
        if ledger.is_answered(request):
            self._finish(asked, ANSWERED, read, request, "")
            return
        charged = ledger.is_charged(request)
        words = OVERRUN if outcome.is_overrun else self._words(outcome.problem)
        state = REFUSED if isinstance(outcome.problem, BudgetError) else FAILED
        self._finish(asked, state, read, request, words, charged=charged, overrun=outcome.is_overrun)

    def _finish(
        self, asked: QueuedQuestion, state: str, read: Read | None, request: str, words: str,
        *, charged: bool = False, overrun: bool = False, free: bool = False,
    ) -> None:  # fmt: skip
        """Write down the outcome of a question, in one transaction with the budget and the audit log."""
        now, ledger = self.clock(), self.study.ledger()
        values: dict[str, object] = {"state": state, "words": words, "visible_at": now, "is_overrun": int(overrun)}
        values["is_charged"] = int(charged or (state == ANSWERED and not free))
        release = None
        if state == ANSWERED and read is not None:
            release = self._recorded(ledger, request)
            values["release"] = digest_of(release.unsigned())
            if read.query is not None:
                values["answer"] = canonical_json(answer_of(release, read.query))
        with self.queue.write_transaction() as connection:
            if release is not None:
                known = select(releases.c.id).where(releases.c.id == values["release"])
                if connection.execute(known).one_or_none() is None:
                    connection.execute(insert(releases).values(**self._row(release, asked, now)))
            connection.execute(update(questions).where(questions.c.number == asked.number).values(**values))
            self._finish_equal(connection, asked, values)
            write_fact(connection, BUDGET, budget_of(ledger))
            write_fact(connection, ALIVE, {"at": now})
            note(connection, now, PUBLISHER, state, f"{asked.id}: {asked.label}")
        self._told_at = self._monotonic()

    def _finish_equal(self, connection: Connection, asked: QueuedQuestion, values: dict[str, object]) -> None:
        """Give equal questions the same outcome, uncharged: those that joined; an answer also to those that wait."""
        states = (JOINED, WAITING) if values["state"] == ANSWERED else (JOINED,)
        equal = update(questions).where(questions.c.canonical == asked.canonical, questions.c.state.in_(states))
        if asked.canonical:
            words = "Answered together with an equal question: nothing was charged."
            changed = {name: values[name] for name in ("state", "visible_at", "release") if name in values}
            words = words if values["state"] == ANSWERED else str(values["words"])
            connection.execute(equal.values(**changed, words=words, is_charged=0, is_overrun=0))

    def _recorded(self, ledger: Ledger, request: str) -> Release:
        """Return the release that the ledger holds under this name, signed if the holder has a key."""
        entry = ledger.answered(request)
        if entry is None:
            raise LedgerError("A release that was on record is no longer there.")
        release = Release.from_json(ledger.releases(entry.sequence)[0])
        return release if self.key is None else release.signed(self.key)

    def _row(self, release: Release, asked: QueuedQuestion, now: float) -> dict[str, object]:
        return {
            "id": digest_of(release.unsigned()), "number": asked.number, "label": release.label,
            "mechanism": type(release.mechanism).__name__, "epsilon": exact_text(release.guarantee.epsilon),
            "delta": exact_text(release.guarantee.delta), "visible_at": now, "document": release.to_json(),
        }  # fmt: skip

    def _request(self, asked: QueuedQuestion, read: Read) -> str:
        """Return the name under which a question is charged: from what it asks; for a fresh draw, from its own id."""
        return f"asked {asked.id}" if read.query is not None else self.study.asked_request(read.question)

    def _next(self) -> QueuedQuestion | None:
        """Return the question that was running when the publisher stopped, else the oldest; None after an overrun."""
        open_states = select(questions).where(questions.c.state.in_((RUNNING, QUEUED)))
        first = open_states.order_by(questions.c.state.desc(), questions.c.number).limit(1)
        with self.queue.read_transaction() as connection:
            overrun = connection.execute(select(questions.c.number).where(questions.c.is_overrun == 1).limit(1))
            if overrun.one_or_none() is not None:
                return None
            row = connection.execute(first).one_or_none()
        return None if row is None else QueuedQuestion(**row._mapping)

    def _is_beyond_allowance(self, asked: QueuedQuestion, read: Read) -> bool:
        """Return whether a question that no steward approved needs one after all: the front's word is not enough."""
        if asked.decided_by is not None:
            return False
        with self.queue.read_transaction() as connection:
            mine = select(questions).where(questions.c.account == asked.account)
            own = [QueuedQuestion(**row._mapping) for row in connection.execute(mine)]
        serving = self.study.serving
        before = used(own, asked.number)
        return not serving.is_automatic or before + read.cost.epsilon > serving.allowance

    def _wait_for_steward(self, asked: QueuedQuestion) -> None:
        with self.queue.write_transaction() as connection:
            connection.execute(update(questions).where(questions.c.number == asked.number).values(state=WAITING))
            note(connection, self.clock(), PUBLISHER, "waits for a steward", f"{asked.id}: {asked.label}")

    def _require_room(self, ledger: Ledger, read: Read) -> None:
        """Refuse what exceeds the budget before any record is read; in the end the ledger decides, under its lock."""
        if ledger.accountant is Accountant.METRIC:
            return
        rows = self.study.unit.rows
        concentrated = Concentrated(*zcdp_cost(read.question.mechanism, rows))
        cost = cost_of(ledger.accountant, read.cost, concentrated)
        spent, limit = ledger.spent, ledger.limit
        if not limit.covers(spent + cost):
            raise BudgetError(shortfall(read.question.label, cost, spent, limit, "the ledger", rows, None))

    def _words(self, problem: object) -> str:
        """Return what may be said about a problem; those who ask need not know where files are."""
        if not isinstance(problem, DiscreetError) or isinstance(problem, SourceError | LedgerError):
            self._report(str(problem) if isinstance(problem, DiscreetError) else "A question ended without an answer.")
            return WITHHELD
        words = str(problem)
        places = [self.study.ledger_place, self.study.path, *self.study.data_paths, self.study.path.parent]
        for place in sorted(map(str, places), key=len, reverse=True):
            words = words.replace(place, "(place withheld)") if len(place) > 1 else words
        return words
