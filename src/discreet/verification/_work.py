"""How much work it is to check, audit or plan a mechanism: counted from its document, before any of it begins.

A document of one kilobyte may describe a table of a million cells or a trillion records. So every verb first counts
operations and numbers, as `inference.CostEstimate` does, against the same limits as an inference, and refuses in words
what exceeds them.
"""

from collections.abc import Sequence
from math import prod

from discreet.inference import CostEstimate, Exactness, Observed, Problem, solver_for
from discreet.mechanism import Mechanism, Model, Sized, tables_of
from discreet.noise import DRAWN_NUMBER

PLANNED = 20.0
"""A plan infers from many simulated studies: it may take as many operations as this many of the largest inferences."""

_DATA_SETS = 32  # about how many data sets an audit draws from
_INSTANCES = 1e10  # most operations of all comparisons of small instances
_ROW = 2e4  # operations for each number of a kind of record that is replaced


def verifying(mechanism: Mechanism) -> CostEstimate:
    """Return the work of comparing records at the real size and data sets of small instances, and of the noise."""
    numbers = numbers_of(mechanism.model)
    distributions = sum(measured.noise.operations.distribution for measured in Observed.before(mechanism).measurements)
    words = f"checking {type(mechanism).__name__} with {numbers} counts"
    return CostEstimate(words, _INSTANCES + _ROW * 64 * numbers + distributions, 64.0 * numbers)


def auditing(mechanism: object, model: Model, draws: int) -> CostEstimate:
    """Return the work of this many draws; for mechanisms from elsewhere, the usual cost per draw is assumed."""
    numbers = numbers_of(model)
    operations = draws * DRAWN_NUMBER * numbers
    if isinstance(mechanism, Mechanism):
        operations = drawing(mechanism, draws, _DATA_SETS)
    words = f"auditing {type(mechanism).__name__} with {numbers} counts and {draws} draws"
    return CostEstimate(words, operations, 0.5 * draws * numbers)


def drawing(mechanism: Mechanism, draws: int, data_sets: int) -> float:
    """Return the operations of drawing this many outputs, from this many data sets in all.

    The distribution of a choice or a draw is computed once for each data set; noise has one distribution for all.
    """
    observed = Observed.before(mechanism)
    if observed.measurements:
        return draws * sum(measured.noise.operations.draw for measured in observed.measurements)
    distributions = sum(cost.operations for cost in observed.costs)
    return draws * DRAWN_NUMBER * numbers_of(mechanism.model) + data_sets * distributions


def planning(mechanisms: Sequence[Mechanism], studies: int) -> CostEstimate:
    """Return the work of simulating, publishing and inferring from this many studies of each of some mechanisms.

    What is sampled by chains is counted as one inference of the most sweeps, which few studies need.
    """
    operations, held, worst = 0.0, 0.0, mechanisms[0]
    for mechanism in mechanisms:
        problem = Problem.before(mechanism)
        solver = solver_for(problem)
        if solver is None:
            continue
        estimate = solver.cost(problem)
        runs = 1 if solver.exactness is Exactness.SAMPLED else studies
        making, made = mechanism.model.simulation_cost(mechanism.size if isinstance(mechanism, Sized) else 1)
        operations += runs * estimate.operations + studies * (drawing(mechanism, 1, 1) + making)
        if max(estimate.numbers, made) > held:
            held, worst = max(estimate.numbers, made), mechanism
    records = f" for {worst.size} records" if isinstance(worst, Sized) else ""
    words = f"planning {type(worst).__name__}{records} with {studies} simulated studies"
    return CostEstimate(words, operations / PLANNED, held)


def numbers_of(model: Model) -> int:
    """Return how many counts or moments a model has."""
    if tables := tables_of(model):
        return sum(prod(len(column.levels) for column in table) for table in tables)
    return int(model.contributions(2)[0].shape[1])
