"""One release of a network under one prior: which engine reads it, and what that gives.

Exactly where a sum over all tables is within reach, by chains that agree where all combinations of levels can be
listed, and row by row, approximately, where the graph is larger than that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.distributions import BetaMixture
from discreet.inference.elimination import Tables
from discreet.reading.counts.shared_radius import JointCounts, read_joint
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.inference.naive_bayes_reading import read_cube, read_product, read_tree
from discreet.inference.network_draws import read_drawn
from discreet.inference.readable import Reading, reading_of
from discreet.reading.counts.rows import ApproximateCounts
from discreet.reading.counts.chains import SampledCounts, read_by_sampling
from discreet.reading.counts.tree_counts import TreeCounts
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.network_sampling import NetworkSampling
from discreet.models.network import Network
from discreet.releases import Release

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NetworkReading:
    """The true tables under one prior, and the evidence for that prior."""

    model: Network
    counts: NaiveBayesCounts | TreeCounts | JointCounts | SampledCounts | ApproximateCounts

    @classmethod
    def of(cls, releases: Sequence[Release], model: Network) -> "NetworkReading":
        """Read releases of the same tables under a prior, by the engine that suits them."""
        first = releases[0]
        if any(isinstance(release.mechanism, NetworkSampling) for release in releases):
            return cls(model, read_drawn(releases, model))
        kind = reading_of(first.mechanism)
        if kind is Reading.SAMPLED:
            return cls(model, read_by_sampling(releases, model))
        if kind is Reading.APPROXIMATE:
            return cls(model, ApproximateCounts(releases, model))
        if isinstance(first.mechanism, CubeCounts):
            return cls(model, read_cube(first, model))
        if isinstance(first.mechanism, JointHistograms):
            return cls(model, read_joint(first, model))
        return cls(model, read_product(releases, model) if model.target else read_tree(releases, model))

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior), not a number where it is not known."""
        return self.counts.log_evidence

    @property
    def method(self) -> str:
        """Say in words how the release was read."""
        if isinstance(self.counts, SampledCounts):
            r_hat, size = f"R-hat {self.counts.r_hat:.3f}", f"effective size {self.counts.effective_size:,.0f}"
            return f"read by Markov chains ({self.counts.sweeps:,} sweeps, {r_hat}, {size})"
        approximate = isinstance(self.counts, ApproximateCounts)
        return "read approximately, row by row: the graph is too large for chains" if approximate else "read exactly"

    def draw(self, count: int, generator: np.random.Generator) -> dict[str, Counts]:
        """Draw true tables (draws, parent levels, levels) of every variable."""
        names = [variable.name for variable in self.model.variables]
        if isinstance(self.counts, TreeCounts | SampledCounts | ApproximateCounts):
            return dict(zip(names, self.counts.draw(count, generator), strict=True))
        totals, features = self.counts.draw(count, generator)
        tables = features if self.model.target is None else [totals[:, None, :], *features]
        return dict(zip(names, tables, strict=True))

    def row_law(self, name: str, row: int, inside: NDArray[np.bool_]) -> BetaMixture | None:
        """Return the law of P(variable inside | row of its table) if it is a finite sum, as it is for naive Bayes."""
        counts = self.counts
        if not isinstance(counts, NaiveBayesCounts):
            return None
        place = [variable.name for variable in self.model.variables].index(name)
        first = 0 if self.model.target is None else 1
        split = counts.class_split(inside) if place < first else counts.feature_split(place - first, row, inside)
        alpha = np.array(self.model.prior[place])
        return BetaMixture(split.chances, alpha[inside].sum() + split.inside, alpha[~inside].sum() + split.outside)

    def shapes(self, count: int, generator: np.random.Generator) -> Tables:
        """Draw Dirichlet parameters of every row of every variable, prior and true counts together."""
        drawn = self.draw(count, generator)
        return {
            v.name: np.array(a) + drawn[v.name] for v, a in zip(self.model.variables, self.model.prior, strict=True)
        }
