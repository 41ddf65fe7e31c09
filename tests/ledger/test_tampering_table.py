"""What is done to a ledger or a release, what notices it, and what does not: the table of docs/ledger.md."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import discreet as dc
from coin_ledger import publish_once
from discreet.ledger import Chain, Head, PublicKey, SigningKey, check_witness
from forged_ledger import edit, hash_anew

pytest.importorskip("cryptography", reason="No cryptography: pip install 'discreet[signatures]' to run these tests.")
PAGE = (Path(__file__).parent.parent.parent / "docs" / "ledger.md").read_text("utf-8")
OFFICE, STRANGER = SigningKey.new("Office"), SigningKey.new("Stranger")
CHECKS = ("check", "verify", "verify with the key", "witness")


class Case:
    """A ledger with three releases, a witness who has kept a head, and the last release, signed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = dc.Ledger.create(folder / "l.db", epsilon="1")
        publish_once(self.path, label="first")
        self.backup = self.path.read_bytes()
        publish_once(self.path, label="second")
        self.release = publish_once(self.path, label="third").signed(OFFICE)
        self.witness = folder / "witness"
        self.witness.mkdir()
        Head.of(self.ledger).signed(OFFICE).file(self.witness)
        self.key: PublicKey = OFFICE.public

    @property
    def path(self) -> Path:
        return self.ledger.path

    def noticed_by(self) -> set[str]:
        """Return which of the checks refuse what is there now, by a process that has seen nothing before."""
        ledger = dc.Ledger(Chain(self.path))
        asked: dict[str, Callable[[], object]] = {
            "check": ledger.check,
            "verify": lambda: dc.verify(self.release, ledger=ledger),
            "verify with the key": lambda: dc.verify(self.release, key=self.key),
            "witness": lambda: check_witness(ledger, self.witness, OFFICE.public),
        }
        return {name for name, ask in asked.items() if _refuses(ask)}


def _refuses(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except (dc.LedgerError, dc.VerificationError):
        return True
    return False


def nothing(case: Case) -> None:
    pass


def edited(case: Case) -> None:
    edit(case.path, "UPDATE entries SET body = replace(body, 'first', 'other') WHERE sequence = 2")


def edited_where_the_release_stands(case: Case) -> None:
    edit(case.path, "UPDATE entries SET body = replace(body, 'third', 'other') WHERE sequence = 6")


def deleted(case: Case) -> None:
    edit(case.path, "DELETE FROM entries WHERE sequence = 3")


def reordered(case: Case) -> None:
    numbers = ((2, -1), (4, 2), (-1, 4))
    edit(case.path, *(f"UPDATE entries SET sequence = {to} WHERE sequence = {was}" for was, to in numbers))


def rewritten(case: Case) -> None:
    """Edit an entry and hash all that follows anew: the chain fits, and adds up."""
    entries = case.ledger.entries()
    hash_anew(case.path, entries, lambda e: e.body | ({"label": "other"} if e.body.get("label") == "first" else {}))


def cut(case: Case) -> None:
    edit(case.path, "DELETE FROM entries WHERE sequence > 3")


def cut_behind_every_anchor(case: Case) -> None:
    """Take away a charge after the newest release and the newest head."""
    before = case.path.read_bytes()
    publish_once(case.path, label="fourth")
    case.path.write_bytes(before)


def restored(case: Case) -> None:
    case.path.write_bytes(case.backup)


def restored_and_charged_anew(case: Case) -> None:
    case.path.write_bytes(case.backup)
    publish_once(case.path, label="second")
    publish_once(case.path, label="third")


def swapped(case: Case) -> None:
    """Another ledger in its place, created and charged alike."""
    other = dc.Ledger.create(case.folder / "other.db", epsilon="1")
    for label in ("first", "second", "third"):
        publish_once(other.path, label=label)
    case.path.write_bytes(other.path.read_bytes())


def forged_release(case: Case) -> None:
    case.release = replace(case.release, output=tuple(reversed(case.release.output[:1])) + case.release.output[1:])
    first, second = case.release.output
    case.release = replace(case.release, output=(first + 1, second - 1))


def forged_and_stripped(case: Case) -> None:
    forged_release(case)
    case.release = replace(case.release, signatures=())


def signed_by_another(case: Case) -> None:
    case.release = replace(case.release, signatures=()).signed(STRANGER)


def wrong_key(case: Case) -> None:
    case.key = STRANGER.public


def replayed(case: Case) -> None:
    """Put the signature of one release on another one of the same issuer, and that of a head."""
    other = publish_once(case.path, label="fourth")
    head = Head.of(case.ledger).signed(OFFICE)
    case.release = replace(other, signatures=(*case.release.signatures, *head.signatures))


TABLE: dict[str, tuple[Callable[[Case], None], set[str]]] = {
    "nothing": (nothing, set()),
    "an entry edited": (edited, {"check"}),
    "an entry edited on which the release stands": (edited_where_the_release_stands, {"check", "verify"}),
    "an entry deleted": (deleted, {"check"}),
    "entries reordered": (reordered, {"check"}),
    "an entry edited, all hashes computed anew": (rewritten, {"verify", "witness"}),
    "the tail cut off": (cut, {"verify", "witness"}),
    "the tail cut off behind every release and head that others have": (cut_behind_every_anchor, set()),
    "an older backup restored": (restored, {"verify", "witness"}),
    "an older backup restored and charged alike": (restored_and_charged_anew, {"verify", "witness"}),
    "another ledger in its place": (swapped, {"verify", "witness"}),
    "a release forged": (forged_release, {"verify", "verify with the key"}),
    "a release forged, its signature taken away": (forged_and_stripped, {"verify", "verify with the key"}),
    "a release signed by somebody else": (signed_by_another, {"verify with the key"}),
    "checked with the wrong key": (wrong_key, {"verify with the key"}),
    "a signature taken from another document": (replayed, {"verify with the key"}),
}


@pytest.mark.parametrize("row", TABLE)
def test_what_notices_it(row: str, tmp_path: Path) -> None:
    done, noticed = TABLE[row]
    case = Case(tmp_path)
    done(case)
    assert case.noticed_by() == noticed


def test_the_page_has_the_same_table() -> None:
    lines = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    found = {line[0]: {c for c, said in zip(CHECKS, line[1:], strict=True) if said == "yes"} for line in lines}
    assert {row: noticed for row, (_, noticed) in TABLE.items()} == {row: found.get(row) for row in TABLE}
