"""What a model asks of the place where records live."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.columns import Column


class Source(Protocol):
    """Records that can be counted. A source hands out tables of counts, never a row."""

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
