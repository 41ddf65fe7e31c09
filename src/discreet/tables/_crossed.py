"""The crossed prior of a table: rates of cells around products of free scales of levels, or around one flat rate.

Of n records in m cells with columns 1, ..., d,

    k_c ~ Poisson(lambda_c), given that sum k = n;          lambda_c ~ Exp(mean b_c S_l) for the cell's class l ~ w,
    b_c = (n / m) e_1[level of column 1] ... e_d[level of column d],  S_l = 2^-6, 2^-4, ..., 2^8,    crossed classes,
    b_c = n / m,                                                      S_l = 2^-10, 2^-8, ..., 2^8,   flat classes,
    e_a[i] ~ InverseGamma(.5, .02),                         w ~ Dirichlet(1/2, ..., 1/2),

so theta = lambda / sum lambda, and k given theta is multinomial. Free scales shrink a level's cells towards that level,
so the bias of a margin does not add up over its cells; how many cells lie far above or below, or are all but empty, is
learnt with w. A table of one column has the flat classes alone.

Chains draw from the posterior. With mu = b S and the odds rho = mu / (1 + mu), a count of a class is geometric, so

    l_c | k_c          with weights w_l rho^k / (1 + mu);
    l and k            proposed together for pairs of cells whose sum stays (`_pair_moves`), classes from w;
    lambda_c | k, l    rho Gamma(k_c + 1);
    e_a[i] | lambda, l InverseGamma(.5 + N, .02 + sum lambda_c e_a[i] / (b_c S_l)) over the N crossed cells of a level;
    w | l              Dirichlet(1/2 + how many cells are of each class).

Each step leaves the posterior as it is, and sum k = n holds after every one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.tables._pair_moves import CellNoise

CROSSED_SCALES = 2.0 ** np.arange(-6, 9, 2)
FLAT_SCALES = 2.0 ** np.arange(-10, 9, 2)
SHAPE, SCALE = 0.5, 0.02
"""Of the inverse gamma prior of a level's scale: all but scale-free, so that rare levels are not drawn to 1/K."""
WEIGHT = 0.5
"""Of each class in the Dirichlet prior of their shares."""
_MATCHINGS = 2  # rounds of moves of pairs in a sweep
_LEAST, _MOST = 1e-30, 1e30  # a level's scale, which its prior leaves open over many powers of ten


