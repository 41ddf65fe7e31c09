"""Programs: how fast a release is a likelihood, and what weighted draws are worth beside chains.

python benchmarks/programs.py              the likelihood of 100 cells beside latent counts made anew at each p
python benchmarks/programs.py draws        falls ~ age + ward, 48 cells: weighted draws, and nutpie if it is installed
python benchmarks/programs.py adults       income ~ age + sex + schooling, UCI Adult, 96 cells, epsilon .1: CPU seconds
python benchmarks/programs.py hospitals    two hospitals from releases, beside the same model on exact tables
"""

import sys
import time
import warnings
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from figures import record

import discreet as dc
from discreet.mathematics import Grouped
from discreet.programs import Cells, ModelledTable
from discreet.programs import _hamiltonian as chains
from discreet.programs._inference import solve_target
from discreet.programs._likelihood import CellFunction
from discreet.programs._listed_likelihood import ListedLikelihood
from discreet.programs._target import Populations, ProgramTarget

ADULTS = [
    448, 1, 648, 5, 1138, 5, 257, 6, 713, 8, 959, 7, 1120, 20, 226, 9,
    231, 3, 800, 39, 854, 76, 634, 163, 592, 23, 1761, 246, 1291, 307, 889, 570,
    176, 4, 687, 83, 691, 127, 415, 226, 443, 54, 1405, 434, 993, 603, 638, 1172,
    195, 6, 542, 58, 423, 70, 247, 159, 379, 66, 814, 487, 554, 501, 351, 1001,
    154, 8, 326, 30, 191, 34, 122, 48, 383, 57, 507, 231, 252, 212, 211, 406,
    94, 1, 161, 11, 110, 8, 48, 8, 201, 13, 216, 44, 110, 50, 120, 141,
]  # fmt: skip
"""The 32,561 people of UCI Adult by age (6 bands), sex, schooling (4 bands) and income (2)."""


def seconds(*works: Callable[[], object], times: int) -> list[float]:
    """Return the least CPU time of each work, run in turns, so that a busy moment meets all of them."""
    least = [inf] * len(works)
    for _ in range(times):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            least[place] = min(least[place], time.process_time() - start)
    return least


def likelihoods() -> None:
    """Compare one value with its gradient, in one run."""
    for cells, size, epsilon in ((7, 200, 2), (48, 2_000, 1), (100, 10_000, 1), (100, 10_000, 0.1)):
        generator = np.random.default_rng(cells)
        model = dc.Categories("x", levels=tuple(range(cells)), outside=0)
        chances = generator.dirichlet(np.ones(cells))
        counts = generator.multinomial(size, chances)
        release = dc.simulate(dc.GeometricHistogram(model, size, epsilon), counts, dc.SeededBits(1), "made up")
        likelihood, log_p = release.likelihood, np.log(chances)
        inner: Any = likelihood._table

        def anew() -> None:
            latent = inner.latent(log_p)  # noqa: B023 - called at once
            assert np.isfinite(latent.log_sum)
            assert latent.marginals.size

        fast, slow = seconds(lambda: likelihood(log_p), anew, times=100)  # noqa: B023 - called at once
        words = f"{1e3 * fast:.2f} ms, anew {1e3 * slow:.2f} ms, {slow / fast:.1f}x"
        print(f"{cells} cells, n = {size}, epsilon {epsilon}: {words}")
        about = f"likelihood of {cells} cells, n = {size:,}, epsilon {epsilon}"
        record(about, 1e3 * fast, "ms", f"made anew {1e3 * slow:.1f} ms")


def example() -> dc.Release:
    """Return a release of falls by age (4) and ward (6), 48 cells."""
    age, ward = dc.Column("age", tuple("abcd"), outside="a"), dc.Column("ward", tuple("ABCDEF"), outside="A")
    falls = dc.Column("falls", ("no", "yes"), outside="no")
    table = dc.Logistic("falls ~ age + ward", columns=[age, ward, falls]).table
    generator = np.random.default_rng(3)
    theta = 0.7 * generator.standard_normal((1, table.bound.dimension))
    (chances,) = table.chances(theta, generator)
    counts = generator.multinomial(2_000, chances / chances.sum())
    return dc.simulate(dc.GeometricHistogram(table, 2_000, 1), counts, dc.SeededBits(4), "falls")


