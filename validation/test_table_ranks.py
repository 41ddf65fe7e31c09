"""Are tables read right on average over the prior? Ranks of true shares, through every way in which tables are read.

Own sums: what is asked is uniform beforehand, and how it is spread over cells is said by no prior; here it follows a
Zipf law. Cells read together: all from the prior, or from one whose strength was drawn among those that are learnt; ten
and more from the crossed prior, given the number of records.
Few tables, one by one: choices among candidates, whose likelihood is no product.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from rank_tests import DRAWS, Floats, Places, Setting, judge, rank

import discreet as dc
from discreet._core.errors import PriorOutweighsWarning
from discreet.choices import HellingerGlobal, HellingerReciprocal
from discreet.tables._crossed import CrossedPrior
from discreet.tables._plug_in import plain_counts
from discreet_papers import as_published

CROSSED = dc.Categories(("a", "b"), levels={"a": (0, 1, 2, 3), "b": (0, 1, 2)}, outside={"a": 0, "b": 0})
Answer = Callable[[Any, Floats], float]
Question = tuple[tuple[str, ...], Answer, Callable[[Floats], Floats]]
"""Events that are asked about; the truth's place in the answer; the quantity, from shares of events and the rest."""


@pytest.fixture(autouse=True)
def _little_information_is_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        warnings.simplefilter("ignore", PriorOutweighsWarning)
        warnings.simplefilter("ignore", dc.ConvergenceWarning)
        warnings.simplefilter("ignore", dc.UncalibratedDrawsWarning)
        yield


def levels_of(count: int, prior: float | None = None) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(count)), prior=prior, outside=0)


def released(mechanism: Any, counts: Any, bits: dc.SeededBits) -> dc.Release[dc.Categories]:
    output = mechanism.sample(counts, bits)
    return dc.Release(mechanism, tuple(int(value) for value in output), "simulated", simulated=True)


SHARE: Question = (
    ("a=0",),
    lambda posterior, shares: float(posterior.probability("a=0").cdf(shares[0])),
    lambda shares: shares[..., 0],
)
CONDITIONAL: Question = (
    ("a=0, b=0", "a=0"),
    lambda posterior, shares: float(posterior.conditional("b=0", "a=0").cdf(shares[0] / (shares[0] + shares[1]))),
    lambda shares: shares[..., 0] / (shares[..., 0] + shares[..., 1]),
)
DIFFERENCE: Question = (
    ("a=0", "a=1"),
    lambda posterior, shares: rank(
        shares[0] - shares[1], posterior.difference_distribution("a=0", "a=1", DRAWS, seed=1).draws
    ),
    lambda shares: shares[..., 0] - shares[..., 1],
)
RISKS: Question = (
    ("a=0, b=0", "a=0", "a=1, b=0", "a=1"),
    lambda posterior, shares: rank(
        shares[0] / (shares[0] + shares[1]) - shares[2] / (shares[2] + shares[3]),
        posterior.risk_difference("b=0", "a=0", "a=1", DRAWS, seed=1).draws,
    ),
    lambda shares: (
        shares[..., 0] / (shares[..., 0] + shares[..., 1]) - shares[..., 2] / (shares[..., 2] + shares[..., 3])
    ),
)


def parts_of(events: Sequence[str]) -> list[Any]:
    """Return the cells of each event that are in none before it, and the rest."""
    parts: list[Any] = []
    for cells in (*map(CROSSED.cell_indices, events), np.arange(len(CROSSED.cells))):
        parts.append(np.setdiff1d(cells, np.concatenate([[], *parts])).astype(np.int64))
    return parts


