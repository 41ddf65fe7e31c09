"""Groups by a rule on the record: what they add up to, whom a charge is about, races, and ledgers that were forged."""

import itertools
from dataclasses import replace
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.ledger import Chain
from discreet.privacy import Adjacency, Budget, Concentrated, Guarantee
from discreet.report.charts import budget_chart
from forged_ledger import hash_anew

WARD = dc.Column("ward", ("West", "East"), outside="other")
FALL = dc.Categories("fall", levels=("no", "yes"), outside="no")
DATA = {"ward": ["West", "East", None, "West"], "fall": ["yes", "no", "yes", "no"]}
HIDES = Adjacency.ADD_OR_REMOVE
WESTERN, EASTERN = dc.Where("ward = West", [WARD]), dc.Where("ward = East", [WARD])


def new(path: Path, epsilon: str = "1", **further: Any) -> dc.Ledger:
    return dc.Ledger.create(path, epsilon, groups=WARD, adjacency=HIDES, **further)


def publish(ledger: dc.Ledger, epsilon: str, where: dc.Where | None, **further: Any) -> dc.Release:
    secret = FALL.statistics(DATA) if where is None else where.statistics(FALL, DATA)
    return dc.publish(dc.LaplaceTable(FALL, epsilon), secret, ledger, f"falls {epsilon}", **further)


