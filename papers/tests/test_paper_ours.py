"""Our own comparisons, in their quick form."""

import pytest

from discreet_papers import reproduction_named
from discreet_papers.recorded_peers import recorded


def test_the_geometric_histogram_wins_and_reaches_the_floor_of_a_proportion() -> None:
    rows = reproduction_named("ours-winners").run(True).rows
    assert {row["winner"] for row in rows} == {"GeometricHistogram"}
    proportion, three = rows
    assert proportion["best_ratio"] == pytest.approx(1, abs=1e-4)
    assert 1 <= three["best_ratio"] < 1.2
    for row in rows:
        assert row["hellinger_ratio"] > 1.2
        assert row["hellinger_log_score"] < row["log_score"]


def test_plug_in_intervals_miss_what_noise_aware_ones_cover() -> None:
    rows = reproduction_named("ours-coverage").run(True).rows
    strong, weak = rows
    assert strong["plug_in"] == pytest.approx(0.3471, abs=1e-4)
    assert weak["plug_in"] == pytest.approx(0.8274, abs=1e-4)
    assert all(0.8 < row["noise_aware"] <= 1 for row in rows)  # 60 studies: 2.6 standard errors below 0.9


def test_stated_and_true_epsilon_differ() -> None:
    for row in reproduction_named("ours-true-epsilon").run(True).rows:
        assert row["global sensitivity"] < 0.64
        assert row["exponent epsilon/S, as in the tables"] > 1.19
        assert row["calibrated (ours)"] == pytest.approx(1, abs=1e-6)
        assert row["calibrated (ours)"] <= 1


def test_ours_stands_beside_the_recorded_peers() -> None:
    assert set(recorded()["versions"]) == {"diffprivlib", "mbi"}
    rows = reproduction_named("ours-naive-bayes").run(True).rows
    ours, *peers = (row["log_loss"] for row in rows)
    assert len(peers) == 2
    assert ours < min(peers)
    (row,) = reproduction_named("ours-regression").run(True).rows
    assert row["least_squares"] < row["discreet"] < row["diffprivlib"]
