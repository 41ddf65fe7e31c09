"""What one timing of a draw tells: a table of single-run advantages, for every mechanism.

Two data sets are drawn from in turns and each draw is timed in CPU seconds, which favours the attacker: no other
program disturbs them. The advantage is the largest difference between the shares of draws that took at most t seconds,
over all t: the best that an attacker with ONE timing and a threshold can do. 0 tells nothing, 1 tells all. Half of the
timings choose the threshold and its direction and the other half judge it, so that chance adds nothing on average.

Extreme: all records alike against records spread evenly. Neighbours: 59 or 60 of 200 records have the first level.
Where records with gaps are left out, those are the ones: all of them, or 59 or 60.
"""

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
import pytest

import discreet as dc

SIZE, DRAWS = 200, 400
CELLS = dc.Categories("x", levels=("a", "b", "c"), outside="c", prior=30)
PAIR = dc.Categories("x", levels=("a", "b"), outside="b", prior=30)
NETWORK = dc.Network.naive_bayes(
    "y",
    ["x", "w"],
    {name: dc.Column(name, ("no", "yes"), outside="no") for name in ("y", "x", "w")},
)
LINE = dc.LinearRegression(
    "y", ["x", "w"], {"x": (0, 1), "w": (0, 1), "y": (0, 1)}, noise="0.5", norm_bound=1, missing="middle"
)
HOLES = dc.LinearRegression("y", ["x", "w"], {"x": (0, 1), "w": (0, 1), "y": (0, 1)}, noise="0.5", norm_bound=1)
BULK = dc.WeightedRegression("y", ["x", "w"], {"x": (0, 1), "w": (0, 1), "y": (0, 1)})
SUMS, NUMBERS = dc.NumberSums("x", (0, 1), missing=0), dc.NumberTable("x", (0, 1), 8, missing=0)
QUANTILES = dc.NumberQuantiles("x", (0, 1), ("0.5",), missing=0)
GROUPED = dc.NumberTable("x", (0, 1), 8, missing=0, by=dc.Column("w", ("a", "b"), outside="a"))
COUNTED = dc.PoissonRate("x", most=6, shape=30, rate=10, outside=6)
Make = Callable[[Any], Any]


def plain(model: Any, **more: Any) -> Make:
    return lambda kind: kind(model, SIZE, 1, **more)


DELTA: dict[str, Any] = {"delta": "1e-4"}
LAPLACE = plain(CELLS, sensitivity=2, noisy_cells=2)
SETTINGS: dict[str, Make] = {
    **dict.fromkeys(("GeometricHistogram", "DiscreteLaplaceCounts", "MaximumPosterior"), plain(CELLS)),
    **dict.fromkeys(("HellingerGlobal", "HellingerReciprocal", "HellingerLocal", "HellingerTable"), plain(PAIR)),
    **dict.fromkeys(("DiscreteGaussianHistogram", "DiscreteGaussianCounts"), plain(CELLS, **DELTA)),
    **dict.fromkeys(("HellingerSmooth", "HellingerSmoothProved", "HellingerCalibrated"), plain(PAIR, **DELTA)),
    **dict.fromkeys(("PermuteAndFlip", "PublishedHellingerGlobal"), plain(PAIR)),
    "PublishedHellingerSmooth": plain(PAIR, **DELTA),
    **dict.fromkeys(("GeometricSums", "MetricSums"), plain(SUMS)),
    **dict.fromkeys(("TreeTable", "PathTable"), plain(NUMBERS)),
    "GroupPaths": plain(GROUPED),
    **dict.fromkeys(("ChosenCounts", "ChosenTable"), plain(QUANTILES)),
    "TotalVariationChoice": plain(PAIR),
    "RateTruncation": lambda kind: kind.tempered(COUNTED, size=SIZE, epsilon=1, lowest=1, highest=5),
    "TreeLevels": plain(CELLS, parents=(1, 2), lengths=(1, 1)),
    **dict.fromkeys(("CubeCounts", "JointHistograms", "FamilyHistograms", "LaplaceUpdates"), plain(NETWORK)),
    **dict.fromkeys(("FourierUpdates", "FourierCounts", "NetworkMaximum"), plain(NETWORK)),
    **dict.fromkeys(("FamilyGaussians", "ContrastGaussians"), plain(NETWORK, **DELTA)),
    **dict.fromkeys(("RoundedLaplace", "FlooredLaplace", "TruncatedLaplace", "ClampedLaplace"), LAPLACE),
    "PosteriorSampling": lambda kind: kind.tempered(CELLS, size=SIZE, epsilon=1, **DELTA),
    "NetworkSampling": lambda kind: kind.tempered(NETWORK, size=SIZE, epsilon=1, **DELTA),
    **dict.fromkeys(("BoxMoments", "ConeMoments", "LaplaceMoments", "BallDraw"), plain(LINE)),
    "GaussianMoments": plain(LINE, **DELTA),
    "BallMoments": plain(BULK),
    "GaussianBallMoments": plain(BULK, **DELTA),
    "LaplaceTable": lambda kind: kind(CELLS, 1),
    "GaussianTable": lambda kind: kind(CELLS, 1, **DELTA),
}
MORE: dict[str, Callable[[], Any]] = {
    "ConeMoments, records with gaps left out": lambda: dc.ConeMoments(HOLES, SIZE, 1),
    "PosteriorSampling, truncated": lambda: dc.PosteriorSampling.truncated(CELLS, size=SIZE, epsilon=1),
    "PosteriorSampling, untempered": lambda: dc.PosteriorSampling.concentrated(
        "x", ("a", "b"), "b", size=SIZE, epsilon=3, **DELTA
    ),
    "PosteriorSampling, Poisson": lambda: dc.PosteriorSampling.tempered(COUNTED, size=SIZE, epsilon=1, **DELTA),
}


