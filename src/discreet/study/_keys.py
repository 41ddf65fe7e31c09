"""Further keys of a question: the parameters of what they make, with the types that are declared there.

A class says in its constructor what it takes. So a new mechanism or model can be used in a study file at once, and an
unknown key, or a value of another type, is refused in words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Generic, TypeVar, Union, get_args, get_origin

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import exact

Made = TypeVar("Made")
_ALSO: Mapping[object, tuple[type, ...]] = {float: (int,), Fraction: (int, float, str), None: (NoneType,)}
"""What a value may be besides the declared type."""


@dataclass(frozen=True)
class Maker(Generic[Made]):
    """What keys can make: its name, the function that makes it, and the arguments it always gets.

    `among` are the parameters that may be keys, by default all; `called` maps keys to parameters of another name.
    """

    name: str
    make: Callable[..., Made]
    fixed: Mapping[str, object]
    among: frozenset[str] | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def keys(self) -> dict[str, Parameter]:
        """Return the keys that may be declared, each with its parameter."""
        named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        free = [each for each in signature(self.make, eval_str=True).parameters.values() if each.kind in named]
        asked = [each for each in free if each.name not in self.fixed]
        return {self.called.get(p.name, p.name): p for p in asked if self.among is None or p.name in self.among}

    def made(self, given: Mapping[str, object], others: Iterable[str] = ()) -> Made:
        """Return what the keys make, or refuse one that is missing, not known or of another type.

        `others` are keys that belong elsewhere in a question, for those who misspelt one of them.
        """
        for key, value in given.items():
            if key not in self.keys:
                raise DeclarationError(self._unknown(key, others))
            if not _fits(value, self.keys[key].annotation):
                raise DeclarationError(
                    f"{key} of {self.name} must be {words_of_type(self.keys[key].annotation)}; got {value!r}."
                )
        needed = [key for key, each in self.keys.items() if each.default is Parameter.empty]
        if missing := [key for key in needed if key not in given]:
            raise DeclarationError(
                f"{self.name} needs {' and '.join(missing)}."
                if missing != ["delta"]
                else f"{self.name} needs a delta, such as '1e-7'."
            )
        return self.make(**self.fixed, **{self.keys[key].name: self._value(key, value) for key, value in given.items()})

    def _value(self, key: str, value: object) -> object:
        """Return a list as a tuple, as what keys make is frozen, and an exact number where one is declared."""
        if self.keys[key].annotation is Fraction and isinstance(value, str | int | float):
            return exact(value, key)
        return tuple(value) if isinstance(value, list) else value

    def _unknown(self, key: str, others: Iterable[str]) -> str:
        if key == "delta":
            return f"{self.name} takes no delta: its guarantee is pure differential privacy."
        known = f"takes {', '.join(self.keys)}" if self.keys else "takes no further keys"
        return f"{key!r} is not a key of {self.name}, which {known}.{meant(key, (*self.keys, *others))}"


def _fits(value: object, kind: object) -> bool:
    """Return whether a value of a study file has a declared type; a truth value is not a number."""
    parts = get_args(kind)
    if kind is object:
        return True
    if get_origin(kind) in (UnionType, Union):
        return any(_fits(value, each) for each in parts)
    if get_origin(kind) in (Sequence, tuple, list):
        return isinstance(value, list) and all(_fits(each, parts[0]) for each in value)
    if get_origin(kind) in (Mapping, dict):
        return isinstance(value, dict) and all(_fits(each, parts[1]) for each in value.values())
    return type(value) in (kind, *_ALSO.get(kind, ()))


def words_of_type(kind: object) -> str:
    """Say which values a declared type has in a study file."""
    parts = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    parts = tuple(each for each in parts if each is not NoneType)
    listed = [each for each in parts if get_origin(each) in (Sequence, tuple, list)]
    tables = [each for each in parts if get_origin(each) in (Mapping, dict)]
    words = [_word({each for each in parts if each not in (*listed, *tables)})]
    words += [f"a list in which each entry is {words_of_type(get_args(each)[0])}" for each in listed]
    words += [f"a table in which each value is {words_of_type(get_args(each)[1])}" for each in tables]
    return ", or ".join(word for word in words if word)


def _word(plain: set[object]) -> str:
    """Say in words what a single value is (neither a list nor a table)."""
    if not plain:
        return ""
    for kind, word in ((int, "a whole number"), (str, "a text"), (bool, "true or false")):
        if plain == {kind}:
            return word
    return "a number, or text for an exact one" if plain & {str, Fraction} else "a number"
