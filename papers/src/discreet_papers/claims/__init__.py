"""The claims register: every numbered statement of every source paper, judged, with evidence that can be run."""

from discreet_papers.claims.claim import Claim, Register, Verdict
from discreet_papers.claims.page import claims_page, registers

__all__ = ["Claim", "Register", "Verdict", "claims_page", "registers"]
