"""Which mechanisms of a kind compete in a ranking under one guarantee."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from inspect import Parameter, signature
from typing import ClassVar, Protocol, TypeVar, cast, runtime_checkable

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, whole
from discreet.mechanism import Mechanism, Model, Sized

MechanismT = TypeVar("MechanismT", bound=Mechanism)


@runtime_checkable
class HasCandidates(Protocol):
    """A kind that says itself which of its mechanisms compete: several, others than its constructor makes, or none."""

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield the mechanisms of this kind that compete in a ranking under (epsilon, delta)."""


@runtime_checkable
class HasFreeParameter(Protocol):
    """A kind with a field that no guarantee determines, for which a ranking takes the best of a few values."""

    free_parameter: ClassVar[str]


def candidate_mechanisms(
    kind: type[Sized], model: Model, size: int, epsilon: Fraction, delta: Fraction
) -> Iterator[Sized]:
    """Return the mechanisms of a kind that compete in a ranking under (epsilon, delta).

    That is what the constructor makes, if it needs nothing more, unless the kind says otherwise.
    """
    if issubclass(kind, HasCandidates):
        return kind.candidate_mechanisms(model, size, epsilon, delta)
    return _made(kind, {"model": model, "size": size}, epsilon, delta)


def rivals_of(
    kind: type[Mechanism], model: Model, size: int | None, epsilon: Fraction, delta: Fraction
) -> Iterator[Mechanism]:
    """Return the mechanisms of a kind that compete, where without a size the number of records is secret."""
    if size is not None and issubclass(kind, Sized):
        return candidate_mechanisms(kind, model, size, epsilon, delta)
    return _made(kind, {"model": model}, epsilon, delta)


def kinds_for(is_secret: bool) -> dict[str, type[Mechanism]]:
    """Return the kinds of mechanisms of a secret, or of a public, number of records by their names."""
    return {name: kind for name, kind in Mechanism.registered().items() if issubclass(kind, Sized) is not is_secret}


def size_or_guess(size: int | None, about: int | None, epsilon: Exact | None) -> tuple[int, Exact]:
    """Return the public number of records or a guess of a secret one, and epsilon; refuse anything but one number."""
    if epsilon is None:
        raise DeclarationError("epsilon is missing: state the guarantee, such as epsilon=1. Nothing was computed.")
    if (size is None) is (about is None):
        raise DeclarationError(
            "State either the public number of records, as size=5000, or, where that number is secret too, a guess of "
            "it that does not come from the data, as about=5000. Nothing was computed."
        )
    return whole(about, "about") if size is None else whole(size, "size"), epsilon


def _made(kind: type[MechanismT], given: dict[str, object], epsilon: Fraction, delta: Fraction) -> Iterator[MechanismT]:
    asked, make = (
        given | {"epsilon": epsilon} | ({"delta": delta} if delta else {}),
        cast(Callable[..., MechanismT], kind),
    )
    parameters = signature(kind).parameters.values()
    if all(each.name in asked or each.default is not Parameter.empty for each in parameters):
        yield make(**{each.name: asked[each.name] for each in parameters if each.name in asked})


def free_parameter(of: Mechanism | type[Mechanism]) -> str | None:
    """Return the field that no guarantee determines, if there is one."""
    return of.free_parameter if isinstance(of, HasFreeParameter) else None
