"""The one door: only `publish` turns a secret into an output.

The order is fixed: everything public is checked; the charge is committed to the ledger; the output is drawn; the
release is recorded; it is returned. A crash may waste budget, never overspend it. From the charge on, nothing that
can be seen, be it an error, a warning, a type or a length, depends on the records.
"""

from typing import Any

import numpy as np

from discreet.errors import PublishError
from discreet.failpoints import reached
from discreet.guarantees import Evidence, Ledger
from discreet.mechanisms import Mechanism
from discreet.models import Statistics
from discreet.randomness import SystemBits
from discreet.releases.document import mechanism_document
from discreet.releases.release import Receipt, Release


def publish(
    mechanism: Mechanism,
    secret: Statistics,
    ledger: Ledger,
    label: str,
    *,
    request: str | None = None,
    bits: SystemBits | None = None,
) -> Release:
    """Charge the ledger, draw the mechanism's output and return it as a release.

    Each call charges anew. Give a `request`, a name that the caller chooses, to make a call safe to repeat: if a
    release was recorded under that name, the same release is returned and nothing is charged. Only the operating
    system's secure bits are accepted.
    """
    bits = SystemBits() if bits is None else bits
    _check(mechanism, secret, ledger, label, bits)
    document = mechanism_document(mechanism)
    if request is not None and (answered := ledger.answered(request)) is not None:
        if answered[0] != document:
            raise PublishError(_nothing(label, f"request {request!r} was already answered by another mechanism"))
        return Release.from_json(answered[1])
    charge = ledger.charge(mechanism.guarantee, label, document, request)
    reached("charged")
    output = _draw(mechanism, secret, bits)
    reached("drawn")
    if output is None:  # raised here, outside any handler, so that no exception that saw the secret is chained to it
        raise PublishError(
            f"{label!r} was charged (entry {charge.sequence} of {ledger.path}) but could not be drawn; the reason is "
            "withheld because it may depend on the records. Nothing was published. The charge stands."
        )
    release = Release(mechanism, output, label, receipt=Receipt(charge.sequence, charge.head))
    ledger.record(charge, release.to_json())
    reached("recorded")
    return release


def _check(mechanism: Any, secret: Any, ledger: Any, label: Any, bits: Any) -> None:
    """Refuse what public facts alone show to be wrong."""
    if not isinstance(label, str) or not label.strip():
        raise PublishError("Cannot publish without a label: a text by which readers know the release.")
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
