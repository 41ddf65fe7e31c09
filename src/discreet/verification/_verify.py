"""Check a promise from the public document alone, and against the ledger if there is one."""

from fractions import Fraction
from math import inf, nextafter
from typing import Protocol, runtime_checkable

from discreet._core.errors import DeclarationError, VerificationError
from discreet._core.exact import exact_text
from discreet.inference import Observed, require
from discreet.ledger import Body, Entry, Ledger, PublicKey, Receipt, account_of, metric_cost, paid
from discreet.mechanism import Mechanism, Plan, both_promises, decided_by
from discreet.privacy import (
    ONE_RECORD,
    Concentrated,
    Evidence,
    Guarantee,
    PrivacyLoss,
    read_amount,
    spent_text,
    zcdp_cost,
)
from discreet.release import Release, mechanism_document
from discreet.verification._certificate import Certificate
from discreet.verification._enumerate import Findings, enumerate_and_compare
from discreet.verification._enumerate_metric import metric_checks
from discreet.verification._work import verifying

_ROUNDING = 1e-9
_SEARCHED = Fraction(999_999, 1_000_000)  # numbers found by a search may differ in their last digits between machines


@runtime_checkable
class RecomputesDelta(Protocol):
    """A mechanism whose delta is known better than its privacy loss, which dominates more than it."""

    def recomputed_delta(self) -> Fraction:
        """Return delta at the stated epsilon, recomputed; 0 where it follows from the privacy loss."""


def verify(
    subject: Release | Mechanism,
    ledger: Ledger | None = None,
    patience: float = 1.0,
    key: PublicKey | None = None,
) -> Certificate:
    """Check the guarantee of a release or mechanism; with a ledger, check the release against its entries too.

    The privacy loss is recomputed from the mechanism's parameters. Neighbours are compared using only the stated
    likelihood: all of them where they and the outputs can be listed, else those of a small instance. Every number shown
    was compared with the guarantee, and each line says what was done.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> certificate = dc.verify(dc.GeometricHistogram(coin, size=10, epsilon="0.5"))
    >>> print(certificate.epsilon, certificate.exact)
    0.5 True

    Args:
        subject: a release, or a mechanism.
        ledger: the ledger in which the release should be recorded.
        patience: how many times the usual work is allowed; anything that takes more is refused before it
            begins.
        key: the public key by which the release must be signed.

    Returns:
        a certificate of what was recomputed and compared, and of what rests on proof alone. `print` shows all
        of it.

    Raises:
        VerificationError: if anything contradicts the guarantee.
    """
    if not isinstance(subject, Release | Mechanism):
        raise DeclarationError(f"verify takes a release or a mechanism; got a {type(subject).__name__}.")
    mechanism = subject.mechanism if isinstance(subject, Release) else subject
    require(verifying(mechanism), patience, "Nothing was checked.")
    loss, guarantee = mechanism.privacy_loss(), mechanism.guarantee
    recomputed = _recomputed(mechanism, loss)
    found = enumerate_and_compare(mechanism)
    pure: Fraction | float = min(loss.epsilon, mechanism.pure_epsilon if guarantee.delta else guarantee.epsilon)
    attained = found.epsilon >= float(pure) * (1 - _ROUNDING)
    if found.whole and not guarantee.delta and not attained:
        pure = found.epsilon * (1 + _ROUNDING)
    checks = [
        recomputed,
        *found.checks,
        *metric_checks(mechanism),
        *_by_proof(guarantee, found, endless=bool(Observed.before(mechanism).measurements)),
    ]
    if isinstance(subject, Release) and ledger is not None:
        checks += _check_against(subject, ledger)
    if isinstance(subject, Release) and key is not None:
        checks.append(key.require(repr(subject.label), subject.unsigned(), subject.signatures))
    release = subject if isinstance(subject, Release) else None
    rows = (ONE_RECORD if release is None else release.unit).rows
    return Certificate(
        guarantee=guarantee if release is None else release.guarantee,
        epsilon=_float_above(pure * rows),
        exact=pure < inf and rows == 1 and (attained or found.whole),
        evidence=Evidence.ENUMERATED if found.whole else guarantee.evidence,
        worst_pair=found.worst_pair,
        checks=tuple(checks),
        loss=loss,
        rows=rows,
        protects=mechanism.model.protects,
        promises=both_promises(mechanism, rows),
    )


def _recomputed(mechanism: Mechanism, loss: PrivacyLoss) -> str:
    """Compare the distribution of the privacy loss, made from the parameters, with the guarantee."""
    guarantee = mechanism.guarantee
    known = mechanism.recomputed_delta() if isinstance(mechanism, RecomputesDelta) else Fraction(0)
    reached = Fraction(known or loss.delta_at(guarantee.epsilon))
    if loss.epsilon > guarantee.epsilon and reached > guarantee.delta:
        raise VerificationError(
            f"The delta recomputed from the parameters, {float(reached):.6g}, exceeds the stated {guarantee!r}."
        )
    if loss.epsilon < mechanism.pure_epsilon == inf:
        raise VerificationError(
            "The distribution of the privacy loss, recomputed from the parameters, bounds the loss of every output by "
            f"{float(loss.epsilon):.9g}, but {type(mechanism).__name__} promises a delta because no such bound is "
            "proved. Losses beyond it are left out, so the cost of several releases together would be understated."
        )
    epsilon, delta = exact_text(guarantee.epsilon), exact_text(guarantee.delta)
    if {abs(step) for step in loss.losses} == {guarantee.epsilon}:
        return (
            f"not recomputed: releases are composed with the worst loss that epsilon = {epsilon}, delta = {delta} "
            "allows"
        )
    if loss.epsilon < inf and not guarantee.delta:
        return f"recomputed from the parameters: privacy loss at most {exact_text(Fraction(loss.epsilon))}"
    at_most = f"at most {float(reached):.6g} (stated: {delta})"
    return f"recomputed from the parameters: delta at epsilon = {epsilon} {at_most}"


