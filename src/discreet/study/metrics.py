"""Questions under a metric: so much epsilon for each unit of a column, instead of so much for any change whatever."""

from dataclasses import replace

from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism
from discreet.models.asked import Declared
from discreet.planning.suggest import suggest_per_unit
from discreet.study.file import DeclaredQuestion
from discreet.study.models import model_maker, model_of

_MANY = 10**9


def per_unit(declared: DeclaredQuestion, study: Declared, size: int) -> tuple[Mechanism, str]:
    """Return what publishes a question with `epsilon_per_unit`, and why it is that one."""
    if declared.epsilon is not None or declared.delta is not None:
        raise DeclarationError(
            "epsilon_per_unit stands instead of epsilon and delta: it promises so much for each unit of the column. "
            "What it costs for any change whatever, which the ledger is charged, follows from the bounds."
        )
    maker = model_maker(declared.model, replace(study, size=_MANY, epsilon=1))  # as fine as cells go by themselves
    if strange := sorted(set(declared.further) - set(maker.keys)):
        raise DeclarationError(f"{strange[0]!r} is no key of {maker.name}, which takes {', '.join(maker.keys)}.")
    found = suggest_per_unit(model_of(declared, maker), size, declared.epsilon_per_unit or 0)
    if declared.mechanism not in (None, kind := type(found.mechanism).__name__):
        raise DeclarationError(f"epsilon_per_unit is published by {kind}; the mechanism is {declared.mechanism!r}.")
    return found.mechanism, found.reason
