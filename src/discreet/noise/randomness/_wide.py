"""Noise of any width: the discrete Gaussian, and Laplace numbers whose rate is tiny, exactly as all the others.

The discrete Gaussian follows Canonne, Kamath and Steinke, 2020.
"""

from fractions import Fraction
from math import isqrt

import numpy as np

from discreet.noise.randomness._samplers import (
    IntArray,
    Integers,
    RandomBits,
    bernoulli_exponential,
    discrete_laplace,
    geometric,
    uniform_below,
)


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
