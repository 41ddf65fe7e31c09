"""Do intervals of conditional probabilities cover what they say? Parameters from the prior, release, exact reading.

By simulation for all mechanisms; exactly, by summing over all data sets and outputs, for cube noise on few records.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc
from scipy.stats import betabinom, chisquare

import discreet as dc
from discreet.as_published.laplace_updates import LaplaceUpdates
from discreet.as_published.projection import truncated_reading
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.models.network import Network

DATA_SETS = 200
FEATURES = [f"x{number}" for number in range(6)]
NAIVE = Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)), outside=0)
CHAIN = Network.from_edges("a -> b -> c", "b -> d", levels=dict.fromkeys("abcd", (0, 1)), outside=0)


def gaussians(network: Network, size: int, epsilon: str) -> FamilyGaussians:
    return FamilyGaussians(network, size, epsilon, "1e-6")


def tables_from_prior(network: Network, generator: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    rows = {name: 2 if above else 1 for name, above in zip(_names(network), network.parents, strict=True)}
    return {name: generator.dirichlet(np.ones(2), size=count) for name, count in rows.items()}


def _names(network: Network) -> list[str]:
    return [variable.name for variable in network.variables]


def counts_of(
    network: Network, tables: dict[str, NDArray[np.float64]], size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    codes: dict[str, NDArray[np.int64]] = {}
    for name, above in zip(_names(network), network.parents, strict=True):
        row = codes[above[0]] if above else np.zeros(size, dtype=np.int64)
        codes[name] = (generator.random(size) < tables[name][row, 1]).astype(np.int64)
    parts = []
    for family in network.maximal_families:
        flat = np.ravel_multi_index([codes[name] for name in family], network.shape(family))
        parts.append(np.bincount(flat, minlength=2 ** len(family)))
    return np.concatenate(parts)


def places_of_truth(
    network: Network, kind: Any, size: int, epsilon: str, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the true conditional probabilities lie in their posteriors, and in plug-in ones, by data set.

    A posterior is taken to be the mixture over 400 draws of the tables, which is a little too narrow: 90 % intervals
    lose up to 0.002 of their coverage, less than what 200 data sets can show.
    """
    generator, bits = np.random.default_rng(seed), dc.SeededBits(seed)
    mechanism, aware, plugged = kind(network, size, epsilon), [], []
    for _ in range(DATA_SETS):
        truth = tables_from_prior(network, generator)
        release = dc.simulate(mechanism, counts_of(network, truth, size, generator), bits)
        posterior = dc.infer(release)
        drawn = posterior.readings[0].shapes(400, generator)
        naive = truncated_reading(release).tables
        inside, outside = [], []
        for name, above in zip(_names(network), network.parents, strict=True):
            if above:
                a, b = drawn[name][..., 1], drawn[name][..., 0]
                inside.append([_below(truth[name][row, 1], a[:, row], b[:, row]) for row in range(2)])
                one, zero = 1 + naive[name][:, 1], 1 + naive[name][:, 0]
                outside.append([_below(truth[name][row, 1], one[[row]], zero[[row]]) for row in range(2)])
        aware.append(np.ravel(inside))
        plugged.append(np.ravel(outside))
    return np.array(aware), np.array(plugged)


