"""How a test looks at secret counts: the tables of a model, and what one record may do to them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import discreet as dc


def counts_of(column: dc.Column, data: Any) -> list[int]:
    """Return how many records have each level, as the model sees them."""
    return moments_of(dc.Categories(column), data)


def moments_of(model: Any, data: Any) -> list[int]:
    """Return the secret numbers of any model, in its own order."""
    values: list[int] = model.statistics(data).open_for_publishing().tolist()
    return values


def assert_one_record_moved(before: Sequence[int], after: Sequence[int]) -> None:
    """Hold two tables to what replacing one record may do: nothing, or one record leaves a level for another."""
    change = np.subtract(after, before)
    assert sorted(change[change != 0].tolist()) in ([], [-1, 1]), f"one record changed the counts by {change.tolist()}"
