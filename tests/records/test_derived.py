"""Derived columns: what expressions mean, on every backend and for every value, against plain Python."""

import math
import random
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from conformance import twin
from conformance.backends import ENGINES, as_text
from conformance.values import FLOATS, TEXTS
from discreet.records import Derivation
from discreet.records._derived import _parts
from discreet.records._expression_syntax import Name, parse, written
from discreet.records._expressions import Kind

FARTHEST = 2**53 - 1
Maybe = float | None


def fine(value: float) -> Maybe:
    """Return a number as the language keeps it."""
    if not abs(value) <= FARTHEST:
        return None
    return 0.0 if abs(value) < 2.0**-500 else value


def number(value: Any) -> Maybe:
    known = twin.number(value)
    return None if known is None else fine(known)


def both(work: Callable[[float, float], Any]) -> Callable[[Maybe, Maybe], Any]:
    return lambda a, b: None if a is None or b is None else work(a, b)


def doubled(a: float, b: float) -> Maybe:
    return fine(a * b)


def divided(a: float, b: float) -> Maybe:
    return None if b == 0 else fine(a / b)


def day(value: Any) -> int | None:
    return twin.day(value)


def whole_years(first: int, last: int) -> int:
    """Count birthdays one by one."""
    if first > last:
        return -whole_years(last, first)
    born, now, count = (date(1970, 1, 1) + timedelta(first)), date(1970, 1, 1) + timedelta(last), 0
    while True:
        year = born.year + count + 1
        try:
            next_one = born.replace(year=year)
        except ValueError:  # 29 February, or the year 10000
            if year > 9999:
                return count
            next_one = date(year, 3, 1)
        if next_one > now:
            return count
        count += 1


def among(value: Any, *named: str) -> bool:
    """Tell whether a value is one of some texts; programs write whole numbers with a fraction of 0, too."""
    text = twin.text(value)
    whole = text[:-2] if text is not None and re.fullmatch(r"-?[0-9]+\.0", text) else text
    return whole in named


LAST_OF_2026 = (date(2026, 12, 31) - date(1970, 1, 1)).days


def after_two_sums(value: Any) -> bool | None:
    first = None if (known := number(value)) is None else fine(known + 0.1)
    second = None if first is None else fine(first - 0.3)
    return None if second is None else second > 0.1


def renamed(value: Any) -> str:
    return "A" if among(value, "a") else "one" if among(value, "1", "1.0") else "rest"


def named(value: Any) -> str:
    return next((text for text in ("a", "city7", "18") if among(value, text)), "none")


def year(value: Any) -> int | None:
    return None if (known := day(value)) is None else (date(1970, 1, 1) + timedelta(known)).year


def is_year_old(value: Any) -> bool | None:
    return None if (known := day(value)) is None else whole_years(known, LAST_OF_2026) >= 1


def is_low(value: Any) -> bool:
    return (known := number(value)) is None or known < 18


def rounded(value: Any) -> Maybe:
    if (known := number(value)) is None:
        return None
    return math.floor(known + 0.5) if abs(known) < 2**52 else known


BOTH = [True, False]
TRUTHS = {text: value for value in BOTH for text in (str(value).lower(), str(value), str(value).upper())}
CASES: dict[str, tuple[list[Any], Callable[[Any, int], Any]]] = {
    "number(x) * 2 >= id": (BOTH, lambda x, i: None if (v := both(doubled)(number(x), 2)) is None else v >= i),
    "number(x) / id < 1": (BOTH, lambda x, i: None if (v := both(divided)(number(x), i)) is None else v < 1),
    "(number(x) + 0.1) - 0.3 > 0.1": (BOTH, lambda x, _: after_two_sums(x)),
    "x in ('a', '1', 'true', '18') or id < 3": (BOTH, lambda x, i: among(x, "a", "1", "true", "18") or i < 3),
    "case when x = 'a' then 'A' when x = '1.0' then 'one' else 'rest' end": (
        ["A", "one", "rest"],
        lambda x, _: renamed(x),
    ),
    "coalesce(text(x), 'none')": (["a", "city7", "18", "none"], lambda x, _: named(x)),
    "year(x)": ([2025, 2026, 2027], lambda x, _: year(x)),
    "years(x, '2026-12-31') >= 1": (BOTH, lambda x, _: is_year_old(x)),
    "x is missing or number(x) < 18": (BOTH, lambda x, _: is_low(x)),
    "truth(x)": (BOTH, lambda x, _: TRUTHS.get(str(twin.text(x)))),
    "round(number(x))": ([-7, 0, 1, 18, 65], lambda x, _: rounded(x)),
}
HOLDS = {"x is missing or number(x) < 18": "number"}


