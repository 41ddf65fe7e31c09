"""The study file as written: which tables and keys it may have, and their types. Everything else is refused."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from discreet._core.errors import DeclarationError, meant
from discreet.records import CATCH_ALL

Number = str | int | float
Prior = float | list[float] | dict[str, float | list[float]] | str


class DeclaredData(msgspec.Struct, forbid_unknown_fields=True):
    """[data]: where the records are, and how many there are; with a `unit_column`, how many persons.

    They are in files at a `path`, or on a server, the `source`: a table or view there, or a folder that Spark reads.

    Where `neighbours` are added or removed the number of records is secret; `about` is a guess of it for plans.
    """

    path: str | list[str] | None = None
    source: str | None = None
    size: int | msgspec.UnsetType = msgspec.UNSET
    neighbours: str = "replace"
    about: int | msgspec.UnsetType = msgspec.UNSET
    unit: str = "one record"
    rows_per_unit: int = 1
    unit_column: str | None = None
    table: str | None = None
    view: str | None = None
    folder: str | None = None
    format: str | None = None
    separator: str | None = None


class DeclaredColumn(msgspec.Struct, forbid_unknown_fields=True):
    """[columns.NAME]: levels or bands for categories, bounds for numbers; bands and bounds may be dates.

    With an `expression` the column is derived from stored ones; it needs none of these if only others are made of it.
    """

    levels: list[str | int | bool] | None = None
    bands: list[float | str] | None = None
    names: list[str] | None = None
    outside: str | int | bool = CATCH_ALL
    bounds: list[Number] | None = None
    missing: Number | None = None
    whole: bool = False
    expression: str | None = None


class DeclaredLookup(msgspec.Struct, forbid_unknown_fields=True):
    """[lookups.NAME]: a public table for expressions, written here, or two columns of a CSV file."""

    entries: dict[str, str | int | float] | None = None
    path: str | None = None
    key: str | None = None
    value: str | None = None


class DeclaredBudget(msgspec.Struct, forbid_unknown_fields=True):
    """[budget]: all that may be spent, in all and in each period, and the ledger that keeps account.

    `groups` names a column; what is asked where it has one level is charged to the group of these records alone.
    """

    ledger: str
    epsilon: Number | None = None
    epsilon_per_unit: Number | None = None
    delta: Number = 0
    population: str = ""
    accountant: str = "basic"
    per: str | None = None
    allowance: Number | None = None
    groups: str | None = None


class DeclaredQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """[questions.NAME]: what is published, and how.

    `where` says which records it is about, if not all, and `about` guesses their number for plans where it is secret.
    `further` are keys of the model and of the mechanism, which decide what keys are allowed.
    """

    epsilon: Number | None = None
    model: str = "categories"
    mechanism: str | None = None
    delta: Number | None = None
    prior: Prior | None = None
    label: str | None = None
    reading: str | None = None
    epsilon_per_unit: Number | None = None
    where: str | None = None
    about: int | None = None
    further: dict[str, Any] = {}


QUESTION_KEYS = frozenset(DeclaredQuestion.__struct_fields__) - {"further"}
"""The keys that questions have whatever their model and mechanism."""


class DeclaredQuery(msgspec.Struct, forbid_unknown_fields=True):
    """[queries.NAME]: what a third party may ask about draws of a question; `further` are the keys of its kind."""

    of: str
    kind: str
    label: str | None = None
    further: dict[str, Any] = {}


QUERY_KEYS = frozenset(DeclaredQuery.__struct_fields__) - {"further"}
"""The keys that queries have whatever their kind."""


class DeclaredServe(msgspec.Struct, forbid_unknown_fields=True):
    """[serve]: who decides about questions that come from elsewhere, and when answers are shown."""

    policy: str = "steward"
    allowance: Number | None = None
    time_limit: float = 20.0
    visible_after: float = 30.0


class DeclaredStudy(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file. A network from a BIF file brings its columns along."""

    data: DeclaredData
    budget: DeclaredBudget
    questions: dict[str, DeclaredQuestion]
    columns: dict[str, DeclaredColumn] = {}
    lookups: dict[str, DeclaredLookup] = {}
    queries: dict[str, DeclaredQuery] = {}
    serve: DeclaredServe = msgspec.field(default_factory=DeclaredServe)


def read_study(path: Path) -> DeclaredStudy:
    """Read a study file, or say in words what is wrong with it."""
    if not path.is_file():
        raise DeclarationError(f"There is no study file {str(path)!r}. `discreet init DATA` writes one.")
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(_with_further_keys(plain), DeclaredStudy)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as problem:
        words, near = _in_words(str(problem))
        raise DeclarationError(f"{str(path)!r} is not a study: {words}. Nothing was done.{near}") from None


def read_asked(keys: object) -> DeclaredQuestion:
    """Read the keys of one question that came from elsewhere, or say in words what is wrong with them."""
    if not isinstance(keys, dict) or "further" in keys:
        raise DeclarationError("A question must be an object with the keys of [questions.NAME] in a study.")
    try:
        return msgspec.convert(_split(keys, QUESTION_KEYS), DeclaredQuestion)
    except msgspec.ValidationError as problem:
        raise DeclarationError(f"This is not a question: {_in_words(str(problem))[0]}. Nothing was done.") from None


def written_question(declared: DeclaredQuestion) -> dict[str, object]:
    """Return the keys of a question as one would write them."""
    plain: dict[str, object] = {name: getattr(declared, name) for name in sorted(QUESTION_KEYS)}
    return {name: value for name, value in plain.items() if value is not None} | declared.further


def _with_further_keys(plain: dict[str, object]) -> dict[str, object]:
    """Put the keys that only some questions or queries have into `further`; leave the rest as written."""
    for table, own in (("questions", QUESTION_KEYS), ("queries", QUERY_KEYS)):
        declared = plain.get(table)
        if isinstance(declared, dict):
            plain = plain | {table: {name: _split(each, own) for name, each in declared.items()}}
    return plain


def _split(question: object, known: frozenset[str]) -> object:
    if not isinstance(question, dict):
        return question
    own = known & set(question)
    further = {key: value for key, value in question.items() if key not in own}
    return {key: question[key] for key in question if key in own} | {"further": further}


def _in_words(problem: str) -> tuple[str, str]:
    """Say where a problem is as one would write it in the file, and which key was meant if one is misspelt."""
    found = re.fullmatch(r"(.*?) - at `(?:key in )?\$\.?(.*?)`", problem)
    if not found:
        return problem, _meant_key(problem, "")
    return (f"{found[1]} in [{found[2]}]" if found[2] else found[1]), _meant_key(found[1], found[2])


def _meant_key(problem: str, key_path: str) -> str:
    """Return a question that names the nearest keys, if a table has a key that it may not have."""
    tables = {"": DeclaredStudy, "data": DeclaredData, "columns": DeclaredColumn, "budget": DeclaredBudget}
    tables |= {"serve": DeclaredServe, "lookups": DeclaredLookup}
    unknown = re.search("unknown field `(.*)`", problem)
    table = tables.get(re.split(r"[.\[]", key_path)[0])
    return meant(unknown[1], table.__struct_fields__) if unknown and table else ""
