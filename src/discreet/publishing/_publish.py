"""The one door: only `publish` (and `publish_plan`, by the same steps) turns secrets into outputs.

The order is fixed: everything public is checked; the charge is committed to the ledger; the outputs are drawn; the
releases are recorded, all of them or none; they are returned. A crash may waste budget, never overspend it. From the
charge on, nothing that can be seen, be it an error, a warning, a type or a length, depends on the records.

A release that was already paid for is returned again, without a charge. Whom a release protects is what its publisher
states, or what its model protects by combining rows.
"""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Generic

import numpy as np

from discreet._core.documents import MECHANISMS, Document
from discreet._core.errors import DocumentError, LedgerError, PublishError
from discreet.ledger import Decides, Ledger, Receipt, other_neighbours, reached
from discreet.mechanism import Mechanism, ModelT, Sized, decided_by
from discreet.noise.randomness import SystemBits
from discreet.privacy import ONE_RECORD, RECORD, Concentrated, Guarantee, Unit, zcdp_cost
from discreet.publishing._refused import why_no_posterior, why_only_claimed
from discreet.records import Statistics
from discreet.release import (
    LONGEST_LABEL,
    NO_READING,
    Release,
    is_label,
    mechanism_document,
    read_mechanism,
    within_group,
)


def protected(protects: Collection[str], unit: Unit, label: str) -> Unit:
    """Return whom releases protect: what was said, or else what their models protect, such as 'one person'."""
    who = set(protects)
    if who != {RECORD} and unit.rows > 1:
        raise PublishError(
            f"Cannot publish {label!r}: its model already combines all rows of a person, so the guarantee is not "
            f"multiplied by {unit.rows} rows. Nothing was published and nothing was charged. Leave out the number of "
            "rows per unit."
        )
    if len(who) > 1 and unit == ONE_RECORD:
        raise PublishError(
            f"Cannot publish {label!r}: its parts protect different units, {' and '.join(sorted(who))}. Nothing was "
            "published and nothing was charged. State a Unit that all of them protect, or publish them separately."
        )
    return Unit(who.pop()) if unit == ONE_RECORD else unit


def recorded(
    texts: Sequence[str], parts: Sequence["PublishedPart[ModelT]"], label: str, ledger: Ledger
) -> list[Release[ModelT]]:
    """Return the releases that were paid for before; refuse a ledger that records others for the same request."""
    releases = [Release.from_json(text) for text in texts]
    if [(each.label, each.mechanism) for each in releases] != [(part.label, part.mechanism) for part in parts]:
        raise LedgerError(
            f"{str(ledger.place)!r} records a release of {label!r} other than the one that was paid for, so it has "
            "been edited. Nothing was published and nothing was charged. Check it with `discreet ledger`."
        )
    return releases


@dataclass(frozen=True, eq=False)
class PublishedPart(Generic[ModelT]):
    """One output to be drawn."""

    mechanism: Mechanism[ModelT]
    secret: Statistics
    label: str
    reading: str | None


@dataclass(frozen=True, eq=False)
class Charge:
    """What is charged for one or several outputs together."""

    label: str
    guarantee: Guarantee
    concentrated: Concentrated
    document: Document
    decides: Decides | None = None


