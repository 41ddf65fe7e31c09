"""Whom a release protects: what its publisher states, or what its model protects by combining rows."""

from collections.abc import Collection

from discreet.errors import PublishError
from discreet.guarantees import ONE_RECORD, Unit
from discreet.guarantees.unit import RECORD


def protected(protects: Collection[str], unit: Unit, label: str) -> Unit:
    """Return whom releases protect: what was said, or else what their models protect, such as 'one person'."""
    who = set(protects)
    if who != {RECORD} and unit.rows > 1:
        raise PublishError(
            f"Cannot publish {label!r}: its model already combines all rows of a person, so the guarantee is not "
            f"multiplied by {unit.rows} rows. Nothing was published and nothing was charged. Leave out the number of "
            "rows per unit."
        )
    if len(who) > 1 and unit == ONE_RECORD:
        raise PublishError(
            f"Cannot publish {label!r}: its parts protect different units, {' and '.join(sorted(who))}. Nothing was "
            "published and nothing was charged. State a Unit that all of them protect, or publish them separately."
        )
    return Unit(who.pop()) if unit == ONE_RECORD else unit
