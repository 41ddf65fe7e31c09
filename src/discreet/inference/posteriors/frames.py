"""Rows as a data frame of whichever library the reader has: pandas, polars or pyarrow."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

from discreet.errors import DeclarationError, DiscreetError
from discreet.inference.posteriors.row import Row, shown_fields

BACKENDS: Final = ("pandas", "polars", "pyarrow")


def frame_of(rows: Sequence[Row], backend: str | None = None) -> Any:
    """Return a frame with one line per row and the fields as columns; an unknown share is missing."""
    import narwhals

    wanted = _installed() if backend is None else backend
    chosen = next((name for name in BACKENDS if name == wanted), None)
    if chosen is None:
        raise DeclarationError(
            f"A data frame is one of {', '.join(map(repr, BACKENDS))}; got {backend!r}. None was created."
        )
    if find_spec(chosen) is None:
        raise DiscreetError(f"A {chosen} data frame needs that package: pip install {chosen}. None was created.")
    names = shown_fields(rows)
    words = ("quantity", "given", "unit")
    schema = {name: narwhals.String() if name in words else narwhals.Float64() for name in names}
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    return narwhals.from_dict(columns, schema, backend=chosen).to_native()


def _installed() -> str:
    for name in BACKENDS:
        if find_spec(name) is not None:
            return name
    raise DiscreetError(
        f"A data frame needs one of the packages {', '.join(BACKENDS)}, and none is installed: pip install polars. "
        "`rows` gives the same figures without any."
    )