def _below(truth: float, a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(dc.BetaMixture(np.full(len(a), 1 / len(a)), a, b).cdf(truth))


SETTINGS = [
    pytest.param(NAIVE, CubeCounts, 100, "1", id="cube, 100 records"),
    pytest.param(NAIVE, CubeCounts, 400, "0.2", id="cube, 400 records"),
    pytest.param(NAIVE, FamilyHistograms, 200, "1", id="histograms"),
    pytest.param(NAIVE, LaplaceUpdates, 200, "2", id="updates"),
    pytest.param(NAIVE, gaussians, 200, "1", id="gaussians"),
    pytest.param(NAIVE, JointHistograms, 40, "1", id="joint"),
    pytest.param(CHAIN, FamilyHistograms, 100, "1", id="tree, histograms"),
    pytest.param(CHAIN, LaplaceUpdates, 100, "1", id="tree, updates"),
]


@pytest.mark.parametrize(("network", "kind", "size", "epsilon"), SETTINGS)
def test_conditional_probabilities_are_covered_and_ranks_are_uniform(
    network: Network, kind: Any, size: int, epsilon: str
) -> None:
    """Pooled over all conditional probabilities; standard errors are clustered by data set.

    The ranks of one conditional probability of each data set are independent; these must be uniform.
    """
    aware, plugged = places_of_truth(network, kind, size, epsilon, seed=20261115)
    covered = ((aware >= 0.05) & (aware <= 0.95)).mean(axis=1)
    naive = ((plugged >= 0.05) & (plugged <= 0.95)).mean()
    error = covered.std(ddof=1) / np.sqrt(DATA_SETS)
    p_value = chisquare(np.histogram(aware[:, 0], bins=10, range=(0, 1))[0]).pvalue
    print(
        f"\n{len(network.variables)} variables, n = {size}, epsilon = {epsilon}: noise-aware {covered.mean():.3f} "
        f"+/- {error:.3f}, published truncation {naive:.3f}; calibration p = {p_value:.3f}"
    )
    assert abs(covered.mean() - 0.9) <= 3 * error
    assert p_value > 1e-3


def all_tables(network: Network, size: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every data set of yes/no features, axes (data sets, features, classes, levels), and its prior probability.

    A network without a class is one class of which all records are members.
    """
    has_class = network.target is not None
    priors = np.array(network.prior[1:] if has_class else network.prior)
    tables, chances = [], []
    for ones in range(size + 1) if has_class else [0]:
        totals = (size - ones, ones) if has_class else (size,)
        chance = betabinom.pmf(ones, size, network.prior[0][1], network.prior[0][0]) if has_class else 1.0
        for counts in product(*(range(total + 1) for _ in priors for total in totals)):
            yes = np.array(counts).reshape(len(priors), len(totals))
            laws = betabinom.pmf(yes, totals, priors[:, 1:], priors[:, :1])
            tables.append(np.stack([np.array(totals) - yes, yes], axis=-1))
            chances.append(chance * float(np.prod(laws)))
    return np.array(tables), np.array(chances)


def joint_law(
    mechanism: CubeCounts, tables: NDArray[np.int64], prior: NDArray[np.float64], reach: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every output within some reach of the possible counts, and P(data set, output), one row for each output.

    Outputs stand in falling order of their probability.
    """
    size, classes = mechanism.size, mechanism.length - mechanism.classes * mechanism.features
    numbers = np.arange(-size - reach, size + reach + 1)
    axes = [numbers[size:]] * (classes > 0) + [numbers] * (mechanism.length - classes)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    outputs = np.column_stack([size - grid[:, 0], grid]) if classes else grid
    cells = tables.reshape(len(tables), -1)
    joint = np.stack([p * np.exp(mechanism.log_likelihood(outputs, k)) for k, p in zip(cells, prior, strict=True)], 1)
    order = np.argsort(-joint.sum(axis=1))
    return outputs[order], joint[order]


YES_NO = (0, 1)
PRIOR = {"y": (1.0, 1.5), "a": (0.5, 2.0), "b": (3.0, 1.0)}  # all different, so that none is taken for another
PAIR = Network.from_edges(
    "a", "b", levels=dict.fromkeys("ab", YES_NO), prior={name: PRIOR[name] for name in "ab"}, outside=YES_NO[0]
)
ONE = Network.naive_bayes(
    "y", ["a"], dict.fromkeys("ya", YES_NO), {name: PRIOR[name] for name in "ya"}, outside=YES_NO[0]
)
TWO = Network.naive_bayes("y", ["a", "b"], dict.fromkeys("yab", YES_NO), PRIOR, outside=YES_NO[0])
ENUMERATED = [  # how far outputs reach, and the probability of those that are left out
    pytest.param(CubeCounts(PAIR, 4, 2), 20, 1e-6, id="two items"),
    pytest.param(CubeCounts(ONE, 4, 8, "1/2"), 9, 1e-6, id="one feature"),
    pytest.param(CubeCounts(TWO, 3, 12, "1/3"), 3, 2e-2, id="two features"),
]


@pytest.mark.parametrize(("mechanism", "reach", "missing"), ENUMERATED)
def test_conditional_probabilities_are_covered_exactly(mechanism: CubeCounts, reach: int, missing: float) -> None:
    """Sum over all data sets and outputs: P(theta in I(z)) = sum_z sum_k P(k) P(z | k) P(theta in I(z) | k) = 0.9.

    P(z | k) is the mechanism's own; the posterior is used nowhere but for the intervals. Two features and a class have
    so many outputs that 2 % is left out here; with 22,348 of them, all but 1e-5, the result is the same.
    """
    network, (tables, prior) = mechanism.model, all_tables(mechanism.model, mechanism.size)
    outputs, joint = joint_law(mechanism, tables, prior, reach)
    mass = np.cumsum(joint.sum(axis=1))
    assert mass[-1] > 1 - missing
    kept = int(np.searchsorted(mass, 1 - missing)) + 1
    first = 0 if network.target is None else 1
    covered = np.zeros((kept, mechanism.features, mechanism.classes))
    for row, (output, chances) in enumerate(zip(outputs[:kept], joint[:kept], strict=True)):
        posterior = dc.infer(dc.Release(mechanism, tuple(output.tolist()), "enumerated", simulated=True))
        for i, y in np.ndindex(mechanism.features, mechanism.classes):
            event = f"{network.variables[first + i].name}=1"
            law = posterior.conditional(event, given=f"y={y}") if first else posterior.probability(event)
            shapes = np.array(network.prior[first + i]) + tables[:, i, y]
            low, high = (betainc(shapes[:, 1], shapes[:, 0], end) for end in law.interval(0.9))
            covered[row, i, y] = chances @ (high - low)
    shares = covered.sum(axis=0) / mass[kept - 1]
    print(f"\n{mechanism.features} features, {mechanism.classes} classes, {kept} outputs: {shares.ravel().tolist()}")
    np.testing.assert_allclose(shares, 0.9, atol=1e-9)
    np.testing.assert_allclose(covered.T / joint[:kept].sum(axis=1), 0.9, atol=1e-9)  # given each output, too
