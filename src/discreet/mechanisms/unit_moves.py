"""Independent discrete Laplace numbers that one record moves by one at most: what they cost together, exactly.

A number with noise P(u) ~ e^(-r |u|) that moves by one has a loss of r or -r and no other, the likelier one with
probability 1 / (1 + e^-r): the loss of randomised response, rho = r tanh(r / 2). Independent numbers add, so

    rho = max over all changes c of sum_i r_i tanh(r_i / 2) |c_i|,   c_i in {-1, 0, 1}, so that |c_i| = c_i^2.
"""

from fractions import Fraction

from discreet.guarantees.zcdp import pure_rho
from discreet.mechanisms.quantities import Quantities
from discreet.noise import Laplace
from discreet.noise.structure import epsilon_weights


def unit_moves_rho(quantities: Quantities, noise: Laplace) -> Fraction:
    """Return the largest sum of r tanh(r / 2) over the numbers that one record moves, rounded up."""
    rates = epsilon_weights(noise.structure) or ()
    return quantities.most(tuple(pure_rho(rate) for rate in rates), noise.blocks, 2)
