"""The joint distribution of many columns as a mixture of classes in which columns are independent, from noisy tables.

    p(x) = sum_h w_h prod_j phi_hj(x_j),

so that all pairs together are one product Phi' diag(w) Phi. It is fitted to noisy tables of one or two columns,

    sum_S tau_S |n p_S - y_S|^2 / 2 + H sum_h w_h KL(phi_h | m) + sum_h KL(m | phi_h),

m the one-way readings and H the number of classes: one pseudo-record for each class, both ways. Several fits from
different starts are averaged: their mixture has R H classes. A single fit invents dependence where nothing was
measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.synthesis._junction_tree import UNKNOWN, drawn_levels
from discreet.synthesis._maximum_entropy import NoisyTable, one_way_shares, together

CLASSES, FITS, STEPS = 100, 5, 400
"""H, R, and how many steps a fit takes."""
_LENGTH, _START = 0.05, 0.3  # of the first steps; deviation of the logits at the start
_DECAYS, _FLOOR = (0.9, 0.999), 1e-8  # of Adam
_LETTERS = "abcdefgijklmnopqrstuvwxyz"


@dataclass(frozen=True, eq=False)
class ClassMixture:
    """A mixture of classes: their weights, and for each column the chance of every level in each class (rows)."""

    weights: Floats
    chances: tuple[Floats, ...]

    @property
    def words(self) -> str:
        """Say what kind of model it is."""
        return f"an average of mixtures of latent classes, {len(self.weights)} in all"

    @property
    def levels(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(table.shape[1] for table in self.chances)

    def margin(self, columns: Sequence[int]) -> Floats:
        """Return the joint table of some columns, its axes in their order."""
        letters = _LETTERS[: len(columns)]
        inputs = ",".join(["h", *(f"h{letter}" for letter in letters)])
        found = np.einsum(f"{inputs}->{letters}", self.weights, *(self.chances[v] for v in columns), optimize=True)
        return np.asarray(found)

    def pairs(self) -> dict[tuple[int, ...], Floats]:
        """Return the joint tables of all pairs of columns, from one product."""
        every = np.concatenate(self.chances, axis=1)
        product = every.T @ (self.weights[:, None] * every)
        edges = np.cumsum([0, *self.levels])
        d = len(self.chances)
        return {
            (a, b): product[edges[a] : edges[a + 1], edges[b] : edges[b + 1]] for a in range(d) for b in range(a + 1, d)
        }

    def _logs(self, records: Counts, without: int | None = None) -> Floats:
        """Return log w_h + sum_j log phi_hj(x_j) over what is known (records, classes)."""
        logs = np.repeat(np.log(np.maximum(self.weights, 1e-300))[None], len(records), axis=0)
        for v, table in enumerate(self.chances):
            if v != without:
                known = records[:, v] != UNKNOWN
                logs[known] += np.log(np.maximum(table.T[records[known, v]], 1e-300))
        return logs

    def log_prob(self, records: Counts) -> Floats:
        """Return log p of records, rows of codes of all columns."""
        logs = self._logs(records)
        top = logs.max(axis=1, keepdims=True)
        return np.asarray(np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0])

    def sample(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw records, as rows of codes of all columns: a class, then every column."""
        classes = drawn_levels(self.weights[None], np.zeros(count, dtype=np.int64), generator)
        return np.column_stack([drawn_levels(table, classes, generator) for table in self.chances])

    def conditional(self, target: int, records: Counts) -> Floats:
        """Return P(target | what is known of each record), for rows of codes of all columns; UNKNOWN is not known."""
        logs = self._logs(records, without=target)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray((weights @ self.chances[target]) / weights.sum(axis=1, keepdims=True))


def latent_classes(
    levels: Sequence[int],
    size: float,
    tables: Sequence[NoisyTable],
    seed: int = 0,
    classes: int = CLASSES,
    fits: int = FITS,
    steps: int = STEPS,
) -> ClassMixture:
    """Return the average of several fits to tables of one or two columns; the same seed gives the same ones."""
    measured = _Measured(levels, size, tables)
    found = [measured.fitted(np.random.default_rng([seed, number]), classes, steps) for number in range(fits)]
    weights = np.concatenate([each.weights for each in found]) / fits
    return ClassMixture(weights, tuple(np.concatenate([each.chances[v] for each in found]) for v in range(len(levels))))


