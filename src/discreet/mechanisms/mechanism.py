"""What every mechanism is: a conditional distribution.

Given the secret statistics, a mechanism says how likely each public output is. Drawing from it publishes, comparing it
between neighbouring data sets proves privacy, and reading it as a likelihood lets the recipient infer the truth behind
the noise. Every public fact (model, epsilon, a public size) is a field; the secret is only ever an argument.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from inspect import Parameter, signature
from math import inf
from types import UnionType
from typing import ClassVar, Generic, Self, TypeVar, get_type_hints

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.certificates.hellinger_moments import HellingerMoments
from discreet.documents import DocumentedMechanism
from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.evidence import Evidence
from discreet.models.model import HasParameters, Model, ModelT
from discreet.randomness import RandomBits


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Mechanism(DocumentedMechanism, ABC, Generic[ModelT]):
    """A conditional distribution P(output | secret statistics), with the guarantee that it gives.

    A mechanism that documents may name registers its kind where it is defined: `class X(Mechanism, kind="X",
    version=1)`.
    """

    calibrated: ClassVar[tuple[str, ...]] = ()
    """Fields that are found from others if they are left out."""
    calibrated_to: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    """The fields that they are found from."""

    model: ModelT
    """The model whose statistics are published."""
    accepts: ClassVar[type | UnionType | None] = None
    """The models that are accepted, if the type of `model` does not say it."""
    free_parameter: ClassVar[str | None] = None
    """The field that no guarantee determines, for which a ranking takes the best of a few values."""
    most_tables: ClassVar[int] = 300
    """So many data sets are listed at most to compare neighbours; fewer if the law takes long to write down."""

    def __repr__(self) -> str:
        facts = [(field.name, getattr(self, field.name)) for field in dataclass_fields(self)[1:]]
        texts = [f"{n}={(exact_text(v) if isinstance(v, Fraction) else v)!r}" for n, v in facts if n not in self.unsaid]
        return f"{type(self).__name__}({', '.join([repr(self.model), *texts])})"

    @property
    def unsaid(self) -> Collection[str]:
        """Return the fields that need not be shown, because their values follow from the others."""
        return ()

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @property
    def pure_epsilon(self) -> Fraction | float:
        """Return a proved upper bound on the privacy loss of every output, or infinity if there is none."""
        guarantee = self.guarantee
        return inf if guarantee.delta else guarantee.epsilon

    @property
    def divergence(self) -> float | None:
        """Return the largest Kullback-Leibler divergence between neighbours; None if the privacy loss gives it."""
        return None

    @abstractmethod
    def privacy_loss(self) -> PrivacyLoss:
        """Return a privacy loss that dominates that of every pair of neighbours, both ways."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Return the parameter of zero-concentrated differential privacy, rounded up."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Return how many whole numbers an output has."""

    @abstractmethod
    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics must go through `publish`."""

    @abstractmethod
    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""

    @abstractmethod
    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""

    @abstractmethod
    def evidence(self, output: Counts) -> Evidence:
        """Return what an output is evidence of: measurements, a choice or draws. Its numbers are not used."""

    def recalibrated(self, **changed: object) -> Self:
        """Return the mechanism for other public facts, with its `calibrated` fields recomputed."""
        return _made(self, changed, without=self.calibrated)

    @classmethod
    def registered(cls) -> dict[str, type[Self]]:
        """Return the newest version of every mechanism of this class that documents may name, by its kind."""
        return {kind: made for kind, made in cls.kinds.known().items() if issubclass(made, cls)}

    @classmethod
    def accepts_model(cls, model: object) -> bool:
        """Tell whether this kind of mechanism publishes statistics of such a model."""
        return isinstance(model, cls.accepts or get_type_hints(cls)["model"])

    def measured(self, counts: Counts) -> Counts | None:
        """Return what would be published without noise, for rows of counts; None if the output is not noisy numbers."""
        return None

    premise: ClassVar[str | None] = None
    """What the proof asks of what every single record contributes, in words, where `keeps_premise` can check it."""

    def probes(self) -> Counts:
        """Return contributions of single records, in rows, on which the premise of the proof is worth checking."""
        raise DeclarationError(f"The proof of {type(self).__name__} makes no assumption about single records.")

    def keeps_premise(self, contribution: Counts) -> bool:
        """Tell exactly whether the contribution of one record meets the condition of the proof."""
        raise DeclarationError(f"The proof of {type(self).__name__} makes no assumption about single records.")

    def worst_records(self) -> Counts | None:
        """Return two records whose exchange has the largest privacy loss, as rows of level numbers.

        None means any two records that differ in every column.
        """
        return None

    @property
    def rho_needs_delta(self) -> bool:
        """Tell whether rho holds only up to delta (approximate zCDP)."""
        return False

    @property
    def recomputed_delta(self) -> Fraction | None:
        """Return delta at the stated epsilon, recomputed; None where it follows from the privacy loss."""
        return None

    @property
    def forced_prior(self) -> str:
        """Say in words under which prior draws are made, if privacy demands another than the model's; else nothing."""
        return ""

    def count_sd(self) -> float | None:
        """Return the standard deviation of the noise on a cell whose row total is known; None without noisy tables."""
        return None

    @property
    def class_sd(self) -> float | None:
        """Return the standard deviation of the noise on a class count, if classes have a share of their own."""
        return None

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs of non-negligible probability for these data sets; None if unknown or more than `most`."""
        return None

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give, best first, the fields that a small twin on this model may have instead of this mechanism's."""
        yield {}

    def log_laws(self, outputs: Counts, tables: Counts) -> Floats:
        """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""
        return np.stack([self.log_likelihood(outputs, table) for table in tables])

    @property
    def has_plain_counts(self) -> bool:
        """Tell whether an output about categories holds something that could pass for the count of each cell."""
        model: object = self.model
        return isinstance(model, HasParameters) and self.length == len(model.even_parameters())

    def count_distance(self, counts: Counts) -> HellingerMoments:
        """Return the moments of an output's distance from these counts, where known without listing all outputs."""
        raise DeclarationError(
            f"How far an output of {type(self).__name__} lies from the counts is not known without listing all outputs."
        )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sized(Mechanism[ModelT]):
    """A mechanism of a public number of records; one of a secret number has no `size`."""

    size: int
    """The public number of records."""

    @classmethod
    def competitors(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> "Iterator[Sized]":
        """Yield the mechanisms of this kind that compete in a ranking under (epsilon, delta).

        By default that is what the constructor makes, if it needs nothing more. A kind with a `free_parameter`, which
        the guarantee does not determine, gives one for each of a few values.
        """
        asked = {"model": model, "size": size, "epsilon": epsilon} | ({"delta": delta} if delta else {})
        parameters = signature(cls).parameters.values()
        if all(each.name in asked or each.default is not Parameter.empty for each in parameters):
            yield cls(**{each.name: asked[each.name] for each in parameters if each.name in asked})

    def plain_counts(self, outputs: Counts) -> Floats:
        """Return the counts that a reader who ignores the noise would take from rows of outputs.

        Negative ones become 0, and the rest is scaled to the public size.
        """
        clipped = np.maximum(outputs, 0).astype(float)
        totals = clipped.sum(axis=1, keepdims=True)
        equal = np.full_like(clipped, self.size / clipped.shape[1])
        return np.asarray(np.divide(self.size * clipped, totals, out=equal, where=totals > 0))  # whole if they add up


Accepted = TypeVar("Accepted")
MechanismT = TypeVar("MechanismT", bound=Mechanism)


def require_mechanism(given: object, purpose: str) -> None:
    """Refuse anything but a mechanism, such as a release."""
    if not isinstance(given, Mechanism):
        raise DeclarationError(f"{purpose} of a mechanism; got a {type(given).__name__}.")


def sized(mechanism: Mechanism[ModelT]) -> Sized[ModelT]:
    """Return a mechanism whose number of records is public; refuse one whose number is secret."""
    if not isinstance(mechanism, Sized):
        raise DeclarationError(
            f"This asks for the number of records, which must be public; {type(mechanism).__name__} keeps it secret. "
            "Nothing was computed. Choose a mechanism with a declared size."
        )
    return mechanism


def require_prior(model: Model, kind: str) -> None:
    """Refuse a model without a declared prior where the law of a draw depends on it for ever."""
    if not model.is_prior_declared:
        raise DeclarationError(
            f"{kind} publishes part of a posterior, so it needs a prior, and this model declares none. Nothing was "
            "created. Declare a prior, such as prior=1, or publish noisy counts, which need none."
        )


def accepted(kind: type[Accepted], words: str) -> Callable[[object, Accepted], Accepted]:
    """Return the check that a model is of a kind; the words stand between the names of the mechanism and its model."""

    def check(mechanism: object, model: Accepted) -> Accepted:
        if not isinstance(model, kind):
            raise DeclarationError(f"{type(mechanism).__name__} {words} {type(model).__name__}.")
        return model

    return check


def with_fields(mechanism: MechanismT, **fields: object) -> MechanismT:
    """Return the same mechanism with other public facts; all checks of the constructor run again.

    Fields that were `calibrated` are computed again if one of the facts that they were `calibrated_to` changes.
    """
    if set(mechanism.calibrated_to) & set(fields) and set(mechanism.calibrated) - set(fields):
        return mechanism.recalibrated(**fields)
    return _made(mechanism, fields, without=())


def _made(mechanism: MechanismT, changed: dict[str, object], without: Sequence[str]) -> MechanismT:
    make: Callable[..., MechanismT] = type(mechanism)
    kept = {field.name: getattr(mechanism, field.name) for field in dataclass_fields(mechanism)}
    return make(**{name: value for name, value in kept.items() if name not in without} | changed)
