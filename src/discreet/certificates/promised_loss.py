"""The worst loss that two promises allow together: a pure epsilon, and a smaller epsilon with a delta."""

from fractions import Fraction

from discreet.certificates.adjacent_pairs import dominating_loss
from discreet.certificates.privacy_loss import PrivacyLoss
from discreet.exact import ball


def promised_loss(pure: Fraction, epsilon: Fraction, delta: Fraction) -> PrivacyLoss:
    """Return the worst loss that a pure epsilon and a guarantee (epsilon, delta) allow together.

    Pure epsilon p allows delta(e) = (e^p - e^e)/(1 + e^p); (epsilon, delta) allows (e^epsilon - 1 + 2 delta)/
    (e^epsilon + 1) at e = 0.
    """
    most = ball(pure).exp()
    if epsilon >= pure:
        return dominating_loss((Fraction(0), pure), (float(((most - 1) / (most + 1)).upper()), 0.0))
    inner, small = ball(epsilon).exp(), ball(delta)
    at_zero = ((most - 1) / (most + 1)).min((inner - 1 + 2 * small) / (inner + 1))
    at_epsilon = ((most - inner) / (most + 1)).min(small)
    heights = (float(at_zero.upper()), float(at_epsilon.upper()), 0.0)
    return dominating_loss((Fraction(0), epsilon, pure), heights)
