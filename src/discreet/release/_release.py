"""A release: what was published, how it was made, and what it promises. Public by construction.

Its words, the reason of the guarantee and the name of the software, are kept as they were written and are not part of
equality: a later version may say the same in other words. Signatures stand outside what is signed. It is read back
strictly: what the document promises must be what its mechanism gives.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from discreet._core.documents import (
    MECHANISMS,
    MODELS,
    Document,
    Documented,
    Kinds,
    canonical_json,
    convert,
    digest_of,
    document_of,
    read_document,
    read_json,
)
from discreet._core.errors import DeclarationError, DocumentError
from discreet._core.exact import exact_text
from discreet._core.notebook import NotebookRepr, html_table
from discreet._core.version import __version__
from discreet.ledger import Receipt, Signature, SigningKey
from discreet.mechanism import Mechanism, Model, ModelT, TakesPrior
from discreet.privacy import ONE_RECORD, Adjacency, Evidence, Guarantee, Unit
from discreet.records import Derivation, Where, is_text

if TYPE_CHECKING:
    from discreet.programs import Likelihood

LONGEST_LABEL = 500
LONGEST_REASON = 5000
NO_READING = "none"
"""What a release says under `reading` if it was published although no solver supports it."""

SCHEMA = 1
"""The version of the document's form. A reader refuses versions that it does not know."""


@dataclass(frozen=True, repr=False)
class Release(NotebookRepr, Generic[ModelT]):
    """What was published under a guarantee: the mechanism, its noisy output, and the receipt of the charge.

    Releases come from `publish`, `simulate` or `Release.from_json`.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> release = dc.simulate(dc.GeometricHistogram(coin, size=100, epsilon=1), [60, 40], dc.SeededBits(1))
    >>> dc.Release.from_json(release.to_json()) == release
    True

    `reason` is the reason for the guarantee as stated when the release was made; `reading` is "none" if the data holder
    declared that there will be no posterior. `signatures` are kept as received, without being checked. `where` says
    which records it is about, if not all of them; `derived` how columns of theirs are made of others, if any are.
    """

    mechanism: Mechanism[ModelT]
    output: tuple[int, ...]
    label: str
    unit: Unit = ONE_RECORD
    simulated: bool = False
    receipt: Receipt | None = None
    software: str = field(default=f"discreet {__version__}", compare=False)
    group: str | None = None
    reader_model: ModelT | None = field(default=None, compare=False)
    reader_number: object = field(default=None, compare=False, kw_only=True)
    reason: str | None = field(default=None, compare=False)
    reading: str | None = None
    signatures: tuple[Signature, ...] = field(default=(), compare=False)
    where: Where | None = None
    derived: Derivation | None = None

    @property
    def guarantee(self) -> Guarantee:
        """Return what this release promises."""
        return within_group(self.mechanism.guarantee.for_rows(self.unit.rows), self.group)

    @property
    def model(self) -> ModelT:
        """Return the model used for inference: the one whose statistics were published, or the reader's own."""
        return self.mechanism.model if self.reader_model is None else self.reader_model

    def unsigned(self) -> str:
        """Return the canonical text that is recorded and may be signed: everything but the signatures."""
        return canonical_json(self.document())

    def document(self) -> Document:
        """Return everything but the signatures as a document."""
        receipt = None if self.receipt is None else asdict(self.receipt)
        where = None if self.where is None else self.where.document()
        optional: dict[str, object] = {"group": self.group, "reading": self.reading, "where": where}
        optional["derived"] = None if self.derived is None else self.derived.document
        return {
            **{name: value for name, value in optional.items() if value is not None},
            "schema": SCHEMA,
            "label": self.label,
            "mechanism": mechanism_document(self.mechanism),
            "guarantee": guarantee_document(self.guarantee, self.reason),
            "unit": {"description": self.unit.description, "rows": self.unit.rows},
            "output": list(self.output),
            "simulated": self.simulated,
            "software": self.software,
            "receipt": receipt,
        }

    def __repr__(self) -> str:
        kind = "simulated release" if self.simulated else "release"
        return f"<{kind} {self.label!r}: {self.mechanism!r}, output {self.output}>"

    def _repr_html_(self) -> str:
        """Return the public facts for a notebook; everything in it is text and nothing else."""
        title = f"{'SIMULATED: ' if self.simulated else ''}{self.label}"
        facts = {"made by": repr(self.mechanism), "guarantee": self._promise, "protects": self.unit.description}
        return html_table(title, (), list(facts.items()), words=2, notes=("Noisy: read it with discreet.infer.",))

    @property
    def _promise(self) -> str:
        return repr(self.guarantee).replace(self.guarantee.adjacency.value, self.change, 1)

    @property
    def change(self) -> str:
        """Return, in words, which change of the data is hidden: that of one record, or of all rows of one person."""
        return self.guarantee.adjacency.words(self.mechanism.model.protects)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the noisy output as an array. It is not the truth: use `infer` to estimate that."""
        return np.array(self.output, dtype=np.int64)

    @property
    def likelihood(self) -> "Likelihood":
        """Return the likelihood of the cell probabilities given this release, for use with any model."""
        from discreet.programs import Likelihood  # rarely needed

        return Likelihood(self)

    @property
    def digest(self) -> str:
        """Return the fingerprint of the canonical text, without signatures."""
        return digest_of(self.unsigned())

    def signed(self, key: SigningKey) -> Self:
        """Return the same release with a further signature of its text."""
        remade: Callable[..., Self] = replace
        return remade(self, signatures=(*self.signatures, key.sign(self.unsigned())))

    def to_json(self) -> str:
        """Return the one canonical text of this release."""
        written = [{"algorithm": each.algorithm, "key": each.key, "value": each.value} for each in self.signatures]
        return canonical_json(self.document() | ({"signatures": written} if written else {}))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Release":
        """Read a release strictly: the guarantee that the document states must be the one that its mechanism gives."""
        return read_release(text)

    def with_prior(self, prior: object) -> Self:
        """Return the same release, to be read under another prior.

        How it was made does not change: mechanisms that use the data holder's prior keep it, and so does the document.
        """
        model: object = self.mechanism.model
        if not isinstance(model, TakesPrior):
            raise DeclarationError(
                f"The prior of a {type(model).__name__} is part of its model, so with_prior cannot replace it."
            )
        remade: Callable[..., Self] = replace
        return remade(self, reader_model=model.with_prior(prior))


def within_group(guarantee: Guarantee, group: str | None) -> Guarantee:
    """Return a guarantee as it holds for the records of one group: neighbours differ in a record of that group.

    A record that is added or removed is one of its group anyway, and of no other.
    """
    if group is None or guarantee.adjacency is Adjacency.ADD_OR_REMOVE:
        return guarantee
    return replace(guarantee, adjacency=Adjacency.REPLACE_WITHIN_GROUP)


_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"})
"""Categories of characters that show nothing by themselves: control, format, marks on others, and blanks."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that count as letters or symbols and show nothing either: fillers, and the Braille blank."""


