"""Planned widths against real readings: what `accuracy` says, and the mean width of releases that `infer` reads.

Plans of regressions, programs, networks and quantiles read by fewer draws. For one setting of every model the same 24
simulated releases are read in full. Mean widths must agree within the stated shares: 500 draws leave 4 % in a network's
width of one study, so about 1.5 % in a mean that a few wide studies decide, and up to four times that in 20 rows.
"""

import warnings
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mechanisms import ConeMoments
from discreet.models import Network

STUDIES = 24
POISSON = dc.models.programs.Poisson(dc.Column("n", tuple(range(7)), outside=6), rate="Gamma(4, 3)")
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
LEVELS = dict.fromkeys("abcd", ("no", "yes", "perhaps"))
SETTINGS: dict[str, tuple[Any, float]] = {
    "table": (dc.GeometricHistogram(dc.Categories(WARD), 500, "0.3"), 1e-9),
    "sums": (dc.GeometricSums(dc.NumberSums("age", (0, 100), ("mean",), WARD, missing=40), 500, 1), 1e-9),
    "quantiles": (dc.TreeTable(dc.NumberTable("age", (0, 100), 32, quantiles=("0.5",), missing=40), 500, "0.2"), 0.05),
    "line": (
        ConeMoments(dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 10)}, missing="middle"), 500, 2),
        0.03,
    ),
    "naive Bayes": (
        dc.FamilyHistograms(Network.naive_bayes("a", ["b", "c", "d"], levels=LEVELS, outside="no"), 500, 2),
        0.06,
    ),
    "program": (
        dc.GeometricHistogram(POISSON.table, 300, 1),
        0.03,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_planned_widths_are_those_of_releases_read_in_full(name: str) -> None:
    mechanism, share = SETTINGS[name]
    planned = dc.accuracy(mechanism, studies=STUDIES)
    widths = []
    for number in range(STUDIES):
        made = mechanism.model.simulate(mechanism.size, np.random.default_rng([1, number]))
        release = dc.simulate(mechanism, made.statistics, dc.SeededBits(1_000_003 + number), "planned")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            widths.append([row.high - row.low for row in dc.infer(release).rows(0.9)])
    read = np.mean(widths, axis=0)
    last = planned.rows[-1]
    print(f"{name}: planned {last.width:.4g}, read {read[-1]:.4g}, mc_error {last.mc_error:.2g}")
    for row, width in zip(planned.rows, read, strict=True):
        assert row.width == pytest.approx(width, rel=share)
