"""Starting a front, which confines itself before it answers anybody, or both processes on one machine."""

import logging
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from sqlalchemy import select

from discreet._core.errors import DeclarationError
from discreet.server._app import application
from discreet.server._confine import NETWORK_FROM, confine, shown, version
from discreet.server._desk import Desk
from discreet.server._front import Front, Settings
from discreet.server._namespaces import isolate, may_isolate
from discreet.server._people import People
from discreet.server._roles import STEWARD
from discreet.server._schema import Queue, QueueError, accounts

Say = Callable[[str], None]
_KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""The environment variables that the front gets: none of them may hold a password."""
_PROGRAM = (sys.executable, "-c", "from discreet.cli import main; main(prog_name='discreet')")
_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds before a process that stopped is started again


def default_queue(study: Path) -> Path:
    """Return the default place of a study's queue: in a folder of its own."""
    return study.absolute().parent / f"{study.stem}.serve" / "queue.db"


def make_folder(queue: str, user: str | None = None) -> None:
    """Create the folder of a queue in a file, closed to others; it belongs to the front's user, if one is given."""
    if "://" in queue:
        return
    folder = Path(queue).absolute().parent
    folder.mkdir(mode=0o700, exist_ok=True)
    if user is not None:
        _give(folder, user)


def _give(folder: Path, user: str) -> None:
    owner = _user(user)
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner.pw_uid, owner.pw_gid)