def is_label(text: object) -> bool:
    """Return whether something may serve as a label: a proper text that can be seen, and not endless."""
    if not isinstance(text, str) or not is_text(text) or len(text) > LONGEST_LABEL:
        return False
    return any(unicodedata.category(each) not in _UNSEEN and each not in _BLANK for each in text)


def model_document(model: object) -> Document:
    """Return a model as a document."""
    if not isinstance(model, Documented) or not MODELS.hold(type(model)):
        raise DocumentError(
            f"A release about a {type(model).__name__} cannot be written: documents support "
            f"{', '.join(Model.registered())}. A family of your own is for planning, checking and rehearsal."
        )
    return document_of(model)


def mechanism_document(mechanism: Mechanism) -> Document:
    """Return a mechanism as a document: its kind and its public fields."""
    return document_of(mechanism) | {"model": model_document(mechanism.model)}


def canonical_mechanism(mechanism: Mechanism) -> Document:
    """Return a mechanism as a document that is the same in whichever order its columns, arrows or groups were written.

    Fields that follow from others are left out. Where numbers that were chosen for the mechanism itself follow that
    order and differ, the order is part of what is asked.
    """
    written = {
        name: each for name, each in mechanism_document(mechanism).items() if name not in mechanism.derived_fields
    }
    ordered = [each for name, each in written.items() if name != "model" and isinstance(each, list)]
    if any(value != each[0] for each in ordered for value in each):
        return written
    return written | {"model": mechanism.model.canonical_document()}


def read_mechanism(document: object) -> Mechanism:
    """Return the mechanism that a document describes."""
    found = restored(document, MECHANISMS)
    if not isinstance(found, Mechanism):
        raise DocumentError(f"A {type(found).__name__} is not a mechanism.")
    return found


def restored(document: object, kinds: Kinds) -> Documented:
    """Return what a document describes; what its constructor refuses is a document that cannot be read."""
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
    return document if metric is None else document | {"metric": metric.document()}


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
    where: list[Document] | None = None
    derived: Document | None = None
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


def _read_where(written: list[Document] | None, mechanism: Mechanism) -> Where | None:
    """Return which records a release is about, if not all; only where their number is secret can that be some."""
    if written is None:
        return None
    if mechanism.guarantee.adjacency is not Adjacency.ADD_OR_REMOVE:
        raise DocumentError("A release about some of the records must keep their number secret; this one does not.")
    return Where.from_document(written)


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
        where=_read_where(read.where, mechanism),
        derived=None if read.derived is None else Derivation.from_document(read.derived),
        signatures=_read_signatures(read.signatures),
    )  # fmt: skip


def read_model(document: object) -> Documented:
    """Return the model that a document describes."""
    return restored(document, MODELS)
