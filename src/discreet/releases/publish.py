"""The one door: only `publish` turns a secret into an output.

The order is fixed: everything public is checked; the charge is committed to the ledger; the output is drawn; the
release is recorded; it is returned. A crash may waste budget, never overspend it. From the charge on, nothing that
can be seen, be it an error, a warning, a type or a length, depends on the records.
"""

from typing import Any

import numpy as np

from discreet.errors import LedgerError, PublishError
from discreet.failpoints import reached
from discreet.guarantees import ONE_RECORD, Evidence, Ledger, Receipt, Unit
from discreet.mechanisms import Mechanism
from discreet.models import Statistics
from discreet.randomness import SystemBits
from discreet.releases.document import MECHANISMS, mechanism_document, read_mechanism
from discreet.releases.release import LONGEST_LABEL, Release, is_label


def publish(
    mechanism: Mechanism,
    secret: Statistics,
    ledger: Ledger,
    label: str,
    *,
    unit: Unit = ONE_RECORD,
    request: str | None = None,
    bits: SystemBits | None = None,
) -> Release:
    """Charge the ledger, draw the mechanism's output and return it as a release.

    `unit` says whom the guarantee protects if one person may have several rows: all is then stated and charged for a
    whole person. Each call charges anew. Give a `request`, a name that the caller chooses, to make a call safe to
    repeat: if a release was recorded under that name, the same release is returned and nothing is charged. Only the
    operating system's secure bits are accepted.
    """
    bits = SystemBits() if bits is None else bits
    _check(mechanism, secret, ledger, label, unit, request, bits)
    document = mechanism_document(mechanism)
    guarantee = mechanism.guarantee.for_rows(unit.rows)
    charge = ledger.charge(guarantee, label, document, request, unit.description, unit.rows)
    if isinstance(charge, str):
        return Release.from_json(charge)
    reached("charged")
    output = _draw(mechanism, secret, bits)
    reached("drawn")
    if output is None:  # raised here, outside any handler, so that no exception that saw the secret is chained to it
        raise PublishError(
            f"{label!r} was charged (entry {charge.sequence} of {ledger.path}) but could not be drawn; the reason is "
            "withheld because it may depend on the records. Nothing was published. The charge stands."
        )
    release = Release(mechanism, output, label, unit, receipt=charge)
    _record(ledger, charge, release)
    reached("recorded")
    return release


def _record(ledger: Ledger, charge: Receipt, release: Release) -> None:
    try:
        ledger.record(charge, release.to_json())
    except LedgerError as problem:
        words = (
            f"{release.label!r} was charged and drawn but not recorded, so it is withheld. The charge stands. {problem}"
        )
    else:
        return
    raise PublishError(words)


def _check(mechanism: Any, secret: Any, ledger: Any, label: Any, unit: Any, request: Any, bits: Any) -> None:
    """Refuse what public facts alone show to be wrong."""
    if not is_label(label):
        raise PublishError(f"Cannot publish without a label: a text of 1 to {LONGEST_LABEL} characters for readers.")
    if request is not None and not is_label(request):
        raise PublishError(_nothing(label, f"a request's name is a text of 1 to {LONGEST_LABEL} characters"))
    if not isinstance(unit, Unit):
        raise PublishError(_nothing(label, "the unit of protection must be a Unit"))
    if not isinstance(mechanism, Mechanism):
        raise PublishError(_nothing(label, f"a {type(mechanism).__name__} is not a mechanism"))
    if not isinstance(secret, Statistics):
        wanted = "statistics must come from model.statistics(data); use discreet.simulate for made-up counts"
        raise PublishError(_nothing(label, wanted))
    if not isinstance(ledger, Ledger):
        raise PublishError(_nothing(label, "a Ledger is needed, from Ledger.create or Ledger.open"))
    if type(bits) is not SystemBits:
        raise PublishError(_nothing(label, "only the system's secure bits may be used; seeded bits are for simulate"))
    if secret.model != mechanism.model:
        raise PublishError(_nothing(label, "the statistics were counted for another model than the mechanism's"))
    if not secret.describes(mechanism.model, mechanism.size):
        raise PublishError(
            _nothing(
                label, f"the data do not have the {mechanism.size} records that the mechanism declares as its size"
            )
        )
    if type(mechanism).__name__ not in MECHANISMS or read_mechanism(mechanism_document(mechanism)) != mechanism:
        raise PublishError(_nothing(label, f"a release by {type(mechanism).__name__} could not be read back"))
    if mechanism.guarantee.evidence is Evidence.CLAIMED:
        raise PublishError(_nothing(label, "its guarantee is only claimed, neither proved nor computed"))


def _draw(mechanism: Mechanism, secret: Statistics, bits: SystemBits) -> tuple[int, ...] | None:
    try:
        drawn = mechanism.sample(secret.open_for_publishing(), bits)
        return tuple(int(value) for value in np.asarray(drawn))
    except Exception:  # noqa: BLE001 - whatever went wrong, its words may depend on the secret
        return None


def _nothing(label: str, why: str) -> str:
    return f"Cannot publish {label!r}: {why}. Nothing was published and nothing was charged."
