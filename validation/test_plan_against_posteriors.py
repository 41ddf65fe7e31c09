"""Planned widths against real readings: what `accuracy` says, and the mean width of releases that `infer` reads.

Plans of sums, regressions, programs, networks and quantiles read by fewer draws. For one setting of every model the
same 24 simulated releases are read in full. Mean widths must agree within the stated shares: 500 draws leave 4 % in a
network's width of one study, and more where a learnt prior lets rows reach 0 and 1, so about 2.5 % in a mean that a few
wide studies decide, and up to four times that in 30 rows. Over all rows it averages out: to a third of the share.

Plans of networks that are read by chains, or through a shared radius, are read row by row, which is an approximation
(their `method` says so). Its error is what the last test prints: of the mean over rows, and of the worst row.
"""

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.networks import JointHistograms, Network
from discreet.regression import ConeMoments

STUDIES = 24
POISSON = dc.programs.Poisson(dc.Column("n", tuple(range(7)), outside=6), rate="Gamma(4, 3)")
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
LEVELS = dict.fromkeys("abcd", ("no", "yes", "perhaps"))
SETTINGS: dict[str, tuple[Any, float]] = {
    "table": (dc.GeometricHistogram(dc.Categories(WARD), 500, "0.3"), 1e-9),
    "sums": (dc.GeometricSums(dc.NumberSums("age", (0, 100), ("mean",), WARD, missing=40), 500, 1), 0.05),
    "quantiles": (dc.TreeTable(dc.NumberTable("age", (0, 100), 32, quantiles=("0.5",), missing=40), 500, "0.2"), 0.05),
    "line": (
        ConeMoments(dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 10)}, missing="middle"), 500, 2),
        0.03,
    ),
    "naive Bayes": (
        dc.FamilyHistograms(Network.naive_bayes("a", ["b", "c", "d"], levels=LEVELS, outside="no"), 500, 2),
        0.1,
    ),
    "program": (
        dc.GeometricHistogram(POISSON.table, 300, 1),
        0.03,
    ),
}  # fmt: skip


BY_ROWS_STUDIES = 12
GRAPH = Network(
    [WARD, dc.Column("b", (0, 1, 2), outside=0), dc.Column("c", (0, 1), outside=0)], [[], [], ["ward", "b"]]
)
PARENTS = Network.from_edges(
    "a -> y", "b -> y", "c -> y", levels={"a": (0, 1), "b": (0, 1, 2), "c": tuple(range(10)), "y": (0, 1)}, outside=0
)
CLASSES = Network.naive_bayes("c", ["a", "b"], levels={"a": (0, 1, 2), "b": (0, 1, 2), "c": (0, 1)}, outside=0)
BY_ROWS: dict[str, tuple[Any, float, float]] = {  # how far the mean over rows, and a row, may be off
    "network, epsilon 1/2": (dc.FamilyHistograms(GRAPH, 600, "0.5"), 0.06, 0.15),
    "network, epsilon 2": (dc.FamilyHistograms(GRAPH, 600, 2), 0.06, 0.15),
    "three parents, one of 10 levels, epsilon 1": (dc.FamilyHistograms(PARENTS, 3_000, 1), 0.06, 0.3),
    "shared radius, epsilon 1": (JointHistograms(CLASSES, 500, 1), 0.06, 0.15),
    "shared radius, epsilon 4": (JointHistograms(CLASSES, 500, 4), 0.06, 0.15),
}  # fmt: skip


def widths_read_in_full(mechanism: Any, studies: int, only: Collection[tuple[str, str]] = ()) -> np.ndarray:
    """Return the mean widths of all rows, or of some by name, over the releases that a plan simulates."""
    widths = []
    for number in range(studies):
        made = mechanism.model.simulate(mechanism.size, np.random.default_rng([1, number]))
        release = dc.simulate(mechanism, made.statistics, dc.SeededBits(1_000_003 + number), "planned")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = dc.infer(release).rows(0.9)
        widths.append([row.high - row.low for row in rows if not only or (row.quantity, row.given) in only])
    return np.asarray(np.mean(widths, axis=0))


@pytest.mark.parametrize("name", SETTINGS)
def test_planned_widths_are_those_of_releases_read_in_full(name: str) -> None:
    mechanism, share = SETTINGS[name]
    planned, read = dc.accuracy(mechanism, studies=STUDIES), widths_read_in_full(mechanism, STUDIES)
    last = planned.rows[-1]
    print(f"{name}: planned {last.width:.4g}, read {read[-1]:.4g}, mc_error {last.mc_error:.2g}")
    for row, width in zip(planned.rows, read, strict=True):
        assert row.width == pytest.approx(width, rel=share)
    assert sum(row.width for row in planned.rows) == pytest.approx(read.sum(), rel=share / 3)


@pytest.mark.parametrize("name", BY_ROWS)
def test_plans_that_read_row_by_row_are_near_releases_read_in_full(name: str) -> None:
    mechanism, share, worst = BY_ROWS[name]
    planned = dc.accuracy(mechanism, studies=BY_ROWS_STUDIES)
    assert "row by row" in planned.method
    read = widths_read_in_full(mechanism, BY_ROWS_STUDIES, {(row.quantity, row.given) for row in planned.rows})
    off = np.array([row.width for row in planned.rows]) / read - 1
    words = f"mean width planned {planned.width:.4g}, read {read.mean():.4g}"
    print(f"{name}: {words}, rows off by {off.min():+.0%} to {off.max():+.0%}")
    assert planned.width == pytest.approx(read.mean(), rel=share)
    assert np.abs(off).max() < worst
