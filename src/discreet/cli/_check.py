"""What `check` shows the data holder: how the records match the declarations. No noise protects any of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any
from unicodedata import normalize

from discreet._core.errors import SourceError
from discreet.cli._screen import show_table
from discreet.inference import SecretNumber
from discreet.numbers import BoundedNumber, Persons
from discreet.records import (
    CATCH_ALL,
    FIRST_DAY,
    LARGEST_WHOLE,
    LAST_DAY,
    MISSING,
    Bounds,
    Column,
    ColumnMatch,
    Source,
    day_text,
    ids_in,
)
from discreet.study import Question

_SHARE = 0.05
"""The share of records above which a value that is replaced or left out is called a problem."""


@dataclass(frozen=True)
class SizeMatch:
    """Whether there are as many records, or persons, as declared: as facts by name, and in words."""

    fits: bool
    facts: Mapping[str, int]
    words: Sequence[str]


@dataclass(frozen=True)
class LevelMatch:
    """A column with levels or bands, and how its values match them."""

    column: Column
    match: ColumnMatch

    @property
    def empty(self) -> list[str]:
        """Return the levels without records, except the one for outside values, which should be empty."""
        pairs = zip(self.column.levels, self.match.counts, strict=True)
        return [str(level) for level, count in pairs if count == 0 and level != self.column.outside]

    def facts(self) -> dict[str, object]:
        """Return the match as facts by name."""
        outside = int(self.match.counts[self.column.home])
        values = list(self.match.values)
        return {"outside": outside, "undeclared": values, "empty_levels": self.empty, "problems": list(self.problems())}

    def problems(self) -> Iterator[str]:
        """Say what is almost certainly a mistake."""
        records, undeclared, name = int(self.match.counts.sum()), self.match.undeclared, self.column.name
        found = [(value, times) for value, times in self.match.values if value != MISSING]
        if not records:
            return
        if undeclared == records:
            yield f"No value of {name!r} is declared: {self._declared()}; found are {_values(self.match.values)}."
        elif undeclared > _SHARE * records:
            yield (
                f"{undeclared / records:.0%} of the values of {name!r} are not declared or missing, and count as "
                f"{str(self.column.outside)!r}: {_values(self.match.values)}."
            )
        for value, times in found:
            if (level := self._meant(value)) is not None:
                yield f"{value!r} of {name!r} ({times} records) is not declared, but looks like {level!r}."
        if self._are_digits([value for value, _ in found]):
            yield f"{name!r} holds 0 and 1: declare levels = [0, 1], or write the values as declared into the data."
        if self.empty and undeclared < records:
            what = "band" if self.column.edges else "level"
            yield f"No record of {name!r} has the {what} {', '.join(map(repr, self.empty))}."

    def _declared(self) -> str:
        levels = [str(level) for level in self.column.levels if level != CATCH_ALL]
        return f"declared are {', '.join(map(repr, levels[:5]))}{' ...' * (len(levels) > 5)}"

    def _meant(self, value: str) -> str | None:
        """Return the level that a value would be but for case, blanks, leading zeros or a fraction of 0."""
        if self.column.edges:
            return None
        return next((text for text in map(str, self.column.levels) if _plain(text) == _plain(value)), None)

    def _are_digits(self, found: Sequence[str]) -> bool:
        """Return whether two levels are declared, perhaps with that for everything else, and digits are found."""
        levels = {_plain(str(level)) for level in self.column.levels if level != CATCH_ALL}
        others = {_plain(str(level)) for level in self.column.levels if level != self.column.outside}
        are_two = not self.column.edges and 2 in (len(levels), len(others))
        return bool(found) and set(map(_plain, found)) <= {"0", "1"} and are_two and not levels & {"0", "1"}


@dataclass(frozen=True)
class NumberMatch:
    """A column of numbers or days with bounds, how its values lie about them, and what is done with missing ones."""

    bounds: Sequence[Bounds]
    match: ColumnMatch

    @property
    def name(self) -> str:
        """Return the column's name."""
        return self.bounds[0].name

    @property
    def span(self) -> str:
        """Return the bounds in words."""
        return f"{_written(self.bounds[0], self.bounds[0].low)} to {_written(self.bounds[0], self.bounds[0].high)}"

    @property
    def missing(self) -> str:
        """Return what a missing value counts as, in every question that uses the column."""
        rules = ("left out" if each.leaves_missing_out else _written(each, each.missing) for each in self.bounds)
        return " or ".join(dict.fromkeys(rules))

    def facts(self) -> dict[str, object]:
        """Return the match as facts by name."""
        below, _, above, none = (int(count) for count in self.match.counts)
        counted = {"below": below, "above": above, "no_number": none, "missing_counts_as": self.missing}
        return counted | {"undeclared": list(self.match.values), "problems": list(self.problems())}

    def problems(self) -> Iterator[str]:
        """Say what is almost certainly a mistake."""
        below, _, above, none = (int(count) for count in self.match.counts)
        records = int(self.match.counts.sum())
        what = "date" if self.bounds[0].dates else "number"
        if not records:
            return
        if none == records:
            yield f"No value of {self.name!r} is a {what}; found are {_values(self.match.values)}."
            return
        if below + above > _SHARE * records:
            yield (
                f"{(below + above) / records:.0%} of the values of {self.name!r} lie outside {self.span} and count as "
                f"the nearer bound ({below} below, {above} above)."
            )
        if none > _SHARE * records:
            done = "are left out" if self.missing == "left out" else f"count as {self.missing}"
            yield f"{none / records:.0%} of the values of {self.name!r} are missing or no {what}, and {done}."


