"""Ledgers with zCDP or with groups: filters that no sequence of requests can pass."""

import os
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.privacy import zcdp_epsilon
from discreet.release import mechanism_document

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
DATA = {"x": ["no", "yes", "yes"]}
CHEAP = dc.GeometricHistogram(COIN, size=3, epsilon="0.1")


def fresh(tmp_path: Path) -> Path:
    return tmp_path / f"{os.urandom(6).hex()}.db"


def test_a_zcdp_ledger_allows_more_small_questions_than_a_basic_one(tmp_path: Path) -> None:
    numbers = {}
    for accountant in ("basic", "zcdp"):
        ledger = dc.Ledger.create(tmp_path / f"{accountant}.db", epsilon=3, delta="1e-6", accountant=accountant)
        numbers[accountant] = 0
        while True:
            try:
                ledger.charge(
                    CHEAP.guarantee,
                    "asked",
                    mechanism_document(CHEAP),
                    concentrated=dc.privacy.Concentrated(CHEAP.rho, Fraction(0)),
                )
            except dc.BudgetError:
                break
            numbers[accountant] += 1
        ledger.check()
    assert numbers == {"basic": 30, "zcdp": 36}
    spent = dc.Ledger.open(tmp_path / "zcdp.db").spent
    assert zcdp_epsilon(spent.rho, Fraction(9, 10**7)) <= 3


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=Fraction(1, 90), max_value=2, max_denominator=97),
            st.sampled_from([Fraction(0), Fraction(1, 10**8), Fraction(1, 10**7)]),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_no_adaptive_sequence_passes_a_zcdp_limit(tmp_path: Path, costs: list[tuple[Fraction, Fraction, bool]]) -> None:
    ledger = dc.Ledger.create(fresh(tmp_path), epsilon="2", delta="1e-6", accountant="zcdp")
    rho = delta = Fraction(0)
    for epsilon, leak, known in costs:
        cost = dc.privacy.Concentrated(epsilon**2 / 9, Fraction(0)) if known else None
        spends = (epsilon**2 / 9, Fraction(0)) if known else (epsilon**2 / 2, leak)
        try:
            ledger.charge(dc.Guarantee(epsilon, leak), "asked", {}, concentrated=cost)
            rho, delta = rho + spends[0], delta + spends[1]
        except dc.BudgetError:
            assert rho + spends[0] > ledger.limit.rho or delta + spends[1] > ledger.limit.delta
    assert (ledger.spent.rho, ledger.spent.delta) == (rho, delta)
    assert zcdp_epsilon(rho, Fraction(9, 10**7)) <= 2
    assert delta <= Fraction(1, 10**7)
    ledger.check()


def _records(group: str | None, move: tuple[str, str]) -> int:
    """Return in how many of its records a release differs when a person moves from one group to another one.

    Sizes are public, so an exchange changes one record of each group, and two of a release about everyone.
    """
    return len(set(move)) if group is None else int(group in move)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=Fraction(1, 90), max_value=1, max_denominator=97),
            st.sampled_from([None, "A", "B", "C"]),
        ),
        max_size=14,
    ),
    st.sampled_from([dc.privacy.Adjacency.REPLACE_ONE, dc.privacy.Adjacency.REPLACE_WITHIN_GROUP]),
)
def test_no_adaptive_sequence_passes_the_limit_for_any_record(
    tmp_path: Path, costs: list[tuple[Fraction, str | None]], adjacency: dc.privacy.Adjacency
) -> None:
    """Whatever record changes, in whatever groups it may lie before and after, its cost is within the limit."""
    ledger = dc.Ledger.create(fresh(tmp_path), epsilon="3/2", groups=("A", "B", "C"), adjacency=adjacency)
    paid: list[tuple[Fraction, str | None]] = []
    for epsilon, group in costs:
        kind = dc.privacy.Adjacency.REPLACE_WITHIN_GROUP if group else dc.privacy.Adjacency.REPLACE_ONE
        try:
            ledger.charge(dc.Guarantee(epsilon, adjacency=kind), "asked", {}, group=group)
            paid.append((epsilon, group))
        except dc.BudgetError:
            pass
    exchange = adjacency is not dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
    moves = [(a, b) for a in "ABC" for b in "ABC" if (a != b) == exchange]
    seen = [sum((e * _records(g, move) for e, g in paid), Fraction(0)) for move in moves]
    assert max(seen) <= Fraction(3, 2)
    assert max(seen) == ledger.spent.epsilon
    ledger.check()


def test_public_groups_share_a_budget_and_secret_ones_count_twice(tmp_path: Path) -> None:
    public = dc.Ledger.create(
        tmp_path / "p.db", epsilon="0.1", groups=("A", "B"), adjacency=dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
    )
    secret = dc.Ledger.create(tmp_path / "s.db", epsilon="0.2", groups=("A", "B"))
    for ledger in (public, secret):
        for group in ("A", "B"):
            release = dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label=group, group=group)
            assert release.guarantee.adjacency is dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
            assert dc.Release.from_json(release.to_json()) == release
            assert "digest matches" in dc.verify(release, ledger=ledger).checks[-1]
    assert public.spent.epsilon == Fraction(1, 10)
    assert secret.spent.epsilon == Fraction(1, 5)
    with pytest.raises(dc.BudgetError):
        dc.publish(CHEAP, COIN.statistics(DATA), ledger=secret, label="more", group="A")


def test_a_group_release_may_not_be_passed_off_as_one_about_everyone(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", groups=("A", "B"))
    release = dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label="A", group="A")
    with pytest.raises(dc.DocumentError, match="Do not trust it"):
        dc.Release.from_json(release.to_json().replace('"group":"A",', ""))


