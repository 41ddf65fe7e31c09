"""The likelihood of cell probabilities where the number of records is secret, too.

If every number of records 0, 1, 2, ... is as likely as any other, counts are as if each cell had a Poisson number of
them, with means lambda p_i and every lambda > 0 as likely as any other: P(n) is then the integral of e^-lambda
lambda^n / n!, which is 1. So

    P(z | p) = integral over lambda of e^-lambda prod_i sum_k g_i(k) (lambda p_i)^k / k! ,

a product of independent cells for each lambda: all terms are positive, and no digits are lost. Noise of the number of
records itself is left out: it would bind the cells of every lambda together, and says little of probabilities.

In t = sqrt(lambda) the integrand is a mixture of entire functions t^(2n+1) e^(-t^2) of standard deviation about 1/2, so
Gauss-Legendre points converge quickly. Their places depend on the release, never on p: value and gradient belong to
one smooth function. Left out are numbers of records beyond what the noise of the sum of all cells reaches, but for a
probability of about e^-36, and lambda more than 9 standard deviations away from any of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import NO_END, LogNumber, TotalDistribution
from discreet.programs._product_likelihood import (
    REACHES,
    CellKernel,
    ProductLikelihood,
    in_blocks,
    log_weights,
)

_SPREADS = 9.0  # of lambda around a number of records
_POINTS = 2.5  # for each unit of sqrt(lambda)
_LEAST_POINTS = 20


@dataclass(frozen=True, eq=False)
class SecretNumberLikelihood(ProductLikelihood):
    """A product over cells for each of some `rates` lambda, of which `log_shares` are the logarithms of the weights.

    `total` has the weights of numbers of records, log n! and what was published of them, for `GivenLikelihood`.
    """

    rates: Floats
    log_shares: Floats

    @property
    def size(self) -> int:
        """Refuse: the number of records is secret."""
        raise DeclarationError(
            "The number of records is secret here. dc.infer(release).number_of_records is what the release says of it."
        )

    def _blocks(self, log_probabilities: Floats) -> Iterator[Floats]:
        rows = log_probabilities.reshape(-1, len(self.first))
        return in_blocks(rows, self.base.size * len(self.rates))

    def _given_rates(self, rows: Floats) -> "_Given":
        """Return the counts of all cells given each rate: (rows, rates, cells, steps)."""
        steps, gone = np.arange(self.base.shape[1]), rows == -inf
        slopes = np.where(gone, 0.0, rows)[:, None] + np.log(self.rates)[:, None]
        logs = self.base + slopes[..., None] * steps
        logs[np.broadcast_to(gone[:, None], slopes.shape), 1:] = -inf  # impossible cells hold no records
        peaks = logs.max(axis=-1)
        weights = np.exp(logs - peaks[..., None])
        sums = weights.sum(axis=-1)
        masses = (np.log(sums) + peaks + slopes * self.first).sum(axis=-1) + self.log_shares
        values = logsumexp(masses, axis=1)
        possible = (np.isfinite(rows) | (self.first == 0)).all(axis=1)
        shares = np.exp(masses - values[:, None])
        return _Given(np.where(possible, values + self.constant, -inf), shares, weights / sums[..., None])

    def _both(self, rows: Floats) -> tuple[Floats, Floats]:
        given = self._given_rates(rows)
        found = self.first + np.einsum("rl,rlc->rc", given.shares, given.means)
        return given.values, np.where((given.values > -inf)[:, None], found, 0.0)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | p) alone, for rows of log p."""
        found = [self._given_rates(block).values for block in self._blocks(log_probabilities)]
        return np.concatenate(found).reshape(log_probabilities.shape[:-1])

    def covariance_times(self, log_probabilities: Floats, vector: Floats) -> Floats:
        """Return Cov[k | z, p] v for one row: the mean variance given a rate, and the covariance of the means."""
        given = self._given_rates(log_probabilities[None])
        if given.values[0] == -inf:
            return np.zeros(len(vector))
        shares, means, weights = given.shares[0], given.means[0], given.weights[0]
        away = (np.arange(weights.shape[-1]) - means[..., None]) ** 2
        inside = shares @ (weights * away).sum(axis=-1) * vector
        between = means - shares @ means
        return np.asarray(inside + (shares * (between @ vector)) @ between)

    def draw_counts(self, log_probabilities: Floats, count: int, generator: np.random.Generator) -> Counts:
        """Draw true tables given the release and one row of log p: a rate first."""
        given = self._given_rates(log_probabilities[None])
        rates = generator.choice(len(self.rates), size=count, p=given.shares[0] / given.shares[0].sum())
        edges, found = np.cumsum(given.weights[0], axis=-1), np.empty((count, len(self.first)), dtype=np.int64)
        for rate in np.unique(rates):
            (chosen,) = np.nonzero(rates == rate)
            for cell, own in enumerate(edges[rate]):
                found[chosen, cell] = np.searchsorted(own, generator.random(len(chosen)) * own[-1], side="right")
        return np.asarray(self.first + found)


@dataclass(frozen=True, eq=False)
class _Given:
    """Log P(z | p), the shares of all rates, and the distributions of the steps of all cells given each."""

    values: Floats
    shares: Floats
    weights: Floats

    @property
    def means(self) -> Floats:
        """Return the mean steps of all cells given each rate."""
        return np.asarray(self.weights @ np.arange(self.weights.shape[-1], dtype=float))


def product_of_secret_number(
    noisy: Sequence[CellKernel], published: LogNumber, method: str, reaches: float = REACHES
) -> SecretNumberLikelihood:
    """Return the likelihood of noisy counts of all cells; `published` is log P(what was published of n alone | n)."""
    margins = [int(np.ceil(reaches * kernel.reach)) + 1 for kernel in noisy]
    values = [np.clip(kernel.low, 0, NO_END) for kernel in noisy]
    first = np.max([np.maximum(z - margin, 0) for z, margin in zip(values, margins, strict=True)], axis=0)
    last = np.min([z + margin for z, margin in zip(values, margins, strict=True)], axis=0)
    best = min(noisy, key=lambda each: each.reach)
    middle = max(0, int(best.low.sum()))
    far = int(np.ceil(best.reach * (2 * reaches + 12 * np.sqrt(len(first))))) + 1
    low, high = max(int(first.sum()), middle - far), min(int(last.sum()), middle + far)
    if (first > last).any() or low >= high:
        raise DeclarationError("No counts can explain all of these outputs. Nothing was read.")
    numbers = np.arange(low, high + 1)
    start = max(0.0, low + 1 - _SPREADS * np.sqrt(low + 1))
    end = high + 1 + _SPREADS * np.sqrt(high + 1) + _SPREADS**2
    places, shares = _points(float(np.sqrt(start)), float(np.sqrt(end)))
    rates = places**2
    return SecretNumberLikelihood(
        first,
        log_weights(noisy, first, last),
        TotalDistribution(low, gammaln(numbers + 1.0) + published(numbers)),
        sum(kernel.log_constant for kernel in noisy),
        method,
        rates,
        np.log(2 * places * shares) - rates,
    )


@lru_cache(maxsize=64)
def _points(low: float, high: float) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre points and weights between two ends."""
    places, weights = np.polynomial.legendre.leggauss(_LEAST_POINTS + ceil(_POINTS * (high - low)))
    return low + (places + 1) * (high - low) / 2, weights * (high - low) / 2
