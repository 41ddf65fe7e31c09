"""Check a promise from the public document alone, and against the ledger if there is one."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, inf, nextafter

from discreet.certificates import PrivacyLoss, enumerate_neighbours
from discreet.certificates.enumeration import number_of_tables
from discreet.errors import DeclarationError, VerificationError
from discreet.exact import Exact, exact, exact_text
from discreet.guarantees import ONE_RECORD, Evidence, Guarantee, Ledger
from discreet.mechanisms import Mechanism, NoisyCounts
from discreet.releases import Release
from discreet.releases.document import mechanism_document

_MOST_COMPARISONS = 2_000_000
_MARGIN = 2  # outputs this far beyond the possible counts meet every combination of signs of the noise
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Certificate:
    """What was checked and what came out: the exact pure epsilon, the exact delta at any epsilon, the worst pair."""

    guarantee: Guarantee
    epsilon: float
    evidence: Evidence
    worst_pair: tuple[tuple[int, ...], tuple[int, ...]]
    checks: tuple[str, ...]
    loss: PrivacyLoss = field(repr=False)
    rows: int = 1

    def delta_at(self, epsilon: Exact) -> float:
        """Return the exact delta at this epsilon, rounded up; for units of several rows, the bound of group privacy."""
        each = exact(epsilon, "epsilon") / self.rows
        growth = sum(exp(i * float(each)) for i in range(self.rows))
        delta = self.loss.delta_at(each)
        return delta if self.rows == 1 else min(1.0, delta * growth * (1 + 1e-12))

    def __str__(self) -> str:
        lines = [repr(self.guarantee), f"exact pure epsilon {self.epsilon:g}, {self.evidence.value}"]
        return "\n".join([*lines, *(f"- {check}" for check in self.checks)])


def verify(subject: Release | Mechanism, ledger: Ledger | None = None) -> Certificate:
    """Recompute the guarantee of a release or mechanism; with a ledger, check the release against its entries too.

    The exact privacy loss is computed from the mechanism's parameters. Where all neighbouring data sets can be
    compared, they are, using nothing but the stated likelihood.
    """
    if not isinstance(subject, Release | Mechanism):
        raise DeclarationError(f"verify takes a release or a mechanism; got a {type(subject).__name__}.")
    mechanism = subject.mechanism if isinstance(subject, Release) else subject
    loss, guarantee = mechanism.privacy_loss(), mechanism.guarantee
    if loss.epsilon > guarantee.epsilon and loss.delta_at(guarantee.epsilon) > guarantee.delta:
        raise VerificationError(f"The exact epsilon {exact_text(loss.epsilon)} exceeds the stated {guarantee!r}.")
    evidence, worst = Evidence.PROVED, _extreme_pair(mechanism)
    checks = [f"exact privacy loss over all neighbours: at most {exact_text(loss.epsilon)}"]
    if isinstance(mechanism, NoisyCounts) and _comparisons(mechanism) <= _MOST_COMPARISONS:
        found = enumerate_neighbours(
            mechanism.log_likelihood, mechanism.size, len(mechanism.model.cells), mechanism.outputs_near(_MARGIN)
        )
        if found.epsilon > float(loss.epsilon) * (1 + _ROUNDING):
            raise VerificationError(f"Enumeration found a loss of {found.epsilon}, above the stated {guarantee!r}.")
        evidence, worst = Evidence.ENUMERATED, found.worst_pair
        checks.append(
            f"{found.pairs} neighbouring pairs compared on {found.outputs} outputs: at most {found.epsilon:.12g}"
        )
    if isinstance(subject, Release) and ledger is not None:
        checks += _check_against(subject, ledger)
    unit = subject.unit if isinstance(subject, Release) else ONE_RECORD
    stated = guarantee.for_rows(unit.rows)
    return Certificate(stated, _float_above(loss.epsilon * unit.rows), evidence, worst, tuple(checks), loss, unit.rows)


def _float_above(number: Fraction) -> float:
    """Return the number as a float, never rounded in our favour."""
    value = float(number)
    return value if Fraction(value) >= number else nextafter(value, inf)


def _comparisons(mechanism: NoisyCounts) -> int:
    cells = len(mechanism.model.cells)
    free = cells - 1 if mechanism.keeps_total else cells
    outputs = (mechanism.size + 2 * _MARGIN + 1) ** min(free, 8)  # eight free counts are too many already
    return number_of_tables(mechanism.size, cells, _MOST_COMPARISONS) * int(outputs)


def _extreme_pair(mechanism: Mechanism) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two neighbours; the loss of noisy counts is the same for all of them."""
    rest = (0,) * (len(mechanism.model.cells) - 2)
    return (mechanism.size, 0, *rest), (mechanism.size - 1, 1, *rest)


def _check_against(release: Release, ledger: Ledger) -> list[str]:
    """Look a release up in a ledger: whole chain, its charge, its recorded digest."""
    if release.simulated or release.receipt is None:
        raise VerificationError(f"{release.label!r} is a simulation: no ledger was charged for it.")
    ledger.check()
    entries = {entry.sequence: entry for entry in ledger.entries()}
    charge = entries.get(release.receipt.sequence)
    if charge is None or charge.kind != "charge" or charge.digest != release.receipt.head:
        raise VerificationError(
            f"{release.label!r} refers to entry {release.receipt.sequence}, which this ledger does not hold as it was: "
            "either it is another ledger, or its end was cut off or an older copy was put back."
        )
    if charge.body["mechanism"] != mechanism_document(release.mechanism) or charge.body["label"] != release.label:
        raise VerificationError(
            f"{release.label!r} is not what entry {charge.sequence} was charged for: it was edited."
        )
    recorded = [e for e in entries.values() if e.kind == "release" and e.body["charge"] == charge.sequence]
    if not any(entry.body["digest"] == release.digest for entry in recorded):
        raise VerificationError(f"{release.label!r} is not the release that the ledger recorded: it was edited.")
    return [f"ledger chain of {len(entries)} entries intact", f"charged as entry {charge.sequence}, digest matches"]
