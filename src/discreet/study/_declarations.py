"""What a study declares in public: whom it protects, its columns and its limit, and the questions that fit them.

Nothing here knows where records are stored or how a ledger is opened, so code that holds only declarations can read and
plan questions but cannot touch a record. A question that comes from elsewhere is read by the same parser as the study's
own, over the same columns, levels and bounds; it cannot name a file.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import positive, probability, whole
from discreet.inference import SecretNumber
from discreet.mechanism import Declared, Numbers
from discreet.numbers import ONE_PERSON
from discreet.privacy import RECORD, Accountant, Adjacency, Unit
from discreet.records import Column, Derived
from discreet.study._derived import entries_of, kind_of
from discreet.study._file import (
    DeclaredBudget,
    DeclaredColumn,
    DeclaredData,
    DeclaredServe,
    DeclaredStudy,
    read_asked,
    written_question,
)
from discreet.study._forms import Form, model_forms
from discreet.study._questions import Question, read_question

ASKED = "asked"
"""The name given to a question that comes from elsewhere."""
_ELSEWHERE = "withheld"
_FILES = ("bif",)  # keys of questions that name files


@dataclass(frozen=True)
class Serving:
    """How questions from elsewhere are decided and answered: by a steward or within an allowance, and when.

    A question is answered within `time_limit` seconds, or not at all; what became of it is shown `visible_after`
    seconds after it was begun, whatever the records, and the next one begins then.
    """

    is_automatic: bool
    allowance: Fraction
    time_limit: float
    visible_after: float

    @classmethod
    def of(cls, declared: DeclaredServe) -> "Serving":
        """Read [serve]."""
        automatic = declared.policy == "automatic"
        if declared.policy not in ("automatic", "steward"):
            raise DeclarationError(f"serve.policy must be 'automatic' or 'steward'; got {declared.policy!r}.")
        if automatic is (declared.allowance is None):
            raise DeclarationError(
                "serve.allowance is the epsilon that each analyst may spend without a steward. It is required with "
                "policy = 'automatic' and not allowed otherwise."
            )
        limit, shown = declared.time_limit, declared.visible_after
        if not 0 < limit < shown <= 86_400:
            raise DeclarationError(
                "serve.time_limit and serve.visible_after are in seconds: the first must be above 0, the second "
                f"longer than the first and at most one day; got {limit:g} and {shown:g}."
            )
        return cls(automatic, positive(declared.allowance or 1, "serve.allowance"), limit, shown)


class Declarations:
    """The public part of a study, which also parses questions about it. `folder` is where its files are, if any."""

    def __init__(self, declared: DeclaredStudy, folder: Path | None = None) -> None:
        self._declared = declared
        _check_place(declared.data)
        self.unit = _unit(declared.data)
        self.neighbours = _neighbours(declared.data.neighbours)
        self.number, self.about = _number(declared.data, self.neighbours)
        if declared.budget.epsilon_per_unit is not None and isinstance(self.number, SecretNumber):
            raise DeclarationError(
                "budget.epsilon_per_unit says how far a record may move; with neighbours = 'add or remove' it may "
                "also be "
                "absent, at no stated distance. Declare budget.epsilon, or neighbours = 'replace'."
            )
        columns = declared.columns
        self.numbers = {name: _numbers(name, each) for name, each in columns.items() if each.bounds is not None}
        counted = {name: each for name, each in columns.items() if _is_counted(name, each)}
        self.columns = {name: _column(name, each) for name, each in counted.items()}
        self.derived = self._derived(folder)
        self.epsilon = _stated(declared.budget)
        self.delta = probability(declared.budget.delta, "budget.delta")
        self.accountant = _accountant(declared.budget.accountant)
        self.serving = Serving.of(declared.serve)
        self.groups = self._groups(declared.budget.groups)
        self._beside = Declared(self.columns, self.numbers, folder, 1, 1, declared.data.unit_column, self._persons)
        self.questions = {
            name: self._with_derived(read_question(name, each, self._beside, self.number, self.unit, self.about))
            for name, each in declared.questions.items()
        }

    @classmethod
    def from_document(cls, document: object) -> "Declarations":
        """Return the declarations that `public_document` wrote."""
        return cls(msgspec.convert(document, DeclaredStudy))

    def public_document(self) -> dict[str, object]:
        """Return what may be known elsewhere: neither where records and ledger are, nor questions that name a file."""
        plain: dict[str, dict[str, object]] = msgspec.to_builtins(self._declared)
        questions = {
            name: each for name, each in self._declared.questions.items() if not set(_FILES) & set(each.further)
        }
        no_place = dict.fromkeys(("source", "table", "view", "folder", "format", "separator"))
        data = plain["data"] | no_place | {"path": _ELSEWHERE}
        budget = plain["budget"] | {"ledger": _ELSEWHERE}
        kept = {"questions": msgspec.to_builtins(questions), "queries": {}}
        kept["lookups"] = {name: {"entries": dict(entries)} for name, entries in self._lookups.items()}
        return plain | {"data": data, "budget": budget} | kept

    def _derived(self, folder: Path | None) -> Derived | None:
        """Return the columns that are derived from stored ones."""
        columns = self._declared.columns
        expressions = {name: each.expression for name, each in columns.items() if each.expression is not None}
        self._lookups = {name: entries_of(name, each, folder) for name, each in self._declared.lookups.items()}
        if not expressions:
            return None
        if (ids := self._declared.data.unit_column) in expressions:
            raise DeclarationError(f"data.unit_column names {ids!r}, which is derived; ids must be a stored column.")
        holds = {name: kind for name, each in columns.items() if (kind := kind_of(each)) is not None}
        levels = {name: [str(level) for level in each.levels] for name, each in self.columns.items() if not each.edges}
        return Derived(expressions, self._lookups, holds, levels)

    def _with_derived(self, question: Question) -> Question:
        """Return a question with what it says of derived columns."""
        names = [*(column.name for column in (*question.columns, *question.conditions))]
        names += [bounds.name for bounds in question.bounds]
        used = None if self.derived is None else self.derived.of(names)
        return question if used is None else replace(question, derived=used.derivation)

    def _groups(self, named: str | None) -> Column | None:
        """Return the column whose levels are the groups of the ledger."""
        if named is None:
            return None
        if self.neighbours is not Adjacency.ADD_OR_REMOVE:
            raise DeclarationError(
                "budget.groups needs neighbours = 'add or remove' in [data]: a record that is replaced may leave its "
                "group for another, which then shows in both. Declare that, or ask a table that is crossed with "
                f"{named!r}, which costs its epsilon once for all groups."
            )
        if named not in self.columns:
            raise DeclarationError(
                f"budget.groups names {named!r}; declare it as [columns.{named}], with levels or bands."
                f"{meant(named, self.columns)}"
            )
        return self.columns[named]

    @property
    def size(self) -> int | None:
        """Return the public number of records, or nothing where it is secret."""
        return self.number if isinstance(self.number, int) else None

    @property
    def _persons(self) -> int | None:
        return self.size

    @property
    def population(self) -> str:
        """Return the population."""
        return self._declared.budget.population

    def written_questions(self) -> dict[str, dict[str, object]]:
        """Return the study's own questions by their keys, as they would be asked."""
        return {name: written_question(each) for name, each in self._declared.questions.items()}

    def asked(self, keys: object) -> Question:
        """Return the question of these keys, which came from elsewhere, or refuse it in words.

        It needs a label, as readers see it, and is given no files to read.
        """
        declared = read_asked(keys)
        if not declared.label:
            raise DeclarationError("A question needs a label: a few words that readers will see.")
        question = self._with_derived(read_question(ASKED, declared, self._alone, self.number, self.unit, self.about))
        named = [*(column.name for column in question.columns), *(bounds.name for bounds in question.bounds)]
        known = (*self.columns, *self.numbers)
        if strange := [name for name in named if name not in known]:
            raise DeclarationError(
                f"The study declares no column {strange[0]!r}. Nothing was asked.{meant(strange[0], known)}"
            )
        return question

    @cached_property
    def forms(self) -> dict[str, Form]:
        """Return the forms by which people may ask, one for each kind of question that these declarations allow."""
        return model_forms(self._alone, _FILES)

    @property
    def _alone(self) -> Declared:
        return Declared(self.columns, self.numbers, None, 1, 1, self._beside.unit_column, self._persons)


