"""Every later version reads, verifies and infers the documents that an earlier version made.

Each folder beside this file, such as `before-house`, was written once by `make_corpus.py` with the code of that
version: texts of releases, ledgers, study files, and what that version said of them. A folder is never made again.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.mechanism import sized
from discreet.publishing._sequence import plan_document
from discreet.records import Statistics
from discreet.release import mechanism_document, read_mechanism
from discreet.release._release import read_model
from discreet.verification._enumerate import Findings
from frozen_documents import (
    EXPECTED,
    HERE,
    VERSIONS,
    asked,
    become_later,
    counted,
    each,
    held,
    inferred,
    known,
    opened,
    promised,
    text_of,
    totals,
)

SAFELY = 3.0  # times the stated numerical error, as both what was found and what was wanted may be off by that
CLOSE = 1e-9  # of tests by rank among public draws, which state no error: the same draws, and rounding
ENOUGH = 2e-3  # of the width of the interval: no reading that is not sampled may state a larger error
ROUGH = 0.15  # readings by chains, whose tails are worth some 700 draws or more: of the width of the interval


def one_of_each_kind() -> dict[tuple[str, str], Any]:
    """Return in every version's folder the first release of every kind of mechanism about every kind of model."""
    found: dict[Any, Any] = {}
    for case in each("releases", "inferred"):
        version, name, said = case.values
        found.setdefault(
            (version, said["kind"], json.loads(text_of(version, name))["mechanism"]["model"]["kind"]), case
        )
    return {(case.values[0], case.values[1]): case for case in found.values()}


FIRST = one_of_each_kind()


def skip_all_but_the_first(version: str, name: str, code: str) -> None:
    """Leave further releases of one kind about one kind of model to today's code: words and fields are of a kind."""
    if code == "later" and (version, name) not in FIRST:
        pytest.skip("another release of this kind is read")


