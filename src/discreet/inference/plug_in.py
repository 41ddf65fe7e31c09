"""What not to do, kept for comparison: read noisy counts as if they were true."""

import numpy as np

from discreet.distributions import Dirichlet
from discreet.releases import Release


def plug_in(release: Release) -> Dirichlet:
    """Return the posterior that the noisy counts would give if they were exact, after moving them to counts >= 0.

    Negative counts become 0 and the rest is scaled to the public size. Its intervals are too narrow.
    """
    clipped = np.maximum(release.counts, 0).astype(float)
    total = clipped.sum()
    shares = clipped / total if total > 0 else np.full(len(clipped), 1 / len(clipped))
    return Dirichlet(release.model.concentration + release.mechanism.size * shares)
