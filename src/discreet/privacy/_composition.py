"""What many releases cost together, by every rule that holds, never rounded in our favour.

- Basic: epsilons add and deltas add, even if each question depends on earlier answers.
- zCDP (Bun and Steinke 2016): each release has a parameter rho; these add, adaptively too, and the sum is converted.
- Numerical: privacy losses of releases that are *fixed in advance* add as independent numbers. Their distribution is
convolved
  by the library dp-accounting on a grid, each loss rounded up. This is the least, but it is no rule for refusing
  adaptively chosen questions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt, tanh
from typing import Any, Protocol

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, probability, rounded_up
from discreet.privacy._guarantee import Adjacency, Evidence, Guarantee, zcdp_cost
from discreet.privacy._loss import PrivacyLoss
from discreet.privacy._zcdp import DIGITS, zcdp_epsilon

_FINEST, _GRID = 1e-5, 2**20  # the finest grid of losses, and about its largest number of points
_TRANSFORM = Fraction(1, 10**11)  # allowed for the rounding of fast Fourier transforms


class Costly(Protocol):
    """Anything whose privacy cost is known: a mechanism."""

    @property
    def guarantee(self) -> Guarantee:
        """Return the guarantee."""

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter."""

    def privacy_loss(self) -> PrivacyLoss:
        """Return the dominating privacy loss."""


def loss_epsilon(losses: Sequence[PrivacyLoss], delta: Exact) -> Fraction | float:
    """Return an epsilon for releases with these privacy losses that were fixed in advance, rounded up.

    Infinite if delta is too small for the numerical method.
    """
    allowed = _left_of(probability(delta, "delta"), len(losses))
    if allowed <= 0 or not losses:
        return inf if losses else Fraction(0)
    from dp_accounting.pld import privacy_loss_distribution as pld  # slow to import, and needed only here

    farthest = sum(float(max(loss.losses)) for loss in losses)
    step = max(_FINEST, 2 * farthest / _GRID)
    total: Any = None
    for loss, times in Counter(losses).items():
        upper, lower = _masses(loss)
        one = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=step)
        many = one.self_compose(times) if times > 1 else one
        total = many if total is None else total.compose(many)
    found = float(total.get_epsilon_for_delta(float(allowed)))
    return rounded_up(found * (1 + 1e-9), DIGITS) if found < inf else inf


def _left_of(delta: Fraction, losses: int) -> Fraction:
    """Return what the rounding of transforms leaves of delta; where that is nothing, the numerical method is silent."""
    return delta - max(_TRANSFORM, Fraction(losses, 10**15))


def _masses(loss: PrivacyLoss) -> tuple[dict[int, float], dict[int, float]]:
    """Return log masses of the pair (P, Q): Q has p e^(-L) where P has p, and nothing where the loss is infinite."""
    upper, lower = {}, {}
    for number, (value, chance) in enumerate(zip(loss.losses, loss.probabilities, strict=True)):
        if chance > 0:
            upper[number], lower[number] = log(chance), log(chance) - float(value)
    return (upper | {-1: log(loss.beyond)} if loss.beyond else upper), lower


@dataclass(frozen=True)
class Totals:
    """The total cost of several releases at one delta, by each rule of composition; infinite where one does not apply.

    `basic` and `zcdp` hold for adaptively chosen questions, `advanced` (a closed form) for epsilons fixed in advance,
    `planned` only for a plan fixed before the first draw. `sum_of_deltas` is the delta that `basic` needs.
    """

    delta: Fraction
    sum_of_deltas: Fraction
    rho: Fraction
    basic: Fraction | float
    advanced: Fraction | float
    zcdp: Fraction | float
    planned: Fraction | float

    @property
    def best(self) -> tuple[str, Fraction]:
        """Return the smallest valid epsilon for a plan, and the rule that gives it."""
        name = min(("basic", "zcdp", "planned"), key=lambda rule: getattr(self, rule))
        return name, Fraction(getattr(self, name))

    def document(self) -> dict[str, float | str | None]:
        """Return all figures by name; None where a rule says nothing."""
        rules = ("basic", "advanced", "zcdp", "planned")
        figures = {rule: float(getattr(self, rule)) for rule in rules}
        known = {rule: value if value < inf else None for rule, value in figures.items()}
        return {"delta": exact_text(self.delta), "rho": float(self.rho), **known}


