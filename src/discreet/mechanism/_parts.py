"""Parts of measured numbers that belong to one table, and what a likelihood costs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet._core.arrays import Counts

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Part:
    """Numbers that belong to one table: `indices` are their indices, with an axis for each of `names`.

    An axis holds the cells of its column (`cells` is True there) or its Helmert contrasts h_1, h_2, ... (see
    `contrasts`). A number is `scale` times a cell or contrast of the table's margin, plus `offset` times the number of
    records. Of a part that is about one `level` of its first column alone, that axis has length one.
    """

    names: tuple[str, ...]
    cells: tuple[bool, ...]
    indices: Counts
    scale: float = 1.0
    offset: float = 0.0
    level: int | None = None


@dataclass(frozen=True)
class Cost:
    """What the likelihood of one row of counts costs: about how many operations, and numbers that are held for it."""

    operations: float
    numbers: float = 1.0
    refusal: str | None = None
    """Why the likelihood cannot be computed in numbers at all; None if it can."""
