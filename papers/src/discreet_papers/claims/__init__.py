"""The claims register: every numbered statement of every source paper, judged, with evidence that can be run."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.claims.finding import Basis, Finding, Verdict
from discreet_papers.claims.page import claims_page, registers

__all__ = ["Basis", "Claim", "Finding", "Register", "Verdict", "claims_page", "registers"]
