"""What a document is: one canonical text, read strictly, that names the class of what it describes.

Keys are sorted, there is no white space, numbers are finite, and a document with a repeated key is refused, so that two
programs can never read the same text differently. A document names a kind, and from the second version of that kind on
its version. Every version has a class of its own for ever, because a document of version 1 keeps its distribution, its
epsilon and its charge when there is a version 2:

    class Histogram(Additive, kind="Histogram", version=2): ...       # what is made from now on
    class FirstHistogram(Additive, kind="Histogram", version=1): ...  # what older documents mean

Besides, a document has the values of public fields, nothing else, read by the types that are declared in the class.
Writing leaves out a field that has its default, so that a field can be added later and no older document changes.
Reading is strict: an unknown kind, a missing or an unknown field, or a value of the wrong type is refused, and every
check of the constructor runs again. What may change between versions, and what may not, is in docs/documents.md.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from fractions import Fraction
from hashlib import sha256
from math import isfinite
from types import NoneType, UnionType
from typing import ClassVar, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from discreet._core.errors import DocumentError
from discreet._core.exact import exact, exact_text
from discreet._core.fields import LEFT_OUT
from discreet._core.kinds import KINDS
from discreet._core.on_demand import load_all_kinds, load_kind

Converted = TypeVar("Converted")

_HALF = "A text of the document holds half of a character: a lone surrogate."

Document = dict[str, object]
"""An object of JSON: its values are looked at before they are used."""


def canonical_json(document: object) -> str:
    """Return the one canonical text of a document.

    >>> canonical_json({"b": 1, "a": [1.5, "x"]})
    '{"a":[1.5,"x"],"b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(text: str) -> str:
    """Return the fingerprint of a canonical text."""
    return sha256(text.encode()).hexdigest()


def read_json(text: str) -> object:
    """Read JSON, refusing repeated keys, NaN, infinities, numbers too large for a float, and halves of characters.

    So whatever was read can be written again.
    """
    try:
        found: object = json.loads(
            text, object_pairs_hook=_without_repetition, parse_constant=_no_constant, parse_float=_finite
        )
        if "\\ud" in text.lower():
            canonical_json(found).encode()
    except UnicodeEncodeError:
        raise DocumentError(_HALF) from None
    except (ValueError, RecursionError, TypeError) as problem:
        raise DocumentError(f"This is not a JSON document that can be read: {str(problem).rstrip('.')}.") from None
    return found


def _without_repetition(pairs: list[tuple[str, object]]) -> Document:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise DocumentError("A key stands twice in the same object.")
    return dict(pairs)


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise DocumentError(f"{text[:20]} is too large for a number of a document; larger ones are written as text.")
    return number


def _no_constant(name: str) -> None:
    raise DocumentError(f"{name} is not a number that a document may hold.")


