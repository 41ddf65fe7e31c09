"""How accurate a release will be: exact sums where a mechanism can be written out, made-up studies elsewhere."""

from discreet.distributions.interval import tails
from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism
from discreet.models import Categories
from discreet.planning.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet.planning.simulated_accuracy import simulated_accuracy

_REPEATS = 200


def accuracy(mechanism: Mechanism, level: float = 0.9, repeats: int = _REPEATS, seed: int = 2) -> ExactAccuracy:
    """Return what to expect of a release: exact sums if the mechanism can be written out, else `repeats` simulations.

    >>> from discreet.mechanisms import GeometricHistogram
    >>> coin = Categories("coin", levels=("heads", "tails"))
    >>> round(accuracy(GeometricHistogram(coin, size=100, epsilon=1)).hellinger, 12)
    0.081706781416
    """
    tails(level)
    if not isinstance(mechanism, Mechanism):
        raise DeclarationError(f"Accuracy is that of a mechanism; got a {type(mechanism).__name__}.")
    if not isinstance(mechanism.model, Categories):
        raise DeclarationError(f"Accuracy is for counts of Categories; got a {type(mechanism.model).__name__}.")
    outputs = possible_outputs(mechanism)
    if outputs is None:
        return simulated_accuracy(mechanism, level, repeats, seed)
    return WrittenOut(mechanism, outputs).accuracy(level)
