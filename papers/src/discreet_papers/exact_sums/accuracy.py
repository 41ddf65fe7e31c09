"""How accurate a release of a table will be: exact sums where a mechanism can be written out, else made-up studies.

Of other models see `discreet.accuracy`, which simulates whole studies of any model.
"""

from discreet._core.errors import DeclarationError
from discreet.inference import why_not_exact
from discreet.mathematics.distributions._dirichlet import tails
from discreet.mechanism import HasProgram, Sized, require_mechanism
from discreet.tables import Categories
from discreet.tables._plug_in import has_plain_counts
from discreet_papers.exact_sums.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet_papers.exact_sums.simulated_accuracy import simulated_accuracy

_REPEATS = 200


def accuracy(mechanism: Sized, level: float = 0.9, repeats: int = _REPEATS, seed: int = 2) -> ExactAccuracy:
    """Return the accuracy to expect of a release: by exact sums if all outputs can be listed, else by simulation.

    >>> from discreet.tables import GeometricHistogram
    >>> from discreet.tables import Categories
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> round(accuracy(GeometricHistogram(coin, size=100, epsilon=1)).hellinger, 12)
    0.081706781416
    """
    tails(level)
    require_mechanism(mechanism, "Accuracy is that")
    if not isinstance(mechanism.model, Categories) or isinstance(mechanism.model, HasProgram):
        raise DeclarationError(
            f"accuracy works for counts of Categories; got a {type(mechanism.model).__name__}. For any other model "
            "use discreet.accuracy, which simulates whole studies."
        )
    if not has_plain_counts(mechanism):
        raise DeclarationError(
            "accuracy works for mechanisms that publish a number for each cell, or parameters; "
            f"{type(mechanism).__name__} publishes something else. Nothing was computed. Rehearse it instead: read "
            "what simulate draws with infer."
        )
    if (outputs := possible_outputs(mechanism)) is not None:
        return WrittenOut(mechanism, outputs).accuracy(level)
    if (why := why_not_exact(mechanism)) is not None:
        raise DeclarationError(
            f"What a reader would learn from {type(mechanism).__name__} cannot be computed exactly: {why}. Try "
            "distance_accuracy, which tells how far its output lies from the exact posterior."
        )
    return simulated_accuracy(mechanism, level, repeats, seed)
