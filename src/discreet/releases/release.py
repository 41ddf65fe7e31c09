"""A release: what was published, how it was made, and what it promises. Public by construction.

Its words, the reason of the guarantee and the name of the software, are kept as they were written and are not part of
equality: a later version may say the same in other words. Signatures stand outside of what is signed.
"""

from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from discreet.documents import Document, canonical_json
from discreet.errors import DeclarationError
from discreet.guarantees import ONE_RECORD, Adjacency, Guarantee, Receipt, Unit
from discreet.guarantees.chain import digest_of
from discreet.markup import html_table
from discreet.mechanisms import Mechanism
from discreet.models.model import ModelT
from discreet.records.columns import is_text
from discreet.releases.document import guarantee_document, mechanism_document
from discreet.version import __version__

LONGEST_LABEL = 500
LONGEST_REASON = 5000
NO_READING = "none"
"""What a release says under `reading` if it was published although no engine can read it."""

SCHEMA = 1
"""The version of the document's form. A reader refuses versions that it does not know."""


@dataclass(frozen=True)
class Signature:
    """A signature of a release's text without signatures: public key and value in hexadecimal digits."""

    algorithm: str
    key: str
    value: str


@dataclass(frozen=True, repr=False)
class Release(Generic[ModelT]):
    """What was published under a guarantee: the mechanism, its output, and the receipt of the charge.

    `reason` is the reason of the guarantee as it was written when the release was made, `reading` is "none" if the
    holder declared that there will be no posterior. `signatures` are kept as they came; nothing here checks them.
    """

    mechanism: Mechanism[ModelT]
    output: tuple[int, ...]
    label: str
    unit: Unit = ONE_RECORD
    simulated: bool = False
    receipt: Receipt | None = None
    software: str = field(default=f"discreet {__version__}", compare=False)
    group: str | None = None
    reader_model: ModelT | None = None
    reason: str | None = field(default=None, compare=False)
    reading: str | None = None
    signatures: tuple[Signature, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        kind = "simulated release" if self.simulated else "release"
        return f"<{kind} {self.label!r}: {self.mechanism!r}, output {self.output}>"

    def _repr_html_(self) -> str:
        """Return the public facts for a notebook; everything in it is text and nothing else."""
        title = f"{'SIMULATED: ' if self.simulated else ''}{self.label}"
        facts = {"made by": repr(self.mechanism), "guarantee": repr(self.guarantee), "protects": self.unit.description}
        return html_table(title, (), list(facts.items()), words=2, notes=("Noisy: read it with discreet.infer.",))

    @property
    def guarantee(self) -> Guarantee:
        """Return what this release promises."""
        return within_group(self.mechanism.guarantee.for_rows(self.unit.rows), self.group)

    @property
    def model(self) -> ModelT:
        """Return the model under which it is read: the one whose statistics were published, or the reader's own."""
        return self.mechanism.model if self.reader_model is None else self.reader_model

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the noisy output as an array. It is not the truth: read it with `infer`."""
        return np.array(self.output, dtype=np.int64)

    @property
    def digest(self) -> str:
        """Return the fingerprint of the canonical text, without signatures."""
        return digest_of(self.unsigned())

    def to_json(self) -> str:
        """Return the one canonical text of this release."""
        written = [{"algorithm": each.algorithm, "key": each.key, "value": each.value} for each in self.signatures]
        return canonical_json(self._document() | ({"signatures": written} if written else {}))

    def unsigned(self) -> str:
        """Return the canonical text that is recorded and may be signed: all but the signatures."""
        return canonical_json(self._document())

    def _document(self) -> Document:
        receipt = self.receipt and {"sequence": self.receipt.sequence, "head": self.receipt.head}
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

    @classmethod
    def from_json(cls, text: str | bytes) -> "Release":
        """Read a release, strictly: what the document promises must be what its mechanism gives."""
        from discreet.releases.strict_reading import read_release  # which makes what is declared here

        return read_release(text)

    def with_prior(self, prior: object) -> "Release[ModelT]":
        """Return the same release, read under another prior.

        How it was made stays what it was: mechanisms that use the holder's prior keep it, and so does the document.
        """
        model = self.mechanism.model
        if not hasattr(model, "with_prior"):
            raise DeclarationError(
                f"The prior of a {type(model).__name__} is part of its model; it is not replaced by with_prior."
            )
        return replace(self, reader_model=model.with_prior(prior))


def within_group(guarantee: Guarantee, group: str | None) -> Guarantee:
    """Return a guarantee as it holds for the records of one group: neighbours differ in a record of that group."""
    return guarantee if group is None else replace(guarantee, adjacency=Adjacency.REPLACE_WITHIN_GROUP)


def is_label(text: object) -> bool:
    """Tell whether something may serve as a label: a proper text, neither empty nor endless."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST_LABEL and is_text(text)
