"""The error for a problem that no solver takes, and the work limit that would admit a rejected one."""

from math import ceil, floor, inf, log10

from discreet._core.errors import DeclarationError
from discreet.inference._problem import MOST_NUMBERS, MOST_OPERATIONS, CostEstimate, Problem, rejection_of, solvers_of


def not_read(problem: Problem) -> DeclarationError:
    """Say why no solver reads a problem and, if it is merely too much work, what allows it."""
    works = [solver.cost(problem) for solver in solvers_of(problem) if solver.unsupported_reason(problem) is None]
    way_out = f" {patience_for(works[-1])}" if works else ""
    return DeclarationError(f"{problem.label!r} cannot be read: {rejection_of(problem)}. Nothing was read.{way_out}")


def require(work: CostEstimate, patience: float, undone: str) -> None:
    """Refuse work that is more than is allowed, and say what was not done and what allows it."""
    if not isinstance(patience, int | float) or not 0 < patience < inf:
        raise DeclarationError(f"patience must be a number above 0, such as 10; got {patience!r}. {undone}")
    if (why := work.rejection_for(patience)) is not None:
        raise DeclarationError(f"{why[0].upper()}{why[1:]}. {undone} {patience_for(work)}")


def patience_for(work: CostEstimate) -> str:
    """Say how a reader with enough time and memory can allow this work."""
    needed = max(work.operations / MOST_OPERATIONS, work.numbers / MOST_NUMBERS)
    last = 10.0 ** (floor(log10(needed)) - 1)
    needed = ceil(1.001 * needed / last) * last  # two digits, rounded up
    return f"patience={needed:.2g} (on the command line --patience {needed:.2g}) allows it."
