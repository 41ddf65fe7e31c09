"""Networks as BIF text, the format in which most public Bayesian networks are shared.

A text declares `variable` blocks with their levels and `probability` blocks with one row of numbers for each setting of
the parents. Rows are printed with few digits, so they are brought back to sum 1 when read. A `property outside = level`
keeps the level for undeclared values, where it is not the first; other properties are passed over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.errors import DeclarationError
from discreet.networks._model import Network
from discreet.records import CATCH_ALL, Column, Level, text_of

Declared = TypeVar("Declared")
Tables = dict[str, NDArray[np.float64]]
"""P(variable | parents) by the variable's name, with axes (parents..., variable)."""

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"([^"]*)"|([{}()\[\]|,;])|([^\s{}()\[\]|,;"]+)', re.DOTALL)
_PLAIN = re.compile(r"[^\s{}()\[\]|,;\"/]+")
_SLACK = 0.01  # how far from 1 the sum of a printed row may be


def bif_text(path_or_text: str | PathLike[str]) -> str:
    """Return the text itself if it is one (it has a brace), else the text of the file."""
    if isinstance(path_or_text, str) and "{" in path_or_text:
        return path_or_text
    try:
        return Path(path_or_text).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise DeclarationError(f"There is no readable BIF file at {str(path_or_text)[:200]!r}.") from None


def read_bif(text: str) -> tuple[Network, Tables]:
    """Return the network that a BIF text declares, under the flat prior, and its tables of probabilities.

    >>> coin = "variable coin { type discrete [2] {head, tail}; } probability (coin) { table 0.25, 0.75; }"
    >>> network, tables = read_bif(coin)
    >>> network, tables["coin"]
    (Network('coin'), array([0.25, 0.75]))

    Args:
        text: the text of a file in the Bayesian Interchange Format.

    Returns:
        the network, and by variable its probabilities given its parents.

    Raises:
        DeclarationError: if the text is no network that can be read.
    """
    tokens = _Tokens(text)
    columns: dict[str, Column] = {}
    entries: dict[str, tuple[list[str], _Rows]] = {}
    while not tokens.at_end:
        keyword = tokens.word()
        if keyword == "network":
            tokens.skip_block()
        elif keyword == "variable":
            column = _read_variable(tokens)
            _add(columns, column.name, column)
        elif keyword == "probability":
            child, parents, rows = _read_probability(tokens)
            _add(entries, child, (parents, rows))
        else:
            raise DeclarationError(f"BIF blocks are network, variable and probability; got {keyword[:80]!r}.")
    if set(columns) != set(entries):
        odd = ", ".join(map(repr, sorted(set(columns) ^ set(entries))))
        raise DeclarationError(
            f"Every variable in a BIF text needs exactly one variable block and one probability block; check {odd}."
        )
    network = Network(list(columns.values()), [entries[name][0] for name in columns])
    return network, {f[-1]: _table([columns[name] for name in f], entries[f[-1]][1]) for f in network.families}


def write_bif(network: Network, tables: Mapping[str, ArrayLike] | None = None) -> str:
    """Return a network as BIF text, with the given tables or with the means of its prior."""
    blocks = ["network discreet {\n}"]
    for column in network.variables:
        levels = ", ".join(_shown(level) for level in column.levels)
        is_usual = column.outside == usual_home(column.levels)
        extra = "" if is_usual else f"  property outside = {_shown(column.outside)};\n"
        head = f"variable {_shown(column.name)} {{\n  type discrete [ {len(column.levels)} ] {{ {levels} }};\n"
        blocks.append(f"{head}{extra}}}")
    columns = {column.name: column for column in network.variables}
    for family, prior in zip(network.families, network.prior, strict=True):
        mean = np.broadcast_to(np.array(prior) / sum(prior), network.shape(family))
        given = mean if tables is None else _checked(tables.get(family[-1]), network.shape(family), family[-1])
        blocks.append(_probability_block([columns[name] for name in family], given))
    return "\n".join(blocks) + "\n"


_Rows = dict[tuple[str, ...] | str, list[float]]


