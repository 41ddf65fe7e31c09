"""A release read back, strictly: what the document promises must be what its mechanism gives."""

import re
from typing import Literal

import msgspec
import numpy as np

from discreet._core.documents import Document, Documented, DocumentedModel, convert, read_json
from discreet._core.errors import DeclarationError, DocumentError
from discreet.ledger import Receipt, Signature
from discreet.mechanism import Mechanism
from discreet.privacy import Adjacency, Evidence, Guarantee, Unit
from discreet.records import is_text
from discreet.release._release import (
    LONGEST_LABEL,
    LONGEST_REASON,
    SCHEMA,
    Release,
    guarantee_document,
    is_label,
    mechanism_document,
    read_mechanism,
    restored,
    within_group,
)


class _Receipt(msgspec.Struct, forbid_unknown_fields=True):
    sequence: int
    head: str
    ledger: str


class _UnitFields(msgspec.Struct, forbid_unknown_fields=True):
    description: str
    rows: int


class _Signature(msgspec.Struct, forbid_unknown_fields=True):
    algorithm: Literal["Ed25519"]
    key: str
    value: str


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: int
    label: str
    mechanism: Document
    guarantee: Document
    unit: _UnitFields
    output: list[int]
    simulated: bool
    software: str
    receipt: _Receipt | None
    group: str | None = None
    reading: Literal["none"] | msgspec.UnsetType = msgspec.UNSET
    signatures: list[_Signature] | msgspec.UnsetType = msgspec.UNSET


def _promised(mechanism: Mechanism, unit: Unit, group: str | None) -> Guarantee:
    try:
        return within_group(mechanism.guarantee.for_rows(unit.rows), group)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def _read_signatures(read: list[_Signature] | msgspec.UnsetType) -> tuple[Signature, ...]:
    """Return signatures that have the form of one; an empty list is not written."""
    if isinstance(read, msgspec.UnsetType):
        return ()
    fitting = all(re.fullmatch("[0-9a-f]{64}", e.key) and re.fullmatch("[0-9a-f]{128}", e.value) for e in read)
    if not read or not fitting or len({(each.key, each.value) for each in read}) < len(read):
        raise DocumentError(
            "Signatures must be a list of one or more, without repeats, each with a key of 64 and a value of 128 "
            "hexadecimal digits."
        )
    return tuple(Signature(each.algorithm, each.key, each.value) for each in read)


def _read_receipt(read: _Receipt) -> Receipt:
    if read.sequence < 2 or not (re.fullmatch("[0-9a-f]{64}", read.head) and re.fullmatch("[0-9a-f]{32}", read.ledger)):
        raise DocumentError("The receipt does not identify an entry of a ledger.")
    return Receipt(read.sequence, read.head, read.ledger)


def _read_unit(read: _UnitFields) -> Unit:
    try:
        return Unit(read.description, read.rows)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def _decoded(text: str | bytes) -> str:
    try:
        return text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise DocumentError("A release must be encoded in UTF-8; this document is not.") from None


class _Metric(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    metric: str | dict[str, object]
    most: str | None = None


class _Guarantee(msgspec.Struct, forbid_unknown_fields=True):
    epsilon: str
    delta: str
    adjacency: str
    evidence: str
    reason: str
    metric: _Metric | msgspec.UnsetType = msgspec.UNSET


def read_guarantee(document: object) -> Guarantee:
    """Return the guarantee that a document states."""
    read = convert(document, _Guarantee)
    try:
        metric = None
        if isinstance(read.metric, _Metric):
            from discreet.privacy import MetricGuarantee, read_metric  # few releases state one

            known = read.metric.metric if isinstance(read.metric.metric, str) else read_metric(read.metric.metric)
            metric = MetricGuarantee(read.metric.epsilon, read.metric.delta, known, read.metric.most)
        adjacency, evidence = Adjacency(read.adjacency), Evidence(read.evidence)
        return Guarantee(read.epsilon, read.delta, adjacency, evidence, read.reason, metric)
    except ValueError as problem:
        raise DocumentError(str(problem)) from None


def read_release(text: str | bytes) -> Release:
    """Read a release; refuse one that is not written in its canonical form or promises more than it gives."""
    plain = read_json(_decoded(text))
    if isinstance(plain, dict) and isinstance(plain.get("schema"), int) and plain["schema"] != SCHEMA:
        raise DocumentError(
            f"This release has schema {plain['schema']}; this version reads schema {SCHEMA}. It was made by a "
            "later version of discreet, or by another program. Nothing was read."
        )
    read = convert(plain, _Document)
    if not is_label(read.label) or not is_text(read.software):
        raise DocumentError(f"A label must be a string of 1 to {LONGEST_LABEL} characters.")
    mechanism = read_mechanism(read.mechanism)
    if mechanism_document(mechanism) != read.mechanism:
        raise DocumentError("The mechanism is not written in its canonical form.")
    stated = read_guarantee(read.guarantee)
    unit = _read_unit(read.unit)
    if read.group is not None and not is_label(read.group):
        raise DocumentError(f"A group must be a string of 1 to {LONGEST_LABEL} characters.")
    given = _promised(mechanism, unit, read.group)
    if not is_text(stated.reason) or len(stated.reason) > LONGEST_REASON:
        raise DocumentError(f"The reason of a guarantee must be a string of at most {LONGEST_REASON} characters.")
    if stated != given or read.guarantee != guarantee_document(given, stated.reason):
        raise DocumentError(f"The document states {stated!r}, but its mechanism gives {given!r}. Do not trust it.")
    if any(abs(value) >= 2**63 for value in read.output):
        raise DocumentError("The output contains counts too large to be read.")
    mechanism.space.check(np.array(read.output, dtype=np.int64))
    if (read.receipt is None) != read.simulated:
        raise DocumentError(
            "A release must have a receipt of its charge, and a simulated one must not; this document does the "
            "opposite."
        )
    receipt = _read_receipt(read.receipt) if read.receipt else None
    return Release(
        mechanism, tuple(read.output), read.label, unit, read.simulated, receipt, read.software, read.group,
        reason=stated.reason,
        reading=read.reading if isinstance(read.reading, str) else None,
        signatures=_read_signatures(read.signatures),
    )  # fmt: skip


def read_model(document: object) -> Documented:
    """Return the model that a document describes."""
    return restored(document, DocumentedModel.kinds)
