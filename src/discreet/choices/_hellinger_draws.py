"""Exact draws from P(r) ~ e^(-c H(x, r)) by whole numbers alone, for publishing.

The floats of an `Envelope` are rounded up to whole numbers once. From then on the mixture is

    q(r) = W_0 + sum_j W_j prod_i T_ji(r_i) / 2^(t m),    all W and T whole numbers,

an explicit rational distribution that is drawn from exactly. Its floats need not be right: q only has to lie above 2^s
e^(-c H), and a margin of one part in a million, far above any rounding, sees to that. A table is kept with probability
2^s e^(-c H)/q, decided by random bits against enclosures of as many digits as it takes. So the distribution that is
published is the stated one, without any error that would have to be paid for in privacy.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil, floor, log, prod

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from discreet._core.arrays import Counts
from discreet.choices._hellinger_envelope import Component, Envelope
from discreet.noise.randomness import RandomBits, bernoulli, composition, uniform_below

Entries = NDArray[np.uint32]

TABLE_BITS = 31
"""t: the largest entry of each table is 2^31 or one more."""
MARGIN = 1e-6
"""By which share the weights are raised: the floats of an envelope are wrong by less than a thousandth of it."""
_SPARE_BITS = 48  # of the smallest weight, e^-c


@dataclass(frozen=True, eq=False)
class WholeComponent:
    """One node: a weight W, and for each class of cells the first change and the entries of its table."""

    weight: int
    starts: list[int]
    tables: list[Entries]

    @cached_property
    def edges(self) -> list[Counts]:
        """Return the cumulative entries of each class; only components that are drawn from need them."""
        return [np.cumsum(table, dtype=np.int64) for table in self.tables]

    def entry(self, cell_class: int, change: int) -> int:
        """Return T(r) for one class and the change r - x; 0 outside the table."""
        index = change - self.starts[cell_class]
        return int(self.tables[cell_class][index]) if 0 <= index < len(self.tables[cell_class]) else 0


class ExactDraws:
    """Draws for one table x, given an envelope and enclosures `weight(r)` of e^(-c H(x, r))."""

    def __init__(self, envelope: Envelope, weight: Callable[[Counts], arb]) -> None:
        self.counts, self.total, self.dependent = envelope.counts, envelope.total, envelope.dependent
        self.cell_classes, self._weight = envelope.powers.cell_class, weight
        self._sizes, self._candidates = envelope.powers.sizes, envelope.candidates
        self.shift = ceil(envelope.scale / log(2)) + _SPARE_BITS
        self.uniform = _whole(float(envelope.log_weights[0]), self.shift)
        numbers = range(1, len(envelope.nodes))
        self.components = [self._whole(envelope.component(j), float(envelope.log_weights[j])) for j in numbers]
        self._edges = list(accumulate([self.uniform_mass, *map(self.mass, self.components)]))

    def _whole(self, component: Component, log_weight: float) -> WholeComponent:
        peaks = np.array([table.logs.max() for table in component.tables])
        shares = (np.exp(table.logs - peak) for table, peak in zip(component.tables, peaks, strict=True))
        tables = [(np.floor(share * 2.0**TABLE_BITS) + 1).astype(np.uint32) for share in shares]
        weight = _whole(log_weight + float(peaks @ self._sizes), self.shift)
        return WholeComponent(weight, [table.start for table in component.tables], tables)

    @property
    def uniform_mass(self) -> int:
        """Return |R| W_0 2^(t m): the mass of the uniform part."""
        return self.uniform * self._candidates << TABLE_BITS * len(self.counts)

    def mass(self, component: WholeComponent) -> int:
        """Return W times the sums of all tables but that of the dependent cell, which counts as its largest entry."""
        sums = [int(table.sum(dtype=np.int64)) for table in component.tables]
        sizes = self._sizes.copy()
        sizes[self.cell_classes[self.dependent]] -= 1
        found = component.weight * self.largest(component)
        for each, size in zip(sums, sizes.tolist(), strict=True):
            found *= each**size
        return int(found)

    def largest(self, component: WholeComponent) -> int:
        """Return the largest entry of the dependent cell's table."""
        return int(component.tables[self.cell_classes[self.dependent]].max())

    def above(self, candidate: Counts) -> int:
        """Return q(r) 2^(t m), which is 2^(s + t m) e^(-c H(x, r)) or more."""
        cells = list(zip(self.cell_classes.tolist(), (candidate - self.counts).tolist(), strict=True))
        found = self.uniform << TABLE_BITS * len(cells)
        for component in self.components:
            found += component.weight * prod([component.entry(cell_class, change) for cell_class, change in cells])
        return found

    def draw(self, bits: RandomBits) -> Counts:
        """Draw one table: propose until one is kept."""
        while True:
            candidate = self._proposal(bits)
            if candidate is not None and self._kept(candidate, bits):
                return candidate

    def _proposal(self, bits: RandomBits) -> Counts | None:
        """Draw a component and a table from it; None if the last cell's count is impossible or not kept."""
        number = bisect_right(self._edges, int(uniform_below(self._edges[-1], 1, bits)[0]))
        if number == 0:
            return composition(self.total, len(self.counts), bits)
        component, found = self.components[number - 1], self.counts.copy()
        for cell_class, (edges, start) in enumerate(zip(component.edges, component.starts, strict=True)):
            cells = np.flatnonzero(self.cell_classes == cell_class)
            cells = cells[cells != self.dependent]
            drawn = uniform_below(int(edges[-1]), len(cells), bits)
            found[cells] += start + np.searchsorted(edges, drawn, side="right")
        found[self.dependent] = 0
        found[self.dependent] = self.total - int(found.sum())
        last = component.entry(
            int(self.cell_classes[self.dependent]), int(found[self.dependent] - self.counts[self.dependent])
        )
        return found if int(uniform_below(self.largest(component), 1, bits)[0]) < last else None

    def _kept(self, candidate: Counts, bits: RandomBits) -> bool:
        """Keep a table with probability 2^s e^(-c H) / q."""
        above = arb(fmpz(self.above(candidate)))
        length = self.shift + TABLE_BITS * len(candidate)

        def chance() -> arb:
            found = self._weight(candidate) * arb(2) ** length / above
            if found > 1:
                raise ArithmeticError("an envelope is too low")  # cannot happen: the margin is larger than all rounding
            return found

        return bernoulli(chance, bits)


def _whole(log_value: float, shift: int) -> int:
    """Return a whole number above 2^shift e^log_value, by a margin of a millionth."""
    exponent = log_value / log(2) + shift
    start = floor(exponent)
    digits = floor(float(2.0 ** (exponent - start + 52)) * (1 + MARGIN)) + 1
    return digits << (start - 52) if start >= 52 else (digits >> (52 - start)) + 1
