"""Delimited text: CSV and TSV, cut into records by quotes, separators and line ends alone.

A record ends at a line feed outside quotes (a carriage return just before it belongs to the line's end, anywhere else
it is data), a field at a separator outside quotes. A quote opens only as the first byte of a field; inside, two quotes
mean one. Nothing else matters: not how long a field is, which bytes it holds, or how many fields a record has. Missing
fields are missing values, extra fields are ignored, and anything between a closing quote and the next boundary makes
the field a value that no level declares. The only file refused for what its records hold is one whose last quote is
never closed.

The last line may lack its line feed, except in a file with a single column: there, an empty last record would have no
bytes at all and look like one record less. So such files are refused whatever they hold.

Bytes are processed in blocks, by NumPy. If quotes only open, close or double, counting them shows what lies inside. If
there are others, a block is split field by field, with the same result. Each field then becomes a code, many at once
and eight bytes at a time; what is found by a hash is compared byte by byte with what is declared.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import SourceError
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._matches import shown
from discreet.records._source import Batch
from discreet.records._statistics import Codes, code_dtype
from discreet.records._typed_arrays import Values, banded, days_of_dates, days_to_utc, numbers_of_values

QUOTE, LINE_FEED, RETURN = b'"\n\r'

Places = NDArray[np.int64]


class OpenQuoteError(SourceError):
    """A quote that is opened in a file of delimited text is never closed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} contains a quote that is never closed, so it is unclear where its last records end. Nothing "
            "was counted. Run `discreet check` to see where, then close the quote, or double it if it is part of "
            "the data."
        )


def are_tidy(block: NDArray[np.uint8], quotes: Places, separator: int) -> bool:
    """Return whether quotes stand only where they open, close or double, so that counting them is enough."""
    opened, closed = quotes[::2], quotes[1::2]
    before = block[opened - 1]
    opens = (opened == 0) | (before == separator) | (before == LINE_FEED) | (before == QUOTE)
    padded = np.append(block, np.array([LINE_FEED, LINE_FEED], dtype=np.uint8))  # what comes next is not known yet
    after, later = padded[closed + 1], padded[closed + 2]
    closes = (after == separator) | (after == LINE_FEED) | (after == QUOTE)
    closes |= (after == RETURN) & (later == LINE_FEED)
    return bool(opens.all() and closes.all())


def cut_by_hand(data: bytes, separator: int) -> Places:
    """Cut one field after the other: the slow way, for quotes inside fields."""
    boundary = re.compile(b"[" + re.escape(bytes([separator])) + b"\n]")
    ends, start = [], 0
    while start < len(data):
        after = start
        if data[start] == QUOTE:
            close = data.find(b'"', start + 1)
            while close >= 0 and data[close + 1 : close + 2] == b'"':
                close = data.find(b'"', close + 2)
            if close < 0:
                break
            after = close + 1
        found = boundary.search(data, after)
        if found is None:
            break
        ends.append(found.start())
        start = found.end()
    return np.array(ends, dtype=np.int64)


def where_opened(blocks: Iterable[tuple[NDArray[np.uint8], NDArray[np.int64]]], name: str) -> str | None:
    """Say in which record of a file a quote is never closed, if there is one, from its blocks and their ends."""
    records = 0
    try:
        for block, ends in blocks:
            records += int((block[ends] == LINE_FEED).sum())
    except OpenQuoteError:
        return f"Record {records} of {name!r}"  # the header, which was counted too, is record 0
    return None


_LONGEST_NUMBER, _LONGEST_DAY = 56, 40  # bytes, as multiples of eight


def numbers_of_bytes(fields: "Fields") -> Floats:
    """Return the number that every field means, as `values.number_of` reads texts; NaN for none."""
    letters = _letters(fields, _LONGEST_NUMBER)
    fits = _accepted(letters, fields.lengths, *_number_machine())
    texts = np.where(fits, letters.view(f"S{letters.shape[1]}").ravel(), b"nan")
    return texts.astype(np.float64)


