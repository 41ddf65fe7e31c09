"""How long something takes: the median of several runs, or the processor time of one."""

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time


def seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times)


def cpu(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start
