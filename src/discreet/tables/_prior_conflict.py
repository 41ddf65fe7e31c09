"""Detect prior-data conflict: the joint posterior mean of an event against its groupwise posterior.

    c = |joint posterior mean - groupwise posterior mean| / groupwise posterior sd

If c exceeds 2, the reader is warned. The absence of a warning proves nothing: a prior that treats cells alike pulls
each of them a little, and a sum of many cells by more than its noise. Groupwise inference is the cure.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import PriorOutweighsWarning
from discreet.inference import Problem
from discreet.mathematics.distributions import BetaMixture
from discreet.mechanism import event_name
from discreet.tables._group_distributions import MixedGroups

if TYPE_CHECKING:
    from discreet.tables._joint_posterior import TablePosterior

_MOST = 2.0  # groupwise standard deviations
_SUSPECT = 1.0  # standard deviations beyond which a level is examined closely


def outweighed(name: str, mean: float, own: BetaMixture, records: float) -> PriorOutweighsWarning | None:
    """Return a warning if the mean of a joint posterior is far from an event's own sum; `records` weigh the prior."""
    if abs(mean - own.mean) <= _MOST * own.sd:
        return None
    return PriorOutweighsWarning(
        f"Read together with all cells, P({name}) is {mean:.3f}; its own noisy sum says {own.mean:.3f} +- "
        f"{own.sd:.3f}. The prior ({records:.3g} records in all) outweighs the data here. Read the release with "
        "prior='none', so that posterior.probability answers from each event's own sum, or give another prior."
    )


def watch_share(posterior: "TablePosterior", name: str, indices: Counts, calls: int = 4) -> None:
    """Warn if what all cells read together say about an event is far from its own noisy sum.

    The question was asked `calls` levels up the stack.
    """
    if (own := _watched(posterior)) is not None and 0 < len(indices) < len(posterior.model.cells):
        mean = float(posterior.joint_means[indices].sum())
        _tell(outweighed(name, mean, own.share(indices), float(posterior.mean_prior.sum())), calls)


def watch_rates(posterior: "TablePosterior", rates: Mapping[str, tuple[Counts, Counts]], calls: int = 4) -> None:
    """Warn about the rate that is farthest from what its own noisy sums say; each is one group's share of two.

    The question was asked `calls` levels up the stack.
    """
    if (own := _watched(posterior)) is None:
        return
    found = []
    for name, (one, two) in rates.items():
        distribution, mean = own.between(one, two), posterior.joint.between(one, two).mean
        found.append((abs(mean - distribution.mean) / distribution.sd, name, mean, distribution))
    _, name, mean, distribution = max(found, key=lambda each: each[0])
    _tell(outweighed(name, mean, distribution, float(posterior.mean_prior.sum())), calls)


def _watched(posterior: "TablePosterior") -> MixedGroups | None:
    """Return the groupwise distributions if answers are from the joint posterior; None if they are groupwise.

    A reader's own records are no mere prior: where they are read as well, nobody is warned of them.
    """
    is_joint = posterior.distributions is posterior.joint and not posterior.is_uniform_pair
    return posterior.groupwise_distributions if is_joint and not posterior.own_records else None


def _tell(doubt: Warning | None, calls: int = 4) -> None:
    """Warn whoever asked a question: through the function above and a method of the posterior."""
    if doubt is not None:
        warnings.warn(doubt, stacklevel=calls)


def outweighed_level(posterior: "TablePosterior") -> tuple[Warning, ...]:
    """Return a warning about the level of a column that the prior outweighs most, if it outweighs any."""
    if posterior.groupwise_distributions is None or not (noisy := _noisy_cells(posterior)):
        return ()
    values, variances = noisy
    suspects = []
    for name, indices in _levels(posterior):
        mean, size = float(posterior.joint_means[indices].sum()), posterior.size
        count = float(np.clip(values[indices].sum(), 0, size))
        spread = variances[indices].sum() * (1 - len(indices) / len(values)) + count * (1 - count / size) + 1
        suspects.append((abs(size * mean - count) / np.sqrt(spread), name, mean, indices))
    score, name, mean, indices = max(suspects, key=lambda each: each[0])
    if score < _SUSPECT:
        return ()
    found = outweighed(name, mean, posterior.groupwise_distributions.share(indices), float(posterior.mean_prior.sum()))
    return () if found is None else (found,)


def _noisy_cells(posterior: "TablePosterior") -> tuple[Counts, Floats] | None:
    """Return the noisy counts of all cells and the variances of their noise, if they were measured."""
    for measurement in Problem.of(posterior.releases).measurements:
        indices = measurement.of.single_cells
        if indices is not None and np.array_equal(indices, np.arange(len(posterior.model.cells))):
            return measurement.values, measurement.noise.variance
    return None


def _levels(posterior: "TablePosterior") -> Iterator[tuple[str, Counts]]:
    """Yield every level of every column with the indices of its cells."""
    columns = posterior.model.columns
    codes = np.unravel_index(np.arange(len(posterior.model.cells)), [len(column.levels) for column in columns])
    for column, own in zip(columns, codes, strict=True):
        order, starts = np.argsort(own, kind="stable"), np.searchsorted(np.sort(own), np.arange(len(column.levels)))
        for level, indices in zip(column.levels, np.split(order, starts[1:]), strict=True):
            yield event_name(column.name, level), indices
