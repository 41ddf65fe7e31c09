"""How what was published is read: the true counts behind it, by the first engine that can."""

from discreet.reading.case import Case
from discreet.reading.engines.engine import MOST_NUMBERS, MOST_OPERATIONS, Engine, Exactness, Work
from discreet.reading.read import engine_for, exactness_of, read, refusal_of, why_not_exact, why_unreadable

__all__ = [
    "MOST_NUMBERS",
    "MOST_OPERATIONS",
    "Case",
    "Engine",
    "Exactness",
    "Work",
    "engine_for",
    "exactness_of",
    "read",
    "refusal_of",
    "why_not_exact",
    "why_unreadable",
]
