"""Detect a prior that outweighs what was measured: shares under the declared prior against those under the default one.

The rows j of a variable have the declared parameters a, and b where no prior is declared. Draws of the true counts k
under a become draws under b, all other priors kept, by the ratio of Dirichlet-multinomial probabilities

    w ~ prod_j B(b + k_j) B(a) / (B(b) B(a + k_j)).

The share of a level x is sum_j (N_j / n) theta_j(x), with N_j the records of row j and theta_j ~ Dirichlet(a + k_j), or
Dirichlet(b + k_j). The reader is warned of the variable whose 90 % interval under a misses most of what b would say. No
warning proves nothing: noise may hide the conflict. It needs no more than draws, so any noise, choice or draw will do.

Features of a class have 1 for each level where no prior is declared. The chance of what was released about m features
of a class of t records, if it says little about t, is about prod_i pi(theta_i) / t, pi the prior density of their
shares. Where noise hides t, a density that is too low where the shares lie makes the class look smaller: the prior
does, not the noise, since on average over the prior the posterior is right. In the same way as above the class is
therefore weighed under (1/2, 1, 2, 4) for each level of all features together, each as likely beforehand.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import PriorOutweighsWarning
from discreet.inference import SHOWN_LEVEL
from discreet.mathematics.distributions import log_dirichlet_rows, tails
from discreet.mechanism import event_name, probability_name

if TYPE_CHECKING:
    from discreet.networks._posterior import NetworkPosterior

MOST_OUTSIDE = 0.3
"""How much of what would be said without a declared prior may lie outside of a 90 % interval; it should be 0.1."""

FEATURE_PARAMETERS = (0.5, 1.0, 2.0, 4.0)
"""For each level of all features of a class, under which the class is weighed."""
LEAST_PULL = 0.05
"""How far the share of a class may be pulled, as a part of itself, before the reader is warned."""


def outweighed_variable(posterior: "NetworkPosterior") -> tuple[Warning, ...]:
    """Return a warning about the level of a variable whose prior outweighs the data most, if any does."""
    network = posterior.model
    if network.is_prior_open or posterior.own_records or len(posterior.solutions) > 1:
        return ()
    default = network.under_strengths({})
    worst, words = MOST_OUTSIDE, ""
    for variable, declared, usual in zip(network.variables, network.prior, default.prior, strict=True):
        if declared == usual:
            continue
        shapes, generator = posterior.standard_shapes[variable.name], np.random.default_rng(posterior.seed)
        lines = _compared(shapes, np.array(declared), np.array(usual), generator)
        for known, (outside, mean, low, high, instead) in zip(variable.levels, lines, strict=True):
            if outside > worst:
                share, records = probability_name(event_name(variable.name, known)), sum(declared) * shapes.shape[1]
                worst = outside
                words = (
                    f"The prior of {variable.name!r} ({records:.3g} records in all) outweighs the data: {share} is "
                    f"{mean:.3f}, 90 % interval {low:.3f} to {high:.3f}, and would be about {instead:.3f} had no prior "
                    "been declared for it. Read the release with prior='none', or give a weaker prior, such as "
                    "EquivalentSize(2)."
                )
    return (PriorOutweighsWarning(words),) if words else ()


def pulled_class(posterior: "NetworkPosterior") -> tuple[Warning, ...]:
    """Return a warning about the class that the default prior of its features pulls most, if it pulls any."""
    network, grid = posterior.model, np.array(FEATURE_PARAMETERS)
    if not network.is_prior_open or network.target is None or len(network.variables) == 2 or network.strength_grids:
        return ()
    if posterior.own_records or len(posterior.solutions) > 1:
        return ()
    (column, *features), logs = network.variables, 0.0
    priors = dict(zip([v.name for v in network.variables], posterior.solutions[0].model.prior, strict=True))
    for feature in features:
        own = np.array(priors[feature.name])
        counts = np.maximum(0, np.rint(posterior.standard_shapes[feature.name] - own))
        chances = [_log_chances(counts, np.full(len(own), each)) - _log_chances(counts, own) for each in grid]
        logs = logs + np.array(chances).sum(axis=-1)  # (grid, draws)
    weights = np.exp(logs - np.max(logs)).sum(axis=0)
    weights /= weights.sum()
    shares = posterior.predictive_tables[column.name][:, 0]
    learnt = weights @ shares
    errors = np.sqrt(np.square(weights[:, None] * (shares - learnt)).sum(axis=0))
    shown = shares.mean(axis=0)
    off = np.where(np.abs(shown - learnt) > 3 * errors, np.abs(shown / learnt - 1), 0.0)
    worst = int(off.argmax())
    if off[worst] < LEAST_PULL:
        return ()
    share = probability_name(event_name(column.name, column.levels[worst]))
    return (
        PriorOutweighsWarning(
            f"{share} is {shown[worst]:.3f}, and would be about {learnt[worst]:.3f} had the strength of the features' "
            "prior been learnt: noise hides how many records a class has, so the prior of its features, 1 for each "
            "level where none is declared, says so too. Read the release with prior=2 beside it, and predict with the "
            "prior that you believe."
        ),
    )


def _compared(
    shapes: Floats, declared: Floats, usual: Floats, generator: np.random.Generator
) -> Iterator[tuple[float, float, float, float, float]]:
    """Yield for each level how much lies outside, its mean and interval under one prior, and its mean under the other.

    `shapes` are drawn parameters (draws, rows, levels), prior and counts together.
    """
    counts = np.maximum(0, np.rint(shapes - declared)).astype(np.int64)
    shares = counts.sum(axis=-1, keepdims=True) / counts[0].sum()
    under, instead = (
        (shares * np.exp(log_dirichlet_rows(prior + counts, generator))).sum(axis=1) for prior in (declared, usual)
    )
    logs = (_log_chances(counts, usual) - _log_chances(counts, declared)).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    lows, highs = np.quantile(under, tails(SHOWN_LEVEL), axis=0)
    outside = weights @ ((instead < lows) | (instead > highs))
    columns = (outside, under.mean(axis=0), lows, highs, weights @ instead)
    yield from zip(*(column.tolist() for column in columns), strict=True)


def _log_chances(counts: Counts, prior: Floats) -> Floats:
    """Return log B(prior + k) / B(prior) of every row."""
    totals = gammaln(prior.sum()) - gammaln(prior.sum() + counts.sum(axis=-1))
    return np.asarray(totals + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1))