def days_of_bytes(fields: "Fields") -> Values:
    """Return the day that every field means, as `values.day_of` reads texts."""
    letters = _letters(fields, _LONGEST_DAY)
    has_zone = _accepted(letters, fields.lengths, *_moment_machine())
    fits = has_zone | _accepted(letters, fields.lengths, *_day_machine())
    digits = letters.astype(np.int64) - ord("0")
    year = digits[:, 0] * 1000 + digits[:, 1] * 100 + digits[:, 2] * 10 + digits[:, 3]
    month, day = digits[:, 5] * 10 + digits[:, 6], digits[:, 8] * 10 + digits[:, 9]
    later = np.where(has_zone, _days_to_utc(letters, digits), 0)
    dates = [np.where(fits, part, 0) for part in (year, month, day)]
    return days_of_dates(dates[0], dates[1], dates[2], later)


def _days_to_utc(letters: NDArray[np.uint8], digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many days later, -1 to 1, every row that is a time with a zone is in UTC; anything for others."""
    wide = np.pad(digits, ((0, 0), (0, 24)))  # as long as a time with a zone, and what is looked at beyond its end
    zone = 16 + np.isin(np.pad(letters, ((0, 0), (0, 24)))[:, 16:], list(b"Z+-")).argmax(axis=1)
    rows = np.arange(len(wide))

    def after(position: int | NDArray[np.int64]) -> NDArray[np.int64]:
        pair = 10 * wide[rows, zone + position] + wide[rows, zone + position + 1]
        return np.where((pair >= 0) & (pair <= 99), pair, 0)  # nothing stands there

    sign = np.where(wide[rows, zone] == ord("-") - ord("0"), -1, 1)
    minutes = after(3 + (wide[rows, zone + 3] == ord(":") - ord("0")).astype(np.int64))
    hours, local_minutes = 10 * wide[:, 11] + wide[:, 12], 10 * wide[:, 14] + wide[:, 15]
    return days_to_utc(hours, local_minutes, sign, after(1), minutes).astype(np.int64)


def _letters(fields: "Fields", longest: int) -> NDArray[np.uint8]:
    """Return the first bytes of every field, one row for each."""
    needed = max(2, min(longest, int(fields.lengths.max(initial=0)) + 7) // 8)
    found = np.empty((len(fields.starts), needed), dtype="<u8")
    for number in range(needed):
        found[:, number] = fields.word(number)
    return found.view(np.uint8)


def _accepted(
    letters: NDArray[np.uint8], lengths: NDArray[np.int64], steps: NDArray[np.uint8], accepting: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Tell which rows a finite machine accepts: one step for each letter, all rows at once. State 0 is failure."""
    longest = min(int(lengths.max(initial=0)), letters.shape[1])
    state = np.ones(len(letters), dtype=np.uint8)
    for position in range(longest):
        state = np.where(lengths > position, steps[state, letters[:, position]], state)
    return np.asarray(accepting[state] & (lengths <= letters.shape[1]) & (lengths > 0))


_DIGITS = b"0123456789"


def _machine(rules: list[tuple[int, bytes, int]], accepting: list[int]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    size = max(target for _, _, target in rules) + 1
    steps = np.zeros((size, 256), dtype=np.uint8)
    for state, letters, target in rules:
        steps[state, list(letters)] = target
    accepts = np.zeros(size, dtype=bool)
    accepts[accepting] = True
    return steps, accepts


@cache
def _number_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.NUMBER`: sign, 1 to 16 digits, a point with up to 30 digits, an exponent."""
    whole, point = list(range(3, 19)), list(range(19, 50))  # states after each number of digits
    exponent, plus, minus, first, second = 50, 51, 52, 53, 54
    small, smaller, smallest = 55, 56, 57  # digits after a minus
    rules = [(1, b"+-", 2), (1, _DIGITS, 3), (2, _DIGITS, 3)]
    rules += [(state, _DIGITS, state + 1) for state in (*whole[:-1], *point[:-1])]
    rules += [(state, b".", point[0]) for state in whole]
    rules += [(state, b"eE", exponent) for state in (*whole, *point)]
    rules += [(exponent, b"+", plus), (exponent, _DIGITS, first), (plus, _DIGITS, first), (first, _DIGITS, second)]
    rules += [(exponent, b"-", minus), (minus, _DIGITS, small), (small, _DIGITS, smaller), (smaller, _DIGITS, smallest)]
    return _machine(rules, [*whole, *point, first, second, small, smaller, smallest])


@cache
def _day_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.DAY`: a date, and perhaps a time of the day."""
    shape = "dddd-dd-ddTdd:dd:dd.ddddddddd"
    symbols = {"d": _DIGITS, "-": b"-", "T": b" T", ":": b":", ".": b"."}
    rules = [(position + 1, symbols[letter], position + 2) for position, letter in enumerate(shape)]
    return _machine(rules, [11, 17, 20, *range(22, 31)])


@cache
def _moment_machine() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the machine of `values.MOMENT`: a date, hours below 24 and minutes, perhaps seconds, and a zone."""
    symbols = {"d": _DIGITS, "-": b"-", "T": b" T", ":": b":"}
    rules = [(position + 1, symbols[letter], position + 2) for position, letter in enumerate("dddd-dd-ddT")]
    start, minutes, seconds, ended, zone, ahead, done = 12, 16, 20, 35, 36, 40, 43

    def below_a_day(first: int, then: int) -> list[tuple[int, bytes, int]]:
        late = 50 + first
        return [(first, b"01", first + 1), (first, b"2", late), (first + 1, _DIGITS, then), (late, b"0123", then)]

    def below_an_hour(first: int, then: int) -> list[tuple[int, bytes, int]]:
        return [(first, b"012345", first + 1), (first + 1, _DIGITS, then)]

    rules += [*below_a_day(start, 14), (14, b":", minutes), *below_an_hour(minutes, 18)]
    rules += [(18, b":", seconds), *below_an_hour(seconds, 23), (seconds, b"6", 22), (22, b"0", 23), (23, b".", 24)]
    rules += [(24 + position, _DIGITS, 25 + position) for position in range(9)]
    rules += [(state, b"Z", ended) for state in (18, 23, *range(25, 34))]
    rules += [(state, b"+-", zone) for state in (18, 23, *range(25, 34))]
    rules += [*below_a_day(zone, 39), (39, b":", ahead), (39, b"012345", ahead + 1), *below_an_hour(ahead, done)]
    return _machine(rules, [ended, 39, done])


_BLOCK = 2**22
_PADDING = 64  # bytes after a block, so that whole words can be read
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(9)], dtype=np.uint64)
Words = NDArray[np.uint64]


