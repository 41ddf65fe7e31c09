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
from itertools import product
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, digamma, expit, gammaln, log_expit, logit, roots_jacobi

from discreet.arrays import Counts, Floats
from discreet.certificates.enumeration import number_of_tables
from discreet.certificates.posterior_distances import Tables
from discreet.errors import DeclarationError
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mathematics.divergences import kullback_leibler, log_affinities
from discreet.mechanisms import GeometricHistogram, NoisyCounts
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.mechanisms.published_laplace import ClampedLaplace, PublishedLaplace

MOST_ENTRIES, MOST_OUTPUTS = 20_000_000, 200_000
"""A table P(z | k) with more entries or outputs is not written out; studies are made up instead."""
_MOST_RECORDS, _MOST_PRIOR, _MOST_CELLS, _MOST_GRID_BITS = 2_000, 10_000.0, 3, 12
_NEGLIGIBLE = 34.0  # outputs whose probability is below e^-34 = 2e-15 are left out


@dataclass(frozen=True)
class ExactAccuracy:
    """What to expect of one release, on average over the prior (`worst_...`: for the least favourable data).

    `hellinger` and `divergence` are distances of the plain reading from the exact posterior; `remapped_hellinger` is
    the least that a choice among the posteriors of n records after seeing the output can give. Log scores are nats
    beyond the prior, widths those of intervals of the stated level, averaged over cells. The noise-aware reading
    covers its level by construction; `plain_coverage` is what the plain one covers. `errors` holds standard errors of
    what was simulated and is empty for exact sums; None stands for what is known from exact sums only.
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
        """Return which share of what the counts tell about theta the release tells: I(theta; z) / I(theta; k)."""
        return self.log_score / self.non_private_log_score

    def hellinger_at(self, counts: ArrayLike) -> float:
        """Return E[H] of the plain reading for these data; `by_table` holds E[H] and E[KL] for all."""
        table = tuple(int(count) for count in np.asarray(counts))
        if table not in self.by_table:
            raise DeclarationError(f"There are figures by table for {len(self.by_table)} tables, not for this one.")
        return self.by_table[table][0]

    def document(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "by_table"}


def possible_outputs(mechanism: Any) -> Counts | None:
    """Return all outputs but those that are too improbable to count, or None if there are too many to write out."""
    cells, size, total = len(mechanism.model.cells), mechanism.size, float(sum(mechanism.model.prior))
    if cells > _MOST_CELLS or size > _MOST_RECORDS or total > _MOST_PRIOR:
        return None
    tables = number_of_tables(size, cells, MOST_ENTRIES)
    if isinstance(mechanism, PosteriorSampling):
        few = mechanism.sticks * mechanism.draws == 1 and mechanism.grid_bits <= _MOST_GRID_BITS
        return np.arange(2**mechanism.grid_bits)[:, None] if few else None
    if isinstance(mechanism, HellingerMechanism):
        return np.asarray(mechanism.tables.all) if tables**2 <= MOST_ENTRIES else None
    margin, free = _noise(mechanism)
    outputs = (size + 2 * margin + 1) ** free
    if outputs > MOST_OUTPUTS or tables * outputs > MOST_ENTRIES:
        return None
    noisy = np.array(list(product(range(-margin, size + margin + 1), repeat=free)))
    return noisy if free == cells else np.column_stack([noisy, size - noisy.sum(axis=1)])


def _noise(mechanism: Any) -> tuple[int, int]:
    """Return beyond how many units the noise of a cell is negligible, and how many cells have noise of their own."""
    if isinstance(mechanism, PublishedLaplace):
        margin = 0 if isinstance(mechanism, ClampedLaplace) else ceil(_NEGLIGIBLE / float(mechanism.rate)) + 2
        return margin, mechanism.noisy_cells
    if isinstance(mechanism, GeometricHistogram):
        return ceil(_NEGLIGIBLE / float(mechanism.epsilon)) + 2, len(mechanism.model.cells) - 1
    if isinstance(mechanism, NoisyCounts):
        return ceil(_NEGLIGIBLE * mechanism.reach) + 2, len(mechanism.model.cells) - int(mechanism.keeps_total)
    raise DeclarationError(f"The outputs of a {type(mechanism).__name__} cannot be written out.")


def plain_reading(mechanism: Any, outputs: Counts) -> Floats:
    """Return the counts that outputs (rows) are taken for, as `plug_in` does; a drawn theta stands for n theta."""
    if isinstance(mechanism, PosteriorSampling):
        return np.asarray(mechanism.size * mechanism.parameters(outputs[:, : mechanism.sticks]))
    clipped = np.maximum(outputs, 0).astype(float)
    totals = clipped.sum(axis=1, keepdims=True)
    equal = np.full_like(clipped, mechanism.size / clipped.shape[1])
    return np.asarray(np.divide(mechanism.size * clipped, totals, out=equal, where=totals > 0))  # whole if they add up


class WrittenOut:
    """A mechanism as a table: `laws` P(z | k) and `joint` P(k, z) for all tables k (rows) and outputs z (columns)."""

    def __init__(self, mechanism: Any, outputs: Counts) -> None:
        self.alpha, self.size = mechanism.model.concentration, mechanism.size
        self._all = Tables(self.alpha, self.size)
        self.tables, self.outputs = self._all.all, outputs
        self.chances = np.exp(mechanism.model.log_evidence(self.tables))
        self.laws = np.exp(_log_laws(mechanism, self.tables, outputs))
        self.joint = self.chances[:, None] * self.laws
        self.readings, self._reading = np.unique(plain_reading(mechanism, outputs), axis=0, return_inverse=True)
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
            return np.asarray(self.distances[:, self._all.places(np.rint(self.readings).astype(np.int64))])
        logs = self._summed(log_affinities)
        return np.asarray(np.sqrt(np.maximum(0.0, -np.expm1(logs))))

    def plain_divergences(self) -> Floats:
        """Return KL(k || r): sum_i ln Gamma(b_i)/Gamma(a_i) + (a_i - b_i) psi(a_i), for a and b of equal total."""
        return np.maximum(0.0, self._summed(lambda a, b: gammaln(b) - gammaln(a) + (a - b) * digamma(a)))

    def _summed(self, term: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return sums over cells of a function of both posteriors' parameters, each pair of values worked out once."""
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
        """Return of one cell the mean width of the plain, aware and exact intervals, and what the plain one covers."""
        counts = np.arange(self.size + 1.0)
        a, b = self.alpha[cell] + counts, self.alpha.sum() - self.alpha[cell] + self.size - counts
        known = np.diff([betaincinv(a, b, tail) for tail in tails(level)], axis=0)[0]
        exact = float(self.chances @ known[self.tables[:, cell]])
        weights = _summed_by(self.joint, self.tables[:, cell], self.size + 1)
        evidence = weights.sum(axis=0)
        seen = evidence > 1e-15 * evidence.max()
        aware = np.diff(mixture_quantiles(weights[:, seen].T / evidence[seen, None], a, b, tails(level)))[:, 0]
        plain, covered = self._plain_widths(cell, a, b, level)
        return plain, float(evidence[seen] @ aware), exact, covered

    def _plain_widths(self, cell: int, a: Floats, b: Floats, level: float) -> tuple[float, float]:
        weights = _summed_by(self._joint_of_readings, self.tables[:, cell], self.size + 1)
        first = self.alpha[cell] + self.readings[:, cell]
        low, high = (betaincinv(first, self.alpha.sum() + self.size - first, tail) for tail in tails(level))
        rows, columns = np.nonzero(weights > 1e-14 * weights.max())
        inside = betainc(a[rows], b[rows], high[columns]) - betainc(a[rows], b[rows], low[columns])
        return float(weights.sum(axis=0) @ (high - low)), float(weights[rows, columns] @ inside)


