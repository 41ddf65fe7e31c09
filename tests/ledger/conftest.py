"""Ledgers for tests: in a file, and on a real PostgreSQL server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import postgresql_server
from ledger_trials import in_memory
from postgresql_server import Server


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Return an empty folder, as pytest's own does, in memory: most of what ledgers take is waiting for a disk."""
    with in_memory() as folder:
        yield folder


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
