"""What a reader knows beforehand of a secret number of records: nothing, a range, or a distribution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.mathematics.distributions import CountDistribution

_WAYS = (
    "number, what is known of a secret number of records beforehand, is that number, a range such as (4000, 6000), "
    "chances by number such as {300: 0.2, 301: 0.8}, or the number_of_records of another posterior"
)
_MOST = 2**53


@dataclass(frozen=True)
class SecretNumber:
    """The number of records is secret; beforehand every number from `least` to `most` is as likely as any other.

    With `chances` these are the weights of least, least + 1, ..., most.
    """

    least: int = 0
    most: int | None = None
    chances: tuple[float, ...] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether nothing is known beforehand."""
        return self == SecretNumber()

    @cached_property
    def _log_chances(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array(self.chances, dtype=float)))

    def log_weights(self, numbers: Counts) -> Floats:
        """Return the log weights of numbers of records beforehand; minus infinity where one is impossible."""
        given = np.asarray(numbers)
        found = np.where((given >= self.least) & (given <= (_MOST if self.most is None else self.most)), 0.0, -np.inf)
        if self.chances is None:
            return found
        steps = np.clip(given - self.least, 0, len(self.chances) - 1).astype(np.int64)
        return np.asarray(found + self._log_chances[steps])


def number_known(number: object) -> SecretNumber:
    """Return what a reader states of a secret number of records: that number, a range, chances or a distribution."""
    if isinstance(number, CountDistribution):
        return _weighed(number.first, number.probabilities.tolist())
    if isinstance(number, Mapping):
        chances = {whole(each, "number", least=0): chance for each, chance in number.items()}
        if not chances or max(chances) - min(chances) > 10**7:
            raise DeclarationError(f"{_WAYS}. Nothing was read.")
        first = min(chances)
        return _weighed(first, [chances.get(each, 0.0) for each in range(first, max(chances) + 1)])
    if isinstance(number, Sequence) and not isinstance(number, str | bytes) and len(number) == 2:
        least, most = (whole(each, "number", least=0) for each in number)
        if least <= most < _MOST:
            return SecretNumber(least, most)
    if isinstance(number, int | np.integer) and not isinstance(number, bool) and 0 <= number < _MOST:
        return SecretNumber(int(number), int(number))
    raise DeclarationError(f"{_WAYS}; got {number!r}. Nothing was read.")


def _weighed(first: int, chances: Sequence[object]) -> SecretNumber:
    """Return chances of first, first + 1, ..., without impossible numbers at the ends."""
    try:
        given = np.array(chances, dtype=float)
    except (TypeError, ValueError):
        raise DeclarationError(f"{_WAYS}. Nothing was read.") from None
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise DeclarationError(
            "Chances of numbers of records must be at least 0, finite, and one of them above 0. Nothing was read."
        )
    (kept,) = np.nonzero(given)
    inner = given[kept[0] : kept[-1] + 1]
    least = first + int(kept[0])
    return SecretNumber(least, least + len(inner) - 1, tuple((inner / inner.sum()).tolist()))
