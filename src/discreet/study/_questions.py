"""The questions of a study: from what is declared to a model and a mechanism.

A model and a mechanism have keys of their own, and a key of another model is refused. A question whose mechanism is not
declared gets the one that suits its model, chosen by declarations alone, and the reason is kept.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from typing import Any, get_type_hints

import msgspec

from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import whole
from discreet.inference import SecretNumber, announcement
from discreet.mechanism import (
    Declared,
    Mechanism,
    Model,
    Sized,
    columns_of_levels,
    columns_of_numbers,
    event_name,
    forced_prior,
    tables_of,
)
from discreet.planning import chosen_mechanism
from discreet.privacy import RECORD, Unit
from discreet.publishing import why_no_posterior, why_only_claimed
from discreet.records import Bounds, Column, Derivation, Level, Statistics, Where, day_text
from discreet.release import NO_READING, canonical_mechanism
from discreet.study._file import QUESTION_KEYS, DeclaredQuestion
from discreet.study._keys import Maker
from discreet.study._mechanisms import mechanism_maker
from discreet.study._metrics import per_unit
from discreet.study._models import keys_of_other_models, model_maker, model_of


@dataclass(frozen=True)
class Question:
    """One question of a study: what to publish, by which mechanism, under which label.

    `reason` says why the mechanism was chosen, if the study did not declare one. `reading` is 'none' if the study
    declares that there will be no posterior. `is_per_unit` says whether it declares epsilon for each unit of a metric.
    """

    name: str
    label: str
    mechanism: Mechanism
    unit: Unit
    reason: str = ""
    reading: str | None = None
    is_per_unit: bool = False
    about: int | None = None
    """A guess of the number of records for plans, where that is secret."""
    where: Where | None = None
    """Which records are counted, if not all."""
    given: str = ""
    """The event, such as 'ward=West', in whose rows the answer is found, where all records are counted."""
    derived: Derivation | None = None
    """How columns are made of stored ones, if any are."""

    @property
    def model(self) -> Any:
        """Return the model that the question is about: `Categories`, a `Network`, a `LinearRegression` or a family."""
        return self.mechanism.model

    @property
    def families(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table that is counted; none for a regression, which uses sums."""
        return tables_of(self.model)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return every categorical column."""
        return columns_of_levels(self.model)

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """Return the bounds of every numeric column."""
        return columns_of_numbers(self.model)

    @cached_property
    def canonical(self) -> str:
        """Return the text of all that makes a question: two that ask the same have the same text.

        Labels do not matter, nor does the order of columns, arrows, groups or terms of a formula.
        """
        some: list[object] = [] if self.where is None else [self.where.document()]
        some += [] if self.derived is None else [{"derived": self.derived.document}]
        return canonical_json([canonical_mechanism(self.mechanism), self.reading, *some])

    @property
    def guess(self) -> int | None:
        """Return about how many records there are, for plans; where conditions leave only some, it must be declared."""
        if self.where is not None and self.about is None:
            raise DeclarationError(
                f"How many records there are where {self.where} is secret, and a plan needs a guess that does not come "
                f"from the data: about = 500 in [questions.{self.name}]. Nothing was planned."
            )
        return self.about

    @property
    def conditions(self) -> tuple[Column, ...]:
        """Return the columns that decide which records are counted."""
        return () if self.where is None else self.where.columns

    def statistics(self, data: object) -> Statistics:
        """Count what is asked, of the records that it is about. The result is secret.

        Derived columns are among those of the data: `Study.statistics` sees to that.
        """
        counted: Statistics = (
            self.model.statistics(data) if self.where is None else self.where.statistics(self.model, data)
        )
        counted.derived = self.derived
        return counted

    @cached_property
    def refusal(self) -> str | None:
        """Tell why the release could not be read; None if it can be, or if the study declares that it will not be."""
        return why_no_posterior(self.mechanism, self.reading)

    @cached_property
    def only_claimed(self) -> str | None:
        """Tell why a study may not publish the question, because its guarantee is only claimed; None if it may."""
        return why_only_claimed(self.mechanism)

    @cached_property
    def announcement(self) -> str | None:
        """Tell how long inference from a release will take, if it may take long."""
        return None if self.refusal is not None or self.no_posterior is not None else announcement(self.mechanism)

    @cached_property
    def no_posterior(self) -> str | None:
        """Tell why there will be no posterior, if that was declared; None if the release can be read anyway."""
        return why_no_posterior(self.mechanism, None) if self.reading == NO_READING else None


def read_question(
    name: str,
    declared: DeclaredQuestion,
    study: Declared,
    number: int | SecretNumber,
    unit: Unit,
    about: int | None = None,
) -> Question:
    """Return the declared question, over the study's other declarations."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise DeclarationError(f"The name of the question {name!r} may contain only letters, digits, '-', '_' and '.'.")
    where, given = None, ""
    try:
        if isinstance(number, SecretNumber):
            about = _guess(declared, about)
            mechanism, reason = _of_secret_number(declared, study, about)
            where = _selected(declared, study, mechanism.model)
        else:
            crossed, columns, given = _crossed(declared, study)
            mechanism, reason = _mechanism(crossed, columns, number)
        _refuse_rows(mechanism.model, declared.model, study.unit_column)
    except DeclarationError as problem:
        raise DeclarationError(f"questions.{name}: {problem}") from None
    if declared.reading not in (None, NO_READING):
        raise DeclarationError(
            f"questions.{name}.reading is {declared.reading!r}; it must be {NO_READING!r}, for a release without a "
            "posterior, or be left out."
        )
    is_per_unit = declared.epsilon_per_unit is not None
    return Question(
        name, declared.label or name, mechanism, unit, reason, declared.reading, is_per_unit, about, where, given
    )


