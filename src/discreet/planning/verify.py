"""Check a promise from the public document alone, and against the ledger if there is one."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, inf, nextafter
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.certificates import Enumeration, PrivacyLoss, enumerate_neighbours
from discreet.certificates.adjacent_pairs import can_compare
from discreet.certificates.enumeration import number_of_tables
from discreet.errors import DeclarationError, VerificationError
from discreet.exact import Exact, exact, exact_text
from discreet.guarantees import ONE_RECORD, Concentrated, Evidence, Guarantee, read_amount, zcdp_cost
from discreet.ledger import Entry, Ledger
from discreet.mechanisms import HellingerMechanism, Mechanism, NoisyCounts, PermuteAndFlip, Plan
from discreet.mechanisms.ball_draw import BallDraw
from discreet.mechanisms.box_moments import NoisyMoments
from discreet.releases import Release
from discreet.releases.document import mechanism_document

Counts = NDArray[np.int64]

_MOST_COMPARISONS = 2_000_000
_SIGNS = 2  # outputs this far beyond the possible counts meet every combination of signs of the noise
_ROUNDING = 1e-9
_SEARCHED = Fraction(999_999, 1_000_000)  # numbers found by a search may differ in their last digits between machines


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
    reached = _delta(mechanism, loss)
    if loss.epsilon > guarantee.epsilon and reached > guarantee.delta:
        raise VerificationError(f"The exact delta {float(reached):.6g} exceeds the stated {guarantee!r}.")
    evidence, worst = guarantee.evidence, _extreme_pair(mechanism)
    checks = [_in_words(mechanism, loss, reached)]
    if isinstance(mechanism, NoisyCounts | PermuteAndFlip) and _comparisons(mechanism) <= _MOST_COMPARISONS:
        cells = len(mechanism.model.cells)
        found = enumerate_neighbours(mechanism.log_likelihood, mechanism.size, cells, _outputs(mechanism))
        evidence, worst = Evidence.ENUMERATED, found.worst_pair
        checks.append(_compared(found, loss, guarantee))
    exact_epsilon: Fraction | float = loss.epsilon
    if _comparable(mechanism):
        compared = mechanism.neighbours()
        evidence, worst, exact_epsilon = Evidence.ENUMERATED, compared.worst_pair, compared.epsilon
        checks.append(f"all neighbouring tables compared on all candidates: at most {exact_epsilon:.12g}")
    if isinstance(subject, Release) and ledger is not None:
        checks += _check_against(subject, ledger)
    unit = subject.unit if isinstance(subject, Release) else ONE_RECORD
    stated = subject.guarantee if isinstance(subject, Release) else guarantee
    return Certificate(stated, _float_above(exact_epsilon * unit.rows), evidence, worst, tuple(checks), loss, unit.rows)


def _comparable(mechanism: Mechanism) -> TypeGuard[HellingerMechanism]:
    """Tell whether all neighbours can be compared by the law of an exponential mechanism."""
    exponential = isinstance(mechanism, HellingerMechanism) and not isinstance(mechanism, PermuteAndFlip)
    return exponential and can_compare(mechanism.size, len(mechanism.model.cells))


def _delta(mechanism: Mechanism, loss: PrivacyLoss) -> Fraction:
    """Return delta at the stated epsilon, compared anew where that can be done.

    A loss made for composition is rounded up, and that of an exponential mechanism too large to compare is made from
    what is proved: so what is proved stands for it.
    """
    guarantee = mechanism.guarantee
    if _comparable(mechanism):
        return Fraction(mechanism.delta_at(guarantee.epsilon))
    if isinstance(mechanism, HellingerMechanism) and guarantee.evidence is Evidence.PROVED:
        return guarantee.delta
    return Fraction(loss.delta_at(guarantee.epsilon))


def _in_words(mechanism: Mechanism, loss: PrivacyLoss, reached: Fraction) -> str:
    """Say how large the loss is; of a regression's moments or draws there is a proof, nothing was recomputed."""
    epsilon = exact_text(mechanism.guarantee.epsilon)
    if isinstance(mechanism, NoisyMoments | BallDraw):
        words = "over all neighbours, by proof and not recomputed: at most"
        at_epsilon = f"delta at epsilon = {epsilon} {words} {float(reached):.6g}"
        return f"privacy loss {words} {epsilon}" if loss.epsilon < inf else at_epsilon
    if loss.epsilon < inf:
        return f"exact privacy loss over all neighbours: at most {exact_text(Fraction(loss.epsilon))}"
    return f"exact delta over all neighbours at epsilon = {epsilon}: {float(reached):.6g}"


