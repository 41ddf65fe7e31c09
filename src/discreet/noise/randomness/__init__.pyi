from discreet.noise.randomness._finite import FiniteDistribution, bernoulli, composition, subset
from discreet.noise.randomness._lazy import LazyUniforms as LazyUniforms
from discreet.noise.randomness._lazy import decided as decided
from discreet.noise.randomness._lazy import normals as normals
from discreet.noise.randomness._lazy import rounded as rounded
from discreet.noise.randomness._samplers import (
    LARGEST_PLAIN_VARIANCE,
    LEAST_PLAIN_RATE,
    BoolArray,
    IntArray,
    Integers,
    RandomBits,
    SeededBits,
    SystemBits,
    any_gaussian,
    any_geometric,
    any_laplace,
    bernoulli_exponential,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    uniform_below,
    wide_gaussian,
    wide_geometric,
    wide_laplace,
)

__all__ = [
    "LARGEST_PLAIN_VARIANCE",
    "LEAST_PLAIN_RATE",
    "BoolArray",
    "FiniteDistribution",
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
