"""The claims register is complete, every verdict has evidence that exists, and the page is up to date."""

import ast
from functools import cache
from pathlib import Path

import pytest

from discreet_papers import Claim, Register, Verdict, claims_page, registers, reproductions
from discreet_papers.paper_ours import OURS

PROJECT = Path(__file__).parent.parent.parent
REGISTERS = registers()
CLAIMS = [(register, claim) for register in REGISTERS for claim in register.claims]
each_register = pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.paper.number)


@cache
def names_of_tests(path: str) -> set[str]:
    """Return the names of the tests in a file, without running it."""
    tree = ast.parse((PROJECT / path).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return {name for name in names if name.startswith("test_")}


def test_the_page_of_claims_is_up_to_date() -> None:
    written = (PROJECT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert written == claims_page(), "run: python -m discreet_papers.claims > docs/claims.md"


@each_register
def test_every_item_is_judged(register: Register) -> None:
    assert len(set(register.items)) == len(register.items)
    assert {claim.place for claim in register.claims} == set(register.items)


@pytest.mark.parametrize(("register", "claim"), CLAIMS, ids=[f"{r.paper.number} {c.place}" for r, c in CLAIMS])
def test_evidence_exists(register: Register, claim: Claim) -> None:
    assert claim.place in register.items
    assert claim.evidence or claim.verdict is Verdict.NOT_CHECKABLE
    assert claim.claim
    assert claim.instead
    names = {reproduction.name for reproduction in reproductions()}
    for evidence in claim.evidence:
        path, _, test = evidence.partition("::")
        if test:
            assert test in names_of_tests(path), f"{evidence} is no test"
        else:
            assert evidence.removeprefix("reproduction ") in names, f"{evidence} is no reproduction"


def test_every_paper_with_a_reproduction_has_a_register() -> None:
    papers = {reproduction.paper for reproduction in reproductions()} - {OURS}  # what is ours claims nothing
    assert papers == {register.paper for register in REGISTERS}
