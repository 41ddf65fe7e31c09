"""Exact randomness: secure bits, and samplers that draw from precisely the law that they state."""

from discreet.randomness.finite import FiniteLaw, bernoulli, composition, subset
from discreet.randomness.samplers import (
    BoolArray,
    IntArray,
    Integers,
    RandomBits,
    SystemBits,
    bernoulli_exponential,
    discrete_laplace,
    geometric,
    uniform_below,
)
from discreet.randomness.seeded import SeededBits
from discreet.randomness.wide import (
    LARGEST_PLAIN_VARIANCE,
    LEAST_PLAIN_RATE,
    any_gaussian,
    any_geometric,
    any_laplace,
    discrete_gaussian,
    wide_gaussian,
    wide_geometric,
    wide_laplace,
)

__all__ = [
    "LARGEST_PLAIN_VARIANCE",
    "LEAST_PLAIN_RATE",
    "BoolArray",
    "FiniteLaw",
    "IntArray",
    "Integers",
    "RandomBits",
    "SeededBits",
    "SystemBits",
    "any_gaussian",
    "any_geometric",
    "any_laplace",
    "bernoulli",
    "bernoulli_exponential",
    "composition",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "subset",
    "uniform_below",
    "wide_gaussian",
    "wide_geometric",
    "wide_laplace",
]