class _Tokens:
    """The words and signs of a BIF text, read from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._position = 0

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, bool]]:
        for match in _TOKEN.finditer(text):
            quoted, sign, word = match.groups()
            if match.group().startswith(("//", "/*")):
                continue
            yield (sign, True) if sign else (quoted if word is None else word, False)

    @property
    def at_end(self) -> bool:
        return self._position >= len(self._tokens)

    def _next(self) -> tuple[str, bool]:
        if self.at_end:
            raise DeclarationError("The BIF text ends in the middle of a block.")
        self._position += 1
        return self._tokens[self._position - 1]

    def sees(self, sign: str) -> bool:
        """Take the next token if it is this sign, and tell whether it was."""
        seen = not self.at_end and self._tokens[self._position] == (sign, True)
        self._position += seen
        return seen

    def expect(self, *signs: str) -> None:
        for sign in signs:
            found, is_sign = self._next()
            if found != sign or not is_sign:
                raise DeclarationError(f"The BIF text must have {sign!r} where it has {found[:80]!r}.")

    def word(self) -> str:
        found, is_sign = self._next()
        if is_sign:
            raise DeclarationError(f"The BIF text must have a name where it has {found!r}.")
        return found

    def words_until(self, sign: str) -> list[str]:
        """Return the words up to a sign; commas between them may be left out."""
        words = []
        while not self.sees(sign):
            if not self.sees(","):
                words.append(self.word())
        return words

    def skip_block(self) -> None:
        while not self.sees("}"):
            self._next()

    def skip_statement(self) -> list[str]:
        passed = []
        while not self.sees(";"):
            passed.append(self._next()[0])
        return passed


def _add(found: dict[str, Declared], name: str, value: Declared) -> None:
    if name in found:
        raise DeclarationError(f"The BIF text declares {name!r} twice.")
    found[name] = value


def _read_variable(tokens: _Tokens) -> Column:
    name, levels, outside = tokens.word(), list[str](), None
    tokens.expect("{")
    while not tokens.sees("}"):
        if tokens.word() == "type":
            if (kind := tokens.word()) != "discrete":
                raise DeclarationError(f"The variable {name!r} must be discrete; got {kind!r}.")
            tokens.expect("[")
            tokens.words_until("]")
            tokens.expect("{")
            levels = tokens.words_until("}")
            tokens.expect(";")
        elif (said := tokens.skip_statement())[:2] == ["outside", "="] and len(said) == 3:
            outside = said[2]
    return Column(name, tuple(levels), outside or usual_home(levels))


def usual_home(levels: Sequence[Level]) -> Level | None:
    """Return the level for undeclared values where a network's own tables fix its levels: 'other', or the first."""
    return CATCH_ALL if CATCH_ALL in levels else next(iter(levels), None)


def _read_probability(tokens: _Tokens) -> tuple[str, list[str], _Rows]:
    tokens.expect("(")
    child = tokens.word()
    tokens.sees("|")
    parents = tokens.words_until(")")
    rows: _Rows = {}
    tokens.expect("{")
    while not tokens.sees("}"):
        if tokens.sees("("):
            setting = tuple(tokens.words_until(")"))
            rows[setting] = _numbers(tokens.words_until(";"), child)
        elif (keyword := tokens.word()) in ("table", "default"):
            rows[keyword] = _numbers(tokens.words_until(";"), child)
        else:
            tokens.skip_statement()
    return child, parents, rows


def _numbers(words: list[str], child: str) -> list[float]:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if not numbers or not all(isfinite(number) and number >= 0 for number in numbers):
        raise DeclarationError(f"A row of probabilities of {child!r} must be numbers >= 0.")
    return numbers


def _table(family: list[Column], rows: _Rows) -> NDArray[np.float64]:
    """Return the table of a family. A `table` entry counts through (variable, parents...), the last one fastest."""
    *parents, child = family
    shape = tuple(len(column.levels) for column in family)
    settings = list(product(*([str(text_of(level)) for level in column.levels] for column in parents)))
    if "table" in rows:
        cells = np.array(rows["table"])
        if cells.size != np.prod(shape):
            raise DeclarationError(f"The table of {child.name!r} needs {np.prod(shape)} numbers; it has {cells.size}.")
        return _checked(np.moveaxis(cells.reshape(shape[-1], *shape[:-1]), 0, -1), shape, child.name)
    if unknown := set(rows) - set(settings) - {"default"}:
        raise DeclarationError(
            f"{child.name!r} has a row for {unknown.pop()!r}, which is not a setting of its parents."
        )
    found = [rows.get(setting, rows.get("default", [])) for setting in settings]
    if any(len(row) != shape[-1] for row in found):
        raise DeclarationError(f"{child.name!r} needs {shape[-1]} numbers for each of {len(settings)} parent settings.")
    return _checked(np.array(found).reshape(shape), shape, child.name)


def _checked(given: ArrayLike | None, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    """Return a table with rows of sum 1, or say what is wrong with it."""
    table = np.asarray(() if given is None else given, dtype=float)
    if table.shape != shape or not (table >= 0).all():
        raise DeclarationError(f"The table of {name!r} must have the shape {shape} and no negative numbers.")
    sums = table.sum(axis=-1, keepdims=True)
    if not (np.abs(sums - 1) <= _SLACK).all():
        raise DeclarationError(f"Every row of the table of {name!r} must sum to 1.")
    return np.asarray(table / sums)


def _probability_block(family: list[Column], table: NDArray[np.float64]) -> str:
    *parents, child = family
    given = f" | {', '.join(_shown(column.name) for column in parents)}" if parents else ""
    lines = [f"probability ( {_shown(child.name)}{given} ) {{"]
    for setting in np.ndindex(*table.shape[:-1]):
        levels = ", ".join(_shown(column.levels[index]) for column, index in zip(parents, setting, strict=True))
        row = ", ".join(repr(float(number)) for number in table[setting])
        lines.append(f"  ({levels}) {row};" if parents else f"  table {row};")
    return "\n".join([*lines, "}"])


def _shown(name: Level) -> str:
    """Return a name as BIF writes it, in quotes if it is no plain word."""
    text = str(text_of(name))
    if '"' in text:
        raise DeclarationError(f"The name {text!r} cannot be written in BIF, because it contains a quotation mark.")
    return text if _PLAIN.fullmatch(text) else f'"{text}"'
