"""How a release of a network can be read, told before any budget is spent on it. Public facts decide."""

from enum import Enum
from math import comb, prod

from discreet.reading.consistent_tables import AGREEING_KINDS
from discreet.reading.counts.shared_radius import _MOST_NUMBERS, _MOST_WORK, _NEGLIGIBLE
from discreet.inference.naive_bayes_reading import SPREAD_KINDS, SPREAD_REFUSAL
from discreet.inference.network_draws import draws_refusal
from discreet.reading.counts.chains import MOST_COMBINATIONS
from discreet.reading.counts.tree_counts import _MOST_STATES
from discreet.reading.counts.tree_counts import _MOST_WORK as _MOST_TREE_WORK
from discreet.mechanisms import CubeCounts, JointHistograms, Mechanism, NetworkCounts, NetworkSampling
from discreet.models import Network


class Reading(Enum):
    """How a release is read, the best way first."""

    EXACT = "exact"
    SAMPLED = "sampled"
    APPROXIMATE = "approximate"


def reading_of(mechanism: Mechanism) -> Reading | None:
    """Return how `infer` reads a release by this mechanism, or nothing if it cannot."""
    if isinstance(mechanism, NetworkSampling):
        return Reading.EXACT if draws_refusal(mechanism) is None else None
    if not isinstance(mechanism, (CubeCounts, *AGREEING_KINDS)):
        return None
    if exact_refusal(mechanism) is None:
        return Reading.EXACT
    levels = [len(variable.levels) for variable in mechanism.model.variables]
    return Reading.SAMPLED if prod(levels) <= MOST_COMBINATIONS else Reading.APPROXIMATE


def reading_refusal(mechanism: Mechanism) -> str | None:
    """Tell why `infer` would refuse a release by this mechanism, or nothing if it would read it."""
    if isinstance(mechanism, NetworkSampling):
        return draws_refusal(mechanism)
    if isinstance(mechanism, SPREAD_KINDS):
        return SPREAD_REFUSAL
    if reading_of(mechanism) is None:
        return f"releases of a network by {type(mechanism).__name__} are not read by infer"
    return None


def exact_refusal(mechanism: NetworkCounts) -> str | None:
    """Tell why a release by this mechanism could not be read exactly, or nothing if it could."""
    network = mechanism.model
    several = [v.name for v, above in zip(network.variables, network.parents, strict=True) if len(above) > 1]
    if several:
        return f"{several[0]!r} has several parents; naive Bayes networks, trees and forests can be read exactly"
    if isinstance(mechanism, JointHistograms):
        return _joint_refusal(mechanism)
    if isinstance(mechanism, CubeCounts) or network.target is not None:
        return None
    return _tree_refusal(network, mechanism.size)


def _joint_refusal(mechanism: JointHistograms) -> str | None:
    """Tell why one shared radius could not be read: `JointCounts` says what the work is."""
    network, size = mechanism.model, mechanism.size
    if network.target is None and any(network.parents):
        return "a shared radius can be read exactly for naive Bayes networks and for variables without parents only"
    classes = 1 if network.target is None else len(network.variables[0].levels)
    cells = [prod(network.shape(family)) for family in network.maximal_families]
    free, vectors = sum(cells) - len(cells), comb(size + classes - 1, classes - 1)
    last = (free + _NEGLIGIBLE + 20) / float(mechanism.epsilon) + 2
    work = vectors * len(cells) * max(1, classes - 1) * last**2 / 2
    held = sum(cells) * (size + 1) * 2 * last
    if vectors > _MOST_NUMBERS / 100 or work > _MOST_WORK or held > _MOST_NUMBERS:
        return f"exactly reading {len(cells)} tables of {size} records through a shared radius is too much work"
    return None


def _tree_refusal(network: Network, size: int) -> str | None:
    """Tell which pair of variables makes a tree too much work: `TreeCounts` says what the work is."""
    above = dict(zip((variable.name for variable in network.variables), network.parents, strict=True))
    inner = {parent for parents in above.values() for parent in parents}
    for name in sorted(inner):
        for parent in above[name]:
            parent_levels, levels = network.shape((parent, name))
            states = (size + 1) ** (levels - 1)
            work = comb(size + parent_levels - 1, parent_levels - 1) * (states / 2) ** 2
            if work > _MOST_TREE_WORK or max(states, (size + 1) ** (parent_levels - 1)) > _MOST_STATES:
                return (
                    f"exactly reading {name!r} given {parent!r} is too much work for {size} records, as {name!r} has "
                    "children too: variables in the middle of a tree need two levels, and at most about 4,000 records"
                )
    return None