def check_quotes(source: object) -> None:
    """Refuse a file of delimited text with a quote that is never closed, and say where it opens."""
    where = source.open_quote() if hasattr(source, "open_quote") else None
    if where is not None:
        raise SourceError(
            f"{where} opens a quote that is never closed, so it is unclear where the records after it end. "
            "Publishing will be refused. Close the quote; if it is part of the data, enclose the field in quotes "
            "and double it."
        )


def matches_of(
    source: Source, questions: Sequence[Question], declared: Mapping[str, Column]
) -> tuple[list[LevelMatch], list[NumberMatch]]:
    """Return how the columns of the questions match the records, as they are declared, in one pass over these."""
    asked = {column.name: column for question in questions for column in (*question.columns, *question.conditions)}
    columns = [declared.get(name, column) for name, column in asked.items()]
    bounds: dict[str, list[Bounds]] = {}
    for each in (each for question in questions for each in question.bounds):
        bounds.setdefault(each.name, []).append(each)
    try:
        found = source.match([*columns, *(_around(each) for each, *_ in bounds.values())])
    except SourceError:
        check_quotes(source)
        raise
    levels = [LevelMatch(*each) for each in zip(columns, found, strict=False)]
    return levels, [NumberMatch(*each) for each in zip(bounds.values(), found[len(columns) :], strict=True)]


def sizes_of(source: Source, questions: Sequence[Question], records: int, size: int | SecretNumber) -> SizeMatch:
    """Return whether there are as many records as declared; where persons are declared, no more ids than persons."""
    if isinstance(size, SecretNumber):
        known = SizeMatch(True, {"records": records}, [f"{records} records: secret, do not copy it into the study."])
        numbers = (each.model for each in questions if isinstance(each.model, BoundedNumber))
        return next((_secret_persons(source, each, known) for each in numbers if each.has_secret_persons), known)
    for question in questions:
        if isinstance(question.model, BoundedNumber) and question.model.persons is not None:
            return _sizes_of_persons(source, question.model.persons, size, question.bounds[0], records)
    verdict = "as declared" if records == size else f"but {size} are declared: publishing will be refused"
    facts = {"records": records, "declared_size": size}
    return SizeMatch(records == size, facts, [f"{records} records, {verdict}."])


