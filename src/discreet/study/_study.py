"""A study file, read and checked: its columns, its questions, its ledger, and the way to publish."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from discreet._core.documents import Document, canonical_json, digest_of
from discreet._core.errors import DeclarationError, DiscreetError, PublishError, meant
from discreet._core.exact import exact_text
from discreet.ledger import (
    Chain,
    Entry,
    Ledger,
    allowance_in_words,
    differences,
    now,
    period_at,
    same_metric,
    stated_allowance,
)
from discreet.mechanism import Plan
from discreet.privacy import Adjacency, Metric
from discreet.publishing import publish, publish_plan
from discreet.records import Column, Source, Statistics, as_source, connect, read
from discreet.release import Release, mechanism_document, read_mechanism
from discreet.study._declarations import Declarations
from discreet.study._file import read_study
from discreet.study._metrics import metric_of
from discreet.study._queries import DeclaredAsk, Draws, read_query
from discreet.study._questions import Question

if TYPE_CHECKING:
    from discreet.planning import Accuracy


class Study(Declarations):
    """A study file, read and checked. The data are opened only when they are needed.

    >>> import discreet as dc
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "study.toml")
    >>> _ = file.write_text('''
    ... [data]
    ... path = "survey.csv"
    ... size = 300
    ... [columns.smoking]
    ... levels = ["never", "former", "current"]
    ... [budget]
    ... epsilon = "1"
    ... ledger = "study.db"
    ... [questions.smoking]
    ... columns = ["smoking"]
    ... epsilon = "0.3"
    ... ''')
    >>> study = dc.Study(file)
    >>> study.question("smoking").mechanism.guarantee.epsilon
    Fraction(3, 10)

    Args:
        path: the study file; docs/studies.md lists its keys.

    Raises:
        DeclarationError: for a key that is not known, or a value that makes no sense.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(read_study(self.path), self.path.parent)
        self.queries = {name: read_query(name, each, self.questions) for name, each in self._declared.queries.items()}

    @property
    def metric(self) -> Metric | None:
        """Return the metric under which the ledger adds up, if the budget is per unit of a metric."""
        if self._declared.budget.epsilon_per_unit is None:
            return None
        return metric_of(question.mechanism for question in self.questions.values())

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r}, questions={list(self.questions)})"

    def question(self, name: str) -> Question:
        """Return a question by its name."""
        if name not in self.questions:
            known, near = ", ".join(map(repr, self.questions)) or "none", meant(name, self.questions)
            raise DeclarationError(f"{str(self.path)!r} has no question {name!r}. Questions are {known}.{near}")
        return self.questions[name]

    @property
    def data_paths(self) -> list[Path]:
        """Return the paths of the data; relative paths start from the study file's folder."""
        declared = self._declared.data.path
        return [self.path.parent / each for each in ([declared] if isinstance(declared, str) else declared or [])]

    @property
    def _data_name(self) -> str:
        """Return what the study calls its data; several files are named in their order."""
        declared, data = self._declared.data.path, self._declared.data
        if declared is None:
            return f"{data.table or data.view or data.folder} at {data.source}"
        return declared if isinstance(declared, str) else ", ".join(declared)

    @property
    def ledger_place(self) -> str | Path:
        """Return where the ledger is: a server's address, or a path relative to the study file's folder."""
        declared = self._declared.budget.ledger
        return declared if "://" in declared else self.path.parent / declared

    @property
    def ledger_path(self) -> Path:
        """Return the ledger's file."""
        if isinstance(self.ledger_place, str):
            raise DeclarationError(f"The ledger of {str(self.path)!r} is on a server, so it has no file.")
        return self.ledger_place

    @property
    def has_ledger(self) -> bool:
        """Return whether the ledger already exists."""
        return Chain.at(self.ledger_place).exists()

    @property
    def _check_path(self) -> Path:
        return self.path.with_suffix(".checked")

    @property
    def _check_mark(self) -> str:
        """Return a digest of what `check` compares with the data: where they are, their columns, their size."""
        compared = (self._declared.data, self._declared.columns, self._lookups)
        return digest_of(canonical_json({"compared": msgspec.to_builtins(compared)}))

    def note_check(self) -> None:
        """Remember, in a small file beside the study, that the data were compared with these declarations."""
        with suppress(OSError):  # a folder that cannot be written to
            self._check_path.write_text(self._check_mark + "\n", encoding="utf-8")

    @property
    def is_checked(self) -> bool:
        """Return whether the data were compared with the declarations as they are now."""
        with suppress(OSError, ValueError):
            return self._check_path.read_text(encoding="utf-8").strip() == self._check_mark
        return False

    def source(self) -> Source:
        """Open the data."""
        paths, data = self.data_paths, self._declared.data
        if data.source is not None:
            return self._derived_in(connect(data.source, data.table or data.view, data.folder, data.format))
        source: Source = read(paths[0] if isinstance(data.path, str) else paths, data.table, data.separator)
        return self._derived_in(source)

    def statistics(self, question: Question, frame: object = None) -> Statistics:
        """Count what a question needs, in the declared data or in a frame that holds them. The result is secret."""
        return question.statistics(self.source() if frame is None else self._derived_in(as_source(frame)))

    def _derived_in(self, source: Source) -> Source:
        """Return records with the derived columns beside the stored ones."""
        return source if self.derived is None else self.derived.source(source)

    def ledger(self) -> Ledger:
        """Open the ledger, or create it with the declared budget if there is none yet.

        A ledger belongs to a population. Studies of other data about the same people name the same ledger and the same
        population; another population is refused.
        """
        population = self._declared.budget.population
        budget = self._declared.budget
        if not self.has_ledger:
            return Ledger.create(
                self.ledger_place,
                self.epsilon,
                self.delta,
                population,
                self.unit,
                accountant=self.accountant,
                per=budget.per,
                allowance=budget.allowance,
                metric=self.metric,
                adjacency=self.neighbours,
                groups=self.groups or (),
            )
        ledger = Ledger.open(self.ledger_place)
        if self._hides_presence(ledger.created["adjacency"]) is not self._hides_presence(self.neighbours):
            raise PublishError(
                f"{str(ledger.place)!r} was created for neighbours that {ledger.created['adjacency']!r}; "
                f"{str(self.path)!r} declares {self.neighbours.value!r}. Budgets of different neighbours are never "
                f"mixed: "
                "name another ledger. Nothing was published and nothing was charged."
            )
        if not same_metric(ledger.created, self.metric):
            raise PublishError(
                f"{str(ledger.place)!r} {_adds_up(ledger.metric)}; {str(self.path)!r} {_adds_up(self.metric)}. The "
                "two cannot be combined: name another ledger. Nothing was published or charged."
            )
        if self.groups is not None and self.groups != ledger.rule:
            kept = "without groups" if ledger.rule is None else f"with groups by {ledger.rule!r}"
            raise PublishError(
                f"{str(ledger.place)!r} was created {kept}; {str(self.path)!r} declares groups by {self.groups!r}. "
                "Groups are declared once, when the ledger is created. Nothing was published and nothing was charged."
            )
        stated, kept_to = self._allowance(), ledger.created.get("allowance")
        if stated != kept_to:
            raise PublishError(
                f"{str(ledger.place)!r} was created with {allowance_in_words(kept_to)}; {str(self.path)!r} declares "
                f"{allowance_in_words(stated)}. Nothing was published or charged."
            )
        if self.metric is None and ledger.accountant is not self.accountant:
            raise PublishError(
                f"{str(ledger.place)!r} uses the accountant {ledger.accountant.value!r}, fixed when it was created; "
                f"{str(self.path)!r} declares {self.accountant.value!r}. Nothing was published or charged."
            )
        kept = ledger.created["population"]
        if kept != population:
            raise PublishError(
                f"{str(ledger.place)!r} is the ledger of the population {kept!r}, but {str(self.path)!r} declares "
                f"{population!r}. Nothing was published and nothing was charged. A ledger holds the budget of one "
                "population: name that population in [budget], or use another ledger if these are other people."
            )
        return ledger

    @staticmethod
    def _hides_presence(neighbours: object) -> bool:
        return Adjacency(neighbours) is Adjacency.ADD_OR_REMOVE

    def publish(self, name: str, frame: object = None) -> Release:
        """Publish a question, and write the release beside the study file, as `discreet publish` does.

        `frame` holds the records that the study declares, such as a data frame; without one its files are read.
        Repeated, it returns the same release and charges nothing, whatever the records are now.
        """
        self.refuse_other_file(name)
        release = self.release_of(name, frame)
        self._write(release, self.release_path(name))
        return release

    def refuse_other_file(self, name: str) -> None:
        """Refuse to publish a question whose file holds the release of another study or question."""
        path, held = self.release_path(name), None
        with suppress(OSError, DiscreetError):
            held = Release.from_json(path.read_bytes())
        if held is None:
            return
        if held.receipt is not None and self.has_ledger:
            charge, *_ = Ledger.open(self.ledger_place).charge_of(held.receipt.sequence, held.receipt.head)
            asked, _, about = ("" if charge is None else str(charge.body["request"])).partition(" of ")
            if f"{about} ".startswith(f"{self._data_name} ") and (asked == name or asked.startswith("plan ")):
                return
        raise PublishError(
            f"Cannot publish {self.question(name).label!r}: {str(path)!r} holds another release, {held.label!r}, which "
            "was charged to another ledger or for other data. Nothing was published and nothing was charged. Move that "
            "file, give the question another name, or write to another file (--out)."
        )

    def release_of(self, name: str, frame: object = None) -> Release:
        """Publish a question without writing the release to a file."""
        return self.publish_question(self.question(name), self._request(name), frame)

    def release_path(self, name: str) -> Path:
        """Return the file that a question's release is written to."""
        return self.path.parent / f"{self.question(name).name}.release.json"

    def _write(self, release: Release, path: Path) -> None:
        """Write a release, unless the file holds it already, perhaps signed."""
        try:
            if path.is_file() and Release.from_json(path.read_bytes()).digest == release.digest:
                return
        except DiscreetError:
            pass  # a file that holds no release is written anew
        try:
            path.write_text(release.to_json() + "\n", encoding="utf-8")
        except OSError as problem:
            raise PublishError(
                f"{release.label!r} was published and charged, but cannot be written to {str(path)!r}: "
                f"{problem.strerror}. Publish it again once that file can be written: repeating it charges nothing."
            ) from None

    def plan(self, name: str, level: float = 0.9, studies: int | None = None, patience: float = 1.0) -> "Accuracy":
        """Return how accurate a question will be at its own epsilon, as `discreet plan` does. No data are touched."""
        from discreet.planning import (
            accuracy,
            require_quick,  # slow to import
        )

        question = self.question(name)
        if (why := question.only_claimed or question.no_posterior or question.refusal) is not None:
            raise DeclarationError(f"Cannot plan {name!r}: it cannot be read: {why}. Nothing was planned.")
        require_quick(question.mechanism, patience)
        return accuracy(question.mechanism, level, studies, patience=patience, about=question.guess)

    def infer(
        self,
        name: str,
        prior: object = None,
        own: object = None,
        patience: float = 1.0,
        model: object = None,
        number: object = None,
    ) -> Any:
        """Return the posterior given the release of a question, from its file beside the study file: see `infer`."""
        from discreet.inference import infer  # slow to import

        if not (path := self.release_path(name)).is_file():
            raise DeclarationError(
                f"There is no file {str(path)!r}. Publish the question first: study.publish({name!r}). Nothing was "
                "read."
            )
        release = Release.from_json(path.read_bytes())
        return infer(release, prior=prior, own=own, patience=patience, model=model, number=number)

    def publish_question(self, question: Question, request: str, frame: object = None) -> Release:
        """Publish a question about this study's columns under a request's name; repeating it charges nothing.

        If it was answered before, the release is the one that was recorded, with its label and order of columns.
        """
        _refuse_claim(question)
        if (first := self._first_asked(question, request)) is None:
            _refuse_unreadable(question)
        if first is question and (period := self._in_period()):
            raise PublishError(
                f"Cannot publish {question.label!r}: with an allowance, a question is answered once in each "
                f"period, and {question.name!r} was answered{period} for something else: "
                f"{self._changes(question, request)}. Nothing was published and nothing was charged. Ask again in the "
                "next period, or give it a new name to ask it as a new question now, which is charged."
            )
        question = first or question
        secret = self._fitting(question, self.statistics(question, frame))
        return publish(
            question.mechanism, secret, self.ledger(), question.label,
            unit=self.unit, request=request, data=self._data_name, reading=question.reading,
        )  # fmt: skip

    def query(self, name: str) -> DeclaredAsk:
        """Return a query by its name."""
        if name not in self.queries:
            known, near = ", ".join(map(repr, self.queries)) or "none", meant(name, self.queries)
            raise DeclarationError(f"{str(self.path)!r} has no query {name!r}. Queries are {known}.{near}")
        return self.queries[name]

    def draws(self, name: str) -> Draws:
        """Return the numbered draws of a question: those already paid for are free, a new one is charged."""
        question = self.question(name)
        _refuse_claim(question)
        _refuse_unreadable(question)
        return Draws(self, question, f"of {name} of {self._data_name}{self._in_period()}", self._data_name)

    def ask(self, name: str, draw: int | None = None) -> Any:
        """Answer a declared query from a new draw, which is charged, or from an earlier one, for free."""
        asked = self.query(name)
        draws = self.draws(asked.question)
        found = draws.fresh()[1] if draw is None else draws.known(draw)
        return found.answer(asked.query)

    def fitting_statistics(self, question: Question) -> Statistics:
        """Count what a question needs, and refuse data of a different size. The result is secret."""
        return self._fitting(question, self.statistics(question))

    def asked_request(self, question: Question) -> str:
        """Return the name under which a question from elsewhere is published: one release for one question.

        Whatever its label, the order of its columns, arrows or groups, and however its numbers are written. If it is a
        question of the study, that one's name is used; if several are the same, the first that was answered.
        """
        own = [self._request(name) for name, each in self.questions.items() if each.canonical == question.canonical]
        names = [*own, self._request(f"asked {digest_of(question.canonical)[:32]}")]
        return next((name for name in names if self._is_paid(name)), names[0])

    def _request(self, name: str) -> str:
        """Return the name of a request: that of the question, of the data and, with an allowance, of the period."""
        return f"{name} of {self._data_name}{self._in_period()}"

    def _first_asked(self, question: Question, request: str) -> Question | None:
        """Return a question as it was asked first, if it is on record under this name; nothing if it is not.

        A question that is another one than that on record is returned as it is; publishing will refuse it.
        """
        answered = Ledger.open(self.ledger_place).answered(request) if self.has_ledger else None
        if answered is None:
            return None
        recorded = replace(question, mechanism=read_mechanism(answered.body["mechanism"]))
        written = None if question.where is None else question.where.document()
        derived = None if question.derived is None else [question.derived.document]
        about = answered.body.get("where"), answered.body.get("derived")
        is_same = recorded.canonical == question.canonical and about == (written, derived)
        return replace(recorded, label=answered.body["label"]) if is_same else question

    def _changes(self, question: Question, request: str) -> str:
        """Say in what a question differs from that on record under this name."""
        answered = cast(Entry, Ledger.open(self.ledger_place).answered(request))
        asked: Document = {
            "mechanism": mechanism_document(question.mechanism),
            "where": None if question.where is None else question.where.document(),
            "derived": None if question.derived is None else [question.derived.document],
        }
        return differences({part: answered.body.get(part) for part in asked}, asked)

    def _plan_first_asked(self, questions: Sequence[Question], request: str) -> list[tuple[int, Question]] | None:
        """Return the questions of a plan as they were asked first, each with its index here, if it is on record."""
        answered = Ledger.open(self.ledger_place).answered(request) if self.has_ledger else None
        if answered is None:
            return None
        found, left = list[tuple[int, Question]](), dict(enumerate(questions))
        for part in cast("list[Document]", answered.body["mechanism"]["parts"]):
            mechanism = read_mechanism(part["mechanism"])
            same = (n for n, each in left.items() if replace(each, mechanism=mechanism).canonical == each.canonical)
            if (index := next(same, None)) is not None:
                found.append((index, replace(left.pop(index), mechanism=mechanism, label=str(part["label"]))))
        return None if left else found  # if some are not those on record, publishing will refuse it

    def _is_paid(self, request: str) -> bool:
        """Return whether a request was answered before: its release is then returned, whatever can be read today."""
        return self.has_ledger and Ledger.open(self.ledger_place).is_answered(request)

    def _allowance(self) -> dict[str, str] | None:
        budget = self._declared.budget
        if budget.per is None and budget.allowance is None:
            return None
        return stated_allowance(budget.per, budget.allowance, self.epsilon)

    def _in_period(self) -> str:
        """Return the words that distinguish a question in this period from other periods: each period asks afresh."""
        if (allowance := self._allowance()) is None:
            return ""
        running = Ledger.open(self.ledger_place).this_period if self.has_ledger else None
        return f" in {period_at(allowance, now(), None) if running is None else running[0]}"

    def batch(self) -> Plan:
        """Return all questions as one plan, fixed in advance, at the budget's delta."""
        if not self.questions:
            raise DeclarationError(f"{str(self.path)!r} has no questions.")
        return Plan([question.mechanism for question in self.questions.values()], self.delta)

    def publish_all(self) -> list[Release]:
        """Publish all questions as one plan, with one charge for their total cost. Repeating it charges nothing.

        So it is whatever the order of the questions, their labels, and the order of columns, arrows or groups in each:
        if the plan was published before, its releases are those that were recorded.
        """
        asked = list(self.questions.values())
        if len({question.where for question in asked}) > 1:
            raise PublishError(
                "Cannot publish all questions as one plan: they are about different records. Nothing was published and "
                "nothing was charged. Publish each by itself: questions about different groups do not add up anyway."
            )
        for question in asked:
            _refuse_claim(question)
        request = self._plan_request(asked)
        if (first := self._plan_first_asked(asked, request)) is None:
            for question in asked:
                _refuse_unreadable(question)
        placed = first or list(enumerate(asked))
        questions = [question for _, question in placed]
        plan = Plan([question.mechanism for question in questions], self.delta)
        source = self.source()
        counted = _OnePass(source, questions)
        sources = [counted if question.families and not question.where else source for question in questions]
        secrets = [self._fitting(q, q.statistics(each)) for q, each in zip(questions, sources, strict=True)]
        releases = publish_plan(
            plan, secrets, self.ledger(), [question.label for question in questions], unit=self.unit, request=request,
            data=self._data_name, reading=[question.reading for question in questions],
        )  # fmt: skip
        by_index = {index: release for (index, _), release in zip(placed, releases, strict=True)}
        return [by_index[index] for index in range(len(asked))]

    def _plan_request(self, questions: Sequence[Question]) -> str:
        """Return the name of the request that publishes these questions together."""
        forms = sorted(question.canonical for question in questions)
        return self._request(f"plan {digest_of(canonical_json([exact_text(self.delta), *forms]))[:16]}")

    def _fitting(self, question: Question, secret: Statistics) -> Statistics:
        if self.size is not None and not secret.describes(question.model, self.size):  # before a ledger is created
            raise PublishError(
                f"Cannot publish {question.label!r}: the data do not have the {self.size} records that the study "
                "declares. Nothing was published and nothing was charged. `discreet check` tells more."
            )
        return secret