def _check_place(data: DeclaredData) -> None:
    """Refuse a study that does not say where its records are, or says it twice."""
    if (data.path is None) is (data.source is None):
        raise DeclarationError(
            "[data] needs either path, a file of records, or source, the address of a server, such as "
            "'postgresql://reader@host/hospital'."
        )
    if data.source is None:
        if data.view is not None or data.folder is not None or data.format is not None:
            raise DeclarationError(
                "data.view, data.folder and data.format are for a source on a server, not for files."
            )
        return
    if sum(each is not None for each in (data.table, data.view, data.folder)) != 1 or data.separator is not None:
        raise DeclarationError("With data.source, name one of data.table, data.view and data.folder, and no separator.")
    if urlsplit(data.source).password is not None or "password=" in data.source or "token=" in data.source:
        raise DeclarationError(
            "data.source contains a password or a token, and everything in a study is public. Take it out: passwords "
            "belong into a password file (PGPASSFILE), tokens into the environment."
        )


def _neighbours(written: str) -> Adjacency:
    """Return which data sets a study counts as neighbours; whether of records or persons follows from the unit."""
    known = {
        f"{words}{who}": each
        for each, words in ((Adjacency.REPLACE_ONE, "replace"), (Adjacency.ADD_OR_REMOVE, "add or remove"))
        for who in ("", " one record", " one person")
    }
    if written not in known:
        raise DeclarationError(
            f"data.neighbours must be 'replace', where the number of records is public, or 'add or remove', where it "
            f"is "
            f"secret; got {written!r}.{meant(written, known)}"
        )
    return known[written]


