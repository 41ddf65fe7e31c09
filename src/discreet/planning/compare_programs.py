"""Which mechanism to use for a program, or for a family with one parameter: by the sd that a reader will have.

The parameters of a family can be read from a draw of its posterior, or from a noisy table of its levels. All are
simulated alike, under one guarantee: the same parameters and records, published and read.
"""

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import Exact, exact_text, positive, probability, whole
from discreet.guarantees import Evidence
from discreet.inference._infer import infer
from discreet.markup import html_table
from discreet.mechanisms import Mechanism
from discreet.models.modelled_table import ModelledTable
from discreet.models.readable_family import ReadableFamily
from discreet.notebook import Shown
from discreet.randomness import SeededBits
from discreet.reading import why_unreadable
from discreet.releases import simulate

STUDIES = 12


@dataclass(frozen=True)
class RankedProgram:
    """A mechanism, and the mean sd of each quantity over made-up studies."""

    name: str
    mechanism: Mechanism
    sds: tuple[float, ...]
    error: float

    def document(self) -> dict[str, object]:
        """Return name, guarantee and figures."""
        guarantee = self.mechanism.guarantee
        stated = {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}
        return {"name": self.name, "guarantee": stated, "sds": list(self.sds), "error": self.error}


@dataclass(frozen=True)
class ProgramRanking(Shown):
    """Mechanisms for one program, size and guarantee, the one with the smallest first sd first."""

    size: int
    epsilon: Fraction
    delta: Fraction
    quantities: tuple[str, ...]
    entries: tuple[RankedProgram, ...]
    left_out: dict[str, str]
    studies: int = STUDIES

    @property
    def best(self) -> RankedProgram:
        """Return the first of the ranking."""
        if not self.entries:
            raise DeclarationError(
                f"No mechanism can publish this under this guarantee: {'; '.join(self.left_out.values())}"
            )
        return self.entries[0]

    @property
    def stated(self) -> str:
        """Return the guarantee under which all compete."""
        return f"{self.size} records, epsilon = {exact_text(self.epsilon)}, delta = {exact_text(self.delta)}"

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of `rows`."""
        return "mechanism", *(f"sd of {name}" for name in self.quantities)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: name, and the sd of every quantity."""
        return [(entry.name, *(f"{sd:.3g}" for sd in entry.sds)) for entry in self.entries]

    def remarks(self) -> list[str]:
        """Say what was averaged, and what is missing."""
        words = [f"Means over {self.studies} made-up studies drawn from the prior."]
        return words + [f"Left out: {name}: {why}" for name, why in self.left_out.items()]

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return html_table(self.stated, self.headings, self.rows(), words=1, notes=self.remarks())

    def __str__(self) -> str:
        rows = [self.headings, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.stated, *lines, *self.remarks()])

    def document(self) -> dict[str, object]:
        """Return the whole ranking as a document."""
        stated = {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta)}
        entries = [entry.document() for entry in self.entries]
        facts = {"size": self.size, **stated, "quantities": list(self.quantities)}
        return facts | {"entries": entries, "left_out": dict(self.left_out)}


def compare_programs(
    model: ModelledTable | ReadableFamily, size: int, epsilon: Exact, delta: Exact = 0, studies: int = STUDIES
) -> ProgramRanking:
    """Rank all mechanisms that may publish a program's table, or a family's draw or table, under (epsilon, delta)."""
    asked = positive(epsilon, "epsilon"), probability(delta, "delta")
    entries, left_out = [], {}
    quantities: tuple[str, ...] = ()
    for suffix, published in {"": model, **model.tables_too()}.items():
        for kind, made in Mechanism.registered().items():
            if not made.accepts_model(published):
                continue
            try:
                found = next(made.competitors(published, whole(size, "size"), *asked), None)
                if found is None:
                    raise DeclarationError("it needs more settings than model, size and epsilon")
                entry, quantities = _ranked(f"{kind}{suffix}", found, model, asked, studies)
                entries.append(entry)
            except DiscreetError as problem:
                left_out[f"{kind}{suffix}"] = str(problem)
    entries.sort(key=lambda entry: entry.sds[0])
    return ProgramRanking(size, *asked, quantities, tuple(entries), left_out, studies)


def _ranked(
    name: str, mechanism: Mechanism, model: object, asked: tuple[Fraction, Fraction], studies: int
) -> tuple[RankedProgram, tuple[str, ...]]:
    guarantee = mechanism.guarantee
    if guarantee.evidence is Evidence.CLAIMED or guarantee.epsilon > asked[0] or guarantee.delta > asked[1]:
        raise DeclarationError(f"Its guarantee is not sufficient: {guarantee!r}.")
    if (why := why_unreadable(mechanism)) is not None:
        raise DeclarationError(f"It cannot be read: {why}.")
    given = None if mechanism.model == model else model
    found, labels = [], ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(studies):
            made = model.made_up(mechanism.size, np.random.default_rng([7, number]))  # type: ignore[attr-defined]
            release = simulate(mechanism, made.statistics, SeededBits(1_000 + number), "planned")
            rows = infer(release, model=given).rows()
            found.append([row.sd for row in rows])
            labels = tuple(row.quantity for row in rows)
    sds = np.array(found)
    error = float(sds[:, 0].std(ddof=1) / np.sqrt(studies)) if studies > 1 else float("inf")
    return RankedProgram(name, mechanism, tuple(sds.mean(axis=0).tolist()), error), labels
