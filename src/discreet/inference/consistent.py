"""Tables of releases made to agree by least squares."""

from discreet.errors import DeclarationError
from discreet.reading.consistent_tables import ConsistentTables, fit, noisy_parts
from discreet.reading.problem import Problem
from discreet.releases import Release


def consistent_tables(*releases: Release) -> ConsistentTables:
    """Return the best linear unbiased estimate of all tables, from one release or several of the same tables.

    It works for measured cells and contrasts with noise of any distribution; choices and draws measure nothing.
    """
    problem = Problem.of(releases)
    parts = noisy_parts(problem.measurements, problem.size) if problem.is_measured else None
    if parts is None:
        raise DeclarationError(
            f"Consistent tables are computed from noisy cells and contrasts of tables; {problem.label!r} holds "
            "something else. Nothing was computed. Read it with infer."
        )
    return fit(problem.model, problem.size, parts)