VALUES: dict[str, list[Any]] = {
    "number": [*FLOATS, None],
    "whole": [0, 1, -7, 18, 2**53 - 1, -(2**53), 2**62, None],
    "truth": [True, False, None],
    "date": [date(2026, 1, 1), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31), None],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_value_on_every_backend_means_what_plain_python_says(engine: str, tmp_path: Path) -> None:
    made = ENGINES[engine]
    for kind in made.kinds:
        values: list[Any] = VALUES.get(kind, [*TEXTS, None])
        if kind in ("decimal", "time", "zoned", "mixed"):
            continue
        values = [value for value in values if made.can_hold(value)]
        if kind == "raw text":
            values = [value for value in values if as_text(value) is not None]
        (folder := tmp_path / kind.replace(" ", "")).mkdir()
        source = made.make(values, kind, folder)
        ids = dc.Column("id", tuple(range(len(values))), outside=0)
        for text, (levels, means) in CASES.items():
            column = dc.Column("made", levels, outside="no level")
            holds = {"x": HOLDS[text]} if text in HOLDS else {}
            derived = dc.Derived({"made": text}, holds=holds, levels={"made": [str(each) for each in levels]})
            (table,) = derived.source(source).count_families([[ids, column]])
            for place, value in enumerate(values):
                wanted = column.code(means(made.holds(value), place))
                assert table[place].argmax() == wanted, (kind, text, value)
                assert table[place].sum() == 1


Made = tuple[str, Callable[[dict[str, Maybe]], Any]]


def expression(generator: random.Random, depth: int, kind: str) -> Made:
    """Return the text of a random expression, and the function of one record that it means."""
    if kind == "number":
        if depth == 0:
            if generator.random() < 0.5:
                name = generator.choice("abc")
                return name, lambda r: r[name]
            value = generator.choice([0.0, 1.0, -2.5, 0.1, 1e15, 3.0])
            return f"({value!r})", lambda r: value
        (left, of_left), (right, of_right) = (expression(generator, depth - 1, "number") for _ in range(2))
        mark = generator.choice(["+", "-", "*", "/", "least", "coalesce", "case", "abs", "floor", "sqrt"])
        if mark in "+-*/":
            works: dict[str, Callable[[float, float], Maybe]] = {
                "+": lambda a, b: fine(a + b), "-": lambda a, b: fine(a - b), "*": doubled, "/": divided,
            }  # fmt: skip
            return f"({left} {mark} {right})", lambda r: both(works[mark])(of_left(r), of_right(r))
        if mark == "least":
            return f"least({left}, {right})", lambda r: both(min)(of_left(r), of_right(r))
        if mark == "coalesce":
            return f"coalesce({left}, {right})", lambda r: of_right(r) if (v := of_left(r)) is None else v
        if mark == "case":
            test, holds = expression(generator, depth - 1, "truth")
            return (
                f"case when {test} then {left} else {right} end",
                lambda r: of_left(r) if holds(r) is True else of_right(r),
            )
        works_on_one: dict[str, Callable[[float], Maybe]] = {
            "abs": abs, "floor": lambda v: float(math.floor(v)), "sqrt": lambda v: None if v < 0 else math.sqrt(v),
        }  # fmt: skip
        return f"{mark}({left})", lambda r: None if (v := of_left(r)) is None else works_on_one[mark](v)
    if depth == 0 or generator.random() < 0.4:
        (left, of_left), (right, of_right) = (expression(generator, max(depth - 1, 0), "number") for _ in range(2))
        mark = generator.choice(["<", "<=", "=", "<>", ">", ">=", "missing"])
        if mark == "missing":
            return f"(number({left}) is missing)", lambda r: of_left(r) is None
        compared = {
            "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
            ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
        }[mark]  # fmt: skip
        return f"(number({left}) {mark} number({right}))", lambda r: both(compared)(of_left(r), of_right(r))
    (left, of_left), (right, of_right) = (expression(generator, depth - 1, "truth") for _ in range(2))
    mark = generator.choice(["and", "or", "not"])
    if mark == "not":
        return f"(not {left})", lambda r: None if (v := of_left(r)) is None else not v
    decides = mark == "or"

    def joined(record: dict[str, Maybe]) -> bool | None:
        found = of_left(record), of_right(record)
        return decides if decides in found else None if None in found else not decides

    return f"({left} {mark} {right})", joined


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions_over_odd_numbers_mean_what_plain_python_says_to_the_bit(seed: int) -> None:
    generator = random.Random(seed)
    text, means = expression(generator, 4, "number")
    values: list[Any] = [*FLOATS, None, 3.0, -3.0, 1e-200, 7.25]
    records = {name: [generator.choice(values) for _ in range(200)] for name in "abc"}
    known = {name: [number(value) for value in column] for name, column in records.items()}
    assert written(parse(written(parse(text)))) == written(parse(text))
    if not any(isinstance(part, Name) for part in _parts(parse(text))):
        with pytest.raises(dc.DeclarationError, match="names no column"):
            dc.Derived({"made": text})
        return
    source: Any = dc.Derived({"made": text}).source(records)
    (batch,) = source._with([dc.Column.banded("made", [0, 1])]).batches([])
    found = batch.numbers("made", False)
    for place in range(200):
        wanted = means({name: column[place] for name, column in known.items()})
        own = found[place]
        assert math.isnan(own) if wanted is None else own == wanted and str(own + 0.0) == str(wanted + 0.0), text


