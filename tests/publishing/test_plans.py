"""A plan is charged at once and published as a whole, or not at all."""

import multiprocessing
import os
import signal
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dc
from discreet.ledger import POINTS
from discreet.ledger import _chain as chain

FORK = multiprocessing.get_context("fork")
COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
PAIR = dc.Categories("y", levels=("a", "b", "c"), outside="a")
DATA = {"x": ["no", "yes", "yes", "no"], "y": ["a", "b", "c", "a"]}
PARTS = [dc.GeometricHistogram(COIN, size=4, epsilon="0.1")] * 30 + [dc.GeometricHistogram(PAIR, size=4, epsilon="0.2")]
PLAN = dc.Plan(PARTS, delta="1e-6")
LABELS = [f"question {number}" for number in range(31)]


def secrets() -> list[dc.Statistics]:
    return [COIN.statistics(DATA)] * 30 + [PAIR.statistics(DATA)]


def test_a_plan_costs_less_than_its_parts_and_is_one_charge(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=3, delta="1e-5")
    releases = dc.publish_plan(PLAN, secrets(), ledger, LABELS)
    assert [release.label for release in releases] == LABELS
    assert ledger.spent == dc.Budget(PLAN.guarantee.epsilon, Fraction(1, 10**6))
    assert ledger.spent.epsilon < Fraction(8, 10) * sum((p.epsilon for p in PARTS), Fraction(0))
    assert [entry.kind for entry in ledger.entries()] == ["created", "charge", "release"]
    ledger.check()
    for release in (releases[0], releases[-1]):
        assert dc.Release.from_json(release.to_json()) == release
        assert "digest matches" in dc.verify(release, ledger=ledger).checks[-1]


def test_a_plan_that_does_not_fit_is_refused_as_a_whole(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=2, delta="1e-5")
    with pytest.raises(dc.BudgetError, match="plan of 31"):
        dc.publish_plan(PLAN, secrets(), ledger, LABELS)
    assert ledger.spent.epsilon == 0
    assert len(ledger.entries()) == 1


def test_one_wrong_part_stops_the_whole_plan_before_the_charge(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=5, delta="1e-5")
    wrong = [*secrets()[:-1], COIN.statistics(DATA)]
    with pytest.raises(dc.PublishError, match="a model other"):
        dc.publish_plan(PLAN, wrong, ledger, LABELS)
    with pytest.raises(dc.PublishError, match="label"):
        dc.publish_plan(PLAN, secrets(), ledger, [*LABELS[:-1], ""])
    for parts, labels in ((secrets()[:-1], LABELS), (secrets(), LABELS[:-1]), (secrets()[0], LABELS), (secrets(), "x")):
        with pytest.raises(dc.PublishError, match="as many"):
            dc.publish_plan(PLAN, parts, ledger, labels)  # type: ignore[arg-type]
    assert len(ledger.entries()) == 1


def test_a_part_of_a_plan_that_was_edited_is_noticed(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=5, delta="1e-5")
    release = dc.publish_plan(PLAN, secrets(), ledger, LABELS)[3]
    renamed = dc.Release.from_json(release.to_json().replace("question 3", "question 99"))
    with pytest.raises(dc.VerificationError, match="not what entry 2 was charged for"):
        dc.verify(renamed, ledger=ledger)


def test_a_plan_asked_again_is_answered_by_the_same_releases(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=5, delta="1e-5")
    first = dc.publish_plan(PLAN, secrets(), ledger, LABELS, request="q3")
    assert dc.publish_plan(PLAN, secrets(), ledger, LABELS, request="q3") == first
    assert ledger.spent.epsilon == PLAN.guarantee.epsilon


def _die_at(path: Path, point: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    chain.action = die
    dc.publish_plan(PLAN, secrets(), dc.Ledger.open(path), LABELS)


@pytest.mark.parametrize("point", POINTS)
def test_a_batch_killed_at_any_step_is_wholly_charged_or_not_at_all(tmp_path: Path, point: str) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=10, delta="1e-5")
    process = FORK.Process(target=_die_at, args=(ledger.path, point))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    ledger.check()
    charged = POINTS.index(point) >= POINTS.index("charged")
    assert ledger.spent.epsilon == (PLAN.guarantee.epsilon if charged else 0)
    assert len(ledger.releases(2)) == (31 if point == "recorded" else 0)


def test_a_plan_under_zcdp_is_charged_the_sum_of_its_rhos(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=5, delta="1e-5", accountant="zcdp")
    dc.publish_plan(PLAN, secrets(), ledger, LABELS)
    assert ledger.spent.rho == sum((part.rho for part in PARTS), Fraction(0))


def test_a_plan_for_units_of_several_rows_is_charged_for_them(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=20, delta="1e-5", unit="a person")
    dc.publish_plan(PLAN, secrets(), ledger, LABELS, unit=dc.Unit("a person", rows=2))
    assert ledger.spent.epsilon == PLAN.guarantee_for(2).epsilon > 2 * PLAN.guarantee.epsilon
