"""The Dirichlet distribution; with two categories it is the Beta distribution."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, zeta

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.mathematics.distributions.beta import BetaMixture
from discreet.mathematics.roots import root


@dataclass(frozen=True, init=False)
class Dirichlet:
    """Probabilities of m categories with density ~ prod_i theta_i^(concentration_i - 1).

    >>> Dirichlet((5, 5)).mean
    array([0.5, 0.5])
    """

    concentration: tuple[float, ...]

    def __init__(self, concentration: Sequence[float] | Floats) -> None:
        values = tuple(float(value) for value in concentration)
        if len(values) < 2 or not all(np.isfinite(value) and value > 0 for value in values):
            raise DeclarationError("A Dirichlet distribution needs at least two parameters, all finite and above 0.")
        object.__setattr__(self, "concentration", values)

    @property
    def _array(self) -> Floats:
        return np.array(self.concentration)

    @property
    def mean(self) -> Floats:
        """Return the expectations."""
        return np.asarray(self._array / self._array.sum())

    def marginal(self, place: int) -> BetaMixture:
        """Return the distribution of one probability."""
        a = self.concentration[place]
        return BetaMixture(np.ones(1), np.array([a]), np.array([sum(self.concentration) - a]))

    def log_density(self, theta: Floats) -> Floats:
        """Return the logarithm of the density at probabilities that sum to 1 (last axis)."""
        constant = gammaln(self._array.sum()) - gammaln(self._array).sum()
        return np.asarray(constant + ((self._array - 1) * np.log(theta)).sum(axis=-1))

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent vectors of probabilities."""
        return generator.dirichlet(self._array, size=count)

    @classmethod
    def with_mean_logs(cls, mean_logs: Floats) -> "Dirichlet":
        """Return the Dirichlet with given E[log theta_i]: the closest one, by Kullback-Leibler, to any law with them.

        Solves digamma(b_i) - digamma(sum b) = mean_logs_i through the one unknown sum b.
        """
        total = _total_for(mean_logs)
        return cls(_inverse_digamma(mean_logs + digamma(total)))


def log_dirichlet_rows(shapes: Floats, generator: np.random.Generator) -> Floats:
    """Draw logarithms of probabilities, one Dirichlet for each row; none vanishes, however small its shape is.

    A Gamma(a) number is a Gamma(a + 1) number times U^(1/a), and Gamma numbers divided by their sum are Dirichlet.
    """
    logs = np.log(generator.standard_gamma(shapes + 1)) - generator.standard_exponential(shapes.shape) / shapes
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))


def _total_for(mean_logs: Floats) -> float:
    """Find s with sum_i digamma^-1(mean_logs_i + digamma(s)) = s; the left side grows more slowly than the right."""

    def excess(log_total: float) -> float:
        total = np.exp(log_total)
        return float(_inverse_digamma(mean_logs + digamma(total)).sum() / total - 1)

    return float(np.exp(root(excess, np.log(1e-8), np.log(1e15), absolute=1e-14)))


def _inverse_digamma(y: Floats) -> Floats:
    """Return x with digamma(x) = y by Newton's method (Minka, 2000, appendix C)."""
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 50.0)) + 0.5, -1 / (y - digamma(1.0)))
    for _ in range(6):
        x = x - (digamma(x) - y) / zeta(2, x)  # zeta(2, x) is the derivative of digamma
    return np.asarray(x)
