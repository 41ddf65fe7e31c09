from discreet.reading.case import (
    MOST_NUMBERS,
    MOST_OPERATIONS,
    Case,
    Engine,
    Work,
    engine_for,
    read,
    refusal_of,
    why_unreadable,
)
from discreet.reading.exactness import exactness_of, why_not_exact
from discreet.reading.published import Exactness

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
