"""Random bits, and exact samplers: each draws from precisely the distribution that its docstring states.

All samplers consume uniform 64-bit words from one `RandomBits` object and use integers only, so no floating-point
rounding ever enters what is published. `SystemBits` are the operating system's secure bits, the only ones that
`publish` accepts; `SeededBits` repeat, and serve simulation. The samplers do not know which of the two they get.

The running time of a sampler depends on its parameters and on the noise that it draws, not on the secret to which noise
is added; but whoever can time a draw learns something about the noise, and with the output about the secret.
Bernoulli(exp(-x)), the two-sided geometric and the discrete Gaussian follow Canonne, Kamath and Steinke, 2020.
"""

import os
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._core.errors import DeclarationError

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Integers = NDArray[Any]  # int64 where the numbers fit, Python integers (dtype object) where they do not


class RandomBits(Protocol):
    """A stream of uniform random bits."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""


class SystemBits:
    """The operating system's secure random bits. Nothing is kept between calls, so a forked process repeats nothing."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def __repr__(self) -> str:
        return "SystemBits()"


def uniform_below(bound: int, count: int, bits: RandomBits) -> Integers:
    """Draw integers uniform on {0, ..., bound - 1}: cut words to the needed length, redraw those that are too large."""
    if bound == 1:
        return np.zeros(count, dtype=np.int64)
    length = (bound - 1).bit_length()
    drawn = _masked(length, count, bits)
    late = np.flatnonzero(drawn >= bound)
    while late.size:
        drawn[late] = _masked(length, late.size, bits)
        late = late[drawn[late] >= bound]
    return drawn


