"""What a ledger's charges cost together, by every rule: the one that is enforced and, for information, the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.ledger import Entry, Ledger, paid, read_as
from discreet.privacy import Budget, Concentrated, Guarantee, PrivacyLoss, Totals, compose, zcdp_epsilon

if TYPE_CHECKING:
    from discreet.mechanism import Mechanism


@dataclass(frozen=True)
class _Charged:
    """One charge as it stands in a ledger, when nothing is known of its mechanism but what was charged."""

    budget: Budget
    concentrated: Concentrated

    @property
    def guarantee(self) -> Guarantee:
        """Return what was charged."""
        return Guarantee(self.budget.epsilon, self.budget.delta)

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter that was written down."""
        return self.concentrated.rho

    def rho_delta(self) -> Fraction:
        """Return the delta that was written down beside rho."""
        return self.concentrated.delta

    def privacy_loss(self) -> PrivacyLoss:
        """Return the worst loss that fits the charge."""
        worst = PrivacyLoss.worst_case(self.budget.epsilon)
        return PrivacyLoss(worst.losses, worst.probabilities, float(self.budget.delta))


def ledger_totals(ledger: Ledger) -> Totals:
    """Return what all charges of a ledger cost together at its delta, by every rule.

    The rule of the ledger's own accountant gives the ledger's total: a plan counts as what was charged for it, and
    groups as the ledger counts them. Under the other rules, a charge to one group counts as if it concerned everyone.
    The numerical total composes the mechanisms themselves and would hold if all had been fixed in advance; it is for
    information and never decides whether a charge is refused.
    """
    charges = [entry for entry in ledger.entries() if entry.kind == "charge"]
    delta, spent = ledger.declared_limit.delta, ledger.spent
    parts = _charged_alone if isinstance(spent, Budget) and not delta else _parts
    found = compose([part for charge in charges for part in parts(charge)], delta)
    if isinstance(spent, Concentrated):
        return replace(found, rho=spent.rho, zcdp=zcdp_epsilon(spent.rho, delta * Fraction(9, 10)))
    if isinstance(spent, Budget):
        return replace(found, basic=spent.epsilon, sum_of_deltas=spent.delta)
    return found  # under a metric: what the same releases cost for any change whatever


def _parts(charge: Entry) -> "Sequence[Mechanism | _Charged]":
    """Return the mechanisms behind a charge if it was made for single records, else the charge itself."""
    from discreet.release import read_mechanism  # loads what was charged for

    mechanisms, charged = [read_mechanism(document) for _, document in paid(charge.body)], _charged_alone(charge)
    alone = sum((mechanism.rho for mechanism in mechanisms), Fraction(0)) == charged[0].rho
    return mechanisms if alone else charged


def _charged_alone(charge: Entry) -> list[_Charged]:
    """Return the charge itself: with no delta left, no rule looks at the losses of what it paid for."""
    return [_Charged(read_as(Budget, charge.body["guarantee"]), read_as(Concentrated, charge.body["rho"]))]
