"""A study: the declarations of a whole investigation in one file, `study.toml`.

The file is the Python interface written down: reading it gives the same objects that one would make by hand. It holds
no value from the data. Reading is strict, so that a misspelt key cannot silently change what is published.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from discreet.columns import CATCH_ALL, Column
from discreet.errors import DeclarationError, PublishError
from discreet.exact import positive, probability, whole
from discreet.guarantees import Ledger, Unit
from discreet.mechanisms import Mechanism
from discreet.models import Categories, Statistics
from discreet.releases import Release, publish
from discreet.releases.document import MECHANISMS
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


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    columns: list[str]
    epsilon: Number
    model: str = "categories"
    mechanism: str = "GeometricHistogram"
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
        """Open the ledger, or create it with the declared budget if there is none yet."""
        if self.ledger_path.exists():
            return Ledger.open(self.ledger_path)
        population, unit = self._declared.budget.population, self.unit.description
        return Ledger.create(self.ledger_path, self.epsilon, self.delta, population, unit)

    def publish(self, name: str) -> Release:
        """Publish a question. Asked again, the same release comes back and nothing is charged."""
        question = self.question(name)
        secret = self.statistics(question)
        if not secret.describes(question.model, self.size):  # before a ledger is begun
            raise PublishError(
                f"Cannot publish {question.label!r}: the data do not have the {self.size} records that the study "
                "declares. Nothing was published and nothing was charged. `discreet check` tells more."
            )
        return publish(question.mechanism, secret, self.ledger(), question.label, unit=self.unit, request=name)

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
        mechanism: Mechanism = MECHANISMS[declared.mechanism](model, size=self.size, epsilon=declared.epsilon)
        return Question(name, declared.label or name, mechanism, self.unit)


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
