"""Naive Bayes read through one shared radius: all tables lie within the same distance of the truth.

P(u) ~ e^(-epsilon max_f d(u_f)) is a mixture over a radius rho of uniform noise in a product of balls. Given rho and
the class counts the tables are independent, and each says that sum_y D_iy <= 2 rho, where D_iy is the l1 distance of
one row. A row's distribution of D given its total comes from adding up its levels, a table's from adding up its rows;
the vectors of class counts are enumerated. That is exact, and feasible for two classes or for few records.

Naive Bayes networks, or variables without parents, through one radius for all tables: exact, for few records.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import comb, prod

import numpy as np

from discreet._core.arrays import Counts, Floats, groups
from discreet.inference import CostEstimate, Problem, Solver, TableCounts
from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks._approximate_rows import BY_ROWS, RowsSolver
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution
from discreet.noise import SharedRadius, TotalPreserving
from discreet.privacy import compositions

_KEPT = 1024  # running sums, which many draws share
NEGLIGIBLE = 41.0  # radii beyond carry less than e^-41 of the sum


class DistanceRow:
    """One row of a table: weights prod_x f_x(k_x) by total t and l1 distance D from the noisy row, D <= most."""

    def __init__(self, noisy: Counts, alpha: Floats, size: int, most: int) -> None:
        self.noisy, self.size, self.most = noisy, size, most
        logs, steps = log_prior(alpha[:, None], np.arange(size + 1)), np.arange(size + 1)
        tilt = float(logs[:, -1].mean()) / size  # keeps strong priors within the range of floats
        logs = logs - tilt * steps
        peaks = logs.max(axis=1)
        self._factors = np.exp(logs - peaks[:, None])
        self.log_scale = float(peaks.sum()) + tilt * steps + log_prior_constant(float(alpha.sum()), np.arange(size + 1))
        self._distances = np.abs(noisy[:, None] - steps)
        self._running_sums = lru_cache(_KEPT)(self._summed_up)

    @cached_property
    def _sums(self) -> list[Floats]:
        """Return, for the first 2, 3, ... levels, the weights by total (rows) and distance (columns)."""
        pair = np.zeros((self.size + 1, self.most + 1))
        for total in range(*self._totals(2)):
            distances = self._distances[1, : total + 1] + self._distances[0, total::-1]
            weights = self._factors[1, : total + 1] * self._factors[0, total::-1]
            near = distances <= self.most
            pair[total] = np.bincount(distances[near], weights[near], minlength=self.most + 1)
        sums = [pair]
        for level in range(2, len(self.noisy)):
            sums.append(self._added(sums[-1], level))
        return sums

    def _totals(self, levels: int) -> tuple[int, int]:
        """Return the first total of this many levels within reach, and the one after the last: D >= |total - noisy|."""
        middle = int(self.noisy[:levels].sum())
        return max(0, middle - self.most), max(0, min(self.size, middle + self.most) + 1)

    def _added(self, before: Floats, level: int) -> Floats:
        """Return the weights with one level more, which has any count that is near enough."""
        result, (first, end) = np.zeros_like(before), self._totals(level)
        factors, distances = self._factors[level], self._distances[level]
        for count in np.flatnonzero(distances <= self.most).tolist():
            shift, last = int(distances[count]), min(end, self.size + 1 - count)
            if last > first:
                part = before[first:last, : self.most + 1 - shift]
                result[first + count : last + count, shift:] += factors[count] * part
        return result

    def distribution(self, total: int) -> tuple[int, Floats]:
        """Return the parity p that all distances have, and the weights of p, p + 2, p + 4, ..."""
        parity = int(self.noisy.sum() - total) % 2
        return parity, self._sums[-1][total, parity::2]

    def draw(self, total: int, distance: int, generator: np.random.Generator) -> Counts:
        """Draw the row given its total and its distance: the last level first."""
        counts = np.empty(len(self.noisy), dtype=np.int64)
        for level in range(len(self.noisy) - 1, 0, -1):
            index = _pick(self._running_sums(level, total, distance), generator)
            counts[level], total, distance = index, total - index, distance - int(self._distances[level, index])
        counts[0] = total
        return counts

    def _summed_up(self, level: int, total: int, distance: int) -> Floats:
        """Return running sums of the weights of 0, 1, ... records in a level; the total is of it and those before."""
        own = np.arange(total + 1)
        left = distance - self._distances[level, : total + 1]
        if level > 1:
            weights = np.where(left >= 0, self._sums[level - 2][total - own, np.maximum(left, 0)], 0.0)
        else:
            weights = np.where(left == self._distances[0, total - own], self._factors[0, total - own], 0.0)
        return np.cumsum(self._factors[level, : total + 1] * weights)


class SharedRadiusCounts(TableCounts):
    """The joint posterior of class counts, radius and tables; `noisy[i][y]` is a row, of feature i and class y."""

    method = "read exactly"

    def __init__(
        self,
        noisy: Sequence[Counts],
        class_alpha: Floats,
        alpha: Sequence[Floats],
        epsilon: float,
        size: int,
        log_constant: float = 0.0,
    ) -> None:
        self.size, self.epsilon, self._noisy, self._alpha = size, epsilon, noisy, alpha
        classes = len(class_alpha)
        self._vectors = np.array(list(compositions(size, classes)), dtype=np.int64).reshape(-1, classes)
        factors = log_prior(class_alpha[:, None], np.arange(size + 1))
        self._log_classes = factors[np.arange(classes), self._vectors].sum(axis=1)
        self._log_classes += log_prior_constant(float(class_alpha.sum()), np.arange(size + 1))[size]
        self._radius_until_negligible()
        self.log_evidence = log_constant + self._log_total + float(np.log(-np.expm1(-epsilon)))

    def _radius_until_negligible(self) -> None:
        """Widen the radius until what lies beyond is negligible, or nothing does: q^rho bounds every later weight."""
        spans = [np.maximum(np.abs(z), np.abs(self.size - z)).sum() for z in self._noisy]
        farthest = int(max(spans)) // 2 + 1
        free = sum(z.size - 1 for z in self._noisy)
        last = min(farthest, int((free + NEGLIGIBLE + 20) / self.epsilon) + 2)
        while True:
            self._weigh(last)
            tail = -np.log(-np.expm1(-self.epsilon))
            if last == farthest:  # its balls hold every table: it stands for all later radii
                self._logs[:, -1] += tail
            self._log_total = _log_sum(self._logs)
            beyond = -self.epsilon * (last + 1) + tail
            if last == farthest or beyond <= self._log_total - NEGLIGIBLE:
                return
            more = (beyond - self._log_total + NEGLIGIBLE) / self.epsilon if self._log_total > -np.inf else last
            last = min(farthest, last + int(more) + 2)

    def _weigh(self, last: int) -> None:
        """Set the log weight of every vector of class counts (rows) and radius 0, ..., last (columns)."""
        self._rows = [
            [DistanceRow(row, alpha, self.size, 2 * last) for row in z]
            for z, alpha in zip(self._noisy, self._alpha, strict=True)
        ]
        self._logs = np.full((len(self._vectors), last + 1), -np.inf)
        sums = np.array([z.sum(axis=1) for z in self._noisy])
        apart = np.abs(self._vectors[:, None, :] - sums).sum(axis=2).max(axis=1)  # no table of them is nearer
        for index in np.flatnonzero(apart <= 2 * last):
            vector = self._vectors[index]
            logs = self._log_classes[index] - self.epsilon * np.arange(last + 1)
            for rows in self._rows:
                scale = sum(row.log_scale[count] for row, count in zip(rows, vector, strict=True))
                with np.errstate(divide="ignore"):
                    logs = logs + scale + np.log(self._within(self._partial_sums(rows, vector)[-1], last))
            self._logs[index] = logs

    @staticmethod
    def _partial_sums(rows: list[DistanceRow], vector: Counts) -> list[tuple[int, Floats]]:
        """Return the distribution of the summed distance of the first 1, 2, ... rows: first, weights by steps of 2."""
        sums = [rows[0].distribution(int(vector[0]))]
        for row, count in zip(rows[1:], vector[1:], strict=True):
            parity, weights = row.distribution(int(count))
            first, before = sums[-1]
            sums.append((first + parity, np.convolve(before, weights)[: len(before)]))
        return sums

    @staticmethod
    def _within(distribution: tuple[int, Floats], last: int) -> Floats:
        """Return the weight of all distances <= 2 rho, for rho = 0, ..., last."""
        first, weights = distribution
        indices = np.arange(last + 1) - (first + 1) // 2
        table = np.concatenate([[0.0], np.cumsum(weights)])
        return np.asarray(table[np.clip(indices + 1, 0, len(weights))])

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: the class, if there is one, then the features."""
        totals, features = self.draw(count, generator)
        return features if self._vectors.shape[1] == 1 else [totals[:, None, :], *features]

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Counts, list[Counts]]:
        """Draw class counts (one row per draw), and for every feature tables (draws, classes, levels)."""
        table = np.cumsum(np.exp(self._logs - self._log_total).ravel())
        chosen = np.minimum(np.searchsorted(table, generator.random(count) * table[-1], side="right"), table.size - 1)
        which, radii = np.unravel_index(chosen, self._logs.shape)
        features = [np.empty((count, *z.shape), dtype=np.int64) for z in self._noisy]
        for index, draws in groups(which):
            for tables, rows in zip(features, self._rows, strict=True):
                sums = self._partial_sums(rows, self._vectors[index])
                distances = _SharedDistance(rows, self._vectors[index], sums)
                for draw in draws:
                    tables[draw] = distances.draw(int(radii[draw]), generator)
        return self._vectors[which], features