class _Measured:
    """Tables of one or two columns, laid out as one matrix of all pairs of levels."""

    def __init__(self, levels: Sequence[int], size: float, tables: Sequence[NoisyTable]) -> None:
        self.levels, self.size = tuple(levels), size
        self.edges = np.cumsum([0, *levels])
        total = int(self.edges[-1])
        self.values, self.precisions = np.zeros((total, total)), np.zeros((total, total))
        self.ones, self.one_precisions = np.zeros(total), np.zeros(total)
        self.shares = np.concatenate(one_way_shares(levels, size, tables))
        for table in together(tables):
            spans = [slice(self.edges[v], self.edges[v + 1]) for v in table.columns]
            if len(spans) == 1:
                self.ones[spans[0]], self.one_precisions[spans[0]] = table.values, table.precision
            elif len(spans) == 2:
                a, b = spans
                self.values[a, b], self.values[b, a] = table.values, table.values.T
                self.precisions[a, b] = self.precisions[b, a] = table.precision

    def _columns(self, values: Floats) -> Floats:
        """Return sums over the levels of each column, spread over these."""
        sums = np.add.reduceat(values, self.edges[:-1], axis=-1)
        return np.repeat(sums, self.levels, axis=-1)

    def _normed(self, logits: Floats) -> Floats:
        tops = np.repeat(np.maximum.reduceat(logits, self.edges[:-1], axis=-1), self.levels, axis=-1)
        raised = np.exp(logits - tops)
        return np.asarray(raised / self._columns(raised))

    def slopes(self, logits: Floats, weight_logits: Floats) -> tuple[Floats, Floats, float]:
        """Return the slopes of the objective by both kinds of logits, and the objective."""
        phi, n, count = self._normed(logits), self.size, len(weight_logits)
        raised = np.exp(weight_logits - weight_logits.max())
        w = raised / raised.sum()
        pairs, ones = phi.T @ (w[:, None] * phi), w @ phi
        missed, missed_ones = n * pairs - self.values, n * ones - self.ones
        by_pair, by_one = n * self.precisions * missed, n * self.one_precisions * missed_ones
        ratio = np.log(np.maximum(phi, 1e-300) / self.shares)
        to_shares = (phi * ratio).sum(axis=1)
        objective = (
            0.25 * float((self.precisions * missed**2).sum())
            + 0.5 * float((self.one_precisions * missed_ones**2).sum())
            + count * float(w @ to_shares)
            - float((ratio @ self.shares).sum())
        )
        turned = phi @ by_pair
        by_phi = w[:, None] * (turned + by_one + count * ratio) - self.shares / np.maximum(phi, 1e-12)
        by_w = 0.5 * (turned * phi).sum(axis=1) + phi @ by_one + count * to_shares
        return phi * (by_phi - self._columns(phi * by_phi)), w * (by_w - w @ by_w), objective

    def fitted(self, generator: np.random.Generator, classes: int, steps: int) -> ClassMixture:
        """Return one fit by Adam, with steps that fall as a cosine."""
        logits = np.log(self.shares) + _START * generator.standard_normal((classes, len(self.shares)))
        weights = np.zeros(classes)
        moments = [[np.zeros_like(each), np.zeros_like(each)] for each in (logits, weights)]
        for step in range(steps):
            length = _LENGTH * 0.5 * (1 + cos(pi * step / steps))
            by_logits, by_weights, _ = self.slopes(logits, weights)
            shares = np.exp(weights - weights.max())
            by_logits = by_logits / (shares / shares.sum() * classes)[:, None]
            for value, slope, (mean, square) in zip((logits, weights), (by_logits, by_weights), moments, strict=True):
                mean += (1 - _DECAYS[0]) * (slope - mean)
                square += (1 - _DECAYS[1]) * (slope**2 - square)
                first, second = mean / (1 - _DECAYS[0] ** (step + 1)), square / (1 - _DECAYS[1] ** (step + 1))
                value -= length * first / (np.sqrt(second) + _FLOOR)
        raised = np.exp(weights - weights.max())
        phi = self._normed(logits)
        parts = np.split(phi, self.edges[1:-1], axis=1)
        return ClassMixture(raised / raised.sum(), tuple(parts))
