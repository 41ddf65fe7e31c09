"""The results of the source papers, computed again with this library, and a register of what each paper claims.

To add a result, write `paper_NNN/what_it_is.py` with one `REPRODUCTION`; it is found by its place. To judge a claim,
add a row to `claims/paper_NNN.py` and run `python -m discreet_papers.claims > docs/claims.md`.
"""

from discreet_papers.claims import Claim, Register, Verdict, claims_page, registers
from discreet_papers.page import report_page
from discreet_papers.registry import reproduction_named, reproductions
from discreet_papers.reproduction import Outcome, Paper, Reproduction

__all__ = [
    "Claim",
    "Outcome",
    "Paper",
    "Register",
    "Reproduction",
    "Verdict",
    "claims_page",
    "registers",
    "report_page",
    "reproduction_named",
    "reproductions",
]
