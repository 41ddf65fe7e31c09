"""Keys are kept to their owner, signatures are of one text, and an unsigned release is said to be unsigned."""

import copy
import json
import os
import pickle
import sys
from pathlib import Path

import pytest

import discreet as dc
from coin_ledger import publish_once
from discreet.ledger import Head, PublicKey, Signature, SigningKey, check_witness, issuers

pytest.importorskip("cryptography", reason="No cryptography: pip install 'discreet[signatures]' to run these tests.")


@pytest.fixture
def release(tmp_path: Path) -> dc.Release:
    return publish_once(dc.Ledger.create(tmp_path / "l.db", epsilon="1").path)


def test_a_key_goes_into_a_file_of_its_owner_alone_and_comes_back(tmp_path: Path) -> None:
    key = SigningKey.new("Office of Statistics")
    key.save(tmp_path / "office.key")
    key.public.save(tmp_path / "office.pub")
    assert (tmp_path / "office.key").stat().st_mode & 0o777 == 0o600
    assert SigningKey.open(tmp_path / "office.key").public == key.public == PublicKey.open(tmp_path / "office.pub")
    assert PublicKey.open(tmp_path / "office.pub").signed("text", (key.sign("text"),))
    with pytest.raises(dc.DeclarationError, match="never replaced"):
        SigningKey.new("another").save(tmp_path / "office.key")
    os.chmod(tmp_path / "office.key", 0o640)
    with pytest.raises(dc.DeclarationError, match=r"read by others.*chmod 600"):
        SigningKey.open(tmp_path / "office.key")


def test_a_private_key_is_never_shown_pickled_or_copied(tmp_path: Path, release: dc.Release) -> None:
    key = SigningKey.new("Office")
    key.save(tmp_path / "k")
    secret = (tmp_path / "k").read_text().splitlines()[2]
    raw = key._private.private_bytes_raw().hex()
    written = f"{key!r} {release.signed(key).to_json()} {vars(key)}"
    assert secret not in written
    assert raw not in written
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(dc.SecretError if hasattr(dc, "SecretError") else TypeError):
            attempt(key)


@pytest.mark.parametrize("text", ["", "Key of: x\n", "Key of: x\nnonsense", "-----BEGIN PRIVATE KEY-----", "\ud800"])
def test_files_that_hold_no_key_are_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    path.chmod(0o600)
    for kind in (PublicKey, SigningKey):
        with pytest.raises(dc.DocumentError):
            kind.open(path)
        with pytest.raises(dc.DocumentError, match="There is no file"):
            kind.open(tmp_path / "none")


def test_a_signature_is_of_this_text_by_this_key(release: dc.Release) -> None:
    key, other = SigningKey.new("Office"), SigningKey.new("Office")
    signed = dc.Release.from_json(release.signed(key).to_json())
    assert signed == release
    assert signed.digest == release.digest
    assert "signed by 'Office'" in dc.verify(signed, key=key.public).checks[-1]
    assert "signed by 'Office'" in dc.verify(signed.signed(other), key=other.public).checks[-1]
    with pytest.raises(dc.VerificationError, match="not issued by 'Office'"):
        dc.verify(signed, key=other.public)
    with pytest.raises(dc.VerificationError, match="is unsigned"):
        dc.verify(release, key=key.public)
    edited = json.loads(signed.to_json()) | {"label": "another"}
    with pytest.raises(dc.VerificationError, match="of another text"):
        dc.verify(dc.Release.from_json(json.dumps(edited)), key=key.public)
    nonsense = Signature("Ed25519", key.public.key, "00" * 64)
    assert not key.public.signed(release.unsigned(), (nonsense,))
    assert key.public.signed(release.unsigned(), (nonsense, key.sign(release.unsigned())))


def test_without_a_key_nobody_is_named(release: dc.Release) -> None:
    assert dc.verify(release).epsilon > 0
    assert issuers(release.signatures).startswith("It is unsigned")
    assert "was not checked" in issuers(release.signed(SigningKey.new("x")).signatures)


def test_owners_are_plain_words() -> None:
    for owner in ("", " ", "a\nb", "x" * 201, 7):
        with pytest.raises(dc.DeclarationError):
            SigningKey.new(owner)  # type: ignore[arg-type]


def test_a_missing_library_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(dc.DeclarationError, match=r"pip install 'discreet\[signatures\]'"):
        SigningKey.new("x")


def test_heads_are_filed_once_read_strictly_and_found_in_a_chain_that_grew(place: str, tmp_path: Path) -> None:
    ledger, key = dc.Ledger.create(place, epsilon="1"), SigningKey.new("Office")
    for _ in range(3):
        ledger.charge(dc.Guarantee("0.1"), "x", {})
        head = Head.of(ledger).signed(key)
        head.file(tmp_path)
        assert Head.from_json(head.to_json()) == head
    ledger.charge(dc.Guarantee("0.1"), "x", {})
    assert [each.sequence for each in check_witness(ledger, tmp_path, key.public)] == [2, 3, 4]
    with pytest.raises(dc.LedgerError, match="already been filed"):
        head.file(tmp_path)
    path = tmp_path / "z.head.json"
    for was, forged in (('"sequence":4', '"sequence":3'), ('"ledger head"', '"ledger tail"'), (head.digest, "0" * 64)):
        path.write_text(head.to_json().replace(was, forged))
        with pytest.raises(dc.DiscreetError):
            check_witness(ledger, tmp_path, key.public)
        with pytest.raises(dc.DiscreetError):
            check_witness(ledger, tmp_path)
    path.unlink()
    with pytest.raises(dc.VerificationError, match="not issued"):
        check_witness(ledger, tmp_path, SigningKey.new("Other").public)


def test_a_witness_who_never_saw_a_ledger_says_so(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with pytest.raises(dc.LedgerError, match="has no head of this ledger"):
        check_witness(ledger, tmp_path)
    with pytest.raises(dc.LedgerError, match="There is no witness folder"):
        check_witness(ledger, tmp_path / "none")
