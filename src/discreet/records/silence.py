"""Engines work without a word: their errors and warnings may quote records, so they are dropped and never chained."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_silence() -> Iterator[None]:
    """Drop whatever an engine says or raises; the caller finds that nothing came back, and refuses in its own words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # noqa: BLE001 - some engines panic with more than an Exception
        return
