"""Delimited text: CSV and TSV, cut into records by quotes, separators and line ends alone.

A record ends at a line feed outside quotes (a carriage return just before it belongs to the line's end, anywhere else
it is data), a field at a separator outside quotes. A quote opens only as the first byte of a field; inside, two quotes
are one. Nothing else matters: not how long a field is, which bytes it holds, or how many fields a record has. What is
too few is a gap, what is too many is ignored, what stands between a closing quote and the next boundary makes the field
a value that no level declares. The only file that is refused for what its records hold is one whose last quote is never
closed.

Bytes are looked at in blocks, by NumPy. Where quotes stand only where they open, close or double, counting them tells
what lies inside. Where they stand elsewhere a block is cut by hand, one field after the other, with the same result.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import SourceError
from discreet.records.arrays import banded, numbers_of_values
from discreet.records.batches import Batch, BatchSource
from discreet.records.bytes import Fields, looked_up
from discreet.records.columns import Column
from discreet.records.number_bytes import days_of_bytes, numbers_of_bytes
from discreet.records.quotes import LINE_FEED, QUOTE, RETURN, OpenQuoteError, Places, are_tidy, cut_by_hand
from discreet.records.tables import Codes, code_kind

_BLOCK = 2**22
_PADDING = 64  # bytes after a block, so that whole words may be looked at
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8


class DelimitedSource(BatchSource):
    """Records in a file of delimited text."""

    def __init__(self, opened: Callable[[], BinaryIO], separator: str, name: str) -> None:
        self._open, self._separator, self._name = opened, separator.encode(), name
        self._names = self._header()

    def names(self) -> list[str]:
        """Return the names in the first line of the file."""
        return list(self._names)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Give all records but the first, which names the columns."""
        places = {name: self._names.index(name) for name in names}
        for number, (block, ends) in enumerate(self._blocks()):
            yield _Lines(block, ends, places, skip=int(number == 0))

    def open_quote(self) -> str | None:
        """Say in which record a quote is never closed, if there is one: for the data holder only."""
        records = 0
        try:
            for block, ends in self._blocks():
                records += int((block[ends] == LINE_FEED).sum())
        except OpenQuoteError:
            return f"Record {records} of {self._name!r}"  # the header, which was counted too, is record 0
        return None

    def _header(self) -> list[str]:
        names: list[str] = []
        with suppress(Exception), closing(self._blocks(_BLOCK // 64)) as blocks:  # their words might quote the line
            block, ends = next(blocks)
            fields = int(np.flatnonzero(block[ends] == LINE_FEED)[0]) + 1
            first = _Lines(block, ends, {}, skip=0)
            names = [first.text(place) for place in range(fields)]
        if not names or len(set(names)) < len(names) or not all(name.strip() for name in names):
            raise SourceError(
                f"The first line of {self._name!r} does not name each column once, or is not UTF-8. It is not shown, "
                "it might be a record. Nothing was read. Write a header into the file; for pandas, also index=False."
            )
        return names

    def _blocks(self, size: int = _BLOCK) -> Generator[tuple[NDArray[np.uint8], Places]]:
        """Give blocks of whole records, and where in each block fields and records end."""
        with self._open() as file:
            rest, wanted = file.read(len(_MARK)).removeprefix(_MARK), size
            while True:
                read = file.read(wanted)
                data = rest + read
                at_end = not read
                if at_end and data and not data.endswith(b"\n"):
                    data += b"\n"  # the last line counts without a line feed too, unless that is inside quotes
                block = np.frombuffer(data + bytes(_PADDING), dtype=np.uint8)
                ends = boundaries(data, block[: len(data)], self._separator[0])
                lines = np.flatnonzero(block[ends] == LINE_FEED)
                complete = int(ends[lines[-1]]) + 1 if len(lines) else 0
                if at_end and complete < len(data):
                    raise OpenQuoteError(self._name)
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


class _Lines(Batch):
    """The records of a block."""

    def __init__(self, block: NDArray[np.uint8], ends: Places, places: dict[str, int], skip: int) -> None:
        self._block, self._ends, self._places = block, ends, places
        lines = np.flatnonzero(block[ends] == LINE_FEED)
        self._first = np.append(0, lines[:-1] + 1)[skip:]  # the place of each record's first field among the ends
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

    def values(self, name: str, places: NDArray[np.intp]) -> Sequence[Any]:
        fields = self._fields(self._places[name])
        texts = [fields.content(place).decode("utf-8", "replace") for place in places.tolist()]
        return [text or None for text in texts]

    def text(self, place: int) -> str:
        """Return a field of the first record."""
        return self._fields(place).content(0).decode("utf-8")
