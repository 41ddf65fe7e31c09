"""A median in two steps: a sequence whose amounts are fixed and whose second target is not, read by tests that hold."""

from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.noise import Laplace
from discreet.numbers._edge_tests import ExactTests
from discreet.numbers._step_tests import StepTests, laplace_cut

EIGHT = dc.NumberTable("x", (0, 8), 8, quantiles=("0.5",), missing=0)


def test_the_second_step_looks_at_the_edge_that_the_first_one_finds() -> None:
    mechanism = dc.numbers.TwoStepMedian(EIGHT, 100, 1)
    assert mechanism.edges_of([[10, 10, 10, 19, 21, 10, 10, 10], [50, 0, 0, 0, 0, 0, 0, 50]]).tolist() == [4, 1]
    counts = np.array([10, 10, 10, 19, 21, 10, 10, 10])
    (drawn,) = mechanism.sample(counts[None], dc.SeededBits(1))
    edge = int(mechanism.edges_of(drawn[:-1]))
    slow = mechanism.table.log_prob(drawn[:-1], counts)
    slow += np.log(np.tanh(0.25)) - abs(int(drawn[-1]) - counts[:edge].sum()) / 2
    assert float(mechanism.log_prob(drawn, counts)) == pytest.approx(float(slow), abs=1e-12)


def test_both_steps_add_up_by_basic_and_zcdp_composition_and_no_law_is_convolved() -> None:
    mechanism = dc.numbers.TwoStepMedian(EIGHT, 100, 2)
    half = dc.TreeTable(EIGHT, 100, 1)
    assert mechanism.guarantee.epsilon == 2
    assert mechanism.rho == half.rho + Laplace((Fraction(1),), (1,)).privacy_loss(np.ones(1, dtype=np.int64)).rho
    assert mechanism.privacy_loss().delta_at(1.9) > 0.8 * (1 - np.exp(-0.1)) * np.exp(2) / (1 + np.exp(2))


class Louder(dc.numbers.TwoStepMedian):
    """Spends all of epsilon on the second step and says half."""

    @cached_property
    def noise(self) -> Laplace:
        return Laplace((self.epsilon,), (1,))


def test_a_second_step_that_costs_more_than_it_says_is_caught() -> None:
    dc.verify(dc.numbers.TwoStepMedian(EIGHT, 4, 1))
    with pytest.raises(dc.VerificationError):
        dc.verify(Louder(EIGHT, 4, 1))


@pytest.mark.parametrize(("counts", "seed"), [((199, 0, 0, 1, 0, 0, 0, 200), 5), ((30, 40, 60, 65, 75, 50, 40, 40), 6)])
def test_intervals_hold_the_median_also_where_one_record_is_in_its_cell(counts: tuple[int, ...], seed: int) -> None:
    """1,000 releases at 90 %: the standard error is .0095, and .87 is more than three below."""
    table = np.array(counts)
    mechanism, rank = dc.numbers.TwoStepMedian(EIGHT, 400, 1), 200
    true = int(np.searchsorted(np.cumsum(table), rank))
    outputs = mechanism.sample(np.tile(table, (1000, 1)), dc.SeededBits(seed))
    noise: Any = mechanism.table.noise
    law, hits = laplace_cut(0.5), 0
    for output in outputs:
        edge = int(mechanism.edges_of(output[:-1]))
        base = ExactTests(output[:-1], 400, noise.cut, noise.single)
        tests = StepTests(base, 400, noise.cut(edge).sd, edge, int(output[-1]), law)
        first, last = tests.cells_left(Fraction(1, 2), 0.9, False)
        hits += first <= true <= last
    assert hits >= 870


def test_a_study_asks_for_two_steps_by_name_and_is_charged_as_a_whole(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    (tmp_path / "x.csv").write_text("pay\n" + "\n".join(f"{x:.1f}" for x in generator.gamma(4, 10, 800)) + "\n")
    (tmp_path / "s.toml").write_text("""
[data]
path = "x.csv"
size = 800
[budget]
epsilon = "2"
ledger = "x.db"
[columns.pay]
bounds = [0, 128]
missing = 0
[questions.q]
model = "number"
column = "pay"
quantiles = [0.5]
mechanism = "TwoStepMedian"
epsilon = "2"
""")
    asked = dc.Study(tmp_path / "s.toml")
    assert isinstance(asked.question("q").mechanism, dc.numbers.TwoStepMedian)
    assert "TwoStepMedian" in dc.suggest(asked.question("q").model, 800, 2).reason
    release = asked.publish("q")
    assert asked.ledger().remaining.epsilon == 0
    read = dc.Release.from_json(release.to_json())
    assert read == release
    posterior = dc.infer(read)
    row, law = posterior.rows(0.99)
    values = sorted(float(line) for line in (tmp_path / "x.csv").read_text().splitlines()[1:])
    assert row.low <= values[399] <= row.high
    assert law.low <= law.mean <= law.high
    assert "by the second step" in posterior.method
    assert posterior.draws(20, 1)["share_below"].shape == (20, 1, 63)
    assert len(posterior.cdf()) == 2 * 63


def test_without_a_public_number_of_records_two_steps_are_refused_in_words() -> None:
    for model in (
        dc.NumberTable("x", (0, 8), 8),
        dc.NumberTable("x", (0, 8), 8, missing=0, by=dc.Column("g", ("a", "b"), outside="a")),
    ):
        with pytest.raises(dc.DeclarationError, match="needs the number of records"):
            dc.numbers.TwoStepMedian(model, 100, 1)
        assert not model.is_one_median
