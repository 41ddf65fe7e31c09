"""Whom a release protects: what its publisher says, or what its model protects by putting rows together."""

from collections.abc import Collection

from discreet.errors import PublishError
from discreet.guarantees import ONE_RECORD, Unit
from discreet.guarantees.unit import RECORD


def protected(protects: Collection[str], unit: Unit, label: str) -> Unit:
    """Return whom releases protect: what was said, or else what their models protect, such as 'one person'."""
    who = set(protects)
    if who != {RECORD} and unit.rows > 1:
        raise PublishError(
            f"Cannot publish {label!r}: a person's rows are put together already, so that nothing is multiplied by "
            f"{unit.rows} rows. Nothing was published and nothing was charged. Leave out how many rows a unit may have."
        )
    if len(who) > 1 and unit == ONE_RECORD:
        raise PublishError(
            f"Cannot publish {label!r}: its parts protect {' and '.join(sorted(who))}. Nothing was published and "
            "nothing was charged. Say by a Unit whom all of them protect, or publish them apart."
        )
    return Unit(who.pop()) if unit == ONE_RECORD else unit
