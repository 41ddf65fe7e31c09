"""What every mechanism is: a conditional distribution.

Given the secret statistics, a mechanism says how likely each public output is. Drawing from it publishes, comparing it
between neighbouring data sets proves privacy, and using it as a likelihood lets the recipient infer the truth behind
the noise. Every public fact (model, epsilon, a public size) is a field; the secret is only ever an argument.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from math import inf
from typing import ClassVar, Generic, Self, TypeVar, get_type_hints

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import MECHANISMS, MODELS, Documented
from discreet._core.errors import DeclarationError, DocumentError
from discreet._core.exact import exact_text
from discreet.mechanism._evidence import Evidence
from discreet.mechanism._model import Model, ModelT
from discreet.noise.randomness import RandomBits
from discreet.privacy import Guarantee, PrivacyLoss


@dataclass(frozen=True, eq=False)
class OutputSpace:
    """`length` whole numbers; `refusal` says in words why some of them are no output, or nothing if they are one."""

    length: int
    refusal: Callable[[Counts], str | None]
    noun: str = "numbers"

    def check(self, output: Counts) -> None:
        """Refuse an output that the mechanism cannot have given."""
        if output.shape != (self.length,):
            raise DocumentError(f"The output must hold {self.length} {self.noun}; it holds {output.size}.")
        if (words := self.refusal(output)) is not None:
            raise DocumentError(words)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Mechanism(Documented, ABC, Generic[ModelT]):
    """A conditional distribution P(output | secret statistics), with the guarantee that it gives.

    A mechanism that documents may name registers its kind where it is defined: `class X(Mechanism, kind="X",
    version=1)`.
    """

    kinds = MECHANISMS
    document_types: ClassVar[Mapping[str, object]] = {"model": MODELS}
    calibrated: ClassVar[tuple[str, ...]] = ()
    """Fields that are found from others if they are left out."""
    calibrated_to: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    """The fields that they are found from."""

    model: ModelT
    """The model whose statistics are published."""

    def __repr__(self) -> str:
        facts = [(field.name, getattr(self, field.name)) for field in dataclass_fields(self)[1:]]
        texts = [
            f"{n}={(exact_text(v) if isinstance(v, Fraction) else v)!r}"
            for n, v in facts
            if n not in self.derived_fields
        ]
        return f"{type(self).__name__}({', '.join([repr(self.model), *texts])})"

    @property
    def derived_fields(self) -> Collection[str]:
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

    @abstractmethod
    def privacy_loss(self) -> PrivacyLoss:
        """Return a privacy loss that dominates that of every pair of neighbours, both ways."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Return the parameter of zero-concentrated differential privacy, rounded up."""

    @property
    @abstractmethod
    def space(self) -> OutputSpace:
        """Return the outputs that are possible."""

    @abstractmethod
    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of public counts; secret statistics must go through `publish`."""

    @abstractmethod
    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""

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
        """Return whether this kind of mechanism publishes statistics of such a model."""
        return isinstance(model, get_type_hints(cls)["model"])


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sized(Mechanism[ModelT]):
    """A mechanism of a public number of records; one of a secret number has no `size`."""

    size: int
    """The public number of records."""


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


def simulated_size(mechanism: Mechanism, about: int | None) -> int:
    """Return how many records simulated studies have: the public number, or where that is secret a declared guess."""
    if isinstance(mechanism, Sized):
        return mechanism.size
    if about is None:
        raise DeclarationError(
            f"{type(mechanism).__name__} keeps the number of records secret, so a plan needs a guess that does not "
            f"come "
            "from the data: about=5000, or about = 5000 in [data] of a study. Nothing was planned."
        )
    return about


def require_prior(model: Model, kind: str) -> None:
    """Refuse a model without a declared prior where the distribution of a draw depends on it for ever."""
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