def test_groups_that_a_ledger_does_not_know_are_refused(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1")
    with pytest.raises(dc.PublishError, match=r"not one of the groups.*one histogram"):
        dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label="x", group="A")
    assert ledger.spent.epsilon == 0
    for groups in (("A", "A"), ("", "B"), "AB", "", (1, 2)):
        with pytest.raises(dc.DeclarationError):
            dc.Ledger.create(tmp_path / "m.db", epsilon="1", groups=groups)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="need groups"):
        dc.Ledger.create(tmp_path / "m.db", epsilon="1", adjacency=dc.privacy.Adjacency.REPLACE_WITHIN_GROUP)
    assert not (tmp_path / "m.db").exists()


def test_a_zcdp_ledger_is_charged_what_publish_computes(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=3, delta="1e-6", accountant=dc.Accountant.ZCDP)
    gaussian = dc.tables.DiscreteGaussianHistogram(COIN, size=3, epsilon="1", delta="1e-7")
    dc.publish(gaussian, COIN.statistics(DATA), ledger=ledger, label="gaussian")
    assert ledger.spent == dc.privacy.Concentrated(gaussian.rho, Fraction(0))
    ledger.check()
    twice = dc.Ledger.create(tmp_path / "m.db", epsilon=3, delta="1e-6", unit="a person", accountant="zcdp")
    dc.publish(CHEAP, COIN.statistics(DATA), ledger=twice, label="x", unit=dc.Unit("a person", rows=2))
    assert twice.spent.rho == 4 * CHEAP.rho


def test_the_limit_of_a_zcdp_ledger_can_be_raised_and_its_edit_is_noticed(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=1, delta="1e-6", accountant="zcdp")
    before = ledger.limit.rho
    ledger.change_limit(2, reason="second wave")
    assert ledger.limit.rho > 3 * before
    assert ledger.declared_limit == dc.Budget(Fraction(2), Fraction(1, 10**6))
    ledger.check()


@pytest.mark.parametrize(("delta", "accountant"), [("0", "zcdp"), ("1e-6", "pld"), ("1e-6", None)])
def test_accountants_that_cannot_enforce_a_limit_are_refused(tmp_path: Path, delta: str, accountant: str) -> None:
    with pytest.raises(dc.DeclarationError, match=r"delta above 0|'basic' or 'zcdp'"):
        dc.Ledger.create(tmp_path / "l.db", epsilon=1, delta=delta, accountant=accountant)
    assert not (tmp_path / "l.db").exists()


def test_an_exchange_of_two_people_is_paid_for_by_releases_about_everyone(tmp_path: Path) -> None:
    """Two people who exchange wards change two records of a release about everyone: it costs twice its epsilon."""
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", groups=("A", "B"))
    ledger.charge(dc.Guarantee("0.4"), "crossed", {})
    assert ledger.spent.epsilon == Fraction(4, 5)
    assert ledger.created["adjacency"] == dc.privacy.Adjacency.REPLACE_OR_EXCHANGE.value
    with pytest.raises(dc.BudgetError):
        ledger.charge(dc.Guarantee("0.15"), "more", {})
    rho = dc.Ledger.create(tmp_path / "m.db", epsilon="1", delta="1e-6", groups=("A", "B"), accountant="zcdp")
    rho.charge(dc.Guarantee("0.1"), "crossed", {}, concentrated=dc.privacy.Concentrated(Fraction(1, 1000), Fraction(0)))
    assert rho.spent.rho == Fraction(4, 1000)


def test_costs_below_zero_and_changing_rows_are_refused(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="9", delta="1e-6", unit="a person", accountant="zcdp")
    with pytest.raises(dc.PublishError, match="cannot be negative"):
        ledger.charge(
            dc.Guarantee("1"),
            "x",
            {},
            unit="a person",
            concentrated=dc.privacy.Concentrated(Fraction(-5), Fraction(0)),
        )
    dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label="x", unit=dc.Unit("a person", rows=2), data="a.csv")
    with pytest.raises(dc.PublishError, match="up to 2 rows"):
        dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label="x", unit=dc.Unit("a person"), data="a.csv")


def test_a_charge_below_the_price_or_used_twice_is_not_verified(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="9")
    dear = dc.GeometricHistogram(COIN, size=3, epsilon="5")
    for price, copies, words in (("0.001", 1, "charged less"), ("5", 2, "was charged less than all")):
        receipt = ledger.charge(
            dc.Guarantee(price),
            "x",
            mechanism_document(dear),
            concentrated=dc.privacy.Concentrated(dear.rho, Fraction(0)),
        )
        assert isinstance(receipt, dc.ledger.Receipt)
        releases = [dc.Release(dear, (k, 3 - k), "x", receipt=receipt) for k in range(copies)]
        ledger.record(receipt, [release.to_json() for release in releases])
        with pytest.raises(dc.VerificationError, match=words):
            dc.verify(releases[0], ledger=ledger)
        ledger = dc.Ledger.create(tmp_path / "m.db", epsilon="9") if copies == 1 else ledger


def test_a_limit_changed_at_the_same_time_keeps_its_newest_delta(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", delta="1e-3")
    ledger.change_limit(1, "1e-9", reason="lower")
    ledger.change_limit(2, reason="raise epsilon alone")
    assert ledger.declared_limit.delta == Fraction(1, 10**9)


def test_the_certificate_of_a_group_release_names_its_neighbours(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="1", groups=("A", "B"))
    release = dc.publish(CHEAP, COIN.statistics(DATA), ledger=ledger, label="A", group="A")
    assert dc.verify(release, ledger=ledger).guarantee.adjacency is dc.privacy.Adjacency.REPLACE_WITHIN_GROUP
