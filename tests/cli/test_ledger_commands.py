"""The commands about ledgers and keys: shown, filtered, checked, witnessed, signed."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from coin_ledger import COIN, DATA
from discreet.cli._main import main
from discreet.ledger import Filter, Head, lines_of
from discreet.release import mechanism_document

pytest.importorskip("cryptography", reason="No cryptography: pip install 'discreet[signatures]' to run these tests.")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def book(tmp_path: Path) -> Path:
    ledger = dc.Ledger.create(
        tmp_path / "l.db", epsilon="2", population="<b>people</b>", groups=("A", "B"),
        adjacency=dc.privacy.Adjacency.REPLACE_WITHIN_GROUP,
    )  # fmt: skip
    for label, group, data in (("Smoking rate", None, "a.csv"), ("falls <script>", "A", "b.csv"), ("falls", "B", "")):
        mechanism = dc.GeometricHistogram(COIN, size=3, epsilon="0.25")
        dc.publish(mechanism, COIN.statistics(DATA), ledger, label, group=group, data=data)
    cheap = dc.GeometricHistogram(COIN, size=3, epsilon="0.125")
    ledger.charge(cheap.guarantee, "in vain", mechanism_document(cheap))
    return ledger.path


@pytest.mark.parametrize(
    ("wanted", "labels"),
    [
        (Filter(), ["Smoking rate", "falls <script>", "falls", "in vain"]),
        (Filter(label="FALLS"), ["falls <script>", "falls"]),
        (Filter(group="A"), ["falls <script>"]),
        (Filter(data="a.csv"), ["Smoking rate"]),
        (Filter(since="2000", until="2999-12-31"), ["Smoking rate", "falls <script>", "falls", "in vain"]),
        (Filter(since="2999-01-01"), []),
        (Filter(until="1999"), []),
    ],
)
def test_filters_choose_charges(book: Path, wanted: Filter, labels: list[str]) -> None:
    assert [line.label for line in lines_of(dc.Ledger.open(book), wanted)] == labels


def test_days_are_days(book: Path) -> None:
    for wrong in ("2026-13", "2026-02-30", "2026-01-01T25:00", "yesterday", "2026-1-1", "２０２６", "2026-01-01T"):
        found = run("ledger", book, "--since", wrong)
        assert found.exit_code == 1
        assert "must be a day such as" in found.output


def test_words_to_filter_by_are_texts() -> None:
    wrong: Any = 7
    for name in ("label", "group", "data", "since", "until"):
        with pytest.raises(dc.DeclarationError, match=f"{name} must be a string"):
            Filter(**{name: wrong})


def test_a_ledger_is_written_as_a_table_and_as_json(book: Path, tmp_path: Path) -> None:
    assert run("ledger", book, "--csv", tmp_path / "t.csv", "--label", "falls").exit_code == 0
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["about"], row["epsilon"], row["epsilon in all"], row["outcome"]) for row in rows] == [
        ("falls <script>", "A", "0.25", "0.5", "published"),
        ("falls", "B", "0.25", "0.5", "published"),
    ]
    everything = json.loads(run("ledger", book, "--json").output)
    assert [line["outcome"] for line in everything["charges"]] == ["published"] * 3 + ["not recorded"]
    assert len(everything["entries"]) == 8
    some = json.loads(run("ledger", book, "--json", "--group", "A").output)
    assert [line["label"] for line in some["charges"]] == ["falls <script>"]
    assert "entries" not in some


def test_the_page_is_text_needs_nothing_from_elsewhere_and_can_be_sorted(book: Path, tmp_path: Path) -> None:
    assert run("ledger", book, "--html", tmp_path / "p.html").exit_code == 0
    page = (tmp_path / "p.html").read_text("utf-8")
    assert page.count("<script>") == 1
    assert "&lt;b&gt;people&lt;/b&gt;" in page
    assert "falls &lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http-equiv", "")
    assert "https://" not in page
    assert page.count("<button") == 9
    assert page.count("<tr>") == 5
    assert "0.625 of 2" in page
    filtered = run("ledger", book, "--html", tmp_path / "q.html", "--label", "smoking")
    assert filtered.exit_code == 0
    assert "1 shown of 4" in (tmp_path / "q.html").read_text("utf-8")


def test_a_key_signs_a_release_and_a_head_and_readers_see_who_issued_them(book: Path, tmp_path: Path) -> None:
    key, public, folder = tmp_path / "office.key", tmp_path / "office.pub", tmp_path / "witness"
    folder.mkdir()
    made = run("key", "new", tmp_path / "office", "--owner", "Office of Statistics")
    assert made.exit_code == 0
    assert key.read_text().splitlines()[2] not in made.output
    assert run("key", "new", tmp_path / "office").exit_code == 1
    release = tmp_path / "r.json"
    release.write_text(dc.Ledger.open(book).releases(2)[0])
    assert "It is unsigned" in run("verify", release).output
    refused = run("verify", release, "--key", public)
    assert refused.exit_code == 5
    assert "is unsigned" in refused.output
    assert run("key", "sign", release, "--key", key).exit_code == 0
    assert "already signed with this key" in run("key", "sign", release, "--key", key).output
    checked = run("verify", release, "--key", public, "--ledger", book)
    assert checked.exit_code == 0, checked.output
    assert "signed by 'Office of Statistics'" in checked.output
    assert json.loads(run("verify", release, "--key", public, "--json").output)["issuer"] == "Office of Statistics"
    printed = run("ledger", "head", book, "--key", key, "--witness", folder)
    assert Head.from_json(printed.output).sequence == 8
    backup = book.read_bytes()
    dc.Ledger.open(book).charge(dc.Guarantee("0.125"), "more", {"kind": "none"})
    assert "agrees with the one head" in run("ledger", "check", book, "--witness", folder, "--key", public).output
    run("ledger", "head", book, "--key", key, "--witness", folder)
    book.write_bytes(backup)
    cut = run("ledger", "check", book, "--witness", folder, "--key", public)
    assert cut.exit_code == 5
    assert "an older copy was put back" in cut.output
    assert run("ledger", "check", book).exit_code == 0  # nothing to see from inside


def test_what_is_no_head_and_no_private_key_is_named(book: Path, tmp_path: Path) -> None:
    (tmp_path / "x.head.json").write_text('{"kind": 1}')
    found = run("ledger", "check", book, "--witness", tmp_path)
    assert found.exit_code == 5
    assert "x.head.json' cannot be read as the head of a ledger" in found.output
    run("key", "new", tmp_path / "k")
    assert "is not a private key" in run("ledger", "head", book, "--key", tmp_path / "k.pub").output
    (tmp_path / "k.key").chmod(0o644)
    assert "can be read by others" in run("ledger", "head", book, "--key", tmp_path / "k.key").output


def test_a_ledger_is_moved_and_says_where_it_went(book: Path, tmp_path: Path) -> None:
    done = run("ledger", "move", book, tmp_path / "new.db")
    assert done.exit_code == 0, done.output
    assert "10 entries, all earlier hashes unchanged" in done.output
    assert f"ledger = '{tmp_path / 'new.db'}'" in done.output
    shown = json.loads(run("ledger", book, "--json").output)
    assert shown["moved_to"] == str(tmp_path / "new.db")
    assert "moved_to" not in json.loads(run("ledger", tmp_path / "new.db", "--json").output)
    assert "no further charges are made here" in run("ledger", book, "--html", tmp_path / "p.html").output
    assert "Moved to" in (tmp_path / "p.html").read_text("utf-8")
    again = run("ledger", "move", book, tmp_path / "third.db", "--json")
    assert again.exit_code == 5
    assert "already" in json.loads(again.output)["error"]
    back = json.loads(run("ledger", "move", tmp_path / "new.db", tmp_path / "third.db", "--json").output)
    assert (back["entries"], back["to"]) == (12, str(tmp_path / "third.db"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ledger", "move", "BOOK", "none/new.db"), "Cannot create a ledger at"),
        (("ledger", "move", "BOOK", "BOOK"), "already exists"),
        (("ledger", "move", "BOOK", "mysql://server/office"), "this is of the kind 'mysql'"),
        (("ledger", "move", "BOOK", "postgresql://[server"), "this address cannot be read"),
        (("ledger", "move", "BOOK", "postgresql://server:port/x"), "this address cannot be read"),
        (("ledger", "grant", "BOOK", "publisher"), "Roles apply to ledgers on a server"),
        (("ledger", "check", "BOOK", "--key", "x.pub"), "needs --witness"),
        (("ledger", "head", "BOOK", "--witness", "none"), "There is no witness folder"),
        (("ledger", "head", "BOOK", "--key", "none.key"), "There is no file"),
        (("ledger", "check", "none.db"), "There is no ledger at"),
        (("ledger", "check", "postgresql://nobody@127.0.0.1:1/none"), "Cannot use the ledger"),
        (("ledger", "BOOK", "--html", "none/p.html"), "There is no folder"),
        (("key", "new", "none/k"), "There is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(book: Path, words: tuple[str, ...], said: str) -> None:
    found = run(*(str(book) if word == "BOOK" else word for word in words))
    assert found.exit_code in (1, 5)
    assert said in " ".join(found.output.split())
    assert "unforeseen" not in found.output


def test_a_study_is_published_with_a_signature(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[data]\npath = "d.csv"\nsize = 3\n[budget]\nepsilon = "1"\nledger = "l.db"\n[columns.x]\n'
        'levels = ["no", "yes"]\noutside = "no"\n[questions.q]\ncolumns = ["x"]\nepsilon = "0.5"\n'
    )
    (tmp_path / "d.csv").write_text("x\nno\nyes\nyes\n")
    run("key", "new", tmp_path / "k")
    done: Any = run("publish", tmp_path / "s.toml", "--ask", "q", "--key", tmp_path / "k.key")
    assert done.exit_code == 0, done.output
    release, public = tmp_path / "q.release.json", tmp_path / "k.pub"
    assert run("verify", release, "--key", public, "--ledger", tmp_path / "l.db").exit_code == 0
    run("key", "new", tmp_path / "other")
    assert run("verify", release, "--key", tmp_path / "other.pub").exit_code == 5
