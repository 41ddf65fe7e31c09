"""A plan: several mechanisms fixed before the first draw, and what they cost together.

Their privacy losses add as independent numbers, so the distribution of the sum, and with it the exact cost, can be
computed. It is charged at once and published as one batch. Once charged, a plan may be cut short but its rest cannot be
used for anything else: that would be a choice made after seeing outputs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, probability
from discreet._core.notebook import NotebookRepr, html_table, with_picture
from discreet.mechanism._mechanism import Mechanism
from discreet.privacy import Concentrated, Evidence, Guarantee, Totals, compose, zcdp_cost

_MOST_IN_A_NOTEBOOK = 30
_RULES = {
    "basic": "epsilons and deltas added",
    "zcdp": "zCDP parameters added and converted",
    "planned": "privacy losses convolved, rounded up",
}


@dataclass(frozen=True, init=False)
class Plan(NotebookRepr):
    """Mechanisms that will all be run, whatever their outputs, at one total (epsilon, delta): non-adaptive composition.

    >>> from discreet.tables import GeometricHistogram
    >>> from discreet.tables import Categories
    >>> coin = Categories("answer", levels=("no", "yes"), outside="no")
    >>> plan = Plan([GeometricHistogram(coin, size=100, epsilon="0.1")] * 100, delta="1e-6")
    >>> float(plan.totals().basic), round(float(plan.guarantee.epsilon), 2)
    (10.0, 4.78)
    """

    mechanisms: tuple[Mechanism, ...]
    delta: Fraction

    def __init__(self, mechanisms: Sequence[Mechanism], delta: Exact = 0) -> None:
        if not mechanisms or not all(isinstance(mechanism, Mechanism) for mechanism in mechanisms):
            raise DeclarationError("A plan takes one or more mechanisms, such as Plan([first, second], delta='1e-6').")
        if any(mechanism.guarantee.evidence is Evidence.CLAIMED for mechanism in mechanisms):
            raise DeclarationError(
                "A plan takes mechanisms whose guarantee is proved or computed; the guarantee of one of these is only "
                "claimed."
            )
        if len({mechanism.guarantee.adjacency for mechanism in mechanisms}) > 1:
            raise DeclarationError(
                "A plan takes mechanisms for the same neighbours; some of these hide whether a record is there, others "
                "take the number of records as public. Make a plan of each, with a ledger of each."
            )
        object.__setattr__(self, "mechanisms", tuple(mechanisms))
        object.__setattr__(self, "delta", probability(delta, "delta"))
        if min(self._totals.basic, self._totals.zcdp, self._totals.planned) == inf:
            raise DeclarationError(
                "No composition rule gives a finite epsilon at this delta. Choose a larger delta for the plan."
            )

    def __repr__(self) -> str:
        return f"Plan of {len(self.mechanisms)} mechanisms: {self.guarantee!r}"

    def _repr_html_(self) -> str:
        """Return the mechanisms and what they cost together for a notebook."""
        lines = [(repr(mechanism), str(number)) for mechanism, number in Counter(self.mechanisms).items()]
        page = html_table(repr(self), ("mechanism", "times"), lines[:_MOST_IN_A_NOTEBOOK], words=1)
        return with_picture(page, "composition_chart", self.totals(), len(self))

    def __len__(self) -> int:
        return len(self.mechanisms)

    def totals(self, rows: int = 1) -> Totals:
        """Return the total cost of the mechanisms by every composition rule, for a unit of up to `rows` records."""
        return self._totals if rows == 1 else compose(self.mechanisms, self.delta, rows)

    @cached_property
    def _totals(self) -> Totals:
        return compose(self.mechanisms, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """Return what all releases of the plan promise together."""
        return self.guarantee_for(1)

    def guarantee_for(self, rows: int) -> Guarantee:
        """Return the plan's guarantee for a unit of up to `rows` records: the smallest that any rule gives."""
        totals = self.totals(rows)
        rule, epsilon = totals.best
        delta = totals.sum_of_deltas if rule == "basic" else self.delta
        evidence = max(
            [each.guarantee.evidence for each in self.mechanisms]
            + [Evidence.PROVED if rule == "basic" else Evidence.ENUMERATED],
            key=list(Evidence).index,
        )
        reason = f"plan of {len(self)} mechanisms fixed in advance: {_RULES[rule]}"
        adjacency = self.mechanisms[0].guarantee.adjacency
        return Guarantee(epsilon, delta, adjacency, evidence, reason)

    def concentrated(self, rows: int = 1) -> Concentrated:
        """Return the cost under zCDP: all parameters added."""
        costs = [zcdp_cost(mechanism, rows) for mechanism in self.mechanisms]
        return Concentrated(sum((c[0] for c in costs), Fraction(0)), sum((c[1] for c in costs), Fraction(0)))