def own_sums(question: Question, mechanism: Any, generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    """Shares of the asked parts are uniform; the plug-in reader takes the parts' noisy sums for their counts."""
    events, answer, quantity = question
    parts = parts_of(events)
    shares, theta = generator.dirichlet(np.ones(len(parts))), np.zeros(len(CROSSED.cells))
    for part, share in zip(parts, shares, strict=True):
        weights = 1 / np.arange(1.0, len(part) + 1)
        theta[part] = share * weights / weights.sum()
    release = released(mechanism, generator.multinomial(mechanism.size, theta), bits)
    plain = plain_counts(mechanism, release.counts[None])[0]
    taken = generator.dirichlet([1 + plain[part].sum() for part in parts], size=DRAWS)
    return [answer(dc.infer(release), shares)], [rank(float(quantity(shares)), quantity(taken))]


def together(mechanisms: Sequence[Any], generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    """All cells from a prior, whose strength is one of those that are learnt if none was declared; two of its laws."""
    model, size = mechanisms[0].model, mechanisms[0].size
    priors = [model] if model.is_prior_declared else model.proposals(True)
    theta = generator.dirichlet(priors[generator.integers(len(priors))].concentration)
    counts = generator.multinomial(size, theta)
    releases = [released(mechanism, counts, bits) for mechanism in mechanisms]
    posterior, plugged = dc.infer(*releases).table, as_published.plug_in(releases[0])
    one = posterior.probability(0).cdf(theta[0])
    other = rank(float(theta[1:3].sum()), posterior.draws(DRAWS, seed=1)["theta"][:, 1:3].sum(axis=1))
    taken = generator.dirichlet(plugged.concentration, size=DRAWS)
    return [float(one), other], [rank(theta[0], taken[:, 0]), rank(theta[1:3].sum(), taken[:, 1:3].sum(axis=1))]


def crossed(mechanism: Any, generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    """All cells from the crossed prior, given that so many records fall into them: a cell, a sum and the entropy."""
    model, size = mechanism.model, mechanism.size
    prior = CrossedPrior(tuple(len(column.levels) for column in model.columns), size)
    found: list[tuple[Floats, Any]] = []
    while not found:
        rates = prior.rates(2_000, generator)
        counts = generator.poisson(np.minimum(rates, 1e6))
        found = [(rates[place], counts[place]) for place in np.flatnonzero(counts.sum(axis=1) == size)]
    rate, count = found[0]
    release = released(mechanism, count, bits)
    drawn = dc.infer(release).table.draws(DRAWS, seed=1)["theta"]
    taken = generator.dirichlet(as_published.plug_in(release).concentration, size=DRAWS)
    truth = np.array(quantities(rate / rate.sum()))
    return tuple([rank(*pair) for pair in zip(truth, quantities(own), strict=True)] for own in (drawn, taken))  # type: ignore[return-value]


def quantities(theta: Floats) -> list[Any]:
    """Return the share of a cell, of four cells, and the entropy."""
    return [theta[..., 0], theta[..., 1:5].sum(axis=-1), -(theta * np.log(theta + 1e-300)).sum(axis=-1)]


OWN = [
    ("a share, GeometricHistogram", SHARE, dc.GeometricHistogram(CROSSED, 200, "0.3")),
    ("a share, DiscreteLaplaceCounts", SHARE, dc.tables.DiscreteLaplaceCounts(CROSSED, 200, "0.3")),
    ("a share, DiscreteGaussianCounts", SHARE, dc.tables.DiscreteGaussianCounts(CROSSED, 200, 1, "1e-6")),
    ("a share, DiscreteGaussianHistogram", SHARE, dc.tables.DiscreteGaussianHistogram(CROSSED, 200, 1, "1e-6")),
    ("a share, posterior draw", SHARE, dc.PosteriorSampling.tempered(CROSSED, size=200, epsilon=2, delta="1e-4")),
    ("a conditional share, GeometricHistogram", CONDITIONAL, dc.GeometricHistogram(CROSSED, 200, "0.3")),
    ("a difference, GeometricHistogram", DIFFERENCE, dc.GeometricHistogram(CROSSED, 200, "0.3")),
    ("a difference of rates, GeometricHistogram", RISKS, dc.GeometricHistogram(CROSSED, 200, "0.3")),
]
TABLES: list[tuple[str, list[Any]]] = [
    ("3 cells, prior 1, GeometricHistogram", [dc.GeometricHistogram(levels_of(3, 1), 200, "0.1")]),
    (
        "10 cells, prior 0.5, DiscreteLaplaceCounts",
        [dc.tables.DiscreteLaplaceCounts(levels_of(10, 0.5), 1_000, "0.3")],
    ),
    (
        "10 cells, prior 2, DiscreteGaussianCounts",
        [dc.tables.DiscreteGaussianCounts(levels_of(10, 2), 200, 1, "1e-6")],
    ),
    ("9 cells, strength learnt, GeometricHistogram", [dc.GeometricHistogram(levels_of(9), 200, "0.5")]),
    (
        "10 cells, prior 1, two releases",
        [
            dc.GeometricHistogram(levels_of(10, 1), 200, "0.3"),
            dc.tables.DiscreteLaplaceCounts(levels_of(10, 1), 200, "0.3"),
        ],
    ),
    ("3 cells, enumerated, HellingerGlobal", [HellingerGlobal(levels_of(3, 1), 20, 8)]),
    ("3 cells, enumerated, HellingerReciprocal", [HellingerReciprocal(levels_of(3, 1), 20, 8)]),
    ("3 cells, enumerated, PermuteAndFlip", [dc.choices.PermuteAndFlip(levels_of(3, 1), 12, 3)]),
]
CROSSED_TABLES: list[tuple[str, Any]] = [
    ("3 x 4 cells, GeometricHistogram", dc.GeometricHistogram(CROSSED, 100, "0.5")),
    ("3 x 4 cells, DiscreteGaussianCounts", dc.tables.DiscreteGaussianCounts(CROSSED, 100, 1, "1e-6")),
    ("15 levels, DiscreteLaplaceCounts", dc.tables.DiscreteLaplaceCounts(levels_of(15), 100, "0.3")),
]
SETTINGS = [
    *(
        Setting(f"own sums: {name}", seed, partial(own_sums, question, mechanism))
        for seed, (name, question, mechanism) in enumerate(OWN, start=301)
    ),
    *(
        Setting(f"table: {name}", seed, partial(together, mechanisms))
        for seed, (name, mechanisms) in enumerate(TABLES, start=321)
    ),
    *(
        Setting(f"crossed prior: {name}", seed, partial(crossed, mechanism))
        for seed, (name, mechanism) in enumerate(CROSSED_TABLES, start=871)
    ),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_true_shares_rank_uniformly(setting: Setting) -> None:
    judge("ranks", setting)
