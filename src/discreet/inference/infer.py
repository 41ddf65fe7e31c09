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
from discreet.reading.published import Reading
from discreet.reading.readings import TableReading
from discreet.reading.strengths import LEARNT, learnt, read_strengths, strengthened
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

    Where no prior is declared, shares and rates are read from their own noisy sums, and all cells together under a
    prior whose strength is learnt (`posterior.table`). `prior` is the reader's own, which then answers everything, or
    one by name: "declared" is the holder's, "learnt" gives `posterior.table`, "none" reads as if none was declared.
    `strengths` averages over several strengths of the prior, each weighted by its evidence: the prior's parameters are
    multiplied by each of them. Never plug noisy counts in as if they were true: intervals made that way cover far less
    than they say.
    """
    case = Case.of(releases, prior)
    if any(release.reading == NO_READING for release in releases) and (why := refusal_of(case)) is not None:
        raise DeclarationError(
            f"{case.label!r} has no posterior, as its holder declared when it was published (reading = "
            f"{NO_READING!r}): {why}. Nothing was read."
        )
    if strengths is not None and not case.model.is_prior_declared:
        case = Case.of(releases, 1)
    readings = _readings(case, strengths)
    posterior = posterior_of(readings[0], readings, case.model, releases)
    return _told(posterior.table if isinstance(prior, str) and prior == LEARNT else posterior)


def _readings(case: Case, strengths: Sequence[float] | None) -> list[Reading]:
    """Return one reading, or one for each prior that evidence shall weigh."""
    if strengths is not None:
        return read_strengths(strengthened(case, strengths))
    return read_strengths(learnt(case)) if case.model.is_prior_open else [read(case)]


@posterior_of.register
def _(
    reading: TableReading, readings: Sequence[TableReading], model: Categories, releases: Sequence[Release[Categories]]
) -> CategoriesPosterior:
    return CategoriesPosterior(model, releases, readings)


def _told(posterior: Posterior) -> Posterior:
    """Return a posterior, with a warning if what it tells is known at once and mostly the prior, or is in doubt."""
    if posterior.is_told_at_once and posterior.information is not None and posterior.information < _LITTLE:
        warnings.warn(
            f"{posterior.releases[0].label!r} carries almost no information ({posterior.information:.2g} nats): what "
            "is read from it is mostly the prior. Use more records, fewer levels or a larger epsilon.",
            LittleInformationWarning,
            stacklevel=3,
        )
    for doubt in posterior.doubts() if posterior.is_told_at_once else ():
        warnings.warn(doubt, stacklevel=3)
    return posterior
