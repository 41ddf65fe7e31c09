"""Named places between two steps of publishing, where tests end the process to show that nothing is lost.

In ordinary use `reached` does nothing.
"""

from collections.abc import Callable

POINTS = (
    "charge-begun",  # the ledger is locked, nothing is written
    "charge-written",  # the charge is written but not yet committed
    "charged",  # the charge is committed, nothing is drawn
    "drawn",  # the output is drawn, nothing is recorded
    "record-begun",  # the ledger is locked again
    "record-written",  # the release is written but not yet committed
    "recorded",  # the release is recorded but not yet returned
)

action: Callable[[str], None] | None = None


def reached(point: str) -> None:
    """Say that a point was reached."""
    if action is not None:
        action(point)
