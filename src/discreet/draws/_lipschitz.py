"""Smooth likelihoods: the constants of Lipschitz families, corrected, and what is true about their posteriors.

Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) call a family L-Lipschitz under a pseudo-metric rho if
|ln p(x | theta) - ln p(y | theta)| <= L rho(x, y) for all theta (assumption 1), and stochastically Lipschitz with c if
the prior gives at least 1 - e^(-c L) to the parameters for which that holds, for all L (assumption 2). Under assumption
1, theorems 1(i) and 2(i) hold. Under assumption 2, theorems 1(ii) and 2(ii) do not: their proofs average over the prior
instead of the posterior, and there are counterexamples (see the tests); so nothing here is built on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, inf, lgamma, log, pi, sqrt

from flint import ctx

from discreet._core.errors import DeclarationError
from discreet._core.exact import ball

OMEGA = 1.25643120862617
"""The positive solution of e^omega = 2 omega + 1, which theorem 1(ii) uses."""

KAPPA = 2 * OMEGA / (1 - exp(-OMEGA)) ** 2
"""The constant of theorem 1(ii), 4.91081: kept for comparison, as the theorem is false."""


@dataclass(frozen=True)
class Lipschitz:
    """Assumption 1: |ln p(x) - ln p(y)| <= constant * rho(x, y), rho given in words."""

    constant: float
    metric: str

    def epsilon(self, distance: float = 1.0) -> float:
        """Return 2 L rho, the pure epsilon of one draw from the posterior: theorem 2(i)."""
        return 2 * self.constant * distance

    def divergence(self, distance: float = 1.0) -> float:
        """Return a bound on the Kullback-Leibler divergence of two posteriors.

        Theorem 1(i) says 2 L rho. The log ratio of the posteriors lies in an interval of length R = 2 L rho, so the far
        smaller `divergence_of_range(R)` <= R^2 / 8 holds too, and is returned.
        """
        return divergence_of_range(self.epsilon(distance))


@dataclass(frozen=True)
class StochasticLipschitz:
    """Assumption 2: prior{theta : L(theta) > L} <= e^(-rate L) for all L, rho given in words."""

    rate: float
    metric: str


def divergence_of_range(length: float) -> float:
    """Return the largest KL(P || Q) when ln P/Q lies in an interval of this length R; it is attained by two points.

    f(R) = u - 1 - ln u with u = R / (e^R - 1), at most R^2 / 8.

    >>> round(divergence_of_range(1.0), 7)
    0.1233016
    """
    if length < 1e-4:
        return length * length / 8
    share = length / expm1(length)
    return share - 1 - log(share)


def categories_range(cells: int, least: Fraction) -> Fraction:
    """Return R = 2 ln((1 - (m - 1) least) / least), rounded up: what one record can do if every probability >= least.

    The log ratio of the likelihoods of two records is ln theta_i - ln theta_j, at most ln((1 - (m - 1) least) / least)
    in size, and its sign may be either.
    """
    if not 0 < least * cells < 1:
        raise DeclarationError(f"The least probability must be above 0 and below 1/{cells}.")
    with ctx.workprec(128):
        upper = (2 * (ball(1 - (cells - 1) * least) / ball(least)).log()).upper()
        above = (upper * 2**80).ceil().unique_fmpz()
        return Fraction(int(str(above)), 2**80)


def categories_lipschitz(cells: int, least: Fraction) -> Lipschitz:
    """Return L = ln((1 - (m - 1) least) / least) for records that differ or not (Hamming distance)."""
    return Lipschitz(float(categories_range(cells, least)) / 2, "number of records that differ")


def network_range(cells_of_nodes: Sequence[int], least: Fraction) -> Fraction:
    """Return R = 2 sum_i ln((1 - (K_i - 1) least) / least) for a network of nodes with K_i levels, at record level.

    One record may change every family, and each family adds its own range. Lemma 7's ln(1/smallest entry) for each
    variable that differs is false: changing one parent changes the entry of its children too.
    """
    return sum((categories_range(cells, least) for cells in cells_of_nodes), Fraction(0))


def network_lipschitz(constants: Sequence[float]) -> Lipschitz:
    """Return L = max_i L_i for a network, where |ln p(x_i | parents)/p(y_i | parents)| <= L_i if family i differs.

    This is lemma 2 of Zhang, Rubinstein and Dimitrakakis (2016) with distances between families; with distances between
    the variables themselves, as printed, it asks that no variable depends on its parents.
    """
    return Lipschitz(max(constants), "number of families that differ")


def network_rate(rates: Sequence[float], least_constant: float) -> float:
    """Return min_i c_i - ln|I| / L0, the stochastic constant of |I| nodes for all L >= L0 (union bound).

    This is lemma 3 of Zhang, Rubinstein and Dimitrakakis (2016) as it is stated; the factor ln|I| min c of its proof
    is a slip.
    """
    return min(rates) - log(len(rates)) / least_constant


def exponential_lipschitz(largest_rate: float) -> Lipschitz:
    """Return L = the largest rate: |ln p(x) - ln p(y)| = theta |x - y| for waiting times."""
    return Lipschitz(largest_rate, "|x - y|")


def exponential_rate(prior_rate: float) -> StochasticLipschitz:
    """Return lemma 3, which is exact: for theta ~ Exp(lambda), P(theta > L) = e^(-lambda L), so c = lambda."""
    return StochasticLipschitz(prior_rate, "|x - y|")


def laplace_location(scale: float) -> Lipschitz:
    """Return L = 1/scale for a Laplace distribution with an unknown centre (lemma 4, first interpretation)."""
    return Lipschitz(1 / scale, "|x - y|")


def laplace_rate(prior_rate: float) -> StochasticLipschitz:
    """Return c = lambda for Laplace records with inverse scale theta ~ Exp(lambda) (lemma 4, second interpretation)."""
    return StochasticLipschitz(prior_rate, "|x - y|")


def bernoulli_rate(prior: float) -> StochasticLipschitz:
    """Return c = Gamma(a + 1/2) / (sqrt(pi) Gamma(a)) for yes/no records under Beta(a, a), a >= 1.

    Lemma 5 says that c grows like a; it grows like sqrt(a / pi). Its literal binomial records satisfy no assumption.

    >>> round(bernoulli_rate(10).rate, 5)
    1.76197
    """
    if prior < 1:
        raise DeclarationError("This constant holds for prior parameters of at least 1.")
    return StochasticLipschitz(exp(lgamma(prior + 0.5) - lgamma(prior)) / sqrt(pi), "number of records that differ")


def normal_rate(prior_rate: float, largest_mean: float = 1.0) -> StochasticLipschitz:
    """Return c = 2 lambda for a normal distribution with precision ~ Exp(lambda) and |mean| <= 1.

    Lemma 6 puts the prior on the variance; there the assumption fails. With precision q, |ln p(x) - ln p(y)| =
    q/2 |x^2 - y^2 - 2 mu (x - y)| <= q/2 rho for rho = |x^2 - y^2| + 2 |x - y|.
    """
    if largest_mean > 1:
        raise DeclarationError("This constant holds for means of absolute value at most 1.")
    return StochasticLipschitz(2 * prior_rate, "|x^2 - y^2| + 2 |x - y|")


def product(constant: Lipschitz) -> Lipschitz:
    """Return the constant of n independent records under the summed distance: the same (lemma 1 without its factor n).

    |sum_i ln p(x_i)/p(y_i)| <= sum_i L rho(x_i, y_i).
    """
    return Lipschitz(constant.constant, f"sum over records of {constant.metric}")


def published_stochastic_epsilon(rate: float, distance: float = 1.0) -> tuple[float, float]:
    """Return what theorems 1(ii) and 2(ii) state, kappa rho / c and sqrt(kappa rho / (2 c)); both are false."""
    if rate <= 0:
        return inf, inf
    return KAPPA * distance / rate, sqrt(KAPPA * distance / (2 * rate))
