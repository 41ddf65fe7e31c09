"""Ledgers for tests: in a file, and on a real PostgreSQL server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import postgresql_server
from postgresql_server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="No psycopg: pip install 'discreet[postgresql]' to run these tests.")
    if not postgresql_server.is_here():
        pytest.skip(postgresql_server.WHY_MISSING)
    with postgresql_server.running() as found:
        yield found


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.xdist_group("postgresql"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a ledger can be created: in a file, and on a server."""
    if request.param == "file":
        return str(tmp_path / "l.db")
    make: Callable[[], str] = request.getfixturevalue("server").place
    return make()
