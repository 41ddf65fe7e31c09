"""What is refused before a charge, by public facts alone: studies, servers, plans and `publish` ask here."""

from discreet.inference import why_unreadable
from discreet.mechanism import Mechanism
from discreet.privacy import Evidence
from discreet.release import NO_READING


def why_only_claimed(mechanism: Mechanism) -> str | None:
    """Tell why nothing may be published by a mechanism, because its guarantee is only claimed; None if it may be."""
    guarantee = mechanism.guarantee
    if guarantee.evidence is not Evidence.CLAIMED:
        return None
    return (
        f"the guarantee of {type(mechanism).__name__} is only claimed, neither proved nor computed "
        f"({guarantee.reason}). It is available for study, not for publishing; name another mechanism"
    )


def why_no_posterior(mechanism: Mechanism, reading: str | None) -> str | None:
    """Tell why a release could not be read; None if it can be, or if it is declared that it will not be."""
    return None if reading == NO_READING else why_unreadable(mechanism)
