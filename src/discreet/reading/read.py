"""Which engine reads a case, asked before anything is charged and again when it is read: one list, the best first."""

from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism
from discreet.on_demand import everything_registered
from discreet.reading.case import Case
from discreet.reading.engines.engine import Engine, Exactness, Reading


def engine_for(case: Case) -> Engine | None:
    """Return the first engine that does not refuse a case, or nothing if all do."""
    return next((engine for engine in _of_its_model(case) if engine.refusal(case) is None), None)


def refusal_of(case: Case) -> str | None:
    """Tell why no engine reads a case, or nothing if one does. No output is looked at.

    The reason is that of the engine that reads the most: the last that would fit but for the work, else the last that
    does not only approximate.
    """
    misfits, too_much = [], []
    for engine in _of_its_model(case):
        if (misfit := engine.misfit(case)) is not None:
            misfits.append((engine.exactness is Exactness.APPROXIMATE, misfit))
        elif (work := engine.work(case).refusal) is not None:
            too_much.append(work)
        else:
            return None
    if not misfits and not too_much:
        return f"no reading is known for a {type(case.model).__name__}"
    return too_much[-1] if too_much else sorted(misfits, key=lambda each: not each[0])[-1][1]


def why_unreadable(mechanism: Mechanism) -> str | None:
    """Tell why nobody could read a release by this mechanism, or nothing if it can be read: public facts alone decide.

    >>> from discreet.mechanisms import GeometricHistogram
    >>> from discreet.models import Categories
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> why_unreadable(GeometricHistogram(coin, size=100, epsilon=1))
    """
    return refusal_of(Case.before(mechanism))


def exactness_of(mechanism: Mechanism) -> Exactness | None:
    """Return how well a release by this mechanism will be read, or nothing if it cannot be."""
    engine = engine_for(Case.before(mechanism))
    return None if engine is None else engine.exactness


def why_not_exact(mechanism: Mechanism) -> str | None:
    """Tell why a release by this mechanism will not be read exactly, or nothing if it will."""
    case = Case.before(mechanism)
    exact = [engine for engine in _of_its_model(case) if engine.exactness is Exactness.EXACT]
    reasons = [engine.refusal(case) for engine in exact]
    return None if None in reasons or not reasons else reasons[-1]


def read(case: Case) -> Reading:
    """Return what a case tells, by the first engine that does not refuse it."""
    if (engine := engine_for(case)) is None:
        raise DeclarationError(f"{case.label!r} cannot be read: {refusal_of(case)}. Nothing was read.")
    return engine.read(case)


def _of_its_model(case: Case) -> list[Engine]:
    """Return the engines for a model in the order of the places that they state."""
    everything_registered()
    known = sorted(Engine.registered.items(), key=lambda each: (each[1], each[0].__name__))
    return [kind() for kind, _ in known if isinstance(case.model, kind.models)]
