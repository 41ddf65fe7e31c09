"""Rows that are known to be alike: searched once, with the same ends as when each is searched."""

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics.distributions._dirichlet import Share
from discreet.mathematics.distributions._mixture_batch import BetaRows, MixtureBatch, ends_of


def test_rows_of_one_kind_have_the_ends_that_each_would_have(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    kinds = generator.integers(0, 7, size=40)
    weights, starts = generator.dirichlet(np.ones(12), size=7)[kinds], generator.integers(1, 60, size=7)[kinds]
    starts[kinds == 3] = 1
    part = BetaRows.of(weights, starts, 102.0)
    asked: list[int] = []
    usual = MixtureBatch.logit_quantiles

    def counted(batch: MixtureBatch, probabilities: list[float]) -> object:
        asked.append(batch.count)
        return usual(batch, probabilities)

    alone = ends_of(MixtureBatch([part]), 0.9, True)
    monkeypatch.setattr(MixtureBatch, "logit_quantiles", counted)
    shared = ends_of(MixtureBatch([part], kinds), 0.9, True)
    assert min(asked) <= 7
    for one, two in zip(alone, shared, strict=True):
        assert one == pytest.approx(two, rel=1e-12, abs=0)
    some = np.array([31, 2, 2, 17])
    kept = MixtureBatch([part], kinds).rows(some).intervals(0.5)
    assert kept[0] == pytest.approx(MixtureBatch([part]).intervals(0.5)[0][some], rel=1e-12)


def test_densities_at_both_ends_are_those_of_the_only_betas_that_have_one() -> None:
    weights = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    zero, one = MixtureBatch([BetaRows.of(weights, [1.0, 0.5, 3.0], [9.0, 9.0, 6.0])]).densities_at_ends
    assert zero == pytest.approx([0.25 * 8, 0, 0])
    assert one == pytest.approx([0, 0, 5.0])


def test_equal_noisy_counts_are_read_once_and_say_the_same() -> None:
    model = dc.Categories("x", levels=tuple(range(9)), outside=0)
    mechanism = dc.GeometricHistogram(model, size=40, epsilon=1)
    posterior = dc.infer(dc.Release(mechanism, (20, 3, 3, 3, -2, -2, 5, 5, 5), "tied", simulated=True))
    low, high = zip(*((row.low, row.high) for row in posterior.rows(0.9)), strict=True)
    for place in range(9):
        alone = posterior.distributions.share(np.array([place])).interval(0.9)
        assert (low[place], high[place]) == pytest.approx((alone.low, alone.high), rel=1e-10, abs=1e-12)
    assert low[1] == low[2] == low[3] != low[0]


def test_a_flat_law_holds_both_ends_however_it_is_rounded() -> None:
    flat = np.full(7, 1 / 7)
    share = Share(flat, np.arange(1.0, 8.0), np.arange(7.0, 0.0, -1.0))
    assert tuple(share.interval(0.8)) == (0.0, 1.0)
    low, high = ends_of(MixtureBatch([BetaRows.of(flat[None], 1.0, 8.0)]), 0.8, True)
    assert (low[0], high[0]) == (0.0, 1.0)
