"""Do intervals of conditional probabilities cover what they say? Exactly, for cube noise on few records.

All data sets and outputs are summed over; by simulation, for all mechanisms, it is looked at in `test_network_ranks`.
"""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc
from scipy.stats import betabinom, binom

import discreet as dc
from discreet.networks import CubeCounts, Network


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
    size, classes = mechanism.size, mechanism.space.length - mechanism.classes * mechanism.features
    numbers = np.arange(-size - reach, size + reach + 1)
    axes = [numbers[size:]] * (classes > 0) + [numbers] * (mechanism.space.length - classes)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    outputs = np.column_stack([size - grid[:, 0], grid]) if classes else grid
    cells = tables.reshape(len(tables), -1)
    joint = np.stack([p * np.exp(mechanism.log_prob(outputs, k)) for k, p in zip(cells, prior, strict=True)], 1)
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


def test_how_large_a_class_looks_through_cube_noise_is_bayes_rule_and_depends_on_the_prior_of_its_features() -> None:
    """E(mean - t) of a class of t of 8 records, over all data sets and outputs, under three priors of its feature.

    The mean that `infer` gives is that of Bayes' rule over all data sets; on average over the prior it is right, and on
    one fixed truth, with shares of .2 and .8, it is not: by how much depends on the feature's prior, through the same
    noise. So the prior pulls, not the noise.
    """
    shifts = []
    for value in (0.5, 1.0, 2.0):
        network = Network.naive_bayes("y", ["a"], dict.fromkeys("ya", YES_NO), {"y": 1, "a": value}, outside=0)
        mechanism = CubeCounts(network, 8, 3, "1/2")
        tables, prior = all_tables(network, 8)
        outputs, joint = joint_law(mechanism, tables, prior, 8)
        members = tables[:, 0, 1].sum(axis=-1)
        means = joint @ members / joint.sum(axis=1)
        for output, mean in list(zip(outputs, means.tolist(), strict=True))[:200:20]:
            release = dc.Release(mechanism, tuple(output.tolist()), "enumerated", simulated=True)
            assert dc.infer(release).probability("y=1").mean == pytest.approx((1 + mean) / 10, abs=1e-12)
        assert abs((joint * (means[:, None] - members)).sum()) < 1e-12
        fixed = binom.pmf(members, 8, 0.25)
        for group, share in enumerate((0.2, 0.8)):
            fixed = fixed * binom.pmf(tables[:, 0, group, 1], tables[:, 0, group].sum(axis=-1), share)
        seen = joint * (fixed / prior)
        shifts.append(float((seen * (means[:, None] - members)).sum() / seen.sum()))
    print(f"\nmean - t on one truth, prior 1/2, 1 and 2 for each level of the feature: {shifts}")
    assert max(shifts) - min(shifts) > 0.01
