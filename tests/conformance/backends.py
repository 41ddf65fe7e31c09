"""Every way in which records come to the library, made from the same plain Python values.

An engine says which types of columns it has, how a table is made from values, and as what it holds a value: a CSV file
holds texts. Adding a way to read records to the library means adding it here; a test fails otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import ibis as ibis_package
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import discreet as dc

memtable: Any = ibis_package.memtable
Values = list[Any]
Make = Callable[[Values, str, Path], Any]
ARROW_TYPES: dict[str, Any] = {
    "text": pa.string(),
    "raw text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "decimal": pa.decimal128(38, 6),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "zoned": pa.timestamp("us", "Pacific/Auckland"),
}
PLAIN = tuple(kind for kind in ARROW_TYPES if kind != "raw text")


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Engine:
    """A way to hold records: the types that it has, how a table of x and id is made, and what becomes of a value."""

    kinds: tuple[str, ...]
    make: Make
    holds: Callable[[Any], Any] = _as_it_is
    can_hold: Callable[[Any], bool] = lambda value: True


def column(values: Values, kind: str, of_type: Any = None) -> Any:
    """Return an Arrow column; texts may hold bytes that are no UTF-8."""
    if kind != "raw text":
        return pa.array(values, ARROW_TYPES[kind] if of_type is None else of_type)
    data = pa.array([value.encode() if isinstance(value, str) else value for value in values], pa.binary())
    return pa.StringArray.from_buffers(len(data), data.buffers()[1], data.buffers()[2], data.buffers()[0])


def arrow(values: Values, kind: str, of_type: Any = None) -> Any:
    """Return an Arrow table of the values and the number of each record."""
    return pa.table({"x": column(values, kind, of_type), "id": pa.array(range(len(values)), pa.int64())})


def _placed(folder: Path, ending: str) -> Path:
    """Return where to write a file: in a folder that looks like a partition, under a name that looks like a pattern."""
    place = folder / "x=city7"
    place.mkdir(exist_ok=True)
    return place / f"records[1]*.{ending}"


def _with_decoys(path: Path) -> Any:
    """Lay the same records under names that the path would match if it were a pattern, and open the one file."""
    for name in ("records1", "records1b"):
        (path.parent / f"{name}.{path.name.partition('.')[2]}").write_bytes(path.read_bytes())
    return dc.read(path)


def as_text(value: Any) -> Any:
    """Return a value as a program writes it into a text file; a gap is the empty text."""
    if isinstance(value, bytes):
        return value
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def _field(value: Any, separator: bytes, always: bool) -> bytes:
    raw: bytes = value if isinstance(value, bytes) else str(value).encode()
    if always or any(mark in raw for mark in (separator, b"\n", b'"')) or raw.endswith(b"\r"):
        return b'"' + raw.replace(b'"', b'""') + b'"'
    return raw


def delimited(ending: str, separator: bytes = b",", line: bytes = b"\n", always: bool = False) -> Make:
    """Return how to write a text file; a lone carriage return is left unquoted, as many programs leave it."""

    def make(values: Values, _: str, folder: Path) -> Any:
        rows = [[b"x", b"id", b"rest"]]
        rows += [
            [_field(as_text(value), separator, always), str(number).encode(), b"z"]
            for number, value in enumerate(values)
        ]
        content = line.join(separator.join(row) for row in rows) + line
        path = _placed(folder, ending)
        if ending.endswith(".gz"):
            import gzip

            content = gzip.compress(content, compresslevel=1)
        path.write_bytes(content)
        return _with_decoys(path)

    return make


def _parquet(values: Values, kind: str, folder: Path) -> Any:
    pyarrow.parquet.write_table(arrow(values, kind), path := _placed(folder, "parquet"))
    return _with_decoys(path)


def _feather(ending: str) -> Make:
    def make(values: Values, kind: str, folder: Path) -> Any:
        pyarrow.feather.write_feather(arrow(values, kind), path := _placed(folder, ending))
        return _with_decoys(path)

    return make


def _duckdb_file(ending: str) -> Make:
    def make(values: Values, kind: str, folder: Path) -> Any:
        path = _placed(folder, ending)
        path.unlink(missing_ok=True)
        table = arrow(values, kind)
        with duckdb.connect(path) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE records AS SELECT * FROM given")
        return _with_decoys(path)

    return make


def _relation(declared: str = "") -> Make:
    """Return how to make a relation; `declared` is a type or a collation of the column x."""

    def make(values: Values, kind: str, _: Path) -> Any:
        connection = duckdb.connect()
        table = arrow(values, kind)
        connection.register("given", table)
        if declared == "ENUM":
            names = connection.execute("SELECT DISTINCT x FROM given WHERE x IS NOT NULL ORDER BY x").fetchall()
            listed = ", ".join("'" + name.replace("'", "''") + "'" for (name,) in names)
            connection.execute(f"CREATE TYPE texts AS ENUM ({listed})")
        wanted = {"ENUM": "texts", "": None}.get(declared, declared)
        if wanted is None:
            connection.execute("CREATE TABLE records AS SELECT * FROM given")
        else:
            connection.execute(f"CREATE TABLE records (x {wanted}, id BIGINT)")
            connection.execute("INSERT INTO records SELECT * FROM given")
        return connection.table("records")

    return make


def _pandas(dtypes: dict[str, Any]) -> Make:
    def make(values: Values, kind: str, _: Path) -> Any:
        series = pd.Series(values, dtype=dtypes[kind]) if dtypes[kind] is not None else pd.Series(values)
        return pd.DataFrame({"x": series, "id": range(len(values))})

    return make


def _pandas_on_arrow(values: Values, kind: str, _: Path) -> Any:
    return arrow(values, kind).to_pandas(types_mapper=pd.ArrowDtype)


def _polars(dtype: Any = None, lazy: bool = False) -> Make:
    def make(values: Values, kind: str, _: Path) -> Any:
        frame: Any = pl.from_arrow(arrow(values, kind))
        if dtype is not None:
            frame = frame.with_columns(pl.col("x").cast(dtype(values) if dtype is pl.Enum else dtype))
        return frame.lazy() if lazy else frame

    return make


def _polars_enum(values: Values, kind: str, _: Path) -> Any:
    frame: Any = pl.from_arrow(arrow(values, kind))
    return frame.with_columns(pl.col("x").cast(pl.Enum(sorted({value for value in values if value is not None}))))


def _arrow(of_type: Any = None, chunks: int = 1) -> Make:
    def make(values: Values, kind: str, _: Path) -> Any:
        half = len(values) // chunks or 1
        parts = [values[start : start + half] for start in range(0, len(values), half)]
        whole = pa.chunked_array([column(part, kind, of_type) for part in parts])
        return pa.table({"x": whole, "id": pa.array(range(len(values)), pa.int64())})

    return make


def _fits_text(value: Any) -> bool:
    return not isinstance(value, bytes)


def _without_nul(value: Any) -> bool:
    return not (isinstance(value, str) and "\x00" in value)


ENGINES: dict[str, Engine] = {
    "lists": Engine(("mixed", *PLAIN), lambda values, _, __: {"x": values, "id": list(range(len(values)))}),
    "CSV": Engine(("raw text", *PLAIN), delimited("csv"), as_text),
    "CSV, all quoted": Engine(("raw text", "number"), delimited("csv", always=True), as_text),
    "CSV, CRLF": Engine(("raw text", "number"), delimited("csv", line=b"\r\n"), as_text),
    "txt": Engine(("raw text",), delimited("txt"), as_text),
    "TSV": Engine(("raw text", *PLAIN), delimited("tsv", b"\t"), as_text),
    "CSV, gz": Engine(("raw text", "number"), delimited("csv.gz"), as_text),
    "TSV, gz": Engine(("raw text",), delimited("tsv.gz", b"\t"), as_text),
    "Parquet": Engine(tuple(ARROW_TYPES), _parquet),
    "Arrow file": Engine(tuple(ARROW_TYPES), _feather("arrow")),
    "Feather file": Engine(("text",), _feather("feather")),
    "DuckDB file": Engine(PLAIN, _duckdb_file("duckdb")),
    "DuckDB": Engine(PLAIN, _relation()),
    "DuckDB, enum": Engine(("text",), _relation("ENUM"), can_hold=_without_nul),
    "DuckDB, NOCASE": Engine(("text",), _relation("VARCHAR COLLATE NOCASE")),
    "DuckDB, NOACCENT": Engine(("text",), _relation("VARCHAR COLLATE NOACCENT")),
    "DuckDB, both": Engine(("text",), _relation("VARCHAR COLLATE NOCASE.NOACCENT")),
    "DuckDB, hugeint": Engine(("whole",), _relation("HUGEINT")),
    "ibis": Engine(PLAIN, lambda values, kind, _: memtable(arrow(values, kind))),
    "pyarrow": Engine(tuple(ARROW_TYPES), _arrow()),
    "pyarrow, chunks": Engine(PLAIN, _arrow(chunks=3)),
    "pyarrow, dictionary": Engine(("text",), _arrow(pa.dictionary(pa.int32(), pa.string()))),
    "pyarrow, dictionaries": Engine(("text",), _arrow(pa.dictionary(pa.int16(), pa.string()), chunks=4)),
    "pyarrow, large": Engine(("text",), _arrow(pa.large_string())),
    "pyarrow, view": Engine(("text",), _arrow(pa.string_view())),
    "pandas": Engine(("mixed", *PLAIN), _pandas(dict.fromkeys(("mixed", *PLAIN)))),
    "pandas, object": Engine(("mixed", *PLAIN), _pandas(dict.fromkeys(("mixed", *PLAIN), object))),
    "pandas, category": Engine(PLAIN, _pandas(dict.fromkeys(PLAIN, "category"))),
    "pandas, string": Engine(("text",), _pandas({"text": "string[python]"})),
    "pandas, string[pyarrow]": Engine(("text",), _pandas({"text": "string[pyarrow]"})),
    "pandas, str": Engine(("text",), _pandas({"text": "str"})),
    "pandas, nullable": Engine(
        ("whole", "number", "truth"), _pandas({"whole": "Int64", "number": "Float64", "truth": "boolean"})
    ),
    "pandas, on Arrow": Engine(PLAIN, _pandas_on_arrow),
    "polars": Engine(PLAIN, _polars()),
    "polars, lazy": Engine(PLAIN, _polars(lazy=True)),
    "polars, categorical": Engine(("text",), _polars(pl.Categorical)),
    "polars, enum": Engine(("text",), _polars_enum),
    "polars, int128": Engine(("whole",), _polars(pl.Int128)),
}
"""All ways but those that need a running service: PySpark and scikit-learn have tests of their own."""
