"""What a claim is: a place in a paper, what it says in our words, our verdict, and evidence that can be run."""

from dataclasses import dataclass
from enum import Enum

from discreet_papers.reproduction import Paper


class Verdict(Enum):
    """What we found about a claim."""

    TRUE = "true"
    CORRECTED = "corrected"
    FALSE = "false"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Claim:
    """One thing that a paper says at a place.

    `evidence` names what shows the verdict: 'tests/path.py::test_name' or 'reproduction NAME', one or several; only a
    claim that is not checkable has none. `instead` is what the library does.
    """

    place: str
    claim: str
    verdict: Verdict
    evidence: tuple[str, ...]
    instead: str


@dataclass(frozen=True)
class Register:
    """All claims of a paper. `items` is every numbered thing in it; each has one claim or several."""

    paper: Paper
    items: tuple[str, ...]
    claims: tuple[Claim, ...]
