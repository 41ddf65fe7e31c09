"""Questions in the queue: asked by analysts, decided by a policy or a steward, taken by the publisher one by one.

    waiting -> queued -> running -> answered | refused | failed
    waiting -> declined | withdrawn
    joined -> what becomes of the equal question that came first; waiting, if that one is declined or withdrawn

A question is a declaration and never code. An idempotency key belongs to one account: sent again with the same
question it finds that question, and with another question it is refused.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlalchemy import Connection, Update, bindparam, func, insert, select, update

from discreet._core.documents import canonical_json, digest_of, read_json
from discreet._core.errors import BudgetError, DeclarationError
from discreet._core.exact import exact_text
from discreet.privacy import Guarantee, left_text, spent_text
from discreet.records import is_text
from discreet.release import NO_READING, is_label
from discreet.server._audit import note
from discreet.server._people import Clock
from discreet.server._queries import read_query, require_draw
from discreet.server._roles import ANALYST, Person
from discreet.server._schema import Queue, questions
from discreet.study import Declarations, Question

WAITING, DECLINED, WITHDRAWN = "waiting", "declined", "withdrawn"
QUEUED, RUNNING, ANSWERED, REFUSED, FAILED = "queued", "running", "answered", "refused", "failed"
JOINED = "joined"
STATES = (WAITING, JOINED, QUEUED, RUNNING, ANSWERED, REFUSED, FAILED, DECLINED, WITHDRAWN)
OPEN = (WAITING, JOINED, QUEUED, RUNNING)
JOINED_WORDS = "An equal question came before this one. Both get the same outcome, and only one of them is charged."
MOST_OPEN = 100  # questions of one account that wait or are being answered
MOST_A_DAY = 500  # questions that one account may ask within a day, including those that were withdrawn
_DAY = 86_400.0
_OF_ACCOUNT = select(questions).where(questions.c.account == bindparam("account")).order_by(questions.c.number)
LONGEST = 16_384  # characters of a question
LONGEST_REASON = 1000  # characters of the reason that a steward reads
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of writing: a label with them may look like another one."""


class ConflictError(DeclarationError):
    """What was asked conflicts with what is already there."""


class MissingError(DeclarationError):
    """There is no such thing, or it is somebody else's."""


@dataclass(frozen=True)
class QueuedQuestion:
    """A question in the queue."""

    number: int
    id: str
    account: str
    key: str | None
    declaration: str
    canonical: str
    label: str
    mechanism: str
    epsilon: str
    delta: str
    state: str
    words: str
    asked_at: float
    decided_by: str | None
    decided_at: float | None
    begun_at: float | None
    visible_at: float | None
    release: str | None
    answer: str | None
    is_charged: int
    is_overrun: int
    reason: str

    @property
    def keys(self) -> dict[str, object]:
        """Return what was asked: `question`, and `query` if a fresh draw is to answer one."""
        found = read_json(self.declaration)
        return found if isinstance(found, dict) else {}

    @property
    def answered(self) -> object:
        """Return the answer to a query, if there is one."""
        return None if self.answer is None else read_json(self.answer)

    def document(self) -> dict[str, object]:
        """Return what people who may see the question see of it."""
        shown = ("id", "account", "label", "mechanism", "epsilon", "delta", "state", "words", "reason", "asked_at",
                 "decided_by", "decided_at", "begun_at", "visible_at", "release")  # fmt: skip
        return {name: getattr(self, name) for name in shown} | self.keys | {
            "answer": self.answered, "charged": bool(self.is_charged), "overrun": bool(self.is_overrun)
        }  # fmt: skip


@dataclass(frozen=True)
class Read:
    """A question that was parsed: what it publishes, what it costs, and its canonical text."""

    question: Question
    query: object
    declaration: str

    @property
    def canonical(self) -> str:
        """Return what equal questions have in common; nothing for a query, as each gets a draw of its own."""
        return "" if self.query is not None else digest_of(self.question.canonical)

    @property
    def cost(self) -> Guarantee:
        """Return what it promises, and therefore costs, for a whole unit such as a person with several rows."""
        return self.question.mechanism.guarantee.for_rows(self.question.unit.rows)


