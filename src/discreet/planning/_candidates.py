"""Which mechanisms of a kind compete in a ranking under one guarantee."""

from collections.abc import Iterator
from fractions import Fraction
from inspect import Parameter, signature
from typing import ClassVar, Protocol, runtime_checkable

from discreet.mechanism import Model, Sized


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
    asked = model, size, epsilon, delta
    return kind.candidate_mechanisms(*asked) if issubclass(kind, HasCandidates) else _made(kind, *asked)


def _made(kind: type[Sized], model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
    asked = {"model": model, "size": size, "epsilon": epsilon} | ({"delta": delta} if delta else {})
    parameters = signature(kind).parameters.values()
    if all(each.name in asked or each.default is not Parameter.empty for each in parameters):
        yield kind(**{each.name: asked[each.name] for each in parameters if each.name in asked})


def free_parameter(of: Sized | type[Sized]) -> str | None:
    """Return the field that no guarantee determines, if there is one."""
    return of.free_parameter if isinstance(of, HasFreeParameter) else None
