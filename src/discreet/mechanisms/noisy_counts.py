"""Counts plus integer noise whose likelihood is a product over cells.

P(z | k) = prod_i g(z_i - k_i) / Z with Z free of k. This is all that exact noise-aware inference needs; a mechanism of
this kind states its noise, its kernel g and its normaliser.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.certificates.listing import window
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, exact_text, positive, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.models import Categories
from discreet.randomness import RandomBits

Counts = NDArray[np.int64]
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)
_FARTHEST = 10**6  # outputs this many reaches beyond the possible counts are not read: their probability is e^-1000000


@dataclass(frozen=True, init=False)
class NoisyCounts(ABC):
    """A noisy table of counts: `model` says which cells, `size` how many records (public), `epsilon` how much noise."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        number = positive(epsilon, "epsilon")
        if not LEAST_EPSILON <= number <= MOST_EPSILON:
            raise DeclarationError(
                f"epsilon must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
                f"got {exact_text(number)}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", number)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, size={self.size}, epsilon={exact_text(self.epsilon)!r})"

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @abstractmethod
    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact privacy loss, which is the same for all pairs of neighbours."""

    @property
    def rho(self) -> Fraction:
        """Return the parameter of zero-concentrated differential privacy, rounded up."""
        return self.privacy_loss().rho

    @abstractmethod
    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise, one number for each cell."""

    @abstractmethod
    def log_kernel(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return log g(noise), cell by cell."""

    @property
    @abstractmethod
    def log_normaliser(self) -> float:
        """Return log Z."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Return a number of units such that within 45 of them the kernel falls by a factor of at least e^45."""

    @property
    def keeps_total(self) -> bool:
        """Tell whether every output sums to the public size."""
        return False

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must sum to the public size {self.size}.")
        rows = int(np.prod(table.shape[:-1]))
        return table + self.noise(rows, bits).reshape(table.shape)

    def log_likelihood(self, output: Counts, counts: Counts) -> NDArray[np.float64]:
        """Return log P(output | counts), for rows of either."""
        noise = np.asarray(output) - np.asarray(counts)
        terms = self.log_kernel(noise).sum(axis=-1) - self.log_normaliser
        return np.where(noise.sum(axis=-1) == 0, terms, -np.inf) if self.keeps_total else terms

    def measured(self, counts: Counts) -> Counts:
        """Return what would be published without noise: the counts themselves."""
        return counts

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return outputs near these data sets, at most so many, until what lies beyond is about e^-40."""
        tied = [slice(0, len(self.model.cells))] if self.keeps_total else []
        return window(counts, ceil(45 * self.reach) + 2, most, tied)

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        if output.shape != (len(self.model.cells),):
            raise DocumentError(f"The output must have {len(self.model.cells)} counts; it has {output.size}.")
        farthest = self.size + _FARTHEST * (1 + self.reach)
        if any(abs(int(value)) > farthest for value in output):
            raise DocumentError("The output holds counts beyond any that can be read.")
        if self.keeps_total and sum(int(value) for value in output) != self.size:
            raise DocumentError(f"The output must sum to the size {self.size}; it sums to {int(output.sum())}.")

    def outputs_near(self, margin: int) -> Counts:
        """Return all outputs whose counts lie between -margin and size + margin: enough to meet every sign of noise."""
        values = range(-margin, self.size + margin + 1)
        cells = len(self.model.cells)
        if not self.keeps_total:
            return np.array(list(product(values, repeat=cells)))
        free = np.array(list(product(values, repeat=cells - 1)))
        return np.column_stack([free, self.size - free.sum(axis=1)])


def balanced(
    rows: int, cells: int, draw: Callable[[int], Counts], keeps: Callable[[Counts], NDArray[np.bool_]]
) -> Counts:
    """Draw rows of independent noise conditioned on summing to zero.

    m - 1 numbers are drawn, the last one balances the sum, and the row is kept with the last one's own likelihood.
    Which rows are kept depends on the noise alone.
    """
    found = np.zeros((rows, cells), dtype=np.int64)
    late = np.arange(rows)
    while late.size:
        tries = late.size if late.size > 64 else 8 * late.size  # several at once while few rows are open
        free = draw(tries * (cells - 1)).reshape(tries, cells - 1)
        last = -free.sum(axis=1)
        kept = np.flatnonzero(keeps(last))[: late.size]
        found[late[: kept.size]] = np.column_stack([free[kept], last[kept]])
        late = late[kept.size :]
    return found


class LaplaceKernel(NoisyCounts):
    """Counts whose noise has the kernel g(u) = e^(-epsilon |u| / 2)."""

    @property
    def reach(self) -> float:
        """Return how many units of noise in one cell cost a factor e: 2/epsilon."""
        return float(2 / self.epsilon)

    def log_kernel(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return -epsilon |u| / 2."""
        return np.abs(noise) * (-0.5 * float(self.epsilon))
