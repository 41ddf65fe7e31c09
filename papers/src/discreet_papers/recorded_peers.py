"""What other libraries gave on the same records, as `make peers` measured and recorded it.

They need an environment of their own, so they are not run with the report; ours is.
"""

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def recorded() -> dict[str, Any]:
    """Return the record: `versions`, scores of `naive_bayes` and coefficients of `regression` by setting."""
    found: dict[str, Any] = json.loads(files("discreet_papers").joinpath("peers.json").read_text("utf-8"))
    return found


def versions() -> str:
    """Return the names and versions of the peers."""
    return ", ".join(f"{name} {version}" for name, version in recorded()["versions"].items())
