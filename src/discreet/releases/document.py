"""Models, mechanisms and guarantees as plain documents, and back.

A document names its kind and the values of its public fields, nothing else. Reading is strict: an unknown kind, a
missing or an unknown field, or a value of the wrong type is refused, and every check of the constructor runs again.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import msgspec

from discreet.errors import DeclarationError, DocumentError
from discreet.exact import exact_text
from discreet.guarantees import Adjacency, Evidence, Guarantee
from discreet.mechanisms import (
    BallDraw,
    BoxMoments,
    ClampedLaplace,
    ContrastGaussians,
    CubeCounts,
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    FamilyGaussians,
    FamilyHistograms,
    FlooredLaplace,
    FourierCounts,
    FourierUpdates,
    GaussianMoments,
    GeometricHistogram,
    HellingerCalibrated,
    HellingerGlobal,
    HellingerLocal,
    HellingerReciprocal,
    HellingerSmooth,
    HellingerSmoothProved,
    HellingerTable,
    JointHistograms,
    LaplaceMoments,
    LaplaceUpdates,
    MaximumPosterior,
    Mechanism,
    NetworkMaximum,
    NetworkSampling,
    PermuteAndFlip,
    Plan,
    PosteriorSampling,
    RoundedLaplace,
    TruncatedLaplace,
)
from discreet.releases.model_documents import convert, model_document, plain_document, read_model

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
        FourierUpdates,
        FourierCounts,
        ContrastGaussians,
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
        PosteriorSampling,
        NetworkSampling,
        NetworkMaximum,
        MaximumPosterior,
        BoxMoments,
        LaplaceMoments,
        GaussianMoments,
        BallDraw,
    )
}
"""The mechanisms that a document may name. A new mechanism is added here."""


class _Guarantee(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    adjacency: str
    evidence: str
    reason: str


def mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    """Return a mechanism as a document: its kind and its public fields."""
    document = {"kind": type(mechanism).__name__} | plain_document(mechanism)
    return document | {"model": model_document(mechanism.model)}


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
