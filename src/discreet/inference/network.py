"""Read releases of a Bayesian network: which can be read together, and under which priors."""

from collections.abc import Sequence
from typing import Any

from discreet.errors import DeclarationError
from discreet.inference.naive_bayes_reading import PRODUCT_KINDS
from discreet.inference.network_reading import NetworkReading
from discreet.inference.posteriors.network import NetworkPosterior
from discreet.inference.readable import Reading, reading_of, reading_refusal
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.models.network import Network
from discreet.releases import Release


def read_network(
    releases: Release | Sequence[Release], prior: Any = None, strengths: Sequence[float] | None = None
) -> NetworkPosterior:
    """Return the noise-aware posterior of a network given one release, or several of the same tables.

    `prior` replaces the declared prior by the reader's own; `strengths` averages over several multiples of it, each
    weighted by its evidence. Naive Bayes networks, trees and forests are read exactly; other graphs by Markov chains,
    or approximately if they are large. `method` of the posterior says which.
    """
    given = (releases,) if isinstance(releases, Release) else tuple(releases)
    _check(given)
    model: Network = given[0].model if prior is None else given[0].model.with_prior(prior)
    if strengths is not None and (not isinstance(strengths, Sequence) or not strengths):
        raise DeclarationError("strengths must be a sequence of multiples of the prior, such as (0.3, 1, 3).")
    if strengths is not None and reading_of(given[0].mechanism) is not Reading.EXACT:
        raise DeclarationError(
            "strengths are weighted by evidence, which is known for graphs that are read exactly only."
        )
    scaled = [model] if strengths is None else [_strengthened(model, strength) for strength in strengths]
    return NetworkPosterior(model, given, [NetworkReading.of(given, each) for each in scaled])


def _strengthened(model: Network, strength: float) -> Network:
    return Network(model.variables, model.parents, [tuple(float(strength) * p for p in row) for row in model.prior])


def _check(releases: tuple[Release, ...]) -> None:
    if not releases or not all(isinstance(release, Release) for release in releases):
        raise DeclarationError("read_network takes one or more releases of a network.")
    for release in releases:
        if (refusal := reading_refusal(release.mechanism)) is not None:
            raise DeclarationError(f"{release.label!r}, by {type(release.mechanism).__name__}, is not read: {refusal}.")
    first = releases[0]
    together = (*PRODUCT_KINDS, NetworkSampling)
    if len(releases) > 1 and not all(isinstance(release.mechanism, together) for release in releases):
        raise DeclarationError("Only releases with noise that is independent between cells can be read together.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published):
        raise DeclarationError("The same release was given twice: it would be taken for two independent ones.")
    for other in releases[1:]:
        facts = [(r.model.variables, r.model.parents, r.mechanism.size, r.simulated) for r in (first, other)]
        if facts[0] != facts[1]:
            raise DeclarationError(
                f"{first.label!r} and {other.label!r} do not publish the same tables: "
                "their graphs, levels or sizes differ, or only one of them is simulated."
            )
