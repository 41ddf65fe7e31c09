"""The schema of a model in a study file: its name and keys, over the declared columns.

A model says so itself, in `asked_as`: keys are the parameters of what makes it, with the types that are declared there.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import Exact
from discreet.records import Column

if TYPE_CHECKING:
    from discreet.mechanism._model import Model

DeclaredPrior = float | Sequence[float] | Mapping[str, float | Sequence[float]] | None
"""A prior as studies write it; None where they say that there is none."""


class Numbers(NamedTuple):
    """A declared column of numbers: public bounds, what stands for missing values, whether its numbers are whole."""

    low: Exact
    high: Exact
    missing: Exact | None
    is_whole: bool = False


@dataclass(frozen=True)
class Declared:
    """What a study declares beside a question: columns of levels and of numbers, and where its files lie.

    `size` and `epsilon` are those of the question that is asked, and `mechanism` the kind that it names, if any;
    `is_per_unit` says that epsilon is for each unit of a metric. Where the number of records is secret (`is_secret`),
    `size` is a guess of it, if there is one. `unit_column` has the ids of `persons`, if rows are put together by them;
    None if their number is secret. Without a `folder` questions name no files.
    """

    columns: Mapping[str, Column]
    numbers: Mapping[str, Numbers]
    folder: Path | None
    size: int | None = 1
    epsilon: Exact = 1
    unit_column: str | None = None
    persons: int | None = 1
    mechanism: str | None = None
    is_per_unit: bool = False
    is_secret: bool = False

    def levels(self, key: str, wanted: Sequence[str]) -> dict[str, Column]:
        """Return the declared columns that a key of a question names."""
        missing = [column for column in wanted if column not in self.columns]
        if missing or not wanted:
            raise DeclarationError(
                f"{key} names {', '.join(map(repr, missing)) or 'nothing'}; declare it as [columns.NAME], with "
                f"levels or bands.{meant(missing[0], self.columns) if missing else ''}"
            )
        return {column: self.columns[column] for column in wanted}


Choices = Callable[[Declared], Sequence[str]]
"""What may be chosen for a key, as far as the study's declarations decide that."""


def of_levels(declared: Declared) -> Sequence[str]:
    """Return the columns that have levels or bands."""
    return list(declared.columns)


def of_numbers(declared: Declared) -> Sequence[str]:
    """Return the columns of numbers."""
    return list(declared.numbers)


def of_columns(declared: Declared) -> Sequence[str]:
    """Return all declared columns."""
    return [*declared.columns, *declared.numbers]


def one_of(*texts: str) -> Choices:
    """Return these texts, whatever the study declares."""
    return lambda declared: texts


@dataclass(frozen=True)
class Key:
    """How a form asks for a key: in which words, and among which choices or by an example of what to write."""

    words: str
    among: Choices | None = None
    example: str = ""


@dataclass(frozen=True)
class Asked:
    """What makes a model of keys: its parameters are the keys.

    A parameter that is called `declared` is given what the study declares. One called `prior` is the key that every
    question may have. `called` names the keys that are not called as their parameters are.

    For people who fill in a form, `title` and `about` say what is asked, and `keys` how each key is asked for. Keys
    that are not described there are asked for by their names, as further ones.
    """

    make: "Callable[..., Model]"
    called: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    about: str = ""
    keys: Mapping[str, Key] = field(default_factory=dict)


def written_name(kind: str) -> str:
    """Return the name of a kind as studies write it.

    >>> written_name("NormalMean")
    'normal-mean'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()
