"""Allowances spread one limit over quarters: neither is ever passed, whatever the clock says."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.ledger import _allowances as allowances
from discreet.ledger import _chain as chain
from discreet.ledger import _ledger as ledger
from forged_ledger import hash_anew


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the clock says; the last one counts."""
    times = ["2026-01-15T12:00:00Z"]
    for module in (allowances, chain, ledger):
        monkeypatch.setattr(module, "now", lambda: times[-1])
    return times


def quarterly(path: Path | str, **options: object) -> dc.Ledger:
    return dc.Ledger.create(path, epsilon="1", per="quarter", allowance="0.25", **options)  # type: ignore[arg-type]


def test_a_quarter_has_its_allowance_and_all_quarters_one_limit(place: str, clock: list[str]) -> None:
    book = quarterly(place)
    for quarter, month in enumerate(("02", "05", "08", "11")):
        clock.append(f"2026-{month}-01T00:00:00Z")
        book.charge(dc.Guarantee("0.2"), "x", {})
        with pytest.raises(dc.BudgetError, match=rf"in 2026Q{quarter + 1} .*0\.2.* of the allowance.*next quarter"):
            book.charge(dc.Guarantee("0.1"), "x", {})
        assert book.this_period is not None
        assert book.this_period[0] == f"2026Q{quarter + 1}"
        assert book.this_period[1].epsilon == Fraction(1, 20)
    clock.append("2027-01-01T00:00:00Z")
    left = book.this_period
    assert left is not None
    assert left[1].epsilon == Fraction(1, 5)  # a quarter's allowance is more, but that is all that is left
    with pytest.raises(dc.BudgetError, match=r"0\.8 of 1 is already spent"):
        book.charge(dc.Guarantee("0.25"), "x", {})
    book.charge(dc.Guarantee("0.2"), "x", {})
    book.check()


def test_a_clock_that_runs_back_opens_no_earlier_quarter(tmp_path: Path, clock: list[str]) -> None:
    book = quarterly(tmp_path / "l.db")
    clock.append("2026-05-01T00:00:00Z")
    book.charge(dc.Guarantee("0.25"), "x", {})
    clock.append("2026-01-20T00:00:00Z")
    with pytest.raises(dc.BudgetError, match="2026Q2"):
        book.charge(dc.Guarantee("0.01"), "x", {})
    book.check()


MOMENTS = st.tuples(st.integers(1, 12), st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50))


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MOMENTS, max_size=8))
def test_no_sequence_of_charges_passes_the_limit_or_an_allowance(
    tmp_path: Path, clock: list[str], asked: list[tuple[int, Fraction]]
) -> None:
    path = tmp_path / "l.db"
    path.unlink(missing_ok=True)
    book = quarterly(path)
    spent: dict[int, Fraction] = {}
    for month, cost in sorted(asked):
        clock.append(f"2026-{month:02d}-03T00:00:00Z")
        quarter = (month + 2) // 3
        fits = spent.get(quarter, 0) + cost <= Fraction(1, 4) and sum(spent.values()) + cost <= 1
        if fits:
            book.charge(dc.Guarantee(cost), "x", {})
            spent[quarter] = spent.get(quarter, Fraction(0)) + cost
        else:
            with pytest.raises(dc.BudgetError):
                book.charge(dc.Guarantee(cost), "x", {})
    assert book.spent.epsilon == sum(spent.values())
    book.check()


def test_groups_and_zcdp_have_allowances_too(tmp_path: Path, clock: list[str]) -> None:
    within = dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
    book = quarterly(tmp_path / "l.db", groups=("A", "B"), adjacency=within)
    for group in ("A", "B"):
        book.charge(dc.Guarantee("0.25", adjacency=within), "x", {}, group=group)
    with pytest.raises(dc.BudgetError):
        book.charge(dc.Guarantee("0.01", adjacency=within), "x", {}, group="A")
    book.check()
    rho = quarterly(tmp_path / "m.db", delta="1e-6", accountant="zcdp")
    rho.charge(dc.Guarantee("0.1"), "x", {}, concentrated=dc.privacy.Concentrated(rho.limit.rho / 4, Fraction(0)))
    with pytest.raises(dc.BudgetError, match="allowance"):
        rho.charge(dc.Guarantee("0.1"), "x", {}, concentrated=dc.privacy.Concentrated(Fraction(1, 10**9), Fraction(0)))
    rho.check()


def test_a_forged_period_is_noticed(tmp_path: Path, clock: list[str]) -> None:
    book = quarterly(tmp_path / "l.db")
    for _ in range(2):
        book.charge(dc.Guarantee("0.1"), "x", {})
    for forged in (
        {"period": {"name": "2025Q1", "shares": {"": {"epsilon": "0.1", "delta": "0"}}}},
        {"period": {"name": "2026Q1", "shares": {"": {"epsilon": "0.1", "delta": "0"}}}},
        {"period": None},
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(book.path.read_bytes())
        hash_anew(copy, book.entries(), lambda e, new=forged: e.body | (new if e.sequence == 3 else {}))  # type: ignore[misc]
        with pytest.raises(dc.LedgerError):
            dc.Ledger.open(copy).check()


@pytest.mark.parametrize(
    ("per", "allowance"), [("quarter", None), (None, "0.1"), ("week", "0.1"), ("quarter", "2"), ("quarter", "0")]
)
def test_allowances_must_make_sense(tmp_path: Path, per: str | None, allowance: str | None) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Ledger.create(tmp_path / "l.db", epsilon="1", per=per, allowance=allowance)
    assert not (tmp_path / "l.db").exists()


STUDY = """
[data]
path = "data.csv"
size = 3
[budget]
epsilon = "1"
ledger = "l.db"
per = "quarter"
allowance = "0.25"
[columns.x]
levels = ["no", "yes"]
outside = "no"
[questions.share]
columns = ["x"]
epsilon = "0.2"
"""


def test_a_study_asks_its_question_anew_in_every_quarter(
    tmp_path: Path, clock: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.study._study.now", lambda: clock[-1])
    (tmp_path / "s.toml").write_text(STUDY)
    (tmp_path / "data.csv").write_text("x\nno\nyes\nyes\n")
    study = dc.Study(tmp_path / "s.toml")
    first = study.publish("share")
    assert study.publish("share") == first
    clock.append("2026-04-01T00:00:00Z")
    (tmp_path / "data.csv").write_text("x\nno\nyes\nyes\nno\n")
    (tmp_path / "s.toml").write_text(STUDY.replace("size = 3", "size = 4"))
    grown = dc.Study(tmp_path / "s.toml")
    second = grown.publish("share")
    assert second != first
    assert grown.publish("share") == second
    assert grown.ledger().spent.epsilon == Fraction(2, 5)
    requests = [entry.body["request"] for entry in grown.ledger().entries() if entry.kind == "charge"]
    assert requests == ["share of data.csv in 2026Q1", "share of data.csv in 2026Q2"]
    (tmp_path / "s.toml").write_text(STUDY.replace('"0.25"', '"0.5"').replace("size = 3", "size = 4"))
    with pytest.raises(dc.PublishError, match=r"created with a share of 0\.25 .* declares a share of 0\.5"):
        dc.Study(tmp_path / "s.toml").publish("share")
