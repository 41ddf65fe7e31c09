"""A study: the declarations of a whole investigation in one file, `study.toml`.

The file is the Python interface written down: reading it gives the same objects that one would make by hand. It holds
no value from the data. Reading is strict, so that a misspelt key cannot silently change what is published.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from discreet.canonical import canonical_json
from discreet.columns import CATCH_ALL, Column
from discreet.errors import DeclarationError, PublishError
from discreet.exact import positive, probability, whole
from discreet.guarantees import Accountant, Ledger, Unit
from discreet.guarantees.entries import digest_of
from discreet.mechanisms import Mechanism, Plan
from discreet.models import Categories, Statistics
from discreet.releases import Release, publish, publish_plan
from discreet.releases.document import MECHANISMS, plan_document
from discreet.sources import FrameSource, read

Number = str | int | float


class _Data(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    size: int
    unit: str = "one record"
    rows_per_unit: int = 1
    table: str | None = None
    separator: str | None = None


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    levels: list[str | int | bool] | None = None
    bands: list[float] | None = None
    outside: str | int | bool = CATCH_ALL


class _Budget(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: Number
    ledger: str
    delta: Number = 0
    population: str = ""
    accountant: str = "basic"


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    columns: list[str]
    epsilon: Number
    model: str = "categories"
    mechanism: str = "GeometricHistogram"
    delta: Number | None = None
    prior: float | list[float] | dict[str, float] = 1.0
    label: str | None = None


class _Study(msgspec.Struct, forbid_unknown_fields=True):
    data: _Data
    columns: dict[str, _Column]
    budget: _Budget
    questions: dict[str, _Question]


@dataclass(frozen=True)
class Question:
    """One question of a study: what to publish, by which mechanism, under which label."""

    name: str
    label: str
    mechanism: Mechanism
    unit: Unit

    @property
    def model(self) -> Categories:
        """Return the model whose statistics the question asks for."""
        model: Categories = self.mechanism.model
        return model


class Study:
    """A study file, read and checked. The data are opened only when they are asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._declared = _read(self.path)
        self.unit = Unit(self._declared.data.unit, self._declared.data.rows_per_unit)
        self.size = whole(self._declared.data.size, "data.size")
        self.columns = {name: self._column(name, each) for name, each in self._declared.columns.items()}
        self.epsilon = positive(self._declared.budget.epsilon, "budget.epsilon")
        self.delta = probability(self._declared.budget.delta, "budget.delta")
        self.accountant = self._accountant()
        self.questions = {name: self._question(name, each) for name, each in self._declared.questions.items()}

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r}, questions={list(self.questions)})"

    def question(self, name: str) -> Question:
        """Return a question by its name."""
        if name not in self.questions:
            known = ", ".join(map(repr, self.questions)) or "none"
            raise DeclarationError(f"{str(self.path)!r} has no question {name!r}. Questions are {known}.")
        return self.questions[name]

    @property
    def data_path(self) -> Path:
        """Return where the data lie: a path relative to the study file is meant from there."""
        return self.path.parent / self._declared.data.path

    @property
    def ledger_path(self) -> Path:
        """Return where the ledger lies."""
        return self.path.parent / self._declared.budget.ledger

    def source(self) -> FrameSource:
        """Open the data."""
        return read(self.data_path, self._declared.data.table, self._declared.data.separator)

    def statistics(self, question: Question) -> Statistics:
        """Count what a question needs. The result is secret."""
        return question.model.statistics(self.source())

    def ledger(self) -> Ledger:
        """Open the ledger, or create it with the declared budget if there is none yet.

        A ledger belongs to a population. Studies of other data about the same people name the same ledger and the same
        population; another population is refused.
        """
        population = self._declared.budget.population
        if not self.ledger_path.exists():
            return Ledger.create(
                self.ledger_path,
                self.epsilon,
                self.delta,
                population,
                self.unit.description,
                accountant=self.accountant,
            )
        ledger = Ledger.open(self.ledger_path)
        if ledger.accountant is not self.accountant:
            raise PublishError(
                f"{str(self.ledger_path)!r} adds up by the accountant {ledger.accountant.value!r}, fixed when it was "
                f"created; {str(self.path)!r} declares {self.accountant.value!r}. Nothing was published or charged."
            )
        kept = ledger.created["population"]
        if kept != population:
            raise PublishError(
                f"{str(self.ledger_path)!r} is the ledger of the population {kept!r}, but {str(self.path)!r} declares "
                f"{population!r}. Nothing was published and nothing was charged. A ledger holds the budget of one "
                "population: name its population in [budget], or another ledger if these are other people."
            )
        return ledger

    def publish(self, name: str) -> Release:
        """Publish a question. Asked again of the same data, the same release comes back and nothing is charged."""
        question = self.question(name)
        secret = self._fitting(question, self.statistics(question))
        data = self._declared.data.path
        return publish(
            question.mechanism, secret, self.ledger(), question.label,
            unit=self.unit, request=f"{name} of {data}", data=data,
        )  # fmt: skip

    def plan(self) -> Plan:
        """Return all questions as one plan, fixed in advance, at the budget's delta."""
        if not self.questions:
            raise DeclarationError(f"{str(self.path)!r} has no questions.")
        return Plan([question.mechanism for question in self.questions.values()], self.delta)

    def publish_all(self) -> list[Release]:
        """Publish all questions as one plan: charged at once, by what they cost together. Asked again, it is free."""
        plan, data = self.plan(), self._declared.data.path
        labels = [question.label for question in self.questions.values()]
        source = _OnePass(self.source(), [question.model for question in self.questions.values()])
        secrets = [self._fitting(question, question.model.statistics(source)) for question in self.questions.values()]
        request = f"plan {digest_of(canonical_json(plan_document(plan, labels)))[:16]} of {data}"
        return publish_plan(plan, secrets, self.ledger(), labels, unit=self.unit, request=request, data=data)

    def _fitting(self, question: Question, secret: Statistics) -> Statistics:
        if not secret.describes(question.model, self.size):  # before a ledger is begun
            raise PublishError(
                f"Cannot publish {question.label!r}: the data do not have the {self.size} records that the study "
                "declares. Nothing was published and nothing was charged. `discreet check` tells more."
            )
        return secret

    def _accountant(self) -> Accountant:
        try:
            return Accountant(self._declared.budget.accountant)
        except ValueError:
            raise DeclarationError("budget.accountant is 'basic' or 'zcdp'.") from None

    def _column(self, name: str, declared: _Column) -> Column:
        if (declared.levels is None) == (declared.bands is None):
            raise DeclarationError(f"columns.{name} needs either levels or bands.")
        if declared.bands is not None:
            return Column.banded(name, declared.bands, str(declared.outside))
        return Column(name, declared.levels or (), declared.outside)

    def _question(self, name: str, declared: _Question) -> Question:
        if declared.model != "categories":
            raise DeclarationError(f"questions.{name}.model is {declared.model!r}; known models are 'categories'.")
        if declared.mechanism not in MECHANISMS:
            raise DeclarationError(f"questions.{name}.mechanism must be one of {', '.join(sorted(MECHANISMS))}.")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
            raise DeclarationError(f"The question {name!r} needs a plain name: letters, digits, '-', '_' and '.'.")
        missing = [column for column in declared.columns if column not in self.columns]
        if missing or not declared.columns:
            raise DeclarationError(
                f"questions.{name}.columns names {missing or 'nothing'}; declare it as [columns.NAME]."
            )
        model = Categories([self.columns[column] for column in declared.columns], prior=declared.prior)
        mechanism = _mechanism(name, declared, model, self.size)
        return Question(name, declared.label or name, mechanism, self.unit)