class Kinds:
    """The classes that documents of one sort may name, by kind and version."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self.newest: dict[str, type[Documented]] = {}
        self.earlier: dict[tuple[str, int], type[Documented]] = {}

    def register(self, made: "type[Documented]") -> None:
        """Add a class under its kind and version; in words, all versions of a kind have its one name."""
        made.__name__, kind, version = made.document_kind, made.document_kind, made.document_version
        if kind in KINDS.get(self.sort, {}) and not made.__module__.startswith("discreet."):
            load_kind(self.sort, kind)  # so that nobody else can take the name before it is loaded
        known = self.newest.get(kind)
        if known is not None and version_of(known) < version:
            self.earlier[kind, version_of(known)] = known
        if known is None or version_of(known) < version:
            self.newest[kind] = made
        elif (kind, version) in self.earlier or version_of(known) == version:
            raise TypeError(f"Version {version} of the {self.sort} {kind!r} is registered twice.")
        else:
            self.earlier[kind, version] = made

    def hold(self, made: type) -> bool:
        """Return whether documents may name this very class, not just one that it inherits from."""
        return made in (self.newest.get(kind_of(made)), self.earlier.get((kind_of(made), version_of(made))))

    def known(self) -> "dict[str, type[Documented]]":
        """Return the newest version of every kind, by its name."""
        load_all_kinds(self.sort)
        return dict(sorted(self.newest.items()))

    def _knows(self, kind: str, version: int) -> bool:
        """Return whether this version of a kind was met already."""
        return kind in self.newest and (version == version_of(self.newest[kind]) or (kind, version) in self.earlier)

    def named(self, document: Mapping[str, object]) -> "type[Documented]":
        """Return the class that a document names, or refuse it in words."""
        kind, version = document.get("kind"), document.get("version", 1)
        if isinstance(kind, str) and not (type(version) is int and self._knows(kind, version)):
            load_kind(self.sort, kind)
        newest = self.newest.get(kind) if isinstance(kind, str) else None
        if newest is None:
            known = ", ".join(self.known())
            raise DocumentError(
                f"Unknown {self.sort} {kind!r}; known are {known}. It was made by a later version of discreet, or "
                "by another program."
            )
        if type(version) is not int or version < 1:
            raise DocumentError(f"The version of {kind} must be a whole number from 1 on; got {version!r}.")
        if version > version_of(newest):
            raise DocumentError(
                f"This is version {version} of {kind}, made by a later version of discreet; this one knows it up to "
                f"version {version_of(newest)}. Nothing was read. Install a newer version of discreet."
            )
        found = newest if version == version_of(newest) else self.earlier.get((str(kind), version))
        if found is None:
            raise DocumentError(f"There never was a version {version} of {kind}.")
        return found


class Documented:
    """Something that a document can hold. A class registers by `kind=...`; one without a kind is in no document."""

    kinds: ClassVar[Kinds]
    document_kind: ClassVar[str]
    document_version: ClassVar[int]
    document_types: ClassVar[Mapping[str, object]] = {}
    """Types of fields that a document writes otherwise than the class keeps them."""

    def __init_subclass__(cls, kind: str | None = None, version: int = 1) -> None:
        super().__init_subclass__()
        cls.document_kind, cls.document_version = cls.__name__ if kind is None else kind, version
        if kind is not None:
            cls.kinds.register(cls)

    def document_values(self) -> Mapping[str, object]:
        """Return fields whose value in a document is another than that of the field."""
        return {}

    @classmethod
    def restored(cls, **values: object) -> Self:
        """Return what a document describes, by the values of its fields; every check of the constructor runs."""
        make: Callable[..., Self] = cls
        return make(**values)


MODELS = Kinds("model")
"""The models that documents may name."""
MECHANISMS = Kinds("mechanism")
"""The mechanisms that documents may name."""


def kind_of(made: type) -> str:
    """Return the name by which documents know a class: its own if it registered none."""
    return str(getattr(made, "document_kind", made.__name__))


def version_of(made: type) -> int:
    """Return the version of a class: 1 if it states none."""
    return int(getattr(made, "document_version", 1))


def document_of(value: Documented) -> Document:
    """Return a model or a mechanism as a document: its kind, its version from the second on, and its public fields."""
    kind, version = kind_of(type(value)), version_of(type(value))
    return {"kind": kind, **({"version": version} if version > 1 else {}), **plain_fields(value)}


def read_document(document: object, kinds: Kinds) -> Documented:
    """Return the model or mechanism that a document describes."""
    values = convert(document, Document)
    kind = kinds.named(values)
    return kind.restored(**_read_fields(kind, {n: v for n, v in values.items() if n not in ("kind", "version")}))


def convert(document: object, kind: type[Converted]) -> Converted:
    """Read a value of a declared type, strictly."""
    try:
        return msgspec.convert(document, kind, strict=True, dec_hook=_read_exact)
    except msgspec.ValidationError as problem:
        raise DocumentError(f"The document does not fit its schema: {problem}.") from None
    except UnicodeEncodeError:
        raise DocumentError(_HALF) from None


def _read_exact(kind: type, value: object) -> object:
    if kind is object:  # anything that JSON holds
        return value
    if kind is Fraction and isinstance(value, str):
        return exact(value)
    raise DocumentError(f"A {kind.__name__} is written as text.")


def _fields(kind: type) -> dict[str, Field[object]]:
    return {field.name: field for field in fields(kind) if field.init}


def _defaults(kind: type) -> dict[str, object]:
    """Return the values of fields that documents leave out."""
    known = {name: each.metadata.get(LEFT_OUT, each.default) for name, each in _fields(kind).items()}
    return {name: default for name, default in known.items() if default is not MISSING}


def plain_fields(value: object) -> Document:
    """Return the public fields of a value as a document, without those that have their default."""
    others = value.document_values() if isinstance(value, Documented) else {}
    contents = {name: others.get(name, getattr(value, name)) for name in _fields(type(value))}
    optional = _defaults(type(value))
    return {n: _plain(content) for n, content in contents.items() if n not in optional or content != optional[n]}


def plain_values(values: Mapping[str, object]) -> Document:
    """Return values of fields, by name, as a document writes them."""
    return {name: _plain(value) for name, value in values.items()}


def _plain(content: object) -> object:
    if isinstance(content, tuple | list):
        return [_plain(each) for each in content]
    if isinstance(content, Documented):
        return document_of(content)
    if is_dataclass(content):
        return plain_fields(content)
    return exact_text(content) if isinstance(content, Fraction) else content


def _read_fields(kind: type, values: Document) -> Document:
    """Return the values of all fields that a document gives."""
    known = _fields(kind)
    if not set(known) - set(_defaults(kind)) <= set(values) <= set(known):
        raise DocumentError(
            f"{kind_of(kind)} has the fields {sorted(known)}; the document has {sorted(values)}. A field that is not "
            "known was added by a later version of discreet, or by somebody."
        )
    types = get_type_hints(kind) | dict(getattr(kind, "document_types", {}))
    return {name: _read(value, types[name]) for name, value in values.items()}


def _read(value: object, kind: object) -> object:
    """Read a value by its declared type; classes inside it are made by their own constructors."""
    if (own := getattr(kind, "from_document", None)) is not None:
        return own(value)
    if isinstance(kind, Kinds):
        return read_document(value, kind)
    if not _holds_a_class(kind):
        return convert(value, cast("type[object]", kind))
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**_read_fields(kind, convert(value, Document)))
    if get_origin(kind) is tuple:
        return tuple(_read(each, get_args(kind)[0]) for each in convert(value, list[object]))
    fitting = [each for each in get_args(kind) if _holds_a_class(each) == isinstance(value, dict)]
    if not fitting:
        raise DocumentError(f"The document does not fit its schema: {type(value).__name__} is none of {kind}.")
    return _read(value, Union[tuple(fitting)])  # noqa: UP007 - a union of what is found


def _holds_a_class(kind: object) -> bool:
    """Return whether a declared type is, or holds, a class with fields of its own."""
    if isinstance(kind, type) and get_origin(kind) is None:
        return is_dataclass(kind)
    is_made_of = get_origin(kind) in (tuple, Union, UnionType)
    return is_made_of and any(_holds_a_class(each) for each in get_args(kind) if each not in (Ellipsis, NoneType))
