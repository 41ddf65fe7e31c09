"""A ledger under a metric: it adds up epsilon for each unit of that metric, and of no other.

Data sets at a distance d under the metric differ in probability by a factor of e^(epsilon d) at most, by all releases
together, if their epsilons add up to epsilon. That is another promise than an ordinary ledger's; they never mix:

- a release is charged its epsilon per unit if its metric is the ledger's, by digest. If that is a sum of metrics, every
  column has an account of its own, and the largest counts: losses add up along the columns of a record as distances do;
- an ordinary release is charged epsilon over the smallest distance, if what it counts follows from the cells of the
  metric alone: two records that differ for it are at least that far apart;
- all else is refused. Records at no distance would have to look alike, and a column outside the metric, or another
  division into cells, can tell them apart.
"""

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256

from discreet._core.documents import canonical_json
from discreet._core.errors import DeclarationError, LedgerError, PublishError
from discreet._core.exact import Exact, exact, exact_text, positive
from discreet.ledger._entries import Body
from discreet.privacy import (
    DIGEST_DIGITS,
    EVERYONE,
    Accountant,
    Adjacency,
    Amount,
    Guarantee,
    Metric,
    PerUnit,
    read_metric,
)


def metric_beginning(metric: object, epsilon: Exact, delta: Exact, is_plain: bool) -> tuple[PerUnit, Body]:
    """Return the limit of a ledger under a metric, and what its first entry says of it."""
    if not isinstance(metric, Metric) or not metric.position_count:
        raise DeclarationError(
            "The metric of a ledger must be a Line, Steps, a Tree or a Sum of them; a ledger under Records is an "
            "ordinary one, created without a metric. Nothing was created."
        )
    if exact(delta, "delta") or not is_plain:
        raise DeclarationError(
            "A ledger under a metric adds up epsilon per unit by basic composition, so it takes no delta, zCDP or "
            "groups. Nothing was created."
        )
    limit = PerUnit.under(metric, positive(epsilon, "epsilon"))
    groups = list(metric.columns) if len(metric.parts) > 1 else []
    body: Body = {
        "metric": metric.document(), "groups": groups, "adjacency": Adjacency.METRIC.value,
        "accountant": Accountant.METRIC.value, "declared": limit.document(),
    }  # fmt: skip
    return limit, body


def check_beginning(body: Body, limit: Amount) -> None:
    """Refuse a first entry whose metric is not that of its limit."""
    document = body.get("metric")
    if document is None and not isinstance(limit, PerUnit):
        return
    metric = read_metric(document)
    if not PerUnit.under(metric, Fraction(0)).is_like(limit):
        raise LedgerError("The limit of this ledger is not under the metric that it states. It was edited.")


Decides = Callable[[Metric], bool]
"""Decides whether the cells of a metric alone determine what a release counts."""


def metric_cost(
    created: Body, guarantee: Guarantee, label: str, decides: Decides | None, rows: int
) -> tuple[str, PerUnit]:
    """Return the account that a release is charged to, and how much; refuse what is not under the ledger's metric."""
    whole = read_metric(created["metric"])
    if rows != 1:
        raise PublishError(
            f"Cannot publish {label!r}: under a metric the distances of all rows of a person add up, and this ledger "
            f"counts epsilon per {whole.unit}: declare one row per unit. Nothing was published or charged."
        )
    for part in whole.parts:
        account = EVERYONE if part is whole else part.columns[0]
        if (given := guarantee.metric) is not None and isinstance(given.metric, Metric):
            if given.metric.digest == part.digest and not guarantee.delta:
                return account, PerUnit.under(whole, given.epsilon)
        elif decides is not None and decides(part) and not guarantee.delta:
            return account, PerUnit.under(whole, guarantee.epsilon / part.nearest)
    raise PublishError(
        f"Cannot publish {label!r}: this ledger adds up epsilon per {whole.unit} (metric "
        f"{whole.digest[:DIGEST_DIGITS]}). The release promises {_promised(guarantee)}, "
        "which says nothing about that unit. Nothing was published and nothing was charged. Ask about the same column "
        "and cells, or publish it on another ledger."
    )


def _promised(guarantee: Guarantee) -> str:
    """Say what a release promises, with the unit."""
    metric = guarantee.metric
    if metric is None:
        return f"epsilon = {exact_text(guarantee.epsilon)} for any change of a record, of columns or cells of its own"
    digest = metric.metric.digest if isinstance(metric.metric, Metric) else sha256(b"").hexdigest()
    return f"{metric.per_unit_words} (metric {digest[:DIGEST_DIGITS]})"


def same_metric(created: Body, metric: Metric | None) -> bool:
    """Return whether a ledger was created under this metric, or under none if that is wanted."""
    kept = created.get("metric")
    return (
        kept is None
        if metric is None
        else kept is not None and canonical_json(kept) == canonical_json(metric.document())
    )
