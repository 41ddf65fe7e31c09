"""Draws of Hellinger mechanisms: against a list of all candidates in NumPy, their memory, growth, moments and batches.

`python benchmarks/hellinger_draws.py docs/images/hellinger-draws.svg` also draws what is measured.
"""

import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from math import log10
from time import process_time

import numpy as np
from figures import record
from numpy.typing import NDArray
from scipy.special import gammaln

import discreet as dc
from discreet.choices import HellingerReciprocal
from discreet.choices._hellinger_sensitivity import smooth_sensitivity
from discreet.report.charts._drawing import render
from discreet_papers.as_published import PublishedHellingerSmooth as HellingerSmooth
from discreet_papers.hellinger_simulation import simulate_batch, simulate_draws
from discreet_papers.pictures import axis, lines

Counts = NDArray[np.int64]
GENERATOR = np.random.default_rng(1)
BARS = {(500, 3): 4, (300, 4): 400, (600, 4): 3_000}
WIDTHS = (  # records, cells, prior, epsilon
    (600, 4, 1.0, 1_000),
    (59, 3, 6e8, 1_000),
    (10**6, 20, 1.0, 1),
    (10**6, 3, 1.0, 1),
    (600, 4, 1e6, 1),
    (600, 4, 1e6, 100),
)
SIZES = (300, 600, 2_400, 9_600, 38_400, 153_600, 614_400)


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs: others may use the machine at the same time, which only adds."""
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def mechanism(size: int, cells: int) -> HellingerSmooth:
    return HellingerSmooth(dc.Categories("x", levels=tuple(range(cells)), outside=0), size, 1, "1e-8")


def balanced(size: int, cells: int) -> Counts:
    table = np.full(cells, size // cells)
    table[0] += size - table.sum()
    return table


def skewed(size: int, cells: int) -> Counts:
    table = (size * 0.5 ** np.arange(1, cells + 1)).astype(np.int64)
    table[0] += size - table.sum()
    return table


def different(size: int, cells: int) -> Counts:
    """Return the table that needs most memory: large counts, no two of them equal."""
    table = size // cells + np.arange(cells) - cells // 2
    table[0] += size - table.sum()
    return table


def slices(size: int, cells: int) -> list[Counts]:
    """Return all tables of counts, in parts that begin with the same number."""
    if cells == 2:
        return [np.column_stack([np.arange(size + 1), size - np.arange(size + 1)])]
    return [
        np.column_stack([np.full(len(part), first), part])
        for first in range(size + 1)
        for part in [np.concatenate(slices(size - first, cells - 1))]
    ]


def naive(size: int, cells: int) -> Counts:
    """Draw as one would write it down first: weights of all candidates from differences of log-Gammas."""
    table, gamma = balanced(size, cells), mechanism(size, cells).decay.speed
    scale = 0.5 / smooth_sensitivity(np.ones(cells), table, gamma)
    a, edges, parts = 1.0 + table, [], []
    for first in range(size + 1):  # part by part: all at once would take 4 GB at (600, 4)
        rest = np.concatenate(slices(size - first, cells - 1))
        b = 1.0 + np.column_stack([np.full(len(rest), first), rest])
        logs = (gammaln((a + b) / 2) - (gammaln(a) + gammaln(b)) / 2).sum(axis=1)
        edges.append(np.exp(-scale * np.sqrt(np.maximum(0.0, -np.expm1(logs)))))
        parts.append(rest if cells < 4 else rest.astype(np.int16))
    cumulative = np.cumsum(np.concatenate(edges))
    place = int(np.searchsorted(cumulative, GENERATOR.random() * cumulative[-1], side="right"))
    for first, part in enumerate(parts):
        if place < len(part):
            return np.append(first, part[place])
        place -= len(part)
    raise AssertionError


def simulated(size: int, cells: int) -> Counts:
    return np.asarray(simulate_draws(mechanism(size, cells), balanced(size, cells), GENERATOR))


def published(size: int, cells: int) -> Counts:
    return mechanism(size, cells).sample(balanced(size, cells), dc.SystemBits())


def peak(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def exponent(times: dict[int, float]) -> float:
    """Return the slope of ln time against ln n."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def naive_batch(rows: Counts) -> None:
    for row in rows:
        n = int(row.sum())
        scale = float(HellingerReciprocal(dc.Categories("x", levels=(0, 1), outside=0), n, 1).scales(row[None])[0])
        a, b = 1.0 + row, 1.0 + slices(n, 2)[0]
        logs = (gammaln((a + b) / 2) - (gammaln(a) + gammaln(b)) / 2).sum(axis=1)
        weights = np.exp(-scale * np.sqrt(np.maximum(0.0, -np.expm1(logs))))
        GENERATOR.choice(len(b), p=weights / weights.sum())


