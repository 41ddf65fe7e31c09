"""Every mechanism with every model that it accepts: what the tests of the whole product are made of."""

from fractions import Fraction
from typing import Any

import numpy as np

import discreet as dc
from discreet.mechanism import Sized
from discreet_papers import as_published

TWO, THREE = (0, 1), (0, 1, 2)
COIN = dc.Categories("x", levels=("a", "b"), outside="a")
DIE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 0.7, 2), outside="a")
CROSSED = dc.Categories(("x", "y"), levels={"x": ("a", "b"), "y": ("c", "d", "e")}, outside={"x": "a", "y": "c"})
TABLES = (COIN, DIE, CROSSED)
ITEMS = dc.Network.from_edges("a", "b", levels={"a": TWO, "b": TWO}, outside=TWO[0])
NAIVE = dc.Network.naive_bayes("y", ["a", "b"], {"y": TWO, "a": TWO, "b": TWO}, outside=TWO[0])
WIDE = dc.Network.naive_bayes(
    "y", ["a", "b"], {"y": TWO, "a": THREE, "b": TWO}, outside={"y": TWO[0], "a": THREE[0], "b": TWO[0]}
)
CHAIN = dc.Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", TWO), outside=TWO[0])
LOOP = dc.Network.from_edges("a -> b", "a -> c", "b -> d", "c -> d", levels=dict.fromkeys("abcd", TWO), outside=TWO[0])
LARGE = dc.Network.from_edges(
    *(f"v{i} -> v{i + 1}" for i in range(10)),
    "v0 -> v2",
    levels={f"v{i}": TWO for i in range(11)},
    outside={name: each[0] for name, each in ({f"v{i}": TWO for i in range(11)}).items()},
)
GRAPHS = (ITEMS, NAIVE, WIDE, CHAIN, LOOP, LARGE)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", norm_bound=1, missing="middle")
UNKNOWN = dc.LinearRegression(
    "y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise=dc.regression.InverseGamma(2, "0.1"), missing="middle"
)
LINES = (LINE, UNKNOWN)
FAMILIES = (
    dc.PoissonRate("falls", most=5, outside=5),
    dc.ExponentialRate("wait", high=10, bands=20, outside="usual"),
    dc.NormalMean("height", low=0, high=10, variance=Fraction(1), bands=20, outside="usual"),
    dc.programs.families.BinomialProbability("right", trials=5, outside=0),
    dc.programs.families.LaplaceScale("error", reach=10, bands=10, outside="usual"),
    dc.programs.families.NormalPrecision("error", reach=10, bands=10, outside="usual"),
)
NUMBERS = (
    dc.NumberSums("x", (0, 1), asks=("mean", "sum", "variance")),
    dc.NumberSums("x", (0, 1), by=dc.Column("w", TWO, outside=0), missing=0),
    dc.WeightedSums("x", (0, 1), ("mean", "sum"), weights=dc.Weights("w", 1, "fixed by design")),
    dc.NumberTable("x", (0, 1), 4, asks=("quantiles", "distribution", "mean"), missing=0),
    dc.NumberTable("x", (0, 1), 4, quantiles=("0.5",), by=dc.Column("w", TWO, outside=0)),
    dc.NumberTable("x", (0, 1), 4, quantiles=("0.5",), missing=0, by=dc.Column("w", TWO, outside=0)),
    dc.NumberSums("x", (0, 1), missing=0),
    dc.NumberQuantiles("x", (0, 9), ("0.5",), is_whole=True, missing=0),
)
BULK = dc.WeightedRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
ALL_AT_ONCE = dc.Synthesis(list("abc"), levels={"a": TWO, "b": THREE, "c": TWO}, outside=0)
MODELS = (*TABLES, *GRAPHS, *LINES, *FAMILIES, *NUMBERS, BULK, ALL_AT_ONCE)
ANY_TABLE, ANY_GRAPH, ANY_LINE, TWO_LEVELS = (0, 1, 2), (3, 4, 5, 6, 7, 8), (9, 10), (3, 4, 6, 7, 8)
ACCEPTED: dict[str, tuple[int, ...]] = {
    "BallDraw": (9,),
    "BallMoments": (25,),
    "BlockTable": (20, 21, 22),
    "BoxMoments": ANY_LINE,
    "ChosenCounts": (24,),
    "ChosenTable": (24,),
    "ClampedLaplace": ANY_TABLE,
    "ConeMoments": ANY_LINE,
    "ContrastGaussians": ANY_GRAPH,
    "CubeCounts": (3, 4),
    "CubeSums": (17, 18, 23),
    "CubeTables": (3, 4),
    "DiscreteGaussianCounts": ANY_TABLE,
    "DiscreteGaussianHistogram": ANY_TABLE,
    "DiscreteLaplaceCounts": ANY_TABLE,
    "FamilyGaussians": ANY_GRAPH,
    "FamilyHistograms": ANY_GRAPH,
    "FlooredLaplace": ANY_TABLE,
    "FourierCounts": TWO_LEVELS,
    "FourierUpdates": TWO_LEVELS,
    "GaussianBallMoments": (25,),
    "GaussianMoments": ANY_LINE,
    "GaussianPairTables": (26,),
    "GaussianTable": ANY_TABLE,
    "GeometricHistogram": ANY_TABLE,
    "GeometricSums": (17, 18, 19, 23),
    "GroupPaths": (22,),
    "HellingerCalibrated": ANY_TABLE,
    "HellingerGlobal": ANY_TABLE,
    "HellingerLocal": ANY_TABLE,
    "HellingerReciprocal": ANY_TABLE,
    "HellingerSmooth": ANY_TABLE,
    "HellingerSmoothProved": ANY_TABLE,
    "HellingerTable": ANY_TABLE,
    "JointHistograms": ANY_GRAPH,
    "LaplaceMoments": ANY_LINE,
    "LaplaceSums": (17, 18, 19, 23),
    "LaplaceTable": ANY_TABLE,
    "LaplaceUpdates": ANY_GRAPH,
    "MaximumPosterior": (0, 1),
    "MetricSums": (18, 23),
    "NetworkMaximum": (3, 4, 5, 6, 7),
    "NetworkSampling": ANY_GRAPH,
    "PairGaussians": (26,),
    "PathTable": (20,),
    "PermuteAndFlip": ANY_TABLE,
    "PosteriorSampling": (*ANY_TABLE, 11, 12, 13, 14, 15, 16),
    "PublishedHellingerGlobal": ANY_TABLE,
    "PublishedHellingerSmooth": ANY_TABLE,
    "RateTruncation": (11, 12, 13, 14, 15, 16),
    "RoundedLaplace": ANY_TABLE,
    "TotalVariationChoice": (0,),
    "TreeLevels": (0, 1),
    "TreeTable": (20, 21, 22),
    "TruncatedLaplace": ANY_TABLE,
}
"""Which of the models each kind accepts, for few records; all others it refuses in words, which a test compares."""
SIZES = {"HellingerTable": 6}
FACTS: dict[str, dict[str, Any]] = {
    "FamilyGaussians": {"delta": "1e-3"},
    "ContrastGaussians": {"delta": "1e-3"},
    "DiscreteGaussianCounts": {"delta": "1e-3"},
    "GaussianTable": {"delta": "1e-3"},
    "GaussianPairTables": {"delta": "1e-3"},
    "PairGaussians": {"delta": "1e-3"},
    "DiscreteGaussianHistogram": {"delta": "1e-3"},
    "GaussianBallMoments": {"delta": "1e-3"},
    "GaussianMoments": {"delta": "1e-3"},
    "HellingerSmooth": {"delta": "1e-3"},
    "HellingerSmoothProved": {"delta": "1e-3"},
    "PublishedHellingerSmooth": {"delta": "1e-3"},
    "BallDraw": {"steps": 8},
    "MaximumPosterior": {"resolution": 6},
    "NetworkMaximum": {"resolution": 4},
}
MAKERS: dict[str, Any] = {
    "PosteriorSampling": lambda model, size: dc.PosteriorSampling.tempered(
        model, size=size, epsilon=2, delta="1e-2", grid_bits=20
    ),
    "RateTruncation": lambda model, size: dc.draws.RateTruncation.at_rate(model, size=size, epsilon=2, grid_bits=20),
    "NetworkSampling": lambda model, size: dc.draws.NetworkSampling.tempered(model, size=size, epsilon=4, delta="1e-2"),
    "RoundedLaplace": lambda model, size: as_published.RoundedLaplace(model, size, 1, 2, len(model.cells)),
    "FlooredLaplace": lambda model, size: as_published.FlooredLaplace(model, size, 1, 1, len(model.cells) - 1),
    "TruncatedLaplace": lambda model, size: as_published.TruncatedLaplace(model, size, 1, 2, len(model.cells)),
    "TreeLevels": lambda model, size: dc.tables.TreeLevels(
        model, size, 1, range(1, len(model.cells)), [1] * (len(model.cells) - 1)
    ),
    "ClampedLaplace": lambda model, size: as_published.ClampedLaplace(model, size, 1, 1, len(model.cells) - 1),
}

