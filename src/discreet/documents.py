"""What a document is: one canonical text, read strictly, that names the class of what it describes.

Keys are sorted, there is no white space, numbers are finite, and a document with a repeated key is refused, so that two
programs can never read the same text differently. A document names a kind, and from the second version of that kind on
its version. Every version has a class of its own for ever, because a document of version 1 keeps its law, its epsilon
and its charge when there is a version 2:

    class Histogram(Additive, kind="Histogram", version=2): ...       # what is made from now on
    class FirstHistogram(Additive, kind="Histogram", version=1): ...  # what older documents mean
"""

import json
from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from discreet.errors import DocumentError
from discreet.on_demand import everything_registered

Document = dict[str, object]
"""An object of JSON: its values are looked at before they are used."""


def canonical_json(document: object) -> str:
    """Return the one canonical text of a document.

    >>> canonical_json({"b": 1, "a": [1.5, "x"]})
    '{"a":[1.5,"x"],"b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_json(text: str) -> object:
    """Read JSON, refusing repeated keys, NaN and infinities."""
    try:
        found: object = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_constant)
    except (ValueError, RecursionError, TypeError) as problem:
        raise DocumentError(f"This is not a JSON document that can be read: {str(problem).rstrip('.')}.") from None
    return found


def _without_repetition(pairs: list[tuple[str, object]]) -> Document:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise DocumentError("A key stands twice in the same object.")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise DocumentError(f"{name} is not a number that a document may hold.")


class Kinds:
    """The classes that documents of one sort may name, by kind and version."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self.newest: dict[str, type[Documented]] = {}
        self.earlier: dict[tuple[str, int], type[Documented]] = {}

    def register(self, made: "type[Documented]") -> None:
        """Add a class under its kind and version."""
        kind, version = made.document_kind, made.document_version
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
        """Tell whether documents may name this very class, not just one that it inherits from."""
        return made in (self.newest.get(kind_of(made)), self.earlier.get((kind_of(made), version_of(made))))

    def named(self, document: Mapping[str, object]) -> "type[Documented]":
        """Return the class that a document names, or refuse it in words."""
        kind, version = document.get("kind"), document.get("version", 1)
        if isinstance(kind, str) and kind not in self.newest:
            everything_registered()
        newest = self.newest.get(kind) if isinstance(kind, str) else None
        if newest is None:
            known = ", ".join(sorted(self.newest))
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


class DocumentedModel(Documented):
    """A model that documents may name."""

    kinds = Kinds("model")


class DocumentedMechanism(Documented):
    """A mechanism that documents may name, with a model that they may name."""

    kinds = Kinds("mechanism")
    document_types: ClassVar[Mapping[str, object]] = {"model": DocumentedModel.kinds}


def kind_of(made: type) -> str:
    """Return the name by which documents know a class: its own if it registered none."""
    return str(getattr(made, "document_kind", made.__name__))


def version_of(made: type) -> int:
    """Return the version of a class: 1 if it states none."""
    return int(getattr(made, "document_version", 1))
