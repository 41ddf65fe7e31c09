"""Records on a real PostgreSQL server mean what they mean everywhere else, in one snapshot, and refusals hold no value."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from conformance.backends import Engine
from conformance.contract import agree_on_every_record
from discreet.records._postgresql import PostgresqlSource
from postgresql_server import WHY_MISSING, Server, is_here, running

pytestmark = [pytest.mark.skipif(not is_here(), reason=WHY_MISSING), pytest.mark.xdist_group("records on PostgreSQL")]
TYPES = {
    "text": "text", "whole": "numeric(38)", "number": "double precision", "truth": "boolean", "decimal": "numeric",
    "date": "date", "time": "timestamp", "zoned": "timestamptz",
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


def can_hold(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and value == value.encode("utf-8", "replace").decode()
    return True


def made(server: Server, of_type: str) -> Any:
    """Return how a table of the values and the number of each record is made."""
    import psycopg

    def make(values: list[Any], kind: str, _: Path) -> Any:
        name = f"t{server._schemas}"
        server._schemas += 1
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {name} (x {of_type}, id bigint)".encode())
            with connection.cursor() as cursor:
                rows = [(value, number) for number, value in enumerate(values)]
                cursor.executemany(f"INSERT INTO {name} VALUES (%s, %s)".encode(), rows)
        return PostgresqlSource(server.address, name)

    return make


@pytest.mark.parametrize("kind", TYPES)
def test_every_value_of_the_corpus_is_read_as_by_the_twin(kind: str, server: Server, tmp_path: Path) -> None:
    agree_on_every_record(Engine((kind,), made(server, TYPES[kind]), can_hold=can_hold), kind, tmp_path, 7)
