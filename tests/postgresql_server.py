"""A private PostgreSQL server for tests, from the packages of the system, in a folder of its own.

PostgreSQL refuses to run as root. Then it runs as the user whom its package made. Without the programs the tests that
need a server are skipped, in words.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WHY_MISSING = "No PostgreSQL: install Debian's package postgresql to run these tests."
_HOMES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def program(name: str) -> str | None:
    """Return where a program of PostgreSQL lies: Debian keeps them out of the path."""
    found = [str(home / name) for home in _HOMES if (home / name).exists()]
    return found[0] if found else shutil.which(name)


def is_here() -> bool:
    """Tell whether a server can be started: the programs are there, and so is a user who may run them."""
    if program("initdb") is None or program("pg_ctl") is None:
        return False
    if os.getuid() != 0:
        return True
    try:
        return pwd.getpwnam("postgres").pw_uid > 0 and shutil.which("runuser") is not None
    except KeyError:
        return False


class Server:
    """A server on a free port of this machine, with its own folder.

    Unless it is durable it does not wait for the disk: a process or server that is killed loses nothing by that, a
    machine without power would.
    """

    def __init__(self, folder: Path, durable: bool) -> None:
        self.folder, self._durable, self._schemas = folder, durable, 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=60 "
        options += "-c recovery_init_sync_method=syncfs" if self._durable else "-c fsync=off"
        options += " -c lock_timeout=60s -c idle_in_transaction_session_timeout=120s"  # who waits is told
        options += " -c wal_writer_delay=10s"  # what nobody flushes stays in memory, and a crash shows it
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", options, "-w", "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop it: `immediate` is as if it had crashed."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", how, "-w", "stop")

    @property
    def address(self) -> str:
        """Return the address of its one database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def place(self) -> str:
        """Return the address of a new, empty schema: room for one ledger."""
        self._schemas += 1
        self.execute(f"CREATE SCHEMA ledger{self._schemas}")
        return f"{self.address}?schema=ledger{self._schemas}"

    def execute(self, statement: str, user: str = "postgres") -> None:
        """Run a statement of SQL in the newest schema, as if with psql."""
        import psycopg

        address, path = self.address.replace("postgres@", f"{user}@"), f"-csearch_path=ledger{self._schemas}"
        with psycopg.connect(address, autocommit=True, options=path) as connection:
            connection.execute(statement.encode())

    def _run(self, name: str, *words: str) -> None:
        as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        done = subprocess.run(
            [*as_user, str(program(name)), *words], cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()


@contextmanager
def running(durable: bool = False) -> Iterator[Server]:
    """Start a server, and take it and its folder away afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-server-"))
    if os.getuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    server = Server(folder, durable)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