def _adds_up(metric: Metric | None) -> str:
    """Say what a ledger, or a study, adds up."""
    return "adds up epsilon for any change of a record" if metric is None else f"adds up epsilon per {metric.unit}"


def _refuse_claim(question: Question) -> None:
    """Refuse what is only claimed to be private, before any record is read."""
    if question.only_claimed is not None:
        raise PublishError(
            f"Cannot publish {question.label!r}: {question.only_claimed}. "
            "Nothing was published and nothing was charged."
        )


def _refuse_unreadable(question: Question) -> None:
    """Refuse what no inference method supports, before any record is counted."""
    if question.refusal is not None:
        raise PublishError(
            f"Cannot publish {question.label!r}: no inference method supports the release: {question.refusal}. "
            "Nothing was published and nothing was charged. Change the question, its levels or the mechanism; or, to "
            f"publish it without a posterior, declare reading = 'none' in [questions.{question.name}]."
        )


class _OnePass:
    """All tables of several questions, counted in one pass over the data."""

    def __init__(self, source: Source, questions: Sequence[Question]) -> None:
        families = list(dict.fromkeys(family for question in questions for family in question.families))
        self._tables = dict(zip(families, source.count_families(families) if families else [], strict=True))

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return the tables of counts, one for each family of columns."""
        return [self._tables[tuple(family)] for family in families]