@pytest.fixture(params=["today", "later"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with the code as it is, and as a later version could be."""
    few = 100_000  # comparisons of the referee, a tenth of what it makes for users
    if request.param == "later":
        become_later(monkeypatch)
        few = 2_000  # which does not depend on words
    monkeypatch.setattr("discreet.verification._enumerate.MOST_COMPARISONS", few)
    return str(request.param)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("releases"))
def test_a_release_is_read_and_written_to_the_letter(version: str, name: str, said: dict[str, Any]) -> None:
    text = text_of(version, name)
    release = dc.Release.from_json(text)
    assert release.to_json() == text
    assert release.digest == said["digest"]
    assert mechanism_document(release.mechanism)["kind"] == said["kind"]


@pytest.mark.parametrize(("version", "name", "said"), each("releases", "promised"))
def test_a_release_keeps_its_law_its_promise_and_its_charge(
    version: str, name: str, said: dict[str, Any], code: str
) -> None:
    skip_all_but_the_first(version, name, code)
    found = promised(dc.Release.from_json(text_of(version, name)), said["promised"]["tables"])
    wanted = said["promised"]
    assert found["guarantee"] == wanted["guarantee"]
    for number in ("rho", "delta_at_half", "log_likelihoods"):
        assert found[number] == pytest.approx(wanted[number], rel=1e-9, abs=1e-12), number
    if isinstance(wanted["verified"], str):
        assert found["verified"] == wanted["verified"]
    else:  # it may be known better, never worse; what is certified is rounded up, to six digits
        assert found["verified"] <= wanted["verified"] * (1 + 1e-5)


@pytest.mark.parametrize(("version", "name", "said"), each("releases", "inferred"))
def test_a_release_is_inferred_as_it_was(version: str, name: str, said: dict[str, Any], code: str) -> None:
    skip_all_but_the_first(version, name, code)
    wanted = said["inferred"]
    if code == "later" and (wanted.get("sampled") or "refused" in wanted):
        pytest.skip("how chains run, and what could not be read, does not depend on words or fields")
    found = inferred(dc.Release.from_json(text_of(version, name)), said["prior"])
    if "refused" in wanted:  # a later version may read what an earlier one could not
        assert "refused" in found or found["rows"]
        return
    assert len(found["rows"]) == len(wanted["rows"])
    for place, numbers in enumerate(wanted["rows"]):
        width, stated = numbers[2] - numbers[1], found["errors"][place]
        exact = CLOSE * max(1.0, *map(abs, numbers)) if stated is None else SAFELY * stated
        assert found["rows"][place] == pytest.approx(numbers, abs=ROUGH * width if wanted["sampled"] else exact), place
        assert stated is None or stated <= ENOUGH * width, place
    if wanted["log_evidence"] is not None and "chains" not in wanted["method"]:
        assert found["log_evidence"] == pytest.approx(wanted["log_evidence"], abs=1e-6)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_a_ledger_adds_up_to_what_it_did(version: str, name: str, said: dict[str, Any], tmp_path: Path) -> None:
    ledger = opened(version, name, tmp_path)
    ledger.check()
    assert totals(ledger) == said["totals"]


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_every_release_of_a_ledger_is_found_in_it(
    version: str, name: str, said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Findings(checks=(), epsilon=0.0, whole=False, worst_pair=((), ()))
    monkeypatch.setattr(
        import_module("discreet.verification._verify"), "enumerate_and_compare", lambda _: nothing
    )  # compared above
    ledger = opened(version, name, tmp_path)
    assert said["releases"]
    for release in said["releases"]:
        read = dc.Release.from_json(text_of(version, release))
        assert dc.verify(read, ledger).guarantee == read.guarantee


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_a_paid_request_is_answered_again_for_free(
    version: str, name: str, said: dict[str, Any], tmp_path: Path
) -> None:
    ledger = opened(version, name, tmp_path)
    assert said["requests"]
    for request, (kept, data) in said["requests"].items():
        release = dc.Release.from_json(text_of(version, kept))
        secret = Statistics(release.mechanism.model, counted(version, kept), sized(release.mechanism).size)
        again = dc.publish(
            release.mechanism, secret, ledger, release.label,
            unit=release.unit, request=request, group=release.group, data=data, reading=release.reading,
        )  # fmt: skip
        assert again.to_json() == release.to_json()
    assert totals(ledger) == said["totals"]


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("studies"))
def test_a_study_asks_what_it_asked(version: str, name: str, said: dict[str, Any]) -> None:
    study = dc.Study(HERE / version / "studies" / name)
    assert list(study.questions) == list(said)
    for question, wanted in said.items():
        found = asked(study.question(question))
        assert read_model(found["model"]) == read_model(wanted["model"])
        assert found == wanted


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_a_plan_is_written_as_it_was_so_that_its_request_keeps_its_name(
    version: str, name: str, said: dict[str, Any], tmp_path: Path
) -> None:
    charged: list[Any] = [e.body["mechanism"] for e in opened(version, name, tmp_path).entries() if e.kind == "charge"]
    plans = [document for document in charged if document["kind"] == "Plan"]
    assert bool(plans) == any("plan" in release for release in said["releases"])
    for document in plans:
        parts = document["parts"]
        plan = dc.Plan([read_mechanism(part["mechanism"]) for part in parts], document["delta"])
        assert plan_document(plan, [part["label"] for part in parts]) == document


@pytest.mark.parametrize(("version", "name", "said"), FIRST.values())
def test_in_a_later_version_words_differ_and_a_field_is_there(
    version: str, name: str, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dc.Release.from_json(text_of(version, name))
    become_later(monkeypatch)
    after = dc.Release.from_json(text_of(version, name))
    assert after.guarantee == before.guarantee
    assert after.guarantee.reason.startswith("in other words")
    document: Any = mechanism_document(after.mechanism)
    assert "colour" not in document
    assert "colour" not in document["model"]
    painted = read_mechanism(document | {"colour": "red", "model": document["model"] | {"colour": "blue"}})
    again: Any = mechanism_document(painted)
    assert again["colour"] == "red"
    assert again["model"]["colour"] == "blue"
    assert said["kind"] == document["kind"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_holds_every_kind_that_it_knew(version: str) -> None:
    expected = EXPECTED[version]
    assert held(version) == {tuple(each) for each in expected["kinds"]}
    assert {json.loads(text_of(version, name))["simulated"] for name in expected["releases"]} == {True, False}


def test_what_this_version_writes_is_frozen_once_its_folder_is_made() -> None:
    kept = set().union(*map(held, VERSIONS))
    assert kept <= known(), "a later version must read what an earlier one wrote"
    if ".".join(dc.__version__.split(".")[:2]) in VERSIONS:
        assert not known() - kept, "make the folder anew before its tag; after it, this is a later version"