def batches() -> None:
    sizes = GENERATOR.integers(5, 51, 10_000)
    heads = GENERATOR.binomial(sizes, GENERATOR.random(10_000))
    rows = np.column_stack([heads, sizes - heads])
    coin = dc.Categories("x", levels=(0, 1), outside=0)
    fast = seconds(lambda: simulate_batch(lambda n: HellingerReciprocal(coin, n, 1), rows, GENERATOR)) / len(rows)
    slow = seconds(lambda: naive_batch(rows[:300])) / 300
    print(f"batch of 10,000 tables of 5 to 50 records in 2 cells: {1 / fast:,.0f} a second", end=", ")
    print(f"{slow / fast:.0f} times as fast as one by one")


def picture(path: str, ours: dict[str, dict[int, float]]) -> None:
    rows = [{"x": n, "y": 1e3 * t, "series": name} for name, times in ours.items() for n, t in times.items()]
    title = "One draw among all posteriors of n records in 4 cells"
    x = axis("records n", logarithmic=True, ticks=[100, 1_000, 10_000, 100_000])
    y = axis("milliseconds, with sensitivity and set-up", logarithmic=True, ticks=[1, 10, 100, 1_000, 10_000])
    render(lines(title, rows, x, y, least=1), path)


if __name__ == "__main__":
    listed: dict[int, float] = {n: seconds(partial(naive, n, 4)) for n in (75, 150)}
    for (size, cells), bar in BARS.items():
        slow = seconds(partial(naive, size, cells))
        fast = seconds(partial(simulated, size, cells))
        exact = seconds(partial(published, size, cells))
        print(
            f"({size}, {cells}), {mechanism(size, cells).candidates:,} candidates: list {1e3 * slow:,.0f} ms", end="; "
        )
        print(f"simulated {1e3 * fast:.1f} ms, ratio {slow / fast:,.0f} (goal: at least {bar:,})", end="; ")
        goal = " (goal: at least 200)" if (size, cells) == (600, 4) else ""
        print(f"published {1e3 * exact:.1f} ms, ratio {slow / exact:,.0f}{goal}")
        words = f"one draw among {mechanism(size, cells).candidates:,} candidates"
        record(words, 1e3 * exact, "CPU ms", f"list of all {1e3 * slow:,.0f} ms")
        if cells == 4:
            listed[size] = slow
    found = {
        name: {n: seconds(partial(work, n, 4)) for n in SIZES}
        for name, work in (("mixture, simulated", simulated), ("mixture, published", published))
    }
    for name, times in found.items():
        shown = ", ".join(f"{1e3 * time:.1f}" for time in times.values())
        print(f"{name}, 4 cells, n = {SIZES[0]:,} to {SIZES[-1]:,}: {shown} ms", end="; ")
        print(f"exponent {exponent(times):.2f} (goal: at most 1)")
    print(f"list, 4 cells: exponent {exponent(listed):.2f}")
    huge = mechanism(10**6, 20)
    print(f"(1,000,000, 20): 10^{log10(huge.candidates):.1f} candidates")
    tables = {"balanced": balanced, "halved from cell to cell": skewed, "all counts different": different}
    for name, table in ((name, make(10**6, 20)) for name, make in tables.items()):
        for kind, work in (
            ("simulated", lambda t=table: simulate_draws(huge, t, GENERATOR)),
            ("published", lambda t=table: huge.sample(t, dc.SystemBits())),
        ):
            print(f"  {name}, {kind}: {1e3 * seconds(work):.0f} ms, peak {peak(work):.1f} MB (goal: below 100)")
    for size, cells in ((600, 4), (10_000, 8), (10**6, 20)):
        subject, table = mechanism(size, cells), balanced(size, cells)
        known = subject.moments(table)
        time = seconds(partial(subject.moments, table))
        width = known.distance.upper - known.distance.lower
        share = known.uniform_share.middle
        print(f"E[H] at ({size:,}, {cells}): {known.distance.middle:.9f}, known to {width:.0e}", end=", ")
        print(f"uniform share {share:.3g}; {1e3 * time:.0f} ms")
    for size, cells, prior, epsilon in WIDTHS:
        model = dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)
        bounds = HellingerReciprocal(model, size, epsilon).moments(balanced(size, cells)).distance
        print(f"E[H] at ({size:,}, {cells}), prior {prior:g}, epsilon {epsilon}: {bounds.middle:.3g}", end=", ")
        print(f"known to {bounds.upper - bounds.lower:.0e}")
    batches()
    if sys.argv[1:]:
        picture(sys.argv[1], {"list of all candidates": listed, **found})
