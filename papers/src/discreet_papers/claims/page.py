"""The register as a page of Markdown."""

from functools import lru_cache
from importlib import import_module

from discreet_papers.claims.claim import Claim, Register, Verdict
from discreet_papers.registry import modules

_HEAD = """\
# What the papers claim, and what we found

Every numbered statement of the source papers, in our words, with a verdict and evidence that can be run. A verdict is
about the statement as printed, not about the paper: most of what is corrected here is a slip in a constant or a proof,
and the ideas stand. **true**: shown or computed to hold. **corrected**: holds after a change that is stated.
**false**: a counterexample is computed. **not checkable**: the paper does not give what would be needed.

This page is written by `python -m discreet_papers.claims`; run a reproduction with `discreet reproduce NAME`.
"""


@lru_cache(maxsize=1)
def registers() -> tuple[Register, ...]:
    """Return the register of each paper, found by listing the modules of this folder."""
    return tuple(import_module(module).REGISTER for module in modules("paper_", "claims"))


def claims_page() -> str:
    """Return all registers as one page of Markdown."""
    return "\n".join([_HEAD, *(_paper(register) for register in registers())])


def summary(register: Register) -> str:
    """Return how many claims got which verdict, in words."""
    numbers = {verdict: sum(claim.verdict is verdict for claim in register.claims) for verdict in Verdict}
    words = [f"{number} {verdict.value}" for verdict, number in numbers.items() if number]
    return f"{len(register.claims)} claims judged: {', '.join(words)}."


def in_order(register: Register) -> list[Claim]:
    """Return claims in the order of the paper."""
    return sorted(register.claims, key=lambda claim: register.items.index(claim.place))


def _paper(register: Register) -> str:
    lines = [f"## {register.paper}", "", summary(register), "", "| place | claim | verdict | evidence | the library |"]
    return "\n".join([*lines, "|---|---|---|---|---|", *(_row(claim) for claim in in_order(register)), ""])


def _row(claim: Claim) -> str:
    shown = "; ".join(_evidence(evidence) for evidence in claim.evidence) or "none"
    cells = (claim.place, claim.claim, f"**{claim.verdict.value}**", shown, claim.instead)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _evidence(evidence: str) -> str:
    path, _, test = evidence.partition("::")
    return f"[{test}](../{path})" if test else f"`discreet reproduce {evidence.removeprefix('reproduction ')}`"
