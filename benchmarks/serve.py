"""How fast the front answers: requests on loopback beside a bare starlette page, in the same run and the same process.

Prints requests a second and the times of half and of 95 of 100 requests, for eight who ask at once. The front checks
host, rate, token and right, and asks the queue, which the bare page does not.

    python benchmarks/serve.py [requests]
"""

import http.client
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from figures import record
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests"))

from serving import Served, listening, served

AT_ONCE = 8


async def bare(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


def measured(address: str, path: str, requests: int, headers: dict[str, str]) -> tuple[float, float, float]:
    """Return requests a second, and the times of half and of 95 of 100 of them in milliseconds."""
    host = address.removeprefix("http://")

    def one_by_one(number: int) -> list[float]:
        connection, times = http.client.HTTPConnection(host, timeout=60), []
        for _ in range(number):
            started = time.perf_counter()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, (path, answer.status)
            times.append(1000 * (time.perf_counter() - started))
        connection.close()
        return times

    one_by_one(20)
    started = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = np.concatenate(list(pool.map(one_by_one, [requests // AT_ONCE] * AT_ONCE)))
    took = time.perf_counter() - started
    return len(times) / took, float(np.quantile(times, 0.5)), float(np.quantile(times, 0.95))


def main(requests: int) -> None:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        token = {"Authorization": f"Bearer {server.token('analyst')}"}
        rows = {}
        with listening(server) as address:
            for path in ("/sign-in", "/api/1/budget", "/api/1/questions"):
                rows[path] = measured(address, path, requests, token if path.startswith("/api") else {})
        plain = Starlette(routes=[Route("/", bare)])
        with listening(_with(server, plain)) as address:
            rows["bare starlette"] = measured(address, "/", requests, {})
    print(f"{requests} requests each, {AT_ONCE} at once")
    for name, (speed, half, most) in rows.items():
        print(f"{name:18} {speed:8.0f} a second   p50 {half:6.2f} ms   p95 {most:6.2f} ms")
        record(f"{name}, {AT_ONCE} requests at once", speed, "1/s", f"median {half:.1f} ms, 95 % within {most:.1f} ms")


def _with(server: Served, app: Starlette) -> Served:
    server.app = app
    return server


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