def _number(data: DeclaredData, neighbours: Adjacency) -> tuple[int | SecretNumber, int | None]:
    """Return the public number of records, or that it is secret, and a guess of it for plans."""
    if neighbours is not Adjacency.ADD_OR_REMOVE:
        if not isinstance(data.about, msgspec.UnsetType):
            raise DeclarationError(
                "data.about is a guess of a secret number of records; where neighbours are replaced that number is "
                "public: leave it out, and declare size."
            )
        if isinstance(data.size, msgspec.UnsetType):
            raise DeclarationError(
                "data.size is missing: declare the public number of records. If that number is secret too, declare "
                "neighbours = 'add or remove' instead."
            )
        return whole(data.size, "data.size"), None
    if not isinstance(data.size, msgspec.UnsetType):
        raise DeclarationError(
            "data.size must be left out: with neighbours = 'add or remove' the number of records is secret. For plans, "
            "write about = 5000, a guess that does not come from the data."
        )
    about = None if isinstance(data.about, msgspec.UnsetType) else whole(data.about, "data.about")
    return SecretNumber(), about


def _accountant(rule: str) -> Accountant:
    if rule not in ("basic", "zcdp"):
        raise DeclarationError("budget.accountant must be 'basic' or 'zcdp'.")
    return Accountant(rule)


def _column(name: str, declared: DeclaredColumn) -> Column:
    if declared.bands is not None:
        return Column.banded(name, declared.bands, str(declared.outside), declared.names)
    return Column(name, declared.levels or (), declared.outside)


def _stated(budget: DeclaredBudget) -> Fraction:
    """Return the limit as it is declared: for any change of a record, or for each unit of a metric."""
    if (budget.epsilon is None) == (budget.epsilon_per_unit is None):
        raise DeclarationError(
            "[budget] needs either epsilon, which covers any change of a record, or epsilon_per_unit, which is per "
            "unit of a metric; not both."
        )
    if budget.epsilon is None:
        return positive(budget.epsilon_per_unit or 0, "budget.epsilon_per_unit")
    return positive(budget.epsilon, "budget.epsilon")


def _unit(data: DeclaredData) -> Unit:
    """Return whom the guarantees of a study protect: one person, if a column says which rows belong together."""
    if data.unit_column is None:
        return Unit(data.unit, data.rows_per_unit)
    if data.rows_per_unit != 1:
        raise DeclarationError(
            "data.unit_column already combines all rows of a person, so rows_per_unit does not apply: leave it out."
        )
    return Unit(ONE_PERSON if data.unit == RECORD else data.unit)


def _is_counted(name: str, declared: DeclaredColumn) -> bool:
    """Return whether a column has categories; refuse one that declares both kinds, or nothing."""
    if declared.missing is not None and declared.bounds is None:
        raise DeclarationError(
            f"columns.{name}.missing is for columns with bounds; for categories, use `outside` to name the level of "
            "missing values."
        )
    if declared.whole and declared.bounds is None:
        raise DeclarationError(
            f"columns.{name}.whole is for columns with bounds: it declares that the numbers are integers."
        )
    if declared.names is not None and declared.bands is None:
        raise DeclarationError(
            f"columns.{name}.names are the names of bands, but no bands are declared; declare them, such as bands = "
            "[0, 18, 65]."
        )
    kinds = [kind for kind in (declared.levels, declared.bands) if kind is not None]
    if not kinds and declared.bounds is None and declared.expression is not None:
        return False  # only others are made of it
    if len(kinds) > 1 or (not kinds and declared.bounds is None):
        raise DeclarationError(
            f"columns.{name} needs levels or bands if it is categorical, or bounds if it is numeric."
        )
    return bool(kinds)


def _numbers(name: str, declared: DeclaredColumn) -> Numbers:
    if declared.levels is not None:
        raise DeclarationError(
            f"columns.{name} has both levels and bounds: a column is either categorical (levels) or numeric (bounds)."
        )
    if declared.bounds is None or len(declared.bounds) != 2:
        raise DeclarationError(f"columns.{name}.bounds must be two numbers, such as [0, 120].")
    low, high = declared.bounds
    return Numbers(low, high, declared.missing, declared.whole)
