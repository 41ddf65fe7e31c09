"""Quotes in delimited text: whether counting them is enough, and the slow way where it is not."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet.errors import SourceError

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
    """Tell whether quotes stand only where they open, close or double, so that counting them is enough."""
    opened, closed = quotes[::2], quotes[1::2]
    before = block[opened - 1]
    opens = (opened == 0) | (before == separator) | (before == LINE_FEED) | (before == QUOTE)
    padded = np.append(block, np.array([LINE_FEED, LINE_FEED], dtype=np.uint8))  # what comes next is not known yet
    after, later = padded[closed + 1], padded[closed + 2]
    closes = (after == separator) | (after == LINE_FEED) | (after == QUOTE)
    closes |= (after == RETURN) & (later == LINE_FEED)
    return bool(opens.all() and closes.all())


def cut_by_hand(data: bytes, separator: int) -> Places:
    """Cut one field after the other: the slow way, for quotes in odd places."""
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