class _SharedDistance:
    """Draws of one table, given the totals of its rows: its distance within the ball, then each row's share of it."""

    def __init__(self, rows: list[DistanceRow], totals: Counts, sums: list[tuple[int, Floats]]) -> None:
        self._rows, self._totals, self._sums = rows, [int(total) for total in totals], sums
        self._within = lru_cache(_KEPT)(self._sums_within)
        self._share = lru_cache(_KEPT)(self._sums_of_share)

    def _sums_within(self, radius: int) -> Floats:
        first, weights = self._sums[-1]
        return np.cumsum(weights[: max(0, (2 * radius - first) // 2 + 1)])

    def _sums_of_share(self, index: int, left: int) -> tuple[int, Floats]:
        """Return the parity of a row's distances and running sums of their weights: rows before have what is left."""
        parity, own = self._rows[index].distribution(self._totals[index])
        start, before = self._sums[index - 1]
        most = (left - parity - start) // 2
        return parity, np.cumsum(own[: most + 1] * before[most::-1])

    def draw(self, radius: int, generator: np.random.Generator) -> Counts:
        """Draw the table, its last row first."""
        left = self._sums[-1][0] + 2 * _pick(self._within(radius), generator)
        drawn = []
        for index in range(len(self._rows) - 1, -1, -1):
            distance = left
            if index:
                parity, share = self._share(index, left)
                distance = parity + 2 * _pick(share, generator)
            drawn.append(self._rows[index].draw(self._totals[index], distance, generator))
            left -= distance
        return np.stack(drawn[::-1])


def usual_radius(cells: Sequence[int], epsilon: float) -> float:
    """Return the radius up to which tables with this many cells are first searched; more is seldom needed."""
    return (sum(cells) - len(cells) + NEGLIGIBLE + 20) / epsilon + 2


def products(size: int, classes: int, tables: int, radius: float) -> float:
    """Return how many products of two numbers `SharedRadiusCounts` adds up to this radius."""
    return comb(size + classes - 1, classes - 1) * tables * max(1, classes - 1) * radius**2 / 2


def _pick(sums: Floats, generator: np.random.Generator) -> int:
    """Draw an index with probability ~ its weight, from the running sums of all weights."""
    return min(int(sums.searchsorted(generator.random() * sums[-1], side="right")), len(sums) - 1)


def _log_sum(logs: Floats) -> float:
    peak = float(logs.max())
    return peak + float(np.log(np.exp(logs - peak).sum())) if peak > -np.inf else -np.inf


_EACH = 40 / 3  # operations that one product costs
_HELD = 4 / 3  # numbers in memory for each weight of a row
_VECTOR = 400 / 3  # numbers in memory for each vector of class counts
_USUAL = 0.25  # of the work at most: most vectors of class counts are too unlikely to count
_LONG = 1e6  # operations of exact inference beyond which plans approximate row by row


class SharedRadiusSolver(Solver):
    """Sums over the radius, and lists the vectors of class counts."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse other distributions of noise, several releases, and other trees."""
        if len(problem.observed) != 1 or len(problem.measurements) != 1 or _rate(problem) is None:
            return "its noise has no single radius for all tables"
        if problem.model.target is None and any(problem.model.parents):
            return "a shared radius can be read exactly for naive Bayes networks and for variables without parents only"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the products that are added for all vectors of class counts, up to the usual radius."""
        model, size, rate = problem.model, problem.size, _rate(problem)
        assert rate is not None
        classes = 1 if model.target is None else len(model.variables[0].levels)
        cells = [prod(model.shape(family)) for family in model.maximal_families]
        radius, vectors = usual_radius(cells, rate), comb(size + classes - 1, classes - 1)
        held = max(_VECTOR * vectors, _HELD * sum(cells) * (size + 1) * 2 * radius)
        words = f"exact inference for {len(cells)} tables of {size} records through a shared radius"
        operations = _EACH * products(size, classes, len(cells), radius)
        if operations < _LONG or (rows := RowsSolver()).unsupported_reason(problem) is not None:
            return CostEstimate(words, operations, held, usual_share=_USUAL)
        by_rows = rows.cost(problem).operations / operations
        return CostEstimate(words, operations, held, by_rows, BY_ROWS, _USUAL)

    def solve_many(self, problems: Sequence[Problem]) -> list[NetworkSolution]:
        """Return solutions row by row, where exact ones take long."""
        is_by_rows = self.cost(problems[0]).many_read == BY_ROWS
        return [RowsSolver().solve(each) if is_by_rows else self.solve(each) for each in problems]

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return the exact joint posterior of all tables."""
        model, (measured,), rate = problem.model, problem.measurements, _rate(problem)
        assert rate is not None
        noisy = [table.reshape(-1, table.shape[-1]) for table in model.split(measured.values)]
        has_class = model.target is not None
        alpha = [np.array(prior) for prior in (model.prior[1:] if has_class else model.prior)]
        class_alpha = np.array(model.prior[0]) if has_class else np.ones(1)
        constant = -measured.noise.log_normaliser
        return NetworkSolution(model, SharedRadiusCounts(noisy, class_alpha, alpha, rate, problem.size, constant))


def _rate(problem: Problem) -> float | None:
    match problem.measurements[0].noise.structure:
        case TotalPreserving(SharedRadius(rate=rate)):
            return rate
        case _:
            return None
