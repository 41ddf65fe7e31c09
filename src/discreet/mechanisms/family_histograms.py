"""FamilyHistograms: every maximal family table by its own GeometricHistogram, with a declared share of epsilon.

A replaced record moves at most one unit in each table, so table f costs epsilon_f and all of them sum_f epsilon_f =
epsilon: pure and tight. Families inside others are marginals and cost nothing. For tables of equal importance the
shares that minimise the total variance grow like (cells)^(1/3); any other whole numbers may be declared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from math import gcd, inf, lcm, nextafter, prod

import numpy as np
from flint import arb_poly, ctx

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.geometric_histogram import GeometricHistogram
from discreet.mechanisms.network_counts import (
    Counts,
    Floats,
    NetworkCounts,
    given_row_total,
    histogram_variance,
    upper_float,
    within_bounds,
)
from discreet.models import Categories
from discreet.models.categories import MOST_CELLS
from discreet.models.network import Network
from discreet.randomness import RandomBits

_PARTS = 10_000  # finest parts of epsilon; with very many families, two for each


@dataclass(frozen=True, init=False, repr=False)
class FamilyHistograms(NetworkCounts):
    """A histogram for each maximal family: pure epsilon-DP under replacement of one record, totals kept.

    Family f gets the part shares[f] / sum(shares) of epsilon, in the order of the network's maximal families.

    >>> net = Network.from_edges("a -> b", "c", levels=dict.fromkeys("abc", ("no", "yes")))
    >>> FamilyHistograms(net, size=100, epsilon=1, shares=("2/3", "1/3")).shares
    (2, 1)
    """

    shares: tuple[int, ...]

    def __init__(self, model: Network, size: int, epsilon: Exact, shares: Sequence[Exact] | None = None) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "shares", _default_shares(model) if shares is None else _whole_parts(shares, model))
        within_bounds(min(self.family_epsilons), "the smallest part of epsilon for a family")
        if (most := max(self._sizes)) > MOST_CELLS:
            raise DeclarationError(f"A table of {most} cells is too large; at most {MOST_CELLS} are allowed.")

    def __repr__(self) -> str:
        shown = "" if self.shares == _default_shares(self.model) else f", shares={self.shares!r}"
        return f"{super().__repr__()[:-1]}{shown})"

    @property
    def family_epsilons(self) -> tuple[Fraction, ...]:
        """Return the part of epsilon of each maximal family; they sum to epsilon exactly."""
        unit = self.epsilon / sum(self.shares)
        return tuple(share * unit for share in self.shares)

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by composition."""
        return Guarantee(self.epsilon, reason="a GeometricHistogram for each maximal family; their epsilons add")

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact loss of a record that changes in every family: the losses of the tables add.

        Each is epsilon_f times +1, 0 or -1, so all are multiples of one unit and their law is a product of polynomials.
        """
        return _loss(self.epsilon, tuple(sorted(zip(self.shares, self._sizes, strict=True))))

    @property
    def rho(self) -> Fraction:
        """Return sum_f epsilon_f^2 / 2: each table is pure (Bun and Steinke, 2016)."""
        return sum((part**2 for part in self.family_epsilons), Fraction(0)) / 2

    @property
    def reach(self) -> float:
        """Return how many units of noise in one cell cost a factor e, in the noisiest table: 2 / epsilon_f."""
        return float(2 / min(self.family_epsilons))

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(prod(self.model.shape(family)) for family in self.model.maximal_families)

    def _tables(self) -> Iterator[tuple[Fraction, int, Counts]]:
        """Give (epsilon, cells, places of the tables' cells in an output) for each kind of table."""
        starts = np.cumsum((0, *self._sizes))
        kinds: dict[tuple[Fraction, int], list[int]] = {}
        for kind, start in zip(zip(self.family_epsilons, self._sizes, strict=True), starts[:-1], strict=True):
            kinds.setdefault(kind, []).append(int(start))
        for (epsilon, cells), begins in kinds.items():
            yield epsilon, cells, np.array(begins)[:, None] + np.arange(cells)

    @property
    def tied(self) -> list[slice]:
        """Return the cells of each table: they sum to the public size."""
        ends = np.cumsum([0, *self._sizes])
        return [slice(int(start), int(end)) for start, end in pairwise(ends)]

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw each table's noise, tables of one kind together."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        for epsilon, cells, places in self._tables():
            many = _histogram(cells, epsilon).noise(rows * len(places), bits)
            drawn[:, places] = many.reshape(rows, len(places), cells)
        return drawn

    def log_noise(self, noise: Counts) -> Floats:
        """Return the sum of the tables' log-likelihoods."""
        total = np.zeros(noise.shape[:-1])
        for epsilon, cells, places in self._tables():
            none = np.zeros(cells, dtype=np.int64)
            total += _histogram(cells, epsilon).log_likelihood(noise[..., places], none).sum(axis=-1)
        return total

    def count_sd(self) -> float:
        """Return the standard deviation of a cell given its row total, for the noisiest table."""
        levels = [self.model.shape(family)[-1] for family in self.model.maximal_families]
        different = set(zip(self.family_epsilons, self._sizes, levels, strict=True))
        return max(given_row_total(histogram_variance(m, float(e)), m, count) for e, m, count in different)

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        super().check_output(output)
        self._check_totals(output)


def _default_shares(model: Network) -> tuple[int, ...]:
    """Return whole parts ~ (cells)^(1/3)."""
    weights = np.array([float(prod(model.shape(family))) for family in model.maximal_families]) ** (1 / 3)
    unit = max(len(weights), _PARTS - len(weights))  # one part is kept back for each: a share is never 0
    parts = [1] * len(weights) if np.ptp(weights) == 0 else [max(1, int(w)) for w in weights / weights.sum() * unit]
    return _coprime(parts)


def _whole_parts(shares: Sequence[Exact], model: Network) -> tuple[int, ...]:
    """Return declared shares as whole numbers without a common factor."""
    if isinstance(shares, str) or not isinstance(shares, Sequence) or len(shares) != len(model.maximal_families):
        raise DeclarationError(
            f"shares must be {len(model.maximal_families)} numbers, one for each maximal family of the network."
        )
    numbers = [positive(share, "a share") for share in shares]
    parts = _coprime([int(number * lcm(*(n.denominator for n in numbers))) for number in numbers])
    most = max(_PARTS, 2 * len(parts))
    if sum(parts) > most:
        raise DeclarationError(
            f"shares must be multiples of one part in {most} or less; these need {sum(parts)} parts."
        )
    return parts


def _coprime(parts: list[int]) -> tuple[int, ...]:
    common = reduce(gcd, parts)
    return tuple(part // common for part in parts)


@lru_cache(maxsize=256)
def _histogram(cells: int, epsilon: Fraction) -> GeometricHistogram:
    """Return the mechanism of one table, its cells numbered; its noise does not depend on the size."""
    return GeometricHistogram(Categories("cell", levels=range(cells)), 1, epsilon)


@lru_cache(maxsize=32)
def _loss(epsilon: Fraction, tables: tuple[tuple[int, int], ...]) -> PrivacyLoss:
    """Return the law of sum_f share_f L_f, L_f in {1, 0, -1}, in units of epsilon / sum(shares)."""
    total = sum(share for share, _ in tables)
    with ctx.workprec(192):
        product = arb_poly([1])
        for share, cells in sorted(set(tables)):
            chances = _histogram(cells, epsilon * share / total).privacy_loss().probabilities
            up, stay, down = (nextafter(chance, inf) if chance else 0.0 for chance in chances)
            one = arb_poly([down, *[0] * (share - 1), stay, *[0] * (share - 1), up])
            product *= one ** tables.count((share, cells))
        coefficients = enumerate(product.coeffs())
        steps = [(place - total, upper_float(chance)) for place, chance in coefficients if not chance.is_zero()]
    unit = epsilon / total
    return PrivacyLoss(tuple(step * unit for step, _ in steps), tuple(chance for _, chance in steps))