def _compared(found: Enumeration, loss: PrivacyLoss, guarantee: Guarantee) -> str:
    """Say what enumeration found, or refuse if it found more than is stated.

    It looks at the loss where that is bounded, otherwise at delta; there the outputs that were left out count as lost.
    """
    compared = f"{found.pairs} neighbouring pairs compared on {found.outputs} outputs"
    if loss.epsilon < inf:
        if found.epsilon > float(loss.epsilon) * (1 + _ROUNDING):
            raise VerificationError(f"Enumeration found a loss of {found.epsilon}, above the stated {guarantee!r}.")
        return f"{compared}: at most {found.epsilon:.12g}"
    delta = found.delta_at(float(guarantee.epsilon))
    if delta > float(guarantee.delta) * (1 + _ROUNDING):
        raise VerificationError(f"Enumeration found a delta of {delta:.6g}, above the stated {guarantee!r}.")
    return f"{compared}: delta at most {delta:.6g}"


def _margin(mechanism: NoisyCounts) -> int:
    """Return how far beyond the possible counts outputs are compared.

    Two steps meet every combination of signs, on which Laplace losses depend; Gaussian outputs are compared until
    what lies beyond has probability e^-40.
    """
    return _SIGNS if mechanism.privacy_loss().epsilon < inf else ceil(36 * mechanism.reach) + 2


def _float_above(number: Fraction | float) -> float:
    """Return the number as a float, never rounded in our favour."""
    value = float(number)
    if value == inf:
        return inf
    return value if Fraction(value) >= number else nextafter(value, inf)


def _outputs(mechanism: NoisyCounts | PermuteAndFlip) -> Counts:
    """Return the outputs on which neighbours are compared."""
    if isinstance(mechanism, PermuteAndFlip):
        return mechanism.tables.all
    return mechanism.outputs_near(_margin(mechanism))


def _comparisons(mechanism: NoisyCounts | PermuteAndFlip) -> int:
    if isinstance(mechanism, PermuteAndFlip):
        return mechanism.candidates**2
    cells = len(mechanism.model.cells)
    free = cells - 1 if mechanism.keeps_total else cells
    outputs = (mechanism.size + 2 * _margin(mechanism) + 1) ** min(free, 8)  # eight free counts are too many already
    return number_of_tables(mechanism.size, cells, _MOST_COMPARISONS) * int(outputs)


def _extreme_pair(mechanism: Mechanism) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two neighbours; the loss of noisy counts is the same for all of them. Of a network none is named."""
    if not isinstance(mechanism, NoisyCounts):
        return (), ()
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
    if (release.label, mechanism_document(release.mechanism)) not in _paid(charge) or charge.body[
        "group"
    ] != release.group:
        raise VerificationError(
            f"{release.label!r} is not what entry {charge.sequence} was charged for: it was edited."
        )
    recorded = [e for e in entries.values() if e.kind == "release" and e.body["charge"] == charge.sequence]
    if not any(release.digest in entry.body["digests"] for entry in recorded):
        raise VerificationError(f"{release.label!r} is not the release that the ledger recorded: it was edited.")
    _check_price(release, charge, [text for entry in recorded for text in entry.body["releases"]])
    return [f"ledger chain of {len(entries)} entries intact", f"charged as entry {charge.sequence}, digest matches"]


def _paid(charge: Entry) -> list[tuple[str, Any]]:
    """Return what a charge paid for, by label and mechanism: one release, or all parts of a plan."""
    document = charge.body["mechanism"]
    if document.get("kind") != "Plan":
        return [(charge.body["label"], document)]
    return [(part["label"], part["mechanism"]) for part in document["parts"]]


def _check_price(release: Release, charge: Entry, texts: list[str]) -> None:
    """Refuse if the ledger recorded other releases for a charge than it paid for, or charged less than they cost."""
    recorded = [Release.from_json(text) for text in texts]
    if [(each.label, mechanism_document(each.mechanism)) for each in recorded] != _paid(charge):
        raise VerificationError(f"Entry {charge.sequence} did not pay for all that the ledger records for it.")
    rows = release.unit.rows
    document = charge.body["mechanism"]
    if document.get("kind") == "Plan":
        plan = Plan([each.mechanism for each in recorded], document["delta"])
        guarantee, concentrated = plan.guarantee_for(rows), plan.concentrated(rows)
    else:
        guarantee, concentrated = (
            release.mechanism.guarantee.for_rows(rows),
            Concentrated(*zcdp_cost(release.mechanism, rows)),
        )
    charged, rho = read_amount(charge.body["guarantee"]), read_amount(charge.body["rho"])
    within = charged.epsilon >= guarantee.epsilon * _SEARCHED and charged.delta >= guarantee.delta
    if charge.body.get("unit_rows", charge.body["rows"]) != rows or not within or not rho.covers(concentrated):
        raise VerificationError(f"Entry {charge.sequence} charged less than {release.label!r} costs. Do not trust it.")
