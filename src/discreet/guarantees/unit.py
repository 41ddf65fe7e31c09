"""Whom a guarantee protects: one record, or one person who has several of them."""

from dataclasses import dataclass

from discreet.errors import DeclarationError
from discreet.exact import whole

RECORD = "one record"
PERSON = "one person"
"""Whom releases protect that put all rows of an id together (`models.persons`)."""


@dataclass(frozen=True, init=False)
class Unit:
    """The unit of privacy: in words, whom the guarantee protects, and the most rows that one unit may have.

    That no unit has more rows must follow from how the table is made; it is not checked here, because an error that
    depends on the records would leak information.

    >>> Unit("one patient", rows=3)
    Unit(description='one patient', rows=3)
    """

    description: str
    rows: int

    def __init__(self, description: str = RECORD, rows: int = 1) -> None:
        if not isinstance(description, str) or not description.strip():
            raise DeclarationError("The unit of protection needs a description, such as 'one row per patient'.")
        if any("\ud800" <= letter <= "\udfff" for letter in description):
            raise DeclarationError("The description of the unit contains an invalid character (a lone surrogate).")
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "rows", whole(rows, "rows per unit", most=10_000))


ONE_RECORD = Unit()
"""The default: every record is protected by itself."""
