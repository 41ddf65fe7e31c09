"""Read a release: what the records say, once the noise is taken into account."""

import warnings
from collections.abc import Sequence
from typing import overload

from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.inference.posteriors.categories import CategoriesPosterior
from discreet.inference.posteriors.family import FamilyPosterior
from discreet.inference.posteriors.network import NetworkPosterior
from discreet.inference.posteriors.posterior import Posterior, posterior_of
from discreet.inference.posteriors.regression import RegressionPosterior
from discreet.models import BoundedFamily, Categories, LinearRegression, Network
from discreet.reading import Case, read, refusal_of
from discreet.reading.readings import TableReading
from discreet.reading.strengths import strengthened
from discreet.releases import Release
from discreet.releases.release import NO_READING

_LITTLE = 0.2  # nats; below this an interval is mostly the prior's


@overload
def infer(
    *releases: Release[Categories], prior: object = None, strengths: Sequence[float] | None = None
) -> CategoriesPosterior: ...


@overload
def infer(
    *releases: Release[Network], prior: object = None, strengths: Sequence[float] | None = None
) -> NetworkPosterior: ...


@overload
def infer(
    *releases: Release[LinearRegression], prior: object = None, strengths: Sequence[float] | None = None
) -> RegressionPosterior: ...


@overload
def infer(
    *releases: Release[BoundedFamily], prior: object = None, strengths: Sequence[float] | None = None
) -> FamilyPosterior: ...


def infer(*releases: Release, prior: object = None, strengths: Sequence[float] | None = None) -> Posterior:
    """Return the noise-aware posterior given one release, or several releases of the same records.

    It is a `CategoriesPosterior` for tables of categories, a `NetworkPosterior` for Bayesian networks, a
    `RegressionPosterior` for linear regression, a `FamilyPosterior` for draws of a family with one parameter. The first
    engine that can read the releases does; its `method` says how.

    `prior` replaces the declared prior by the reader's own. `strengths` averages over several strengths of the prior,
    each weighted by its evidence: the prior's parameters are multiplied by each of them. Never plug noisy counts in
    as if they were true: intervals made that way cover far less than they say.
    """
    case = Case.of(releases, prior)
    if any(release.reading == NO_READING for release in releases) and (why := refusal_of(case)) is not None:
        raise DeclarationError(
            f"{case.label!r} has no posterior, as its holder declared when it was published (reading = "
            f"{NO_READING!r}): {why}. Nothing was read."
        )
    readings = [read(each) for each in ([case] if strengths is None else strengthened(case, strengths))]
    return _told(posterior_of(readings[0], readings, case.model, releases))


@posterior_of.register
def _(
    reading: TableReading, readings: Sequence[TableReading], model: Categories, releases: Sequence[Release[Categories]]
) -> CategoriesPosterior:
    return CategoriesPosterior(model, releases, readings)


def _told(posterior: Posterior) -> Posterior:
    """Return a posterior, with a warning if what it tells is known at once, and is mostly the prior."""
    if posterior.is_told_at_once and posterior.information is not None and posterior.information < _LITTLE:
        warnings.warn(
            f"{posterior.releases[0].label!r} carries almost no information ({posterior.information:.2g} nats): what "
            "is read from it is mostly the prior. Use more records, fewer levels or a larger epsilon.",
            LittleInformationWarning,
            stacklevel=3,
        )
    return posterior