def compose(mechanisms: Sequence[Costly], delta: Exact, rows: int = 1) -> Totals:
    """Return the total cost of mechanisms at one delta (composition), for units with up to `rows` records.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> totals = dc.compose([dc.GeometricHistogram(coin, size=100, epsilon="0.1")] * 10, delta="1e-6")
    >>> totals.basic
    Fraction(1, 1)

    Args:
        mechanisms: what is published about the same records.
        delta: the delta at which the totals are computed.
        rows: how many records one unit may have.

    Returns:
        the total epsilon by each rule: basic, advanced, zCDP, and privacy losses convolved.
    """
    allowed = probability(delta, "delta")
    deltas = rho = leak = Fraction(0)
    epsilons: list[Fraction] = []
    losses: list[PrivacyLoss] = []
    is_numerical = _left_of(allowed, len(mechanisms)) > 0
    for mechanism, times in Counter(mechanisms).items():
        guarantee, (cost, needed) = mechanism.guarantee.for_rows(rows), zcdp_cost(mechanism, rows)
        deltas, rho, leak = deltas + times * guarantee.delta, rho + times * cost, leak + times * needed
        epsilons += [guarantee.epsilon] * times
        if is_numerical:
            losses += [mechanism.privacy_loss() if rows == 1 else _grouped(guarantee)] * times
    return Totals(
        allowed,
        deltas,
        rho,
        sum(epsilons, Fraction(0)) if deltas <= allowed else inf,
        _advanced(epsilons, allowed) if not deltas and allowed else inf,
        zcdp_epsilon(rho, allowed - leak) if allowed > leak else inf,
        loss_epsilon(losses, allowed) if is_numerical or not mechanisms else inf,
    )


def _grouped(guarantee: Guarantee) -> PrivacyLoss:
    """Return the worst loss that fits a guarantee."""
    worst, leak = PrivacyLoss.worst_case(guarantee.epsilon), float(guarantee.delta)
    return PrivacyLoss(worst.losses, worst.probabilities, leak * (1 + 1e-15))


def _advanced(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction:
    """Return the closed form of Kairouz, Oh and Viswanath (2015): sum e tanh(e/2) + sqrt(2 ln(1/delta) sum e^2)."""
    drift = sum(float(e) * tanh(float(e) / 2) for e in epsilons)
    spread = sqrt(2 * log(1 / float(delta)) * sum(float(e) ** 2 for e in epsilons))
    return rounded_up((drift + spread) * (1 + 1e-12), DIGITS)


def across_groups(guarantees: Sequence[Guarantee], adjacency: Adjacency = Adjacency.REPLACE_ONE) -> Guarantee:
    """Return the joint guarantee of separate releases about disjoint groups (parallel composition).

    The sizes of the groups are public. If it is also public who belongs to which group (REPLACE_WITHIN_GROUP), each
    record affects only one release, so the largest epsilon holds. Otherwise two people may exchange groups, which
    affects two releases, so the two largest epsilons add up. One histogram of group x level costs its epsilon only once
    and needs neither condition.

    Where records are added or removed (ADD_OR_REMOVE), each affects only the release of its own group, whatever is
    public about groups: the largest epsilon holds.
    """
    if not guarantees:
        raise DeclarationError("across_groups needs at least one guarantee.")
    if any(
        (each.adjacency is Adjacency.ADD_OR_REMOVE) is not (adjacency is Adjacency.ADD_OR_REMOVE) for each in guarantees
    ):
        raise DeclarationError(
            f"across_groups joins guarantees for neighbours that {adjacency.value!r}; one of these is for others. "
            "Nothing was computed. State the neighbours that all of them share."
        )
    touched = 1 if adjacency in (Adjacency.REPLACE_WITHIN_GROUP, Adjacency.ADD_OR_REMOVE) else 2
    meant = adjacency if touched == 1 else Adjacency.REPLACE_OR_EXCHANGE
    epsilon = sum(sorted((g.epsilon for g in guarantees), reverse=True)[:touched], Fraction(0))
    delta = sum(sorted((g.delta for g in guarantees), reverse=True)[:touched], Fraction(0))
    order = (Evidence.PROVED, Evidence.ENUMERATED, Evidence.CLAIMED)
    evidence = max((g.evidence for g in guarantees), key=order.index)
    reason = f"{len(guarantees)} disjoint groups, of which one record touches at most {touched}"
    return Guarantee(epsilon, delta, meant, evidence, reason)