def read_declaration(declarations: Declarations, keys: object) -> Read:
    """Read what was asked with the parser of study files, or refuse it in words. Only public facts matter here."""
    if not isinstance(keys, dict) or not set(keys) <= {"question", "query"} or "question" not in keys:
        raise DeclarationError(
            "A question is sent as an object with the key `question` and, for a fresh draw, `query`."
        )
    question = declarations.asked(keys["question"])
    if not is_label(question.label) or set(question.label) & _TURNING:
        raise DeclarationError(
            "A label must have 1 to 500 valid characters, none of which changes the direction of writing."
        )
    if question.only_claimed is not None:
        raise DeclarationError(f"This cannot be published: {question.only_claimed}.")
    query = None
    if keys.get("query") is not None:
        query = read_query(keys["query"])
        require_draw(question, query)
        if question.refusal is not None:  # the answer comes from the draw itself
            question = replace(question, reading=NO_READING)
    elif question.refusal is not None:
        raise DeclarationError(f"No inference method supports the release: {question.refusal}. Change the question.")
    declaration = canonical_json({name: value for name, value in keys.items() if value is not None})
    if len(declaration) > LONGEST:
        raise DeclarationError(f"A question may have at most {LONGEST} characters; this one has {len(declaration)}.")
    return Read(question, query, declaration)


