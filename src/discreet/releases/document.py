"""Models, mechanisms and guarantees as plain documents, and back.

A document names its kind and the values of its public fields, nothing else. Reading is strict: an unknown kind, a
missing or an unknown field, or a value of the wrong type is refused, and every check of the constructor runs again.
What may change between versions, and what may not, is written in docs/documents.md.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from discreet.errors import DeclarationError, DocumentError
from discreet.exact import exact_text
from discreet.guarantees import Adjacency, Evidence, Guarantee
from discreet.guarantees.pseudo_metric import MetricGuarantee
from discreet.kinds import DocumentedMechanism, DocumentedModel
from discreet.mechanisms import Mechanism, Plan
from discreet.releases.fields import convert, document_of, read_document

MECHANISMS: dict[str, type[Any]] = DocumentedMechanism.kinds.newest
"""The newest version of every mechanism that a document may name. A mechanism joins by registering its kind."""

MODELS: dict[str, type[Any]] = DocumentedModel.kinds.newest
"""The newest version of every model that a document may name."""


class _Metric(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    metric: str


class _Guarantee(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    adjacency: str
    evidence: str
    reason: str
    metric: _Metric | msgspec.UnsetType = msgspec.UNSET


def model_document(model: Any) -> dict[str, Any]:
    """Return a model as a document."""
    if not DocumentedModel.kinds.hold(type(model)):
        raise DocumentError(
            f"A release about a {type(model).__name__} cannot be written: documents know {', '.join(sorted(MODELS))}. "
            "A family of your own is for planning, checking and rehearsal."
        )
    return document_of(model)


def read_model(document: Any) -> Any:
    """Return the model that a document describes."""
    return _read(document, DocumentedModel.kinds)


def mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    """Return a mechanism as a document: its kind and its public fields."""
    model = model_document(mechanism.model)
    written: Any = mechanism
    return document_of(written) | {"model": model}


def read_mechanism(document: Any) -> Mechanism:
    """Return the mechanism that a document describes."""
    mechanism: Mechanism = _read(document, DocumentedMechanism.kinds)
    return mechanism


def _read(document: Any, kinds: Any) -> Any:
    try:
        return read_document(document, kinds)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def plan_document(plan: Plan, labels: Sequence[str]) -> dict[str, Any]:
    """Return a plan as it stands in a ledger: its delta, and each mechanism with its label."""
    parts = zip(plan.mechanisms, labels, strict=True)
    written = [{"label": label, "mechanism": mechanism_document(mechanism)} for mechanism, label in parts]
    return {"kind": "Plan", "delta": exact_text(plan.delta), "parts": written}


def guarantee_document(guarantee: Guarantee, reason: str | None = None) -> dict[str, Any]:
    """Return a guarantee as a document, for the reason that was given when it was first written."""
    metric = guarantee.metric
    document: dict[str, Any] = {
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


def read_guarantee(document: Any) -> Guarantee:
    """Return the guarantee that a document states."""
    read: _Guarantee = convert(document, _Guarantee)
    try:
        metric = None
        if isinstance(read.metric, _Metric):
            metric = MetricGuarantee(read.metric.epsilon, read.metric.delta, read.metric.metric)
        adjacency, evidence = Adjacency(read.adjacency), Evidence(read.evidence)
        return Guarantee(read.epsilon, read.delta, adjacency, evidence, read.reason, metric)
    except ValueError as problem:
        raise DocumentError(str(problem)) from None
