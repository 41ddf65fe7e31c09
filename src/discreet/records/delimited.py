"""Delimited text: CSV and TSV, cut into records by quotes, separators and line ends alone.

A record ends at a line feed outside quotes (a carriage return just before it belongs to the line's end, anywhere else
it is data), a field at a separator outside quotes. A quote opens only as the first byte of a field; inside, two quotes
mean one. Nothing else matters: not how long a field is, which bytes it holds, or how many fields a record has. Missing
fields are gaps, extra fields are ignored, and anything between a closing quote and the next boundary makes the field a
value that no level declares. The only file refused for what its records hold is one whose last quote is never closed.

The last line may lack its line feed, except in a file with a single column: there, an empty last record would have no
bytes at all and look like one record less. So such files are refused whatever they hold.

Bytes are processed in blocks, by NumPy. If quotes only open, close or double, counting them tells what lies inside. If
there are others, a block is split field by field, with the same result. Each field then becomes a code, many at once
and eight bytes at a time; what is found by a hash is compared byte by byte with what is declared.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import SourceError
from discreet.records.arrays import banded, numbers_of_values
from discreet.records.batch_source import BatchSource
from discreet.records.columns import Column
from discreet.records.counting import Codes, code_kind
from discreet.records.number_bytes import days_of_bytes, numbers_of_bytes
from discreet.records.quotes import (
    LINE_FEED,
    QUOTE,
    RETURN,
    OpenQuoteError,
    Places,
    are_tidy,
    cut_by_hand,
    where_opened,
)
from discreet.records.source import Batch

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
        places = {name: self._names.index(name) for name in names}
        for number, (block, ends) in enumerate(self._blocks()):
            yield _Lines(block, ends, places, skip=int(number == 0))

    def open_quote(self) -> str | None:
        """Say in which record a quote is never closed, if there is one: for the data holder only."""
        return where_opened(self._blocks(), self._name)

    def _header(self) -> list[str]:
        names: list[str] = []
        with suppress(Exception), closing(self._blocks(_BLOCK // 64)) as blocks:  # their words might quote the line
            block, ends = next(blocks)
            fields = int(np.flatnonzero(block[ends] == LINE_FEED)[0]) + 1
            first = _Lines(block, ends, {}, skip=0)
            names = [first.text(place) for place in range(fields)]
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
    kinds = block[special]
    is_quote = kinds == QUOTE
    if not is_quote.any():
        return special
    if not are_tidy(block, special[is_quote], separator):
        return cut_by_hand(data, separator)
    inside = np.cumsum(is_quote, dtype=np.int64) & 1
    return np.asarray(special[~is_quote & (inside == 0)])


@dataclass(frozen=True)
class Fields:
    """Where fields lie in a block of bytes that ends with padding; a length of -1 is a gap."""

    block: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    quoted: NDArray[np.bool_]

    def content(self, place: int) -> bytes:
        """Return one field without its quotes."""
        start = int(self.starts[place])
        raw = self.block[start : start + max(0, int(self.lengths[place]))].tobytes()
        return raw.replace(b'""', b'"') if self.quoted[place] else raw

    def at(self, places: NDArray[np.intp]) -> "Fields":
        """Return some of the fields."""
        return Fields(self.block, self.starts[places], self.lengths[places], self.quoted[places])

    def word(self, number: int) -> Words:
        """Return eight bytes of every field, zeros after its end."""
        size = len(self.block) - 7
        words: Words = np.ndarray((size,), dtype="<u8", buffer=self.block.data, strides=(1,))
        left = np.clip(self.lengths - 8 * number, 0, 8)
        return words[np.minimum(self.starts + 8 * number, size - 1)] & _MASKS[left]


class _Lines(Batch):
    """The records of a block."""

    def __init__(self, block: NDArray[np.uint8], ends: Places, places: dict[str, int], skip: int) -> None:
        self._block, self._ends, self._places = block, ends, places
        lines = np.flatnonzero(block[ends] == LINE_FEED)
        self._first = np.append(0, lines[:-1] + 1)[skip:]  # the index of each record's first field among the ends
        self._last = lines[skip:]

    def __len__(self) -> int:
        return len(self._last)

    def _fields(self, place: int) -> Fields:
        """Return where the field of every record begins and how long it is, without its quotes; -1 for gaps."""
        own = np.minimum(self._first + place, self._last)
        stops = self._ends[own]
        starts = np.where(own > 0, self._ends[own - 1] + 1, 0)
        is_last = own == self._last
        stops = stops - (is_last & (stops > starts) & (self._block[stops - 1] == RETURN))
        quoted = (stops > starts) & (self._block[starts] == QUOTE)
        starts, stops = starts + quoted, stops - quoted
        cut = quoted & ((stops < starts) | (self._block[stops] != QUOTE))  # something after the closing quote
        lengths = np.where((self._first + place > self._last) | cut, -1, stops - starts)
        return Fields(self._block, starts, lengths, quoted)

    def codes(self, column: Column) -> Codes:
        fields = self._fields(self._places[column.name])
        if column.edges:
            return banded(self.numbers(column.name, column.dates), column)
        kind, home = code_kind(column), column.home
        codes = looked_up(fields, {text.encode(): code for text, code in column.codes.items()}, home).astype(kind)
        if any('"' in text for text in column.codes):
            escaped = {text.replace('"', '""').encode(): code for text, code in column.codes.items()}
            codes = np.where(fields.quoted, looked_up(fields, escaped, home).astype(kind), codes)
        return codes

    def numbers(self, name: str, dates: bool) -> Floats:
        fields = self._fields(self._places[name])
        return numbers_of_values(days_of_bytes(fields), True) if dates else numbers_of_bytes(fields)

    def values(self, name: str, places: NDArray[np.intp]) -> Sequence[object]:
        fields = self._fields(self._places[name])
        texts = [fields.content(place).decode("utf-8", "replace") for place in places.tolist()]
        return [text or None for text in texts]

    def text(self, place: int) -> str:
        """Return a field of the first record."""
        return self._fields(place).content(0).decode("utf-8")


def looked_up(fields: Fields, codes: Mapping[bytes, int], home: int) -> NDArray[np.intp]:
    """Return the code of every field; anything not declared, byte by byte, gets the `outside` code."""
    declared, lengths = _declared(list(codes))
    needed = _telling(declared, lengths)
    words = [fields.word(number) for number in range(needed)]
    multipliers, order, hashes = _hashed(declared[:, :needed], lengths)
    found = np.searchsorted(hashes, _hash(words, fields.lengths, multipliers))
    places = order[np.minimum(found, len(order) - 1)]
    same = fields.lengths == lengths[places]
    for number, word in enumerate(words):
        same &= declared[places, number] == word
    left = np.flatnonzero(same & (fields.lengths > 8 * needed))
    for number in range(needed, declared.shape[1]):  # only those that agree so far and are longer
        left = left[fields.lengths[left] > 8 * number]
        if not len(left):
            break
        agrees = declared[places[left], number] == fields.at(left).word(number)
        same[left[~agrees]] = False
        left = left[agrees]
    return np.where(same, np.array(list(codes.values()))[places], home)


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
