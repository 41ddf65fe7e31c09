"""RankChoice: places for several ranks of sorted records, chosen together by how many records are on a wrong side.

The column has P places 0, ..., P - 1. Of n records lt(v) lie below the place v and le(v) at most there. A place is

    d_j(v) = max(0, lt(v) - (r_j - 1), r_j - le(v))

records away from the rank r_j, which is 0 exactly at the place of the r_j-th record. All places are chosen at once,

    P(v_1, ..., v_m) ~ e^(-b max_j d_j(v_j)).

One replaced record moves lt and le by 1 at most, so every d_j, and their maximum, by 1 at most, however many there are:
weights and their sum change by e^b at most each, and the choice costs 2 b.

What is at most t away from a rank is a run of places, {d_j <= t} = [x_(r_j - t), x_(r_j + t)], where x_(k) is the place
of the k-th record. By Abel summation, with A_j(t) the length of that run,

    e^(-b s) = (1 - e^-b) sum_(t >= s) e^(-b t),

so a layer t is drawn with the weight e^(-b t) prod_j A_j(t), and then every place evenly in its run. From the layer T
on, which is public, all runs are the whole column, and one weight stands for these layers: e^(-b T) P^m / (1 - e^-b).
No layer is left out because its weight is small: far places must stay possible.

How it is drawn: weights are computed as floats with a bound on their errors, and a random word is compared with their
sums. Where errors leave the comparison open, it is made in ball arithmetic of as many digits, and with as many further
bits, as it takes. So the distribution is the exact one. The same steps are taken whatever the records are, but for that
event, whose probability is below 1e-6.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise.randomness import RandomBits

_UNIT = 2.0**-52
_TINY = 1e-290


@dataclass(frozen=True, eq=False)
class RankChoice:
    """The choice for some ranks of records, of which `below` counts those that lie below each of the places 0, ..., P.

    `last` is T, a public layer at which every run is the whole column.
    """

    rate: Fraction
    below: Counts
    ranks: Counts
    last: int

    @property
    def places(self) -> int:
        """Return P."""
        return len(self.below) - 1

    def distances(self, places: Counts) -> Counts:
        """Return max_j d_j for rows of one place for each rank."""
        far = np.maximum(self.below[places] - (self.ranks - 1), self.ranks - self.below[places + 1])
        return np.asarray(np.maximum(far, 0).max(axis=-1))

    @cached_property
    def runs(self) -> tuple[Counts, Counts]:
        """Return the first place of every run, layers by ranks, and how many places it has."""
        layers = np.arange(self.last)[:, None]
        first = np.searchsorted(self.below[1:], self.ranks - layers, side="left")
        end = np.searchsorted(self.below[:-1], self.ranks + layers - 1, side="right")
        return first, np.maximum(end - first, 0)

    @cached_property
    def log_weights(self) -> Floats:
        """Return the log weight of every layer up to T, which stands for all further ones."""
        with np.errstate(divide="ignore"):
            own = np.log(self.runs[1]).sum(axis=1) - float(self.rate) * np.arange(self.last)
        rest = len(self.ranks) * np.log(self.places) - float(self.rate) * self.last
        return np.append(own, rest - np.log(-np.expm1(-float(self.rate))))

    @cached_property
    def log_normaliser(self) -> float:
        """Return ln sum e^(-b max_j d_j) over all places, which is (1 - e^-b) times the sum of all weights."""
        top = self.log_weights.max()
        total = np.exp(self.log_weights - top).sum()
        return float(top + np.log(total) + np.log(-np.expm1(-float(self.rate))))

    def log_prob(self, places: Counts) -> Floats:
        """Return log P(places) for rows of one place for each rank."""
        return np.asarray(-float(self.rate) * self.distances(places) - self.log_normaliser)

    def sample(self, bits: RandomBits) -> Counts:
        """Draw one place for each rank."""
        layer = self._layer(bits)
        first, lengths = np.zeros_like(self.ranks), np.full_like(self.ranks, self.places)
        if layer < self.last:
            first, lengths = self.runs[0][layer], self.runs[1][layer]
        return np.array([a + _evenly(int(k), bits) for a, k in zip(first.tolist(), lengths, strict=True)])

    def _layer(self, bits: RandomBits) -> int:
        """Draw a layer: by floats, if their errors allow it."""
        logs = self.log_weights
        sums = np.cumsum(np.exp(logs - logs.max()))
        steps = float(self.rate) * self.last + len(self.ranks) * np.log(self.places) + 64
        error = 4 * _UNIT * (steps + self.last)  # of every weight, of their sums, and of their ratio
        inner, word = sums[:-1] / sums[-1], int(bits.words(1)[0])
        low, high = word / 2.0**64 * (1 - _UNIT), (word + 1) / 2.0**64 * (1 + _UNIT)
        least = int(np.searchsorted(inner * (1 + error) + _TINY, low, side="right"))
        most = int(np.searchsorted(inner * (1 - error) - _TINY, high, side="left"))
        return least if least == most else self._refined(word, 64, bits)

    def _refined(self, word: int, length: int, bits: RandomBits) -> int:
        """Decide which layer a random number belongs to whose first bits are known, with as many more as it takes."""
        word, length = word << 64 | int(bits.words(1)[0]), length + 64
        with ctx.workprec(2 * length + 64):
            shrink, weight, weights = (-ball(self.rate)).exp(), arb(1), []
            for row in self.runs[1].tolist():
                product = 1
                for run in row:
                    product *= run
                weights.append(weight * product)
                weight *= shrink
            weights.append(weight * self.places ** len(self.ranks) / (1 - shrink))
            scale = arb(2) ** length / sum(weights, arb(0))
            edges = [edge * scale for edge in accumulate(weights[:-1])]
            lower = list(accumulate((_whole(edge.lower().floor()) for edge in edges), max))
            upper = list(accumulate((_whole(edge.upper().ceil()) for edge in edges), max))
        least, most = bisect_right(upper, word), bisect_right(lower, word)
        return least if least == most else self._refined(word, length, bits)


def _whole(number: arb) -> int:
    found = number.unique_fmpz()
    if found is None:
        raise ArithmeticError("the working precision does not hold a boundary")  # cannot happen at 2 * length + 64 bits
    return int(found)


def _evenly(bound: int, bits: RandomBits) -> int:
    """Draw a whole number uniform on 0, ..., bound - 1 from one word: floor(u bound / 2^64), unless u is in the rest.

    Of the 2^64 words, 2^64 mod bound are left over; another word is drawn for these, with probability below 2^-43.
    """
    while True:
        product = int(bits.words(1)[0]) * bound
        if product & (2**64 - 1) >= 2**64 % bound:
            return product >> 64
