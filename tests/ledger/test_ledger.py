"""The ledger keeps its limit, whatever happens: many processes, sudden death, requests that come again."""

import copy
import multiprocessing
import os
import pickle
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import discreet as dc
from coin_ledger import COIN, DATA, publish_once
from discreet.cli._main import main
from discreet.ledger import POINTS
from discreet.ledger import _chain as chain
from discreet.release import mechanism_document
from discreet.report._ledger_page import ledger_page
from discreet.sklearn._bayesian_ridge import PrivateBayesianRidge

FORK = multiprocessing.get_context("fork")


def test_tenths_add_up_exactly(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="0.3")
    for _ in range(3):
        publish_once(ledger.path)
    assert ledger.spent.epsilon == Fraction(3, 10)
    assert ledger.remaining.epsilon == 0


def test_second_release_over_budget_is_refused_and_not_charged(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path, "0.6")
    with pytest.raises(dc.BudgetError) as refusal:
        publish_once(ledger.path, "0.6", label="smoking rate, ward 7")
    assert str(refusal.value) == (
        f"Cannot publish 'smoking rate, ward 7': it needs epsilon = 0.6, but 0.6 of 1 is already spent "
        f"({ledger.path}). Nothing was published and nothing was charged. Lower epsilon to 0.4 or less, or ask the "
        "data owner to raise the limit."
    )
    assert ledger.spent.epsilon == Fraction(6, 10)


def test_long_fractions_are_shown_as_short_decimals_that_are_never_too_favourable(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="4")
    publish_once(ledger.path, "1215/6656")
    with pytest.raises(dc.BudgetError) as refusal:
        publish_once(ledger.path, "25410/6656")
    words = str(refusal.value)
    assert "it needs epsilon = 3.8177 (rounded up), but 0.18255 (rounded up) of 4 is already spent" in words
    assert "Lower epsilon to 3.8174 (rounded down) or less" in words
    assert ledger.remaining.document() == {"epsilon": "25409/6656", "delta": "0"}  # exactly, for machines
    shown = CliRunner().invoke(main, ["ledger", str(ledger.path)]).output
    assert "Spent epsilon = 0.18255 (rounded up) of 4" in " ".join(shown.split())
    page = ledger_page(ledger)
    assert "<dd>3.8174 (rounded down)</dd>" in page
    assert "/6656" not in page + shown + words
    publish_once(ledger.path, "3.8174")  # as it was told


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fractions(min_value=Fraction(1, 90), max_value=2, max_denominator=97), max_size=12))
def test_no_sequence_of_requests_exceeds_the_limit(tmp_path: Path, costs: list[Fraction]) -> None:
    path = tmp_path / f"{abs(hash(tuple(costs)))}-{os.urandom(4).hex()}.db"
    ledger = dc.Ledger.create(path, epsilon="3/2", delta="1e-6")
    spent = Fraction(0)
    for cost in costs:
        try:
            ledger.charge(dc.Guarantee(cost), "asked", {})
            spent += cost
        except dc.BudgetError:
            assert spent + cost > Fraction(3, 2)
    assert ledger.spent.epsilon == spent <= Fraction(3, 2)
    ledger.check()


def test_delta_is_limited_too(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="10", delta="1e-6")
    ledger.charge(dc.Guarantee("1", "9e-7"), "first", {})
    with pytest.raises(dc.BudgetError, match="delta = 2e-7"):
        ledger.charge(dc.Guarantee("1", "2e-7"), "second", {})


def _race(path: Path, wins: "multiprocessing.Queue[int]") -> None:
    won = 0
    for _ in range(4):
        try:
            publish_once(path)
            won += 1
        except dc.BudgetError:
            pass
    wins.put(won)


