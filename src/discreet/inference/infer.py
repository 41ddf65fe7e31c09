"""Read a release: what the records say, once the noise is taken into account."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.inference.categories import Reading
from discreet.inference.family import read_family
from discreet.inference.network import read_network
from discreet.inference.posterior_draws import reading_of_draws
from discreet.inference.posteriors.categories import CategoriesPosterior
from discreet.inference.posteriors.family import FamilyPosterior
from discreet.inference.regression import read_regression
from discreet.mechanisms import NetworkCounts, NetworkSampling, PosteriorSampling
from discreet.models import Categories, LinearRegression
from discreet.models.bounded_family import BoundedFamily
from discreet.releases import Release

_LITTLE = 0.2  # nats; below this an interval is mostly the prior's


def infer(*releases: Release, prior: Any = None, strengths: Sequence[float] | None = None) -> Any:
    """Return the exact noise-aware posterior given one release, or several releases of the same counts.

    It is a `CategoriesPosterior` for tables of categories, a `NetworkPosterior` for Bayesian networks, a
    `RegressionPosterior` for linear regression, a `FamilyPosterior` for draws of a family with one parameter.

    `prior` replaces the declared prior by the reader's own. `strengths` averages over several strengths of the prior,
    each weighted by its evidence: the prior's parameters are multiplied by each of them. Never plug noisy counts in
    as if they were true: intervals made that way cover far less than they say.
    """
    if (
        releases
        and isinstance(releases[0], Release)
        and isinstance(releases[0].mechanism, NetworkCounts | NetworkSampling)
    ):
        return read_network(releases, prior, strengths)
    if releases and isinstance(releases[0], Release) and isinstance(releases[0].model, LinearRegression):
        return _read_moments(releases, prior, strengths)
    if releases and isinstance(releases[0], Release) and isinstance(releases[0].model, BoundedFamily):
        return _told(_read_family(releases, prior, strengths))
    _check(releases)
    model: Categories = releases[0].model if prior is None else releases[0].model.with_prior(prior)
    if strengths is not None and not isinstance(strengths, Sequence):
        raise DeclarationError("strengths must be a sequence of multiples of the prior, such as (0.3, 1, 3).")
    scaled = [model] if strengths is None else [_strengthened(model, strength) for strength in strengths]
    if not scaled:
        raise DeclarationError("strengths must name at least one multiple of the prior, such as (0.3, 1, 3).")
    return _told(CategoriesPosterior(model, releases, [_reading(releases, each) for each in scaled]))


def _told(posterior: Any) -> Any:
    """Return a posterior, with a warning if it is mostly the prior."""
    if posterior.information < _LITTLE:
        warnings.warn(
            f"{posterior.releases[0].label!r} carries almost no information ({posterior.information:.2g} nats): what "
            "is read from it is mostly the prior. Use more records, fewer levels or a larger epsilon.",
            LittleInformationWarning,
            stacklevel=3,
        )
    return posterior


def _read_family(releases: tuple[Release, ...], prior: Any, strengths: Any) -> FamilyPosterior:
    if strengths is not None:
        raise DeclarationError("strengths are for tables of categories; give a family's reader another prior.")
    _check_distinct(releases)
    return read_family(releases, prior)


def _reading(releases: Sequence[Release], model: Categories) -> Reading:
    if any(isinstance(release.mechanism, PosteriorSampling) for release in releases):
        return reading_of_draws(releases, model)
    return Reading.of(releases, model)


def _read_moments(releases: Sequence[Release], prior: Any, strengths: Any) -> Any:
    if prior is not None or strengths is not None:
        raise DeclarationError("The prior of a regression is part of its model; it is not replaced when reading.")
    return read_regression(*releases)


def _strengthened(model: Categories, strength: float) -> Categories:
    return model.with_prior(tuple(float(strength) * np.array(model.prior)))


def _check_distinct(releases: tuple[Release, ...]) -> None:
    if not releases or not all(isinstance(release, Release) for release in releases):
        raise DeclarationError("infer takes one or more releases, from publish, simulate or Release.from_json.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published):
        raise DeclarationError("The same release was given twice: it would be taken for two independent ones.")


def _check(releases: tuple[Release, ...]) -> None:
    _check_distinct(releases)
    for release in releases:
        if not isinstance(release.model, Categories):
            raise DeclarationError(
                f"Releases of {type(release.model).__name__} by {type(release.mechanism).__name__} are not read by "
                "infer: what was drawn stands in the release itself."
            )
    kinds = {isinstance(release.mechanism, PosteriorSampling) for release in releases}
    if len(kinds) > 1:
        raise DeclarationError("Draws from a posterior and noisy counts are not read together.")
    first = releases[0]
    for other in releases[1:]:
        same = (other.model.columns, other.mechanism.size) == (first.model.columns, first.mechanism.size)
        if not same or other.simulated != first.simulated:
            raise DeclarationError(
                f"{first.label!r} and {other.label!r} do not publish the same counts: "
                "their columns, levels or sizes differ, or only one of them is simulated."
            )
