"""The evidence of a small graph: the likelihood is introduced gradually, from the prior to the posterior.

Populations of chains begin with draws from the prior. The power of the likelihood goes from 0 to 1 in stages, each as
long as half the chains would still count; then chains are resampled by their weights and moved (tempered sequential
Monte Carlo). The product of the mean weights of all stages is an unbiased estimate of the evidence. Eight populations
share nothing but step, metric and stages, so their spread gives the error.
"""

from math import inf, nan

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference._count_chains import CountChains
from discreet.inference._sampled_tables import TablesTarget

ISLANDS, EACH = 8, 64
"""Populations, and chains of each."""
MOST_COORDINATES = 100
"""The evidence of larger graphs is not known: too few chains would be left of too many stages."""

_MOST_STAGES, _MOVES = 80, 3
_KEPT = 0.5  # share of the chains that count after a stage
_WORST_ERROR = 1.0  # error of the log evidence above which it counts as unknown


def tempered_evidence(target: TablesTarget, seed: int) -> tuple[float, float]:
    """Return the log evidence and its standard error; NaN where they are not known."""
    coordinates = target.coordinates
    if coordinates.length > MOST_COORDINATES:
        return nan, nan
    generator = np.random.default_rng([seed, 1])
    q = generator.standard_normal((coordinates.length, ISLANDS * EACH))
    chains = CountChains(coordinates, target.fit, target.maximal, q, generator, power=0.0)
    logs = np.zeros(ISLANDS)
    extra = chains.weights + 0.5 * np.einsum("ij,ij->j", q, q)  # normal numbers, weighted, are the prior
    for _ in range(_MOST_STAGES):
        following = _next_power(chains, extra)
        weights = ((following - chains.power) * chains.fits + extra).reshape(ISLANDS, EACH)
        logs += logsumexp(weights, axis=1) - np.log(EACH)
        if following == 1 or not np.isfinite(logs).any():
            break
        chains.pick(np.concatenate([n * EACH + _picked(own, generator) for n, own in enumerate(weights)]))
        chains.power, extra = following, np.zeros(ISLANDS * EACH)
        chains.learn_metric(rescaled=True)
        for _ in range(_MOVES):
            chains.move(1.0, gain=0.5)
            chains.nudge()
    else:
        return nan, nan
    total = float(logsumexp(logs) - np.log(ISLANDS))
    error = float(np.exp(logs - total).std(ddof=1) / np.sqrt(ISLANDS))
    return (total, error) if error <= _WORST_ERROR and total > -inf else (nan, nan)


def _next_power(chains: CountChains, extra: Floats) -> float:
    """Return the power at which half the chains still count; 1 if more do there."""

    def share(power: float) -> float:
        logs = (power - chains.power) * chains.fits + extra
        return float(np.exp(2 * logsumexp(logs) - logsumexp(2 * logs)) / len(logs))

    low, high = chains.power, 1.0
    wanted = min(_KEPT, 0.9 * share(low))
    if share(high) >= wanted:
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) >= wanted else (low, middle)
    return low if low > chains.power else high


def _picked(logs: Floats, generator: np.random.Generator) -> Counts:
    """Return which chains go on, about as often as their weights say (systematic resampling)."""
    if not np.isfinite(logs).any():
        return np.arange(len(logs))
    edges = np.cumsum(np.exp(logs - logsumexp(logs)))
    marks = (np.arange(len(logs)) + generator.random()) / len(logs) * edges[-1]
    return np.asarray(np.minimum(np.searchsorted(edges, marks), len(logs) - 1), dtype=np.int64)