class _OnePass:
    """All tables of several models, counted in one pass over the data."""

    def __init__(self, source: FrameSource, models: Sequence[Categories]) -> None:
        families = list(dict.fromkeys(tuple(model.columns) for model in models))
        self._tables = dict(zip(families, source.count_families(families), strict=True))

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return the tables of counts, one for each family of columns."""
        return [self._tables[tuple(family)] for family in families]


def _mechanism(name: str, declared: _Question, model: Categories, size: int) -> Mechanism:
    kind = MECHANISMS[declared.mechanism]
    takes_delta = "delta" in kind.__dataclass_fields__
    if takes_delta != (declared.delta is not None):
        wanted = "needs a delta, such as '1e-7'" if takes_delta else "takes no delta: its guarantee is pure"
        raise DeclarationError(f"questions.{name}: {declared.mechanism} {wanted}.")
    extra = {"delta": declared.delta} if takes_delta else {}
    mechanism: Mechanism = kind(model, size=size, epsilon=declared.epsilon, **extra)
    return mechanism


def _read(path: Path) -> _Study:
    if not path.is_file():
        raise DeclarationError(f"There is no study file {str(path)!r}. `discreet init DATA` writes one.")
    try:
        plain: Any = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(plain, _Study)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as problem:
        raise DeclarationError(f"{str(path)!r} is not a study: {_in_words(str(problem))}. Nothing was done.") from None


def _in_words(problem: str) -> str:
    """Say where a problem is as one would write it in the file."""
    found = re.fullmatch(r"(.*?) - at `(?:key in )?\$\.?(.*?)`", problem)
    if not found:
        return problem
    return f"{found[1]} in [{found[2]}]" if found[2] else found[1]
