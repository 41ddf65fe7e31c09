"""What is said of a case that no engine reads, and how somebody who can wait allows work that is refused otherwise."""

from math import ceil, floor, log10

from discreet.errors import DeclarationError
from discreet.reading.case import MOST_NUMBERS, MOST_OPERATIONS, Case, Work, engines_of, refusal_of


def not_read(case: Case) -> DeclarationError:
    """Say why no engine reads a case, and what allows it if it is too much work only."""
    works = [engine.work(case) for engine in engines_of(case) if engine.misfit(case) is None]
    way_out = f" {patience_for(works[-1])}" if works else ""
    return DeclarationError(f"{case.label!r} cannot be read: {refusal_of(case)}. Nothing was read.{way_out}")


def patience_for(work: Work) -> str:
    """Say how somebody who can wait, and has the memory, allows this work."""
    needed = max(work.operations / MOST_OPERATIONS, work.numbers / MOST_NUMBERS)
    last = 10.0 ** (floor(log10(needed)) - 1)
    needed = ceil(1.001 * needed / last) * last  # two digits, never too few
    return f"patience={needed:.2g} (on the command line --patience {needed:.2g}) allows it."