def publish(
    mechanism: Mechanism[ModelT],
    secret: Statistics,
    ledger: Ledger,
    label: str,
    *,
    unit: Unit | None = None,
    request: str | None = None,
    group: str | None = None,
    data: str = "",
    reading: str | None = None,
    bits: SystemBits | None = None,
) -> Release[ModelT]:
    """Charge the ledger, draw the mechanism's output and return it as a release.

    Each call is charged again; with a `request` it is safe to repeat. Only the system's secure random bits are
    accepted. A release that `infer` could not read is refused before anything is charged, on the basis of public facts
    alone.

    >>> import discreet as dc
    >>> from tempfile import mkdtemp
    >>> smoking = dc.Categories("smoking", levels=("never", "former", "current"))
    >>> secret = smoking.statistics({"smoking": ["never"] * 180 + ["former"] * 70 + ["current"] * 50})
    >>> ledger = dc.Ledger.create(f"{mkdtemp()}/study.db", epsilon=2)
    >>> mechanism = dc.GeometricHistogram(smoking, size=300, epsilon="0.5")
    >>> release = dc.publish(mechanism, secret, ledger=ledger, label="Smoking, 2026")
    >>> print(ledger.remaining)
    Budget(epsilon=1.5, delta=0)

    Args:
        mechanism: how noise is added, with its guarantee.
        secret: the statistics of the records, as the model counted them.
        ledger: the budget of these people.
        label: what readers will see.
        unit: whom the guarantee protects and how many rows each may have, which the charge takes into account;
            by default the `Unit` that the ledger was created with, or else the one that the model protects.
        request: a name of your choice. What is recorded under it is returned, and nothing is charged again.
        group: the group of the ledger that the records belong to; where groups were declared by a rule, it
            follows from which records were counted (`Where`).
        data: a name of the data set, for the ledger.
        reading: "none" publishes what nobody can read; the release then says that there is no posterior.
        bits: the system's secure bits, which is all that is accepted.

    Returns:
        the release, with the receipt of its charge.

    Raises:
        BudgetError: if the budget does not suffice.
        PublishError: if the release could not be read, or the secret does not fit the mechanism. Nothing is
            charged then.
    """
    bits = SystemBits() if bits is None else bits
    part = PublishedPart(mechanism, secret, label, reading)
    check_parts([part], ledger, unit, request, group, data, bits)
    group = ledger.group_of(secret.where, label) if group is None else group
    unit = unit or ledger.stated_unit or ONE_RECORD
    if mechanism.model.protects != ONE_RECORD.description:
        unit = protected((mechanism.model.protects,), unit, label)
    guarantee = within_group(mechanism.guarantee.for_rows(unit.rows), group)
    concentrated = Concentrated(*zcdp_cost(mechanism, unit.rows))
    charge = Charge(label, guarantee, concentrated, mechanism_document(mechanism), decided_by(mechanism.model))
    return publish_parts([part], charge, ledger, unit, request, group, data, bits)[0]


def publish_parts(
    parts: Sequence[PublishedPart[ModelT]],
    charge: Charge,
    ledger: Ledger,
    unit: Unit,
    request: str | None,
    group: str | None,
    data: str,
    bits: SystemBits,
) -> list[Release[ModelT]]:
    """Charge, draw, record and return, in this order, what `check_parts` has not refused; one answer for a request."""
    where = parts[0].secret.where
    with nullcontext() if request is None else ledger.answering(request):
        receipt = ledger.charge(
            charge.guarantee, charge.label, charge.document, request, unit.description, unit.rows,
            concentrated=charge.concentrated, group=group, data=data, decides=charge.decides, where=where,
            derived=[part.secret.derived for part in parts],
        )  # fmt: skip
        if isinstance(receipt, list):
            return recorded(receipt, parts, charge.label, ledger)
        reached("charged")
        outputs = _draw(parts, bits)
        reached("drawn")
        if outputs is None:  # raised here, outside any handler: no exception that saw the secret is chained to it
            raise PublishError(
                f"{charge.label!r} was charged (entry {receipt.sequence} of {ledger.place}) but could not be drawn; "
                "the reason is withheld because it may depend on the records. Nothing was published. The charge stands."
            )
        releases = [
            Release(
                part.mechanism, output, part.label, unit,
                receipt=receipt, group=group, reading=part.reading, where=where, derived=part.secret.derived,
            )
            for part, output in zip(parts, outputs, strict=True)
        ]  # fmt: skip
        _record(ledger, receipt, releases, charge.label)
        reached("recorded")
        return releases


def _record(ledger: Ledger, receipt: Receipt, releases: Sequence[Release], label: str) -> None:
    try:
        ledger.record(receipt, [release.unsigned() for release in releases])
    except LedgerError as problem:
        words = f"{label!r} was charged and drawn but not recorded, so it is withheld. The charge stands. {problem}"
    else:
        return
    raise PublishError(words)


