"""A release: what was published, how it was made, and what it promises. Public by construction."""

import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from discreet.canonical import canonical_json, read_json
from discreet.columns import is_text
from discreet.errors import DeclarationError, DocumentError
from discreet.guarantees import ONE_RECORD, Adjacency, Guarantee, Unit
from discreet.ledger import Receipt, digest_of
from discreet.mechanisms import Mechanism
from discreet.releases.document import (
    guarantee_document,
    mechanism_document,
    read_guarantee,
    read_mechanism,
)
from discreet.releases.model_documents import convert
from discreet.version import __version__

LONGEST_LABEL = 500
SCHEMA = 1
"""The version of the document's form. A reader refuses versions that it does not know."""


class _Receipt(msgspec.Struct, forbid_unknown_fields=True):
    sequence: int
    head: str


class _Unit(msgspec.Struct, forbid_unknown_fields=True):
    description: str
    rows: int


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: int
    label: str
    mechanism: dict[str, Any]
    guarantee: dict[str, Any]
    unit: _Unit
    output: list[int]
    simulated: bool
    software: str
    receipt: _Receipt | None
    group: str | None = None


@dataclass(frozen=True, repr=False)
class Release:
    """What was published under a guarantee: the mechanism, its output, and the receipt of the charge."""

    mechanism: Mechanism
    output: tuple[int, ...]
    label: str
    unit: Unit = ONE_RECORD
    simulated: bool = False
    receipt: Receipt | None = None
    software: str = f"discreet {__version__}"
    group: str | None = None
    reader_model: Any = None

    def __repr__(self) -> str:
        kind = "simulated release" if self.simulated else "release"
        return f"<{kind} {self.label!r}: {self.mechanism!r}, output {self.output}>"

    @property
    def guarantee(self) -> Guarantee:
        """Return what this release promises."""
        return within_group(self.mechanism.guarantee.for_rows(self.unit.rows), self.group)

    @property
    def model(self) -> Any:
        """Return the model under which it is read: the one whose statistics were published, or the reader's own."""
        return self.mechanism.model if self.reader_model is None else self.reader_model

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the noisy output as an array. It is not the truth: read it with `infer`."""
        return np.array(self.output, dtype=np.int64)

    @property
    def digest(self) -> str:
        """Return the fingerprint of the canonical text."""
        return digest_of(self.to_json())

    def to_json(self) -> str:
        """Return the one canonical text of this release."""
        receipt = self.receipt and {"sequence": self.receipt.sequence, "head": self.receipt.head}
        return canonical_json(
            ({} if self.group is None else {"group": self.group})
            | {
                "schema": SCHEMA,
                "label": self.label,
                "mechanism": mechanism_document(self.mechanism),
                "guarantee": guarantee_document(self.guarantee),
                "unit": {"description": self.unit.description, "rows": self.unit.rows},
                "output": list(self.output),
                "simulated": self.simulated,
                "software": self.software,
                "receipt": receipt,
            }
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> "Release":
        """Read a release, strictly: what the document promises must be what its mechanism gives."""
        plain = read_json(_decoded(text))
        if isinstance(plain, dict) and isinstance(plain.get("schema"), int) and plain["schema"] != SCHEMA:
            raise DocumentError(f"This release has schema {plain['schema']}; this version reads schema {SCHEMA}.")
        read = convert(plain, _Document)
        if not is_label(read.label) or not is_text(read.software):
            raise DocumentError(f"A label is a text of 1 to {LONGEST_LABEL} characters.")
        mechanism = read_mechanism(read.mechanism)
        if mechanism_document(mechanism) != read.mechanism:
            raise DocumentError("The mechanism is not written in its canonical form.")
        stated = read_guarantee(read.guarantee)
        unit = _read_unit(read.unit)
        if read.group is not None and not is_label(read.group):
            raise DocumentError(f"A group is a text of 1 to {LONGEST_LABEL} characters.")
        given = _promised(mechanism, unit, read.group)
        if stated != given or read.guarantee != guarantee_document(given):
            raise DocumentError(f"The document states {stated!r}, but its mechanism gives {given!r}. Do not trust it.")
        if any(abs(value) >= 2**63 for value in read.output):
            raise DocumentError("The output holds counts beyond any that can be read.")
        mechanism.check_output(np.array(read.output, dtype=np.int64))
        if (read.receipt is None) != read.simulated:
            raise DocumentError(
                "A release has a receipt of its charge and a simulation has none; this has it otherwise."
            )
        if read.receipt and (read.receipt.sequence < 2 or not re.fullmatch("[0-9a-f]{64}", read.receipt.head)):
            raise DocumentError("The receipt does not name an entry of a ledger.")
        receipt = Receipt(read.receipt.sequence, read.receipt.head) if read.receipt else None
        return cls(mechanism, tuple(read.output), read.label, unit, read.simulated, receipt, read.software, read.group)

    def with_prior(self, prior: Any) -> "Release":
        """Return the same release, read under another prior.

        How it was made stays what it was: mechanisms that use the holder's prior keep it, and so does the document.
        """
        model = self.mechanism.model
        if not hasattr(model, "with_prior"):
            raise DeclarationError(
                f"The prior of a {type(model).__name__} is part of its model; it is not replaced by with_prior."
            )
        return replace(self, reader_model=model.with_prior(prior))


def _promised(mechanism: Mechanism, unit: Unit, group: str | None) -> Guarantee:
    try:
        return within_group(mechanism.guarantee.for_rows(unit.rows), group)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def within_group(guarantee: Guarantee, group: str | None) -> Guarantee:
    """Return a guarantee as it holds for the records of one group: neighbours differ in a record of that group."""
    return guarantee if group is None else replace(guarantee, adjacency=Adjacency.REPLACE_WITHIN_GROUP)


def _read_unit(read: _Unit) -> Unit:
    try:
        return Unit(read.description, read.rows)
    except DeclarationError as problem:
        raise DocumentError(str(problem)) from None


def is_label(text: Any) -> bool:
    """Tell whether something may serve as a label: a proper text, neither empty nor endless."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST_LABEL and is_text(text)


def _decoded(text: str | bytes) -> str:
    try:
        return text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise DocumentError("A release is written in UTF-8; this is not.") from None
