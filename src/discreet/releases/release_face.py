"""A release as its readers handle it: as JSON with signatures, by its fingerprint, on a page, under another prior."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Self, cast

import numpy as np
from numpy.typing import NDArray

from discreet.documents import Document, canonical_json
from discreet.errors import DeclarationError
from discreet.guarantees import Guarantee, Unit
from discreet.guarantees.chain import digest_of
from discreet.guarantees.signatures import Signature, SigningKey
from discreet.markup import html_table
from discreet.mechanisms import Mechanism
from discreet.models.model import ModelT
from discreet.notebook import Shown

if TYPE_CHECKING:
    from discreet.reading.cells.likelihood import Likelihood
    from discreet.releases.release import Release


class ReleaseFace(Shown, Generic[ModelT]):
    """What one can ask of a release; its public facts are declared where it is defined."""

    mechanism: Mechanism[ModelT]
    output: tuple[int, ...]
    label: str
    unit: Unit
    simulated: bool
    signatures: tuple[Signature, ...]

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return what this release promises."""

    @abstractmethod
    def document(self) -> Document:
        """Return everything but the signatures as a document."""

    @abstractmethod
    def unsigned(self) -> str:
        """Return the canonical text that is recorded and may be signed: everything but the signatures."""

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
        from discreet.reading.cells.likelihood import Likelihood  # rarely needed

        return Likelihood(cast("Release", self))

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
        from discreet.releases.strict_reading import read_release  # it constructs releases

        return read_release(text)

    def with_prior(self, prior: object) -> Self:
        """Return the same release, to be read under another prior.

        How it was made does not change: mechanisms that use the data holder's prior keep it, and so does the document.
        """
        model = self.mechanism.model
        if not hasattr(model, "with_prior"):
            raise DeclarationError(
                f"The prior of a {type(model).__name__} is part of its model, so with_prior cannot replace it."
            )
        remade: Callable[..., Self] = replace
        return remade(self, reader_model=model.with_prior(prior))
