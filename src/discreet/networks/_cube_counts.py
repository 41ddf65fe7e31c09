"""CubeCounts: noise in the shape of one person's influence on many yes/no variables.

In a naive Bayes network with classes y and yes/no features i, let s_iy = (yes) - (no) among the records of class y.
Every record adds +1 or -1 to all features of its class, so what it can do to a class is a cube. The output holds the
class counts, by a GeometricHistogram of epsilon_c, and z_iy = s_iy + U_iy with

    P(U_y) ~ e^(-epsilon_f max_i |U_iy| / 2), independent over classes,   epsilon = epsilon_c + epsilon_f.

Replacing a record inside a class moves one block by at most 2 in the max norm; moving it to another class moves two
blocks by 1 each. So sum_y ||change||_max <= 2: pure epsilon-differential privacy, and tight. The noise lives on all
integers: even noise alone would tell the parity of a class. Without a class, d yes/no items about the same people are
one block.

How much of epsilon the class counts get is a rule from public facts, unless it is declared (`usual_class_share`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.mechanism import within_bounds
from discreet.networks._measured_tables import SignedCounts
from discreet.networks._model import Network
from discreet.networks._table_mechanisms import NetworkCounts
from discreet.noise import Cube, Noise, RadiusDistribution, SideBySide, ZeroSumLaplace

MOST_FEATURES = 2000  # the distribution of the radius takes about d^3 steps; Gaussian noise is smaller from d = 60 on


@dataclass(frozen=True, init=False, repr=False)
class CubeCounts(NetworkCounts, kind="CubeCounts", version=2):
    """Counts of yes/no variables, within a class or without: pure epsilon-DP under replacement of one record.

    An output holds the class counts and then, class by class, one number for each feature. `class_share` is the share
    of epsilon spent on the class counts; left out, it is chosen by a rule, and it is 0 if there is no class.

    >>> levels = {"smokes": ("no", "yes"), "drinks": ("no", "yes")}
    >>> items = Network.from_edges("smokes", "drinks", levels=levels, outside="no")
    >>> CubeCounts(items, size=100, epsilon=1).space.length
    2
    """

    class_share: Fraction
    reason = "noise of max norm on yes/no counts of each class (triangle inequality)"

    def __init__(self, model: Network, size: int, epsilon: Exact, class_share: Exact | None = None) -> None:
        super().__init__(model, size, epsilon)
        if (why := cube_refusal(model)) is not None:
            raise DeclarationError(
                f"CubeCounts works for yes/no variables that depend on one class variable or on nothing, but {why}."
            )
        features = len(model.variables) - (model.target is not None)
        share = usual_class_share(features) if class_share is None else exact(class_share, "class_share")
        if model.target is not None and not 0 < share < 1:
            raise DeclarationError(f"class_share must lie between 0 and 1; got {exact_text(share)}.")
        object.__setattr__(self, "class_share", Fraction(0) if model.target is None else share)
        within_bounds(self.feature_epsilon, "epsilon for the features")
        if model.target is not None:
            within_bounds(self.class_epsilon, "epsilon for the classes")

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
        return self.quantities.classes

    @property
    def features(self) -> int:
        """Return the number of yes/no features."""
        return self.quantities.features

    @cached_property
    def quantities(self) -> SignedCounts:
        """Return the class counts, and class by class (yes) - (no) of each feature."""
        return SignedCounts(self.model)

    @cached_property
    def _cubes(self) -> Cube:
        return Cube((self.feature_epsilon / 2,) * self.classes, (self.features,) * self.classes)

    @cached_property
    def noise(self) -> Noise:
        """Return noise that sums to zero for the class counts, and cube-shaped noise within each class."""
        if self.model.target is None:
            return self._cubes
        return SideBySide((ZeroSumLaplace((self.class_epsilon / 2,), (self.classes,)), self._cubes))

    @property
    def radius(self) -> RadiusDistribution:
        """Return the distribution of the radius of a block: P(r) ~ (2 r + 1)^d e^(-epsilon_f r / 2)."""
        return self._cubes.radius()

    def parts(self, output: Counts) -> tuple[Counts, Counts]:
        """Return the class counts (..., C) and the features' numbers (..., C, d) of an output."""
        rows = np.asarray(output)
        first = self.quantities.length - self.classes * self.features
        return rows[..., :first], rows[..., first:].reshape(*rows.shape[:-1], self.classes, self.features)

    def count_deviations(self) -> dict[str, float]:
        """Return that of a class count too, if classes have a share of their own."""
        own = {} if self.model.target is None else {"class_sd": sqrt(float(self.noise.variance[0]))}
        return super().count_deviations() | own

    def count_sd(self) -> float:
        """Return half the standard deviation of U_iy, because a count is (s + n_y) / 2."""
        return sqrt(float(self.noise.variance[-1])) / 2


def usual_class_share(features: int) -> Fraction:
    """Return x with x / (1 - x) = (3 / (2 d (d + 1) (d + 2)))^(1/3), to three digits.

    It makes the error of a record's log odds least. What class counts add to it is 16 Var(class) / n^2, with two
    classes of about equal size; an error of a class count moves the odds of all its features, but up as often as down.
    What the features add is 64 d Var(count) / n^2, with 1 / (theta (1 - theta)) taken as 8. As Var(class) is about
    2 / (x epsilon)^2 and Var(count) about (d + 1)(d + 2) / (3 (1 - x)^2 epsilon^2), the sum is least at this x.

    >>> usual_class_share(1), usual_class_share(16)
    (Fraction(193, 500), Fraction(63, 1000))
    """
    odds = (1.5 / (features * (features + 1) * (features + 2))) ** (1 / 3)
    return Fraction(max(1, round(1000 * odds / (1 + odds))), 1000)


def cube_refusal(network: Network) -> str | None:
    """Return why CubeCounts does not fit a network, or None if it does."""
    if network.target is None and any(network.parents):
        return "some variables depend on others, and the graph is not a naive Bayes network"
    features = network.variables if network.target is None else network.variables[1:]
    if odd := next((column for column in features if len(column.levels) != 2), None):
        return f"{odd.name!r} has {len(odd.levels)} levels"
    if len(features) > MOST_FEATURES:
        return f"there are {len(features)} features, more than the {MOST_FEATURES} allowed"
    return None
