"""Do the released tables fit the graph? A posterior predictive check of every table and of pairs without an arrow.

Draw probabilities theta from the posterior, make up as many records from them, and publish these through the same
mechanism: a replicate z' of the release, noise included. With v the variances of z' - E[z | theta] over all replicates,

    D(z, theta) = sum_c (z_c - E[z_c | theta])^2 / v_c,      p = P(D(z', theta) >= D(z, theta))

says how often a study would be as far off as the release is if the graph were right. For two variables that no arrow
joins but that appear in one released table, the effect of both margins is removed first, so that what is left is how
the two go together. These p-values are conservative: theta was fitted to the same numbers, so if the graph is right
they are small less often than they should be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import Check, CostEstimate, Criticism, margins_of
from discreet.mechanism import Measurement, event_name
from discreet.networks._elimination import Tables
from discreet.networks._further_records import expected_counts, further_counts
from discreet.networks._model import Network
from discreet.noise import DRAWN_NUMBER
from discreet.noise.randomness import SeededBits
from discreet.release import Release

_LEAST = 99  # replicates
_CONTRAST = "contrast of"
Numbers = tuple[Floats, Floats, Floats]
"""What was released (numbers), with its replicates and expectations (draws, numbers)."""


@dataclass(frozen=True, eq=False)
class _CheckedTable:
    """The numbers of one table of a release: `indices` has one axis per name, of cells or contrasts."""

    names: tuple[str, ...]
    cells: tuple[bool, ...]
    indices: Counts
    is_whole: bool
    """Whether this is a whole table rather than the part for one level."""


@dataclass(frozen=True, eq=False)
class _Judged:
    """A release with its replicates, split into tables."""

    label: str
    units: tuple[_CheckedTable, ...]
    numbers: Numbers


def criticised(
    model: Network, releases: Sequence[Release], size: int, tables: Tables, seed: int, risk: float
) -> Criticism:
    """Return how well releases fit a graph, using one replicate per draw of its tables."""
    replicates = len(next(iter(tables.values())))
    if replicates < _LEAST:
        raise DeclarationError(f"A check needs at least {_LEAST} replicates; got {replicates}. Nothing was checked.")
    if not isinstance(risk, int | float) or not 0 < risk < 1:
        raise DeclarationError(f"risk must lie between 0 and 1, such as 0.05; got {risk!r}. Nothing was checked.")
    measured = [release for release in releases if isinstance(_evidence(release), tuple)]
    if not measured:
        raise DeclarationError(
            f"{releases[0].label!r} holds no noisy tables, only what was drawn or chosen from a posterior of this "
            "very graph, so it cannot contradict the graph. Nothing was checked. Ask for noisy counts, such as "
            "FamilyHistograms."
        )
    length = sum(release.mechanism.space.length for release in measured)
    work = CostEstimate(
        f"making up {replicates} releases", DRAWN_NUMBER * replicates * length, 6.0 * replicates * length
    )
    if (why := work.rejection) is not None:
        raise DeclarationError(f"{why}. Nothing was checked. Ask for fewer replicates.")
    generator = np.random.default_rng(seed)
    expected = expected_counts(model, tables, size)
    further = further_counts(model, tables, size, generator)
    judged = [_judged(release, model, expected, further, seed + index) for index, release in enumerate(measured)]
    found = [*(check for each in judged for check in _table_checks(each, model)), *_pair_checks(judged, model)]
    shown = tuple(_decided(found, risk, replicates))
    seen = {frozenset(check.about) for check in shown if check.is_pair}
    unseen = tuple(pair for pair in apart(model) if frozenset(pair) not in seen)
    unjudged = tuple(release.label for release in releases if release not in measured)
    labels = tuple(each.label for each in judged)
    return Criticism(labels, size, shown, unseen, unjudged, replicates, risk, releases[0].simulated)


def apart(model: Network) -> list[tuple[str, str]]:
    """Return all pairs of variables that no arrow joins, in the network's order."""
    tied = {frozenset((parent, family[-1])) for family in model.families for parent in family[:-1]}
    names = [variable.name for variable in model.variables]
    return [pair for pair in combinations(names, 2) if frozenset(pair) not in tied]


def _evidence(release: Release) -> object:
    return release.mechanism.evidence(np.array(release.output, dtype=np.int64))


def _judged(release: Release, model: Network, expected: Floats, further: Counts, seed: int) -> _Judged:
    """Publish simulated records through the mechanism of a release; its tables may be margins of the model's."""
    mechanism, own = release.mechanism, release.mechanism.model
    if own.counted != model.counted:
        margins = margins_of(own.tables, model.tables)
        expected, further = expected @ margins.T, further @ margins.T
    evidence = mechanism.evidence(np.array(release.output, dtype=np.int64))
    assert isinstance(evidence, tuple)
    means = np.concatenate([part.of.apply(expected) for part in evidence], axis=-1)
    replicates = mechanism.sample(further, SeededBits(seed)).astype(float)
    return _Judged(release.label, tuple(_units(evidence)), (np.array(release.output, float), replicates, means))


def _units(evidence: Sequence[Measurement]) -> list[_CheckedTable]:
    found, first = [], 0
    for measurement in evidence:
        parts = measurement.of.parts
        if parts is None:
            found.append(_CheckedTable((), (), first + np.arange(measurement.of.length), False))
        for part in parts or ():
            found.append(_CheckedTable(part.names, part.cells, first + part.indices, part.level is None))
        first += measurement.of.length
    return found