def test_each_group_has_the_whole_limit_and_everyone_counts_beside_it(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    publish(ledger, "0.25", None)
    west, east = publish(ledger, "0.75", WESTERN), publish(ledger, "0.5", EASTERN)
    assert (west.group, west.where, east.group) == ("ward = West", WESTERN, "ward = East")
    assert ledger.spent == Budget(Fraction(1), Fraction(0))
    assert ledger.by_group() == {
        "ward = West": (Budget(Fraction(3, 4), Fraction(0)), Budget(Fraction(0), Fraction(0))),
        "ward = East": (Budget(Fraction(1, 2), Fraction(0)), Budget(Fraction(1, 4), Fraction(0))),
        "ward = other": (Budget(Fraction(0), Fraction(0)), Budget(Fraction(3, 4), Fraction(0))),
    }
    with pytest.raises(dc.BudgetError):
        publish(ledger, "0.1", WESTERN)
    with pytest.raises(dc.BudgetError):
        publish(ledger, "0.1", None)
    publish(ledger, "0.25", EASTERN)
    publish(ledger, "0.75", dc.Where("ward = other", [WARD]))
    assert ledger.spent.epsilon == 1
    assert ledger.check() == 11
    for release in (west, east):
        assert dc.Release.from_json(release.to_json()) == release
        assert dc.verify(release, ledger=ledger).guarantee.epsilon == release.guarantee.epsilon


def test_the_total_is_what_enumeration_of_all_small_data_sets_finds() -> None:
    """All data sets of at most 3 records of (ward, fall): the loss of all releases together, from their likelihoods."""
    kinds = list(itertools.product(range(3), range(2)))
    epsilons = {None: 0.25, 0: 0.75, 1: 0.5}  # everyone, West, East
    worst = 0.0
    outputs = np.array(list(itertools.product(range(-3, 6), repeat=2)))
    for size in range(3):
        for records in itertools.combinations_with_replacement(kinds, size):
            for added in kinds:
                loss = 0.0
                for about, epsilon in epsilons.items():
                    tables = [
                        np.bincount([fall for ward, fall in rows if about in (None, ward)], minlength=2)
                        for rows in (records, (*records, added))
                    ]
                    mechanism = dc.LaplaceTable(FALL, str(epsilon))
                    logs = [np.array([mechanism.log_prob(z, table) for z in outputs]) for table in tables]
                    loss += float(np.abs(logs[0] - logs[1]).max())
                worst = max(worst, loss)
    assert worst == pytest.approx(0.25 + 0.75, abs=1e-9)


def test_rho_adds_up_by_the_largest_group_too(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db", delta="1e-6", accountant="zcdp")
    for where, epsilon in ((None, "0.05"), (WESTERN, "0.15"), (EASTERN, "0.1")):
        publish(ledger, epsilon, where)
    rho = [dc.LaplaceTable(FALL, epsilon).rho for epsilon in ("0.05", "0.15")]
    assert ledger.spent == Concentrated(sum(rho, Fraction(0)), Fraction(0))
    ledger.check()


def test_conditions_beside_that_of_a_group_are_charged_to_it_and_others_to_everyone(tmp_path: Path) -> None:
    ledger, sex = new(tmp_path / "l.db"), dc.Column("sex", ("f", "m"), outside="m")
    data = {**DATA, "sex": ["f", "m", "f", None]}
    for text, group in (("sex = f and ward = East", "ward = East"), ("sex = f", None)):
        where = dc.Where(text, [WARD, sex])
        release = dc.publish(dc.LaplaceTable(FALL, "0.5"), where.statistics(FALL, data), ledger, text)
        assert (release.group, release.where) == (group, where)
        dc.verify(release, ledger=ledger)
    assert ledger.spent.epsilon == 1
    assert {name: own.numbers[0] for name, (own, _) in ledger.by_group().items()}["ward = East"] == Fraction(1, 2)


def test_statistics_of_others_than_the_group_are_refused_and_not_charged(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    for where in (None, EASTERN):
        with pytest.raises(dc.PublishError, match=r"which this ledger charges to .*not to ward = West"):
            publish(ledger, "0.5", where, group="ward = West")
    otherwise = dc.Where("ward = West", [dc.Column("ward", ("West", "North"), outside="other")])
    with pytest.raises(dc.PublishError, match="now it is declared otherwise"):
        publish(ledger, "0.5", otherwise)
    plain = dc.Ledger.create(tmp_path / "p.db", 1)
    with pytest.raises(dc.PublishError, match=r"how many there are where ward = West is secret"):
        dc.publish(dc.GeometricHistogram(FALL, 2, 1), WESTERN.statistics(FALL, DATA), plain, "x")
    table = dc.LaplaceTable(FALL, "0.5")
    secrets = [WESTERN.statistics(FALL, DATA), EASTERN.statistics(FALL, DATA)]
    with pytest.raises(dc.PublishError, match="a plan is about the same records throughout"):
        dc.publish_plan(dc.Plan([table, table]), secrets, ledger, ["w", "e"])
    assert ledger.spent.epsilon == plain.spent.epsilon == 0


def test_a_plan_about_one_group_is_charged_to_it(tmp_path: Path) -> None:
    ledger, table = new(tmp_path / "l.db"), dc.LaplaceTable(FALL, "0.5")
    secrets = [WESTERN.statistics(FALL, DATA)] * 2
    releases = dc.publish_plan(dc.Plan([table, table]), secrets, ledger, ["a", "b"])
    assert [(each.group, each.where) for each in releases] == [("ward = West", WESTERN)] * 2
    assert ledger.by_group()["ward = East"][1] == Budget(Fraction(1), Fraction(0))
    for each in releases:
        dc.verify(each, ledger=ledger)


def test_rules_need_neighbours_that_are_added_or_removed(tmp_path: Path) -> None:
    for adjacency in (Adjacency.REPLACE_ONE, Adjacency.REPLACE_WITHIN_GROUP):
        with pytest.raises(dc.DeclarationError, match="may leave its group for another"):
            dc.Ledger.create(tmp_path / "l.db", 1, groups=WARD, adjacency=adjacency)
    assert not (tmp_path / "l.db").exists()


def test_a_request_is_another_one_about_other_records(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    first = publish(ledger, "0.5", WESTERN, request="falls")
    assert publish(ledger, "0.5", WESTERN, request="falls") == first
    for where in (None, EASTERN):
        with pytest.raises(dc.PublishError, match="already answered for something else"):
            publish(ledger, "0.5", where, request="falls")
    assert ledger.spent.epsilon == Fraction(1, 2)


def test_releases_about_different_records_are_not_read_together(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    west, east, everyone = (publish(ledger, "0.25", where) for where in (WESTERN, EASTERN, None))
    again = publish(ledger, "0.25", WESTERN)
    for other in (east, everyone):
        with pytest.raises(dc.DeclarationError, match="about different records"):
            dc.infer(west, other)
    assert len(dc.infer(west, again).releases) == 2


def _charge(path: Path, where: dc.Where, attempts: int, results: Any) -> None:
    ledger, done = dc.Ledger.open(path), 0
    for _ in range(attempts):
        try:
            publish(ledger, "1/16", where)
            done += 1
        except dc.BudgetError:
            pass
    results.put((str(where), done))


def test_processes_that_publish_about_several_groups_take_the_room_of_each(tmp_path: Path) -> None:
    """Eight processes with 10 attempts each: room for 12 charges about West and for 12 about East beside everyone."""
    ledger = new(tmp_path / "l.db")
    publish(ledger, "1/4", None)
    fork = get_context("fork")
    results = fork.Queue()
    parts = [WESTERN, EASTERN] * 4
    started = [fork.Process(target=_charge, args=(ledger.path, where, 10, results)) for where in parts]
    for process in started:
        process.start()
    found = [results.get(timeout=120) for _ in started]
    for process in started:
        process.join(120)
    for where in (WESTERN, EASTERN):
        assert sum(done for name, done in found if name == str(where)) == 12
    assert ledger.spent.epsilon == 1
    ledger.check()


def _charged_elsewhere(body: Any) -> Any:
    """Move the charge about West, and its share, to East: then more could be spent on West."""
    if body["kind"] not in ("charge", "release"):
        return body
    shares = body["shares"] | {
        "ward = East": body["shares"]["ward = West"],
        "ward = West": body["shares"]["ward = other"],
    }
    return body | {"shares": shares} | ({"group": "ward = East"} if body["kind"] == "charge" else {})


def _about_others(body: Any) -> Any:
    return body | ({"where": EASTERN.document()} if body["kind"] == "charge" else {})


def _no_conditions(body: Any) -> Any:
    return {name: each for name, each in body.items() if name != "where"}


def _other_rule(body: Any) -> Any:
    return body | ({"rule": body["rule"] | {"levels": ["West", "North", "other"]}} if body["kind"] == "created" else {})


def _smaller_sum(body: Any) -> Any:
    return body | ({"spent": {"epsilon": "0.25", "delta": "0"}} if body["kind"] in ("charge", "release") else {})


def _replaced(body: Any) -> Any:
    return body | ({"adjacency": Adjacency.REPLACE_WITHIN_GROUP.value} if body["kind"] == "created" else {})


@pytest.mark.parametrize(
    "forged", [_charged_elsewhere, _about_others, _no_conditions, _other_rule, _smaller_sum, _replaced]
)
def test_a_forged_group_is_found(tmp_path: Path, forged: Any) -> None:
    ledger = new(tmp_path / "l.db")
    publish(ledger, "0.5", WESTERN)
    assert ledger.check() == 3
    hash_anew(ledger.path, ledger.entries(), lambda entry: forged(dict(entry.body)))
    with pytest.raises(dc.LedgerError):
        dc.Ledger(Chain(ledger.path)).check()


def test_a_release_that_was_passed_off_as_one_about_others_is_found(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    release = publish(ledger, "0.5", WESTERN)
    for other in (replace(release, where=EASTERN), replace(release, where=None), replace(release, group=None)):
        with pytest.raises(dc.VerificationError, match="not what entry"):
            dc.verify(other, ledger=ledger)


def test_a_release_of_a_public_number_cannot_be_about_some_records(tmp_path: Path) -> None:
    release = dc.simulate(dc.GeometricHistogram(FALL, 10, 1), [3, 7], dc.SeededBits(1))
    with pytest.raises(dc.DocumentError, match="must keep their number secret"):
        dc.Release.from_json(replace(release, where=WESTERN).to_json())


def test_the_picture_has_a_bar_for_everyone_and_one_for_each_group(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db")
    for epsilon, where in (("0.5", EASTERN), ("0.25", None)):
        publish(ledger, epsilon, where)
    rows = budget_chart(ledger)["data"]["values"]
    bars = [(row["label"], row["start"], row["end"], row["cost"]) for row in rows]
    assert bars == [
        ("everyone", 0.0, 0.25, "0.25"),
        ("ward = West", 0.25, 0.25, "0"),
        ("ward = East", 0.25, 0.75, "0.5"),
        ("ward = other", 0.25, 0.25, "0"),
    ]


def test_an_allowance_holds_for_each_group_beside_everyone(tmp_path: Path) -> None:
    ledger = new(tmp_path / "l.db", epsilon="2", per="quarter", allowance="0.5")
    publish(ledger, "0.25", None)
    publish(ledger, "0.25", WESTERN)
    publish(ledger, "0.25", EASTERN)
    for where in (None, WESTERN, EASTERN):
        with pytest.raises(dc.BudgetError, match="allowance"):
            publish(ledger, "0.125", where)
    publish(ledger, "0.25", dc.Where("ward = other", [WARD]))
    ledger.check()


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_of_one_unit_in_several_groups_cost_no_more_than_all_in_one(tmp_path: Path, rows: int) -> None:
    """By every split of the rows among three groups: what they cost in each is for_rows of what one row costs."""
    promises = [
        Guarantee(epsilon, delta, HIDES) for epsilon, delta in (("0.5", "1e-6"), ("1", "1e-5"), ("0.2", "1e-3"))
    ]
    whole = [each.for_rows(rows) for each in promises]
    most = max(each.epsilon for each in whole), max(each.delta for each in whole)
    for split in itertools.product(range(rows + 1), repeat=3):
        if sum(split) == rows:
            parts = [each.for_rows(count) for each, count in zip(promises, split, strict=True) if count]
            assert sum(each.epsilon for each in parts) <= most[0]
            assert sum(each.delta for each in parts) <= most[1]
    ledger = new(tmp_path / "l.db", epsilon="3", unit=dc.Unit("one person", rows))
    publish(ledger, "0.5", WESTERN)
    publish(ledger, "0.25", EASTERN)
    assert ledger.spent.numbers[0] == rows * Fraction(1, 2)
