"""Sums of products over records, in one pass over any source."""

from discreet.errors import SourceError
from discreet.records.batches import as_source
from discreet.records.moments import MomentPlan, Wholes


def sum_moments(data: object, plan: MomentPlan) -> tuple[Wholes, int]:
    """Return the sum of every product of the plan, and the number of records, in one pass over the data."""
    source = as_source(data)
    if not hasattr(source, "sum_moments"):
        raise SourceError(f"A {type(source).__name__} cannot sum products. Pass a frame, a file or lists.")
    return source.sum_moments(plan)