def _masked(length: int, count: int, bits: RandomBits) -> Integers:
    if length < 63:
        return (bits.words(count) & np.uint64((1 << length) - 1)).astype(np.int64)
    width = -(-length // 64)
    rows = bits.words(count * width).reshape(count, width)
    numbers = [int.from_bytes(row.tobytes(), "little") & ((1 << length) - 1) for row in rows]
    return np.array(numbers, dtype=object)


def bernoulli_exponential(rate: Fraction, steps: Integers, bits: RandomBits) -> BoolArray:
    """Draw independent events of probability exp(-x), x = rate * steps >= 0, one for each number of steps.

    exp(-x) = exp(-1)^floor(x) exp(-fraction): the first factor is a run of floor(x) successes of probability 1/e.
    """
    fits = int(np.max(steps, initial=0)) * rate.numerator < 2**62 and rate.denominator < 2**62
    numerators: Integers = (steps if fits else steps.astype(object)) * rate.numerator
    wholes, rest = numerators // rate.denominator, numerators % rate.denominator
    happens = _bernoulli_exponential_below_one(rest, rate.denominator, bits)
    open_ = np.flatnonzero(happens & (wholes > 0))
    happens[open_] = _runs_of_one_over_e(open_.size, bits) >= wholes[open_]
    return happens


def _bernoulli_exponential_below_one(numerators: Integers, denominator: int, bits: RandomBits) -> BoolArray:
    """Return events of probability exp(-g), g in [0, 1]: the first k where Bernoulli(g/k) fails is odd.

    P(first failure after k) = g^k / k!, and the alternating sum of these is exp(-g).
    """
    odd = np.zeros(len(numerators), dtype=np.bool_)
    alive = np.arange(len(numerators))
    step = 0
    while alive.size:
        step += 1
        drawn = uniform_below(denominator * step, alive.size, bits)
        goes_on = np.asarray(drawn < numerators[alive], dtype=np.bool_)
        odd[alive[~goes_on]] = step % 2 == 1
        alive = alive[goes_on]
    return odd


def _runs_of_one_over_e(count: int, bits: RandomBits) -> IntArray:
    """Return numbers v >= 0 with P(v) = (1 - 1/e) e^-v: successes of probability 1/e before the first failure."""
    runs = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        ones = np.ones(alive.size, dtype=np.int64)
        alive = alive[_bernoulli_exponential_below_one(ones, 1, bits)]
        runs[alive] += 1
    return runs


def geometric(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw g >= 0 with P(g) = (1 - e^-rate) e^(-rate g).

    With rate = s/t: x = u + t v has P(x) ~ e^(-x/t) when u is uniform below t and kept with probability e^(-u/t), and
    v is a run of 1/e successes; floor(x/s) then has P ~ e^(-s/t) per step.
    """
    if rate < Fraction(1, 2**30):
        raise DeclarationError("A noise rate below 2^-30 would leave no information. Raise epsilon.")
    step, spread = rate.numerator, rate.denominator
    remainders = _kept_remainders(spread, count, bits)
    runs: Integers = _runs_of_one_over_e(count, bits)
    if spread >= 2**50:  # u + t v may leave 64 bits: go on with Python's integers
        remainders, runs = remainders.astype(object), runs.astype(object)
    return np.asarray((remainders + runs * spread) // step, dtype=np.int64)


def _kept_remainders(spread: int, count: int, bits: RandomBits) -> Integers:
    """Return u in {0, ..., spread - 1} with P(u) ~ e^(-u / spread)."""
    kept: list[Integers] = []
    missing = count
    while missing:
        drawn = uniform_below(spread, missing + missing // 2 + 8, bits)  # about 63 % are kept
        drawn = drawn[_bernoulli_exponential_below_one(drawn, spread, bits)][:missing]
        kept.append(drawn)
        missing -= len(drawn)
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def discrete_laplace(
    rate: Fraction, count: int, bits: RandomBits, draw: Callable[[Fraction, int, RandomBits], IntArray] = geometric
) -> IntArray:
    """Draw integers u with P(u) = tanh(rate/2) e^(-rate |u|): a geometric with a fair sign, -0 redrawn.

    `draw` is the sampler of the geometric that suits the rate.
    """
    drawn = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        sizes = draw(rate, late.size, bits)
        negative = bits.words(late.size) >> np.uint64(63) == 1
        drawn[late] = np.where(negative, -sizes, sizes)
        late = late[negative & (sizes == 0)]
    return drawn


class SeededBits:
    """Repeatable bits for simulation. Never private: anyone who knows the seed can subtract the noise.

    >>> bool((SeededBits(1).words(4) == SeededBits(1).words(4)).all())
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._generator = np.random.Philox(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def __repr__(self) -> str:
        return f"SeededBits({self.seed})"


def discrete_gaussian(variance: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-u^2 / (2 variance)).

    Discrete Laplace numbers of rate 1/t, t = floor(sigma) + 1, are kept with probability e^(-x),
    x = (|u| - variance/t)^2 / (2 variance) = (|u| t b - a)^2 / (2 a b t^2) for a variance of a/b.
    """
    a, b = variance.numerator, variance.denominator
    t = isqrt(a // b) + 1
    rate = Fraction(1, 2 * a * b * t * t)
    kept, missing = [np.zeros(0, dtype=np.int64)], count
    while missing:
        drawn = discrete_laplace(Fraction(1, t), missing + missing // 2 + 8, bits)
        sizes: Integers = np.abs(drawn)
        fits = (int(sizes.max()) * t * b + a) ** 2 < 2**62
        misses = (sizes if fits else sizes.astype(object)) * (t * b) - a
        drawn = drawn[bernoulli_exponential(rate, misses * misses, bits)][:missing]
        kept.append(drawn)
        missing -= len(drawn)
    return np.concatenate(kept)


LEAST_PLAIN_RATE, LARGEST_PLAIN_VARIANCE = Fraction(1, 2**21), Fraction(10**16)
"""Noise of a smaller rate, or of a larger variance, is drawn in two parts."""


def any_geometric(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw g >= 0 with P(g) = (1 - e^-rate) e^(-rate g), by the sampler that suits the rate."""
    return (geometric if rate >= LEAST_PLAIN_RATE else wide_geometric)(rate, count, bits)


def any_laplace(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-rate |u|), by the sampler that suits the rate."""
    return discrete_laplace(rate, count, bits, any_geometric)


def any_gaussian(variance: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-u^2 / (2 variance)), by the sampler that suits the variance."""
    return (discrete_gaussian if variance <= LARGEST_PLAIN_VARIANCE else wide_gaussian)(variance, count, bits)


def wide_geometric(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw g >= 0 with P(g) = (1 - e^-rate) e^(-rate g), also where the rate is tiny.

    g = K a + b with K a power of two: a is geometric with rate K rate, and b in {0, ..., K - 1} has P(b) ~ e^(-rate b):
    a uniform number, kept with that probability. K rate < 1, so more than 63 % are kept.
    """
    width = 1 << max(0, (rate.denominator // rate.numerator).bit_length() - 1)
    high = geometric(rate * width, count, bits)
    low = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        drawn = uniform_below(width, late.size, bits)
        kept = bernoulli_exponential(rate, drawn, bits)
        low[late[kept]] = drawn[kept]
        late = late[~kept]
    return high * width + low


def wide_laplace(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-rate |u|), also where the rate is tiny."""
    return discrete_laplace(rate, count, bits, wide_geometric)


def wide_gaussian(variance: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-u^2 / (2 variance)), also where the variance is huge.

    Discrete Laplace numbers of rate 1/t, t = floor(sigma) + 1, are kept with probability e^(-x),
    x = (|u| - variance/t)^2 / (2 variance) = (|u| t b - a)^2 / (2 a b t^2) for a variance of a/b.
    """
    a, b = variance.numerator, variance.denominator
    t = isqrt(a // b) + 1
    rate = Fraction(1, 2 * a * b * t * t)
    drawn = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        tried = wide_laplace(Fraction(1, t), late.size, bits)
        misses: Integers = np.abs(tried).astype(object) * (t * b) - a
        kept = bernoulli_exponential(rate, misses * misses, bits)
        drawn[late[kept]] = tried[kept]
        late = late[~kept]
    return drawn