def _by_proof(guarantee: Guarantee, found: Findings, endless: bool) -> list[str]:
    """Say what rests on the stated reason, and not on a comparison of all neighbours on all outputs."""
    if found.whole:
        farther = f"by proof alone, for outputs farther out, of probability below 1e-12: {guarantee.reason}"
        return [farther] if endless else []
    if guarantee.evidence is Evidence.ENUMERATED:
        return [f"by computation of the mechanism itself, not repeated here: {guarantee.reason}"]
    return [f"by proof alone, for all that was not compared: {guarantee.reason}"]


def _float_above(number: Fraction | float) -> float:
    """Return the number as a float, never rounded in our favour."""
    value = float(number)
    if value == inf:
        return inf
    return value if Fraction(value) >= number else nextafter(value, inf)


def _check_against(release: Release, ledger: Ledger) -> list[str]:
    """Look a release up in a ledger: its charge and its record, and the path from the newest entry to both."""
    if release.simulated or release.receipt is None:
        raise VerificationError(f"{release.label!r} is a simulation: no ledger was charged for it.")
    receipt = release.receipt
    if receipt.ledger != ledger.id:
        raise VerificationError(
            f"{release.label!r} was charged to another ledger, {receipt.ledger}; this one is {ledger.id}. Look for it "
            "there."
        )
    charge, outcome, length = ledger.charge_of(receipt.sequence, receipt.head)
    if charge is None or charge.kind != "charge":
        raise VerificationError(_not_there(release.label, receipt, length))
    about = release.group, None if release.where is None else release.where.document()
    is_paid = (release.label, mechanism_document(release.mechanism)) in paid(charge.body)
    derived = None if release.derived is None else release.derived.document
    is_paid = is_paid and derived in (charge.body.get("derived") or [None])
    if not is_paid or (charge.body["group"], charge.body.get("where")) != about:
        raise VerificationError(
            f"{release.label!r} is not what entry {charge.sequence} was charged for: it was changed afterwards."
        )
    if outcome is None or outcome.kind != "release" or release.digest not in outcome.body["digests"]:
        raise VerificationError(
            f"{release.label!r} is not the release that the ledger recorded: it was changed afterwards."
        )
    _check_price(release, charge, outcome.body["releases"])
    if ledger.metric is not None:
        _check_metric_price(release, charge, ledger.created)
    sums = [[read_amount(entry.body[part]) for part in ("limit", "spent")] for entry in (charge, outcome)]
    if not sums[0][0].covers(sums[0][1]):
        raise VerificationError(f"Entry {charge.sequence} spent more than the limit. Do not trust this ledger.")
    under = f" for {read_amount(charge.body['cost']).words(spent_text)}" if ledger.metric is not None else ""
    price = f"charged as entry {charge.sequence}{under}, digest matches"
    return [
        f"looked up: the newest of {length} entries builds on entry {charge.sequence} and its record",
        f"looked up: {price}",
    ]


def _check_metric_price(release: Release, charge: Entry, created: Body) -> None:
    """Refuse if a ledger under a metric charged less than a release costs for each unit."""
    model = release.mechanism.model
    account, cost = metric_cost(created, release.guarantee, release.label, decided_by(model), release.unit.rows)
    if not read_amount(charge.body["cost"]).covers(cost) or account_of(charge.body) != account:
        raise VerificationError(f"Entry {charge.sequence} charged less than {release.label!r} costs. Do not trust it.")


def _not_there(label: str, receipt: Receipt, length: int) -> str:
    """Say why a charge is not in a ledger, as far as is known."""
    words = f"{label!r} refers to entry {receipt.sequence}, which this ledger does not hold in that form: "
    if length < receipt.sequence:
        return words + (
            f"this is the same ledger, but it ends at entry {length}. Its end was cut off, or an older copy was put "
            "back."
        )
    return words + (
        "this is the same ledger, with another entry in that place. An older copy was put back and charged again, or "
        "its entries were rewritten."
    )


def _check_price(release: Release, charge: Entry, texts: list[str]) -> None:
    """Refuse if the ledger recorded other releases for a charge than it paid for, or charged less than they cost."""
    recorded = [Release.from_json(text) for text in texts]
    if [(each.label, mechanism_document(each.mechanism)) for each in recorded] != paid(charge.body):
        raise VerificationError(
            f"Entry {charge.sequence} was charged less than all that the ledger records for it costs."
        )
    rows = release.unit.rows
    document = charge.body["mechanism"]
    if document.get("kind") == "Plan":
        plan = Plan([each.mechanism for each in recorded], str(document["delta"]))
        guarantee, concentrated = plan.guarantee_for(rows), plan.concentrated(rows)
    else:
        guarantee, concentrated = (
            release.mechanism.guarantee.for_rows(rows),
            Concentrated(*zcdp_cost(release.mechanism, rows)),
        )
    charged, rho = read_amount(charge.body["guarantee"]), read_amount(charge.body["rho"])
    within = charged.epsilon >= guarantee.epsilon * _SEARCHED and charged.delta >= guarantee.delta
    if charge.body["rows"] != rows or not within or not rho.covers(concentrated):
        raise VerificationError(f"Entry {charge.sequence} charged less than {release.label!r} costs. Do not trust it.")
