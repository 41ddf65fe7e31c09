"""Questions to drawn networks: charged draw by draw, answered by elimination, as enumeration answers them."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.publishing import Expectation, Mean, Predictive, Probability, QueryError, QuerySession
from discreet.publishing._session import ConditionalProbability

LOOP = dc.Network.from_edges(
    "a -> b", "a -> c", "b -> d", "c -> d", levels={"a": (0, 1), "b": (0, 1, 2), "c": (0, 1), "d": (0, 1)}, outside=0
)
DATA = {"a": [0, 1, 1, 0], "b": [2, 1, 0, 0], "c": [1, 1, 0, 0], "d": [0, 1, 1, 0]}
MECHANISM = dc.draws.NetworkSampling.truncated(LOOP, size=4, epsilon="8", least="0.05")


def by_enumeration(tables: Any, wanted: Any) -> float:
    total = 0.0
    for a, b, c, d in product(range(2), range(3), range(2), range(2)):
        chance = tables["a"][a] * tables["b"][a, b] * tables["c"][a, c] * tables["d"][b, c, d]
        total += chance * wanted(a, b, c, d)
    return total


@pytest.fixture
def session(tmp_path: Path) -> QuerySession:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=16)
    return QuerySession(MECHANISM, LOOP.statistics(DATA), ledger, label="loop")


def test_answers_about_a_drawn_network_are_those_of_enumeration_and_free(session: QuerySession) -> None:
    draw = session.draw()
    tables = draw.answer(Mean())
    assert tables["d"].shape == (3, 2, 2)
    assert draw.answer(Probability("d=1, b=0, b=2")) == pytest.approx(
        by_enumeration(tables, lambda a, b, c, d: d == 1 and b != 1), rel=1e-12
    )
    both = by_enumeration(tables, lambda a, b, c, d: a == 1 and d == 0)
    given = by_enumeration(tables, lambda a, b, c, d: d == 0)
    assert draw.answer(ConditionalProbability("a=1", given="d=0")) == pytest.approx(both / given, rel=1e-12)
    assert draw.answer(Predictive("d=0", 10)).mean == pytest.approx(10 * given, rel=1e-9)
    assert draw.answer(lambda theta: float(np.max(theta["b"]))) <= 0.9
    assert session.ledger.spent.epsilon == 8


def test_every_fresh_answer_is_charged_and_nonsense_is_not(session: QuerySession) -> None:
    for question in (Probability("d=7"), Expectation({"d=1": 2.0}), ConditionalProbability("a=1", given="e=0")):
        with pytest.raises(QueryError):
            session.ask(question)
    assert session.ledger.spent.epsilon == 0
    assert 0 < session.ask(Probability("d=1")) < 1
    assert session.ledger.spent.epsilon == 8
    session.ask(ConditionalProbability("a=1", given="d=0"))
    with pytest.raises(dc.BudgetError):
        session.ask(Probability("d=1"))


def test_outermost_cells_of_the_finest_grid_are_probabilities_above_zero() -> None:
    """The middle of the last cell of 2^53 or more is 1 as a float: 50 bits are the most, for all draws."""
    pair = dc.Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, prior=0.01, outside="no")
    coin = dc.Categories("x", levels=("no", "yes"), outside="no")
    for bits in (51, 56):
        with pytest.raises(dc.DeclarationError, match="grid_bits"):
            dc.draws.NetworkSampling(pair, 20, 1500, "0.01", grid_bits=bits, power="0.0005")
        with pytest.raises(dc.DeclarationError, match="grid_bits"):
            dc.PosteriorSampling(coin, 20, 1500, "0.01", grid_bits=bits, power="0.0005")
    mechanism = dc.draws.NetworkSampling(pair, 20, 1500, "0.01", grid_bits=50, power="0.0005")
    for output in product((0, 2**50 - 1), repeat=3):
        tables = {name: table[0] for name, table in mechanism.parameters(np.array(output)).items()}
        assert all((table > 0).all() and (table < 1).all() for table in tables.values())
        assert 0 < ConditionalProbability("b=yes", given="a=yes").answer(pair, tables) < 1
