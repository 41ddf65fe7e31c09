"""The results of the source papers, computed again with this library, and a register of what each paper claims.

To add a result, write `paper_NNN/what_it_is.py` with one `REPRODUCTION`; it is found by its place. To judge a claim,
write a function in `evidence` that returns what is found, add a row to `claims/paper_NNN.py` and its place to
`claims/items.json`, and run `python -m discreet_papers.claims > docs/claims.md`. The verdict follows from the finding.
"""

from discreet_papers.claims import Basis, Claim, Finding, Register, Verdict, claims_page, registers
from discreet_papers.page import report_page
from discreet_papers.registry import reproduction_named, reproductions
from discreet_papers.reproduction import Outcome, Paper, Reproduction

__all__ = [
    "Basis",
    "Claim",
    "Finding",
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
