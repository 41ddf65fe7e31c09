"""Outputs that hardly ever happen are read, or the question was refused before anything was charged."""

import numpy as np
import pytest
from scipy.special import logsumexp

import discreet as dc
from discreet.inference import MOST_NUMBERS, SPARE, Problem, solver_for, why_unreadable
from discreet.networks._cube import FARTHEST, CubeKernel, CubeSolver
from discreet_papers import as_published

COIN = dc.Categories("x", levels=("a", "b"), outside="a")
ITEMS = dc.Network.from_edges("a", "b", levels={"a": (0, 1), "b": (0, 1)}, outside=0)
NAIVE = dc.Network.naive_bayes("y", ["a", "b"], dict.fromkeys("yab", (0, 1)), outside=0)


@pytest.mark.parametrize("size", [1_000, 2_400_000])
def test_cube_noise_of_nearly_60_mean_radii_is_read_wherever_it_may_be_charged(size: int) -> None:
    mechanism = dc.CubeCounts(ITEMS, size, 1)
    assert why_unreadable(mechanism) is None
    rate = float(mechanism.feature_epsilon / 2)
    farthest = size + int(FARTHEST * (mechanism.features + 1) / rate) - 1
    found = CubeKernel(np.array([farthest, 0]), rate, np.ones((2, 2)), size)
    assert np.isfinite(found.log_weight(size))


def test_wider_cube_noise_than_is_read_exactly_is_left_to_others_before_a_charge() -> None:
    assert CubeSolver().rejection(Problem.before(dc.CubeCounts(ITEMS, 10**9, 1))) is None
    refusal = CubeSolver().rejection(Problem.before(dc.CubeCounts(ITEMS, 10**9, "1e-6")))
    assert "numbers" in str(refusal)


@pytest.mark.parametrize("off", [0, 40, 84])
def test_totals_that_noise_hardly_ever_gives_are_read_as_a_list_of_all_tables_reads_them(off: int) -> None:
    """The slow twin. Noise of 84 at a scale of 2, in one direction, has a probability of about 1e-17."""
    mechanism = dc.tables.DiscreteLaplaceCounts(COIN, 2_000, 1)
    output = np.array([900 + off // 2, 1_100 + off - off // 2])
    tables = np.column_stack([np.arange(2_001), 2_000 - np.arange(2_001)])
    wanted = logsumexp(COIN.log_evidence(tables) + mechanism.log_prob(output, tables))
    found = dc.infer(dc.Release(mechanism, tuple(output.tolist()), "extreme", simulated=True))
    assert found.log_evidence == pytest.approx(float(wanted), rel=1e-9)


def test_windows_that_may_have_to_grow_are_counted_before_a_charge() -> None:
    """Two cells of noise with a total of its own may need windows 32 times as wide; a kept total never does."""
    size = 10**9
    own, kept = (
        Problem.before(kind(COIN, size, "1e-5")) for kind in (dc.tables.DiscreteLaplaceCounts, dc.GeometricHistogram)
    )
    solvers = [solver_for(kept), solver_for(own)]
    assert solvers[0] is not None
    assert solvers[0].cost(kept).numbers * SPARE <= SPARE * MOST_NUMBERS
    assert solvers[1] is None


@pytest.mark.parametrize("kind", [dc.FamilyHistograms, as_published.LaplaceUpdates])
def test_a_cell_that_is_40_scales_off_is_read(kind: type[dc.FamilyHistograms]) -> None:
    mechanism = kind(NAIVE, 100, 1)
    counts = NAIVE.simulate(100, np.random.default_rng(3)).statistics
    output = np.array(mechanism.measured(counts))
    off = int(40 * mechanism.noise.decay_length[0])
    output[:2] += (off, -off)
    found = dc.infer(dc.Release(mechanism, tuple(output.tolist()), "extreme", simulated=True))
    assert found.log_evidence is not None
    assert np.isfinite(found.log_evidence)
