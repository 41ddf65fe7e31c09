"""Are draws under a prior that privacy forced read right? Fixed, skewed truths, intervals of 50, 90 and 95 %.

Truths lie far from the forced prior, so a reader who believed that prior would miss them nearly always. `make validate`
takes 40 releases of each setting, `make validate-full` 120; a release counts with the share of its parameters that lie
in their intervals. Coverage must lie within 4 standard errors of the level, or above it: intervals that are extended to
0 hold more.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats

import discreet as dc

RELEASES = repeats(40, 120)
LEVELS = (0.5, 0.9, 0.95)


@dataclass(frozen=True)
class Setting:
    """A mechanism, how records are drawn from a fixed truth, and what its rows should hold."""

    name: str
    seed: int
    mechanism: Any
    records: Callable[[np.random.Generator], Any]
    truth: tuple[float, ...]

    def released(self, number: int) -> list[float]:
        """Return for each level the share of true parameters that one release's intervals hold."""
        counts = self.records(np.random.default_rng([self.seed, number]))
        release = dc.simulate(self.mechanism, counts, dc.SeededBits(self.seed * 1_000 + number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = dc.infer(release)
            rows = [posterior.rows(level) for level in LEVELS]
        return [float(np.mean([r.low <= t <= r.high for r, t in zip(each, self.truth, strict=True)])) for each in rows]


def strong(model: Any, size: int, epsilon: str = "1", delta: str = "1e-6") -> Any:
    kind = dc.draws.NetworkSampling if isinstance(model, dc.Network) else dc.PosteriorSampling
    return kind.concentrated(model, size=size, epsilon=epsilon, delta=delta)


def items(size: int, trials: int, truth: float) -> Callable[[np.random.Generator], Any]:
    return lambda generator: np.bincount(generator.binomial(trials, truth, size), minlength=trials + 1)


def events(size: int, most: int, rate: float) -> Callable[[np.random.Generator], Any]:
    return lambda generator: np.bincount(np.minimum(generator.poisson(rate, size), most), minlength=most + 1)


def shares(size: int, *truth: float) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.multinomial(size, truth)


def table(*levels: str, prior: object = None) -> dc.Categories:
    return dc.Categories("fall", levels, outside=levels[0], prior=prior)  # type: ignore[arg-type]


GRAPH = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=0)


def pairs(size: int, first: float, second: tuple[float, float]) -> Callable[[np.random.Generator], Any]:
    def drawn(generator: np.random.Generator) -> Any:
        a = (generator.random(size) < first).astype(np.int64)
        b = (generator.random(size) < np.where(a == 1, second[1], second[0])).astype(np.int64)
        return np.bincount(2 * a + b, minlength=4)

    return drawn


SETTINGS = (
    Setting("Binomial of 4, Beta(2, 2), n = 300, truth 0.2, epsilon 1", 381,
            strong(dc.programs.families.BinomialProbability("x", trials=4, alpha=2, beta=2, outside=0), 300),
            items(300, 4, 0.2), (0.2,)),
    Setting("Binomial of 3, Beta(1, 3), n = 500, truth 0.85, epsilon 0.5", 382,
            strong(dc.programs.families.BinomialProbability("x", trials=3, alpha=1, beta=3, outside=0), 500, "0.5"),
            items(500, 3, 0.85), (0.85,)),
    Setting("Poisson, Gamma(2, 1), n = 400, truth 0.4, epsilon 1", 383,
            strong(dc.PoissonRate("x", most=5, shape=2, rate=1, outside=5), 400), events(400, 5, 0.4), (0.4,)),
    Setting("table, no prior, n = 1,000, truth 0.94, 0.05, 0.01, epsilon 1", 384,
            strong(table("no", "yes", "other"), 1_000), shares(1_000, 0.94, 0.05, 0.01), (0.94, 0.05, 0.01)),
    Setting("table, prior 1/2, n = 600, truth 0.1, 0.9, epsilon 0.7", 385,
            strong(table("no", "yes", prior=0.5), 600, "0.7"), shares(600, 0.1, 0.9), (0.1, 0.9)),
    Setting("graph a -> b, no prior, n = 2,000, rare levels, epsilon 1", 386,
            strong(GRAPH, 2_000), pairs(2_000, 0.1, (0.05, 0.8)), (0.9, 0.1, 0.95, 0.05, 0.2, 0.8)),
    Setting("table, no prior, the same 950, 50, 0 records, epsilon 1", 387,
            strong(table("no", "yes", "other"), 1_000), lambda generator: np.array([950, 50, 0]), (0.95, 0.05, 0.0)),
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_draws_under_a_forced_prior_cover_fixed_truths(setting: Setting) -> None:
    found = np.array(kept("forced-priors", setting.name, setting.seed, RELEASES, setting.released))
    covers, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    shown = ", ".join(
        f"{100 * a:.1f} ± {100 * b:.1f} of {lv:.0%}" for a, b, lv in zip(covers, errors, LEVELS, strict=True)
    )
    print(f"\n{setting.name}, {len(found)} releases: {shown}")
    for share, level in zip(covers, LEVELS, strict=True):
        assert share > level - 4 * np.sqrt(level * (1 - level) / len(found))