def registered() -> dict[str, Any]:
    return {name.rpartition(".")[2]: kind for name, kind in dc.mechanism.Mechanism.registered().items()}


def records(model: Any, first: int, rest: str) -> dict[str, list[Any]]:
    """Return records of which the first so many have the first level of every column, the rest 'alike' or 'spread'."""
    lines = dc.LinearRegression | dc.WeightedRegression
    if isinstance(model, lines | dc.NumberSums | dc.NumberTable | dc.NumberQuantiles):
        spread = [number / SIZE for number in range(SIZE)]
        names = "xwy" if isinstance(model, lines) else "x"
        start = float("nan") if model is HOLES else 0.0
        found = {name: [start] * first + (spread if rest == "spread" else [1.0] * SIZE)[first:] for name in names}
        return found | (
            {} if getattr(model, "by", None) is None else {"w": ["ab"[number % 2] for number in range(SIZE)]}
        )
    columns = getattr(model, "columns", None) or getattr(model, "variables", None) or [model.column]
    found = {}
    for column in columns:
        levels = [level for level in column.levels if level != "other"]
        others = [levels[number % len(levels)] if rest == "spread" else levels[1] for number in range(SIZE)]
        found[column.name] = [levels[0]] * first + others[first:]
    return found


def single_run_advantage(mechanism: Any, one: dict[str, list[Any]], two: dict[str, list[Any]]) -> float:
    """Return how much better than by chance one timing tells two tables apart."""
    tables = [mechanism.model.statistics(data).open_for_publishing() for data in (one, two)]
    times = np.empty((2, DRAWS))
    mechanism.sample(tables[0], dc.SystemBits())  # what is worked out once
    for place in range(DRAWS):
        for which in (0, 1) if place % 2 else (1, 0):
            start = thread_time()
            mechanism.sample(tables[which], dc.SystemBits())
            times[which, place] = thread_time() - start
    choose, judge = times[:, ::2], times[:, 1::2]
    limits = np.sort(choose.ravel())
    gaps = (choose[0][:, None] <= limits).mean(axis=0) - (choose[1][:, None] <= limits).mean(axis=0)
    best = int(np.abs(gaps).argmax())
    judged = (judge <= limits[best]).mean(axis=1)
    return float(np.sign(gaps[best]) * (judged[0] - judged[1]))


def test_every_mechanism_is_timed() -> None:
    assert set(registered()) == set(SETTINGS), "a new mechanism needs a setting in this table"


@pytest.mark.secure_bits(false_alarms=1e-6)  # an advantage of .5 is ten standard errors
def test_the_table_of_single_run_advantages() -> None:
    kinds = registered()
    made = {name: make(kinds[name]) for name, make in SETTINGS.items()} | {name: make() for name, make in MORE.items()}
    print(f"\n\nSingle-run timing advantage, {SIZE} records, {DRAWS} draws of each (standard error about .05)")
    print("| mechanism | extreme | neighbours |")
    print("|---|---|---|")
    found: dict[str, float] = {}
    for name, mechanism in made.items():
        extreme = single_run_advantage(
            mechanism, records(mechanism.model, SIZE, "alike"), records(mechanism.model, 0, "spread")
        )
        near = single_run_advantage(
            mechanism, records(mechanism.model, 59, "alike"), records(mechanism.model, 60, "alike")
        )
        found[name] = near
        print(f"| {name} | {extreme:.2f} | {near:.2f} |", flush=True)
    for name in ("PosteriorSampling", "NetworkSampling", "PosteriorSampling, untempered"):
        assert found[name] < 0.5, "one timing told 59 from 60 records with an advantage of .98 once"


if __name__ == "__main__":
    pytest.main(["-q", "-s", __file__])
