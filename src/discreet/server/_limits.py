"""Rate limits: how often somebody may do something, by buckets that fill up again as time goes by (token buckets).

They are kept in the memory of a front, so each of several fronts has its own. Locks after wrong passwords are kept in
the queue and hold for all fronts.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from discreet._core.errors import DiscreetError
from discreet.server._people import Clock

_MOST_KEYS = 20_000


class TooOftenError(DiscreetError):
    """Somebody sends requests more often than they may."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, round(seconds))
        super().__init__(f"Too many requests. Nothing was done. Try again in {self.seconds} seconds.")


@dataclass(frozen=True)
class Rates:
    """How many requests a minute: sign-ins from an address, anything from an account, plans and posteriors (`work`)."""

    sign_in: int = 10
    anything: int = 600
    work: int = 120


class Buckets:
    """One bucket for each key: it holds as many requests as are allowed in a minute, and refills within a minute.

    The clock must be monotonic: setting the time of day neither fills nor empties a bucket.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, what: str, who: str, per_minute: int) -> None:
        """Take one from a bucket, or refuse if it is empty."""
        now, speed = self._clock(), per_minute / 60
        with self._lock:
            left, at = self._left.pop((what, who), (float(per_minute), now))
            left = min(float(per_minute), left + (now - at) * speed)
            enough = left >= 1
            self._left[what, who] = (left - 1 if enough else left, now)
            while len(self._left) > _MOST_KEYS:
                self._left.popitem(last=False)
        if not enough:
            raise TooOftenError((1 - left) / speed)
