"""Records on a server: a table or view of PostgreSQL, or a table or folder that Spark reads, by its address."""

from os import environ

from discreet._core.errors import SourceError
from discreet.records._postgresql import PostgresqlSource
from discreet.records._source import Source, in_silence

FORMATS = ("parquet", "delta", "iceberg", "orc", "csv")
"""Formats of folders that Spark may be asked to read; all columns of a CSV folder are texts."""
_FOR_EXAMPLE = "postgresql://user@host/database, or sc://host:15002 for Spark"


def connect(address: str, table: str | None = None, folder: str | None = None, form: str | None = None) -> Source:
    """Open a table or view on a server, or a folder that Spark reads, in one of its formats.

    `address` is postgresql://user@host/database or sc://host:port (Spark Connect). It must not contain a password or a
    token: those belong into a password file, or into the environment.
    """
    scheme = address.partition("://")[0]
    if scheme in ("postgresql", "postgres"):
        if table is None or folder is not None or form is not None:
            raise SourceError("Name the table or view of a PostgreSQL server, such as hospital.visits.")
        return PostgresqlSource(address, table)
    if scheme != "sc":
        raise SourceError(f"{scheme}:// is no address that records are read from. Use {_FOR_EXAMPLE}.")
    if (table is None) is (folder is None):
        raise SourceError("For Spark, name either a table, such as hospital.visits, or a folder.")
    if "token=" in address or "@" in address:
        raise SourceError(
            "The address of a Spark server must not contain a token or a user, because studies are public. Nothing was "
            "read. Put the token into the variable SPARK_CONNECT_TOKEN or into a proxy in front of the server."
        )
    return _of_spark(address, table, folder, form or "parquet")


def _of_spark(address: str, table: str | None, folder: str | None, form: str) -> Source:
    if form not in FORMATS:
        raise SourceError(f"Folders can be read in the formats {', '.join(FORMATS)}; got {form!r}.")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SourceError('Tables of Spark need the package pyspark: pip install "discreet[spark]".') from None
    from discreet.records._spark import SparkSource

    source: Source | None = None
    with in_silence():
        session = SparkSession.builder.remote(_with_token(address)).getOrCreate()
        if table is not None:
            frame = session.table(table)
        else:
            reader = session.read.format(form)
            frame = (reader.option("header", "true") if form == "csv" else reader).load(folder)
        if frame.columns:  # asks the server: the table is there
            source = SparkSource(frame)
    if source is None:
        what = f"the table {table!r}" if table is not None else f"the folder {folder!r} as {form}"
        raise SourceError(
            f"Cannot read {what} from {address!r}: the server cannot be reached, or does not have it. Nothing was read."
        )
    return source


def _with_token(address: str) -> str:
    token = environ.get("SPARK_CONNECT_TOKEN")
    return address if not token else f"{address.rstrip('/')}/;use_ssl=true;token={token}"
