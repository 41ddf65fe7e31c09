"""The mechanism that a question names: any registered kind that accepts the question's model, with its own keys.

A kind may have constructors that find some of its numbers. They are named as in Python: "PosteriorSampling.tempered".
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from inspect import signature

from discreet._core.errors import DeclarationError, DiscreetError, meant
from discreet._core.exact import Exact
from discreet.mechanism import Model, Sized
from discreet.planning import HasCandidates
from discreet.publishing import why_only_claimed
from discreet.study._keys import Maker

_GIVEN = ("model", "size", "epsilon")
"""What every question gives to its mechanism."""


def mechanism_maker(written: str, about: str, model: Model, size: int, epsilon: Exact) -> Maker[Sized]:
    """Return what makes the mechanism that a question names; `about` is what the study calls its model."""
    kind, _, constructor = written.partition(".")
    accepted = {name: each for name, each in Sized.registered().items() if each.accepts_model(model)}
    if kind not in accepted:
        known = [name for name, each in accepted.items() if _can_be_published(each, (model, size, epsilon))]
        own = [name for name in known if accepted[name].__module__.startswith("discreet.")]
        raise DeclarationError(
            f"the mechanism is {written!r}; for the model {about!r} it must be one of "
            f"{', '.join(sorted(known))}.{meant(kind, own) or meant(kind, known)}"
        )
    makers = constructors_of(accepted[kind])
    if constructor not in makers:
        ways = ", ".join(f"{kind}.{name}" if name else kind for name in makers)
        raise DeclarationError(
            f"the mechanism {written!r} has no such constructor; use {ways}.{meant(constructor, makers)}"
        )
    return _maker(written, accepted[kind], makers[constructor], (model, size, epsilon))


def _can_be_published(kind: type[Sized], given: Sequence[object]) -> bool:
    """Return whether a kind, made from what every question gives, has a guarantee that is more than claimed."""
    with suppress(DiscreetError, TypeError):  # it needs further keys
        return why_only_claimed(kind(*given)) is None
    return True


def own_maker(written: str) -> Maker[Sized] | None:
    """Return what takes the own keys of a mechanism, whatever the model is; None if there is none of that name."""
    kind, _, constructor = written.partition(".")
    known = Sized.registered()
    makers = constructors_of(known[kind]) if kind in known else {}
    return _maker(written, known[kind], makers[constructor]) if constructor in makers else None


def ways_of(model: Model) -> list[str]:
    """Return all names by which a question about this model may name its mechanism."""
    accepted = {name: each for name, each in Sized.registered().items() if each.accepts_model(model)}
    return [f"{name}.{way}" if way else name for name, kind in accepted.items() for way in constructors_of(kind)]


def _maker(
    written: str, kind: type[Sized], make: Callable[..., Sized], given: Sequence[object] = (None, None, None)
) -> Maker[Sized]:
    public = frozenset(field.name for field in fields(kind))
    return Maker(written, make, dict(zip(_GIVEN, given, strict=True)), among=public)


def constructors_of(kind: type[Sized]) -> dict[str, Callable[..., Sized]]:
    """Return the class itself, and its constructors that take what every question gives."""
    contract = {*dir(Sized), *dir(HasCandidates)}
    own = {name: each for name, each in vars(kind).items() if not name.startswith("_") and name not in contract}
    named = [name for name, each in own.items() if isinstance(each, classmethod)]
    found = {name: getattr(kind, name) for name in named}
    return {"": kind} | {name: make for name, make in found.items() if set(_GIVEN) <= set(signature(make).parameters)}
