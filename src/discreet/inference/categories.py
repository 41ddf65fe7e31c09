"""The true counts behind a release of categories, under one prior, and the evidence for that prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.inference.enumerated import EnumeratedCounts
from discreet.inference.latent_counts import LatentCounts
from discreet.mechanisms import NoisyCounts
from discreet.models import Categories
from discreet.releases import Release
from discreet.special import log_gamma_ratio

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reading:
    """The true counts under one prior, and the evidence for that prior."""

    model: Categories
    counts: LatentCounts | EnumeratedCounts
    log_constant: float

    @classmethod
    def of(cls, releases: Sequence[Release], model: Categories) -> "Reading":
        """Read releases of the same counts under a prior; where noise is no product over cells, table by table."""
        if not all(isinstance(release.mechanism, NoisyCounts) for release in releases):
            outputs = [release.counts for release in releases]
            return cls(model, EnumeratedCounts.of([r.mechanism for r in releases], outputs, model), 0.0)
        alpha, size = model.concentration, releases[0].mechanism.size
        noisy = np.stack([release.counts for release in releases])
        mechanisms: list[Any] = [release.mechanism for release in releases]

        def log_weight(places: Counts, counts: Counts) -> Floats:
            logs = _log_prior(alpha[places], counts)
            for mechanism, output in zip(mechanisms, noisy, strict=True):
                logs = logs + mechanism.log_kernel(output[places] - counts)
            return logs

        reach = min(mechanism.reach for mechanism in mechanisms)
        latent = LatentCounts(log_weight, noisy.min(axis=0), noisy.max(axis=0), reach, size)
        constant = gammaln(alpha.sum()) - log_gamma_ratio(np.array(size + 1.0), alpha.sum() - 1)
        constant -= sum(mechanism.log_normaliser for mechanism in mechanisms)
        return cls(model, latent, float(constant))

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior)."""
        return self.counts.log_sum + self.log_constant

    @cached_property
    def mean_counts(self) -> Floats:
        """Return the expected true count of every cell."""
        return np.asarray(self.counts.first + self.counts.marginals @ np.arange(self.counts.marginals.shape[1]))


def _log_prior(alpha: Floats, counts: Counts) -> Floats:
    """Return log Gamma(a + k) / (k! Gamma(a)), which is 0 throughout for a = 1."""
    if (alpha == 1).all():
        return np.zeros(np.broadcast(alpha, counts).shape)
    return np.asarray(log_gamma_ratio(counts + 1.0, alpha - 1) - gammaln(alpha))