class DelimitedSource(BatchSource):
    """Records in a file of delimited text."""

    def __init__(self, opened: Callable[[], BinaryIO], separator: str, name: str) -> None:
        self._open, self._separator, self._name = opened, separator.encode(), name
        self._names: list[str] = []
        self._names = self._header()

    def names(self) -> list[str]:
        """Return the names in the first line of the file."""
        return list(self._names)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        positions = {name: self._names.index(name) for name in names}
        for number, (block, ends) in enumerate(self._blocks()):
            yield _Lines(block, ends, positions, skip=int(number == 0))

    def open_quote(self) -> str | None:
        """Say in which record a quote is never closed, if there is one: for the data holder only."""
        return where_opened(self._blocks(), self._name)

    def _header(self) -> list[str]:
        names: list[str] = []
        with suppress(Exception), closing(self._blocks(_BLOCK // 64)) as blocks:  # their words might quote the line
            block, ends = next(blocks)
            fields = int(np.flatnonzero(block[ends] == LINE_FEED)[0]) + 1
            first = _Lines(block, ends, {}, skip=0)
            names = [first.text(position) for position in range(fields)]
        if not names or len(set(names)) < len(names) or not all(name.strip() for name in names):
            raise SourceError(
                f"The first line of {self._name!r} is not a header that names each column once in UTF-8. It is not "
                "shown, because it could be a record. Nothing was read. Write the file with a header; from pandas, "
                "also with index=False."
            )
        return names

    def _blocks(self, size: int = _BLOCK) -> Generator[tuple[NDArray[np.uint8], Places]]:
        """Yield blocks of whole records, and where in each block fields and records end."""
        with self._open() as file:
            rest, wanted = file.read(len(_MARK)).removeprefix(_MARK), size
            while True:
                read = file.read(wanted)
                data = rest + read
                at_end = not read
                is_cut = at_end and data != b"" and not data.endswith(b"\n")
                data += b"\n" * is_cut  # the last line counts even without a line feed, unless it ends inside quotes
                block = np.frombuffer(data + bytes(_PADDING), dtype=np.uint8)
                ends = boundaries(data, block[: len(data)], self._separator[0])
                lines = np.flatnonzero(block[ends] == LINE_FEED)
                complete = int(ends[lines[-1]]) + 1 if len(lines) else 0
                if at_end and complete < len(data):
                    raise OpenQuoteError(self._name)
                if is_cut and len(self._names) == 1:
                    raise SourceError(
                        f"{self._name!r} has a single column and no line feed after its last line, so an empty last "
                        "record could not be told from none. Nothing was counted. End every line with a line feed."
                    )
                if complete:
                    yield block, ends[: lines[-1] + 1]
                rest, wanted = data[complete:], size if complete else 2 * wanted
                if at_end:
                    return


def boundaries(data: bytes, block: NDArray[np.uint8], separator: int) -> Places:
    """Return where fields and records end: at separators and line feeds outside quotes. Records begin at the start."""
    special = np.flatnonzero((block == separator) | (block == LINE_FEED) | (block == QUOTE))
    symbols = block[special]
    is_quote = symbols == QUOTE
    if not is_quote.any():
        return special
    if not are_tidy(block, special[is_quote], separator):
        return cut_by_hand(data, separator)
    inside = np.cumsum(is_quote, dtype=np.int64) & 1
    return np.asarray(special[~is_quote & (inside == 0)])


@dataclass(frozen=True)
class Fields:
    """Where fields lie in a block of bytes that ends with padding; a length of -1 is a missing value."""

    block: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    quoted: NDArray[np.bool_]

    def content(self, position: int) -> bytes:
        """Return one field without its quotes."""
        start = int(self.starts[position])
        raw = self.block[start : start + max(0, int(self.lengths[position]))].tobytes()
        return raw.replace(b'""', b'"') if self.quoted[position] else raw

    def at(self, positions: NDArray[np.intp]) -> "Fields":
        """Return some of the fields."""
        return Fields(self.block, self.starts[positions], self.lengths[positions], self.quoted[positions])

    def word(self, number: int) -> Words:
        """Return eight bytes of every field, zeros after its end."""
        size = len(self.block) - 7
        words: Words = np.ndarray((size,), dtype="<u8", buffer=self.block.data, strides=(1,))
        left = np.clip(self.lengths - 8 * number, 0, 8)
        return words[np.minimum(self.starts + 8 * number, size - 1)] & _MASKS[left]


class _Lines(Batch):
    """The records of a block."""

    def __init__(self, block: NDArray[np.uint8], ends: Places, positions: dict[str, int], skip: int) -> None:
        self._block, self._ends, self._places = block, ends, positions
        lines = np.flatnonzero(block[ends] == LINE_FEED)
        self._first = np.append(0, lines[:-1] + 1)[skip:]  # the index of each record's first field among the ends
        self._last = lines[skip:]

    def __len__(self) -> int:
        return len(self._last)

    def _fields(self, position: int) -> Fields:
        """Return where the field of every record begins and its length, without its quotes; -1 for missing values."""
        field = np.minimum(self._first + position, self._last)
        stops = self._ends[field]
        starts = np.where(field > 0, self._ends[field - 1] + 1, 0)
        is_last = field == self._last
        stops = stops - (is_last & (stops > starts) & (self._block[stops - 1] == RETURN))
        quoted = (stops > starts) & (self._block[starts] == QUOTE)
        starts, stops = starts + quoted, stops - quoted
        cut = quoted & ((stops < starts) | (self._block[stops] != QUOTE))  # something after the closing quote
        lengths = np.where((self._first + position > self._last) | cut, -1, stops - starts)
        return Fields(self._block, starts, lengths, quoted)

    def codes(self, column: Column) -> Codes:
        fields = self._fields(self._places[column.name])
        if column.edges:
            return banded(self.numbers(column.name, column.dates), column)
        dtype, home = code_dtype(column), column.home
        codes = looked_up(fields, {text.encode(): code for text, code in column.codes.items()}, home).astype(dtype)
        if any('"' in text for text in column.codes):
            escaped = {text.replace('"', '""').encode(): code for text, code in column.codes.items()}
            codes = np.where(fields.quoted, looked_up(fields, escaped, home).astype(dtype), codes)
        return codes

    def numbers(self, name: str, dates: bool) -> Floats:
        fields = self._fields(self._places[name])
        return numbers_of_values(days_of_bytes(fields), True) if dates else numbers_of_bytes(fields)

    def values(self, name: str, positions: NDArray[np.intp]) -> Sequence[object]:
        fields = self._fields(self._places[name])
        texts = [fields.content(position).decode("utf-8", "replace") for position in positions.tolist()]
        return [text or None for text in texts]

    def frequencies(self, name: str, positions: NDArray[np.intp]) -> Counter[str]:
        """As of any batch; short fields are grouped by their bytes, and one of each group is decoded."""
        fields = self._fields(self._places[name]).at(positions)
        longest = int(fields.lengths.max(initial=1))
        if longest > _LONGEST_NUMBER:
            return super().frequencies(name, positions)
        words = [fields.word(number) for number in range(-(-longest // 8))]
        rows = np.column_stack([(2 * fields.lengths + fields.quoted).view(np.uint64), *words])
        order = np.lexsort(rows.T)
        starts = np.flatnonzero(np.append(True, (rows[order][1:] != rows[order][:-1]).any(axis=1)))
        texts = self.values(name, positions[order[starts]])
        found: Counter[str] = Counter()
        for text, times in zip(texts, np.diff(np.append(starts, len(order))).tolist(), strict=True):
            found[shown(text)] += times
        return found

    def text(self, position: int) -> str:
        """Return a field of the first record."""
        return self._fields(position).content(0).decode("utf-8")


def looked_up(fields: Fields, codes: Mapping[bytes, int], home: int) -> NDArray[np.intp]:
    """Return the code of every field; anything not declared, byte by byte, gets the `outside` code."""
    declared, lengths = _declared(list(codes))
    needed = _telling(declared, lengths)
    words = [fields.word(number) for number in range(needed)]
    multipliers, order, hashes = _hashed(declared[:, :needed], lengths)
    found = np.searchsorted(hashes, _hash(words, fields.lengths, multipliers))
    positions = order[np.minimum(found, len(order) - 1)]
    same = fields.lengths == lengths[positions]
    for number, word in enumerate(words):
        same &= declared[positions, number] == word
    left = np.flatnonzero(same & (fields.lengths > 8 * needed))
    for number in range(needed, declared.shape[1]):  # only those that agree so far and are longer
        left = left[fields.lengths[left] > 8 * number]
        if not len(left):
            break
        agrees = declared[positions[left], number] == fields.at(left).word(number)
        same[left[~agrees]] = False
        left = left[agrees]
    return np.where(same, np.array(list(codes.values()))[positions], home)


def _declared(texts: list[bytes]) -> tuple[Words, NDArray[np.int64]]:
    """Return declared texts as rows of words with zeros after their ends, and their lengths."""
    lengths = np.array([len(text) for text in texts])
    rows = np.zeros((len(texts), 8 * max(1, -(-int(lengths.max()) // 8))), dtype=np.uint8)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return rows.view("<u8"), lengths


def _telling(declared: Words, lengths: NDArray[np.int64]) -> int:
    """Return how many words, together with the lengths, distinguish all declared texts."""
    keyed = np.column_stack([lengths.astype(np.uint64), declared])
    needed = (n for n in range(1, declared.shape[1]) if len(np.unique(keyed[:, : n + 1], axis=0)) == len(keyed))
    return next(needed, declared.shape[1])


def _hash(words: Iterable[Words], lengths: NDArray[np.int64], multipliers: Words) -> Words:
    total = lengths.astype(np.uint64) * multipliers[0]
    for word, multiplier in zip(words, multipliers[1:], strict=True):
        total = (total ^ (total >> np.uint64(29))) + word * multiplier
    return np.asarray(total)


def _hashed(keys: Words, lengths: NDArray[np.int64]) -> tuple[Words, NDArray[np.intp], Words]:
    """Return multipliers for which the hashes of all declared texts differ, and these hashes in order."""
    for seed in range(1, 1000):
        generator = np.random.default_rng(seed)
        odd = 2 * generator.integers(2**62, size=keys.shape[1] + 1) + 1
        multipliers = odd.astype(np.uint64)
        hashes = _hash(keys.T, lengths, multipliers)
        order = np.argsort(hashes)
        if len(np.unique(hashes)) == len(hashes):
            return multipliers, order, hashes[order]
    raise AssertionError("texts that differ have hashes that differ for some multiplier")
