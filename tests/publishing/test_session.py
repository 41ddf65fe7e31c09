"""A session of questions: every draw is charged, answers about a draw are free, nonsense costs nothing."""

import multiprocessing
import os
import pickle
import signal
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.draws import PosteriorSampling
from discreet.ledger import POINTS
from discreet.ledger import _chain as chain
from discreet.mathematics.distributions._certified import CertifiedGamma
from discreet.programs.families import BoundedFamily, total_of
from discreet.publishing import (
    ConditionalExpectation,
    Expectation,
    Mean,
    Predictive,
    Probability,
    PublishedDraw,
    QueryError,
    QuerySession,
)

FORK = multiprocessing.get_context("fork")
WARDS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, prior=30, outside={"ward": "A", "fall": "no"}
)
DATA = {"ward": ["A", "A", "B", "B", "B"], "fall": ["no", "yes", "no", "no", "yes"]}
MECHANISM = PosteriorSampling(WARDS, size=5, epsilon="0.1", delta="0.07", grid_bits=40)
COST = MECHANISM.guarantee.epsilon  # the least epsilon that is certified for the declared delta


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dc.Mechanism.kinds.newest, "PosteriorSampling", PosteriorSampling)


def session_on(path: Path) -> QuerySession:
    return QuerySession(MECHANISM, WARDS.statistics(DATA), dc.Ledger.open(path), label="falls")


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.create(tmp_path / "l.db", epsilon=3 * COST, delta="0.9")


def test_a_draw_costs_what_is_certified_and_not_more_than_was_declared() -> None:
    assert 0 < COST <= Fraction(1, 10)


def test_every_draw_is_charged_and_the_last_one_is_refused(ledger: dc.Ledger) -> None:
    session = session_on(ledger.path)
    draws = [session.draw() for _ in range(3)]
    assert ledger.spent.epsilon == 3 * COST
    with pytest.raises(dc.BudgetError, match="already spent"):
        session.draw()
    assert ledger.spent.epsilon == 3 * COST
    assert len({draw.release.output for draw in draws}) == 3


def test_answers_about_a_draw_are_free_and_agree_with_each_other(ledger: dc.Ledger) -> None:
    draw = session_on(ledger.path).draw()
    spent, theta = ledger.spent, draw.answer(Mean())
    assert sum(theta.values()) == pytest.approx(1)
    yes = theta["A", "yes"] + theta["B", "yes"]
    assert draw.answer(Probability("fall=yes")) == pytest.approx(yes)
    assert draw.answer(Expectation({"fall=yes": 1, "fall=no": 0})) == pytest.approx(yes)
    given = theta["A", "yes"] / (theta["A", "yes"] + theta["A", "no"])
    assert draw.answer(ConditionalExpectation({"fall=yes": 1, "fall=no": 0}, given="ward=A")) == pytest.approx(given)
    assert draw.answer(Predictive("fall=yes", 20)).mean == pytest.approx(20 * yes)
    assert draw.answer(lambda values: float(values.max())) == pytest.approx(max(theta.values()))
    assert ledger.spent == spent


def test_a_request_is_drawn_once(ledger: dc.Ledger) -> None:
    session = session_on(ledger.path)
    first, again = session.draw(request="monday"), session.draw(request="monday")
    assert first.release.output == again.release.output
    assert ledger.spent.epsilon == COST


def test_asking_pays_for_one_draw_and_nonsense_for_none(ledger: dc.Ledger) -> None:
    session = session_on(ledger.path)
    assert 0 < session.ask(Probability("fall=yes")) < 1
    wrong: list[Any] = [
        Probability("fall=maybe"),
        Expectation({"fall=yes": 1}),
        Expectation({"fall=yes": 1, "fall=no": 0, "ward=A": 2}),
        Expectation({"fall=yes": float("nan"), "fall=no": 0}),
        ConditionalExpectation({"fall=yes": "x", "fall=no": 0}, "ward=A"),  # type: ignore[dict-item]
        Predictive("fall=yes", 0),
        lambda theta: theta,
        "what?",
    ]
    for query in wrong:
        with pytest.raises(QueryError):
            session.ask(query)
    assert ledger.spent.epsilon == COST


def _fails(_: Any) -> float:
    raise ZeroDivisionError("secret words 7919")


@pytest.mark.parametrize(
    "query",
    [_fails, lambda t: None, lambda t: [], lambda t: "x", lambda t: t * np.inf, lambda t: {"a": np.nan}, 3],
)
def test_questions_that_fail_are_refused_without_their_words(ledger: dc.Ledger, query: Any) -> None:
    draw = session_on(ledger.path).draw()
    with pytest.raises(QueryError) as refusal:
        draw.answer(query)
    assert "7919" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_a_question_cannot_change_the_draw(ledger: dc.Ledger) -> None:
    draw = session_on(ledger.path).draw()
    before = draw.parameters.copy()

    def vandal(theta: Any) -> float:
        theta[:] = 0
        return 1.0

    draw.answer(vandal)
    assert (draw.parameters == before).all()


