"""What every mechanism is: a conditional distribution.

Given the secret statistics, a mechanism says how likely each public output is. Drawing from it publishes, comparing it
between neighbouring data sets proves privacy, and reading it as a likelihood lets the recipient infer the truth behind
the noise. Every public fact (model, size, epsilon) is a field; the secret is only ever an argument.
"""

from abc import ABC, abstractmethod
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from math import inf
from typing import Any, cast

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.documents import DocumentedMechanism
from discreet.errors import DeclarationError
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.evidence import Evidence
from discreet.randomness import RandomBits


class Mechanism(DocumentedMechanism, ABC):
    """P(output | secret statistics), with the guarantee that it gives.

    A mechanism that documents may name says so where it is declared: `class X(Mechanism, kind="X", version=1)`.
    """

    model: Any
    """The model whose statistics are published."""
    size: int
    """The public number of records."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @property
    def pure_epsilon(self) -> Fraction | float:
        """Return the largest loss that any output may have, where that is proved; else infinity."""
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


def require_prior(model: Any, kind: str) -> None:
    """Refuse a model without a declared prior: the law of a choice or a draw of a posterior depends on it for ever."""
    if not getattr(model, "is_prior_declared", True):
        raise DeclarationError(
            f"{kind} publishes something of a posterior, so its law depends on the prior; this model declares none. "
            "Nothing was made. Declare one, such as prior=1; noisy counts need none."
        )


def with_fields(mechanism: Mechanism, **fields: Any) -> Mechanism:
    """Return the same mechanism with other public facts; all checks of the constructor run again.

    What a mechanism has `calibrated` is calibrated anew where a fact changes that it was calibrated to: epsilon and
    delta, or what `calibrated_to` names. A mechanism that cannot just leave such a field out has `recalibrated`.
    """
    kind: Any = type(mechanism)
    changes = set(getattr(kind, "calibrated_to", ("epsilon", "delta"))) & set(fields)
    stale = set(getattr(kind, "calibrated", ())) - set(fields) if changes else set()
    if stale and hasattr(kind, "recalibrated"):
        return cast(Mechanism, kind.recalibrated(mechanism, **fields))
    kept = {field.name: getattr(mechanism, field.name) for field in dataclass_fields(kind) if field.name not in stale}
    changed: Mechanism = kind(**kept | fields)
    return changed
