"""Bands of numbers and of days: their edges, and the names that they have unless others are declared."""

import itertools
from collections.abc import Sequence
from datetime import date
from typing import Any

from discreet.errors import DeclarationError
from discreet.records.values import LARGEST_WHOLE, day_of


def edges_of(name: str, edges: Sequence[Any]) -> tuple[tuple[float, ...], bool]:
    """Return the edges as rising numbers, and whether they are days."""
    given = tuple(edges) if isinstance(edges, Sequence) and not isinstance(edges, str) else ()
    are_days = bool(given) and all(isinstance(edge, str | date) for edge in given)
    found = [day_of(edge) if are_days else edge for edge in given]
    numbers = tuple(float(n) for n in found if isinstance(n, int | float) and not isinstance(n, bool))
    rising = all(low < high for low, high in itertools.pairwise(numbers))
    near = all(abs(number) <= LARGEST_WHOLE + 1 for number in numbers)
    if len(numbers) != len(given) or len(numbers) < 2 or not rising or not near:
        raise DeclarationError(
            f"The bands of {name!r} need two or more finite edges that rise, such as [0, 18, 65], or days such as "
            "['2026-01-01', '2026-07-01', '2026-12-31']."
        )
    return numbers, are_days


def names_of(name: str, edges: tuple[float, ...], are_days: bool, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the bands: the user's own, or those that the edges give."""
    if names is None:
        return band_names(edges, are_days)
    own = () if isinstance(names, str) or not isinstance(names, Sequence) else tuple(names)
    if len(own) != len(edges) - 1 or not all(isinstance(each, str) for each in own):
        raise DeclarationError(f"The bands of {name!r} need {len(edges) - 1} names, one for each; got {len(own)}.")
    return own


def band_names(edges: Sequence[float], are_days: bool = False) -> tuple[str, ...]:
    """Return the names of the bands between edges."""
    *inner, last = itertools.pairwise([day_text(edge) if are_days else f"{edge:.12g}" for edge in edges])
    return (*(f"{low} to under {high}" for low, high in inner), f"{last[0]} to {last[1]}")


def day_text(day: float) -> str:
    """Return a day as it is written, from its number.

    >>> day_text(20484)
    '2026-01-31'
    """
    return date.fromordinal(int(day) + 719163).isoformat()