@dataclass(frozen=True)
class CrossedPrior:
    """The prior of a table of this shape, scaled for `size` records."""

    shape: tuple[int, ...]
    size: int

    @cached_property
    def cells(self) -> int:
        """Return how many cells there are."""
        return int(np.prod(self.shape))

    @property
    def flat(self) -> float:
        """Return the mean count of a cell."""
        return self.size / self.cells

    @cached_property
    def crossed(self) -> int:
        """Return how many crossed classes there are, which come first: none where nothing is crossed."""
        return len(CROSSED_SCALES) if len(self.shape) > 1 else 0

    @cached_property
    def log_scales(self) -> Floats:
        """Return log S of every class."""
        return np.asarray(np.log(np.concatenate([CROSSED_SCALES[: self.crossed], FLAT_SCALES])))

    @cached_property
    def levels(self) -> tuple[Counts, ...]:
        """Return the level of each column in every cell."""
        return tuple(np.asarray(own) for own in np.unravel_index(np.arange(self.cells), self.shape))

    def log_bases(self, effects: Sequence[Floats]) -> Floats:
        """Return the log of n / m times the product of the levels' scales, for every chain and cell."""
        found = np.full((len(effects[0]), self.cells), np.log(self.flat))
        for own, levels in zip(effects, self.levels, strict=True):
            found += np.log(own)[:, levels]
        return found

    def log_means(self, log_bases: Floats) -> Floats:
        """Return log mu of every class (chains, cells, classes)."""
        found = np.empty((*log_bases.shape, len(self.log_scales)))
        found[..., : self.crossed] = log_bases[..., None] + self.log_scales[: self.crossed]
        found[..., self.crossed :] = np.log(self.flat) + self.log_scales[self.crossed :]
        return found

    def rates(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rates of all cells (draws, cells) from the prior, without the condition on the records' number."""
        effects = [SCALE / generator.gamma(SHAPE, size=(count, length)) for length in self.shape]
        shares = generator.dirichlet(np.full(len(self.log_scales), WEIGHT), size=count)
        classes = np.stack([generator.choice(len(own), size=self.cells, p=own) for own in shares])
        logs = np.take_along_axis(self.log_means(self.log_bases(effects)), classes[..., None], axis=2)[..., 0]
        return np.asarray(np.exp(logs) * generator.standard_exponential(logs.shape))


@dataclass(eq=False)
class CrossedChains:
    """Chains of the posterior, side by side, from counts (chains, cells) that add up to the records."""

    prior: CrossedPrior
    noise: CellNoise
    counts: Counts
    generator: np.random.Generator
    log_odds: Floats = field(init=False)
    """Log rho of every cell: its rate is rho Gamma(k + 1)."""

    def __post_init__(self) -> None:
        """Begin with the scales that the counts of levels have, spread, and even shares of the classes."""
        chains, prior = len(self.counts), self.prior
        tables = self.counts.reshape(chains, *prior.shape)
        self._effects = []
        for axis, length in enumerate(prior.shape):
            sums = tables.sum(axis=tuple(1 + other for other in range(len(prior.shape)) if other != axis)) + 0.3
            spread = np.exp(0.3 * self.generator.standard_normal((chains, length)))
            self._effects.append(sums / sums.mean(axis=1, keepdims=True) * spread)
        classes = len(prior.log_scales)
        self._log_shares = np.full((chains, classes), -np.log(classes))

    def sweep(self) -> None:
        """Draw everything once, given all else."""
        log_means = self.prior.log_means(self.prior.log_bases(self._effects))
        classes = self._drawn_classes(log_means)
        for _ in range(_MATCHINGS):
            self._move_pairs(classes, log_means)
        own = np.take_along_axis(log_means, classes[..., None], axis=2)[..., 0]
        self.log_odds = -np.logaddexp(0.0, -own)
        if self.prior.crossed:
            self._draw_effects(own, classes < self.prior.crossed)
        self._draw_shares(classes)

    def rates(self) -> Floats:
        """Draw the rates of all cells."""
        return np.asarray(self.generator.standard_gamma(self.counts + 1.0) * np.exp(self.log_odds))

    def _drawn_classes(self, log_means: Floats) -> Counts:
        """Draw the class of each cell given its count."""
        counts = self.counts[..., None]
        crossed = self.prior.crossed
        sums = np.empty_like(log_means)  # log (1 + mu), which of flat classes is the same everywhere
        sums[..., :crossed] = np.logaddexp(0.0, log_means[..., :crossed])
        sums[..., crossed:] = np.logaddexp(0.0, log_means[0, 0, crossed:])
        weights = counts * log_means - (counts + 1.0) * sums + self._log_shares[:, None]
        weights -= weights.max(axis=2, keepdims=True)
        return _chosen(np.exp(weights), self.generator.random(self.counts.shape))

    def _move_pairs(self, classes: Counts, log_means: Floats) -> None:
        """Propose new counts for all pairs; for half also a class of the first cell, for a quarter classes of both."""
        chains, cells = self.counts.shape
        order = self.generator.permuted(np.broadcast_to(np.arange(cells), (chains, cells)), axis=1)
        places = order[:, : cells // 2], order[:, cells // 2 : 2 * (cells // 2)]
        one, two = (np.take_along_axis(self.counts, own, axis=1) for own in places)
        pairs, rows = self.noise.pairs(*places, one + two), np.arange(chains)[:, None]
        lot = self.generator.random(one.shape)
        now = [np.take_along_axis(classes, own, axis=1) for own in places]
        new = [
            np.where(kept, own, _chosen(np.exp(self._log_shares)[:, None], self.generator.random(one.shape)))
            for kept, own in zip((lot > 0.75, lot > 0.25), now, strict=True)
        ]
        (odds_now, rest_now), (odds_new, rest_new) = (
            self._geometric([log_means[rows, place, own] for place, own in zip(places, each, strict=True)], one + two)
            for each in (now, new)
        )
        proposed, weights = pairs.proposed(odds_new, self.generator)
        gain = weights + rest_new - pairs.log_weights(odds_now, one) - rest_now
        with np.errstate(divide="ignore"):
            taken = np.log(self.generator.random(one.shape)) < gain
        first = np.where(taken, proposed, one)
        for place, count, before, after in zip(places, (first, one + two - first), now, new, strict=True):
            np.put_along_axis(self.counts, place, count, axis=1)
            np.put_along_axis(classes, place, np.where(taken, after, before), axis=1)

    @staticmethod
    def _geometric(log_means: Sequence[Floats], sums: Counts) -> tuple[Floats, Floats]:
        """Return log rho_i / rho_j, and log of rho_j^s / ((1 + mu_i) (1 + mu_j)): the rest of a pair's weight."""
        one, two = (np.logaddexp(0.0, -own) for own in log_means)  # - log rho; log (1 + mu) is log mu more
        return np.asarray(two - one), np.asarray(-(sums + 1) * two - one - log_means[0] - log_means[1])

    def _draw_effects(self, log_means: Floats, is_crossed: NDArray[np.bool_]) -> None:
        """Draw the scales of the levels, column after column."""
        prior, chains = self.prior, len(self.counts)
        ratios = np.where(is_crossed, self.rates() * np.exp(-log_means), 0.0)  # lambda / (b S)
        for axis, length in enumerate(prior.shape):
            places = (prior.levels[axis] + length * np.arange(chains)[:, None]).ravel()
            held, sums = (
                np.bincount(places, own.ravel(), chains * length).reshape(chains, length)
                for own in (is_crossed, ratios)
            )
            before = self._effects[axis]
            found = (SCALE + before * sums) / self.generator.standard_gamma(SHAPE + held)
            self._effects[axis] = np.clip(found, _LEAST, _MOST)
            ratios *= (before / self._effects[axis])[:, prior.levels[axis]]

    def _draw_shares(self, classes: Counts) -> None:
        """Draw the shares of the classes."""
        chains, length = self._log_shares.shape
        places = (classes + length * np.arange(chains)[:, None]).ravel()
        held = np.bincount(places, minlength=chains * length).reshape(chains, length)
        drawn = np.maximum(self.generator.standard_gamma(WEIGHT + held), 1e-300)
        self._log_shares = np.log(drawn / drawn.sum(axis=1, keepdims=True))


def _chosen(weights: Floats, uniform: Floats) -> Counts:
    """Return an index along the last axis, in proportion to the weights."""
    running = np.cumsum(weights, axis=-1)
    most = weights.shape[-1] - 1
    return np.asarray(np.minimum((running < (uniform * running[..., -1])[..., None]).sum(axis=-1), most))
