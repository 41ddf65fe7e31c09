"""With which share a unit counts: a record by a weight that was fixed by design, a person by the number of rows."""

from fractions import Fraction
from functools import partial

from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text, positive, whole
from discreet._core.fields import Checked, Converted, Number, Whole, converted, frozen
from discreet.numbers._persons import counted_persons, id_column, number_of_persons
from discreet.records import Bounds, is_text

FIXED = "fixed by design"
"""What weights must be: known before the records were, or from each record alone."""
MOST_ROWS = 10_000

_WHY = (
    "Weights that were raked, calibrated or post-stratified are made so that totals fit: if one record changes, the "
    "weights of all others do, and no guarantee for one record would hold. Publish with the design weights; readers "
    "may calibrate what they read."
)


def _weight_column(name: str, _: str) -> str:
    if not isinstance(name, str) or not name or not is_text(name):
        raise DeclarationError("weight must be the name of a column of weights: a string that is not empty.")
    return name


def _fixed(are: str | None, _: str) -> str:
    if are != FIXED:
        said = "It is not stated what the weights are" if are is None else f"The weights are stated to be {are!r}"
        raise DeclarationError(f"{said}; they must be {FIXED!r}. {_WHY}")
    return FIXED


@frozen()
class Weights:
    """A column of survey weights between 0 and `most`; larger weights are clipped, and a missing weight counts as 0.

    `are` must be "fixed by design": each weight was fixed before the values were known, or from its own record alone.
    This is the data holder's assertion, and the guarantee depends on it.

    >>> Weights("weight", most=50, are="fixed by design").most
    Fraction(50, 1)
    """

    column: Checked[str] = converted(_weight_column)
    most: Number = converted(positive, called="the largest weight")
    are: Converted[str | None, str] = converted(_fixed, default=None)

    @property
    def bounds(self) -> Bounds:
        """Return the range of weights; a missing value counts as 0."""
        return Bounds(self.column, Fraction(0), self.most, Fraction(0))

    @property
    def words(self) -> str:
        """Return in words how records count."""
        return f"records count by {self.column}, from 0 to {exact_text(self.most)}, {FIXED}"


@frozen()
class PersonRows:
    """All rows of persons, each of whom counts as at most `most` rows; `size` is the public number of persons.

    Where size is None that number is secret, and rows without an id are left out. If somebody has more rows, each of
    them is weighted down equally, so that together they count as `most` rows.

    >>> PersonRows("patient", size=5000, most=20).most
    20
    """

    column: Checked[str] = converted(id_column)
    size: Converted[int | None, int | None] = converted(number_of_persons)
    most: Whole = converted(partial(whole, most=MOST_ROWS), called="rows_per_person")

    @property
    def words(self) -> str:
        """Return in words how rows count."""
        return (
            f"all rows of one {self.column} are one of {counted_persons(self.size)}, who count with at most "
            f"{self.most} rows"
        )
