"""What every mechanism is: a conditional distribution.

Given the secret statistics, a mechanism says how likely each public output is. Drawing from it publishes, comparing it
between neighbouring data sets proves privacy, and reading it as a likelihood lets the recipient infer the truth behind
the noise. Every public fact (model, size, epsilon) is a field; the secret is only ever an argument.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from typing import ClassVar, Generic, Self, TypeVar

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.documents import DocumentedMechanism
from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.evidence import Evidence
from discreet.models.model import Model, ModelT
from discreet.randomness import RandomBits


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Mechanism(DocumentedMechanism, ABC, Generic[ModelT]):
    """P(output | secret statistics), with the guarantee that it gives.

    A mechanism that documents may name says so where it is declared: `class X(Mechanism, kind="X", version=1)`.
    """

    calibrated: ClassVar[tuple[str, ...]] = ()
    """Fields that are found from others if they are left out."""
    calibrated_to: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    """The fields that they are found from."""

    model: ModelT
    """The model whose statistics are published."""
    size: int
    """The public number of records."""

    def __repr__(self) -> str:
        facts = [(field.name, getattr(self, field.name)) for field in dataclass_fields(self)[1:]]
        texts = [f"{n}={(exact_text(v) if isinstance(v, Fraction) else v)!r}" for n, v in facts if n not in self.unsaid]
        return f"{type(self).__name__}({', '.join([repr(self.model), *texts])})"

    @property
    def unsaid(self) -> Collection[str]:
        """Return fields that are not worth showing: they have the value that the others give them."""
        return ()

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

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
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""

    @abstractmethod
    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""

    @abstractmethod
    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""

    @abstractmethod
    def evidence(self, output: Counts) -> Evidence:
        """Return what an output is evidence of. Only its length is looked at, never its numbers."""

    def recalibrated(self, **changed: object) -> Self:
        """Return the mechanism for other public facts, with what is `calibrated` found anew."""
        return _made(self, changed, without=self.calibrated)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give, the best first, what a small twin on this model may have instead of this mechanism's fields."""
        yield {}


MechanismT = TypeVar("MechanismT", bound=Mechanism)


def require_prior(model: Model, kind: str) -> None:
    """Refuse a model without a declared prior: the law of a choice or a draw of a posterior depends on it for ever."""
    if not getattr(model, "is_prior_declared", True):
        raise DeclarationError(
            f"{kind} publishes something of a posterior, so its law depends on the prior; this model declares none. "
            "Nothing was made. Declare one, such as prior=1; noisy counts need none."
        )


def with_fields(mechanism: MechanismT, **fields: object) -> MechanismT:
    """Return the same mechanism with other public facts; all checks of the constructor run again.

    What a mechanism has `calibrated` is calibrated anew where a fact changes that it was `calibrated_to`.
    """
    if set(mechanism.calibrated_to) & set(fields) and set(mechanism.calibrated) - set(fields):
        return mechanism.recalibrated(**fields)
    return _made(mechanism, fields, without=())


def _made(mechanism: MechanismT, changed: dict[str, object], without: Sequence[str]) -> MechanismT:
    make: Callable[..., MechanismT] = type(mechanism)
    kept = {field.name: getattr(mechanism, field.name) for field in dataclass_fields(mechanism)}
    return make(**{name: value for name, value in kept.items() if name not in without} | changed)