def _user(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise DeclarationError(f"There is no user {name!r} on this machine. Nothing was started.") from None


@dataclass(frozen=True)
class ServerAddress:
    """Where a front listens, its public address, and the proxies in front of it."""

    address: str = "127.0.0.1:8000"
    public: str | None = None
    proxies: Sequence[str] = field(default_factory=tuple)
    user_header: str | None = None

    @property
    def host_and_port(self) -> tuple[str, int]:
        """Return host and port."""
        parts = urlsplit(f"//{self.address}")
        try:
            host, port = parts.hostname, parts.port
            ip_address(host or "")
        except ValueError:
            host, port = None, None
        if host is None or port is None:
            raise DeclarationError(
                f"An address must be an IP address and a port, such as 127.0.0.1:8000; got {self.address!r}."
            )
        return host, port

    def settings(self, port: int) -> Settings:
        """Return the settings of a front on this port; refuse one that other machines would reach without a proxy."""
        host, _ = self.host_and_port
        try:
            networks = tuple(ip_network(each) for each in self.proxies)
        except ValueError:
            raise DeclarationError(
                "A proxy must be an address or a network, such as 10.0.0.5 or 10.0.0.0/28."
            ) from None
        public = urlsplit(self.public) if self.public is not None else None
        if public is not None and (public.scheme not in ("http", "https") or not public.netloc):
            raise DeclarationError(f"A public address must be a URL such as https://data.example; got {self.public!r}.")
        if not ip_address(host).is_loopback and (public is None or public.scheme != "https" or not networks):
            raise DeclarationError(
                "A front that other machines can reach must be behind a proxy with TLS: use --public-address "
                "https://... and --proxy ADDRESS. Nothing was started."
            )
        if self.user_header is not None and not networks:
            raise DeclarationError("A header that names the user needs --proxy ADDRESS. Nothing was started.")
        own = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        hosts = own if public is None else {public.netloc.lower()}
        header = None if self.user_header is None else self.user_header.lower()
        return Settings(frozenset(hosts), networks, header, public is not None and public.scheme == "https")


def listen(address: tuple[str, int]) -> socket.socket:
    """Listen, and send without delay (TCP_NODELAY), which asyncio sets only for sockets that it made itself."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    found = socket.create_server(address, family=family, backlog=512)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def run_front(place: str, reached: ServerAddress, say: Say) -> None:
    """Listen, confine this process, and answer until it is told to stop."""
    import uvicorn

    from discreet.server._connections import MOST, hurried

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    queue = Queue(place)
    queue.require()
    reached.settings(reached.host_and_port[1])  # so that mistakes are refused before anything listens
    listening = listen(reached.host_and_port)
    settings = reached.settings(listening.getsockname()[1])
    folder = Path(place).absolute().parent if queue.is_file else None
    is_alone = folder is not None and _isolated(folder, queue)
    is_confined = confine(folder, _port(queue))
    for words in _open_doors(is_alone or folder is None, is_confined):
        say(words)
    app = application(Front(queue, Desk(), settings))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, lifespan="off",
        ws="none", limit_concurrency=MOST, timeout_keep_alive=10, http=hurried(settings.is_proxy),
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _isolated(folder: Path, queue: Queue) -> bool:
    """Go on in a process that sees its own programs and the queue alone, if the system allows it; tell whether."""
    queue.engine.dispose()  # its files are opened again, in the folder that is seen then
    programs = shown()
    if not may_isolate(programs, folder):
        return False
    isolate(programs, folder)
    return True


def _open_doors(is_alone: bool, is_confined: bool) -> Iterator[str]:
    """Yield what a front that somebody has taken over could still do on this system, for whoever runs it to know."""
    if not is_alone:
        yield (
            "This system lets the front make no namespaces of its own: whoever took it over could see sizes and times "
            "of other files, among them the ledger's, and send datagrams (UDP). Run it as a user of its own, with the "
            "study in a folder that is closed to it (chmod 700). See the docs."
        )
    if not is_confined and not is_alone:
        yield (
            "This system has no Landlock: only file permissions keep the front from the records and the ledger. See "
            "the docs."
        )
    elif is_confined and not is_alone and version() < NETWORK_FROM:
        yield (
            "This system is too old to restrict the front's connections (Linux 6.7 and later are not): only a firewall "
            "keeps it from other machines. See the docs."
        )


def _port(queue: Queue) -> int | None:
    return None if queue.is_file else (queue.engine.url.port or 5432)


def first_link(queue: Queue) -> str | None:
    """Return the secret of a one-time link for a first steward, if nobody can sign in as one yet."""
    wanted = select(accounts.c.name).where(accounts.c.role == STEWARD, accounts.c.password.is_not(None))
    with queue.read_transaction() as connection:
        if connection.execute(wanted).first() is not None:
            return None
    return People(queue).invite_first("(start)")


class Pair:
    """Front and publisher on one machine; if one of them stops, it is started again."""

    def __init__(
        self, study: Path, queue: str, reached: ServerAddress, key: Path | None, user: str | None, say: Say
    ) -> None:
        self.study, self.queue, self.reached, self.key, self.user, self.say = study, queue, reached, key, user, say
        self._is_over = False
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: dict[str, tuple[int, float]] = {}

    def commands(self) -> dict[str, list[str]]:
        """Return the command line of each process."""
        publisher = [*_PROGRAM, "serve-publisher", str(self.study), "--queue", self.queue]
        front = [*_PROGRAM, "serve-front", "--queue", self.queue, "--address", self.reached.address]
        publisher += [] if self.key is None else ["--key", str(self.key)]
        front += [] if self.reached.public is None else ["--public-address", self.reached.public]
        front += [part for each in self.reached.proxies for part in ("--proxy", each)]
        front += [] if self.reached.user_header is None else ["--user-header", self.reached.user_header]
        return {"publisher": publisher, "front": front}

    def start(self, name: str) -> None:
        """Start one of them; the front gets few environment variables, and its own user if one is given."""
        if name == "publisher":
            self.running[name] = subprocess.Popen(self.commands()[name])
            return
        kept = {each: os.environ[each] for each in _KEPT if each in os.environ}
        folder = None if "://" in self.queue else Path(self.queue).absolute().parent
        if self.user is None:
            self.running[name] = subprocess.Popen(self.commands()[name], env=kept, cwd=folder)
            return
        owner = _user(self.user)
        who = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self.running[name] = subprocess.Popen(self.commands()[name], env=kept, cwd=folder, **who)  # type: ignore[call-overload]

    def run(self) -> None:
        """Start both, print the address, and keep them running until a signal says to stop."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        make_folder(self.queue, self.user)
        self.start("publisher")
        queue = Queue(self.queue)
        self._wait_for(queue)
        if self.user is not None:
            _give(Path(self.queue).absolute().parent, self.user)
        self.start("front")
        self._wait_for_front()
        self._greet(queue)
        queue.engine.dispose()
        while not self._is_over:
            for name, process in list(self.running.items()):
                if process.poll() is not None and not self._is_over:
                    self._again(name)
            time.sleep(0.1)
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()

    def _greet(self, queue: Queue) -> None:
        base = self.reached.public or f"http://{self.reached.address}"
        self.say(f"Serving {self.study} at {base}. Press Ctrl-C to stop.")
        if (link := first_link(queue)) is not None:
            self.say(
                f"There is no steward yet. This link works only once and is valid for one day: {base}/welcome/{link}"
            )

    def _wait_for(self, queue: Queue) -> None:
        while not self._is_over:
            if self.running["publisher"].poll() is not None:
                raise DeclarationError("The publisher could not be started; its message is above. Nothing is served.")
            try:
                queue.require()
                return
            except QueueError:
                time.sleep(0.05)

    def _wait_for_front(self) -> None:
        while not self._is_over and self.running["front"].poll() is None:
            try:
                socket.create_connection(self.reached.host_and_port, 1).close()
                return
            except OSError:
                time.sleep(0.05)

    def _again(self, name: str) -> None:
        times, at = self._ended.get(name, (0, 0.0))
        times = 0 if time.monotonic() - at > 60 else times
        self._ended[name] = (times + 1, time.monotonic())
        pause = _PAUSES[min(times, len(_PAUSES) - 1)]
        self.say(
            f"The {name} stopped and will be restarted in {pause:g} s. Nothing is lost: unfinished work is resumed."
        )
        time.sleep(pause)
        if not self._is_over:
            self.start(name)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._is_over = True