def _refuse_rows(model: Model, written: str, unit_column: str | None) -> None:
    """Refuse a question about rows in a study that protects persons."""
    if unit_column is not None and model.protects == RECORD:
        raise DeclarationError(
            f"the model {written!r} counts rows, but the study combines all rows with the same {unit_column}, which "
            'only model = "number" can do. Ask this question in a study of its own: with one row for each person, or '
            "with rows_per_unit instead of unit_column."
        )


def _mechanism(declared: DeclaredQuestion, study: Declared, size: int) -> tuple[Mechanism, str]:
    """Return the mechanism that is named, or the one that is suggested, with the reason."""
    if declared.epsilon_per_unit is not None:
        return per_unit(declared, study, size)
    if (epsilon := declared.epsilon) is None:
        raise DeclarationError("epsilon is missing: state how much of the budget the question may cost.")
    asked = model_maker(declared.model, replace(study, size=size, epsilon=epsilon, mechanism=declared.mechanism))
    left = {key: value for key, value in declared.further.items() if key not in asked.keys}
    if (written := declared.mechanism) is None:
        _refuse_left(left, declared.model, asked, study)
        found = chosen_mechanism(model_of(declared, asked), size, epsilon, declared.delta or 0)
        return found.mechanism, found.reason
    model = model_of(declared, asked)
    maker = mechanism_maker(written, declared.model, model, size, epsilon)
    _refuse_others({key for key in left if key not in maker.keys}, declared.model, asked, study)
    delta: dict[str, object] = {} if declared.delta is None else {"delta": declared.delta}
    named = maker.made(left | delta, (*QUESTION_KEYS, *asked.keys))
    return named, _chosen_prior(named)


def _of_secret_number(declared: DeclaredQuestion, study: Declared, about: int | None) -> tuple[Mechanism, str]:
    """Return what publishes a question where the number of records is secret."""
    if declared.epsilon_per_unit is not None:
        raise DeclarationError(
            "epsilon_per_unit says how far a record may move, and with neighbours = 'add or remove' it may also be "
            "absent, at no stated distance. Declare epsilon, or neighbours = 'replace'."
        )
    if (epsilon := declared.epsilon) is None:
        raise DeclarationError("epsilon is missing: state how much of the budget the question may cost.")
    known_of = replace(study, epsilon=epsilon, size=about, is_secret=True, mechanism=declared.mechanism)
    asked = model_maker(declared.model, known_of)
    own = {key: value for key, value in declared.further.items() if key not in asked.keys}
    if declared.mechanism is None:
        _refuse_left(own, declared.model, asked, study)
    known = {kind: each for kind, each in Mechanism.registered().items() if not issubclass(each, Sized)}
    if not any(_may_publish(each, asked.make) for each in known.values()):  # before the model asks for further keys
        raise _no_kind(declared)
    model = model_of(declared, asked)
    kinds = [kind for kind, each in known.items() if each.accepts_model(model)]
    if not kinds:
        raise _no_kind(declared)
    fitting = [kind for kind in kinds if ("delta" in signature(known[kind]).parameters) is (declared.delta is not None)]
    written = declared.mechanism or (fitting or kinds)[0]
    maker = mechanism_maker(written, declared.model, model, None, epsilon)
    _refuse_others({key for key in own if key not in maker.keys}, declared.model, asked, study)
    delta: dict[str, object] = {} if declared.delta is None else {"delta": declared.delta}
    named = maker.made(own | delta, (*QUESTION_KEYS, *asked.keys))
    return named, "" if declared.mechanism else "the number of records is secret"


def _may_publish(kind: type[Mechanism], make: Callable[..., Model]) -> bool:
    """Return whether a kind may publish what a function or class makes, as far as its annotation says."""
    made = make if isinstance(make, type) else signature(make, eval_str=True).return_annotation
    published = get_type_hints(kind)["model"]
    if not (isinstance(made, type) and issubclass(made, Model) and isinstance(published, type)):
        return True
    return issubclass(made, published) or issubclass(published, made)


