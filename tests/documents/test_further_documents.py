"""What stands around releases and ledgers lasts as well: signatures, heads, studies as declared and as published.

`test_corpus.py` reads the rest of every version's folder.
"""

import json
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.ledger import PublicKey, check_witness
from discreet.ledger._entries import PARTS
from discreet.ledger._heads import heads_in
from discreet.study._models import asked_models
from discreet.verification._enumerate import Findings
from frozen_documents import (
    EXPECTED,
    HERE,
    KEY,
    VERSIONS,
    answers,
    become_later,
    declared,
    each,
    is_own,
    models_asked,
    opened,
    text_of,
)


@pytest.fixture(params=["today", "later"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with the code as it is, and as a later version could be; what is promised is compared elsewhere."""
    if request.param == "later":
        become_later(monkeypatch)
    nothing = Findings(checks=(), epsilon=0.0, whole=False, worst_pair=((), ()))
    monkeypatch.setattr(import_module("discreet.verification._verify"), "enumerate_and_compare", lambda _: nothing)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_signed_release_is_still_signed_and_no_other_text_is(version: str) -> None:
    key, release = PublicKey.open(HERE / version / KEY), dc.Release.from_json(text_of(version, "signed"))
    assert [each.key for each in release.signatures] == [key.key]
    assert any(key.owner in check for check in dc.verify(release, key=key).checks)
    other = dc.Release.from_json(text_of(version, "signed").replace('"label":"signed"', '"label":"resigned"'))
    with pytest.raises(dc.VerificationError, match="another text"):
        dc.verify(other, key=key)


@pytest.mark.parametrize("version", VERSIONS)
def test_heads_are_read_and_written_to_the_letter_and_witness_their_ledger(version: str, tmp_path: Path) -> None:
    folder = HERE / version / "heads"
    texts = [path.read_text("utf-8") for path in sorted(folder.iterdir())]
    assert [head.to_json() + "\n" for head in heads_in(folder)] == texts
    kept = check_witness(opened(version, "basic.ledger", tmp_path), folder)
    assert [len(head.signatures) for head in kept] == [1, 0]
    PublicKey.open(HERE / version / KEY).require("The first head", kept[0].unsigned(), kept[0].signatures)
    assert kept[-1].digest == EXPECTED[version]["ledgers"]["basic.ledger"]["totals"]["head"]
    (tmp_path / "heads").mkdir()
    replace(kept[0], digest=kept[-1].digest).file(tmp_path / "heads")
    with pytest.raises(dc.VerificationError, match="does not have now"):
        check_witness(dc.Ledger.open(tmp_path / "basic.ledger"), tmp_path / "heads")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_holds_every_kind_of_entry_that_it_knew(version: str) -> None:
    found = {kind for said in EXPECTED[version]["ledgers"].values() for kind in said["totals"]["entries"]}
    assert found == set(EXPECTED[version]["entries"])
    assert found <= set(PARTS)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_holds_every_model_that_its_studies_could_ask_for(version: str) -> None:
    found = models_asked(HERE / version)
    assert found == set(EXPECTED[version]["study_models"])
    assert found <= set(asked_models())
    if dc.__version__.startswith(f"{version}."):
        assert found == {name for name, asked in asked_models().items() if is_own(asked.make)}


def test_a_ledger_that_was_moved_is_closed_and_goes_on_where_it_arrived(tmp_path: Path) -> None:
    for version in VERSIONS:
        moved, arrived = (opened(version, f"{name}.ledger", tmp_path) for name in ("moved", "arrived"))
        assert moved.id == arrived.id
        assert moved.moved_to == moved.head.body["to"]
        assert arrived.moved_to is None
        assert arrived.stands_on(moved.head.sequence, moved.head.digest)
        guarantee = dc.Guarantee(1)
        with pytest.raises(dc.LedgerError, match="moved"):
            moved.charge(guarantee, "too late", {"kind": "Nothing"})
        assert arrived.charge(guarantee, "in time", {"kind": "Nothing"})


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("declarations"))
def test_a_study_declares_and_counts_what_it_did(version: str, name: str, said: dict[str, Any], tmp_path: Path) -> None:
    folder = shutil.copytree(
        HERE / version / "studies", tmp_path / "studies", ignore=shutil.ignore_patterns("*.ledger")
    )
    assert json.loads(json.dumps(declared(dc.Study(folder / name)))) == said


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("version", "name", "said"), each("published"))
def test_a_published_study_is_published_again_for_free(
    version: str, name: str, said: dict[str, Any], tmp_path: Path
) -> None:
    folder = shutil.copytree(HERE / version / "studies", tmp_path / "studies")
    found = answers(dc.Study(folder / name), said["elsewhere"][0])
    for query, numbers in said["ask"].items():
        assert found["ask"][query] == pytest.approx(numbers, rel=1e-9), query
    assert found | {"ask": said["ask"]} == said