class Questions:
    """All questions of a queue."""

    def __init__(self, queue: Queue, clock: Clock = time.time) -> None:
        self.queue, self.clock = queue, clock

    def ask(
        self, person: Person, declarations: Declarations, read: Read, key: str | None, reason: str = ""
    ) -> tuple[QueuedQuestion, bool]:
        """Put a question into the queue, or find it there under its key; return it, and whether it is new.

        `reason` is for the steward who decides, and is no part of the question.
        """
        if len(reason) > LONGEST_REASON or not (is_text(reason) and not set(reason) & _TURNING):
            raise DeclarationError(f"A reason may have at most {LONGEST_REASON} valid characters. Nothing was asked.")
        if key is not None and not (1 <= len(key) <= 200 and key.isascii() and key.isprintable()):
            raise DeclarationError("An idempotency key must have 1 to 200 plain characters. Nothing was asked.")
        cost, now = read.cost, self.clock()
        with self.queue.write_transaction() as connection:
            if key is not None and (known := self._under(connection, person.name, key)) is not None:
                if known.declaration != read.declaration:
                    raise ConflictError("This idempotency key was used for another question. Nothing was asked.")
                return known, False
            own = self._of(connection, person.name)
            if sum(each.state in OPEN for each in own) >= MOST_OPEN:
                raise ConflictError(
                    f"You already have {MOST_OPEN} open questions. Nothing was asked. Wait until they are answered."
                )
            if sum(each.asked_at > now - _DAY for each in own) >= MOST_A_DAY:
                raise ConflictError(
                    f"You have asked {MOST_A_DAY} questions within a day. Nothing was asked. Try again later."
                )
            automatic = declarations.serving.is_automatic and self._fits(own, cost, declarations)
            joins = not automatic and self._is_open(connection, (WAITING,), read.canonical)
            joins |= self._is_open(connection, (QUEUED, RUNNING), read.canonical)
            row = {
                "id": secrets.token_hex(8), "account": person.name, "key": key, "declaration": read.declaration,
                "canonical": read.canonical, "label": read.question.label,
                "mechanism": type(read.question.mechanism).__name__,
                "epsilon": exact_text(cost.epsilon), "delta": exact_text(cost.delta),
                "state": JOINED if joins else QUEUED if automatic else WAITING,
                "words": JOINED_WORDS if joins else "", "asked_at": now, "reason": reason.strip(),
            }  # fmt: skip
            connection.execute(insert(questions).values(**row))
            what = "asked, within the allowance" if automatic else "asked, waits for a steward"
            what = "asked, joins an equal question" if joins else what
            note(connection, now, person.name, what, f"{row['id']}: {read.question.label}")
            return self._one(connection, str(row["id"])), True

    @staticmethod
    def _is_open(connection: Connection, states: Sequence[str], canonical: str) -> bool:
        """Return whether an equal question is in one of these states."""
        wanted = select(questions.c.number).where(questions.c.canonical == canonical, questions.c.state.in_(states))
        return bool(canonical) and connection.execute(wanted.limit(1)).first() is not None

    @staticmethod
    def _fits(own: Sequence[QueuedQuestion], cost: Guarantee, declarations: Declarations) -> bool:
        return used(own) + cost.epsilon <= declarations.serving.allowance

    def decide(self, person: Person, question: str, approve: bool, words: str) -> QueuedQuestion:
        """Let a steward approve or decline a waiting question."""
        if len(words) > 1000 or (not approve and not words.strip()):
            raise DeclarationError(
                "Whoever declines must give a reason, and no message may exceed 1000 characters. Nothing was decided."
            )
        state = QUEUED if approve else DECLINED
        change = {"state": state, "words": words.strip(), "decided_by": person.name, "decided_at": self.clock()}
        return self._change(person, question, (WAITING,), change, "approved" if approve else "declined")

    def withdraw(self, person: Person, question: str) -> QueuedQuestion:
        """Let an analyst withdraw a waiting question, or one that has joined another."""
        return self._change(person, question, (WAITING, JOINED), {"state": WITHDRAWN, "words": ""}, "withdrawn")

    def acknowledge(self, person: Person, question: str) -> QueuedQuestion:
        """Let a steward acknowledge that a question took too long; after that, the next ones are taken."""
        return self._change(person, question, (FAILED,), {"is_overrun": 0}, "overrun noted")

    def _change(
        self, person: Person, question: str, states: Sequence[str], values: dict[str, object], what: str
    ) -> QueuedQuestion:
        with self.queue.write_transaction() as connection:
            found = self._one(connection, question, person)
            change: Update = update(questions).where(questions.c.id == question, questions.c.state.in_(states))
            if connection.execute(change.values(**values)).rowcount != 1:
                raise ConflictError(f"The question is already {found.state}. Nothing was changed.")
            note(connection, self.clock(), person.name, what, f"{question}: {found.label}")
            if found.state == WAITING and values.get("state") in (DECLINED, WITHDRAWN):
                self._let_wait(connection, found.canonical)
            return self._one(connection, question)

    def _let_wait(self, connection: Connection, canonical: str) -> None:
        """Let the first of the questions that joined one wait in its place: nobody has decided about that one yet."""
        if self._is_open(connection, (WAITING, QUEUED, RUNNING), canonical):
            return
        joined = select(questions.c.number).where(questions.c.canonical == canonical, questions.c.state == JOINED)
        first = connection.execute(joined.order_by(questions.c.number).limit(1)).scalar_one_or_none()
        mine = update(questions).where(questions.c.number == first)
        connection.execute(mine.values(state=WAITING, words=""))

    def get(self, question: str, person: Person) -> QueuedQuestion:
        """Return a question if this person may see it: analysts see their own, all others see every question."""
        with self.queue.read_transaction() as connection:
            return self._one(connection, question, person)

    def seen_by(
        self, person: Person, state: str | None = None, most: int = 200, account: str | None = None
    ) -> list[QueuedQuestion]:
        """Return the newest questions that a person may see; of one state or account, if one is named."""
        wanted = select(questions).order_by(questions.c.number.desc()).limit(most)
        if person.role == ANALYST:
            wanted = wanted.where(questions.c.account == person.name)
        if state is not None:
            wanted = wanted.where(questions.c.state == state)
        if account is not None:
            wanted = wanted.where(questions.c.account == account)
        with self.queue.read_transaction() as connection:
            return [QueuedQuestion(**row._mapping) for row in connection.execute(wanted)]

    def waiting(self) -> int:
        """Return how many questions wait for a steward."""
        with self.queue.read_transaction() as connection:
            wanted = select(func.count()).select_from(questions).where(questions.c.state == WAITING)
            return int(connection.execute(wanted).scalar_one())

    def accounts(self) -> list[str]:
        """Return who has asked."""
        with self.queue.read_transaction() as connection:
            wanted = select(questions.c.account).distinct().order_by(questions.c.account)
            return [str(name) for name in connection.execute(wanted).scalars()]

    def answered(self, canonical: str | None = None) -> list[QueuedQuestion]:
        """Return the newest questions that have a release; only those equal to one, if it is given."""
        wanted = select(questions).where(questions.c.state == ANSWERED, questions.c.release.is_not(None))
        if canonical is not None:
            wanted = wanted.where(questions.c.canonical == canonical)
        with self.queue.read_transaction() as connection:
            rows = connection.execute(wanted.order_by(questions.c.number.desc()).limit(200))
            return [QueuedQuestion(**row._mapping) for row in rows]

    def charged_to(self, account: str) -> Fraction:
        """Return the total epsilon of what was charged for questions of an account, whoever decided."""
        with self.queue.read_transaction() as connection:
            return added([each for each in self._of(connection, account) if each.is_charged])

    def used_by(self, account: str) -> Fraction:
        """Return how much of their allowance an analyst has used."""
        with self.queue.read_transaction() as connection:
            return used(self._of(connection, account))

    def overruns(self) -> list[QueuedQuestion]:
        """Return the questions that took too long and that no steward has acknowledged yet."""
        with self.queue.read_transaction() as connection:
            wanted = select(questions).where(questions.c.is_overrun == 1)
            return [QueuedQuestion(**row._mapping) for row in connection.execute(wanted)]

    def _under(self, connection: Connection, account: str, key: str) -> QueuedQuestion | None:
        wanted = select(questions).where(questions.c.account == account, questions.c.key == key)
        row = connection.execute(wanted).one_or_none()
        return None if row is None else QueuedQuestion(**row._mapping)

    def _of(self, connection: Connection, account: str) -> list[QueuedQuestion]:
        return [QueuedQuestion(**row._mapping) for row in connection.execute(_OF_ACCOUNT, {"account": account})]

    def _one(self, connection: Connection, question: str, person: Person | None = None) -> QueuedQuestion:
        row = connection.execute(select(questions).where(questions.c.id == question)).one_or_none()
        if row is None or (person is not None and person.role == ANALYST and row.account != person.name):
            raise MissingError("There is no such question among those that you may see.")
        return QueuedQuestion(**row._mapping)