def _secret_persons(source: Source, model: BoundedNumber[Any], known: SizeMatch) -> SizeMatch:
    """Return how many ids there are besides, and what has none."""
    found = ids_in(source, model.id_plan)
    is_nobody = (found.keys == 0).all(axis=1)
    ids, without = len(found.of_persons(None).firsts), int(found.rows[is_nobody].sum())
    most = int(found.rows[~is_nobody].max(initial=0))
    facts = {"ids": ids, "values_without_id": without, "most_values_of_one_id": most}
    words = [
        f"{ids} ids: secret, too. {without} values have no id and are left out, as adding somebody without an id would "
        f"change whose they are; no id has more than {most} values."
    ]
    return SizeMatch(True, {**known.facts, **facts}, [*known.words, *words])


def _sizes_of_persons(source: Source, persons: Persons, size: int, bounds: Bounds, records: int) -> SizeMatch:
    found = ids_in(source, persons.plan(bounds, None))
    is_nobody = (found.keys == 0).all(axis=1)
    ids, people = int((~is_nobody).sum()), len(found.keys)
    facts = {
        "records": records,
        "ids": ids,
        "declared_size": size,
        "values_without_id": int(found.rows[is_nobody].sum()),
        "most_values_of_one_id": int(found.rows.max(initial=0)),
    }
    beyond = f"{size - people} of them have no rows"
    if people > size:
        beyond = f"{people - size} will be left out; declare a size large enough for everybody"
    words = [
        f"{records} rows of {ids} ids; {size} persons are declared, so {beyond}.",
        f"{facts['values_without_id']} values have no id and count as one person's; no id has more than "
        f"{facts['most_values_of_one_id']} values.",
    ]
    return SizeMatch(people <= size, facts, words)


def _around(bounds: Bounds) -> Column:
    """Return bands below, within and above the bounds; a value at the upper bound is within."""
    low, high = float(bounds.low), nextafter(float(bounds.high), inf)
    if not bounds.dates:
        return Column.banded(bounds.name, (-LARGEST_WHOLE, low, high, LARGEST_WHOLE), "no number")
    ends = [day_text(day) for day in (FIRST_DAY, low, int(bounds.high) + 1, LAST_DAY)]
    return Column.banded(bounds.name, ends, "no number")


def show_levels(levels: Sequence[LevelMatch]) -> None:
    """Print what goes to the levels for outside values."""
    rows = [
        (
            each.column.name,
            str(each.column.outside),
            str(int(each.match.counts[each.column.home])),
            _values(each.match.values) or "-",
            ", ".join(each.empty) or "-",
        )
        for each in levels
    ]
    heads = ("column", "level", "records there", "most frequent undeclared values", "levels without records")
    show_table("Undeclared and missing values, by the level they go to", heads, rows)


def show_numbers(numbers: Sequence[NumberMatch]) -> None:
    """Print how many values are cut off at the bounds, and how many count as missing."""
    rows = []
    for each in numbers:
        below, _, above, none = (str(count) for count in each.match.counts)
        rows.append((each.name, each.span, below, above, none, each.missing, _values(each.match.values) or "-"))
    heads = ("column", "bounds", "below", "above", "no number", "counts as", "most frequent of these")
    show_table("Numbers cut off at the bounds (clipped), and missing ones", heads, rows)


def _written(bounds: Bounds, value: Fraction) -> str:
    return day_text(float(value)) if bounds.dates else f"{float(value):g}"


def _values(found: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{value!r} x {times}" for value, times in found)


def _plain(text: str) -> str:
    """Return a text without what people overlook: case, blanks, widths of letters, leading zeros, a fraction of 0."""
    plain = "".join(normalize("NFKC", text).casefold().split())
    try:
        return f"{float(plain):g}"
    except ValueError:
        return plain
