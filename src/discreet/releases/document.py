"""Models, mechanisms and guarantees as plain documents, and back.

A document names its kind and the values of its public fields, nothing else. Reading is strict: an unknown kind, a
missing or an unknown field, or a value of the wrong type is refused, and every check of the constructor runs again.
"""

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, get_type_hints

import msgspec

from discreet.columns import Column
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import exact, exact_text
from discreet.guarantees import Adjacency, Evidence, Guarantee
from discreet.mechanisms import (
    ClampedLaplace,
    CubeCounts,
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    FamilyGaussians,
    FamilyHistograms,
    FlooredLaplace,
    GeometricHistogram,
    HellingerCalibrated,
    HellingerGlobal,
    HellingerLocal,
    HellingerReciprocal,
    HellingerSmooth,
    HellingerSmoothProved,
    HellingerTable,
    JointHistograms,
    LaplaceUpdates,
    Mechanism,
    PermuteAndFlip,
    Plan,
    RoundedLaplace,
    TruncatedLaplace,
)
from discreet.models import Categories, Network

MECHANISMS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        GeometricHistogram,
        DiscreteLaplaceCounts,
        DiscreteGaussianHistogram,
        DiscreteGaussianCounts,
        CubeCounts,
        JointHistograms,
        FamilyHistograms,
        FamilyGaussians,
        LaplaceUpdates,
        HellingerGlobal,
        HellingerSmooth,
        HellingerSmoothProved,
        HellingerReciprocal,
        HellingerLocal,
        HellingerCalibrated,
        HellingerTable,
        PermuteAndFlip,
        RoundedLaplace,
        FlooredLaplace,
        TruncatedLaplace,
        ClampedLaplace,
    )
}
"""The mechanisms that a document may name. A new mechanism is added here."""


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    levels: list[str | int | bool]
    outside: str | int | bool
    edges: list[float] = []


class _Categories(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="Categories"):
    columns: list[_Column]
    prior: list[float]


class _Network(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="Network"):
    variables: list[_Column]
    parents: list[list[str]]
    prior: list[list[float]]


class _Guarantee(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    adjacency: str
    evidence: str
    reason: str


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


def model_document(model: Any) -> dict[str, Any]:
    """Return a model as a document."""
    if isinstance(model, Network):
        variables = [_column_document(column) for column in model.variables]
        rows = [list(row) for row in model.prior]
        return {"kind": "Network", "variables": variables, "parents": [list(p) for p in model.parents], "prior": rows}
    columns = [_column_document(column) for column in model.columns]
    return {"kind": "Categories", "columns": columns, "prior": list(model.prior)}


def _column_document(column: Column) -> dict[str, Any]:
    document = {"name": column.name, "levels": list(column.levels), "outside": column.outside}
    return document | ({"edges": list(column.edges)} if column.edges else {})


def read_model(document: Any) -> Any:
    """Return the model that a document describes."""
    read = convert(document, _Categories | _Network)
    if isinstance(read, _Network):
        return Network([_read_column(column) for column in read.variables], read.parents, read.prior)
    return Categories([_read_column(column) for column in read.columns], prior=read.prior)


def _read_column(read: _Column) -> Column:
    if read.edges:
        column = Column.banded(read.name, read.edges, str(read.outside))
    else:
        column = Column(read.name, tuple(read.levels), read.outside)
    if column.levels != tuple(read.levels):
        raise DocumentError(f"The levels of {read.name!r} are not those that its declaration gives.")
    return column


def mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    """Return a mechanism as a document: its kind and its public fields."""
    kind: Any = type(mechanism)
    document: dict[str, Any] = {"kind": kind.__name__}
    for field in fields(kind):
        value = getattr(mechanism, field.name)
        value = model_document(value) if field.name == "model" else value
        value = list(value) if isinstance(value, tuple) else value
        document[field.name] = exact_text(value) if isinstance(value, Fraction) else value
    return document


def read_mechanism(document: Any) -> Mechanism:
    """Return the mechanism that a document describes."""
    values = dict(convert(document, dict[str, Any]))
    kind = MECHANISMS.get(str(values.pop("kind", None)))
    if kind is None:
        raise DocumentError(f"Unknown mechanism {document.get('kind')!r}; known are {', '.join(sorted(MECHANISMS))}.")
    types = get_type_hints(kind)
    names = {field.name for field in fields(kind)}
    if set(values) != names:
        raise DocumentError(f"{kind.__name__} has the fields {sorted(names)}; the document has {sorted(values)}.")
    try:
        read = {n: read_model(v) if n == "model" else convert(v, types[n]) for n, v in values.items()}
        mechanism: Mechanism = kind(**read)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None
    return mechanism


def plan_document(plan: Plan, labels: Sequence[str]) -> dict[str, Any]:
    """Return a plan as it stands in a ledger: its delta, and each mechanism with its label."""
    parts = zip(plan.mechanisms, labels, strict=True)
    written = [{"label": label, "mechanism": mechanism_document(mechanism)} for mechanism, label in parts]
    return {"kind": "Plan", "delta": exact_text(plan.delta), "parts": written}


def guarantee_document(guarantee: Guarantee) -> dict[str, str]:
    """Return a guarantee as a document."""
    return {
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "adjacency": guarantee.adjacency.value,
        "evidence": guarantee.evidence.value,
        "reason": guarantee.reason,
    }


def read_guarantee(document: Any) -> Guarantee:
    """Return the guarantee that a document states."""
    read = convert(document, _Guarantee)
    try:
        return Guarantee(read.epsilon, read.delta, Adjacency(read.adjacency), Evidence(read.evidence), read.reason)
    except ValueError as problem:
        raise DocumentError(str(problem)) from None
