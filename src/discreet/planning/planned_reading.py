"""Which reading a plan is about: the one that `infer` gives by default, in words."""

from discreet.mechanisms import Mechanism
from discreet.planning.many_studies import own_pair
from discreet.reading import Case
from discreet.reading.own_sums import MOST_LISTED_CELLS

_DEFAULT = "Planned for the default reading"
_EVEN = "Averages over made-up studies whose shares are drawn from a uniform Dirichlet distribution."


def planned_reading(mechanism: Mechanism) -> str:
    """Say how a release by this mechanism will be read, and from which law studies were made up."""
    model = mechanism.model
    if not model.is_table:
        return "Averages over made-up studies drawn from the prior."
    if model.is_prior_declared:
        return f"{_DEFAULT}: all cells together, under the declared prior. Averages over made-up studies drawn from it."
    if len(model.cells) == 2:
        return f"{_DEFAULT}: both shares with a uniform prior, intervals extended to 0 or 1. {_EVEN}"
    if not _has_own_sums(mechanism):
        return f"{_DEFAULT}: all cells together, with the strength of the prior learnt. {_EVEN}"
    own = "each interval from its own noisy sum, extended to 0 or 1; errors are those of means read together"
    return f"{_DEFAULT}: {own}. {_EVEN}"


def _has_own_sums(mechanism: Mechanism) -> bool:
    """Tell whether groups of cells have a law of their own, as far as that is known before anything is drawn."""
    case = Case.before(mechanism)
    if case.is_measured:
        return own_pair(mechanism) is not None
    return bool(case.draws) or len(mechanism.model.cells) <= MOST_LISTED_CELLS
