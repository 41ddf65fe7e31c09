"""A whole plan through the one door: one charge, all releases or none."""

from collections.abc import Sequence

from discreet._core.documents import Document
from discreet._core.errors import PublishError
from discreet._core.exact import exact_text
from discreet.ledger import Ledger
from discreet.mechanism import Plan
from discreet.noise.randomness import SystemBits
from discreet.privacy import ONE_RECORD, Unit
from discreet.publishing._publish import Charge, PublishedPart, check_parts, protected, publish_parts
from discreet.records import Statistics
from discreet.release import LONGEST_LABEL, Release, mechanism_document


def publish_plan(
    plan: Plan,
    secrets: Sequence[Statistics],
    ledger: Ledger,
    labels: Sequence[str],
    *,
    unit: Unit | None = None,
    request: str | None = None,
    data: str = "",
    reading: str | Sequence[str | None] | None = None,
    bits: SystemBits | None = None,
) -> list[Release]:
    """Charge a whole plan at once and publish all of its releases: one charge, one record, all or nothing.

    >>> import discreet as dc
    >>> from tempfile import mkdtemp
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> secret = coin.statistics({"coin": ["heads"] * 60 + ["tails"] * 40})
    >>> mechanism = dc.GeometricHistogram(coin, size=100, epsilon="0.25")
    >>> plan = dc.Plan([mechanism, mechanism], delta=0)
    >>> ledger = dc.Ledger.create(f"{mkdtemp()}/study.db", epsilon=1)
    >>> first, second = dc.publish_plan(plan, [secret, secret], ledger, ["first", "second"])
    >>> print(ledger.spent)
    Budget(epsilon=0.5, delta=0)

    Args:
        plan: the mechanisms, fixed in advance.
        secrets: the statistics for each of them, in the same order.
        labels: the label of each release.
        ledger: the budget of these people.
        unit: as in `publish`.
        request: as in `publish`.
        data: as in `publish`.
        bits: as in `publish`.
        reading: as in `publish`; one value for all releases, or one for each.

    Returns:
        the releases, in the order of the plan.

    Raises:
        BudgetError: if the budget does not suffice for all of them. Nothing is charged then.
        PublishError: if one of them could not be read, or does not fit its statistics.
    """
    bits = SystemBits() if bits is None else bits
    if not isinstance(plan, Plan):
        raise PublishError("publish_plan takes a Plan. Nothing was published and nothing was charged.")
    if not isinstance(secrets, Sequence) or isinstance(labels, str) or not len(plan) == len(secrets) == len(labels):
        raise PublishError(
            f"A plan of {len(plan)} mechanisms needs as many statistics and as many labels. "
            "Nothing was published and nothing was charged."
        )
    readings = [reading] * len(plan) if reading is None or isinstance(reading, str) else list(reading)
    if len(readings) != len(plan):
        raise PublishError(
            f"A plan of {len(plan)} mechanisms takes one value of reading for all, or {len(plan)} values. Nothing "
            "was published and nothing was charged."
        )
    parts = [PublishedPart(*each) for each in zip(plan.mechanisms, secrets, labels, readings, strict=True)]
    check_parts(parts, ledger, unit, request, None, data, bits)
    protects = {mechanism.model.protects for mechanism in plan.mechanisms}
    unit = protected(protects, unit or ledger.stated_unit or ONE_RECORD, labels[0])
    title = f"plan of {len(plan)}: {', '.join(labels)}"
    title = title if len(title) <= LONGEST_LABEL else title[: LONGEST_LABEL - 3] + "..."
    document = plan_document(plan, labels)
    charge = Charge(title, plan.guarantee_for(unit.rows), plan.concentrated(unit.rows), document)
    group = ledger.group_of(secrets[0].where, title)
    return publish_parts(parts, charge, ledger, unit, request, group, data, bits)


def plan_document(plan: Plan, labels: Sequence[str]) -> Document:
    """Return a plan as it stands in a ledger: its delta, and each mechanism with its label."""
    parts = zip(plan.mechanisms, labels, strict=True)
    written = [{"label": label, "mechanism": mechanism_document(mechanism)} for mechanism, label in parts]
    return {"kind": "Plan", "delta": exact_text(plan.delta), "parts": written}
