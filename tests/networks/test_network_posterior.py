"""Reading releases of networks: every solver against a sum over all tables with the mechanism's own likelihood."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.inference import Problem, solver_for
from discreet.mathematics.distributions._dirichlet import BetaMixture
from discreet.mechanism import sized
from discreet.networks import (
    CubeCounts,
    FamilyGaussians,
    FamilyHistograms,
    JointHistograms,
    Network,
    NetworkPosterior,
    read_bif,
)
from discreet.networks._chains_solver import CountsSolver
from discreet.privacy import compositions
from discreet_papers.as_published.laplace_updates import LaplaceUpdates
from discreet_papers.as_published.projection import projected_reading, truncated_reading

TWO, THREE = (0, 1), (0, 1, 2)
NETWORKS: dict[str, tuple[Network, int]] = {
    "two classes": (
        Network.naive_bayes(
            "y", ["a", "b"], {"y": TWO, "a": TWO, "b": TWO}, {"y": 1, "a": (0.5, 2), "b": 3}, outside=TWO[0]
        ),
        4,
    ),
    "three classes": (
        Network.naive_bayes(
            "y", ["a", "b"], {"y": THREE, "a": TWO, "b": TWO}, outside={"y": THREE[0], "a": TWO[0], "b": TWO[0]}
        ),
        3,
    ),
    "three levels": (
        Network.naive_bayes(
            "y", ["a", "b"], {"y": TWO, "a": THREE, "b": TWO}, 0.7, outside={"y": TWO[0], "a": THREE[0], "b": TWO[0]}
        ),
        3,
    ),
    "items": (Network.from_edges("a", "b", levels={"a": TWO, "b": TWO}, outside=TWO[0]), 5),
    "chain": (Network.from_edges("a -> b -> c", levels={"a": TWO, "b": TWO, "c": TWO}, outside=TWO[0]), 4),
}
KINDS: dict[str, Any] = {
    "cube": CubeCounts,
    "joint": JointHistograms,
    "histograms": FamilyHistograms,
    "updates": LaplaceUpdates,
    "gaussians": lambda network, size, epsilon: FamilyGaussians(network, size, epsilon, "1e-3"),
}
CASES = [
    (name, kind)
    for name in NETWORKS
    for kind in KINDS
    if (kind, name) not in {("cube", "three levels"), ("cube", "chain"), ("joint", "chain")}
]


class Enumeration:
    """All tables of a tree with their posterior probabilities: the slow twin of every solver."""

    def __init__(self, release: dc.Release) -> None:
        model: Network = release.model
        self.network = model if model.is_prior_declared else model.proposals(is_evidence_known=False)[0]
        self.names = [column.name for column in self.network.variables]
        self.tables = self._all(sized(release.mechanism).size, [])
        last = [self.names.index(family[-1]) for family in self.network.maximal_families]
        cells = np.array([np.concatenate([each[place].ravel() for place in last]) for each in self.tables])
        logs = np.array([self._log_prior(each) for each in self.tables])
        logs = logs + release.mechanism.log_prob(release.counts, cells)
        self.log_evidence = float(logsumexp(logs))
        self.chances = np.exp(logs - self.log_evidence)

    def _all(self, size: int, above: list[np.ndarray]) -> list[list[np.ndarray]]:
        if len(above) == len(self.names):
            return [above]
        parents, levels = self.network.parents[len(above)], self.network.variables[len(above)].levels
        totals = above[self.names.index(parents[0])].sum(axis=0).tolist() if parents else [size]
        rows = itertools.product(*(list(compositions(total, len(levels))) for total in totals))
        return [done for row in rows for done in self._all(size, [*above, np.array(row)])]

    def _log_prior(self, tables: list[np.ndarray]) -> float:
        total = 0.0
        for table, prior in zip(tables, self.network.prior, strict=True):
            a = np.array(prior)
            terms = gammaln(a + table) - gammaln(a) - gammaln(table + 1)
            n = table.sum(axis=1)
            total += float(terms.sum() + (gammaln(n + 1) + gammaln(a.sum()) - gammaln(n + a.sum())).sum())
        return total

    def predictive(self, tables: list[np.ndarray]) -> list[np.ndarray]:
        shapes = [np.array(prior) + table for table, prior in zip(tables, self.network.prior, strict=True)]
        return [shape / shape.sum(axis=1, keepdims=True) for shape in shapes]

    def mean_tables(self) -> dict[str, np.ndarray]:
        each = [self.predictive(tables) for tables in self.tables]
        means = [np.tensordot(self.chances, np.stack(column), 1) for column in zip(*each, strict=True)]
        return dict(zip(self.names, means, strict=True))

    def joint(self, record: dict[str, int]) -> float:
        total = 0.0
        for chance, tables in zip(self.chances, self.tables, strict=True):
            product = chance
            for name, parents, table in zip(self.names, self.network.parents, self.predictive(tables), strict=True):
                product *= table[record[parents[0]] if parents else 0, record[name]]
            total += product
        return total


def release_of(name: str, kind: str) -> dc.Release:
    network, size = NETWORKS[name]
    generator = np.random.default_rng(21)
    data = {column.name: generator.integers(0, len(column.levels), size).tolist() for column in network.variables}
    codes = {column.name: np.array(data[column.name]) for column in network.variables}
    tables = []
    for family in network.maximal_families:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(codes[member] for member in family), 1)
        tables.append(table.ravel())
    return dc.simulate(KINDS[kind](network, size, 1), np.concatenate(tables), dc.SeededBits(22))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_evidence_and_means_are_those_of_a_sum_over_all_tables(name: str, kind: str) -> None:
    release = release_of(name, kind)
    posterior, exact = dc.infer(release), Enumeration(release)
    assert posterior.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)
    closed = posterior.model.target is not None or kind == "cube"
    tolerance = 1e-12 if closed and kind != "joint" else 0.02  # else means of 4,000 draws, each of sd 0.25 at most
    for variable, table in posterior.mean_tables().items():
        np.testing.assert_allclose(table.ravel(), exact.mean_tables()[variable].ravel(), atol=tolerance)


@pytest.mark.parametrize(("name", "kind"), [problem for problem in CASES if NETWORKS[problem[0]][0].target])
def test_predictions_are_those_of_a_sum_over_all_tables(name: str, kind: str) -> None:
    release = release_of(name, kind)
    posterior, exact = dc.infer(release), Enumeration(release)
    target, *features = release.model.variables
    records = [
        dict(zip([f.name for f in features], codes, strict=True))
        for codes in itertools.product(*(f.levels for f in features))
    ]
    found = posterior.predict_proba(records)
    joint = np.array([[exact.joint(record | {target.name: y}) for y in target.levels] for record in records])
    wanted = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=0.02 if kind == "joint" else 1e-12)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_drawn_tables_have_the_exact_means(name: str, kind: str) -> None:
    release = release_of(name, kind)
    exact = Enumeration(release)
    drawn = dc.infer(release).solutions[0].draw(4_000, np.random.default_rng(23))
    for place, variable in enumerate(exact.names):
        values = np.stack([tables[place] for tables in exact.tables])
        mean = np.tensordot(exact.chances, values, 1)
        sd = np.sqrt(np.tensordot(exact.chances, (values - mean) ** 2, 1))
        assert (np.abs(drawn[variable].mean(axis=0) - mean) <= 4.5 * sd / np.sqrt(4_000) + 1e-9).all()


def test_any_variable_of_a_tree_can_be_predicted() -> None:
    release = release_of("chain", "histograms")
    exact = Enumeration(release)
    found = dc.infer(release).predict_proba([{"a": 0, "c": 1}], target="b")[0]
    joint = np.array([exact.joint({"a": 0, "b": b, "c": 1}) for b in (0, 1)])
    np.testing.assert_allclose(found, joint / joint.sum(), atol=0.02)


@pytest.fixture(scope="module")
def posterior() -> NetworkPosterior:
    network = Network.from_edges(
        "smoker -> cancer",
        "smoker -> cough",
        levels=dict.fromkeys(("smoker", "cancer", "cough"), ("no", "yes")),
        outside="no",
    )
    counts = np.array([500, 20, 120, 160, 420, 100, 80, 200])
    posterior: NetworkPosterior = dc.infer(dc.simulate(CubeCounts(network, 800, 5), counts, dc.SeededBits(24)))
    return posterior


def test_a_child_given_its_parent_is_a_mixture_of_betas(posterior: NetworkPosterior) -> None:
    law = posterior.conditional("cancer=yes", given="smoker=yes")
    assert isinstance(law, BetaMixture)
    assert law.mean == pytest.approx(160 / 280, abs=0.05)
    assert law.mean == pytest.approx(posterior.mean_tables()["cancer"][1, 1], abs=0.003)
    low, high = law.interval(0.9)
    assert low < law.mean < high
    assert 0.01 < law.sd < 0.1


def test_a_parent_given_its_child_follows_by_bayes_rule(posterior: NetworkPosterior) -> None:
    law = posterior.conditional("smoker=yes", given="cancer=yes")
    drawn = posterior.draws(20_000, seed=25)
    joint = drawn["smoker"] * drawn["cancer"][:, :, 1]
    assert law.mean == pytest.approx((joint[:, 1] / joint.sum(axis=1)).mean(), abs=0.005)
    both = posterior.conditional("cancer=yes", given="cough=yes, smoker=yes")
    assert both.mean == pytest.approx(posterior.mean_tables()["cancer"][1, 1], abs=0.01)  # the cough tells nothing more
    assert posterior.probability("smoker=yes").mean == pytest.approx(0.35, abs=0.05)


@pytest.mark.parametrize("event", ["cancer", "cancer=maybe", "cold=yes", ""])
def test_unknown_events_are_refused_with_words(posterior: NetworkPosterior, event: str) -> None:
    with pytest.raises(dc.DeclarationError, match="variable=level"):
        posterior.conditional(event, given="smoker=yes")


def test_an_event_about_what_is_given_is_refused(posterior: NetworkPosterior) -> None:
    with pytest.raises(dc.DeclarationError, match="neither"):
        posterior.conditional("smoker=yes", given="smoker=no")


def test_records_may_come_in_three_forms(posterior: NetworkPosterior) -> None:
    pandas = pytest.importorskip("pandas")
    lists = {"cancer": ["no", "yes", None], "cough": ["yes", "no", "whooping"]}
    rows = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    found = posterior.predict_proba(lists)
    np.testing.assert_array_equal(found, posterior.predict_proba(rows))
    np.testing.assert_array_equal(found, posterior.predict_proba(pandas.DataFrame(lists)))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found[2], posterior.predict_proba([{"cancer": "no", "cough": "no"}])[0])  # outside
    assert posterior.predict(rows)[1] == "yes"
    with pytest.raises(dc.SourceError, match=r"no column 'cough', but do have 'coff', which the network does not know"):
        posterior.predict_proba({"cancer": ["no"], "coff": ["no"]})
    with pytest.raises(dc.DeclarationError, match="data frame"):
        posterior.predict_proba(3)


def test_draws_are_probabilities_and_depend_on_the_seed_alone(posterior: NetworkPosterior) -> None:
    drawn = posterior.draws(50, seed=1)
    assert drawn["smoker"].shape == (50, 2)
    assert drawn["cancer"].shape == (50, 2, 2)
    np.testing.assert_allclose(drawn["cancer"].sum(axis=-1), 1.0)
    np.testing.assert_array_equal(drawn["cough"], posterior.draws(50, seed=1)["cough"])


def test_made_up_records_follow_the_network(posterior: NetworkPosterior) -> None:
    made = posterior.synthesize(4_000, seed=2)
    assert set(made) == {"smoker", "cancer", "cough"}
    smokers = [cancer for smoker, cancer in zip(made["smoker"], made["cancer"], strict=True) if smoker == "yes"]
    assert smokers.count("yes") / len(smokers) == pytest.approx(0.57, abs=0.12)


def test_the_means_survive_the_way_through_a_bif_text(posterior: NetworkPosterior) -> None:
    network, tables = read_bif(posterior.to_bif())
    assert [column.name for column in network.variables] == ["smoker", "cancer", "cough"]
    for name, table in posterior.mean_tables().items():
        np.testing.assert_allclose(tables[name], table, atol=1e-6)


def test_draws_go_to_arviz(posterior: NetworkPosterior) -> None:
    pytest.importorskip("arviz_base")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = posterior.to_arviz(draws=20)
    assert tree["posterior"]["cancer"].shape == (1, 20, 2, 2)


def test_two_releases_of_the_same_tables_say_more_than_one() -> None:
    network, size = NETWORKS["chain"]
    big = FamilyHistograms(network, 300, "0.5")
    counts = np.array([90, 60, 50, 100, 80, 60, 70, 90])
    releases = [dc.simulate(big, counts, dc.SeededBits(seed)) for seed in (1, 2)]
    widths = [dc.infer(*given).conditional("b=1", given="a=1").sd for given in (releases[:1], releases)]
    assert widths[1] < widths[0]
    assert size == 4


def test_strengths_of_the_prior_are_weighted_by_their_evidence() -> None:
    release = release_of("two classes", "cube")
    averaged = dc.infer(release, strengths=(0.5, 1, 4))
    alone = [dc.infer(release, prior={"y": s, "a": (0.5 * s, 2 * s), "b": 3 * s}) for s in (0.5, 1, 4)]
    evidences = np.array([each.log_evidence for each in alone])
    shares = np.exp(evidences - logsumexp(evidences))
    np.testing.assert_allclose(averaged.strength_probabilities, shares, atol=1e-12)
    means = sum(s * each.mean_tables()["a"] for s, each in zip(shares, alone, strict=True))
    np.testing.assert_allclose(averaged.mean_tables()["a"], means, atol=1e-12)
    assert averaged.log_evidence == pytest.approx(logsumexp(evidences) - np.log(3))


def test_what_cannot_be_read_is_refused_with_words() -> None:
    with pytest.raises(dc.DeclarationError, match="one or more releases"):
        dc.infer()
    pair = Problem.of([release_of("two classes", "cube"), release_of("two classes", "cube")])
    assert isinstance(solver_for(pair), CountsSolver)  # two radii for each class are more than the exact sum takes


@pytest.mark.parametrize("kind", ["updates", "histograms", "gaussians", "cube", "joint"])
def test_plug_in_readings_are_probabilities(kind: str) -> None:
    release = release_of("two classes", kind)
    for reading in (truncated_reading(release), projected_reading(release)):
        for table in reading.mean_tables().values():
            np.testing.assert_allclose(table.sum(axis=-1), 1.0)
        np.testing.assert_allclose(reading.predict_proba([{"a": 0, "b": 1}]).sum(), 1.0)


def test_the_projected_tables_agree_with_each_other_and_with_the_size() -> None:
    reading = projected_reading(release_of("two classes", "updates"))
    classes = reading.tables["y"][0]
    assert classes.sum() == pytest.approx(4.0)
    for name in ("a", "b"):
        np.testing.assert_allclose(reading.tables[name].sum(axis=1), classes, atol=1e-12)
        assert reading.tables[name].min() >= 0


def test_the_published_reading_cuts_each_count_by_itself() -> None:
    release = release_of("two classes", "updates")
    mechanism: Any = release.mechanism
    named = mechanism.tables(mechanism.truncated(release.counts))
    for name, table in truncated_reading(release).tables.items():
        np.testing.assert_array_equal(table.ravel(), named[name].ravel())
