"""Values that no level declares, for the data holder's eyes only."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from discreet.records._columns import Column

if TYPE_CHECKING:
    from discreet.records._source import Batch

MISSING = "(missing)"


def is_undeclared(column: Column, value: object) -> bool:
    """Return whether a value is at home in the level for outside values only because no level declares it."""
    return column.declares(value) is None


def shown(value: object) -> str:
    """Return a value as the data holder may see it, whatever an odd object does when it is asked."""
    text = "(a value that cannot be shown)"
    with suppress(Exception):
        gap = value is None or type(value).__name__ in ("NAType", "NaTType") or value != value
        text = MISSING if gap else str(value)
    return text


def undeclared_in(batches: "Iterator[Batch]", column: Column, most: int) -> list[tuple[str, int]]:
    """Return the most frequent values that no level declares, and how often."""
    found: Counter[str] = Counter()
    for batch in batches:
        odd = np.flatnonzero(batch.codes(column) == column.home)
        values = batch.values(column.name, odd)
        found.update(shown(value) for value in values if is_undeclared(column, value))
    return found.most_common(most)
