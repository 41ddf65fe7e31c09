"""Networks read from 10^4 to 10^8 records, and documents that are too large: CPU seconds of one run, beside the goals.

Naive Bayes has 16 features of three levels at epsilon 1, and classifies 10,000 records; cube noise has 16 yes/no
features; the tree has eight yes/no variables. The slow twin of naive Bayes, with 10 features and 10^4 records,
convolves the weights of every count from 0 to n. A document that is refused is asked a second time: the first time
loads what is loaded once.
"""

import warnings
from collections.abc import Callable, Sequence
from time import process_time
from typing import TypeVar

import numpy as np
from figures import record

import discreet as dc
from discreet.inference import Problem
from discreet.mechanism import Sized
from discreet.networks import Network, NetworkCounts
from discreet.networks._elimination import chance_of
from discreet.networks._naive_bayes import whole, windowed
from discreet.planning import accuracy
from discreet.release import Release
from discreet.verification import audit, verify
from discreet_papers import as_published

Result = TypeVar("Result")
FEATURES, ROWS = [f"x{number}" for number in range(16)], 10_000
TREE = Network.from_edges(
    "a -> b -> c -> d", "b -> e", "a -> f -> g", "f -> h", levels=dict.fromkeys("abcdefgh", (0, 1)), outside=0
)


def naive(levels: int, features: Sequence[str] = FEATURES) -> Network:
    return Network.naive_bayes("y", features, {"y": (0, 1)} | dict.fromkeys(features, tuple(range(levels))), outside=0)


def published(mechanism: NetworkCounts, levels: int, seed: int) -> Release[Network]:
    """Return a release of a naive Bayes network whose counts are drawn table by table, at any number of records."""
    generator = np.random.default_rng(seed)
    classes = generator.multinomial(mechanism.size, [0.4, 0.6])
    features = mechanism.model.variables[1:]
    tables = [generator.multinomial(own, generator.dirichlet(np.ones(levels))) for _ in features for own in classes]
    return dc.simulate(mechanism, np.concatenate(tables), dc.SeededBits(seed))


def timed(work: Callable[..., Result], *arguments: object) -> tuple[Result, float]:
    """Return what some work gives, and the CPU seconds that it takes."""
    start = process_time()
    found = work(*arguments)
    return found, process_time() - start


def classify(name: str, make: Callable[[int], NetworkCounts], levels: int, goal: str) -> None:
    rows = {name: np.random.default_rng(2).integers(0, levels, ROWS).tolist() for name in FEATURES}
    for size in (10**4, 10**5, 10**6, 10**7, 10**8):
        posterior, read = timed(dc.infer, published(make(size), levels, 1))
        _, predicted = timed(posterior.predict_proba, rows)
        print(f"{name}, {size:.0e} records: infer {read:.2f} s, 10,000 predictions {predicted:.2f} s{goal}")
        both, late = read + predicted, bool(goal) and size == 10**6 and read + predicted > 3
        record(f"{name}, {size:,} records: read, and classify 10,000", both, "CPU s", "", goal.strip(" ()"), late)


def twin() -> None:
    network = naive(3, FEATURES[:10])
    problem = Problem.of([published(dc.FamilyHistograms(network, 10**4, 1), 3, 1)])
    timed(lambda: windowed(problem).means())  # warm-up
    _, quick = timed(lambda: windowed(problem).means())
    _, slow = timed(lambda: whole(problem).means())
    print(
        f"naive Bayes, 10 features, 1e+04 records: infer and means {quick:.3f} s, slow twin {slow:.2f} s, "
        f"{slow / quick:.0f} times as long (goal: at least 50)"
    )
    record("naive Bayes, 10 features, 10,000 records: infer and means", quick, "CPU s", f"written plainly {slow:.3g} s")


def tree() -> None:
    for size in (10**4, 10**5, 10**6):
        counts = TREE.simulate(size, np.random.default_rng(3)).statistics
        posterior, read = timed(dc.infer, dc.simulate(dc.FamilyHistograms(TREE, size, 1), counts, dc.SeededBits(3)))
        _, means = timed(posterior.mean_tables)
        _, drawn = timed(posterior.draws, 4_000, 1)
        print(
            f"tree of 8, {size:.0e} records: infer {read:.2f} s, all means {means:.2f} s, 4,000 draws {drawn:.2f} s "
            "(goal: at most 5 s at 1e+05)"
        )
        record(f"tree of 8 variables, {size:,} records: read, means, 4,000 draws", read + means + drawn, "CPU s")


def refusals() -> None:
    names = tuple(f"c{number}" for number in range(6))
    cells = dc.Categories(names, levels=dict.fromkeys(names, tuple(range(10))), outside=0)
    wide = dc.Categories("x", levels=tuple(range(300)), outside=0)
    graph = Network.from_edges("a -> c", "b -> c", levels=dict.fromkeys("abc", (0, 1, 2)), outside=0)
    asked: list[tuple[str, Sized, Callable[[Sized], object]]] = [
        ("audit of 300 cells, epsilon .001", dc.GeometricHistogram(wide, 10**6, "0.001"), audit),
        ("audit of 10^6 cells", dc.GeometricHistogram(cells, 10**6, 1), audit),
        ("verify of 10^6 cells", dc.GeometricHistogram(cells, 10**6, 1), verify),
        ("plan of FamilyGaussians, 10^12 records", dc.networks.FamilyGaussians(graph, 10**12, 1, "1e-6"), accuracy),
        ("plan of LaplaceUpdates, 10^12 records", as_published.LaplaceUpdates(graph, 10**12, 1), accuracy),
    ]
    for name, mechanism, verb in asked:
        refused(verb, mechanism)
        _, taken = timed(refused, verb, mechanism)
        print(f"{name}: refused in {1e3 * taken:.1f} ms (goal: at most 50)")
        record(f"{name}: refused", 1e3 * taken, "ms", "", "at most 50", taken > 0.05)
    many = [f"v{number}" for number in range(400)]
    edges = [f"{a} -> {b}" for step in (1, 7, 31) for a, b in zip(many, many[step:], strict=False)]
    large = Network.from_edges(*edges, levels=dict.fromkeys(many, (0, 1)), outside=0)
    tables = {family[-1]: np.full((2 ** (len(family) - 1), 2), 0.5) for family in large.families}
    last = {"v399": np.array([False, True])}
    _, taken = timed(refused, lambda graph: chance_of(last, tables, graph), large)
    print(f"a question to a graph of 400 variables: refused in {taken:.2f} s (goal: at most 1)")


def refused(verb: Callable[..., object], subject: object) -> None:
    try:
        verb(subject)
    except dc.DeclarationError:
        return
    raise SystemExit(f"{subject!r} was not refused")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    goal = " (goal: at most 3 s together at 1e+06, and flat)"
    classify("naive Bayes of 3 levels, FamilyHistograms", lambda size: dc.FamilyHistograms(naive(3), size, 1), 3, goal)
    classify("naive Bayes of yes/no, CubeCounts", lambda size: dc.CubeCounts(naive(2), size, 1), 2, goal)
    twin()
    tree()
    refusals()
