"""How accurate a release will be: exact sums where a mechanism can be written out, made-up studies elsewhere."""

from typing import overload

from discreet.certificates.enumeration import number_of_tables
from discreet.errors import DeclarationError
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mechanisms import HellingerMechanism, Mechanism
from discreet.models import Categories
from discreet.planning.distance_accuracy import DistanceAccuracy, distance_accuracy
from discreet.planning.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet.planning.simulated_accuracy import simulated_accuracy
from discreet.reading.counts.enumerated import most_tables

_REPEATS = 200


@overload
def accuracy(
    mechanism: HellingerMechanism, level: float = ..., repeats: int = ..., seed: int = ...
) -> ExactAccuracy | DistanceAccuracy: ...


@overload
def accuracy(mechanism: Mechanism, level: float = ..., repeats: int = ..., seed: int = ...) -> ExactAccuracy: ...


def accuracy(
    mechanism: Mechanism, level: float = 0.9, repeats: int = _REPEATS, seed: int = 2
) -> ExactAccuracy | DistanceAccuracy:
    """Return what to expect of a release: exact sums if the mechanism can be written out, else `repeats` simulations.

    Of a Hellinger mechanism whose candidates cannot be listed it is the distance alone, without what is read from it.

    >>> from discreet.mechanisms import GeometricHistogram
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> round(accuracy(GeometricHistogram(coin, size=100, epsilon=1)).hellinger, 12)
    0.081706781416
    """
    tails(level)
    if not isinstance(mechanism, Mechanism):
        raise DeclarationError(f"Accuracy is that of a mechanism; got a {type(mechanism).__name__}.")
    if not isinstance(mechanism.model, Categories):
        raise DeclarationError(f"Accuracy is for counts of Categories; got a {type(mechanism.model).__name__}.")
    outputs = possible_outputs(mechanism)
    if outputs is not None:
        return WrittenOut(mechanism, outputs).accuracy(level)
    cells, most = len(mechanism.model.cells), most_tables(len(mechanism.model.cells))
    if isinstance(mechanism, HellingerMechanism) and number_of_tables(mechanism.size, cells, most) > most:
        return distance_accuracy(mechanism, repeats, seed)
    return simulated_accuracy(mechanism, level, repeats, seed)
