"""What is said about a case that no engine reads, and how a patient reader can allow work that would be refused."""

from math import ceil, floor, inf, log10

from discreet.errors import DeclarationError
from discreet.reading.case import MOST_NUMBERS, MOST_OPERATIONS, Case, Work, engines_of, refusal_of


def not_read(case: Case) -> DeclarationError:
    """Say why no engine reads a case and, if it is merely too much work, what allows it."""
    works = [engine.work(case) for engine in engines_of(case) if engine.misfit(case) is None]
    way_out = f" {patience_for(works[-1])}" if works else ""
    return DeclarationError(f"{case.label!r} cannot be read: {refusal_of(case)}. Nothing was read.{way_out}")


def require(work: Work, patience: float, undone: str) -> None:
    """Refuse work that is more than is allowed, and say what was not done and what allows it."""
    if not isinstance(patience, int | float) or not 0 < patience < inf:
        raise DeclarationError(f"patience must be a number above 0, such as 10; got {patience!r}. {undone}")
    if (why := work.refusal_for(patience)) is not None:
        raise DeclarationError(f"{why[0].upper()}{why[1:]}. {undone} {patience_for(work)}")


def patience_for(work: Work) -> str:
    """Say how a reader with enough time and memory can allow this work."""
    needed = max(work.operations / MOST_OPERATIONS, work.numbers / MOST_NUMBERS)
    last = 10.0 ** (floor(log10(needed)) - 1)
    needed = ceil(1.001 * needed / last) * last  # two digits, rounded up
    return f"patience={needed:.2g} (on the command line --patience {needed:.2g}) allows it."
