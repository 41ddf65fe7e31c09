"""What not to do, kept for comparison: read what was published as if it were the truth."""

from discreet.errors import DeclarationError
from discreet.mathematics.distributions import Dirichlet
from discreet.mechanisms import sized
from discreet.models import Categories
from discreet.releases import Release


def plug_in(release: Release) -> Dirichlet:
    """Return the posterior that ignores the noise: noisy counts are taken at face value, after removing negative ones.

    Negative counts become 0 and the rest is scaled to the public size. Where the mechanism publishes parameters, such
    as draws from a posterior, shares theta are taken as the counts n theta, with the mean of several draws. Its
    intervals are too narrow; it is here for comparison.
    """
    if not isinstance(release.model, Categories):
        raise DeclarationError(
            f"plug_in works for releases about Categories; {release.label!r} is about a "
            f"{type(release.model).__name__}. Nothing was read. Read it with infer."
        )
    if not release.mechanism.has_plain_counts:
        raise DeclarationError(
            f"plug_in takes published counts at face value, but {release.label!r}, by "
            f"{type(release.mechanism).__name__}, does not hold a count of each cell. Nothing was read. Read it with "
            "infer."
        )
    return Dirichlet(release.model.concentration + sized(release.mechanism).plain_counts(release.counts[None])[0])
