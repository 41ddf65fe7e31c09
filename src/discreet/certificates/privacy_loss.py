"""The privacy loss of a mechanism: how much one output can tell two neighbouring data sets apart.

For output laws P and Q the loss of an output is L = ln P/Q. A mechanism's worst pair gives the law of L under P; from
it follow the pure epsilon, max L, and the exact delta(epsilon) = E[(1 - e^(epsilon - L))^+], the hockey-stick
divergence.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, nextafter

from discreet.exact import Exact, exact


@dataclass(frozen=True)
class PrivacyLoss:
    """A privacy loss with finitely many exact values, and an upper bound on the probability of each."""

    losses: tuple[Fraction, ...]
    probabilities: tuple[float, ...]

    @property
    def epsilon(self) -> Fraction:
        """Return the exact pure epsilon: the largest loss."""
        return max(self.losses)

    def delta_at(self, epsilon: Exact) -> float:
        """Return delta(epsilon), rounded up.

        >>> loss = PrivacyLoss((Fraction(1), Fraction(-1)), (0.7310585786300049, 0.2689414213699951))
        >>> round(loss.delta_at(0), 12)
        0.46211715726
        """
        allowed = exact(epsilon, "epsilon")
        total = 0.0
        for loss, probability in zip(self.losses, self.probabilities, strict=True):
            if loss > allowed:
                total += probability * -expm1(float(allowed - loss))
        return min(1.0, nextafter(total * (1 + 1e-15), 1.0)) if total else 0.0
