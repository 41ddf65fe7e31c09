"""Connections: half-sent requests do not hold others up, and a request says its length in one way."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
import uvicorn

from discreet.server import _connections as connections
from discreet.server._connections import hurried
from discreet.server._front import Settings
from discreet.server._start import listen
from serving import MANY, Served, served


@contextmanager
def hurrying(server: Served, seconds: float, is_proxy: bool = False) -> Iterator[tuple[str, int]]:
    place = listen(("127.0.0.1", 0))
    address: tuple[str, int] = place.getsockname()
    server.front.settings = Settings(frozenset({f"127.0.0.1:{address[1]}"}), rates=MANY)
    config = uvicorn.Config(
        server.app, log_level="critical", lifespan="off", ws="none", http=hurried(lambda _: is_proxy, seconds)
    )
    front = uvicorn.Server(config)
    thread = threading.Thread(target=front.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield address
    finally:
        front.should_exit = True
        thread.join(30)
        place.close()


def is_closed(connection: socket.socket) -> bool:
    """Return whether the other side closes a connection, without a word."""
    connection.settimeout(20)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def health(address: tuple[str, int]) -> int:
    with urlopen(f"http://127.0.0.1:{address[1]}/health", timeout=20) as answer:
        return int(answer.status)


def test_half_sent_requests_are_closed_and_whole_ones_are_not(tmp_path: Path) -> None:
    with served(tmp_path) as server, hurrying(server, 0.5) as address:
        half = [socket.create_connection(address) for _ in range(60)]
        for number, each in enumerate(half):
            each.sendall((b"", b"GET /health HTTP/1.1\r\nHost: x\r\n", b"GET")[number % 3])
        assert health(address) == 200  # others are answered meanwhile
        assert all(map(is_closed, half))
        kept = socket.create_connection(address)
        request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\n\r\n".encode()
        kept.sendall(request)
        assert kept.recv(100).startswith(b"HTTP/1.1 200")
        kept.sendall(request[:20])  # half of a second one
        rest = b""
        kept.settimeout(20)
        while part := kept.recv(1000):
            rest += part
        assert rest.count(b"HTTP/1.1") == 0
        for each in (*half, kept):
            each.close()


@pytest.mark.parametrize(("is_proxy", "expected"), [(False, 5), (True, 0)])
def test_one_address_does_not_take_all_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_proxy: bool, expected: int
) -> None:
    monkeypatch.setattr(connections, "MOST_OF_AN_ADDRESS", 10)
    with served(tmp_path) as server, hurrying(server, 60, is_proxy) as address:
        opened = [socket.create_connection(address) for _ in range(15)]
        time.sleep(0.2)
        for each in opened:
            each.settimeout(0.2)
        closed = 0
        for each in opened:
            try:
                closed += each.recv(1) == b""
            except (TimeoutError, ConnectionResetError) as problem:
                closed += isinstance(problem, ConnectionResetError)
            each.close()
        assert closed == expected


def test_a_request_with_two_lengths_is_refused_and_its_connection_ends(tmp_path: Path) -> None:
    with served(tmp_path) as server, hurrying(server, 20) as address:
        host = f"Host: 127.0.0.1:{address[1]}\r\n"
        smuggled = f"GET /health HTTP/1.1\r\n{host}\r\n"
        with socket.create_connection(address) as connection:
            connection.sendall(
                f"POST /sign-in HTTP/1.1\r\n{host}Content-Length: {len(smuggled) + 5}\r\n"
                f"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}".encode()
            )
            connection.settimeout(20)
            answer = b""
            while part := connection.recv(4096):
                answer += part
        assert answer.startswith(b"HTTP/1.1 400")
        assert answer.count(b"HTTP/1.1") == 1  # what was behind it is not taken for another request
