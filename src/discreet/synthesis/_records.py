"""Synthetic records: levels of declared columns, drawn from the model of a release, and how they are written.

They hold nothing but declared levels, bands and numbers inside these, and are as safe to share as the release.
Intervals come from the release, not from the records: an analysis that takes them for real ones claims too much.
"""

import csv
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.records import Column, text_of
from discreet.synthesis._model import Synthesis
from discreet.synthesis._numbers import RULES, numbers_inside

Backend = Literal["pandas", "polars", "pyarrow"]
_BLOCK = 50_000  # records that are written together


@dataclass(frozen=True, eq=False)
class SyntheticRecords:
    """Records as rows of numbers of levels, and the rule and the seed by which numbers inside bands are found."""

    model: Synthesis
    codes: Counts
    numbers: str = "spread"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.numbers not in RULES:
            raise DeclarationError(
                f"numbers must be one of {', '.join(map(repr, RULES))}; got {self.numbers!r}. Nothing was drawn."
            )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns with their levels."""
        return self.model.columns

    @cached_property
    def counts(self) -> Counts:
        """Return the counts of all pairs of columns among them."""
        return self.model.counts_of(self.codes)

    def values(self, number: int) -> list[Any]:
        """Return the values of a column, by number: levels, or numbers and days inside its bands."""
        column, own = self.columns[number], self.codes[:, number]
        if not column.edges or self.numbers == "names":
            return [column.levels[code] for code in own.tolist()]
        return numbers_inside(column, own, self.numbers, np.random.default_rng([self.seed, number]))

    @cached_property
    def table(self) -> dict[str, list[Any]]:
        """Return all values, as lists by column."""
        return {column.name: self.values(number) for number, column in enumerate(self.columns)}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the records as a data frame: 'pandas', 'polars' or 'pyarrow'."""
        import narwhals  # slow to import

        if backend not in get_args(Backend):
            raise DeclarationError(
                f"A data frame is one of {', '.join(map(repr, get_args(Backend)))}; got {backend!r}."
            )
        if find_spec(backend) is None:
            raise DiscreetError(f"A {backend} data frame needs that package: pip install {backend}. None was created.")
        return narwhals.from_dict(self.table, backend=backend).to_native()

    def write(self, path: str | Path) -> None:
        """Write the records to a .csv or .parquet file."""
        file = Path(path)
        if file.suffix == ".parquet":
            self._write_parquet(file)
        elif file.suffix == ".csv":
            with file.open("w", newline="", encoding="utf-8") as opened:
                writer = csv.writer(opened)
                writer.writerow(self.table)
                for first in range(0, len(self), _BLOCK):
                    block = [values[first : first + _BLOCK] for values in self.table.values()]
                    writer.writerows(zip(*([text_of(value) for value in part] for part in block), strict=True))
        else:
            raise DeclarationError(f"Synthetic records are written as .csv or .parquet; got {file.name!r}.")

    def _write_parquet(self, path: Path) -> None:
        if find_spec("pyarrow") is None:
            raise DiscreetError("A Parquet file needs a package: pip install pyarrow. Nothing was written.")
        from pyarrow import parquet

        parquet.write_table(self.to_frame("pyarrow"), path)


def several(paths: str | Path, count: int) -> list[Path]:
    """Return where so many data sets are written: name.csv alone, or name-1.csv, name-2.csv, ...

    >>> [path.name for path in several("made-up.csv", 2)]
    ['made-up-1.csv', 'made-up-2.csv']
    """
    path = Path(paths)
    return [path] if count == 1 else [path.with_stem(f"{path.stem}-{number}") for number in range(1, count + 1)]