def test_months_and_years_are_those_of_the_calendar() -> None:
    generator = np.random.default_rng(4)
    first, last = generator.integers(-40_000, 40_000, (2, 400)).tolist()
    zero = date(1970, 1, 1)
    records = {"a": [zero + timedelta(each) for each in first], "b": [zero + timedelta(each) for each in last]}
    source: Any = dc.Derived({"y": "years(a, b)", "d": "b - day(a)", "w": "weekday(a)", "m": "month(a)"}).source(
        records
    )
    (batch,) = source._with([dc.Column.banded(name, [0, 1]) for name in "ydwm"]).batches([])
    assert batch.numbers("y", False).tolist() == [whole_years(*each) for each in zip(first, last, strict=True)]
    assert batch.numbers("d", False).tolist() == [b - a for a, b in zip(first, last, strict=True)]
    assert batch.numbers("w", False).tolist() == [each.isoweekday() for each in records["a"]]
    assert batch.numbers("m", False).tolist() == [each.month for each in records["a"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a text"),
        ("1 +", "ends where"),
        ("1 + 2", "names no column"),
        ("x", "cannot be told"),
        ("x = y", "cannot be told"),
        ("system('rm')", "no function"),
        ("x.__class__", "'.__class__'"),
        ("x in (y)", "list of numbers or texts"),
        ("made + 1", "derived from itself"),
        ("x + 'a'", "cannot be used between"),
        ("x = 'a' and x > 'b'", "compares numbers or days"),
        ("lookup(x, 'nothing')", "Tables are"),
        ("x + 1e300", "further than"),
        ("day(x) + day(x)", "cannot be used between"),
        ("days(x, 'yesterday')", "no day"),
        pytest.param("(" * 200 + "x" + ")" * 200, "brackets", id="brackets"),
        pytest.param("+".join(["number(x)"] * 500), "operations in a row", id="a long sum"),
        ("case when x then 1", "needs 'end'"),
        ("abs()", "takes 1 arguments"),
        ("text(x) is missing", "may be a text"),
    ],
)
def test_what_is_no_expression_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=r"columns\.made\.expression") as problem:
        dc.Derived({"made": text})
    assert words in str(problem.value)


def test_a_chain_of_columns_that_use_each_other_twice_is_evaluated_once_each() -> None:
    chain = {f"c{n}": f"c{n - 1} + c{n - 1}" for n in range(1, 30)} | {"c0": "number(x)"}
    derived = dc.Derived(chain)
    assert len(derived.definitions["c29"].operation.steps()) == 30
    found = derived.source({"x": [1, 2]})
    (table,) = found.count_families([[dc.Column("c29", (2**29, 2**30))]])
    assert table.tolist() == [1, 1, 0]


def test_ids_may_not_be_derived_and_persons_may_have_derived_values() -> None:
    rows = {"id": ["a", "a", "b", "c"], "w": [1, 2, 3, None], "h": [1, 1, 1, 1]}
    derived = dc.Derived({"ratio": "w / h", "who": "case when w > 1 then 'x' else 'y' end"})
    model = dc.NumberSums("ratio", (0, 10), persons=dc.Persons("id", 3, "mean"))
    assert derived.statistics(model, rows).derived == derived.derivation
    with pytest.raises(dc.SourceError, match="is derived"):
        derived.statistics(dc.NumberSums("ratio", (0, 10), persons=dc.Persons("who", 3, "mean")), rows)


def test_what_a_release_says_of_derived_columns_is_read_strictly() -> None:
    derived = dc.Derived({"made": "lookup(x, 't') = 'u'"}, lookups={"t": {"b": "u", "a": "v"}})
    said = derived.derivation
    assert Derivation.from_document(said.document) == said
    changes: list[Any] = [
        {"expressions": {}},
        {"expressions": {"made": "x=1"}},
        {"expressions": {"made": 1}},
        {"expressions": {"made": "x = 1"}, "more": 1},
        {"expressions": {"made": "x = 1"}, "lookups": {}},
        {"expressions": {"made": "x = 1"}, "lookups": {"t": {"a": True}}},
        [],
    ]
    for change in changes:
        with pytest.raises(dc.DocumentError):
            Derivation.from_document(change)


def test_kinds_of_columns_are_told_by_what_is_declared_or_by_where_they_stand() -> None:
    holds = {"born": "day", "sex": "text", "old": "truth", "age": "number"}
    texts = {
        "a": "born >= '1990-01-01'", "b": "case when sex = 'f' then age else age + 1 end", "c": "not old",
        "d": "coalesce(born, '1990-01-01') + 10", "e": "least(age, 5)", "f": "code in (1, 2)",
        "g": "other < '2026-01-01'",
    }  # fmt: skip
    kinds = {name: each.kind for name, each in dc.Derived(texts, holds=holds).definitions.items()}
    truth, days, numbers = Kind.TRUTH, Kind.DAY, Kind.NUMBER
    assert kinds == {"a": truth, "b": numbers, "c": truth, "d": days, "e": numbers, "f": truth, "g": truth}
