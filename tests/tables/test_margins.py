"""Margins of a table as posteriors of their own: from own sums, and from one joint reading."""

import re
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.report import charts

LEVELS = {"ward": ("A", "B", "C"), "fall": ("no", "yes"), "sex": ("f", "m")}
COUNTS = (90, 80, 12, 8, 70, 80, 20, 30, 80, 80, 30, 20)


def release(prior: object = None, seed: int = 8, kind: str = "GeometricHistogram", **extra: object) -> dc.Release:
    model = dc.Categories(tuple(LEVELS), LEVELS, prior=prior, outside={name: own[0] for name, own in LEVELS.items()})  # type: ignore[arg-type]
    made: Any = dc.Mechanism.registered()[kind]
    mechanism = made(model, size=600, epsilon="0.5", **extra)
    return dc.simulate(mechanism, COUNTS, dc.SeededBits(seed), label="wards")


@pytest.mark.parametrize("kind", ["GeometricHistogram", "DiscreteLaplaceCounts"])
def test_a_margin_reads_the_table_that_collapses_to_it(kind: str) -> None:
    """Intervals are those of the levels' own sums; means are those of the collapsed table, and add up to 1."""
    posterior = dc.infer(release(kind=kind))
    margin = posterior.margin("ward")
    assert [row.quantity for row in margin.rows()] == ["A", "B", "C"]
    assert sum(row.mean for row in margin.rows()) == pytest.approx(1, abs=1e-12)
    for row, level in zip(margin.rows(0.8), "ABC", strict=True):
        own = posterior.probability(f"ward={level}").interval(0.8)
        assert (row.low, row.high) == pytest.approx((own.low, own.high), rel=1e-9)
        assert row.low < row.mean < row.high
    assert margin.strength_probabilities[0] > 0
    assert len(margin.strength_probabilities) == 2  # {2/3, 1} for three levels
    assert margin.log_evidence != posterior.log_evidence


def test_the_collapsed_table_is_the_one_that_is_worked_out_by_hand() -> None:
    """For z = (3, -1, 2, 2), pairs of cells: the law of the first pair's count is that of the own sum."""
    model = dc.Categories(("a", "b"), {"a": (0, 1), "b": (0, 1)}, outside=0)
    known = dc.Release(dc.GeometricHistogram(model, size=6, epsilon=1), (3, -1, 2, 2), "by hand", simulated=True)
    margin = dc.infer(known).margin("a")
    law = margin.true_count(0)
    expected = (0.125049664, 0.196257131, 0.249548855, 0.196257131, 0.125049664, 0.070752364, 0.037085192)
    assert law.probabilities == pytest.approx(expected, abs=2e-9)
    assert margin.mean[0] == pytest.approx(0.42007473250601784, abs=1e-12)


@pytest.mark.parametrize("prior", [0.3, tuple(0.1 + 0.2 * np.arange(12))])
def test_under_a_declared_prior_the_margin_is_the_sum_of_the_joint_reading(prior: object) -> None:
    posterior = dc.infer(release(prior))
    for whole in (posterior, dc.infer(release()).table):
        margin = whole.margin("ward", "sex")
        assert margin.model.cells[1] == ("A", "m")
        for cell, mean in margin.mean.items():
            event = f"ward={cell[0]}, sex={cell[1]}"
            assert mean == pytest.approx(whole.probability(event).mean, rel=1e-9)
            low, high = margin.interval(cell, 0.9)
            assert (low, high) == pytest.approx(tuple(whole.probability(event).interval(0.9)), rel=1e-7)
        assert margin.true_count(("A", "f")).mean == pytest.approx(whole.true_count("ward=A, sex=f").mean)
    assert margin.table is margin


def test_draws_of_a_margin_have_its_means_and_names() -> None:
    for margin in (dc.infer(release()).margin("ward"), dc.infer(release(0.5)).margin("ward")):
        theta = margin.draws(4000, seed=3)["theta"]
        assert theta.shape == (4000, 3)
        assert theta.sum(axis=1) == pytest.approx(np.ones(4000))
        spread = theta.std(axis=0) / np.sqrt(4000)
        assert (np.abs(theta.mean(axis=0) - list(margin.mean.values())) < 4.5 * spread).all()
        assert margin.coords == {"cell": ("A", "B", "C")}
        assert set(margin.synthesize(30, seed=1)) == {"ward"}


def test_a_margin_prints_and_draws_like_a_posterior_of_one_column() -> None:
    margin = dc.infer(release()).margin("ward")
    assert "given 'wards': 3 cells" in repr(margin)
    lines = str(margin).splitlines()
    together = r"Means: from all cells together, with a learnt prior strength \(\S+ records in all, of 2 to 3\)\."
    assert re.fullmatch(f"{together} Intervals: for each share from its own noisy sum\\.", lines[-1])
    assert len(lines) == 5
    assert "Probability of each level of ward" in str(charts.posterior_chart(margin))
    assert len(margin.to_frame()) == 3
    assert margin.probability_that("A > B") == pytest.approx(dc.infer(release()).probability_that("ward=A > ward=B"))
    assert margin.highest_density(0.5)["A"].low > 0


def test_what_a_margin_cannot_answer_is_refused_in_words() -> None:
    posterior = dc.infer(release())
    with pytest.raises(dc.DeclarationError, match="no column 'town'"):
        posterior.margin("town")
    with pytest.raises(dc.DeclarationError, match="each named once"):
        posterior.margin("ward", "ward")
    with pytest.raises(dc.DeclarationError, match="each named once"):
        posterior.margin()
    margin = posterior.margin("ward")
    with pytest.raises(dc.DeclarationError, match=r"the margin of ward\. Ask the posterior of the whole table"):
        margin.differ("A", "ward")
    with pytest.raises(dc.DeclarationError, match="pooled rates"):
        margin.pooled("A", "ward")
    assert posterior.margin(*LEVELS) is posterior
    assert margin.margin("ward") is margin


def test_margins_of_draws_and_of_two_releases_are_read() -> None:
    both = dc.infer(release(), release(seed=9))
    assert sum(both.margin("fall").mean.values()) == pytest.approx(1)
    drawn = dc.infer(
        dc.simulate(
            dc.PosteriorSampling.tempered(release().model, size=600, epsilon=1, delta="1e-6"), COUNTS, dc.SeededBits(2)
        )
    )
    margin = drawn.margin("fall")
    assert sum(margin.mean.values()) == pytest.approx(1)
    own = drawn.probability("fall=yes").interval(0.9)
    assert tuple(margin.interval("yes", 0.9)) == pytest.approx(tuple(own), rel=1e-6)
