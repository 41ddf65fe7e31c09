"""Read drawn tables of a naive Bayes network for what they are: noisy news about the counts behind them.

A published row is a draw from Dirichlet(alpha + tau k). As a function of the true counts k its density is

    Gamma(sum alpha + tau n) prod_x theta_x^(tau k_x) / Gamma(alpha_x + tau k_x),      n = sum_x k_x,

a product over cells but for a factor of the row's total. For naive Bayes all rows of a class have the same total, the
class count, so that factor joins what is known about the class, and the tables are read as noisy counts are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.errors import DeclarationError
from discreet.inference.naive_bayes import NaiveBayesCounts, ProductClass
from discreet.inference.posterior_draws import LEAST_GRID_BITS, StickEnds
from discreet.inference.row_counts import log_prior_factors
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.models.network import Network
from discreet.releases import Release

Floats = NDArray[np.float64]


def draws_refusal(mechanism: NetworkSampling) -> str | None:
    """Tell why draws of a network cannot be read as news about the counts, or nothing if they can."""
    if mechanism.model.target is None:
        return "drawn tables are read for naive Bayes networks: elsewhere the totals of rows are not those of one class"
    if mechanism.least:
        return "the likelihood of truncated draws is no product over cells, as what was cut off depends on whole rows"
    if mechanism.grid_bits < LEAST_GRID_BITS:
        return f"drawn tables are read from a grid of {LEAST_GRID_BITS} bits or more"
    return None


def read_drawn(releases: Sequence[Release], model: Network) -> NaiveBayesCounts:
    """Return the true counts of a naive Bayes network behind releases of drawn tables, under a prior."""
    for release in releases:
        if (refusal := draws_refusal(_sampling(release))) is not None:
            raise DeclarationError(f"{release.label!r} cannot be read: {refusal}. Its tables are plausible, not true.")
    size = releases[0].mechanism.size
    alpha = [np.array(prior) for prior in model.prior]
    rows = [_Rows(release) for release in releases]
    levels = range(len(alpha[0]))
    centres = size * np.mean([each.theta[0].mean(axis=0)[0] for each in rows], axis=0)
    priors = [log_prior_factors(a, size) for a in alpha[1:]]
    factors = [[p + sum(each.cells(i, y) for each in rows) for i, p in enumerate(priors, start=1)] for y in levels]
    classes = [ProductClass(factors[y], alpha[1:], float(centres[y])) for y in levels]
    log_class = sum(each.cells(0, 0) + each.totals() for each in rows)
    return NaiveBayesCounts(classes, alpha[0], np.asarray(log_class), sum(each.log_constant() for each in rows))


def _sampling(release: Release) -> NetworkSampling:
    mechanism: Any = release.mechanism
    if not isinstance(mechanism, NetworkSampling):
        raise DeclarationError("Drawn tables are read together with other drawn tables only, not with noisy counts.")
    return mechanism


class _Rows:
    """The drawn tables of one release: the class first, then the features."""

    def __init__(self, release: Release) -> None:
        self._mechanism = _sampling(release)
        self._power, self._draws = float(self._mechanism.power), self._mechanism.draws
        self._counts = np.arange(self._mechanism.size + 1.0)
        self._alpha = [np.array(prior) for prior in self._mechanism.model.prior]
        tables = self._mechanism.parameters(release.counts).values()
        self.theta = [table.reshape(self._draws, -1, table.shape[-1]) for table in tables]
        self._ends = [
            [StickEnds(sticks[:, row], self._mechanism.grid_bits) for row in range(sticks.shape[1])]
            for sticks in self._sticks(release)
        ]
        for alpha, table in zip(self._alpha, self._ends, strict=True):
            for row in table:
                row.check(alpha, self._power * self._mechanism.size, release.label)

    def _sticks(self, release: Release) -> list[NDArray[np.int64]]:
        """Return the drawn cells of each table, axes (draws, rows, sticks)."""
        shapes = [(rows, levels - 1) for rows, levels in self._mechanism.shapes]
        parts = np.split(
            release.counts.reshape(self._draws, -1), np.cumsum([rows * sticks for rows, sticks in shapes])[:-1], axis=1
        )
        return [part.reshape(self._draws, *shape) for part, shape in zip(parts, shapes, strict=True)]

    def cells(self, place: int, row: int) -> Floats:
        """Return sum over draws of log theta_x^(tau k) / Gamma(alpha_x + tau k) for each level and count k.

        At the ends of the grid, the mass of a cell takes the place of that of its middle: see `StickEnds`.
        """
        logs = np.log(self.theta[place][:, row]).sum(axis=0)[:, None]
        shapes = self._alpha[place][:, None] + self._power * self._counts
        product = self._power * self._counts * logs - self._draws * gammaln(shapes)
        return np.asarray(product + self._ends[place][row].log_factors(np.arange(len(shapes))[:, None], shapes))

    def totals(self) -> Floats:
        """Return sum over draws and features of log Gamma(sum alpha + tau n), for each class count n."""
        sums = [self._draws * gammaln(alpha.sum() + self._power * self._counts) for alpha in self._alpha[1:]]
        return np.asarray(sum(sums))

    def log_constant(self) -> float:
        """Return what does not depend on the counts: the total of the class, priors, and the size of grid cells."""
        total = gammaln(self._alpha[0].sum() + self._power * self._mechanism.size) * self._draws
        for alpha, theta in zip(self._alpha, self.theta, strict=True):
            total += ((alpha - 1) * np.log(theta)).sum() + np.log1p(-np.cumsum(theta, axis=-1)[..., :-2]).sum()
        return float(total - self._draws * self._mechanism.draw_length * self._mechanism.grid_bits * np.log(2.0))
