"""Real numbers drawn lazily: their bits are drawn once and extended, so that what is made of them is rounded exactly.

A uniform number V in [0, 1] is an endless row of fair bits. After b of them it is known to lie in [k, k + 1] / 2^b, and
whatever is computed of many such numbers in ball arithmetic encloses the true value. Where an enclosure does not decide
a question, more bits of the *same* numbers are drawn; drawing other numbers would favour what is easily decided.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from flint import arb, ctx

from discreet.noise.randomness._samplers import RandomBits

Decided = TypeVar("Decided")

_FIRST = 128  # bits of a number at first: a rounding of 40 digits before the point is undecided once in 2^80 times
_GUARD = 64


class LazyUniforms:
    """Independent numbers, uniform on [0, 1], each known to `length` bits."""

    def __init__(self, count: int, bits: RandomBits) -> None:
        self._bits, self.length = bits, _FIRST
        self._numbers = self._drawn(count, _FIRST)

    def _drawn(self, count: int, length: int) -> list[int]:
        step, text = length // 8, self._bits.words(count * length // 64).tobytes()
        return [int.from_bytes(text[start : start + step], "little") for start in range(0, count * step, step)]

    def extend(self) -> None:
        """Draw as many further bits of every number as it has."""
        more = self._drawn(len(self._numbers), self.length)
        self._numbers = [number << self.length | new for number, new in zip(self._numbers, more, strict=True)]
        self.length *= 2

    def enclosed(self) -> list[arb]:
        """Return a ball for each number: all that its bits allow, both ends included."""
        half = arb((1, -self.length - 1))
        return [arb((2 * number + 1, -self.length - 1), half) for number in self._numbers]


def decided(question: Callable[[], Decided | None], numbers: Sequence[LazyUniforms]) -> Decided:
    """Return the answer to a question about some numbers, with as many of their bits as it takes.

    The question is asked in ball arithmetic of enough digits, and answers None as long as it is not decided.
    """
    while True:
        with ctx.workprec(max(each.length for each in numbers) + _GUARD):
            answer = question()
        if answer is not None:
            return answer
        for each in numbers:
            each.extend()


def normals(uniforms: Sequence[arb]) -> list[arb]:
    """Return as many independent standard normal numbers as there are uniform ones, an even number (Box and Muller).

    sqrt(-2 ln V) times the cosine and the sine of 2 pi W.
    """
    found = []
    for first, second in zip(uniforms[::2], uniforms[1::2], strict=True):
        radius = (-2 * first.log()).sqrt()
        sine, cosine = (2 * second).sin_cos_pi()
        found += [radius * cosine, radius * sine]
    return found


def rounded(number: arb) -> int | None:
    """Return the nearest whole number, halves upwards, if the enclosure decides it."""
    found = (number + arb(0.5)).floor().unique_fmpz() if number.is_finite() else None
    return None if found is None else int(found)
