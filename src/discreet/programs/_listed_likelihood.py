"""Few tables, whatever the evidence: log P(z | p) as a sum over all tables of n records.

P(z | p) = sum_k P(z | k) n! / prod k_i! prod p_i^k_i: choices, truncated draws and noise with one radius are
likelihoods of cell probabilities as well, as long as all tables can be listed. Exact counts are one table.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet._core.arrays import Counts, Floats

_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class ListedLikelihood:
    """`tables` are all that are possible, `logs` have log P(z | k) + log n! / prod k_i! of each."""

    tables: Counts
    logs: Floats
    size: int
    method: str

    @classmethod
    def of(cls, tables: Counts, log_likelihoods: Floats, method: str) -> "ListedLikelihood":
        """Return it for tables of one size, given log P(z | k) of each."""
        size = int(tables[0].sum())
        return cls(tables, log_likelihoods + gammaln(size + 1.0) - gammaln(tables + 1.0).sum(axis=1), size, method)

    @classmethod
    def exact(cls, counts: Counts) -> "ListedLikelihood":
        """Return the likelihood of counts that are known: what a reader without noise would have."""
        return cls.of(np.asarray(counts)[None], np.zeros(1), "from exact counts")

    @property
    def product(self) -> None:
        """Return nothing: it is not a product over cells."""

    def _weights(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | p) and the probability of every table given it, for rows of log p."""
        gone = rows == -np.inf
        logs = self.logs + np.where(gone, 0.0, rows) @ self.tables.T
        if gone.any():
            logs = np.where(gone.astype(float) @ self.tables.T > 0, -np.inf, logs)
        values = np.asarray(logsumexp(logs, axis=1))
        with np.errstate(invalid="ignore"):
            weights = np.exp(logs - values[:, None])
        return values, np.where(np.isfinite(values)[:, None], weights, 0.0)

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | p) and E[k | z, p] for rows of log p; -inf is a structural zero."""
        rows = log_probabilities.reshape(-1, self.tables.shape[1])
        block = max(1, _BLOCK // len(self.tables))
        found = [self._weights(rows[start : start + block]) for start in range(0, len(rows), block)]
        values = np.concatenate([own for own, _ in found])
        expected = np.concatenate([weights @ self.tables for _, weights in found])
        return values.reshape(log_probabilities.shape[:-1]), expected.reshape(log_probabilities.shape)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | p) alone, for rows of log p."""
        return self(log_probabilities)[0]

    def covariance_times(self, log_probabilities: Floats, vector: Floats) -> Floats:
        """Return Cov[k | z, p] v for one row of log p."""
        _, (weights,) = self._weights(log_probabilities[None])
        centred = self.tables - weights @ self.tables
        return np.asarray((weights * (centred @ vector)) @ centred)

    def draw_counts(self, log_probabilities: Floats, count: int, generator: np.random.Generator) -> Counts:
        """Draw true tables given the release and one row of log p, exactly."""
        _, (weights,) = self._weights(log_probabilities[None])
        return np.asarray(self.tables[generator.choice(len(weights), size=count, p=weights / weights.sum())])
