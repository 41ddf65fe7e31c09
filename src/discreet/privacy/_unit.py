"""Whom a guarantee protects: one record, or one person who has several of them."""

from functools import partial

from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet._core.fields import Checked, Whole, converted, frozen

RECORD = "one record"
PERSON = "one person"
"""Whom releases protect that put all rows of an id together (`models.persons`)."""


def _description(value: str, _: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DeclarationError("The unit of protection needs a description, such as 'one row per patient'.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise DeclarationError("The description of the unit contains an invalid character (a lone surrogate).")
    return value


@frozen()
class Unit:
    """The unit of privacy: in words, whom the guarantee protects, and the most rows that one unit may have.

    That no unit has more rows must follow from how the table is made; it is not checked here, because an error that
    depends on the records would leak information.

    >>> Unit("one patient", rows=3)
    Unit(description='one patient', rows=3)
    """

    description: Checked[str] = converted(_description, default=RECORD)
    rows: Whole = converted(partial(whole, most=10_000), default=1, called="rows per unit")


ONE_RECORD = Unit()
"""The default: every record is protected by itself."""
