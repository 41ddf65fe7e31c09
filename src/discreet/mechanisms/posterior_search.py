"""Numbers that floats find for draws from posteriors, moved to the safe side until balls certify them."""

from collections.abc import Callable
from math import log
from typing import TypeVar

from discreet.errors import DeclarationError

Made = TypeVar("Made")
REMEDY = " Find numbers that fit with "
"""How a refusal goes on that names a way out; a search leaves that out, because it is the way."""


def nearest(build: Callable[[float], Made], found: float, direction: int) -> Made:
    """Return the mechanism at a number that floats found, moved to the safe side until it is certified."""
    for shift in (0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        try:
            return build(float(found) * (1 + direction * shift))
        except DeclarationError as problem:
            words = str(problem)
    raise DeclarationError(f"No numbers were found whose draws have the asked guarantee. {words.split(REMEDY)[0]}")


def least_probability(levels: list[int], epsilon: float) -> float:
    """Return about the least probability w with 2 sum_i ln((1 - (K_i - 1) w) / w) = epsilon, by halving."""
    low, high = 0.0, 1 / max(levels)
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        cost = 2 * sum(log((1 - (count - 1) * middle) / middle) for count in levels)
        low, high = (middle, high) if cost > epsilon else (low, middle)
    return high
