"""What a claim is: a place in a paper, what it says in our words, evidence that is run, and what the library does."""

from dataclasses import dataclass

from discreet_papers.claims.finding import Evidence, Finding, Verdict, found
from discreet_papers.reproduction import Paper


@dataclass(frozen=True)
class Claim:
    """One thing that a paper says at a place.

    `evidence` is a function that returns a finding; the verdict follows from it. `shown` names what shows more:
    'tests/path.py::test_name' or 'reproduction NAME'. `instead` is what the library does, with the finding's numbers in
    braces.
    """

    place: str
    claim: str
    evidence: Evidence
    shown: tuple[str, ...]
    instead: str

    @property
    def finding(self) -> Finding:
        """Return what the evidence finds."""
        return found(self.evidence)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that follows from the evidence."""
        return self.finding.verdict

    @property
    def words(self) -> str:
        """Return what the library does, with the numbers of the run."""
        return self.instead.format(**self.finding.numbers)


@dataclass(frozen=True)
class Register:
    """All claims of a paper, in its order."""

    paper: Paper
    claims: tuple[Claim, ...]
