"""Published outputs as fits: what chains and weighted draws ask about the likelihood of counts."""

from math import prod

from discreet.mechanisms import sized
from discreet.mechanisms.evidence import Choice, Normalised
from discreet.models.model import Model, tables_of
from discreet.noise.structure import has_density
from discreet.reading.counts.choice_fit import ChoiceFit, NearFit
from discreet.reading.counts.drawn_fit import DrawnFit, drawn_operations, drawn_refusal
from discreet.reading.counts.fits import Fit, MarginFit, MeasuredFit, SummedFit, margins_of
from discreet.reading.problem import Observed, Problem


def fit_of(problem: Problem) -> Fit:
    """Return what all outputs say about the cells of the problem's tables."""
    parts: list[Fit] = []
    for observed in problem.observed:
        model = observed.mechanism.model if observed.is_margin else problem.model
        found = _fits(observed, model, problem.size)
        margins = margins_of(tables_of(model), tables_of(problem.model)) if observed.is_margin else None
        parts += found if margins is None else [MarginFit(each, margins) for each in found]
    return parts[0] if len(parts) == 1 else SummedFit(parts)


def _fits(observed: Observed, model: Model, size: int) -> list[Fit]:
    """Return what an output says about the cells of a model's own tables."""
    cells = sum(prod(len(column.levels) for column in table) for table in tables_of(model))
    if (choice := choice_of(observed)) is not None:
        near = choice.near_sums()
        return [ChoiceFit(choice) if near is None else NearFit(choice, near)]
    if observed.draw is not None:
        return [DrawnFit(rows, tables_of(model)) for rows in observed.draw.rows]
    return [MeasuredFit(observed.measurements, cells)]


def choice_of(observed: Observed) -> Choice | None:
    """Return the choice among candidates, if an output is one."""
    return observed.evidence if isinstance(observed.evidence, Choice) else None


def near_sums(observed: Observed) -> Normalised | None:
    """Return an approximation of the likelihood of a choice, if there is no other way."""
    choice = choice_of(observed)
    return None if choice is None else choice.near_sums()


def unreadable(observed: Observed) -> str | None:
    """Tell why an output has no likelihood that chains can ask for, or nothing if it has one."""
    if any(not has_density(measurement.noise.structure) for measurement in observed.measurements):
        return "its noise has no density"
    if observed.draw is not None:
        return drawn_refusal(observed.draw.rows) if observed.draw.rows else "its draws are not rows of probabilities"
    return None if observed.measurements else observed.likelihood_refusal


def rough(observed: Observed) -> str | None:
    """Tell why the likelihood of a choice is known only roughly, or nothing if it is known."""
    return None if near_sums(observed) is None else too_many(observed)


def too_many(observed: Observed) -> str:
    """Say that candidates are too many."""
    cells, size = observed.mechanism.space.length, sized(observed.mechanism).size
    return (
        f"the likelihood is a sum over all candidates of {size} records in {cells} cells, too many to evaluate "
        "repeatedly: ask for fewer cells or records, or publish noisy counts, which can be read at any size"
    )


def operations_of(observed: Observed) -> float:
    """Return about how many operations the likelihood of one row of counts takes."""
    if observed.draw is not None:
        return drawn_operations(observed.draw.rows)
    return sum(cost.operations for cost in observed.costs)
