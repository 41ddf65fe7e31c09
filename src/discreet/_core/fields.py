"""Fields of frozen dataclasses that take what a person may write and keep what it means, such as 0.1 as one tenth.

A class declares both types and the function from one to the other, and the constructor is made from that:

    @frozen()
    class Budget:
        epsilon: Converted[Exact, Fraction] = converted(positive)
        delta: Converted[Exact, Fraction] = converted(probability, default=0)

        def __post_init__(self) -> None: ...  # conditions on several fields, if there are any

Values are converted in the order of the fields, so that a `computed` field may depend on those before it. A class that
other dataclasses extend has a constructor of its own: mypy would read an inherited `Converted` as what is given.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar, dataclass_transform, get_args

from discreet._core.exact import Exact

__all__ = ["Converted", "computed", "converted", "frozen", "optional"]

Given = TypeVar("Given")
Kept = TypeVar("Kept")
Made = TypeVar("Made")

LEFT_OUT = "left out"
"""Under this key a field's metadata hold the value that documents leave out: MISSING if they leave out none."""

_NOTHING: Any = MISSING


class Converted(Generic[Given, Kept]):
    """A field that is given as one type and kept as another; what is kept is found in the instance, as always."""

    name: str
    given: object

    def __init__(
        self, convert: Callable[[Any, Given, str], Kept], default: Given, left_out: Kept, compare: bool = True
    ) -> None:
        self.convert, self.field = convert, field(default=default, compare=compare, metadata={LEFT_OUT: left_out})

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:  # there is none: so Python reads what `__set__` put into the instance

        def __get__(self, made: object, owner: type) -> Kept: ...

    def __set__(self, made: object, value: Given) -> None:
        vars(made)[self.name] = self.convert(made, value, self.name)


Number = Converted[Exact, Fraction]
OptionalNumber = Converted[Exact | None, Fraction | None]
Whole = Converted[int, int]
Checked = Converted[Kept, Kept]
"""What is given is kept as it is, if it passes."""


def converted(
    convert: Callable[[Given, str], Kept],
    *,
    default: Given = _NOTHING,
    called: str | None = None,
    left_out: Kept = _NOTHING,
    compare: bool = True,
) -> Converted[Given, Kept]:
    """Return a field converted by a function of what is given and its name in messages: that of the field, or `called`.

    A document states the field also when it has its default, unless that is `left_out`.
    """
    return Converted(
        lambda _, value, name: convert(value, name if called is None else called), default, left_out, compare
    )


def computed(
    convert: Callable[[Any, Given], Kept], *, default: Given = _NOTHING, left_out: Kept = _NOTHING
) -> Converted[Given, Kept]:
    """Return a field converted by a method, which may use the fields before it."""
    return Converted(lambda made, value, _: convert(made, value), default, left_out)


def optional(convert: Callable[[Exact, str], Fraction]) -> Callable[[Exact | None, str], Fraction | None]:
    """Return a conversion that leaves None as it is."""
    return lambda value, name: None if value is None else convert(value, name)


@dataclass_transform(frozen_default=True, field_specifiers=(converted, computed, field))
def frozen(*, repr: bool = True) -> Callable[[type[Made]], type[Made]]:
    """Return the decorator that makes a frozen dataclass, some of whose fields may be `Converted`.

    The annotations of the class are what is kept, those of its constructor what may be given.

    >>> from discreet._core.exact import positive
    >>> @frozen()
    ... class Rate:
    ...     value: Number = converted(positive)
    ...     per: Number = converted(positive, default=1)
    >>> Rate("0.5"), Rate.__annotations__["value"]
    (Rate(value=Fraction(1, 2), per=Fraction(1, 1)), <class 'fractions.Fraction'>)
    """

    def make(kind: type[Made]) -> type[Made]:
        own = {name: each for name, each in vars(kind).items() if isinstance(each, Converted)}
        kept = dict(kind.__annotations__)
        for name, each in own.items():
            each.given, kept[name] = get_args(kept[name])
            setattr(kind, name, each.field)
        kind.__annotations__ = kept
        made = dataclass(frozen=True, repr=repr)(kind)
        for name, each in own.items():
            setattr(made, name, each)
        every = {each.name: getattr(made, each.name, None) for each in fields(made)}  # type: ignore[arg-type]
        given = {name: each.given for name, each in every.items() if isinstance(each, Converted)}
        made.__init__.__annotations__ = made.__init__.__annotations__ | given
        return made

    return make