def _no_kind(declared: DeclaredQuestion) -> DeclarationError:
    return DeclarationError(
        f"{declared.model!r} cannot be asked with neighbours = 'add or remove': everything that publishes it takes the "
        "number of records as public, in its noise, among its candidates, or as the width of its draws. Tables of "
        "shares can (model = 'categories'), models that are read from one ('logistic'), means, sums, variances, "
        "quantiles and distributions of a number ('number'), classifiers with yes/no features ('naive-bayes') and "
        "synthetic records ('synthesis', with a delta). Ask one of these, or use a study with neighbours = 'replace'."
    )


def _guess(declared: DeclaredQuestion, about: int | None) -> int | None:
    """Return a guess of how many records are counted where their number is secret: of all, or of those of `where`."""
    if declared.where is not None:
        return None if declared.about is None else whole(declared.about, "about")
    if declared.about is not None:
        raise DeclarationError(
            "about is a guess of how many records meet the conditions of `where`; for all records it is data.about."
        )
    return about


def _selected(declared: DeclaredQuestion, study: Declared, model: Model) -> Where | None:
    """Return which records are counted where their number is secret."""
    if declared.where is None:
        return None
    where = Where(declared.where, study.columns.values())
    _refuse_asked(where, [column.name for column in columns_of_levels(model)])
    if study.unit_column is not None:
        raise DeclarationError(
            "where is decided by a record alone, and with data.unit_column a person may have rows that meet the "
            "conditions beside others that do not. Declare by, which groups persons, or rows with rows_per_unit."
        )
    return where


def _refuse_asked(where: Where, asked: Iterable[str]) -> None:
    if both := sorted({column.name for column in where.columns} & set(asked)):
        raise DeclarationError(
            f"where says which {both[0]!r} a record has, so asking about {both[0]!r} would tell nothing more. Leave it "
            "out of one of the two."
        )


def _crossed(declared: DeclaredQuestion, study: Declared) -> tuple[DeclaredQuestion, Declared, str]:
    """Return a question about some records as one about all of them, and the event that says which are meant.

    Where the number of all records is public, that of some is not. So these are counted beside all others: a table is
    crossed with the columns of the conditions, each with the level that is meant beside all others, and sums and
    quantiles are asked by that column. It is charged once, as the whole.
    """
    if declared.about is not None:
        raise DeclarationError("about is a guess of a secret number of records, and here that number is public.")
    if declared.where is None:
        return declared, study, ""
    where = Where(declared.where, study.columns.values())
    merged = {column.name: _merged(column, level) for column, level in where.conditions}
    further, names = dict(declared.further), list(merged)
    if declared.model == "categories" and isinstance(further.get("columns"), list):
        _refuse_asked(where, further["columns"])
        further["columns"] = [*names, *further["columns"]]
    elif declared.model == "number" and len(names) == 1 and further.get("by") is None:
        further["by"] = names[0]
    else:
        raise DeclarationError(
            "where is for tables of shares, and for numbers by one column at most, where the number of records is "
            "public. Ask a table that is crossed with these columns, or use a study with neighbours = 'add or remove'."
        )
    asked = msgspec.structs.replace(declared, where=None, further=further)
    given = ", ".join(event_name(column.name, level) for column, level in where.conditions)
    return asked, replace(study, columns={**study.columns, **merged}), given


def _merged(column: Column, level: Level) -> Column:
    """Return a column with one of its levels or bands beside as few others as keep its meaning.

    The level of undeclared values stays what it is: if that is the one that is meant, so do all others. A band in the
    middle includes its lower edge only, which the band above it keeps so.
    """
    if level == column.outside:
        return column
    if not column.edges:
        return Column(column.name, (level,), column.outside)
    place = column.levels.index(level)
    edges = sorted({*column.edges[place : place + 2], column.edges[-1]})
    written = [day_text(edge) for edge in edges] if column.dates else edges
    names = [str(level), *(f"above {level}" for _ in edges[2:])]
    return Column.banded(column.name, written, str(column.outside), names)


def _refuse_others(keys: Iterable[str], written: str, asked: Maker[Model], study: Declared) -> None:
    """Refuse the keys of other models."""
    if strange := sorted(keys_of_other_models(written, study) & set(keys)):
        raise DeclarationError(f"{strange[0]} does not belong to {asked.name}, which takes {', '.join(asked.keys)}.")


def _refuse_left(keys: Iterable[str], written: str, asked: Maker[Model], study: Declared) -> None:
    """Refuse the keys that a model does not have if there is no mechanism that could have them."""
    _refuse_others(keys, written, asked, study)
    for key in keys:
        raise DeclarationError(
            f"{key!r} is not a key of a question about {written!r} without a "
            f"mechanism.{meant(key, (*QUESTION_KEYS, *asked.keys))} To use a mechanism's keys, name it too: "
            "mechanism = '...'."
        )


def _chosen_prior(mechanism: Mechanism) -> str:
    """Say which prior draws are made under if privacy demands one."""
    forced = forced_prior(mechanism)
    return forced and f"for privacy it draws under the weakest prior that its guarantee allows: {forced}"
