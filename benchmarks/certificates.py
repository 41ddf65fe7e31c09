"""Exact certificates of two cells: against a dense table of distances in NumPy, their memory, and calibration."""

import tracemalloc
from functools import partial

import numpy as np
from clock import seconds
from figures import record
from numpy.typing import NDArray
from scipy.special import gammaln

import discreet as dc
from discreet.choices import HellingerCalibrated, HellingerReciprocal
from discreet.choices._adjacent_pairs import AdjacentPairs, compare_neighbours
from discreet_papers.as_published import PublishedHellingerSmooth as HellingerSmooth

SIZE, EPSILONS, REPEATS = 2_000, (0.1, 0.2, 0.3, 0.4), 5
COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")


def dense(scales: NDArray[np.float64], size: int) -> tuple[float, list[float]]:
    """Compare all neighbours by tables of all distances, as one would write it down first."""
    logs = np.zeros((size + 1, size + 1))
    for counts in (np.arange(size + 1), size - np.arange(size + 1)):
        a, b = 1.0 + counts[:, None], 1.0 + counts
        logs += gammaln((a + b) / 2) - (gammaln(a) + gammaln(b)) / 2
    laws = -scales[:, None] * np.sqrt(np.maximum(0.0, -np.expm1(logs)))
    laws -= np.log(np.exp(laws).sum(axis=1, keepdims=True))
    epsilon = float(np.abs(np.diff(laws, axis=0)).max())
    p = np.exp(laws)
    pairs = ((p[:-1], p[1:]), (p[1:], p[:-1]))
    return epsilon, [max(float(np.maximum(0, a - np.exp(e) * b).sum(axis=1).max()) for a, b in pairs) for e in EPSILONS]


def certificate(mechanism: HellingerSmooth, scales: NDArray[np.float64]) -> AdjacentPairs:
    alpha = mechanism.model.concentration
    return compare_neighbours(alpha, mechanism.size, lambda tables: scales[tables[:, 0]], 2e-13, EPSILONS)


def peak(mechanism: HellingerSmooth, scales: NDArray[np.float64]) -> float:
    tracemalloc.start()
    certificate(mechanism, scales)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


if __name__ == "__main__":
    mechanism = HellingerSmooth(COIN, SIZE, 1, "1e-8")
    scales = mechanism.scales(mechanism.tables.all)
    fast = seconds(lambda: certificate(mechanism, scales), REPEATS)
    slow = seconds(lambda: dense(scales, SIZE), 3)
    found, (epsilon, deltas) = certificate(mechanism, scales), dense(scales, SIZE)
    print(f"n = {SIZE}: all neighbours {1e3 * fast:.0f} ms; dense NumPy {1e3 * slow:.0f} ms")
    record(
        f"compare all neighbours, n = {SIZE:,}",
        1e3 * fast,
        "ms",
        f"dense NumPy {1e3 * slow:.0f} ms",
        "a third",
        3 * fast > slow,
    )
    print(f"ratio {slow / fast:.1f} (goal: at least 3)")
    print(f"epsilon {found.losses.max():.12g}, dense {epsilon:.12g}; delta(0.1) {found.delta(0):.6g}, {deltas[0]:.6g}")
    for size in (1_000, 2_000, 4_000, 8_000):
        larger = HellingerSmooth(COIN, size, 1, "1e-8")
        larger_scales = larger.scales(larger.tables.all)
        time = seconds(partial(certificate, larger, larger_scales), 1)
        print(f"n = {size}: {1e3 * time:.0f} ms, peak memory {peak(larger, larger_scales):.1f} MB")
        record(f"compare all neighbours, n = {size:,}, once", 1e3 * time, "ms")
    for delta in ("0", "1e-6"):
        first = HellingerCalibrated(COIN, SIZE, 1, delta)
        search = seconds(partial(HellingerCalibrated, COIN, SIZE, 1, delta), 3)
        check = seconds(partial(first.compared, first.scale), 3)
        print(f"calibration to delta = {delta}: {search / check:.1f} certificates (goal: at most 8)")
    drawer = HellingerReciprocal(COIN, SIZE, 1)
    table = np.array([SIZE // 2, SIZE // 2])
    drawn = seconds(lambda: drawer.sample(table, dc.SeededBits(1)), 3)
    print(f"one exact draw from {SIZE + 1} candidates: {1e3 * drawn:.0f} ms")
