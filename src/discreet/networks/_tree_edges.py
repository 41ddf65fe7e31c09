"""One edge of a tree between two variables of two levels: from the parent's count to the child's, on windows.

With n_1 records of the parent's level 1 and m_1 of the child's, the table of the edge has one free count, and

    G(n_1, m_1) = sum_k f_11(k) f_10(n_1 - k) f_01(m_1 - k) f_00(n - n_1 - m_1 + k)
                = (r_1(.; n_1) * r_0(.; n - n_1))(m_1),

where row j has the weights r_j(k; n_j) = f_j1(k) f_j0(n_j - k). What a row's noisy cells say about k has kinks at z_j1
and at n_j - z_j0; beyond both it falls twice as fast as the noise, so a window around them holds all but a part that is
bounded by a geometric series, as in `windows`. One fast Fourier transform for each n_1 then gives all m_1; short
rows are summed directly, without any loss of digits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from discreet._core.arrays import Counts, Floats, groups
from discreet._core.errors import DiscreetError
from discreet.inference import MOST_OPERATIONS, TOO_FAR, NoisyRow, Windowed
from discreet.mathematics import log_prior_constant, log_prior_windows, tilted_to

BLOCK = 2_000_000
"""How many numbers of one kind are held at a time."""
_ROUNDING = 4e-16  # rounding error of a transform, relative to the largest number
_MOST_COUNTS = 20_000_000  # widest window: tables that contradict each other have no narrow one
_MOST_PRODUCTS = MOST_OPERATIONS / 20  # numbers of all transforms of an edge
_DIRECT = 200_000  # products of two rows up to which they are summed one by one, where no digits are lost


@dataclass(frozen=True, eq=False)
class _Cell:
    """Kernel and prior of one cell at consecutive counts, including those just outside the possible range."""

    first: int
    log_kernel: Floats
    log_prior: Floats

    def kernel(self, counts: Counts) -> Floats:
        """Return the log kernel at some counts."""
        return np.asarray(self.log_kernel[counts - self.first])

    def prior(self, counts: Counts) -> Floats:
        """Return the log prior at some counts."""
        return np.asarray(self.log_prior[counts - self.first])


class EdgeRow:
    """Row j of the table of an edge, for every total of a window: r_j(k; n_j), tilted by e^(tilt k), scaled to peak 1.

    `totals` are the row's totals; a row of `weights` holds k = first, first + 1, ... for one of them.
    """

    def __init__(self, alpha: Floats, seen: Sequence[NoisyRow], totals: Counts, margin: float) -> None:
        low, high = _kinks(seen, totals)
        reach = int(np.ceil(margin * min(float(each.reach.max()) for each in seen))) + 2
        self.totals, self.first = totals, np.clip(low - reach, 0, totals)
        self.last = np.clip(high + reach, 0, totals)
        self.width = int((self.last - self.first).max()) + 1
        if max(int(self.last.max() - self.first.min()), int(totals.max() - totals.min())) > _MOST_COUNTS:
            raise DiscreetError(TOO_FAR)
        self.steepest = 0.9 / max(float(each.reach.max()) for each in seen)
        self._alpha = alpha
        self._yes = _cell(alpha, seen, 1, int(self.first.min()) - 1, int(self.last.max()) + 1)
        self._no = _cell(alpha, seen, 0, int((totals - self.last).min()) - 1, int((totals - self.first).max()) + 1)

    def logs(self, indices: Counts) -> Floats:
        """Return log r_j at the windows of some totals (rows)."""
        counts = self.first[indices][:, None] + np.arange(self.width)
        inside = counts <= self.last[indices][:, None]
        yes = np.minimum(counts, self.last[indices][:, None])
        no = self.totals[indices][:, None] - yes
        logs = self._yes.kernel(yes) + self._no.kernel(no) + self._yes.prior(yes) + self._no.prior(no)
        return np.where(inside, logs, -np.inf)

    def log_outside(self, indices: Counts, tilt: float) -> Floats:
        """Return for some totals the log of a bound on sum r_j(k) e^(tilt (k - first)) over all k outside."""
        totals, first, last = self.totals[indices], self.first[indices], self.last[indices]

        def kernel(counts: Counts) -> Floats:
            return self._yes.kernel(counts) + self._no.kernel(totals - counts)

        growth = np.maximum(0.0, np.log((self._alpha[1] + last) / (last + 1)))
        start = kernel(last) + self._yes.prior(last) + np.maximum(0.0, self._no.prior(totals - last))
        right = start + tilt * (last - first), kernel(last + 1) - kernel(last) + growth + tilt
        growth = np.maximum(0.0, np.log((self._alpha[0] + totals - first) / (totals - first + 1)))
        start = kernel(first) + np.maximum(0.0, self._yes.prior(first)) + self._no.prior(totals - first)
        left = start, kernel(first - 1) - kernel(first) + growth - tilt
        ends = _series(*right, last < totals), _series(*left, first > 0)
        return np.asarray(np.logaddexp(*ends))


class Edge:
    """The table of an edge: `above` is the window of n_1, `below` that of m_1 with what the child's children say.

    `below` holds log e^mu(m_1) at the counts of its window; `centre` is near the m_1 that matter.
    """

    def __init__(
        self,
        alpha: Floats,
        seen: Sequence[Sequence[NoisyRow]],
        size: int,
        above: Windowed,
        below: Windowed,
        centre: float,
        margin: float,
    ) -> None:
        self.alpha, self.size, self.above, self.below = alpha, size, above, below
        totals = (size - above.counts, above.counts)
        self._rows = [EdgeRow(alpha, own, total, margin) for own, total in zip(seen, totals, strict=True)]
        self._length = int(next_fast_len(sum(row.width for row in self._rows) - 1, real=True))
        if self._length * len(above.values) > _MOST_PRODUCTS:
            raise DiscreetError(TOO_FAR)
        self._constants = np.sum([log_prior_constant(float(alpha.sum()), total) for total in totals], axis=0)
        self._is_direct = self._rows[0].width * self._rows[1].width <= _DIRECT
        self._tilt = 0.0 if self._is_direct else self._tilted(centre, min(row.steepest for row in self._rows))
        mu = below.values - self._tilt * below.counts
        self._peak = float(mu.max())
        self._mu = np.exp(mu - self._peak)

    def _tilted(self, centre: float, steepest: float) -> float:
        """Return the tilt at which the mean m_1 is the centre, for the middle of the parent's window."""
        middle = np.array([len(self.above.values) // 2])
        logs = [row.logs(middle)[0] for row in self._rows]
        both = np.full((2, max(map(len, logs))), -np.inf)
        for line, own in zip(both, logs, strict=True):
            line[: len(own)] = own
        wanted = centre - sum(int(row.first[middle[0]]) for row in self._rows)
        steepest = min(steepest, 600 / both.shape[1])
        return tilted_to(both, np.arange(both.shape[1]), wanted, absolute=1e-3, relative=0.01, steepest=steepest).tilt

    def _blocks(self, indices: Counts) -> Iterator[Counts]:
        yield from np.array_split(indices, max(1, len(indices) * self._length // BLOCK))

    def _weights(self, indices: Counts) -> tuple[list[Floats], Floats]:
        """Return the tilted rows of some parent counts, and the logs of what they were divided by."""
        found, scale = [], self._constants[indices]
        for row in self._rows:
            logs = row.logs(indices) + self._tilt * np.arange(row.width)
            peaks = logs.max(axis=1)
            found.append(np.exp(logs - peaks[:, None]))
            scale = scale + peaks + self._tilt * row.first[indices]
        return found, scale

    def _distributions(self, weights: Sequence[Floats], indices: Counts) -> Floats:
        """Return what two rows of weights sum to, at every m_1 of the child's window (columns)."""
        if self._is_direct:
            sums = np.stack([np.convolve(zero, one) for zero, one in zip(*weights, strict=True)])
        else:
            spectra = [rfft(own, self._length, axis=1) for own in weights]
            sums = irfft(spectra[0] * spectra[1], self._length, axis=1)
        positions = self.below.counts - (self._rows[0].first + self._rows[1].first)[indices][:, None]
        possible = (positions >= 0) & (positions < sum(row.width for row in self._rows) - 1)
        return np.where(possible, np.take_along_axis(sums, np.where(possible, positions, 0), axis=1), 0.0)

    @cached_property
    def message(self) -> tuple[Floats, Floats]:
        """Return log sum_m G(n_1, m) e^mu(m) with the prior's constants, and bounds on its relative error."""
        logs, errors = [], []
        for indices in self._blocks(np.arange(len(self.above.values))):
            weights, scale = self._weights(indices)
            distribution = self._distributions(weights, indices)
            sums = np.maximum(distribution, 0.0) @ self._mu
            zero, one = (own.sum(axis=1) for own in weights)
            outs = [np.exp(np.minimum(self._log_out(row, indices), 300.0)) for row in self._rows]
            rounding = 0.0 if self._is_direct else _ROUNDING * distribution.max(axis=1) * self._mu.sum()
            lost = outs[0] * one + outs[1] * zero + rounding
            sums = np.maximum(sums, 1e-300)
            errors.append(np.minimum(1.0, lost / sums))
            logs.append(np.log(sums) + scale + self._peak)
        return np.concatenate(logs), np.concatenate(errors)

    def _log_out(self, row: EdgeRow, indices: Counts) -> Floats:
        """Return the log of what a row leaves out, beside its peak."""
        logs = row.logs(indices) + self._tilt * np.arange(row.width)
        return np.asarray(row.log_outside(indices, self._tilt) - logs.max(axis=1))

    def down(self, chances: Floats) -> tuple[Floats, Floats]:
        """Return P(m_1) of the child's window, and the expected probability of level 1 in each row, from P(n_1)."""
        distribution, yes = np.zeros(len(self._mu)), np.zeros(2)
        for indices in self._blocks(np.flatnonzero(chances > 0)):
            weights, _ = self._weights(indices)
            joint = np.maximum(self._distributions(weights, indices), 0.0) * self._mu
            sums = joint.sum(axis=1, keepdims=True)
            distribution += chances[indices] @ (joint / sums)
            row = self._rows[1]
            moments = self._distributions([weights[0], weights[1] * np.arange(row.width)], indices) @ self._mu
            one = row.first[indices] + moments / sums[:, 0]
            zero = joint @ self.below.counts / sums[:, 0] - one
            for number, own in ((0, zero), (1, one)):
                totals = self._rows[number].totals[indices]
                yes[number] += chances[indices] @ ((self.alpha[1] + own) / (self.alpha.sum() + totals))
        return distribution, yes

    def draw(self, above: Counts, generator: np.random.Generator) -> Counts:
        """Draw tables (draws, parent levels, levels) for some counts n_1 of the parent."""
        drawn = np.empty((len(above), 2, 2), dtype=np.int64)
        for count, indices in groups(above):
            at = np.array([count - self.above.first])
            weights, _ = self._weights(at)
            joint = np.cumsum(np.maximum(self._distributions(weights, at)[0], 0.0) * self._mu)
            marks = generator.random((2, len(indices)))
            found = np.minimum(np.searchsorted(joint, marks[0] * joint[-1], side="right"), len(joint) - 1)
            below = self.below.first + found
            one = self._draw_row(int(at[0]), below, weights, marks[1])
            drawn[indices, 1, 1], drawn[indices, 0, 1] = one, below - one
            drawn[indices, 1, 0], drawn[indices, 0, 0] = count - one, self.size - count - below + one
        return drawn

    def _draw_row(self, at: int, below: Counts, weights: Sequence[Floats], marks: Floats) -> Counts:
        """Draw k from r_1(k) r_0(m_1 - k), for some m_1."""
        zero, one = self._rows
        steps = np.arange(one.width)
        rest = below[:, None] - (one.first[at] + steps) - zero.first[at]
        possible = (rest >= 0) & (rest < zero.width)
        tables = np.cumsum(weights[1][0] * np.where(possible, weights[0][0][np.where(possible, rest, 0)], 0.0), axis=1)
        found = (tables <= (marks * tables[:, -1])[:, None]).sum(axis=1)
        return np.asarray(one.first[at] + np.minimum(found, one.width - 1))

    def distribution_of_row(self, row: int, above: int) -> Windowed:
        """Return the distribution of the count of level 1 in one row, for one n_1: P(k) ~ r(k) sum_m r'(m - k) e^mu."""
        at = np.array([above - self.above.first])
        weights, _ = self._weights(at)
        own, other = self._rows[row], self._rows[1 - row]
        sums = np.convolve(self._mu, weights[1 - row][0][::-1])  # at m - k', counted from the first m and the last k'
        first = self.below.first - int(other.first[at[0]]) - (other.width - 1)
        counts = int(own.first[at[0]]) + np.arange(own.width)
        possible = (counts >= first) & (counts < first + len(sums))
        distribution = weights[row][0] * np.where(possible, sums[np.where(possible, counts - first, 0)], 0.0)
        return Windowed(int(own.first[at[0]]), np.asarray(distribution / distribution.sum()))


def _kinks(seen: Sequence[NoisyRow], totals: Counts) -> tuple[Counts, Counts]:
    """Return for each total the least and the largest k at which the noise has its peak, clipped to what can be."""
    kinks = [np.clip(each.values[1], 0, totals) for each in seen]
    kinks += [np.clip(totals - each.values[0], 0, totals) for each in seen]
    return np.min(kinks, axis=0), np.max(kinks, axis=0)


def _cell(alpha: Floats, seen: Sequence[NoisyRow], level: int, first: int, last: int) -> _Cell:
    counts = np.arange(first, last + 1)
    both = np.broadcast_to(counts, (2, len(counts)))
    kernel = np.asarray(sum(each.log_kernel(both)[level] for each in seen))
    start = max(0, first)
    prior = log_prior_windows(alpha[level : level + 1], np.array([start]), last - start + 1)[0]
    return _Cell(first, kernel, np.concatenate([np.zeros(start - first), prior]))


def _series(start: Floats, log_ratio: Floats, is_open: NDArray[np.bool_]) -> Floats:
    inside = np.minimum(log_ratio, -1e-12)
    total = start + inside - np.log(-np.expm1(inside))
    return np.where(is_open, np.where(log_ratio < 0, total, np.inf), -np.inf)