def check_parts(
    parts: Sequence[PublishedPart],
    ledger: object,
    unit: object,
    request: object,
    group: object,
    data: object,
    bits: object,
) -> None:
    """Refuse what public facts alone show to be wrong."""
    for part in parts:
        if not is_label(part.label):
            raise PublishError(f"Cannot publish without a label of 1 to {LONGEST_LABEL} characters for readers.")
    label = parts[0].label
    if request is not None and not is_label(request):
        raise PublishError(_nothing(label, f"a request's name must have 1 to {LONGEST_LABEL} characters"))
    if (group is not None and not is_label(group)) or not (data == "" or is_label(data)):
        raise PublishError(_nothing(label, f"group and data must be names of 1 to {LONGEST_LABEL} characters"))
    if unit is not None and not isinstance(unit, Unit):
        raise PublishError(_nothing(label, "the unit of protection must be a Unit"))
    if not isinstance(ledger, Ledger):
        raise PublishError(_nothing(label, "a Ledger is needed, from Ledger.create or Ledger.open"))
    for part in parts:
        _check_neighbours(part.mechanism, ledger, part.label)  # before anything looks at the number of records
        _check_part(part.mechanism, part.secret, part.label)
    if len({part.secret.where for part in parts}) > 1:
        raise PublishError(
            _nothing(label, "a plan is about the same records throughout, and some of its statistics are of others")
        )
    if type(bits) is not SystemBits:
        raise PublishError(_nothing(label, "only the system's secure bits may be used; seeded bits are for simulate"))
    is_paid = isinstance(request, str) and ledger.is_answered(request)  # then nothing is charged, and it is given again
    for part in parts:
        _check_reading(part, is_paid)


def _check_neighbours(mechanism: object, ledger: Ledger, label: str) -> None:
    if isinstance(mechanism, Mechanism) and (why := other_neighbours(ledger.created, mechanism.guarantee)) is not None:
        raise PublishError(f"Cannot publish {label!r}: {why} Nothing was published and nothing was charged.")


def _check_part(mechanism: object, secret: object, label: str) -> None:
    if not isinstance(mechanism, Mechanism):
        raise PublishError(_nothing(label, f"a {type(mechanism).__name__} is not a mechanism"))
    if not isinstance(secret, Statistics):
        wanted = "statistics must come from model.statistics(data); use discreet.simulate for public counts"
        raise PublishError(_nothing(label, wanted))
    if secret.model != mechanism.model:
        raise PublishError(_nothing(label, "the statistics were counted for a model other than the mechanism's"))
    if isinstance(mechanism, Sized) and secret.where is not None:
        wrong = (
            f"{type(mechanism).__name__} takes the number of records as public, and how many there are where "
            f"{secret.where} is secret. Use a mechanism that keeps it secret, such as LaplaceTable, or ask a table "
            "that is crossed with these columns"
        )
        raise PublishError(_nothing(label, wrong))
    if isinstance(mechanism, Sized) and not secret.describes(mechanism.model, mechanism.size):
        wrong = f"the data do not have the {mechanism.size} records that the mechanism declares as its size"
        raise PublishError(_nothing(label, wrong))
    if not MECHANISMS.hold(type(mechanism)) or not _can_be_read_back(mechanism, label):
        raise PublishError(_nothing(label, f"a release by {type(mechanism).__name__} could not be read back"))
    if (why := why_only_claimed(mechanism)) is not None:
        raise PublishError(_nothing(label, why))


def _check_reading(part: PublishedPart, is_paid: bool) -> None:
    """Refuse what no inference method supports, unless declared: mechanism, size and model decide, never an output."""
    if part.reading not in (None, NO_READING):
        raise PublishError(_nothing(part.label, f"reading must be {NO_READING!r} or left out; got {part.reading!r}"))
    if not is_paid and (why := why_no_posterior(part.mechanism, part.reading)) is not None:
        raise PublishError(
            f"Cannot publish {part.label!r}: no inference method supports it: {why}. Nothing was published and nothing "
            "was charged. Change what is asked; or, to publish it without a posterior, declare "
            f"reading = {NO_READING!r}."
        )


def _can_be_read_back(mechanism: Mechanism, label: str) -> bool:
    """Return whether the document of a mechanism gives the same mechanism; refuse one that cannot be written."""
    try:
        return read_mechanism(mechanism_document(mechanism)) == mechanism
    except DocumentError as problem:
        words = str(problem).rstrip(".")
    raise PublishError(_nothing(label, words))


def _draw(parts: Sequence[PublishedPart], bits: SystemBits) -> list[tuple[int, ...]] | None:
    try:
        drawn = [part.mechanism.sample(part.secret.open_for_publishing(), bits) for part in parts]
        return [tuple(int(value) for value in np.asarray(output)) for output in drawn]
    except Exception:  # noqa: BLE001 - whatever went wrong, its words may depend on the secret
        return None


def _nothing(label: str, why: str) -> str:
    return f"Cannot publish {label!r}: {why}. Nothing was published and nothing was charged."
