"""Models as plain documents, and back.

A document names the kind of the model and its public fields. Reading is strict, and every check of the constructor runs
again.
"""

from dataclasses import fields
from fractions import Fraction
from typing import Any, get_type_hints

import msgspec

from discreet.errors import DocumentError
from discreet.exact import exact, exact_text
from discreet.models import (
    Categories,
    Exponential,
    InverseGamma,
    LinearRegression,
    Network,
    NormalMean,
    Poisson,
)
from discreet.models.moments import Bounds
from discreet.records.columns import Column, day_text

PLAIN: dict[str, type[Any]] = {kind.__name__: kind for kind in (Poisson, Exponential, NormalMean)}
"""Models whose fields are texts, whole numbers and exact numbers, and that are written field by field."""


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    levels: list[str | int | bool]
    outside: str | int | bool
    edges: list[float] = []
    dates: bool = False


class _Categories(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="Categories"):
    columns: list[_Column]
    prior: list[float]


class _Network(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="Network"):
    variables: list[_Column]
    parents: list[list[str]]
    prior: list[list[float]]


class _Bounds(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    low: str
    high: str
    missing: str
    dates: bool = False


class _InverseGamma(msgspec.Struct, forbid_unknown_fields=True):
    shape: str
    scale: str


class _LinearRegression(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="LinearRegression"):
    target: str
    features: list[str | _Column]
    bounds: list[_Bounds]
    prior_precision: str
    norm_bound: str | None
    noise: str | _InverseGamma
    intercept: bool
    grid: int


def convert(document: Any, kind: Any) -> Any:
    """Read a value of a declared type, strictly."""
    try:
        return msgspec.convert(document, kind, strict=True, dec_hook=_read_exact)
    except msgspec.ValidationError as problem:
        raise DocumentError(f"The document does not fit its schema: {problem}.") from None


def _read_exact(kind: type, value: Any) -> Any:
    if kind is Fraction and isinstance(value, str):
        return exact(value)
    raise DocumentError(f"A {kind.__name__} is written as text.")


def plain_document(value: Any) -> dict[str, Any]:
    """Return the public fields of a frozen value; exact numbers are written as text."""
    document: dict[str, Any] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        content = list(content) if isinstance(content, tuple) else content
        document[field.name] = exact_text(content) if isinstance(content, Fraction) else content
    return document


def model_document(model: Any) -> dict[str, Any]:
    """Return a model as a document."""
    kind = {"kind": type(model).__name__}
    if isinstance(model, Network):
        variables = [_column_document(column) for column in model.variables]
        rows = [list(row) for row in model.prior]
        return kind | {"variables": variables, "parents": [list(p) for p in model.parents], "prior": rows}
    if isinstance(model, LinearRegression):
        return kind | _regression_document(model)
    if type(model) in PLAIN.values():
        return kind | plain_document(model)
    if not isinstance(model, Categories):
        raise DocumentError(
            f"A release about a {type(model).__name__} cannot be written: documents know Categories, Network, "
            f"LinearRegression, {', '.join(PLAIN)}. A family of your own is for planning, checking and rehearsal."
        )
    return kind | {"columns": [_column_document(column) for column in model.columns], "prior": list(model.prior)}


def _column_document(column: Column) -> dict[str, Any]:
    document = {"name": column.name, "levels": list(column.levels), "outside": column.outside}
    edges = {"edges": list(column.edges)} if column.edges else {}
    return document | edges | ({"dates": True} if column.dates else {})


def _regression_document(model: LinearRegression) -> dict[str, Any]:
    noise = model.noise
    features = [each if isinstance(each, str) else _column_document(each) for each in model.features]
    return {
        "target": model.target,
        "features": features,
        "bounds": [_bounds_document(bounds) for bounds in model.bounds],
        "prior_precision": exact_text(model.prior_precision),
        "norm_bound": None if model.norm_bound is None else exact_text(model.norm_bound),
        "noise": plain_document(noise) if isinstance(noise, InverseGamma) else exact_text(noise),
        "intercept": model.intercept,
        "grid": model.grid,
    }


def _bounds_document(bounds: Bounds) -> dict[str, Any]:
    document = plain_document(bounds)
    return document if bounds.dates else {name: value for name, value in document.items() if name != "dates"}


def read_model(document: Any) -> Any:
    """Return the model that a document describes."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if isinstance(kind, str) and kind in PLAIN:
        return _read_plain(document)
    read = convert(document, _Categories | _Network | _LinearRegression)
    if isinstance(read, _Network):
        return Network([_read_column(column) for column in read.variables], read.parents, read.prior)
    if isinstance(read, _LinearRegression):
        return _read_regression(read)
    return Categories([_read_column(column) for column in read.columns], prior=read.prior)


def _read_plain(document: dict[str, Any]) -> Any:
    kind = PLAIN[document["kind"]]
    types = get_type_hints(kind)
    values = {name: value for name, value in document.items() if name != "kind"}
    if set(values) != {field.name for field in fields(kind)}:
        raise DocumentError(f"A {kind.__name__} has the fields {sorted(field.name for field in fields(kind))}.")
    return kind(**{name: convert(value, types[name]) for name, value in values.items()})


def _read_column(read: _Column) -> Column:
    if read.edges:
        edges = [day_text(edge) for edge in read.edges] if read.dates else read.edges
        names = [str(level) for level in read.levels[: len(edges) - 1]]
        column = Column.banded(read.name, edges, str(read.outside), names)
    else:
        column = Column(read.name, tuple(read.levels), read.outside)
    if column.levels != tuple(read.levels):
        raise DocumentError(f"The levels of {read.name!r} are not those that its declaration gives.")
    return column


def _read_regression(read: _LinearRegression) -> LinearRegression:
    noise = read.noise if isinstance(read.noise, str) else InverseGamma(read.noise.shape, read.noise.scale)
    return LinearRegression(
        read.target,
        [each if isinstance(each, str) else _read_column(each) for each in read.features],
        {bounds.name: (_bound(bounds, bounds.low), _bound(bounds, bounds.high)) for bounds in read.bounds},
        read.prior_precision,
        read.norm_bound,
        noise,
        read.intercept,
        {bounds.name: bounds.missing for bounds in read.bounds},
        read.grid,
    )


def _bound(read: _Bounds, bound: str) -> str:
    """Return a bound as it is declared: a day as a date."""
    return day_text(float(exact(bound))) if read.dates else bound
