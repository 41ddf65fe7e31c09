from discreet.reading.exactness import exactness_of, why_not_exact
from discreet.reading.problem import (
    MOST_NUMBERS,
    MOST_OPERATIONS,
    CostEstimate,
    Problem,
    Solver,
    rejection_of,
    solve,
    solver_for,
    why_unreadable,
)
from discreet.reading.published import Exactness

__all__ = [
    "MOST_NUMBERS",
    "MOST_OPERATIONS",
    "CostEstimate",
    "Exactness",
    "Problem",
    "Solver",
    "exactness_of",
    "rejection_of",
    "solve",
    "solver_for",
    "why_not_exact",
    "why_unreadable",
]
