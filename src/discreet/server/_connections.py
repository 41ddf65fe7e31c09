"""Connections that must hurry: headers within a time limit, and only so many at once from one address.

Uvicorn limits how many connections there are, and how long one may be idle after a request; a client that sends half a
request on each of many connections would otherwise hold all of them for as long as it likes.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Seconds from the beginning of a connection, or of a further request on it, until its headers must be there."""
MOST_OF_AN_ADDRESS, MOST = 100, 1000
"""Connections of one address that is not a proxy's, and of all addresses, at once."""


def hurried(is_proxy: Callable[[str], bool], seconds: float = HEADER_SECONDS) -> type[asyncio.Protocol]:
    """Return the protocol of a front; proxies have many clients, and hurry those themselves."""
    open_now: Counter[str] = Counter()

    class Hurried(H11Protocol):
        """HTTP/1.1 that closes a connection whose headers do not come, or that is one too many of its address."""

        _late: asyncio.TimerHandle | None = None
        _address = ""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            """Count the connection, and begin to wait for its headers."""
            super().connection_made(cast(asyncio.Transport, transport))
            self._address = self.client[0] if self.client is not None else ""
            open_now[self._address] += 1
            if open_now[self._address] > MOST_OF_AN_ADDRESS and not is_proxy(self._address):
                transport.close()
                return
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            """Take what was sent; wait for the rest of the headers unless they are complete."""
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_waiting()
            elif self._late is None and not self.transport.is_closing():
                self._wait_for_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            self._stop_waiting()
            open_now[self._address] -= 1
            if open_now[self._address] <= 0:
                del open_now[self._address]
            super().connection_lost(exc)

        def _wait_for_headers(self) -> None:
            self._late = self.loop.call_later(seconds, self._close)

        def _stop_waiting(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _close(self) -> None:
            self._late = None
            if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
                self.transport.close()

    return Hurried
