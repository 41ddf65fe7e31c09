"""A release: what was published, how it was made, and what it promises. Public by construction.

Its words, the reason of the guarantee and the name of the software, are kept as they were written and are not part of
equality: a later version may say the same in other words. Signatures stand outside what is signed.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Self

import numpy as np
from numpy.typing import NDArray

from discreet._core.documents import (
    Document,
    Documented,
    DocumentedMechanism,
    DocumentedModel,
    Kinds,
    canonical_json,
    digest_of,
    document_of,
    read_document,
)
from discreet._core.errors import DeclarationError, DocumentError
from discreet._core.exact import exact_text
from discreet._core.markup import html_table
from discreet._core.notebook import NotebookRepr
from discreet._core.version import __version__
from discreet.ledger import Receipt, Signature, SigningKey
from discreet.mechanism import Mechanism, Model, ModelT, TakesPrior
from discreet.privacy import ONE_RECORD, Adjacency, Guarantee, Unit
from discreet.records import is_text

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

    `reason` is the reason for the guarantee as stated when the release was made; `reading` is "none" if the data holder
    declared that there will be no posterior. `signatures` are kept as received, without being checked.
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
    reason: str | None = field(default=None, compare=False)
    reading: str | None = None
    signatures: tuple[Signature, ...] = field(default=(), compare=False)

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
        optional = {"group": self.group, "reading": self.reading}
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
        from discreet.release._strict_parsing import read_release  # it constructs releases

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
    """Return a guarantee as it holds for the records of one group: neighbours differ in a record of that group."""
    return guarantee if group is None else replace(guarantee, adjacency=Adjacency.REPLACE_WITHIN_GROUP)


def is_label(text: object) -> bool:
    """Return whether something may serve as a label: a proper text, neither empty nor endless."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST_LABEL and is_text(text)


def model_document(model: object) -> Document:
    """Return a model as a document."""
    if not isinstance(model, DocumentedModel) or not DocumentedModel.kinds.hold(type(model)):
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
    found = restored(document, DocumentedMechanism.kinds)
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
