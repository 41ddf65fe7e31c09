"""What an expression means: a value for every record, whatever the record holds, the same on every backend.

There are four kinds of values. Numbers and days are floats, NaN where missing. Truth values are 1, 0, and -1 where
missing. Texts are indices into the list of texts that the study names (in the expression, its look-up tables and the
levels of the derived column), -1 for any other text and where there is none: no text is ever taken from the records. So
a comparison with a named text is true or false, also where there is no text; whether two texts that are not named are
the same is missing.

Every operation is defined for all values. A result that is no number, or further than 2^53 - 1 from 0, is missing, and
so is a quotient by 0. A number nearer to 0 than 2^-500 is 0, so no operation ever meets one that processors handle
slowly. Arithmetic is that of IEEE 754, where +, -, *, / and the root are rounded correctly, so every machine and every
backend finds the same bits. Each operation is applied to whole arrays, one step for each record whatever it holds.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._core.errors import DeclarationError, meant
from discreet.records._columns import Column
from discreet.records._expression_syntax import COMPARISONS, DEEPEST, Call, Case, Literal, Name, Node, written
from discreet.records._typed_arrays import Array
from discreet.records._values import FIRST_DAY, LARGEST_WHOLE, LAST_DAY, day_of, float_text

MOST_OPERATIONS, MOST_TEXTS = 1_000, 20_000
"""How many operations one derived column may take for each record, and how many texts it may name."""
_NEAREST = 2.0**-500
_MONTHS_FROM_YEAR_1 = 1969 * 12  # of 1970-01

Raw = Column | tuple[str, bool]
"""What is asked of a stored column: codes of declared levels, or numbers (or days) under a name."""


class Kind(Enum):
    """What the values of an expression are."""

    NUMBER = "numbers"
    DAY = "days"
    TEXT = "texts"
    TRUTH = "truth values"


class Records(Protocol):
    """Some records of a backend."""

    def __len__(self) -> int:
        """Return the number of records."""

    def codes(self, column: Column) -> NDArray[np.integer]:
        """Return the index of every record's level."""

    def numbers(self, name: str, dates: bool) -> NDArray[np.float64]:
        """Return every record's number, or day."""


@dataclass(frozen=True)
class Lookup:
    """A public table from texts to texts or numbers, declared in a study.

    >>> Lookup({"I21": "heart", "C50": "cancer"}).kind
    <Kind.TEXT: 'texts'>
    """

    entries: Mapping[str, str | float]

    @property
    def kind(self) -> Kind:
        """Return what the table leads to."""
        are_texts = any(isinstance(value, str) for value in self.entries.values())
        return Kind.TEXT if are_texts else Kind.NUMBER


@dataclass(frozen=True, eq=False)
class Operation:
    """A step that is applied to arrays: what kind it gives, of what, and how."""

    kind: Kind
    parts: "tuple[Operation, ...]" = ()
    work: Callable[..., Array] | None = None
    raw: Raw | None = None
    """The stored column that is read, if it is no step but an operand."""

    def found(self, records: Records) -> Array:
        """Return the value of every record."""
        known: dict[Operation, Array] = {}
        with np.errstate(all="ignore"):
            for step in self.steps():
                known[step] = step.applied(records, [known[part] for part in step.parts])
            return np.broadcast_to(known[self], len(records))

    def applied(self, records: Records, values: Sequence[Array]) -> Array:
        """Return the value of every record from those of the parts."""
        if self.work is not None:
            return self.work(*values)
        if isinstance(self.raw, Column):
            codes = np.asarray(records.codes(self.raw)).astype(np.int64)
            return np.where(codes == self.raw.home, -1, codes)
        assert self.raw is not None
        name, dates = self.raw
        stored = np.asarray(records.numbers(name, dates), dtype=np.float64)
        return _day(stored) if dates else _number(stored)

    def steps(self) -> "list[Operation]":
        """Return all that has to be done, each once and after its parts."""
        found: dict[Operation, None] = {}
        waiting = [self]
        while waiting:
            step = waiting[-1]
            left = [part for part in step.parts if part not in found]
            if left:
                waiting += left
            else:
                found[waiting.pop()] = None
        return list(found)

    def operands(self) -> list[Raw]:
        """Return the stored columns that are read, each once."""
        return list(dict.fromkeys(step.raw for step in self.steps() if step.raw is not None))


