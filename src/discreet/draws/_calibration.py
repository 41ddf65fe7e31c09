"""Settings for draws from posteriors: found with floats, then moved to the safe side until they are certified."""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite, log
from typing import TypeVar

import numpy as np

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, probability, whole
from discreet.draws._privacy_curves import Drawable
from discreet.mathematics.distributions import CertifiedDistribution
from discreet.mechanism import FARTHEST, NEGLIGIBLE_BEYOND, beyond
from discreet.privacy import last_fitting
from discreet.programs.families import BoundedFamily, ReadableFamily
from discreet.tables import Categories

Made = TypeVar("Made")
MOST_DRAWS = 1000
MOST_OF_PRIOR = 10**9  # of a chance, as of a cell of a table
NO_PURE_EPSILON = "A posterior draw has no pure epsilon: state a delta above 0, or a least probability."
REMEDY = " To have suitable numbers found, use "
"""How a refusal goes on that names a way out; a search leaves that out, because it is the way."""


def nearest(build: Callable[[float], Made], found: float, direction: int) -> Made:
    """Return the mechanism at a number found with floats, moved to the safe side until it is certified."""
    for shift in (0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        try:
            return build(float(found) * (1 + direction * shift))
        except DeclarationError as problem:
            words = str(problem)
    raise DeclarationError(f"No settings were found whose draws have the requested guarantee. {words.split(REMEDY)[0]}")


def least_probability(levels: list[int], epsilon: float) -> float:
    """Return about the least probability w with 2 sum_i ln((1 - (K_i - 1) w) / w) = epsilon, by halving."""

    def fits(least: float) -> bool:
        return 2 * sum(log((1 - (count - 1) * least) / least) for count in levels) <= epsilon

    return last_fitting(fits, 1 / max(levels), 0.0, 1e-15)


def asked_of(model: object, size: int, epsilon: Exact, delta: Exact, draws: int) -> tuple[int, Fraction, Fraction]:
    """Check the model and return size, epsilon and delta; a search needs a delta above 0."""
    check_model(model)
    whole(draws, "draws", most=MOST_DRAWS)
    allowed = probability(delta, "delta")
    if not allowed:
        raise DeclarationError(NO_PURE_EPSILON)
    return whole(size, "size"), positive(epsilon, "epsilon"), allowed


def check_model(model: object) -> Drawable:
    """Return a model whose posterior can be drawn from; refuse others."""
    if not isinstance(model, Categories | BoundedFamily):
        raise DeclarationError(
            "PosteriorSampling draws from the posterior of Categories or of a family such as PoissonRate; got a "
            f"{type(model).__name__}."
        )
    return model


def with_strength(model: Drawable, strength: Fraction) -> Drawable:
    """Return a table under a symmetric prior, or a family under its own prior made this many times stronger."""
    if isinstance(model, Categories):
        return Categories(model.columns, prior=float(strength))
    if not isinstance(model, ReadableFamily):
        raise DeclarationError(f"A {type(model).__name__} does not define a stronger version of its prior.")
    return model.stronger(strength)


def check_chance(model: BoundedFamily) -> None:
    """Refuse a Beta prior so strong that the delta of one draw would take minutes to compute."""
    chance = model.tries()
    if chance is not None and max(chance[:2]) > MOST_OF_PRIOR:
        alpha, beta = (exact_text(number) for number in chance[:2])
        raise DeclarationError(
            f"A chance is drawn under a prior worth at most {MOST_OF_PRIOR:.0e} successes and as many failures, as the "
            f"privacy of a draw would take too long to compute beyond; got alpha = {alpha} and beta = {beta}. Nothing "
            "was computed or drawn. Declare a weaker prior."
        )


def check_reach(model: BoundedFamily, size: int, power: Fraction, grid_bits: int) -> None:
    """Refuse a grid that the parameter may leave, even with all records at the smallest or the largest value."""
    reach, values = Fraction(FARTHEST, 1 << grid_bits), model.values
    for extreme in (min(values), max(values)):
        counts = np.zeros(len(values), dtype=np.int64)
        counts[values.index(extreme)] = size
        if not _is_within(model.posterior(counts, power), reach):
            raise DeclarationError(
                f"With grid_bits = {grid_bits} the grid ends at {float(reach):g}, and the parameter may lie beyond "
                "it. Use fewer grid_bits, or measure in larger units."
            )


def _is_within(distribution: CertifiedDistribution, reach: Fraction) -> bool:
    """Return whether hardly anything lies beyond; mostly a much nearer point decides, whose tail needs fewer digits."""
    near = 2 * max(abs(distribution.guess(chance)) for chance in (1e-13, 1 - 1e-13))
    indices = (min(reach, Fraction(near)), reach) if isfinite(near) else (reach,)
    return any(beyond(distribution, index) <= NEGLIGIBLE_BEYOND for index in indices)
