"""A case: what a reader has, checked once. Releases of the same records, a model, and the reader's own prior.

Engines see nothing but a case: which numbers were published about which tables, through which law. Before anything is
published the same questions are asked of a case without outputs, so what decides about a charge is public by
construction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism
from discreet.mechanisms.evidence import Draw, Evidence
from discreet.mechanisms.quantities import Cost, Measurement
from discreet.models.model import ModelT
from discreet.reading.published import Published


@dataclass(frozen=True, eq=False)
class Observed:
    """One output as engines see it, with the mechanism's own likelihood; `output` is None before it was drawn."""

    mechanism: Mechanism
    output: Counts | None
    label: str

    @classmethod
    def before(cls, mechanism: Mechanism) -> "Observed":
        """Return an output of a mechanism before it is drawn."""
        return cls(mechanism, None, type(mechanism).__name__)

    @cached_property
    def evidence(self) -> Evidence:
        """Return what the output tells about the counts; what it is evidence of is known before it is drawn."""
        return self.mechanism.evidence(np.zeros(0, dtype=np.int64) if self.output is None else self.output)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Return what the likelihood of one row of counts costs, part by part."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return tuple(part.cost for part in parts)

    @property
    def likelihood_refusal(self) -> str | None:
        """Tell why the likelihood cannot be worked out in numbers, or nothing if it can."""
        return next((cost.refusal for cost in self.costs if cost.refusal is not None), None)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return what was measured; nothing if it is a choice or a draw."""
        return self.evidence if isinstance(self.evidence, tuple) else ()

    @property
    def draw(self) -> Draw | None:
        """Return the draw, if it is one."""
        return self.evidence if isinstance(self.evidence, Draw) else None

    def log_likelihood(self, counts: Counts) -> NDArray[np.float64]:
        """Return log P(output | counts) for rows of counts."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return np.asarray(sum(part.log_likelihood(counts) for part in parts))


@dataclass(frozen=True, eq=False)
class Case(Generic[ModelT]):
    """What is to be read: outputs about the same `size` records, under a model with the reader's prior.

    `prior` is what the reader gave where it is no part of the model: the law of a family's parameter. `seed` makes
    sampled readings repeatable; no secret is involved.
    """

    model: ModelT
    size: int
    observed: tuple[Observed, ...]
    prior: object = None
    seed: int = 0

    @classmethod
    def of(cls, releases: Sequence[Published], prior: object = None) -> "Case":
        """Check releases that shall be read together, under the declared prior or the reader's own."""
        _check(releases)
        first = releases[0]
        observed = tuple(Observed(r.mechanism, np.array(r.output, dtype=np.int64), r.label) for r in releases)
        if prior is None or not hasattr(first.model, "with_prior"):
            return Case(first.model, first.mechanism.size, observed, prior)
        return Case(first.model.with_prior(prior), first.mechanism.size, observed)

    @classmethod
    def before(cls, mechanism: Mechanism) -> "Case":
        """Return the case of a reader who will have one output of a mechanism, before it is drawn."""
        return Case(mechanism.model, mechanism.size, (Observed.before(mechanism),))

    @property
    def label(self) -> str:
        """Return the name of the first release."""
        return self.observed[0].label

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return all that was measured."""
        return tuple(measurement for each in self.observed for measurement in each.measurements)

    @property
    def is_measured(self) -> bool:
        """Tell whether all outputs are measurements."""
        return all(isinstance(each.evidence, tuple) for each in self.observed)

    def strengthened(self, strengths: object) -> list["Case"]:
        """Return the case under several multiples of the prior."""
        if not isinstance(strengths, Sequence) or isinstance(strengths, str) or not strengths:
            raise DeclarationError("strengths must be a sequence of multiples of the prior, such as (0.3, 1, 3).")
        if not hasattr(self.model, "strengthened"):
            raise DeclarationError(
                f"strengths are for Dirichlet priors, of categories and of networks; this is a "
                f"{type(self.model).__name__}. Give a family's reader another prior."
            )
        return [replace(self, model=self.model.strengthened(float(strength))) for strength in strengths]


def _check(releases: Sequence[Published]) -> None:
    """Refuse what is no release, the same one twice, and releases of different records."""
    if not releases or not all(hasattr(r, "mechanism") and hasattr(r, "receipt") for r in releases):
        raise DeclarationError("infer takes one or more releases, from publish, simulate or Release.from_json.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published) or len(set(map(id, releases))) < len(releases):
        raise DeclarationError("The same release was given twice: it would be taken for two independent ones.")
    first = releases[0]
    for other in releases[1:]:
        facts = [(type(r.model), r.model.counted, r.mechanism.size, r.simulated) for r in (first, other)]
        if facts[0] != facts[1]:
            raise DeclarationError(
                f"{first.label!r} and {other.label!r} do not publish the same counts, or moments of the same records: "
                "their columns, levels, graphs or sizes differ, or only one of them is simulated."
            )