def used(own: Sequence[QueuedQuestion], before: int | None = None) -> Fraction:
    """Return the total epsilon of an account's questions that no steward approved and that are, or may be, charged."""
    counted = [
        each for each in own
        if each.decided_by is None and (before is None or each.number < before)
        and (each.state in (QUEUED, RUNNING) or each.is_charged)
    ]  # fmt: skip
    return added(counted)


def added(counted: Sequence[QueuedQuestion]) -> Fraction:
    """Return the total epsilon of questions."""
    try:
        return sum((Fraction(each.epsilon) for each in counted), Fraction(0))
    except (ValueError, ZeroDivisionError):  # a compromised front may have written anything
        raise DeclarationError(
            "Earlier questions cannot be added up: the queue contains an amount that is not a number."
        ) from None


def require_room(cost: Guarantee, label: str, budget: dict[str, object]) -> None:
    """Refuse early what exceeds the budget as it was last shown; in the end the ledger decides."""
    left = budget.get("remaining")
    remaining = left.get("epsilon") if isinstance(left, dict) else None
    if isinstance(remaining, str) and cost.epsilon > Fraction(remaining):
        raise BudgetError(
            f"Cannot ask {label!r}: it needs epsilon = {spent_text(cost.epsilon)}, but only "
            f"{left_text(Fraction(remaining))} of the budget is left. Nothing was asked and nothing was "
            "charged. Lower epsilon, or ask the steward."
        )
