"""Parts of measured numbers that belong to one table: cells or contrasts of its margins."""

from dataclasses import dataclass

from discreet.arrays import Counts


@dataclass(frozen=True, eq=False)
class Part:
    """Numbers that belong to one table: `places` says where each stands, with an axis for each of `names`.

    An axis holds the cells of its column (`cells` is True there) or its Helmert contrasts h_1, h_2, ... (see
    `contrasts`). A number is `scale` times a cell or contrast of the table's margin, plus `offset` times the number of
    records. Of a part that is about one `level` of its first column alone, that axis has one place.
    """

    names: tuple[str, ...]
    cells: tuple[bool, ...]
    places: Counts
    scale: float = 1.0
    offset: float = 0.0
    level: int | None = None