def plain(model: ModelledTable) -> Cells:
    """Return the regression with the shares of the 24 patterns as parameters: 9 + 23 of them."""
    given, groups = model.bound, model.groups
    assert groups is not None
    own, normal = given.dimension, dc.programs._priors.NormalPrior(0, 1)

    def log_of(theta: Any) -> Any:
        logits = np.concatenate([np.zeros((len(theta), 1)), 2 * theta[:, own:]], axis=1)
        shares = logits - np.logaddexp.reduce(logits, axis=1)[:, None]
        found = given.log_of(theta[:, :own])
        found[:, groups] += shares[:, :, None]
        return found

    def pull(theta: Any, expected: Any) -> Any:
        logits = np.concatenate([np.zeros((len(theta), 1)), 2 * theta[:, own:]], axis=1)
        shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
        sums = expected[:, groups].sum(axis=2)
        by_share = 2 * (sums - sums.sum(axis=1, keepdims=True) * shares)[:, 1:]
        return np.hstack([given.pull_back(theta[:, :own], expected), by_share])

    names = (*given.names, *(f"share {place}" for place in range(1, len(groups))))
    return Cells(model.columns, names, (*given.priors, *[normal] * (len(groups) - 1)), log_of, pull)


def draws() -> None:
    """Compare effective draws of the worst coefficient per CPU second."""
    release = example()
    start = time.process_time()
    posterior: Any = dc.infer(release)
    spent, worth = time.process_time() - start, posterior.solution.effective_size
    print(f"weighted draws, shares integrated out: {spent:.1f} CPU s, worth {worth:.0f}, {worth / spent:.0f} a second")
    if not chains.is_installed():
        return print("nutpie is not installed: pip install 'discreet[nutpie]'")
    target = ProgramTarget(plain(posterior.model), release.likelihood)
    start = time.process_time()
    found = chains.sample_by_chains(posterior.model, target, "", kept=500, tune=300)
    other = time.process_time() - start
    values = found.found.points[:, : posterior.model.bound.dimension]
    batches = Grouped(found.found.weights, 40)  # ten batches of each chain
    own = batches.effective_size(values)
    print(f"nutpie on the plain likelihood: {other:.1f} CPU s, worth {own:.0f}, {own / other:.1f} a second")
    return print(f"ratio {worth / spent / (own / other):.0f}")


class Exact(CellFunction):
    """Counts that are known, in place of a release."""

    def __init__(self, model: dc.Categories, counts: list[int]) -> None:
        super().__init__(model, ListedLikelihood.exact(np.array(counts)))


def adults() -> None:
    """Print what it costs to infer the odds of a high income: 10 coefficients, 96 cells, epsilon .1."""
    columns = [
        dc.Column.banded("age", (17, 25, 35, 45, 55, 65, 90), outside="65 to 90"),
        dc.Column("sex", ("Female", "Male"), outside="Male"),
        dc.Column.banded("schooling", (1, 9, 10, 13, 16), outside="9 to under 10"),
        dc.Column("income", ("<=50K", ">50K"), outside="<=50K"),
    ]
    table = dc.Logistic("income ~ age + sex + schooling", columns=columns).table
    release = dc.simulate(dc.GeometricHistogram(table, sum(ADULTS), "0.1"), ADULTS, dc.SeededBits(5), "UCI Adult")
    start = time.process_time()
    posterior: Any = dc.infer(release)
    spent = time.process_time() - start
    print(f"{len(posterior.rows())} coefficients, {len(ADULTS)} cells, epsilon .1: {spent:.1f} CPU s to infer")
    record(
        "inferring 10 coefficients of 96 cells, UCI Adult, epsilon 0.1",
        spent,
        "CPU s",
        posterior.method,
        "20 s",
        spent > 20,
    )


def hospitals() -> None:
    """Print the pooled rate, both rates and the spread, from releases and from exact tables."""
    fall = dc.Categories("fall", levels=(0, 1), outside=0)
    tables = {"north": [340, 60], "south": [235, 65]}
    rate = dc.programs.Binomial(trials=1).varying("probability")
    table = ModelledTable(fall.columns, rate)
    exactly = Populations(
        {name: ProgramTarget(table.bound, Exact(fall, k)) for name, k in tables.items()}, rate.exchangeable
    )
    known: Any = solve_target(table, exactly, "exact")
    print("exact      ", *_words(known.cells.labels, [known.distribution(place) for place in range(4)]))
    for epsilon in ("1", "0.1"):
        released: dict[str, Any] = {
            name: dc.simulate(dc.GeometricHistogram(fall, sum(k), epsilon), k, dc.SeededBits(sum(k)), name)
            for name, k in tables.items()
        }
        posterior: Any = dc.infer(model=rate, **released)
        print(f"epsilon {epsilon}", *_words(posterior.names, [posterior.quantity(name) for name in posterior.names]))


def _words(names: Any, laws: Any) -> list[str]:
    return [f"{name} {law.mean:.3f} (sd {law.sd:.3f});" for name, law in zip(names, laws, strict=True)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    by_name = {"draws": draws, "adults": adults, "hospitals": hospitals}
    by_name.get(sys.argv[1] if len(sys.argv) > 1 else "", likelihoods)()
