"""CubeCounts: noise in the shape of one person's influence on many yes/no variables.

In a naive Bayes network with classes y and yes/no features i, let s_iy = (yes) - (no) among the records of class y.
Every record adds +1 or -1 to all features of its class, so what it can do to a class is a cube. The output holds the
class counts, by a GeometricHistogram of epsilon_c, and z_iy = s_iy + U_iy with

    P(U_y) ~ e^(-epsilon_f max_i |U_iy| / 2), independent over classes,   epsilon = epsilon_c + epsilon_f.

Replacing a record inside a class moves one block by at most 2 in the max norm; moving it to another class moves two
blocks by 1 each. So sum_y ||change||_max <= 2: pure epsilon-differential privacy, and tight. The noise lives on all
integers: even noise alone would tell the parity of a class. Without a class, d yes/no items about the same people are
one block.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, exact, exact_text
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.geometric_histogram import GeometricHistogram
from discreet.mechanisms.network_counts import (
    Counts,
    Floats,
    NetworkCounts,
    RadiusLaw,
    composed,
    within_bounds,
)
from discreet.models import Categories
from discreet.models.network import Network
from discreet.randomness import RandomBits, uniform_below

MOST_FEATURES = 2000  # the law of the radius takes about d^3 steps; Gaussian noise is smaller from d = 60 on


@dataclass(frozen=True, init=False, repr=False)
class CubeCounts(NetworkCounts):
    """Counts of yes/no variables that share a class or have none: pure epsilon-DP under replacement of one record.

    An output is the class counts, then for each class one number for each feature. `class_share` is the share of
    epsilon for the class counts; it is 0 if there is no class.

    >>> items = Network.from_edges("smokes", "drinks", levels={"smokes": ("no", "yes"), "drinks": ("no", "yes")})
    >>> CubeCounts(items, size=100, epsilon=1).length
    2
    """

    class_share: Fraction

    def __init__(self, model: Network, size: int, epsilon: Exact, class_share: Exact = "1/10") -> None:
        super().__init__(model, size, epsilon)
        if (why := cube_refusal(model)) is not None:
            raise DeclarationError(f"CubeCounts is for yes/no variables with one class or none: {why}.")
        share = exact(class_share, "class_share")
        if model.target is not None and not 0 < share < 1:
            raise DeclarationError(f"class_share must lie between 0 and 1; got {exact_text(share)}.")
        object.__setattr__(self, "class_share", Fraction(0) if model.target is None else share)
        within_bounds(self.feature_epsilon, "epsilon for the features")
        if model.target is not None:
            within_bounds(self.class_epsilon, "epsilon for the classes")

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, class_share={exact_text(self.class_share)!r})"

    @property
    def class_epsilon(self) -> Fraction:
        """Return the part of epsilon for the class counts."""
        return self.epsilon * self.class_share

    @property
    def feature_epsilon(self) -> Fraction:
        """Return the part of epsilon for the features."""
        return self.epsilon - self.class_epsilon

    @property
    def classes(self) -> int:
        """Return the number of classes; 1 if there is no class variable."""
        return 1 if self.model.target is None else len(self.model.variables[0].levels)

    @property
    def features(self) -> int:
        """Return the number of yes/no features."""
        return len(self.model.variables) - (self.model.target is not None)

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the triangle inequality."""
        return Guarantee(self.epsilon, reason="noise of max norm on yes/no counts of each class (triangle inequality)")

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of the class counts and of the worst mechanism of the features' epsilon, composed."""
        features = PrivacyLoss.worst_case(self.feature_epsilon)
        return features if self.model.target is None else composed(self._class_histogram.privacy_loss(), features)

    @property
    def rho(self) -> Fraction:
        """Return (epsilon_c^2 + epsilon_f^2) / 2: each part is pure (Bun and Steinke, 2016)."""
        return (self.class_epsilon**2 + self.feature_epsilon**2) / 2

    @property
    def length(self) -> int:
        """Return C + C d, or d without a class."""
        return self.classes * self.features + (0 if self.model.target is None else self.classes)

    @property
    def radius(self) -> RadiusLaw:
        """Return the law of the radius of a block: P(r) ~ (2 r + 1)^d e^(-epsilon_f r / 2)."""
        return _radius(self.feature_epsilon / 2, self.features)

    @property
    def reach(self) -> float:
        """Return the mean radius in the limit of small epsilon: 2 (d + 1) / epsilon_f."""
        return float(2 * (self.features + 1) / self.feature_epsilon)

    def parts(self, output: Counts) -> tuple[Counts, Counts]:
        """Return the class counts (..., C) and the features' numbers (..., C, d) of an output."""
        rows = np.asarray(output)
        first = self.length - self.classes * self.features
        return rows[..., :first], rows[..., first:].reshape(*rows.shape[:-1], self.classes, self.features)

    def measured(self, counts: Counts) -> Counts:
        """Return the class counts and s_iy = (second level) - (first level), class by class."""
        tables = self.model.split(counts)
        differences = np.stack([table[..., 1] - table[..., 0] for table in tables], axis=-1)
        if self.model.target is None:
            return differences
        blocks = differences.reshape(*differences.shape[:-2], -1)
        return np.concatenate([tables[0].sum(axis=-1), blocks], axis=-1)

    @property
    def tied(self) -> list[slice]:
        """Return the class counts, if there is a class."""
        return [] if self.model.target is None else [slice(0, self.classes)]

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw a radius for every block, then every feature uniform on {-radius, ..., radius}."""
        radii = self.radius.sample(rows * self.classes, bits)
        blocks = [uniform_below(2 * int(r) + 1, self.features, bits).astype(np.int64) - r for r in radii]
        features = np.array(blocks, dtype=np.int64).reshape(rows, self.classes * self.features)
        if self.model.target is None:
            return features
        return np.concatenate([self._class_histogram.noise(rows, bits), features], axis=1)

    def log_noise(self, noise: Counts) -> Floats:
        """Return the class part's log-likelihood - epsilon_f/2 sum_y max_i |U_iy| - C log sum_U e^(...)."""
        classes, blocks = self.parts(noise)
        radii = np.abs(blocks).max(axis=-1).sum(axis=-1)
        terms = -float(self.feature_epsilon) / 2 * radii - self.classes * self.radius.log_normaliser
        if self.model.target is not None:
            terms = terms + self._class_histogram.log_likelihood(classes, np.zeros(self.classes, dtype=np.int64))
        return np.asarray(terms)

    def count_sd(self) -> float:
        """Return half the standard deviation of U_iy, whose variance is E[r (r + 1)] / 3: a count is (s + n_y) / 2."""
        mean, variance = self.radius.moments()
        return sqrt((variance + mean * mean + mean) / 3) / 2

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        super().check_output(output)
        classes, _ = self.parts(output)
        if self.model.target is not None and sum(int(value) for value in classes) != self.size:
            raise DocumentError(f"The class counts must sum to the size {self.size}.")

    @property
    def _class_histogram(self) -> GeometricHistogram:
        return GeometricHistogram(Categories([self.model.variables[0]]), self.size, self.class_epsilon)


def cube_refusal(network: Network) -> str | None:
    """Tell why CubeCounts does not fit a network, or nothing if it does."""
    if network.target is None and any(network.parents):
        return "some variables depend on others, and the graph is no naive Bayes network"
    features = network.variables if network.target is None else network.variables[1:]
    if odd := next((column for column in features if len(column.levels) != 2), None):
        return f"{odd.name!r} has {len(odd.levels)} levels"
    if len(features) > MOST_FEATURES:
        return f"there are {len(features)} features, and at most {MOST_FEATURES} are allowed"
    return None


@lru_cache(maxsize=8)
def _radius(rate: Fraction, features: int) -> RadiusLaw:
    return RadiusLaw(rate, [(2 * r + 1) ** features for r in range(features + 1)])
