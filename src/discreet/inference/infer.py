"""Read a release: what the records say, once the noise is taken into account."""

import warnings
from collections.abc import Sequence
from functools import singledispatch
from typing import TypeVar, overload

from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.inference.posteriors.categories import CategoriesPosterior
from discreet.inference.posteriors.family import FamilyPosterior
from discreet.inference.posteriors.network import NetworkPosterior
from discreet.inference.posteriors.posterior import Posterior
from discreet.inference.posteriors.regression import RegressionPosterior
from discreet.models import BoundedFamily, Categories, LinearRegression, Network
from discreet.models.model import Model
from discreet.models.readable_family import ReadableFamily
from discreet.reading import Case, Exactness, engine_for, read, refusal_of
from discreet.reading.families import FamilyReading
from discreet.reading.moments import MomentReading
from discreet.reading.readings import NetworkReading, TableReading
from discreet.releases import Release
from discreet.releases.release import NO_READING

Told = TypeVar("Told", bound=Posterior)
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
    cases = [case] if strengths is None else case.strengthened(strengths)
    if strengths is not None and (engine := engine_for(case)) and engine.exactness is not Exactness.EXACT:
        raise DeclarationError("strengths are weighted by evidence, which is known for what is read exactly only.")
    readings = [read(each) for each in cases]
    return posterior_of(readings[0], readings, case.model, releases)


@singledispatch
def posterior_of(reading: object, readings: Sequence[object], model: Model, releases: Sequence[Release]) -> Posterior:
    """Return the posterior that shows readings of this kind, one for each strength of the prior."""
    raise DeclarationError(f"No posterior shows a {type(reading).__name__}.")


@posterior_of.register
def _(
    reading: TableReading, readings: Sequence[TableReading], model: Categories, releases: Sequence[Release[Categories]]
) -> CategoriesPosterior:
    return _told(CategoriesPosterior(model, releases, readings))


@posterior_of.register
def _(
    reading: NetworkReading, readings: Sequence[NetworkReading], model: Network, releases: Sequence[Release[Network]]
) -> NetworkPosterior:
    return NetworkPosterior(model, releases, readings)


@posterior_of.register
def _(
    reading: MomentReading, readings: object, model: Model, releases: Sequence[Release[LinearRegression]]
) -> RegressionPosterior:
    return RegressionPosterior(reading, releases)


@posterior_of.register
def _(
    reading: FamilyReading, readings: object, model: Model, releases: Sequence[Release[ReadableFamily]]
) -> FamilyPosterior:
    return _told(FamilyPosterior(reading, releases))


def _told(posterior: Told) -> Told:
    """Return a posterior whose information is known at once, with a warning if it is mostly the prior."""
    if posterior.information is not None and posterior.information < _LITTLE:
        warnings.warn(
            f"{posterior.releases[0].label!r} carries almost no information ({posterior.information:.2g} nats): what "
            "is read from it is mostly the prior. Use more records, fewer levels or a larger epsilon.",
            LittleInformationWarning,
            stacklevel=5,
        )
    return posterior
