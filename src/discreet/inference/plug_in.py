"""What not to do, kept for comparison: read what was published as if it were the truth."""

import numpy as np

from discreet.errors import DeclarationError
from discreet.mathematics.distributions import Dirichlet
from discreet.models import Categories
from discreet.releases import Release


def plug_in(release: Release) -> Dirichlet:
    """Return the posterior that the noisy counts would give if they were exact, after moving them to counts >= 0.

    Negative counts become 0 and the rest is scaled to the public size. Where the mechanism publishes parameters, as
    draws from a posterior are, drawn shares theta stand for the counts n theta, several draws for their mean. Its
    intervals are too narrow.
    """
    if not isinstance(release.model, Categories):
        raise DeclarationError(
            f"plug_in reads releases about Categories as counts; {release.label!r} is about a "
            f"{type(release.model).__name__}. Read it with infer."
        )
    mechanism = release.mechanism
    if hasattr(mechanism, "parameters"):
        shares = np.atleast_2d(mechanism.parameters(release.counts)).mean(axis=0)
    else:
        clipped = np.maximum(release.counts, 0).astype(float)
        total = clipped.sum()
        shares = clipped / total if total > 0 else np.full(len(clipped), 1 / len(clipped))
    return Dirichlet(release.model.concentration + mechanism.size * shares)
