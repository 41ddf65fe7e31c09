"""How accurate a release will be, as exact sums wherever they can be written out. Nothing here touches data.

A mechanism is a table P(z | k): with the prior's P(k) every average over made-up studies is a finite sum. Two readings
are scored. The plain one takes the output for the counts (negative ones for 0, the rest scaled to the public size); the
noise-aware one is the posterior given the output. With H the Hellinger distance of posteriors and theta the truth,

    E[H] = sum_k P(k) sum_z P(z | k) H(k, plain(z)),
    log score = E[ln p(theta | z) - ln p(theta)] = I(theta; z), in nats: what a reader learns about theta,

and for the plain reading the log score is I(theta; k) - E[KL(k, plain(z))]. The integral over theta is a Gauss rule for
the prior. Where the table is too large, studies are made up instead, and each figure has its standard error.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, digamma, gammaln, roots_jacobi

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.choices._posterior_distances import Tables
from discreet.mathematics import kullback_leibler, log_affinities
from discreet.mathematics.distributions._dirichlet import tails
from discreet.mechanism import Sized
from discreet.privacy import number_of_tables
from discreet.tables._plug_in import plain_counts
from discreet.verification._enumerate import log_probs, outputs_for
from discreet_papers.exact_sums.beta_quantiles import mixture_quantiles
from discreet_papers.exact_sums.reader_widths import opened_widths, own_weights

MOST_ENTRIES, MOST_OUTPUTS = 20_000_000, 200_000
"""A table P(z | k) with more entries or outputs is not written out; studies are made up instead."""
_MOST_RECORDS, _MOST_PRIOR, _MOST_CELLS = 2_000, 10_000.0, 3
_NEGLIGIBLE = 1e-11  # probability of all outputs that may be left out
_RARE = 1e-17  # outputs that are no likelier than this for any table are left out


@dataclass(frozen=True)
class ExactAccuracy:
    """The accuracy to expect of one release, averaged over the prior (`worst_...`: for the least favourable data).

    `hellinger` and `divergence` are distances of the plain reading from the exact posterior; `remapped_hellinger` is
    the smallest distance that any choice among the posteriors of n records can reach once the output is seen. Log
    scores are in nats beyond the prior; widths are those of intervals of the stated level, averaged over cells, and
    `width` belongs to the default reading of `infer`: own sums, extended to 0 and 1, or all cells together under a
    declared prior. The noise-aware reading has its nominal coverage by construction; `plain_coverage` is that of the
    plain one. `errors` holds the standard errors of simulated figures and is empty for exact sums; None marks what only
    exact sums can tell.
    """

    size: int
    level: float
    hellinger: float
    divergence: float
    plain_log_score: float
    log_score: float
    non_private_log_score: float
    plain_coverage: float
    plain_width: float
    width: float
    non_private_width: float
    worst_hellinger: float | None = None
    worst_divergence: float | None = None
    remapped_hellinger: float | None = None
    errors: dict[str, float] = field(default_factory=dict)
    by_table: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def share(self) -> float:
        """Return the share of the counts' information about theta that the release keeps: I(theta; z) / I(theta; k)."""
        return self.log_score / self.non_private_log_score

    def hellinger_at(self, counts: ArrayLike) -> float:
        """Return E[H] of the plain reading for these data; `by_table` holds E[H] and E[KL] for all."""
        table = tuple(int(count) for count in np.asarray(counts))
        if table not in self.by_table:
            raise DeclarationError(f"Figures by table exist for {len(self.by_table)} tables, but not for this one.")
        return self.by_table[table][0]

    def document(self) -> dict[str, object]:
        """Return all figures by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "by_table"}


def possible_outputs(mechanism: Sized) -> Counts | None:
    """Return all outputs except negligibly improbable ones, or None if there are too many to list."""
    alpha, size = mechanism.model.concentration, mechanism.size
    if len(alpha) > _MOST_CELLS or size > _MOST_RECORDS or alpha.sum() > _MOST_PRIOR:
        return None
    tables = number_of_tables(size, len(alpha), MOST_ENTRIES)
    most = min(MOST_OUTPUTS, MOST_ENTRIES // tables)
    outputs = outputs_for(mechanism, Tables(alpha, size).all, most) if most else None
    if outputs is None:
        return None
    missing = 1 - np.exp(log_probs(mechanism, outputs, size * np.eye(len(alpha), dtype=np.int64))).sum(axis=1)
    return outputs if missing.max() < _NEGLIGIBLE else None  # all records in one cell lie farthest out


class WrittenOut:
    """A mechanism as a table: `laws` P(z | k) and `joint` P(k, z) for all tables k (rows) and outputs z (columns)."""

    def __init__(self, mechanism: Sized, outputs: Counts) -> None:
        self.alpha, self.size, self._mechanism = mechanism.model.concentration, mechanism.size, mechanism
        self._all = Tables(self.alpha, self.size)
        self.tables = self._all.all
        self.chances = np.exp(mechanism.model.log_evidence(self.tables))
        laws = np.exp(log_probs(mechanism, outputs, self.tables))
        likely = laws.max(axis=0) > _RARE
        self.laws, self.outputs = laws[:, likely], outputs[likely]
        self.joint = self.chances[:, None] * self.laws
        self.readings, self._reading = np.unique(plain_counts(mechanism, self.outputs), axis=0, return_inverse=True)
        self._reading = self._reading.ravel()

    @cached_property
    def _joint_of_readings(self) -> Floats:
        """Return P(k, plain(z) = r) for all tables (rows) and readings (columns)."""
        order = np.argsort(self._reading, kind="stable")
        starts = np.searchsorted(self._reading[order], np.arange(len(self.readings)))
        return np.asarray(np.add.reduceat(self.joint[:, order], starts, axis=1))

    def accuracy(self, level: float) -> ExactAccuracy:
        """Return all figures, as sums."""
        hellinger, divergence = self._by_table(self.plain_distances()), self._by_table(self.plain_divergences())
        known = float(self.chances @ self._known_scores())
        cells = range(1 if len(self.alpha) == 2 else len(self.alpha))  # two cells have the same widths
        plain, aware, exact, covered = np.mean([self._widths(cell, level) for cell in cells], axis=0)
        rows = (tuple(map(int, table)) for table in self.tables)
        return ExactAccuracy(
            self.size, level, float(self.chances @ hellinger), float(self.chances @ divergence),
            known - float(self.chances @ divergence), self.information(), known,
            float(covered), float(plain), float(aware), float(exact),
            float(hellinger.max()), float(divergence.max()), self.remapped_hellinger(),
            by_table=dict(zip(rows, zip(hellinger.tolist(), divergence.tolist(), strict=True), strict=True)),
        )  # fmt: skip

    def _by_table(self, losses: Floats) -> Floats:
        return np.asarray((self._joint_of_readings * losses).sum(axis=1) / self.chances)

    def plain_distances(self) -> Floats:
        """Return H(k, r) for all tables k (rows) and readings r (columns)."""
        if (self.readings == np.rint(self.readings)).all():
            return np.asarray(self.distances[:, self._all.indices(np.rint(self.readings).astype(np.int64))])
        logs = self._summed(log_affinities)
        return np.asarray(np.sqrt(np.maximum(0.0, -np.expm1(logs))))

    def plain_divergences(self) -> Floats:
        """Return KL(k || r): sum_i ln Gamma(b_i)/Gamma(a_i) + (a_i - b_i) psi(a_i), for a and b of equal total."""
        return np.maximum(0.0, self._summed(lambda a, b: gammaln(b) - gammaln(a) + (a - b) * digamma(a)))

    def _summed(self, term: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return sums over cells of a function of both posteriors' parameters, each pair of values computed once."""
        found = np.zeros((len(self.tables), len(self.readings)))
        for cell, alpha in enumerate(self.alpha):
            values, places = np.unique(self.readings[:, cell], return_inverse=True)
            terms = term(alpha + np.arange(self.size + 1.0)[:, None], alpha + values)
            found += terms[self.tables[:, cell]][:, places.ravel()]
        return found

    @cached_property
    def distances(self) -> Floats:
        """Return H between the posteriors of all pairs of tables."""
        return self._all.distances(self.tables)

    def remapped_hellinger(self) -> float:
        """Return sum_z min_r sum_k P(k, z) H(k, r): the output exchanged for the best posterior of n records."""
        return float((self.joint.T @ self.distances).min(axis=1).sum())

    def _known_scores(self) -> Floats:
        """Return KL(posterior || prior) for each table."""
        return np.array([kullback_leibler(self.alpha + table, self.alpha) for table in self.tables])

    def information(self) -> float:
        """Return I(theta; z) = E_theta sum_z P(z | theta) ln P(z | theta)/P(z).

        P(z | theta) = sum_k P(z | k) P(k | theta), where the counts k are multinomial.
        """
        logs, weights = _gauss_points(self.alpha, self.size)
        ways = gammaln(self.size + 1.0) - gammaln(self.tables + 1.0).sum(axis=1)
        evidence, total = self.joint.sum(axis=0), 0.0
        seen = evidence > 0
        for part in np.array_split(np.arange(len(logs)), 1 + len(logs) * len(self.outputs) // 4_000_000):
            given = np.exp(ways + logs[part] @ self.tables.T) @ self.laws[:, seen]
            terms = given * np.log(np.maximum(given, 1e-300) / evidence[seen])
            total += float(weights[part] @ terms.sum(axis=1))
        return max(0.0, total)

    def _widths(self, cell: int, level: float) -> tuple[float, float, float, float]:
        """Return, for one cell, the mean widths of plain, aware and exact intervals, and the plain one's coverage."""
        counts = np.arange(self.size + 1.0)
        a, b = self.alpha[cell] + counts, self.alpha.sum() - self.alpha[cell] + self.size - counts
        known = np.diff([betaincinv(a, b, tail) for tail in tails(level)], axis=0)[0]
        exact = float(self.chances @ known[self.tables[:, cell]])
        weights = _summed_by(self.joint, self.tables[:, cell], self.size + 1)
        evidence = weights.sum(axis=0)
        seen = evidence > 1e-15 * evidence.max()
        aware = self._reader_widths(cell, weights[:, seen].T / evidence[seen, None], seen, level)
        plain, covered = self._plain_widths(cell, a, b, level)
        return plain, float(evidence[seen] @ aware), exact, covered

    def _reader_widths(self, cell: int, together: Floats, seen: NDArray[np.bool_], level: float) -> Floats:
        """Return the widths that readers of some outputs see: of the own sum by default, of the joint under a prior."""
        if self._mechanism.model.is_prior_declared:
            a = self.alpha[cell] + np.arange(self.size + 1.0)
            found = mixture_quantiles(together, a, self.alpha.sum() + self.size - a, tails(level))
            return np.asarray(np.diff(found)[:, 0])
        if len(self.alpha) > 2:
            together = own_weights(self._mechanism, self.outputs[seen], self.tables, self.laws[:, seen], cell)
        return opened_widths(together, level)

    def _plain_widths(self, cell: int, a: Floats, b: Floats, level: float) -> tuple[float, float]:
        weights = _summed_by(self._joint_of_readings, self.tables[:, cell], self.size + 1)
        first = self.alpha[cell] + self.readings[:, cell]
        low, high = (betaincinv(first, self.alpha.sum() + self.size - first, tail) for tail in tails(level))
        rows, columns = np.nonzero(weights > 1e-14 * weights.max())
        inside = betainc(a[rows], b[rows], high[columns]) - betainc(a[rows], b[rows], low[columns])
        return float(weights.sum(axis=0) @ (high - low)), float(weights[rows, columns] @ inside)


def _summed_by(joint: Floats, groups: Counts, length: int) -> Floats:
    """Return the sums of rows by group; every group has a row."""
    order = np.argsort(groups, kind="stable")
    return np.asarray(np.add.reduceat(joint[order], np.searchsorted(groups[order], np.arange(length)), axis=0))


def _gauss_points(alpha: Floats, size: int) -> tuple[Floats, Floats]:
    """Return ln theta at points, and weights, of a rule for integrals over a Dirichlet prior.

    A stick is broken: theta_1 ~ Beta(a_1, a_2 + ...), and so on; each break has a Gauss-Jacobi rule. Its points lie
    about pi/(2 N) apart in asin(sqrt(theta)), where P(z | theta) is no narrower than 1/(2 sqrt(n)).
    """
    number = ceil((8 if len(alpha) == 2 else 4) * sqrt(size)) + (60 if len(alpha) == 2 else 14)
    logs, weights, left = np.zeros((1, 0)), np.ones(1), np.zeros(1)
    for place in range(len(alpha) - 1):
        x, share = roots_jacobi(number, alpha[place + 1 :].sum() - 1, alpha[place] - 1)
        taken, rest = np.log((1 + x) / 2), np.log((1 - x) / 2)
        logs = np.column_stack([np.repeat(logs, number, axis=0), (left[:, None] + taken).ravel()])
        left = (left[:, None] + rest).ravel()
        weights = (weights[:, None] * share / share.sum()).ravel()
    return np.column_stack([logs, left]), weights
