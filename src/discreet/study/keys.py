"""Further keys of a question: the parameters of what they make, with the types that are declared there.

A class says in its constructor what it takes. So a new mechanism or family can be asked from a study file at once, and
a key that it does not know, or a value of another type, is refused in words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin

from discreet.errors import DeclarationError
from discreet.records.nearest import meant

Made = TypeVar("Made")


@dataclass(frozen=True)
class Maker(Generic[Made]):
    """What keys can make: a class or one of its constructors, the name of it, and what it is given in any case."""

    name: str
    kind: type[Any]
    make: Callable[..., Made]
    fixed: Mapping[str, object]

    @cached_property
    def keys(self) -> dict[str, Parameter]:
        """Return the keys that may be declared: parameters that are public fields and not given in any case."""
        public = {field.name for field in fields(self.kind)} - set(self.fixed)
        return {name: each for name, each in signature(self.make).parameters.items() if name in public}

    def made(self, given: Mapping[str, object], others: Iterable[str] = ()) -> Made:
        """Return what the keys make, or refuse one that is missing, not known or of another type.

        `others` are keys that belong elsewhere in a question, for those who misspelt one of them.
        """
        for key, value in given.items():
            if key not in self.keys:
                raise DeclarationError(self._unknown(key, others))
            if not _fits(value, self.keys[key].annotation):
                raise DeclarationError(f"{key} of {self.name} is {_words(self.keys[key].annotation)}; got {value!r}.")
        needed = [key for key, each in self.keys.items() if each.default is Parameter.empty]
        if missing := [key for key in needed if key not in given]:
            such = ", such as '1e-7'" if missing == ["delta"] else ""
            raise DeclarationError(f"{self.name} needs a {' and a '.join(missing)}{such}.")
        return self.make(**self.fixed, **given)

    def _unknown(self, key: str, others: Iterable[str]) -> str:
        if key == "delta":
            return f"{self.name} takes no delta: its guarantee is pure."
        known = f"takes {', '.join(self.keys)}" if self.keys else "takes no further keys"
        return f"{key!r} is no key of {self.name}, which {known}.{meant(key, (*self.keys, *others))}"


def _fits(value: object, kind: object) -> bool:
    """Tell whether a value of a study file is of a declared type; a truth value is no number."""
    if isinstance(kind, UnionType):
        return any(_fits(value, each) for each in get_args(kind))
    if get_origin(kind) is Sequence:
        return isinstance(value, list) and all(_fits(each, get_args(kind)[0]) for each in value)
    return type(value) is kind


def _words(kind: object) -> str:
    """Say which values a declared type has in a study file."""
    parts = [each for each in (get_args(kind) if isinstance(kind, UnionType) else (kind,)) if each is not type(None)]
    if get_origin(parts[0]) is Sequence:
        return f"a list, each {_words(get_args(parts[0])[0])}"
    if parts == [int]:
        return "a whole number"
    return "a text" if parts == [str] else "a number, or text for an exact one"
