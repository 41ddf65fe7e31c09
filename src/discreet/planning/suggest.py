"""The one chooser: which mechanism suits a model, and why. Declarations alone decide, never records.

What is chosen can be read. Where the mechanism with the least noise would be read less exactly than another one, the
other is chosen, and the reason says so.
"""

from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Any

from discreet.errors import DeclarationError
from discreet.exact import Exact, probability
from discreet.mechanisms import (
    BoxMoments,
    CubeCounts,
    FamilyGaussians,
    FamilyHistograms,
    GaussianMoments,
    GeometricHistogram,
    JointHistograms,
    Mechanism,
    NetworkCounts,
    PosteriorSampling,
)
from discreet.mechanisms.cube_counts import cube_refusal
from discreet.mechanisms.joint_histograms import joint_refusal
from discreet.models import Categories, LinearRegression, Network
from discreet.models.bounded_family import BoundedFamily
from discreet.planning.regression_accuracy import expected_effect
from discreet.reading import Exactness, exactness_of, why_not_exact


@dataclass(frozen=True)
class Suggestion:
    """A mechanism, and why it was chosen."""

    mechanism: Mechanism
    reason: str


def suggest(model: Any, size: int, epsilon: Exact, delta: Exact = 0) -> Suggestion:
    """Return the mechanism that suits a model with so many records under this guarantee, and why in words.

    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> type(suggest(smoking, size=1000, epsilon=1).mechanism).__name__
    'GeometricHistogram'
    """
    return _suggestion(model, size, epsilon, probability(delta, "delta"))


@singledispatch
def _suggestion(model: Any, size: int, epsilon: Exact, delta: Exact) -> Suggestion:
    if not isinstance(model, BoundedFamily):
        raise DeclarationError(
            "A mechanism is suggested for Categories, a Network, a LinearRegression or a family such as Poisson; "
            f"got a {type(model).__name__}. Name a mechanism yourself."
        )
    if not delta:
        raise DeclarationError(
            f"A {type(model).__name__} is published by draws from its posterior, and one draw has no pure epsilon. "
            "Nothing was chosen. State a delta, such as '1e-6'."
        )
    drawn = PosteriorSampling.tempered(model, size=size, epsilon=epsilon, delta=delta)
    return Suggestion(drawn, "a draw with the largest power of the likelihood that the guarantee allows")


@_suggestion.register
def _(model: Categories, size: int, epsilon: Exact, delta: Exact) -> Suggestion:
    why = "every cell gets the same noise, and the noise adds up to zero"
    return Suggestion(GeometricHistogram(model, size, epsilon), f"{why}; no delta is needed" if delta else why)


@_suggestion.register
def _(model: LinearRegression, size: int, epsilon: Exact, delta: Exact) -> Suggestion:
    box = BoxMoments(model, size, epsilon)
    if not delta:
        return Suggestion(box, "it has the least noise of those that need no delta")
    bell = GaussianMoments(model, size, epsilon, delta)
    first, second = (expected_effect(each)[0] for each in (box, bell))
    least, most = sorted((first, second))
    why = f"its intervals will be narrower, {least:.3g} against {most:.3g} in units of {model.target}"
    return Suggestion(bell if second < first else box, why)


@_suggestion.register
def _(model: Network, size: int, epsilon: Exact, delta: Exact) -> Suggestion:
    """Choose by noise; where one radius for all tables is read less exactly, take the best that is read better."""
    found = _least_noise(model, size, epsilon, delta)
    others: list[NetworkCounts] = [FamilyHistograms(model, size, epsilon)]
    others += [FamilyGaussians(model, size, epsilon, delta)] if delta else []
    best = min(others, key=lambda other: other.count_sd())
    reading = exactness_of(found.mechanism)
    if not isinstance(found.mechanism, JointHistograms) or reading is exactness_of(best) is not Exactness.APPROXIMATE:
        return found
    refusal = why_not_exact(found.mechanism)
    return Suggestion(best, f"the usual choice, JointHistograms, could not be read here exactly: {refusal}")


def _least_noise(network: Network, size: int, epsilon: Exact, delta: Exact) -> Suggestion:
    pure, why = _pure(network, size, epsilon)
    if not delta:
        return Suggestion(pure, why)
    gaussian = FamilyGaussians(network, size, epsilon, delta)
    sds = f"{gaussian.count_sd():.3g} against {pure.count_sd():.3g} with {type(pure).__name__}"
    if gaussian.count_sd() < pure.count_sd():
        return Suggestion(
            gaussian, f"with the stated delta, Gaussian noise is smaller: standard deviation of a count {sds}"
        )
    return Suggestion(pure, f"{why}; the stated delta is not needed, as Gaussian noise would be larger ({sds})")


def _pure(network: Network, size: int, epsilon: Exact) -> tuple[NetworkCounts, str]:
    if cube_refusal(network) is None:
        return CubeCounts(network, size, epsilon), "yes/no variables about the same people: their influence is a cube"
    cells = [prod(network.shape(family)) for family in network.maximal_families]
    if len(cells) > 1 and max(cells) <= 2 * min(cells) and joint_refusal(network) is None:
        return JointHistograms(network, size, epsilon), "the tables have similar sizes: one radius for all of them"
    return FamilyHistograms(network, size, epsilon), "each table with its own share: a small one need not suffer"
