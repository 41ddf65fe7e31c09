"""What a posterior says about itself in plain words, for a page read by those who are accountable for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.exact import exact_text
from discreet.models.number_bounds import Bounds
from discreet.records.columns import Column
from discreet.records.values import text_of


@dataclass(frozen=True)
class Account:
    """Sentences about a release and its reading. They are plain text: whoever shows them must escape them.

    `question` goes on after 'A randomised summary of so many records'; `columns` names each column and says what is
    counted of it; `hidden` is what was not published; `meaning` explains a line of the results; `prior` says what was
    believed beforehand; `public` are further facts that are not protected, such as bounds.
    """

    question: str
    columns: tuple[tuple[str, str], ...]
    hidden: str
    meaning: str
    prior: str
    public: tuple[str, ...] = ()


def levels_in_words(column: Column) -> str:
    """Return the names of a column's levels, the first ones if there are many, and where other values are counted."""
    names = [str(text_of(level)) for level in column.levels]
    shown = ", ".join(names if len(names) <= 12 else [*names[:10], f"... {len(names)} in all"])
    return f"({shown}); gaps and other values count as {text_of(column.outside)}"


def bounds_in_words(bounds: Bounds) -> str:
    """Return the bounds of a column of numbers, and what becomes of values beyond them and of gaps."""
    low, high, missing = (exact_text(value) for value in (bounds.low, bounds.high, bounds.missing))
    return f"({low} to {high}; values beyond are clipped to these bounds, gaps count as {missing})"


def dirichlet_in_words(parameters: Sequence[float]) -> str:
    """Return the range of a Dirichlet prior's parameters in words."""
    least, most = min(parameters), max(parameters)
    return f"all its parameters {least:g}" if least == most else f"parameters from {least:g} to {most:g}"
