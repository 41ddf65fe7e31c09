"""Exact noise for a million counts: ours against opendp's discrete Laplace, in the same run."""

from fractions import Fraction
from statistics import median
from time import perf_counter

import opendp.prelude as opendp

import discreet as dc
from discreet.randomness import discrete_laplace

COUNTS, REPEATS = 10**6, 5


def ours() -> None:
    discrete_laplace(Fraction(1, 2), COUNTS, dc.SystemBits())


def peer() -> None:
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    opendp.m.make_laplace(*space, scale=2.0)([0] * COUNTS)


def timed(work: object, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()  # type: ignore[operator]
        times.append(perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    ours()
    mine, theirs = timed(ours, REPEATS), timed(peer, 1)
    print(f"exact discrete Laplace noise for {COUNTS} counts: discreet {mine:.2f} s, opendp {theirs:.2f} s")
    print(f"ratio {theirs / mine:.1f} (goal: at least 5)")
