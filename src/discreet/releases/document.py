"""Models and mechanisms as plain documents, and back, by the types that are declared in their classes.

A document names its kind and the values of its public fields, nothing else. Writing leaves out a field that has its
default, so that a field can be added later and no older document changes. Reading is strict: an unknown kind, a missing
or an unknown field, or a value of the wrong type is refused, and every check of the constructor runs again. What may
change between versions, and what may not, is written in docs/documents.md.
"""

from dataclasses import MISSING, Field, fields, is_dataclass
from fractions import Fraction
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints, overload

import msgspec

from discreet.documents import Document, Documented, DocumentedMechanism, DocumentedModel, Kinds, kind_of, version_of
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import exact, exact_text
from discreet.guarantees import Guarantee
from discreet.guarantees.pseudo_metric import MetricGuarantee
from discreet.mechanisms import Mechanism
from discreet.models import Model
from discreet.records.bands import day_text
from discreet.records.columns import Column

Converted = TypeVar("Converted")


def model_document(model: object) -> Document:
    """Return a model as a document."""
    if not isinstance(model, DocumentedModel) or not DocumentedModel.kinds.hold(type(model)):
        raise DocumentError(
            f"A release about a {type(model).__name__} cannot be written: documents know "
            f"{', '.join(Model.registered())}. A family of your own is for planning, checking and rehearsal."
        )
    return document_of(model)


def read_model(document: object) -> Documented:
    """Return the model that a document describes."""
    return _restored(document, DocumentedModel.kinds)


def mechanism_document(mechanism: Mechanism) -> Document:
    """Return a mechanism as a document: its kind and its public fields."""
    return document_of(mechanism) | {"model": model_document(mechanism.model)}


def read_mechanism(document: object) -> Mechanism:
    """Return the mechanism that a document describes."""
    found = _restored(document, DocumentedMechanism.kinds)
    if not isinstance(found, Mechanism):
        raise DocumentError(f"A {type(found).__name__} is no mechanism.")
    return found


def _restored(document: object, kinds: Kinds) -> Documented:
    try:
        return read_document(document, kinds)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def guarantee_document(guarantee: Guarantee, reason: str | None = None) -> Document:
    """Return a guarantee as a document, for the reason that was given when it was first written."""
    metric = guarantee.metric
    document: Document = {
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "adjacency": guarantee.adjacency.value,
        "evidence": guarantee.evidence.value,
        "reason": guarantee.reason if reason is None else reason,
    }
    return document if metric is None else document | {"metric": _metric_document(metric)}


def _metric_document(guarantee: MetricGuarantee) -> dict[str, str]:
    numbers = {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}
    return numbers | {"metric": guarantee.metric}


def document_of(value: Documented) -> Document:
    """Return a model or a mechanism as a document: its kind, its version from the second on, and its public fields."""
    kind, version = kind_of(type(value)), version_of(type(value))
    return {"kind": kind, **({"version": version} if version > 1 else {}), **_plain_fields(value)}


def read_document(document: object, kinds: Kinds) -> Documented:
    """Return the model or mechanism that a document describes."""
    values = convert(document, Document)
    kind = kinds.named(values)
    return kind.restored(**_read_fields(kind, {n: v for n, v in values.items() if n not in ("kind", "version")}))


@overload
def convert(document: object, kind: type[Converted]) -> Converted: ...


@overload
def convert(document: object, kind: object) -> object: ...


def convert(document: object, kind: object) -> object:
    """Read a value of a declared type, strictly."""
    try:
        return msgspec.convert(document, kind, strict=True, dec_hook=_read_exact)
    except msgspec.ValidationError as problem:
        raise DocumentError(f"The document does not fit its schema: {problem}.") from None
    except UnicodeEncodeError:
        raise DocumentError("A text of the document holds half of a character: a lone surrogate.") from None


def _read_exact(kind: type, value: object) -> object:
    if kind is object:  # anything that JSON holds
        return value
    if kind is Fraction and isinstance(value, str):
        return exact(value)
    raise DocumentError(f"A {kind.__name__} is written as text.")


def _fields(kind: type) -> dict[str, Field[object]]:
    return {field.name: field for field in fields(kind) if field.init}


def _plain_fields(value: object) -> Document:
    others = value.document_values() if isinstance(value, Documented) else {}
    contents = {name: others.get(name, getattr(value, name)) for name in _fields(type(value))}
    optional = {name: field.default for name, field in _fields(type(value)).items() if field.default is not MISSING}
    return {n: _plain(content) for n, content in contents.items() if n not in optional or content != optional[n]}


def _plain(content: object) -> object:
    if isinstance(content, tuple):
        return [_plain(each) for each in content]
    if isinstance(content, Documented):
        return document_of(content)
    if is_dataclass(content):
        return _plain_fields(content)
    return exact_text(content) if isinstance(content, Fraction) else content


def _read_fields(kind: type, values: Document) -> Document:
    """Return the values of all fields that a document gives."""
    known = _fields(kind)
    needed = {name for name, field in known.items() if field.default is MISSING}
    if not needed <= set(values) <= set(known):
        raise DocumentError(
            f"{kind_of(kind)} has the fields {sorted(known)}; the document has {sorted(values)}. A field that is not "
            "known was added by a later version of discreet, or by somebody."
        )
    types = get_type_hints(kind) | dict(getattr(kind, "document_types", {}))
    return {name: _read(value, types[name]) for name, value in values.items()}


def _read(value: object, kind: object) -> object:
    """Read a value by its declared type; classes inside it are made by their own constructors."""
    if isinstance(kind, type) and issubclass(kind, Column):
        return _read_column(value)
    if isinstance(kind, Kinds):
        return read_document(value, kind)
    if not _holds_a_class(kind):
        return convert(value, kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**_read_fields(kind, convert(value, Document)))
    if get_origin(kind) is tuple:
        return tuple(_read(each, get_args(kind)[0]) for each in convert(value, list[object]))
    fitting = [each for each in get_args(kind) if _holds_a_class(each) == isinstance(value, dict)]
    if not fitting:
        raise DocumentError(f"The document does not fit its schema: {type(value).__name__} is none of {kind}.")
    return _read(value, Union[tuple(fitting)])  # noqa: UP007 - a union of what is found


def _holds_a_class(kind: object) -> bool:
    """Tell whether a declared type is, or holds, a class with fields of its own."""
    if isinstance(kind, type) and get_origin(kind) is None:
        return is_dataclass(kind)
    is_made_of = get_origin(kind) in (tuple, Union, UnionType)
    return is_made_of and any(_holds_a_class(each) for each in get_args(kind) if each not in (Ellipsis, NoneType))


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    levels: list[str | int | bool]
    outside: str | int | bool
    edges: list[float] = []
    dates: bool = False


def _read_column(value: object) -> Column:
    read = convert(value, _Column)
    if read.edges:
        edges = [day_text(edge) for edge in read.edges] if read.dates else read.edges
        names = [str(level) for level in read.levels[: len(edges) - 1]]
        column = Column.banded(read.name, edges, str(read.outside), names)
    else:
        column = Column(read.name, tuple(read.levels), read.outside)
    if column.levels != tuple(read.levels):
        raise DocumentError(f"The levels of {read.name!r} are not those that its declaration gives.")
    return column