def _number(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that lie within 2^53 - 1 of 0, and NaN for others; 0 for those that hardly differ from it."""
    size = np.abs(values)
    return np.where(size <= LARGEST_WHOLE, np.where(size < _NEAREST, 0.0, values), np.nan)


def _day(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return days of the calendar, as whole numbers; NaN for others."""
    whole = np.floor(values)
    return np.where((whole == values) & (whole >= FIRST_DAY) & (whole <= LAST_DAY), whole, np.nan)


def _quotient(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return _number(above / np.where(below == 0, np.nan, below))


def _months(days: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the months since 1970-01 of days, and the day of the month from 0."""
    known = ~np.isnan(days)
    dates = np.where(known, days, 0).astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    within = (dates - months.astype("datetime64[D]")).astype(np.float64)
    return np.where(known, months.astype(np.int64), np.nan), np.where(known, within, np.nan)


def _months_between(first: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the complete months from one day to another; backwards as many below 0.

    A month is complete on the same day of the month, or on the first of the next month where there is no such day.
    """
    low, high = np.minimum(first, last), np.maximum(first, last)
    (low_months, low_day), (high_months, high_day) = _months(low), _months(high)
    complete = high_months - low_months - (high_day < low_day)
    return np.where(first <= last, complete, -complete) + 0.0


def _years_between(first: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.trunc(_months_between(first, last) / 12) + 0.0


def _year(days: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.floor((_months(days)[0] + _MONTHS_FROM_YEAR_1) / 12) + 1


def _month(days: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.mod(_months(days)[0], 12) + 1


def _weekday(days: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday."""
    return np.mod(days + 3, 7) + 1


def _and(first: Array, second: Array) -> Array:
    """Return 0 if either is 0, 1 if both are 1, and missing otherwise."""
    return np.where((first == 0) | (second == 0), 0, np.where((first == 1) & (second == 1), 1, -1))


def _not(truth: Array) -> Array:
    return np.where(truth == -1, -1, 1 - np.asarray(truth, dtype=np.int64))


def _or(first: Array, second: Array) -> Array:
    return _not(_and(_not(first), _not(second)))


def _is_missing(values: Array) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.asarray(values) == -1


def _gap(kind: Kind) -> float:
    return math.nan if kind in (Kind.NUMBER, Kind.DAY) else -1


_COMPARED: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _compared(mark: str) -> Callable[[Array, Array], Array]:
    def compare(first: Array, second: Array) -> Array:
        return np.where(_is_missing(first) | _is_missing(second), -1, _COMPARED[mark](first, second).astype(np.int64))

    return compare


def _same_text(first: Array, second: Array) -> Array:
    return np.where((first == -1) & (second == -1), -1, np.equal(first, second).astype(np.int64))


def _other_text(first: Array, second: Array) -> Array:
    return _not(_same_text(first, second))


def _among(options: Sequence[float], is_text: bool) -> Callable[[Array], Array]:
    listed = np.array(sorted(set(options)), dtype=np.float64)

    def among(values: Array) -> Array:
        found = np.isin(np.asarray(values, dtype=np.float64), listed).astype(np.int64)
        return np.where(_is_missing(values) & ~is_text, -1, found)

    return among


def _first_known(*values: Array) -> Array:
    found = values[-1]
    for each in values[-2::-1]:
        found = np.where(_is_missing(each), found, each)
    return found


def _chosen(*given: Array) -> Array:
    """Return the value after the first condition that is true, or else the last; conditions and values take turns."""
    found = given[-1]
    for place in range(len(given) - 3, -1, -2):
        found = np.where(given[place] == 1, given[place + 1], found)
    return found


_NUMBERS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "floor": np.floor,
    "ceiling": lambda a: np.ceil(a) + 0.0,
    "round": lambda a: np.floor(a + 0.5),
    "sqrt": lambda a: np.sqrt(np.where(a < 0, np.nan, a)),
    "negative": lambda a: 0.0 - a,
    "*": lambda a, b: _number(a * b),
    "/": _quotient,
}
_OF_DAYS: dict[str, Callable[..., Array]] = {
    "days": lambda a, b: b - a,
    "months": _months_between,
    "years": _years_between,
    "year": _year,
    "month": _month,
    "weekday": _weekday,
}
_CASTS = {kind.name.casefold(): kind for kind in Kind}


@dataclass
class Compiler:
    """Makes operations of trees, over the kinds that a study declares of its columns.

    `defined` are other derived columns, which stand for their expressions; `kinds` what declared columns hold.
    """

    kinds: Mapping[str, Kind]
    defined: Mapping[str, Node]
    lookups: Mapping[str, Lookup]
    levels: Sequence[str] = ()
    """Texts that the result may be, besides those that the expression names."""
    _open: tuple[str, ...] = ()
    _texts: dict[str, int] = field(default_factory=dict)
    _done: dict[tuple[int, Kind | None], Operation | None] = field(default_factory=dict)
    _depth: int = 0

    def compiled(self, tree: Node, wanted: Kind | None) -> Operation:
        """Return the operation of an expression, of a wanted kind if one is declared."""
        named = {plain_text(text) for text in self._named(tree)} | set(map(plain_text, self.levels))
        if len(named) > MOST_TEXTS:
            raise DeclarationError(f"The expression names {len(named):,} texts; at most {MOST_TEXTS:,} are allowed.")
        self._texts = {text: index for index, text in enumerate(sorted(named))}
        found = self._typed(tree, wanted) if wanted is None else self._must(tree, wanted)
        if found is None:
            raise _unclear(tree)
        if not found.operands():
            raise DeclarationError("The expression names no column, so all records would be alike.")
        if len(found.steps()) > MOST_OPERATIONS:
            raise DeclarationError(f"The expression takes more than {MOST_OPERATIONS:,} operations for each record.")
        return found

    @cached_property
    def texts(self) -> list[str]:
        """Return all texts that values can be, by their indices."""
        return list(self._texts)

    def _named(self, tree: Node) -> set[str]:
        """Return every text that an expression names, with those of the derived columns and tables that it uses."""
        found: set[str] = set()
        waiting, seen = [tree], set[str]()
        while waiting:
            node = waiting.pop()
            if isinstance(node, Literal) and not isinstance(node.value, bool):
                found.add(_text(node.value))
            if isinstance(node, Name) and node.name in self.defined and node.name not in seen:
                seen.add(node.name)
                waiting.append(self.defined[node.name])
            if isinstance(node, Call) and node.function == "lookup":
                table = self._table(node)
                found |= {*table.entries, *map(_text, table.entries.values())}
            waiting += node.parts()
        return found

    def _table(self, node: Call) -> Lookup:
        name = node.arguments[1]
        if not isinstance(name, Literal) or not isinstance(name.value, str) or name.value not in self.lookups:
            known = ", ".join(map(repr, self.lookups)) or "none"
            near = meant(str(getattr(name, "value", "")), self.lookups)
            raise DeclarationError(
                f"lookup takes a value and the name of a declared table, such as lookup(code, 'chapters'), declared as "
                f"[lookups.chapters]. Tables are {known}.{near}"
            )
        return self.lookups[name.value]

    def _must(self, node: Node, kind: Kind) -> Operation:
        """Return the operation of a part that must be of a kind."""
        found = self._typed(node, kind)
        if found is None or found.kind is not kind:
            other = "" if found is None else f"; it is made of {found.kind.value}"
            raise DeclarationError(f"{written(node)!r} should be {kind.value} where it stands{other}.")
        return found

    def _typed(self, node: Node, wanted: Kind | None) -> Operation | None:
        """Return the operation of a part; None if what it holds cannot be told without knowing what is wanted.

        Trees outlive this, so a part is known by its identity, and is looked at once for each kind that is wanted.
        """
        if (key := (id(node), wanted)) not in self._done:
            if self._depth == 2 * DEEPEST:
                raise DeclarationError(
                    f"Derived columns are made of each other in more than {2 * DEEPEST} operations in a row."
                )
            self._depth += 1
            self._done[key] = self._made(node, wanted)
            self._depth -= 1
        return self._done[key]

    def _made(self, node: Node, wanted: Kind | None) -> Operation | None:
        if isinstance(node, Literal):
            return self._literal(node.value, wanted)
        if isinstance(node, Name):
            return self._column(node.name, wanted)
        if isinstance(node, Case):
            return self._case(node, wanted)
        assert isinstance(node, Call)
        name, arguments = node.function, node.arguments
        if name in _CASTS:
            return self._must(arguments[0], _CASTS[name])
        if name in ("and", "or"):
            work = _and if name == "and" else _or
            return _step(Kind.TRUTH, work, *(self._must(each, Kind.TRUTH) for each in arguments))
        if name == "not":
            return _step(Kind.TRUTH, _not, self._must(arguments[0], Kind.TRUTH))
        if name == "missing":
            return self._missing(arguments[0])
        if name in COMPARISONS:
            return self._comparison(name, *arguments)
        if name == "in":
            return self._membership(arguments[0], arguments[1:])
        if name in ("+", "-"):
            return self._sum(name, (arguments[0], arguments[1]), wanted)
        if name in ("coalesce", "least", "greatest"):
            return self._alike(name, arguments, wanted)
        if name == "lookup":
            return self._looked_up(node, wanted)
        if name in _OF_DAYS:
            return _step(Kind.NUMBER, _OF_DAYS[name], *(self._must(each, Kind.DAY) for each in arguments))
        return _step(Kind.NUMBER, _NUMBERS[name], *(self._must(each, Kind.NUMBER) for each in arguments))

    def _literal(self, value: float | str | bool, wanted: Kind | None) -> Operation:
        if isinstance(value, bool):
            return _constant(Kind.TRUTH, int(value))
        if isinstance(value, float):
            if abs(value) > LARGEST_WHOLE:
                raise DeclarationError(f"{value!r} is further than 2^53 - 1 from 0, so it would be missing.")
            if wanted is Kind.TEXT:
                return _constant(Kind.TEXT, self._texts[plain_text(_text(value))])
            return _constant(Kind.NUMBER, float(_number(np.array([value]))[0]))
        if wanted is Kind.DAY:
            if (day := day_of(value)) is None:
                raise DeclarationError(f"{value!r} is no day; write days as '2026-01-31'.")
            return _constant(Kind.DAY, day)
        return _constant(Kind.TEXT, self._texts[plain_text(value)])

    def _column(self, name: str, wanted: Kind | None) -> Operation | None:
        if name in self.defined:
            if name in self._open:
                raise DeclarationError(f"{name!r} is derived from itself: {' -> '.join((*self._open, name))}.")
            self._open = (*self._open, name)
            found = self._typed(self.defined[name], self.kinds.get(name, wanted))
            self._open = self._open[:-1]
            return found
        kind = wanted or self.kinds.get(name)
        if kind is None:
            return None
        if kind in (Kind.NUMBER, Kind.DAY):
            return Operation(kind, raw=(name, kind is Kind.DAY))
        levels = (False, True) if kind is Kind.TRUTH else tuple(self._texts)
        mark = "(any other)"
        while mark in self._texts:
            mark += ")"
        return Operation(kind, raw=Column(name, levels or ("",), mark))

    def _case(self, node: Case, wanted: Kind | None) -> Operation | None:
        tests = [self._must(test, Kind.TRUTH) for test, _ in node.branches]
        nodes = [value for _, value in node.branches] + ([] if node.otherwise is None else [node.otherwise])
        values = self._all_alike(nodes, wanted)
        if values is None:
            return None
        kind = values[0].kind
        last = _constant(kind, _gap(kind)) if node.otherwise is None else values[-1]
        pairs = [part for pair in zip(tests, values, strict=False) for part in pair]
        return _step(kind, _chosen, *pairs, last)

    def _alike(self, name: str, arguments: Sequence[Node], wanted: Kind | None) -> Operation | None:
        values = self._all_alike(arguments, wanted)
        if values is None:
            return None
        kind = values[0].kind
        if name == "coalesce":
            return _step(kind, _first_known, *values)
        if kind not in (Kind.NUMBER, Kind.DAY):
            raise DeclarationError(f"{name} compares numbers or days, not {kind.value}.")
        work = np.minimum if name == "least" else np.maximum
        found = values[0]
        for each in values[1:]:
            found = _step(kind, work, found, each)
        return found

    def _all_alike(self, nodes: Sequence[Node], wanted: Kind | None) -> list[Operation] | None:
        """Return operations of one kind: that which is wanted, or that of the first part which tells."""
        if wanted is None:
            for node in sorted(nodes, key=lambda each: isinstance(each, Literal)):  # a literal text may be a day
                if (found := self._typed(node, None)) is not None:
                    wanted = found.kind
                    break
        return None if wanted is None else [self._must(node, wanted) for node in nodes]

    def _missing(self, node: Node) -> Operation:
        found = self._typed(node, None)
        if found is None or found.kind is Kind.TEXT:
            raise DeclarationError(
                f"'is missing' needs a number, a day or a truth value, and {written(node)!r} may be a text. Write "
                f"number({written(node)}) is missing, or day(...); of texts, compare those that you know."
            )
        return _step(Kind.TRUTH, lambda a: _is_missing(a).astype(np.int64), found)

    def _comparison(self, mark: str, first: Node, second: Node) -> Operation:
        is_ordered = mark not in ("=", "<>")
        parts = [None if isinstance(each, Literal) else self._typed(each, None) for each in (first, second)]
        kind = next((part.kind for part in parts if part is not None), None)
        if kind is None:
            literal = next((each for each in (first, second) if isinstance(each, Literal)), None)
            if literal is None:
                raise _unclear(first)
            kind = _kind_of(literal.value, is_ordered)
        if is_ordered and kind not in (Kind.NUMBER, Kind.DAY):
            raise DeclarationError(f"{mark!r} compares numbers or days, not {kind.value}.")
        work = _compared(mark)
        if kind is Kind.TEXT:
            work = _same_text if mark == "=" else _other_text
        return _step(Kind.TRUTH, work, self._must(first, kind), self._must(second, kind))

    def _membership(self, item: Node, options: Sequence[Node]) -> Operation:
        found = self._typed(item, None)
        values = [each.value for each in options if isinstance(each, Literal)]
        if found is None:
            found = self._must(item, _kind_of(values[0], False))
        indices = [float(self._literal(value, found.kind).found(_ONE)[0]) for value in values]
        if any(self._literal(value, found.kind).kind is not found.kind for value in values):
            raise DeclarationError(f"{written(item)!r} is made of {found.kind.value}, and the list is not.")
        return _step(Kind.TRUTH, _among(indices, found.kind is Kind.TEXT), found)

    def _sum(self, mark: str, pair: tuple[Node, Node], wanted: Kind | None) -> Operation:
        parts = [self._typed(each, None) for each in pair]
        kinds = [None if part is None else part.kind for part in parts]
        if kinds[0] is None and kinds[1] is Kind.DAY and mark == "-":
            kinds[0] = Kind.DAY
        if kinds[0] is None and wanted is Kind.DAY and kinds[1] is not Kind.DAY:
            kinds[0] = Kind.DAY
        one, other = (self._must(each, kind or Kind.NUMBER) for each, kind in zip(pair, kinds, strict=True))
        made = one.kind, other.kind
        add = mark == "+"
        if made == (Kind.NUMBER, Kind.NUMBER):
            return _step(Kind.NUMBER, lambda a, b: _number(a + b if add else a - b), one, other)
        if made == (Kind.DAY, Kind.DAY) and not add:
            return _step(Kind.NUMBER, lambda a, b: a - b, one, other)
        if made == (Kind.DAY, Kind.NUMBER):
            return _step(Kind.DAY, lambda a, b: _day(a + b if add else a - b), one, other)
        if made == (Kind.NUMBER, Kind.DAY) and add:
            return _step(Kind.DAY, lambda a, b: _day(a + b), one, other)
        raise DeclarationError(f"{mark!r} cannot be used between {one.kind.value} and {other.kind.value}.")

    def _looked_up(self, node: Call, wanted: Kind | None) -> Operation:
        table = self._table(node)
        kind = Kind.TEXT if wanted is Kind.TEXT else table.kind
        gap = _gap(kind)
        found = np.full(len(self._texts) + 1, gap)
        for key, value in table.entries.items():
            found[self._texts[plain_text(key)]] = (
                self._texts[plain_text(_text(value))] if kind is Kind.TEXT else _number(np.array([float(value)]))[0]
            )
        entries = found if kind is Kind.NUMBER else found.astype(np.int64)
        return _step(kind, lambda codes: entries[codes], self._must(node.arguments[0], Kind.TEXT))


class _OneRecord:
    """A record that nothing is asked of: constants are the same for all."""

    def __len__(self) -> int:
        return 1

    def codes(self, column: Column) -> NDArray[np.integer]:
        raise AssertionError

    def numbers(self, name: str, dates: bool) -> NDArray[np.float64]:
        raise AssertionError


_ONE = _OneRecord()


def _step(kind: Kind, work: Callable[..., Array], *parts: Operation) -> Operation:
    return Operation(kind, parts, work)


def _constant(kind: Kind, value: float) -> Operation:
    is_float = kind in (Kind.NUMBER, Kind.DAY)
    array = np.array([value], dtype=np.float64 if is_float else np.int64)
    return Operation(kind, (), lambda: array)


def _kind_of(value: float | str | bool, is_ordered: bool) -> Kind:
    if isinstance(value, bool):
        return Kind.TRUTH
    if isinstance(value, float):
        return Kind.NUMBER
    return Kind.DAY if is_ordered and day_of(value) is not None else Kind.TEXT


def _unclear(node: Node) -> DeclarationError:
    return DeclarationError(
        f"It cannot be told whether {written(node)!r} holds numbers, days, texts or truth values. Write number(...), "
        "day(...), text(...) or truth(...) around it, or declare the column."
    )


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else float_text(float(value)) or ""


def plain_text(text: str) -> str:
    """Return the text by which a value is compared: whole numbers have no fraction."""
    return text[:-2] if re.fullmatch(r"-?[0-9]+\.0", text) else text
