"""What was found about a claim, and the verdict that follows from it.

A finding holds checks: what the paper prints, and what holds after the change that we name. No verdict is written down
anywhere: it follows from the checks and from the kind of evidence, by the rule in `Finding.verdict`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

from discreet._core.errors import DeclarationError


class Verdict(Enum):
    """What we found about a claim."""

    TRUE = "true"
    CORRECTED = "corrected"
    FALSE = "false"
    NO_COUNTEREXAMPLE = "no counterexample found"
    NOT_CHECKABLE = "not checkable"


class Basis(Enum):
    """What kind of evidence there is."""

    PROOF = "proof"
    COMPUTED = "computed"
    SEARCHED = "searched"
    DEFINITION = "definition"
    NOT_GIVEN = "not given"


@dataclass(frozen=True)
class Finding:
    """What was found: the kind of evidence, why it suffices, the checks with their results, and numbers for the text.

    `why` is the proof in short, what was computed or searched, or what the paper does not give. `printed` holds the
    checks of the statement as it stands in the paper, `changed` those of the statement that we put in its place.
    """

    basis: Basis
    why: str
    printed: Mapping[str, bool] = field(default_factory=dict)
    changed: Mapping[str, bool] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse evidence without reasons, and a computation without a check."""
        if not self.why or (self.basis in (Basis.COMPUTED, Basis.SEARCHED) and not self.printed):
            raise DeclarationError(
                f"Evidence must state its reasons, and a computation must have a check; got {self.why!r}."
            )
        odd = [words for words, holds in (*self.printed.items(), *self.changed.items()) if not isinstance(holds, bool)]
        if odd:
            raise DeclarationError(f"The result of a check must be True or False; these are neither: {', '.join(odd)}.")

    @property
    def verdict(self) -> Verdict:
        """Return the verdict.

        Not given: not checkable. All printed checks hold: true, or, if the statement is general and was only searched,
        no counterexample found. One fails: corrected, if a change is named and all its checks hold; false otherwise.
        """
        if self.basis is Basis.NOT_GIVEN:
            return Verdict.NOT_CHECKABLE
        if all(self.printed.values()):
            return Verdict.NO_COUNTEREXAMPLE if self.basis is Basis.SEARCHED else Verdict.TRUE
        return Verdict.CORRECTED if self.changed and all(self.changed.values()) else Verdict.FALSE


Evidence = Callable[[], Finding]


@cache
def found(evidence: Evidence) -> Finding:
    """Return what an evidence function finds; each is run once."""
    return evidence()
