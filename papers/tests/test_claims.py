"""The register is complete by a list that does not come from it, and every verdict follows from its evidence."""

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from discreet._core.errors import DeclarationError
from discreet_papers import Basis, Claim, Finding, Register, Verdict, claims_page, registers, reproductions
from discreet_papers.claims.page import LEGEND, items
from discreet_papers.evidence import figures_003, paper_001, rows
from discreet_papers.paper_ours import OURS

PROJECT = Path(__file__).parent.parent.parent
REGISTERS = registers()
CLAIMS = [(register, claim) for register in REGISTERS for claim in register.claims]
each_register = pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.paper.number)
each_claim = pytest.mark.parametrize(
    ("register", "claim"), CLAIMS, ids=[f"{register.paper.number} {claim.place}" for register, claim in CLAIMS]
)
AUDITED = json.loads(Path(__file__).with_name("audited_verdicts.json").read_text("utf-8"))
"""The verdicts of the audits, place by place, which were made by hand; those that are true are left out."""


@cache
def names_of_tests(path: str) -> set[str]:
    """Return the names of the tests in a file, without running it."""
    tree = ast.parse((PROJECT / path).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return {name for name in names if name.startswith("test_")}


def covers(place: str, item: str) -> bool:
    """Tell whether a claim at a place is about an item: 'Lemma 2.3, proof' about Lemma 2.3, and not about Lemma 2."""
    whole = item.partition("(")[0]  # a claim about figure 3 as a whole is one about figure 3(a)
    own, around = re.escape(item) + r"(?:[,(].*)?", re.escape(whole) + r"(?:,.*)?"
    return re.fullmatch(own, place) is not None or re.fullmatch(around, place) is not None


def test_the_page_of_claims_is_up_to_date() -> None:
    written = (PROJECT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert written == claims_page(), "run: python -m discreet_papers.claims > docs/claims.md"


@each_register
def test_every_numbered_item_of_the_text_is_judged(register: Register) -> None:
    places = [claim.place for claim in register.claims]
    assert [
        item for item in items()["numbered"][register.paper.number] if not any(covers(p, item) for p in places)
    ] == []


def test_the_list_of_numbered_items_is_as_long_as_the_texts_say() -> None:
    numbers = {paper: len(found) for paper, found in items()["numbered"].items()}
    assert numbers == {"000": 3, "001": 7, "002": 17, "003": 22, "004": 29}
    assert not covers("Lemma 2.3", "Lemma 2")
    assert not covers("Figure 11", "Figure 1")
    assert not covers("Figure 6(b)", "Figure 6(a)")


@each_register
def test_every_statement_is_judged_as_often_as_it_claims_something(register: Register) -> None:
    assert dict(Counter(claim.place for claim in register.claims)) == items()["statements"][register.paper.number]


@each_register
def test_deleting_any_claim_is_noticed(register: Register) -> None:
    stated = items()["statements"][register.paper.number]
    for claim in register.claims:
        left = [other for other in register.claims if other is not claim]
        assert dict(Counter(other.place for other in left)) != stated


@each_register
def test_verdicts_are_those_of_the_audits(register: Register) -> None:
    audited = AUDITED[register.paper.number]
    for place in items()["statements"][register.paper.number]:
        found = [claim.verdict.value for claim in register.claims if claim.place == place]
        assert found == audited.get(place, ["true"] * len(found)), place


def flipped(checks: Mapping[str, bool], name: str) -> dict[str, bool]:
    return {words: holds != (words == name) for words, holds in checks.items()}


@each_claim
def test_another_outcome_of_the_evidence_is_another_verdict(register: Register, claim: Claim) -> None:
    """Turn single checks round: what held all along now fails, and what alone failed now holds."""
    finding = claim.finding
    if finding.basis is Basis.NOT_GIVEN:
        assert claim.verdict is Verdict.NOT_CHECKABLE
        return
    broken = [name for name, holds in finding.printed.items() if not holds]
    for name in finding.printed if not broken else broken if len(broken) == 1 else ():
        assert replace(finding, printed=flipped(finding.printed, name)).verdict is not claim.verdict
    for name in finding.changed if claim.verdict is Verdict.CORRECTED else ():
        assert replace(finding, changed=flipped(finding.changed, name)).verdict is Verdict.FALSE
    if not finding.printed:  # nothing is computed: it must say what it rests on
        assert finding.basis in (Basis.PROOF, Basis.DEFINITION)


@each_claim
def test_a_claim_says_what_it_rests_on(register: Register, claim: Claim) -> None:
    assert claim.claim
    assert claim.words
    assert len(claim.finding.why) > 15
    names = {reproduction.name for reproduction in reproductions()}
    for shown in claim.shown:
        path, _, test = shown.partition("::")
        if test:
            assert test in names_of_tests(path), f"{shown} is no test"
        else:
            assert shown.removeprefix("reproduction ") in names, f"{shown} is no reproduction"


@each_claim
def test_numbers_in_prose_come_from_the_run(register: Register, claim: Claim) -> None:
    typed = re.sub(r"\{[^}]*\}", "", claim.instead)
    assert re.findall(r"\d\.\d\d", typed) == []


@each_claim
def test_figures_are_judged_by_one_standard(register: Register, claim: Claim) -> None:
    """A figure without a verdict says what is not given; what is not given has no verdict."""
    if claim.place.startswith("Figure"):
        given = "not given" not in claim.finding.why and "cannot be obtained" not in claim.finding.why
        assert (claim.finding.basis is not Basis.NOT_GIVEN) == (given and "no sentence" not in claim.finding.why)


def test_the_rule_of_verdicts() -> None:
    def verdict(basis: Basis, *printed: bool, changed: tuple[bool, ...] = ()) -> Verdict:
        checks = ({str(place): holds for place, holds in enumerate(each)} for each in (printed, changed))
        return Finding(basis, "reasons", *checks).verdict

    assert verdict(Basis.PROOF) is verdict(Basis.COMPUTED, True, True) is Verdict.TRUE
    assert verdict(Basis.SEARCHED, True) is Verdict.NO_COUNTEREXAMPLE
    assert verdict(Basis.SEARCHED, True, False) is verdict(Basis.PROOF, False) is Verdict.FALSE
    assert verdict(Basis.COMPUTED, False, changed=(True,)) is Verdict.CORRECTED
    assert verdict(Basis.COMPUTED, False, changed=(True, False)) is Verdict.FALSE
    assert verdict(Basis.NOT_GIVEN, False) is Verdict.NOT_CHECKABLE
    assert set(LEGEND) == set(Verdict)
    with pytest.raises(DeclarationError, match="must have a check"):
        Finding(Basis.COMPUTED, "reasons")
    with pytest.raises(DeclarationError, match="True or False"):
        Finding(Basis.PROOF, "reasons", {"a number": 0.3})  # type: ignore[dict-item]


def test_verdicts_follow_from_recorded_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded numbers that differ give another verdict; how they are computed stands beside them."""
    assert set(rows.LONG) == set(rows.record())
    kept = {name: dict(numbers) for name, numbers in rows.record().items()}
    kept["four_dimensions"]["mechanism_1020"] = 0.9
    kept["three_dimensions_far"]["exponential_900"] = 0.0
    monkeypatch.setattr(rows, "record", lambda: kept)
    assert paper_001.four_hundred().verdict is Verdict.FALSE
    assert paper_001.asymptotics().verdict is Verdict.FALSE
    assert figures_003.figure_6b().verdict is Verdict.FALSE


def test_every_paper_with_a_reproduction_has_a_register() -> None:
    papers = {reproduction.paper for reproduction in reproductions()} - {OURS}  # what is ours claims nothing
    assert papers == {register.paper for register in REGISTERS}
