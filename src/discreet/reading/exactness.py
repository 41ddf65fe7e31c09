"""How well a release will be read, and why not exactly: asked when something is planned."""

from discreet.mechanisms import Sized
from discreet.reading.case import Case, engine_for, engines_of
from discreet.reading.published import Exactness


def exactness_of(mechanism: Sized) -> Exactness | None:
    """Return how well a release by this mechanism will be read, or nothing if it cannot be."""
    engine = engine_for(Case.before(mechanism))
    return None if engine is None else engine.exactness


def why_not_exact(mechanism: Sized) -> str | None:
    """Tell why a release by this mechanism will not be read exactly, or nothing if it will."""
    case = Case.before(mechanism)
    exact = [engine for engine in engines_of(case) if engine.exactness is Exactness.EXACT]
    reasons = [engine.refusal(case) for engine in exact]
    return None if None in reasons or not reasons else reasons[-1]
