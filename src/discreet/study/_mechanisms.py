"""The mechanism that a question names: any registered kind that accepts the question's model, with its own keys.

A kind may have constructors that find some of its numbers. They are named as in Python: "PosteriorSampling.tempered".
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from inspect import signature

from discreet._core.errors import DeclarationError, DiscreetError, meant
from discreet._core.exact import Exact
from discreet.mechanism import Mechanism, Model, Sized
from discreet.planning import HasCandidates
from discreet.publishing import why_only_claimed
from discreet.study._keys import Maker

_GIVEN = ("model", "size", "epsilon")
"""What every question gives to its mechanism; no size where the number of records is secret."""


def mechanism_maker(written: str, about: str, model: Model, size: int | None, epsilon: Exact) -> Maker[Mechanism]:
    """Return what makes the mechanism that a question names; `about` is what the study calls its model.

    Without a size the number of records is secret.
    """
    kind, _, constructor = written.partition(".")
    given = {"model": model, "epsilon": epsilon} | ({} if size is None else {"size": size})
    every = {name: each for name, each in Mechanism.registered().items() if each.accepts_model(model)}
    accepted = {name: each for name, each in every.items() if issubclass(each, Sized) is (size is not None)}
    if kind not in accepted:
        known = [name for name, each in accepted.items() if _can_be_published(each, given)]
        own = [name for name in known if accepted[name].__module__.startswith("discreet.")]
        if kind in every:
            raise DeclarationError(_other_neighbours(kind, is_secret=size is None, known=sorted(known)))
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
    return _maker(written, accepted[kind], makers[constructor], given)


def _other_neighbours(kind: str, is_secret: bool, known: Sequence[str]) -> str:
    """Say why a mechanism does not go with the study's neighbours."""
    if not is_secret:
        return (
            f"{kind} keeps the number of records secret, and this study declares it as public. Declare neighbours = "
            "'add or remove' instead of size, or use another mechanism."
        )
    return (
        f"{kind} takes the number of records as public, in its noise, among its candidates or as the width of its "
        f"draws: "
        "with neighbours = 'add or remove' a release would tell whether somebody is in the data. The mechanism must be "
        f"one of {', '.join(known) or 'none so far'}."
    )


def _can_be_published(kind: type[Mechanism], given: Mapping[str, object]) -> bool:
    """Return whether a kind, made from what every question gives, has a guarantee that is more than claimed."""
    make: Callable[..., Mechanism] = kind
    with suppress(DiscreetError, TypeError):  # it needs further keys
        return why_only_claimed(make(**given)) is None
    return True


def own_maker(written: str) -> Maker[Mechanism] | None:
    """Return what takes the own keys of a mechanism, whatever the model is; None if there is none of that name."""
    kind, _, constructor = written.partition(".")
    known = Mechanism.registered()
    makers = constructors_of(known[kind]) if kind in known else {}
    return _maker(written, known[kind], makers[constructor]) if constructor in makers else None


def ways_of(model: Model, is_secret: bool = False) -> list[str]:
    """Return all names by which a question about this model may name its mechanism."""
    known = {name: each for name, each in Mechanism.registered().items() if issubclass(each, Sized) is not is_secret}
    accepted = {name: each for name, each in known.items() if each.accepts_model(model)}
    return [f"{name}.{way}" if way else name for name, kind in accepted.items() for way in constructors_of(kind)]


def _maker(
    written: str, kind: type[Mechanism], make: Callable[..., Mechanism], given: Mapping[str, object] | None = None
) -> Maker[Mechanism]:
    public = frozenset(field.name for field in fields(kind))
    return Maker(written, make, dict.fromkeys(_given(kind)) if given is None else given, among=public)


def _given(kind: type[Mechanism]) -> tuple[str, ...]:
    return _GIVEN if issubclass(kind, Sized) else tuple(name for name in _GIVEN if name != "size")


def constructors_of(kind: type[Mechanism]) -> dict[str, Callable[..., Mechanism]]:
    """Return the class itself, and its constructors that take what every question gives."""
    contract = {*dir(Sized), *dir(HasCandidates)}
    own = {name: each for name, each in vars(kind).items() if not name.startswith("_") and name not in contract}
    named = [name for name, each in own.items() if isinstance(each, classmethod)]
    found = {name: getattr(kind, name) for name in named}
    return {"": kind} | {
        name: make for name, make in found.items() if set(_given(kind)) <= set(signature(make).parameters)
    }
