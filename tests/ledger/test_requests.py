"""One name, one charge, one release: however many ask at once, and whatever crashes in between."""

import multiprocessing
from fractions import Fraction
from typing import Any

import pytest

import discreet as dc
from coin_ledger import COIN, DATA
from discreet.ledger import POINTS
from discreet.ledger import _chain as chain
from discreet.release import mechanism_document

FORK = multiprocessing.get_context("fork")
MECHANISM = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")


def ask(place: str, request: str | None = "q") -> dc.Release:
    return dc.publish(MECHANISM, COIN.statistics(DATA), dc.Ledger.open(place), "x", request=request)


def _ask_and_tell(place: str, told: "multiprocessing.Queue[str]") -> None:
    told.put(ask(place).digest)


def kinds(place: str) -> list[str]:
    return [entry.kind for entry in dc.Ledger.open(place).entries()]


def test_eight_who_ask_at_once_are_given_one_release_for_one_charge(place: str) -> None:
    dc.Ledger.create(place, epsilon="1")
    told: multiprocessing.Queue[str] = FORK.Queue()
    processes = [FORK.Process(target=_ask_and_tell, args=(place, told)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    digests = {told.get(timeout=10) for _ in processes}
    assert len(digests) == 1
    assert kinds(place) == ["created", "charge", "release"]


class Crash(BaseException):
    pass


@pytest.mark.parametrize("point", POINTS)
def test_after_a_crash_a_stored_output_is_given_and_nothing_stored_is_abandoned(
    place: str, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dc.Ledger.create(place, epsilon="1")

    def crash(reached: str) -> None:
        if reached == point:
            raise Crash

    monkeypatch.setattr(chain, "action", crash)
    with pytest.raises(Crash):
        ask(place)
    monkeypatch.setattr(chain, "action", None)
    before = dc.Ledger.open(place).spent.epsilon
    release = ask(place)
    assert ask(place) == release
    charged = POINTS.index(point) >= POINTS.index("charged")
    assert before == (Fraction(1, 10) if charged else 0)
    abandoned = ["charge", "abandoned"] if charged and point != "recorded" else []
    assert kinds(place) == ["created", *abandoned, "charge", "release"]
    dc.Ledger.open(place).check()


def test_an_abandoned_charge_is_not_recorded_any_more(place: str) -> None:
    ledger = dc.Ledger.create(place, epsilon="1")
    document = mechanism_document(MECHANISM)
    slow = ledger.charge(MECHANISM.guarantee, "x", document, "q")
    assert isinstance(slow, dc.ledger.Receipt)
    answered = ask(place)
    with pytest.raises(dc.LedgerError, match="is waiting for its release"):
        ledger.record(slow, [dc.Release(MECHANISM, (1, 2), "x", receipt=slow).to_json()])
    assert ask(place) == answered
    assert kinds(place) == ["created", "charge", "abandoned", "charge", "release"]
    ledger.check()


def test_one_who_waits_too_long_is_told_so_and_not_charged(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dc.Ledger.create(place, epsilon="1")
    monkeypatch.setattr(chain, "LONGEST_WAIT", 0.1)
    with ledger.answering("q"), pytest.raises(dc.PublishError, match=r"answering the request 'q'.*Ask again later"):
        ask(place)
    assert kinds(place) == ["created"]
    ask(place)
    with ledger.answering("another"):
        ask(place)
    assert kinds(place) == ["created", "charge", "release"]


def test_names_of_requests_are_told_apart(place: str) -> None:
    dc.Ledger.create(place, epsilon="1")
    names = ["q", "Q", "q ", "ｑ", "q'; DROP TABLE entries; --", ":request", "%s", "é", "e\u0301"]
    releases = [ask(place, name) for name in names]
    assert [ask(place, name) for name in names] == releases
    assert kinds(place).count("charge") == len(names)


def test_rows_belong_to_the_unit_of_the_ledger_and_not_to_a_name_of_data(place: str) -> None:
    declared = dc.Ledger.create(place, epsilon="9", unit=dc.Unit("a person", rows=3))
    for data in ("", "visits", "visits again"):
        for rows in (1, 2, 4):
            with pytest.raises(dc.PublishError, match=f"up to 3 rows per unit, but the release assumes {rows}"):
                declared.charge(dc.Guarantee("0.1"), "x", {}, unit="a person", rows=rows, data=data)
    declared.charge(dc.Guarantee("0.1"), "x", {}, unit="a person", rows=3, data="visits")
    assert declared.spent.epsilon == Fraction(1, 10)
    declared.check()


def test_the_first_charge_fixes_rows_that_were_not_declared(place: str) -> None:
    ledger = dc.Ledger.create(place, epsilon="9", unit="a person")
    ledger.charge(dc.Guarantee("0.1"), "x", {}, unit="a person", rows=2, data="a")
    with pytest.raises(dc.PublishError, match="up to 2 rows per unit, but the release assumes 1"):
        ledger.charge(dc.Guarantee("0.1"), "x", {}, unit="a person", data="b")
    ledger.check()


@pytest.mark.parametrize("written", ["1_0", "１", "1٫5", "٣", "1e1_0", "1/１", "1_0/3", "²", "0x10", "1 0"])
def test_what_only_python_takes_for_a_number_is_none(written: Any, place: str) -> None:
    with pytest.raises(dc.DeclarationError, match="must be a finite number"):
        dc.Ledger.create(place, epsilon=written)
