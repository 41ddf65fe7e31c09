"""How many steps a draw takes is decided by public facts: the size, the prior, the grid, never by the counts."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import discreet as dc
from discreet._core.exact import ball
from discreet.mathematics.distributions import _certified as certified
from discreet.mathematics.distributions._certified import CertifiedBeta, CertifiedGamma, incomplete_beta

F = Fraction
SIZE = 200
PAIR = dc.Categories("x", levels=("a", "b"), outside="b", prior=30)
THREE = dc.Categories("x", levels=("a", "b", "c"), outside="c", prior=30)


def steps_of(mechanism: Any, counts: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the steps of every probability that a draw worked out."""
    seen: list[int] = []
    plain_steps, plain_series = certified._steps, certified._lower_gamma

    def steps(largest: Fraction) -> int:
        seen.append(plain_steps(largest))
        return seen[-1]

    def series(shape: arb, x: arb, terms: int) -> arb:
        seen.append(terms)
        return plain_series(shape, x, terms)

    with monkeypatch.context() as patched:
        patched.setattr(certified, "_steps", steps)
        patched.setattr(certified, "_lower_gamma", series)
        mechanism.sample(np.array(counts), dc.SeededBits(5))
    return seen


@pytest.mark.parametrize("counts", [[60, 140], [0, 200], [200, 0], [100, 100], [1, 199]])
def test_every_table_takes_the_steps_of_every_other(counts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 0.1 had one algorithm up to 60 and another beyond: one timing told 59 from 60."""
    mechanism = dc.PosteriorSampling.tempered(PAIR, size=SIZE, epsilon=1, delta="1e-4")
    assert steps_of(mechanism, counts, monkeypatch) == steps_of(mechanism, [59, 141], monkeypatch)


@pytest.mark.parametrize("counts", [[60, 70, 70], [0, 0, 200], [200, 0, 0]])
def test_every_stick_takes_the_steps_of_the_first(counts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = dc.PosteriorSampling.tempered(THREE, size=SIZE, epsilon=1, delta="1e-4")
    found = steps_of(mechanism, counts, monkeypatch)
    assert found == steps_of(mechanism, [59, 71, 70], monkeypatch)
    assert len(set(found)) == 1


def test_draws_of_a_network_take_the_steps_of_the_public_size(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = {name: dc.Column(name, ("no", "yes"), outside="no") for name in ("y", "x")}
    network = dc.Network.naive_bayes("y", ["x"], levels)
    mechanism = dc.draws.NetworkSampling.tempered(network, size=SIZE, epsilon=1, delta="1e-4")
    tables = [
        network.statistics({"y": ["no"] * n + ["yes"] * (SIZE - n), "x": ["no"] * SIZE}).open_for_publishing()
        for n in (0, 59, 60, SIZE)
    ]
    found = [steps_of(mechanism, table.tolist(), monkeypatch) for table in tables]
    assert all(each == found[0] for each in found)


def test_draws_of_a_poisson_rate_take_the_terms_of_the_largest_total(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dc.PoissonRate("x", most=6, shape=30, rate=10, outside=6)
    mechanism = dc.PosteriorSampling.tempered(model, size=SIZE, epsilon=1, delta="1e-4")
    tables = [[SIZE, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, SIZE], [59, 141, 0, 0, 0, 0, 0], [60, 140, 0, 0, 0, 0, 0]]
    found = [steps_of(mechanism, table, monkeypatch) for table in tables]
    assert len({frozenset(each) for each in found}) == 1


@pytest.mark.parametrize(
    ("a", "b"), [("0.001", "0.002"), ("1", "1"), ("0.5", "90"), ("59", "61"), ("3000", "4000"), ("1e5", "2")]
)
@pytest.mark.parametrize("share", ["0.01", "0.5", "0.9", "1.1", "1.9"])
def test_the_continued_fraction_encloses_what_arb_encloses(a: str, b: str, share: str) -> None:
    """Arb's own function, at twice the precision, is the slow twin; more steps than needed change nothing."""
    first, second = F(a), F(b)
    middle = (first + 1) / (first + second + 2)
    place = F(share) * middle if F(share) < 1 else 1 - (2 - F(share)) * (1 - middle)
    for largest in (None, 10 * (first + second)):
        with ctx.workprec(128):
            found = CertifiedBeta(first, second, largest).below(ball(place))
            assert found.rad() < arb(2) ** -80
        with ctx.workprec(400):
            assert found.overlaps(ball(place).beta_lower(ball(first), ball(second), regularized=True))


def test_too_few_steps_give_a_wide_answer_and_no_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in (1, 2, 5, 20, 60):
        monkeypatch.setattr(certified, "_steps", lambda _, steps=steps: steps)
        with ctx.workprec(128):
            found = incomplete_beta(F(500), F(700), ball(F(5, 12)))
            truth = ball(F(5, 12)).beta_lower(ball(F(500)), ball(F(700)), regularized=True)
            assert found.overlaps(truth)


@pytest.mark.parametrize(("shape", "x"), [("0.5", "0.1"), ("0.5", "40"), ("3", "3"), ("1000", "1100"), ("1000", "900")])
def test_the_series_encloses_what_arb_encloses(shape: str, x: str) -> None:
    for largest in (None, F(10**4)):
        with ctx.workprec(128):
            found = CertifiedGamma(F(shape), F(1), largest).below(ball(F(x)))
            assert found.rad() < arb(2) ** -80
        with ctx.workprec(400):
            assert found.overlaps(1 - ball(F(x)).gamma_upper(ball(F(shape)), regularized=1))
