"""The register as a page of Markdown."""

import json
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.claims.finding import Basis, Finding, Verdict
from discreet_papers.registry import modules

LEGEND = {
    Verdict.TRUE: "the statement was proved, or everything that it is about was computed, or it is a definition",
    Verdict.CORRECTED: "a check of the printed statement fails, and all checks of the stated correction hold",
    Verdict.FALSE: "a counterexample was computed, and no correction that holds is named",
    Verdict.NO_COUNTEREXAMPLE: "the statement is general, counterexamples were looked for, and we have no proof",
    Verdict.NOT_CHECKABLE: "the paper does not give what would be needed",
}
_HEAD = f"""\
# What the papers claim, and what we found

This page lists every numbered statement of the source papers, and those between them, in our words, with a verdict and
its evidence. A verdict is about the statement as printed, not about the paper: most of what is corrected here is a slip
in a constant or a proof, and the ideas stand. No verdict is written by hand. Each claim has a function in
`discreet_papers/evidence` that computes what is found, and the verdict follows from that by the rule of
`Finding.verdict`:

{chr(10).join(f"- **{verdict.value}**: {words}." for verdict, words in LEGEND.items())}

A figure is judged by the sentences about it, in the setting that is printed. Where the data behind it are not given, or
no sentence is about it, it is not checkable, and what we find on data of our own is given beside it.

This page is written by `python -m discreet_papers.claims`; run a reproduction with `discreet reproduce NAME`. Numbers
that take long to compute are stored in `evidence/recorded.json`; `python -m discreet_papers.evidence` recomputes them.
"""


@lru_cache(maxsize=1)
def registers() -> tuple[Register, ...]:
    """Return the register of each paper, found by listing the modules of this folder."""
    return tuple(import_module(module).REGISTER for module in modules("paper_", "claims"))


@lru_cache(maxsize=1)
def items() -> dict[str, Any]:
    """Return the independent list: `numbered` items of the texts, and `statements` with how many claims each has."""
    found: dict[str, Any] = json.loads(files("discreet_papers.claims").joinpath("items.json").read_text("utf-8"))
    return found


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
    places = {place: number for number, place in enumerate(items()["statements"][register.paper.number])}
    return sorted(register.claims, key=lambda claim: places[claim.place])


def evidence_words(finding: Finding) -> str:
    """Return the kind of evidence, its reasons, and what came out of each check."""
    own = finding.basis is Basis.NOT_GIVEN
    checks = [
        f"{words}: {'yes' if holds else 'no'}"
        for title, found in (("", finding.printed), ("changed, ", {} if own else finding.changed))
        for words, holds in ((title + words, holds) for words, holds in found.items())
    ]
    return "; ".join([f"{finding.basis.value}: {finding.why}", *checks])


def _paper(register: Register) -> str:
    lines = [f"## {register.paper}", "", summary(register), "", "| place | claim | verdict | evidence | the library |"]
    return "\n".join([*lines, "|---|---|---|---|---|", *(_row(claim) for claim in in_order(register)), ""])


def _row(claim: Claim) -> str:
    shown = "; ".join([evidence_words(claim.finding), *(_link(each) for each in claim.shown)])
    cells = (claim.place, claim.claim, f"**{claim.verdict.value}**", shown, claim.words)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _link(shown: str) -> str:
    path, _, test = shown.partition("::")
    return f"[{test}](../{path})" if test else f"`discreet reproduce {shown.removeprefix('reproduction ')}`"