MADE: dict[tuple[str, int, int], tuple[Any, Any]] = {}
"""Models, so that none is forgotten and its identity given to another, and the mechanisms that were made of them."""


def made(kind: str, model: Any, size: int = 30) -> Any:
    """Return a mechanism of a kind for a model, or nothing if it is not for it; only words may refuse.

    It is made once: mechanisms never change, and some of them search long for their scales.
    """
    key = kind, id(model), size
    if key not in MADE:
        MADE[key] = model, _made(kind, model, size)
    return MADE[key][1]


def _made(kind: str, model: Any, size: int) -> Any:
    new: Any = dc.Mechanism.registered()[kind]
    sized = issubclass(new, Sized)
    build = MAKERS.get(kind, lambda m, n: new(m, **({"size": n} if sized else {}), epsilon=1, **FACTS.get(kind, {})))
    try:
        return build(model, SIZES.get(kind, size))
    except dc.DeclarationError:
        return None
    except (TypeError, AttributeError):
        if kind in MAKERS:  # made from a model's cells; only tables of categories have a number of them
            return None
        raise


def counts_of(model: Any, size: int, generator: np.random.Generator) -> Any:
    """Return made-up statistics of a model."""
    if isinstance(model, dc.Network):
        records = {v.name: generator.integers(len(v.levels), size=size) for v in model.variables}
        tables = []
        for family in model.maximal_families:
            table = np.zeros(model.shape(family), dtype=np.int64)
            np.add.at(table, tuple(records[name] for name in family), 1)
            tables.append(table.ravel())
        return np.concatenate(tables)
    if isinstance(model, dc.LinearRegression | dc.WeightedRegression):
        return model.rehearse({"x": generator.random(size).tolist(), "y": generator.random(size).tolist()})
    if isinstance(model, dc.NumberSums | dc.NumberTable | dc.NumberQuantiles | dc.Synthesis):
        return model.simulate(size, generator).statistics
    return generator.multinomial(size, np.full(len(model.cells), 1 / len(model.cells)))


def in_words(words: str) -> bool:
    """Tell whether a refusal is a sentence for people, not the words of a raw exception."""
    return len(words.split()) > 4 and "object has no attribute" not in words and "NoneType" not in words
