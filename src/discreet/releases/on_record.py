"""A release that was already paid for is returned again, without a charge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.guarantees import Ledger
from discreet.models.model import ModelT
from discreet.releases.release import Release

if TYPE_CHECKING:
    from discreet.releases._publish import Part


def recorded(
    texts: Sequence[str], parts: Sequence["Part[ModelT]"], label: str, ledger: Ledger
) -> list[Release[ModelT]]:
    """Return the releases that were paid for before; refuse a ledger that records others for the same request."""
    releases = [Release.from_json(text) for text in texts]
    if [(each.label, each.mechanism) for each in releases] != [(part.label, part.mechanism) for part in parts]:
        raise LedgerError(
            f"{str(ledger.place)!r} records a release of {label!r} other than the one that was paid for, so it has "
            "been edited. Nothing was published and nothing was charged. Check it with `discreet ledger`."
        )
    return releases