def _table_checks(judged: _Judged, model: Network) -> list[Check]:
    """Check every released table; numbers that are not cells are checked together, one family at a time."""
    groups: dict[tuple[str, ...], list[_CheckedTable]] = {}
    for unit in judged.units:
        own = unit.names if all(unit.cells) and unit.is_whole else _home(unit.names, model)
        groups.setdefault(own, []).append(unit)
    found = []
    for names, units in groups.items():
        indices = np.concatenate([unit.indices.ravel() for unit in units])
        words = [word for unit in units for word in _words(unit, model)]
        released, replicates, means = judged.numbers
        numbers = (released[indices], replicates[:, indices], means[:, indices])
        found.append(_check(names or ("all numbers",), judged.label, False, numbers, numbers[0], words))
    return found


def _home(names: tuple[str, ...], model: Network) -> tuple[str, ...]:
    """Return the first maximal family that contains these variables."""
    return next((family for family in model.maximal_families if set(names) <= set(family)), names) if names else names


def _pair_checks(judged: Sequence[_Judged], model: Network) -> list[Check]:
    """Check every pair of variables that no arrow joins but that appears in a released table."""
    found = []
    for pair in apart(model):
        centred, margins, words, labels = [], [], [], []
        for release in judged:
            for unit in release.units:
                if (seen := _margin(unit, pair)) is not None:
                    centred.append(_summed(release.numbers, unit, seen, pair, is_centred=True))
                    margins.append(_summed(release.numbers, unit, seen, pair, is_centred=False)[0])
                    words += _words(unit, model, pair)
                    labels.append(release.label)
        if centred:
            label = ", ".join(dict.fromkeys(labels))
            found.append(_check(pair, label, True, _joined(centred), np.concatenate(margins), words))
    return found


def _margin(unit: _CheckedTable, pair: tuple[str, str]) -> tuple[int, ...] | None:
    """Return the axes to sum over for the pair's margin, or None if the numbers do not determine it."""
    if not unit.is_whole or not set(pair) <= set(unit.names):
        return None
    others = [index for index, name in enumerate(unit.names) if name not in pair]
    return tuple(others) if all(unit.cells[index] for index in others) else None


def _summed(
    numbers: Numbers, unit: _CheckedTable, others: tuple[int, ...], pair: tuple[str, str], is_centred: bool
) -> Numbers:
    """Return the margin of a pair, or what remains of it once the means of its rows and columns are removed."""
    kept = [index for index, name in enumerate(unit.names) if name in pair]
    found = []
    for each in numbers:
        table = each[..., unit.indices]
        lead = table.ndim - len(unit.names)
        table = table.sum(axis=tuple(lead + index for index in others))
        for axis, index in enumerate(kept):
            if is_centred and unit.cells[index]:  # a contrast has no margins
                table = table - table.mean(axis=lead + axis, keepdims=True)
        found.append(table.reshape(*each.shape[:-1], -1))
    return found[0], found[1], found[2]


def _joined(parts: Sequence[Numbers]) -> Numbers:
    released, replicates, means = zip(*parts, strict=True)
    return np.concatenate(released), np.concatenate(replicates, axis=1), np.concatenate(means, axis=1)


def _words(unit: _CheckedTable, model: Network, pair: tuple[str, str] | None = None) -> list[str]:
    """Name the numbers of a table, or of a pair's margin in it."""
    if not unit.names:
        return [f"number {index + 1}" for index in range(unit.indices.size)]
    columns = {variable.name: variable for variable in model.variables}
    kept = [(name, cells) for name, cells in zip(unit.names, unit.cells, strict=True) if pair is None or name in pair]
    sizes = [unit.indices.shape[unit.names.index(name)] for name, _ in kept]
    if not all(cells for _, cells in kept) or not unit.is_whole:
        return [f"{_CONTRAST} {' and '.join(name for name, _ in kept)}"] * int(np.prod(sizes))
    return [
        ", ".join(event_name(n, columns[n].levels[c]) for (n, _), c in zip(kept, codes, strict=True))
        for codes in np.ndindex(*sizes)
    ]


def _check(
    about: tuple[str, ...], label: str, is_pair: bool, numbers: Numbers, shown: Floats, words: Sequence[str]
) -> Check:
    """Compare how far the release is from what was expected with how far its replicates are.

    `shown` are the numbers as people know them; for a pair, the released margin, whose sums the expected one shares.
    """
    released, replicates, means = numbers
    variances = np.maximum(np.square(replicates - means).mean(axis=0), 1e-12)
    own = (np.square(released - means) / variances).sum(axis=1)
    usual = (np.square(replicates - means) / variances).sum(axis=1)
    chance = (1 + int((usual >= own).sum())) / (1 + len(own))
    scale = float(usual.mean())
    index = int((np.abs(released - means.mean(axis=0)) / np.sqrt(variances)).argmax())
    expected = float(shown[index] - (released - means)[:, index].mean())
    low, high = (expected + np.quantile((replicates - means)[:, index], (0.05, 0.95))).tolist()
    ends = np.sqrt(np.quantile(usual, (0.05, 0.95)) / scale).tolist()
    return Check(
        about=about,
        release=label,
        is_pair=is_pair,
        p_value=chance,
        distance=float(np.sqrt(own.mean() / scale)),
        usual=(ends[0], ends[1]),
        number=words[index],
        released=float(shown[index]),
        expected=expected,
        low=low,
        high=high,
        sd=None if words[index].startswith(_CONTRAST) else float(np.sqrt(variances).min()),
    )


def _decided(checks: Sequence[Check], risk: float, replicates: int) -> list[Check]:
    """Mark the checks that fail by Holm's rule: the i-th smallest of m p-values is compared with risk / (m - i + 1)."""
    order = sorted(range(len(checks)), key=lambda index: checks[index].p_value)
    failed = set()
    for step, index in enumerate(order):
        if checks[index].p_value > max(risk / (len(checks) - step), 1 / (1 + replicates)):
            break
        failed.add(index)
    return [check.marked(index in failed) for index, check in enumerate(checks)]
