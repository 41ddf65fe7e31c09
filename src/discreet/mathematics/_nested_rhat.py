"""Convergence of many short chains from independent starts: nested R-hat.

Many chains of few draws cannot be judged by themselves: R-hat of single chains tends to sqrt(1 + tau / N) however well
they mix. So chains are taken in groups (nested R-hat; Margossian and others, 2024), and the error of a mean is
estimated by how far the chains' own means lie apart, which needs no autocorrelation. Values have axes (quantities,
chains, draws). A group is meant to start at one point, and shows by its mean whether it has forgotten it. Chains that
start anywhere are therefore put in the order of their starts, for each quantity: neighbours make a group. Groups drawn
by lot would all look alike, however many of their chains never move.
Quantities are ranked, and folded at their median, before R-hat is taken (Vehtari and others, 2021).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from discreet._core.arrays import Floats

GROUPS = 8
_PART = 2**22  # values that are ranked at a time


@dataclass(frozen=True)
class Agreement:
    """The worst nested R-hat, the least bulk and tail effective sizes, and the standard error of every mean."""

    r_hat: float
    bulk: float
    tail: float
    errors: Floats


def agreement(values: Floats) -> Agreement:
    """Return how well chains agree about quantities; chains side by side make a group."""
    moving = np.flatnonzero(np.ptp(values, axis=(1, 2)) > 0)
    errors = np.zeros(len(values))
    if not len(moving):
        return Agreement(1.0, float(values[0].size), float(values[0].size), errors)
    errors[moving] = _errors(values[moving])
    each = max(1, _PART // values[0].size)
    parts = [_judged(values[moving[first : first + each]]) for first in range(0, len(moving), each)]
    r_hats, bulks, tails = (np.concatenate(own) for own in zip(*parts, strict=True))
    return Agreement(float(r_hats.max()), float(bulks.min()), float(tails.min()), errors)


def in_order_of_starts(values: Floats, starts: Floats) -> Floats:
    """Return the values with the chains of each quantity in the order of their starts (quantities, chains).

    >>> in_order_of_starts(np.array([[[5.0], [6.0], [7.0]]]), np.array([[0.3, 0.1, 0.2]])).ravel()
    array([6., 7., 5.])
    """
    return np.take_along_axis(values, np.argsort(starts, axis=1, kind="stable")[:, :, None], axis=1)


def _judged(values: Floats) -> tuple[Floats, Floats, Floats]:
    ranked = _normal_scores(values)
    folded = _normal_scores(np.abs(values - np.median(values, axis=(1, 2), keepdims=True)))
    low, high = np.quantile(values, (0.05, 0.95), axis=(1, 2))
    tails = [effective_sizes((values <= end[:, None, None]).astype(float)) for end in (low, high)]
    return np.maximum(nested_r_hat(ranked), nested_r_hat(folded)), effective_sizes(ranked), np.minimum(*tails)


def nested_r_hat(values: Floats, groups: int = GROUPS) -> Floats:
    """Return sqrt(1 + B / W) of each quantity, B the variance of the means of groups of chains, W inside groups.

    >>> nested_r_hat(np.random.default_rng(1).normal(size=(1, 64, 50))).round(2)
    array([1.])
    """
    parts = values.reshape(len(values), groups, -1)
    within = parts.var(axis=2, ddof=1).mean(axis=1)
    between = parts.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(within > 0, np.sqrt(1 + between / within), np.where(between > 0, np.inf, 1.0))


def effective_sizes(values: Floats) -> Floats:
    """Return how many independent draws give as good a mean of each quantity; at most as many as there are."""
    draws = values.shape[1] * values.shape[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = values.var(axis=(1, 2)) / _errors(values) ** 2
    return np.asarray(np.minimum(np.nan_to_num(found, nan=draws, posinf=draws), draws))


def _errors(values: Floats) -> Floats:
    """Return the standard error of each mean, from the spread of the chains' means."""
    return np.asarray(values.mean(axis=2).std(axis=1, ddof=1) / np.sqrt(values.shape[1]))


def mean_ranks(values: Floats) -> Floats:
    """Return the ranks along each row, from 1; equal values share the mean of theirs.

    >>> mean_ranks(np.array([[7.0, 5.0, 7.0, 9.0]]))
    array([[2.5, 1. , 2.5, 4. ]])
    """
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1).ravel()
    begins = np.ones(ordered.size, dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    begins[:: values.shape[1]] = True
    first = np.flatnonzero(begins)
    after = np.append(first[1:], ordered.size)
    shared = np.repeat((first + after + 1) / 2, after - first).reshape(values.shape)
    shared -= values.shape[1] * np.arange(len(values))[:, None]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, shared, axis=1)
    return ranks


def _normal_scores(values: Floats) -> Floats:
    flat = values.reshape(len(values), -1)
    return np.asarray(ndtri((mean_ranks(flat) - 0.375) / (flat.shape[1] + 0.25)).reshape(values.shape))