def test_nothing_shown_holds_a_count_and_a_session_is_not_stored(ledger: dc.Ledger) -> None:
    session = session_on(ledger.path)
    assert "secret" not in repr(session)
    with pytest.raises(dc.SecretError):
        pickle.dumps(session)
    assert repr(PublishedDraw(session.draw().release)).startswith("<draw 'falls'")


def test_a_session_draws_one_at_a_time(ledger: dc.Ledger) -> None:
    many = PosteriorSampling(WARDS, size=5, epsilon="0.5", delta="0.1", draws=2)
    for mechanism in (many, dc.GeometricHistogram(WARDS, size=5, epsilon=1)):
        with pytest.raises(dc.DeclarationError, match="draws=1"):
            QuerySession(mechanism, WARDS.statistics(DATA), ledger)


def _race(path: Path, wins: "multiprocessing.Queue[int]") -> None:
    session, won = session_on(path), 0
    for _ in range(3):
        try:
            session.draw()
            won += 1
        except dc.BudgetError:
            pass
    wins.put(won)


def test_eight_processes_share_room_for_exactly_ten_draws(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=10 * COST, delta="0.9")
    wins: multiprocessing.Queue[int] = FORK.Queue()
    processes = [FORK.Process(target=_race, args=(ledger.path, wins)) for _ in range(8)]
    for process in processes:
        process.start()
    won = sum(wins.get(timeout=120) for _ in processes)
    for process in processes:
        process.join()
    assert won == 10
    kinds = [entry.kind for entry in ledger.entries()]
    assert (kinds.count("charge"), kinds.count("release")) == (10, 10)
    ledger.check()


def _draw_and_die(path: Path, point: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    chain.action = die
    session_on(path).draw()


@pytest.mark.parametrize("point", POINTS)
def test_a_process_killed_at_any_step_leaves_no_draw_without_a_charge(ledger: dc.Ledger, point: str) -> None:
    process = FORK.Process(target=_draw_and_die, args=(ledger.path, point))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    ledger.check()
    kinds = [entry.kind for entry in ledger.entries()]
    place = POINTS.index
    assert kinds.count("charge") == (0 if place(point) < place("charged") else 1)
    assert kinds.count("release") == (1 if point == "recorded" else 0)
    session_on(ledger.path).draw()
    ledger.check()


def test_answers_of_every_shape_are_looked_at(ledger: dc.Ledger) -> None:
    draw = session_on(ledger.path).draw()
    assert draw.answer(lambda _: np.array(1.0)) == 1
    assert draw.answer(lambda theta: theta[:2]).shape == (2,)
    endless: list[Any] = []
    endless.append(endless)
    for nonsense in (endless, np.array([]), np.array("a"), np.array([1.0, np.nan]), np.array([None])):
        with pytest.raises(QueryError) as refusal:
            draw.answer(lambda _, nonsense=nonsense: nonsense)  # type: ignore[misc]
        assert refusal.value.__cause__ is None


def test_a_family_of_ones_own_is_not_published(ledger: dc.Ledger) -> None:
    @dataclass(frozen=True)
    class Falls(BoundedFamily):
        name: str = "falls"

        @property
        def column(self) -> Any:
            return dc.Column(self.name, (0, 1, 2), outside=2)

        @property
        def values(self) -> Any:
            return tuple(Fraction(level) for level in self.cells)

        def posterior(self, counts: Any, power: Fraction = Fraction(1)) -> CertifiedGamma:
            return CertifiedGamma(30 + power * total_of(self.values, counts), 30 + power * int(sum(counts)))

        def neighbours(self, size: int, power: Fraction) -> Any:
            yield CertifiedGamma(Fraction(30), Fraction(1)), CertifiedGamma(30 + 2 * power, Fraction(1))

    model = Falls()
    mechanism = PosteriorSampling.tempered(model, size=3, epsilon="0.1", delta="0.01")
    secret = model.statistics({"falls": [0, 1, 2]})
    with pytest.raises(dc.PublishError, match="Nothing was published and nothing was charged"):
        dc.publish(mechanism, secret, ledger, "falls")
    with pytest.raises(dc.PublishError, match="Falls"):
        QuerySession(mechanism, secret, ledger).draw()
    assert ledger.spent.epsilon == 0
    with pytest.raises(dc.DocumentError, match="Falls"):
        dc.simulate(mechanism, [1, 1, 1], dc.SeededBits(1)).to_json()
