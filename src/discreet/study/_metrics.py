"""Questions under a metric: an epsilon for each unit of a column, instead of one for any change whatever."""

from collections.abc import Iterable
from dataclasses import replace

from discreet._core.errors import DeclarationError
from discreet.mechanism import Declared, Mechanism, Sized, columns_of_numbers, sized
from discreet.numbers import NumberTable
from discreet.planning import suggest_per_unit
from discreet.privacy import Metric, Sum
from discreet.study._file import DeclaredQuestion
from discreet.study._models import model_maker, model_of

_MANY, _TREE, _GROUPS = 10**9, ("hangs_on", "lengths"), "between"


def per_unit(declared: DeclaredQuestion, study: Declared, size: int) -> tuple[Sized, str]:
    """Return what publishes a question with `epsilon_per_unit`, and why it is that one."""
    if declared.epsilon is not None or declared.delta is not None:
        raise DeclarationError(
            "epsilon_per_unit replaces epsilon and delta: it is the epsilon for each unit of distance in the "
            "column. The epsilon for an arbitrary change, which the ledger is charged, follows from the bounds."
        )
    maker = model_maker(
        declared.model, replace(study, size=_MANY, epsilon=1, is_per_unit=True)
    )  # as fine as the default cells
    keys = {key: value for key, value in declared.further.items() if key in _TREE and key not in maker.keys}
    between = {key: value for key, value in declared.further.items() if key == _GROUPS and "quantiles" in maker.keys}
    if strange := sorted(set(declared.further) - set(maker.keys) - set(keys) - set(between)):
        raise DeclarationError(f"{strange[0]!r} is not a key of {maker.name}, which takes {', '.join(maker.keys)}.")
    model = model_of(declared, maker)
    odd = [key for key, value in keys.items() if not isinstance(value, dict)]
    if keys and (wrong := odd or columns_of_numbers(model)):
        raise DeclarationError(
            f"hangs_on and lengths are tables by level, but a numeric column has no levels; got {wrong[0]!r}."
        )
    if between and not isinstance(model, NumberTable):
        raise DeclarationError(
            "between is for quantiles and distributions by group; for sums it follows from epsilon, so leave it out."
        )
    found = suggest_per_unit(model, size, declared.epsilon_per_unit or 0, **keys, **between)
    if declared.mechanism not in (None, kind := type(found.mechanism).__name__):
        raise DeclarationError(f"epsilon_per_unit needs the mechanism {kind}; got {declared.mechanism!r}.")
    return sized(found.mechanism), found.reason


def metric_of(mechanisms: Iterable[Mechanism]) -> Metric:
    """Return the metric of a ledger for these questions: the one that they share, or the sum of those of their columns.

    Ordinary questions have none, and are charged by those of their columns.
    """
    found = {}
    for mechanism in mechanisms:
        metric = mechanism.guarantee.metric
        if metric is not None and isinstance(metric.metric, Metric):
            found[metric.metric.digest] = metric.metric
    if not found:
        raise DeclarationError(
            "budget.epsilon_per_unit adds up the epsilon_per_unit of the questions, but no question has one. "
            "Declare budget.epsilon instead."
        )
    metrics = list(found.values())
    try:
        return metrics[0] if len(metrics) == 1 else Sum(metrics)
    except DeclarationError:
        raise DeclarationError(
            "budget.epsilon_per_unit needs a single distance for each column, but two questions measure the same "
            f"column differently: {'; '.join(each.unit for each in metrics)}. Use the same cells, or separate "
            "ledgers."
        ) from None