def test_eight_processes_share_room_for_exactly_ten_releases(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    wins: multiprocessing.Queue[int] = FORK.Queue()
    processes = [FORK.Process(target=_race, args=(ledger.path, wins)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    won = sum(wins.get(timeout=10) for _ in processes)
    assert won == 10
    kinds = [entry.kind for entry in ledger.entries()]
    assert (kinds.count("charge"), kinds.count("release")) == (10, 10)
    ledger.check()


def _publish_and_die(path: Path, point: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    chain.action = die
    publish_once(path)


@pytest.mark.parametrize("point", POINTS)
def test_a_process_killed_at_any_step_leaves_no_release_without_a_charge(tmp_path: Path, point: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    process = FORK.Process(target=_publish_and_die, args=(ledger.path, point))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    ledger.check()
    charges = [entry.sequence for entry in ledger.entries() if entry.kind == "charge"]
    releases = [entry.body["charge"] for entry in ledger.entries() if entry.kind == "release"]
    before, after = POINTS.index(point), POINTS.index
    assert len(charges) == (1 if before < after("charged") else 2)
    assert len(releases) == (2 if point == "recorded" else 1)
    assert set(releases) <= set(charges)
    publish_once(ledger.path, label="life goes on")
    ledger.check()


def test_every_failpoint_is_passed_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    monkeypatch.setattr(chain, "action", passed.append)
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    publish_once(ledger.path)
    assert tuple(passed) == POINTS


def test_sums_with_endless_digits_are_refused(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="10")
    costs = [dc.Guarantee(Fraction(1, 10**20 + step)) for step in range(100)]
    with pytest.raises(dc.PublishError, match="round numbers"):
        [ledger.charge(cost, "x", {}) for cost in costs]


def test_texts_that_cannot_be_written_down_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Ledger.create(tmp_path / "l.db", epsilon="1", population="\ud800")
    assert not (tmp_path / "l.db").exists()


def test_limit_changes_are_entries_with_a_reason(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="0.1")
    publish_once(ledger.path)
    with pytest.raises(dc.DeclarationError, match="reason"):
        ledger.change_limit("0.2", reason=" ")
    ledger.change_limit("0.2", reason="second wave approved by the board")
    publish_once(ledger.path)
    ledger.change_limit("0.1", reason="closed")
    with pytest.raises(dc.BudgetError):
        publish_once(ledger.path)
    assert [e.body["reason"] for e in ledger.entries() if e.kind == "limit"] == [
        "second wave approved by the board",
        "closed",
    ]
    ledger.check()


def test_a_request_that_was_answered_is_answered_again_for_free(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    mechanism, secret = dc.GeometricHistogram(COIN, size=3, epsilon="0.4"), COIN.statistics(DATA)
    first = dc.publish(mechanism, secret, ledger=ledger, label="x", request="q1")
    again = dc.publish(mechanism, secret, ledger=ledger, label="x", request="q1")
    assert again == first
    assert ledger.spent.epsilon == Fraction(2, 5)
    other = dc.GeometricHistogram(COIN, size=3, epsilon="0.5")
    with pytest.raises(dc.PublishError, match=r"answered for something else: epsilon was '0.4' and is now '0.5'"):
        dc.publish(other, secret, ledger=ledger, label="x", request="q1")
    with pytest.raises(dc.PublishError, match="label was 'x' and is now 'y'"):
        dc.publish(mechanism, secret, ledger=ledger, label="y", request="q1")
    with pytest.raises(dc.PublishError, match="rows was 1 and is now 2"):
        dc.publish(mechanism, secret, ledger=ledger, label="x", request="q1", unit=dc.Unit(rows=2))
    with pytest.raises(dc.PublishError, match="request's name"):
        dc.publish(mechanism, secret, ledger=ledger, label="x", request=b"q1")  # type: ignore[arg-type]
    assert ledger.spent.epsilon == Fraction(2, 5)


def test_a_crashed_request_is_charged_again(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    mechanism = dc.GeometricHistogram(COIN, size=3, epsilon="0.4")
    ledger.charge(mechanism.guarantee, "x", mechanism_document(mechanism), "q1")  # and then the lights go out
    dc.publish(mechanism, COIN.statistics(DATA), ledger=ledger, label="x", request="q1")
    assert ledger.spent.epsilon == Fraction(4, 5)


@pytest.mark.parametrize("name", ["my?a.db", "h#a%41.db", "with space.db", "ünï.db", "a;b&c=d.db"])
def test_a_ledger_lives_in_the_file_that_was_named(tmp_path: Path, name: str) -> None:
    ledger = dc.Ledger.create(tmp_path / name, epsilon="1")
    publish_once(ledger.path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert dc.Ledger.open(tmp_path / name).spent.epsilon == Fraction(1, 10)


def test_delta_stays_when_only_epsilon_is_raised(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", delta="1e-6")
    ledger.change_limit("2", reason="approved")
    assert ledger.limit.delta == Fraction(1, 10**6)
    ledger.change_limit("2", delta="0", reason="approved")
    assert ledger.limit.delta == 0


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "0"), ("-1", "0"), ("1", "1"), ("1", "-0.1"), ("nan", "0")])
def test_limits_must_make_sense(tmp_path: Path, epsilon: str, delta: str) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Ledger.create(tmp_path / "l.db", epsilon=epsilon, delta=delta)
    assert not (tmp_path / "l.db").exists()


@pytest.mark.parametrize(
    ("place", "said", "words"),
    [
        ("l.db", {"adjacency": "friends"}, "must be one of 'replace one record'"),
        ("l.db", {"adjacency": dc.privacy.Adjacency.REPLACE_WITHIN_GROUP}, "need groups"),
        ("l.db", {"groups": None}, "sequence of names"),
        ("l.db", {"groups": ("A", 2)}, "sequence of names"),
        ("l.db", {"per": ["quarter"], "allowance": "0.1"}, "needs a period"),
        ("l.db", {"accountant": []}, "The accountant must be"),
        ("l\0.db", {}, "Cannot create a ledger"),
        ("none/l.db", {}, "Cannot create a ledger"),
        (None, {}, "pass a path"),
        (7, {}, "pass a path"),
        ("mysql://server/office", {}, "this is of the kind 'mysql'"),
        ("postgresql://[server", {}, "cannot be read"),
    ],
)
def test_what_makes_no_ledger_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any, said: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dc.DiscreetError, match=words):
        dc.Ledger.create(place, epsilon="1", **said)
    assert not any(tmp_path.iterdir())


def test_a_file_whose_name_begins_like_a_server_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dc.Ledger.create("postgres.db", epsilon="1")
    assert dc.Ledger.open("postgres.db").path == Path("postgres.db")


def test_a_new_ledger_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_a_copy_of_a_ledger_is_the_same_budget(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    for copied in (copy.deepcopy(ledger), copy.copy(ledger), pickle.loads(pickle.dumps(ledger))):
        assert copied.path == ledger.path
        dc.publish(dc.GeometricHistogram(COIN, 3, "0.25"), COIN.statistics(DATA), ledger=copied, label="one")
    assert ledger.spent.epsilon == Fraction(3, 4)
    gone = pickle.dumps(ledger)
    ledger.path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(dc.LedgerError, match="no ledger"):
        pickle.loads(gone)


def test_an_estimator_with_a_ledger_can_be_cloned(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    estimator = PrivateBayesianRidge(1, (0, 1), (0, 1), ledger=ledger, missing="middle")
    assert clone(estimator).ledger.path == ledger.path


def test_a_ledger_shows_totals_and_entries_in_a_notebook_as_text_alone(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", population="<b>everyone</b>")
    publish_once(ledger.path, "0.25", label="<script>alert(1)</script>")
    ledger.change_limit("2", reason="a second year")
    shown = ledger._repr_html_()
    assert "spent epsilon = 0.25, delta = 0 of epsilon = 2, delta = 0; left epsilon = 1.75, delta = 0" in shown
    assert "<script" not in shown
    assert "<b>" not in shown
    cells = ["&lt;b&gt;everyone&lt;/b&gt;", "&lt;script&gt;alert(1)&lt;/script&gt;", "entry 2", "a second year"]
    places = [shown.index(f">{cell}</td>") for cell in cells]
    assert places == sorted(places)
    assert shown.count("<tr>") == 5
    assert "These are the last" not in shown


def test_a_long_ledger_shows_its_last_entries_and_says_so(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    for number in range(62):
        ledger.change_limit("1", reason=f"reason {number}")
    shown = ledger._repr_html_()
    assert "These are the last 60 of 63 entries; entries() has all." in shown
    assert shown.count("<tr>") == 61
    assert "reason 61" in shown
    assert "reason 1<" not in shown