def _log_laws(mechanism: Any, tables: Counts, outputs: Counts) -> Floats:
    """Return log P(z | k) for all tables (rows) and outputs (columns)."""
    if isinstance(mechanism, PermuteAndFlip):
        return np.stack([mechanism.log_law(table) for table in tables])
    if isinstance(mechanism, HellingerMechanism):
        distances = mechanism.tables.distances(tables)
        return np.asarray(-mechanism.scales(tables)[:, None] * distances - mechanism.log_normalisers(tables)[:, None])
    return np.stack([mechanism.log_likelihood(outputs, table) for table in tables])


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


def mixture_quantiles(weights: Floats, a: Floats, b: Floats, probabilities: ArrayLike) -> Floats:
    """Return quantiles (columns) of many mixtures (rows of weights) of the same Betas, with an error below 1e-5.

    All distribution functions are worked out at the same points, dense where a Beta can be narrow, and inverted between
    them by cubics in the logit that have the right values and densities at both ends.
    """
    points = _logit_points(float((a + b).max()))
    below = weights @ betainc(a[:, None], b[:, None], expit(points))
    logs = a[:, None] * log_expit(points) + b[:, None] * log_expit(-points) - betaln(a, b)[:, None]
    slopes = weights @ np.exp(logs)
    return np.column_stack([_inverted(points, below, slopes, p) for p in np.atleast_1d(probabilities)])


def _logit_points(total: float) -> Floats:
    steps = ceil(26 * sqrt(total)) + 60
    inner = logit(np.sin(np.linspace(0, np.pi / 2, steps + 1)[1:-1]) ** 2)
    outer = np.arange(-40, inner[0], 0.5)
    return np.concatenate([outer, inner, -outer[::-1]])


def _inverted(points: Floats, below: Floats, slopes: Floats, probability: float) -> Floats:
    """Return where each row reaches a probability, halving within its step."""
    rows = np.arange(len(below))
    place = np.clip((below < probability).sum(axis=1), 1, len(points) - 1)
    width = points[place] - points[place - 1]
    ends = below[rows, place - 1], below[rows, place]
    rises = slopes[rows, place - 1] * width, slopes[rows, place] * width
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(45):
        t = (low + high) / 2
        left, right = ends[0] * (1 + 2 * t) + rises[0] * t, ends[1] * (3 - 2 * t) - rises[1] * (1 - t)
        value = (1 - t) ** 2 * left + t**2 * right
        low, high = np.where(value < probability, t, low), np.where(value < probability, high, t)
    return np.asarray(expit(points[place - 1] + (low + high) / 2 * width))
