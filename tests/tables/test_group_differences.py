"""Whether groups differ, how often two levels are covered, and rows of many levels: each against a slow twin."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaln, gammaln
from scipy.stats import beta, binom

import discreet as dc
from discreet._core.arrays import Floats
from discreet.inference import Problem
from discreet.mathematics.distributions._dirichlet import Share
from discreet.privacy import compositions
from discreet.tables import PooledRates
from discreet.tables import _groups as pooled_groups
from discreet.tables._differences import Difference, difference_between_groups
from discreet.tables._groups import groups_of
from discreet.tables._groupwise import GroupwiseInference


def test_do_the_groups_differ_is_answered_as_by_summing_over_all_tables() -> None:
    """The slow twin: both accounts by going through every table of two groups, on fine grids of mu and kappa."""
    model = dc.Categories(
        ("ward", "fall"),
        levels={"ward": ("A", "B"), "fall": ("no", "yes")},
        outside={"ward": "A", "fall": "no"},
    )
    release = dc.Release(dc.GeometricHistogram(model, 9, 3), (4, 1, 0, 4), "two wards", simulated=True)
    tables = np.array(list(compositions(9, 4)))
    noise = np.exp(release.mechanism.log_prob(release.counts, tables))
    rest, hits = tables[:, 0::2], tables[:, 1::2]
    choose = gammaln(rest + hits + 1.0) - gammaln(rest + 1.0) - gammaln(hits + 1.0)  # sizes are uniform: 2 / K = 1
    mus = (np.arange(400) + 0.5) / 400

    def evidence(kappa: float | None) -> float:
        total = 0.0
        for mu in mus:
            if kappa is None:
                logs = choose + hits * np.log(mu) + rest * np.log1p(-mu)
            else:
                a, b = kappa * mu, kappa * (1 - mu)
                logs = choose + betaln(a + hits, b + rest) - betaln(a, b)
            total += float(noise @ np.exp(logs.sum(axis=1)))
        return total / len(mus)

    log_kappas = np.linspace(np.log(0.1), np.log(1e4), 13)
    weights = np.exp(log_kappas) / (1 + np.exp(log_kappas)) ** 2
    several = float(np.array([evidence(float(np.exp(v))) for v in log_kappas]) @ weights / weights.sum())
    wanted = several / (several + evidence(None))
    found = dc.infer(release).differ("fall=yes", "ward")
    assert found.probability == pytest.approx(wanted, abs=0.003)
    assert (found.highest, found.lowest) == ("B", "A")


def test_groups_of_the_census_table_are_weighed_by_convolutions_and_never_pair_by_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """42 groups, epsilon .1: counted in products of one pair (mu, kappa), and in the memory of their laws.

    A table of all y and w of one group has up to 2.6 million numbers, which were computed anew for every pair.
    """
    table = json.loads((Path(__file__).parents[2] / "validation/adult_tables.json").read_text())
    table = table["tables"]["country x occupation"]
    levels = {name: tuple(values) for name, values in table["columns"].items()}
    model = dc.Categories(tuple(levels), levels=levels, outside={name: own[0] for name, own in levels.items()})
    mechanism = dc.GeometricHistogram(model, sum(table["counts"]), "0.1")
    release = dc.simulate(mechanism, tuple(table["counts"]), dc.SeededBits(5))
    groups = groups_of([release], model, "occupation=Exec-managerial", "country", least=2)
    products, convolved = [], pooled_groups._convolved

    def counted(u: Floats, v: Floats, start: int, stop: int) -> Floats:
        products.append((stop - start) * min(len(u), len(v)))
        return convolved(u, v, start, stop)

    monkeypatch.setattr(pooled_groups, "_convolved", counted)
    tracemalloc.start()
    laws = [pooled_groups.BetaBinomials(groups, 0.12, 30.0).of(group).log_prob for group in groups]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(laws) == 42
    assert sum(products) < 50e6
    assert most < 3e6


def test_the_answer_to_whether_groups_differ_is_a_plain_sentence() -> None:
    levels = {"ward": ("A", "B", "C"), "fall": ("no", "yes")}
    model = dc.Categories(("ward", "fall"), levels=levels, outside={"ward": "A", "fall": "no"})
    mechanism = dc.GeometricHistogram(model, size=600, epsilon="0.5")
    posterior = dc.infer(dc.simulate(mechanism, (180, 20, 150, 50, 160, 40), dc.SeededBits(8)))
    found = posterior.differ("fall=yes", "ward")
    assert found.sentence.startswith("The groups of ward ")
    assert "(0.5 a priori)" in str(found)
    assert found.document()["probability"] == found.probability
    sure = Difference("fall=yes", "ward", 0.9996, "B", "A")
    assert sure.sentence == (
        "The groups of ward almost certainly differ in how often fall=yes occurs: the probability that they do is "
        "above 0.999 (0.5 a priori). The highest rate is that of B, the lowest that of A."
    )
    assert "may or may not differ" in Difference("fall=yes", "ward", 0.5, "B", "A").sentence
    assert "very probably do not differ" in Difference("fall=yes", "ward", 0.05, "B", "A").sentence
    with pytest.raises(dc.DeclarationError, match="no column 'town'"):
        posterior.differ("fall=yes", "town")


@pytest.mark.parametrize(
    ("epsilon", "theta", "shortest", "tails"),
    [
        ("1", 0.001, (0.686, 0.957, 0.957), (0, 0.686, 0.686)),  # of 3 noisy records the mass is 0.9501, just too much
        ("1", 0.01, (0.839, 0.933, 0.974), (0.656, 0.933, 0.933)),
        ("1", 0.05, (0.451, 0.881, 0.948), (0.578, 0.882, 0.954)),
        ("1", 0.2, (0.447, 0.901, 0.941), (0.524, 0.902, 0.956)),
        ("1", 0.5, (0.501, 0.900, 0.958), (0.501, 0.900, 0.958)),
    ],
)
def test_coverage_of_two_levels_of_a_hundred_records_is_as_enumerated_by_hand(
    epsilon: str, theta: float, shortest: tuple[float, ...], tails: tuple[float, ...]
) -> None:
    """Every count and every output: how often each interval holds theta, which is fixed."""
    rate, counts = float(epsilon), np.arange(101)
    chances, covered, opened = binom.pmf(counts, 100, theta), np.zeros((2, 3)), 0.0
    levels = np.array((0.5, 0.9, 0.95))
    for z in range(-40, 141):
        weights = np.exp(-rate * np.abs(z - counts))
        chance = float(chances @ weights) * (1 - np.exp(-rate)) / (1 + np.exp(-rate))
        if chance < 1e-9:
            continue
        law = Share(weights / weights.sum(), *np.array([counts + 1, 101 - counts], dtype=float))
        below = float(law.cdf(theta))
        covered[0] += chance * (higher_mass(law, theta) <= levels)
        covered[1] += chance * (np.abs(below - 0.5) <= levels / 2)
        low, high = law.interval(0.9)
        opened += chance * (low <= theta <= high)
    assert covered[0] == pytest.approx(shortest, abs=6e-4)
    assert covered[1] == pytest.approx(tails, abs=6e-4)
    assert 0.875 <= opened <= 0.96


THETAS, LEVELS = np.array([0.001, 0.01, 0.05, 0.2, 0.5]), np.array([0.5, 0.9, 0.95])
NONE = float("nan")  # an output whose mass is the level itself, to the accuracy of the grid
# Records, epsilon, and for each share how often 50, 90 and 95 % intervals hold it: shortest ones, and equal tails.
# Of 1,000 records one output decides in places: at epsilon 1 a noisy 4 (probability .041) has .8971 of its mass where
# the density is higher than at .001, so its shortest 90 % interval holds .001; at epsilon .1 a noisy 19 has .8973.
ENUMERATED = [
    (
        100, "0.1",
        [(.678, .912, .952), (.680, .913, .957), (.705, .934, .964), (.464, .943, .972), (.471, .868, .912)],
        [(0, 0, 0), (0, .646, .785), (.522, .880, .940), (.510, .943, .972), (.520, .902, .952)],
    ),
    (
        1000, "0.1",
        [(.680, .921, .957), (.393, .939, .970), (.503, .884, .931), (NONE, .898, .951), (.496, .900, .947)],
        [(0, .646, .785), (.634, .925, .959), (.503, .901, .951)],
    ),
    (
        1000, "1",
        [(.839, .974, .974), (.539, .920, .959), (.478, .899, .954), (.496, .901, .951), (.492, .905, .953)],
        [(.657, .932, .932), (.446, .895, .944)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("size", "epsilon", "shortest", "tails"), ENUMERATED, ids=["100, .1", "1,000, .1", "1,000, 1"])
def test_coverage_of_two_levels_is_as_enumerated(
    size: int, epsilon: str, shortest: list[tuple[float, ...]], tails: list[tuple[float, ...]]
) -> None:
    """Every count and every likely output, read by own sums; densities on a grid that is even in arcsin sqrt theta."""
    rate, counts = float(epsilon), np.arange(size + 1)
    model = dc.Categories("x", levels=(0, 1), outside=0)
    mechanism = dc.GeometricHistogram(model, size=size, epsilon=epsilon)
    chances = binom.pmf(counts, size, THETAS[:, None])
    outputs = np.arange(-int(22 / rate), int(size * 0.62 + 22 / rate))
    chance = chances @ np.exp(-rate * np.abs(outputs - counts[:, None])) * np.tanh(rate / 2)
    outputs, chance = outputs[(kept := chance.max(axis=0) > 1e-5)], chance[:, kept]
    laws = np.zeros((len(outputs), size + 1))
    for row, z in zip(laws, outputs.tolist(), strict=True):
        release = dc.Release(mechanism, (z, size - z), "pair", simulated=True)
        parts = GroupwiseInference(Problem.of([release])).parts(np.array([0]))
        known, weights = parts.counts.sum_of(parts.indices[0])
        row[known] = weights
    angles = (np.arange(3000) + 0.5) / 3000 * np.pi / 2
    x = np.sin(angles) ** 2
    steps = np.sin(2 * angles) * np.pi / 6000
    densities = [laws @ beta.pdf(at, counts[:, None] + 1, size - counts[:, None] + 1) for at in (x, THETAS)]
    below = laws @ beta.cdf(THETAS, counts[:, None] + 1, size - counts[:, None] + 1)
    for place in range(len(THETAS)):
        higher = np.where(densities[0] > densities[1][:, [place]], densities[0] * steps, 0).sum(axis=1)
        stated = np.array(shortest[place])
        held = chance[place] @ (higher[:, None] <= LEVELS)
        assert held[~np.isnan(stated)] == pytest.approx(stated[~np.isnan(stated)], abs=2e-3)
        if place < len(tails):
            inside = np.abs(below[:, [place]] - 0.5) <= LEVELS / 2
            assert chance[place] @ inside == pytest.approx(tails[place], abs=1e-3)


def higher_mass(law: Share, theta: float) -> float:
    """Return the posterior mass where the density, which has one peak, is higher than at theta."""
    x = np.concatenate([[1e-9], np.linspace(1e-6, 1 - 1e-6, 1500), [1 - 1e-9]])
    logs, own = law.log_density(x), float(law.log_density(theta))
    higher = np.flatnonzero(logs > own)
    if not higher.size:
        return 0.0
    ends = [0.0 if higher[0] == 0 else x[higher[0]], 1.0 if higher[-1] == len(x) - 1 else x[higher[-1]]]
    for end, (inner, outer) in enumerate(((higher[0], higher[0] - 1), (higher[-1], higher[-1] + 1))):
        if 0 <= outer < len(x):
            near, far = x[inner], x[outer]
            for _ in range(40):
                middle = (near + far) / 2
                near, far = (middle, far) if float(law.log_density(middle)) > own else (near, middle)
            ends[end] = near
    return float(law.cdf(ends[1]) - law.cdf(ends[0]))


def test_rows_of_many_levels_learn_their_strength_and_rows_of_few_do_not() -> None:
    levels = {"class": ("a", "b"), "country": tuple(range(12)), "sex": ("f", "m")}
    wide = dc.Network.naive_bayes("class", ["country", "sex"], levels, outside={"class": "a", "country": 0, "sex": "f"})
    counts = wide.simulate(200, np.random.default_rng(3)).statistics
    posterior = dc.infer(dc.simulate(dc.FamilyHistograms(wide, size=200, epsilon=4), counts, dc.SeededBits(3)))
    strengths = [reading.model.prior[1][0] for reading in posterior.solutions]
    assert strengths == pytest.approx([(1 / 12) ** (1 - step / 4) for step in range(5)])
    assert {reading.model.prior[0] for reading in posterior.solutions} == {(1.0, 1.0)}
    assert sum(posterior.strength_probabilities) == pytest.approx(1)
    assert "learnt" in posterior.text.prior
    few = dc.Network.naive_bayes("class", ["sex"], {name: levels[name] for name in ("class", "sex")})
    assert few.strength_grids == {}
    assert wide.proposals(False)[0].prior[1] == (0.5,) * 12


def test_comparing_more_than_is_allowed_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 groups of records behind wide noise: the number, what did not happen, and what allows it are said."""
    levels = {"ward": tuple(range(400)), "fall": ("no", "yes")}
    model = dc.Categories(("ward", "fall"), levels=levels, outside={"ward": 0, "fall": "no"})
    mechanism = dc.GeometricHistogram(model, 10**6, "0.01")
    release = dc.Release(mechanism, (1_250,) * 800, "many wards", simulated=True)
    monkeypatch.setattr(pooled_groups, "_likelihood", lambda *_: pytest.fail("it was begun"))
    asked: list[Callable[[], object]] = [
        lambda: difference_between_groups(model, [release], "fall=yes", "ward", lambda: pytest.fail("it was begun")),
        lambda: PooledRates(model, [release], "fall=yes", "ward", lambda level: ()),
    ]
    for ask in asked:
        with pytest.raises(dc.DeclarationError, match=r"400 groups .* operations, and at most .* Nothing was compared"):
            ask()
    with pytest.raises(dc.DeclarationError, match=r"patience must be a number above 0.*Nothing was compared"):
        difference_between_groups(model, [release], "fall=yes", "ward", lambda: np.zeros(1), patience=0)


def test_the_work_of_a_comparison_is_what_patience_is_asked_for() -> None:
    levels = {"ward": ("A", "B", "C"), "fall": ("no", "yes")}
    model = dc.Categories(("ward", "fall"), levels=levels, outside={"ward": "A", "fall": "no"})
    release = dc.Release(dc.GeometricHistogram(model, 60, 1), (12, 8, 15, 5, 10, 10), "wards", simulated=True)
    posterior = dc.infer(release)
    with pytest.raises(dc.DeclarationError, match="--patience") as refused:
        posterior.differ("fall=yes", "ward", patience=1e-6)
    needed = float(str(refused.value).split("patience=")[1].split()[0])
    assert 0 < posterior.differ("fall=yes", "ward", patience=needed).probability < 1
