"""One row of what a reader knows: a named quantity, its interval, and how much of that is due to privacy.

Every posterior is shown as such rows, on a screen, in a file or on a page, so code that displays one need not know
the kind of model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from math import ceil, floor, isfinite, log10
from typing import Any, Final

from discreet._core.errors import DeclarationError, DiscreetError
from discreet.mathematics.distributions import BetaMixture, Sampled
from discreet.records import day_text

SHOWN_LEVEL = 0.9
"""The probability of intervals where none is asked for."""
PROBABILITY = "probability"
"""The unit of a share; such numbers are shown with four decimals or in percent."""
DAYS = "days from 1970-01-01"
"""The unit of a date; such numbers are shown as the day that they lie in."""
UNKNOWN = "-"
"""What is shown where a number was not computed."""
NOTHING_KNOWN = "nothing known"
"""What is shown for a rate in a group that may have no records at all."""
STAR = "*"
"""What is shown before a mean that lies outside its interval; `outside_interval_note` says why."""
BACKENDS: Final = ("pandas", "polars", "pyarrow")
"""The libraries whose data frames rows can become, the first that is installed by default."""

ProbabilityDistribution = BetaMixture | Sampled


@dataclass(frozen=True)
class Row:
    """What is known about one quantity, such as 'cancer=yes' given 'smoker=yes'; its interval is from low to high.

    `share_due_to_privacy` is the part of the interval's width that exact statistics would save, None if it was not
    computed. `monte_carlo_error` is the standard error of a mean computed from draws, None where nothing was drawn; the
    ends of a 90 % interval have about two to three times that error. Where the interval alone comes from draws, of the
    posterior or public ones of noise, it is what their mean would have. `numerical_error` says how far the mean and
    both ends may lie from those of the posterior that was read: what windows leave out, quadrature, searches and
    rounding together; None where they come from draws. One of the two is always stated. For a rate in a group,
    `records_low` and `records_high` are the ends of an interval, of the same level, for the number of its records.
    """

    quantity: str
    given: str
    mean: float
    median: float
    low: float
    high: float
    sd: float
    share_due_to_privacy: float | None
    unit: str
    monte_carlo_error: float | None = None
    numerical_error: float | None = None
    records_low: float | None = None
    records_high: float | None = None

    @property
    def is_probability(self) -> bool:
        """Return whether the quantity is a probability."""
        return self.unit == PROBABILITY

    @property
    def is_unknown(self) -> bool:
        """Return whether this is a rate in a group that may be empty: the interval of its records starts below one.

        Then the release cannot tell such a group from one without any records, which has no rate.
        """
        return self.records_low is not None and self.records_low < 1

    @property
    def records_text(self) -> str:
        """Return about how many records a group has, a dash if that is not known."""
        if self.records_low is None or self.records_high is None:
            return UNKNOWN
        return f"{floor(self.records_low):,} to {ceil(self.records_high):,}"

    def text(self, value: float) -> str:
        """Return a number in the quantity's unit: a probability to four decimals, else as precise as the interval."""
        if self.unit == DAYS:
            return day_text(floor(value))
        if self.is_probability:
            return f"{value:.4f}"
        if self.high == self.low:
            return f"{value:,.3f}".rstrip("0").rstrip(".")  # known to the last digit
        is_whole = all(float(each).is_integer() for each in (self.mean, self.low, self.high))
        return f"{value:,.{0 if is_whole else decimals_of(self.high - self.low)}f}"

    @property
    def unit_text(self) -> str:
        """Return the unit in words: dates are shown as such."""
        return "date" if self.unit == DAYS else self.unit

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return the mean and the ends of the interval as texts."""
        return self.text(self.mean), self.text(self.low), self.text(self.high)

    @property
    def is_mean_outside(self) -> bool:
        """Return whether the mean of a probability visibly lies outside its interval."""
        mean, low, high = map(float, self.texts) if self.is_probability else (0.0, 0.0, 0.0)
        return not low <= mean <= high

    @property
    def starred_mean(self) -> str:
        """Return the mean as a text, with a star before it if it lies outside the interval."""
        if self.is_unknown:
            return NOTHING_KNOWN
        return f"{STAR if self.is_mean_outside else ''}{self.texts[0]}"

    @property
    def interval_text(self) -> str:
        """Return the interval as a text, a dash if nothing is known."""
        _, low, high = self.texts
        return UNKNOWN if self.is_unknown else f"{low} to {high}"

    @property
    def share_text(self) -> str:
        """Return the share due to privacy in percent, a dash if it is not known."""
        return UNKNOWN if self.share_due_to_privacy is None or self.is_unknown else f"{self.share_due_to_privacy:.0%}"


def decimals_of(width: float) -> int:
    """Return how many decimals show two digits of a width.

    >>> [decimals_of(width) for width in (250.0, 2.5, 0.025)]
    [0, 1, 3]
    """
    return max(0, min(15, 1 - floor(log10(width)))) if width > 0 and isfinite(width) else 3


def shown_fields(rows: Sequence[Row]) -> list[str]:
    """Return the names of the fields that files and frames have; sizes of groups only where some row has one."""
    with_sizes = any(row.records_low is not None for row in rows)
    return [each.name for each in fields(Row) if with_sizes or not each.name.startswith("records_")]


def frame_of(rows: Sequence[Row], backend: str | None = None) -> Any:
    """Return a frame with one line per row and the fields as columns; an unknown share is missing."""
    import narwhals

    wanted = _installed() if backend is None else backend
    chosen = next((name for name in BACKENDS if name == wanted), None)
    if chosen is None:
        raise DeclarationError(
            f"A data frame is one of {', '.join(map(repr, BACKENDS))}; got {backend!r}. None was created."
        )
    if find_spec(chosen) is None:
        raise DiscreetError(f"A {chosen} data frame needs that package: pip install {chosen}. None was created.")
    names = shown_fields(rows)
    words = ("quantity", "given", "unit")
    schema = {name: narwhals.String() if name in words else narwhals.Float64() for name in names}
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    return narwhals.from_dict(columns, schema, backend=chosen).to_native()


def _installed() -> str:
    for name in BACKENDS:
        if find_spec(name) is not None:
            return name
    raise DiscreetError(
        f"A data frame needs one of the packages {', '.join(BACKENDS)}, and none is installed: pip install polars. "
        "`rows` gives the same figures without any."
    )


def percent_text(level: float, gap: str = " ") -> str:
    """Return the level of an interval for people; in heads of tables without a gap.

    >>> percent_text(0.9), percent_text(0.995), percent_text(0.95, "")
    ('90 %', '99.5 %', '95%')
    """
    return f"{100 * level:.6g}{gap}%"
