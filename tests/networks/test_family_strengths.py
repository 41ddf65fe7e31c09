"""Every family of a network learns a strength of its own: as by reading under every combination of them."""

from itertools import product

import numpy as np
import pytest

import discreet as dc
from discreet.inference import NoisyRow, Problem, RowWindows, solver_for
from discreet.inference._problem import in_turn
from discreet.networks import Network, solve_with_family_strengths
from discreet.networks import _class as class_windows
from discreet.networks import _family_strengths as family_strengths
from discreet.networks._naive_bayes import whole
from discreet.release import Release

SIZE = 90
SPREAD = np.full(9, 1 / 9)
PEAKED = np.array([0.97, *[0.03 / 11] * 11])


def network(*levels: int) -> Network:
    names = [f"x{number}" for number in range(len(levels))]
    known = {name: tuple(range(count)) for name, count in zip(names, levels, strict=True)}
    return Network.naive_bayes("y", names, {"y": (0, 1), **known}, outside=0)


def published(model: Network, shares: list[np.ndarray], seed: int, size: int = SIZE) -> Release[Network]:
    """Return a release of records whose features have these shares in both classes."""
    generator = np.random.default_rng(seed)
    classes = generator.multinomial(size, [0.4, 0.6])
    tables = [generator.multinomial(own, share) for share in shares for own in classes]
    return dc.simulate(dc.FamilyHistograms(model, size, epsilon=8), np.concatenate(tables), dc.SeededBits(seed))


@pytest.fixture(scope="module")
def release() -> Release[Network]:
    return published(network(9, 12, 3), [SPREAD, PEAKED, np.array([0.5, 0.3, 0.2])], 11)


def test_strengths_of_two_families_are_weighed_as_by_direct_sums_under_every_pair(release: Release[Network]) -> None:
    grids = release.model.strength_grids
    assert {name: len(values) for name, values in grids.items()} == {"x0": 5, "x1": 5}
    evidences, tables = [], []
    for one, two in product(grids["x0"], grids["x1"]):
        prior = {"y": 1.0, "x0": one, "x1": two, "x2": 1.0}
        direct = whole(Problem.of([release], prior))
        evidences.append(direct.log_evidence)
        tables.append(direct.means()[1])
    shares = np.exp(np.array(evidences) - max(evidences))
    posterior = dc.infer(release)
    expected = np.einsum("i,ijk->jk", shares / shares.sum(), np.array(tables))
    np.testing.assert_allclose(posterior.mean_tables()["x0"], expected, atol=1e-9)
    assert posterior.log_evidence == pytest.approx(max(evidences) + np.log(shares.mean()), abs=1e-8)
    learnt = shares.reshape(5, 5) / shares.sum()
    assert learnt.sum(axis=1).argmax() == 4  # rows that are spread evenly: one for each level
    assert learnt.sum(axis=0).argmax() == 0  # rows that hold one level: as little as there is
    assert posterior.mean_prior[1][0] == pytest.approx(learnt.sum(axis=1) @ np.array(grids["x0"]), abs=1e-8)


def test_no_row_is_read_twice_under_one_prior(release: Release[Network], monkeypatch: pytest.MonkeyPatch) -> None:
    made, rows = [], RowWindows

    def counted(alpha: np.ndarray, seen: list[NoisyRow], *where: int) -> RowWindows:
        made.append((tuple(alpha.tolist()), tuple(seen[0].values.tolist()), where))
        return rows(alpha, seen, *where)

    monkeypatch.setattr(class_windows, "RowWindows", counted)
    assert len(dc.infer(release).solutions) > 1
    assert len(set(made)) == len(made)


def test_drawn_combinations_stand_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network(9, 10, 12)
    one = published(model, [SPREAD, np.full(10, 0.1), PEAKED], 5)
    problem = Problem.of([one])
    solver = solver_for(problem)
    assert solver is not None
    exact = dc.infer(one)
    monkeypatch.setattr(family_strengths, "MOST_COMBINATIONS", 1)
    readings = solve_with_family_strengths(problem, in_turn(solver))
    assert len(readings) <= 32
    drawn = dc.networks.NetworkPosterior(problem.model, [one], readings)
    assert drawn.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    for name, table in exact.mean_tables().items():
        np.testing.assert_allclose(drawn.mean_tables()[name], table, atol=5e-4)
    for own, expected in zip(drawn.mean_prior, exact.mean_prior, strict=True):
        assert own[0] == pytest.approx(expected[0], abs=0.02)


def test_one_family_of_many_levels_learns_its_strength_and_few_levels_share_two_records() -> None:
    one = network(12, 3)
    assert [each.prior[1][0] for each in one.proposals(True)] == pytest.approx(
        [(1 / 12) ** (1 - g / 4) for g in range(5)]
    )
    assert one.proposals(False)[0].prior[1] == (0.5,) * 12
    (features,) = network(8, 3).proposals(True)
    assert features.prior == ((1.0, 1.0), (1.0,) * 8, (1.0,) * 3)  # of a class: as much as in any row
    (known,) = network(8).proposals(True)
    assert known.prior == ((1.0, 1.0), (1 / 8,) * 8)  # 2 records for each table: 1 for each of two rows
    many = Network.from_edges("a -> d", "b -> d", levels={"a": range(6), "b": range(10), "d": (0, 1)}, outside=0)
    assert many.proposals(True)[0].prior[-1] == (1 / 8, 1 / 8)  # a quarter of a record for each of 60 rows


def test_too_many_priors_to_read_are_not_learnt(release: Release[Network], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family_strengths, "MOST_OPERATIONS", 1.0)
    posterior = dc.infer(release)
    assert posterior.mean_prior[1] == [0.5] * 9
    assert posterior.mean_prior[3] == [1.0] * 3


def test_rows_reach_0_and_1_where_no_prior_was_declared_and_nowhere_else() -> None:
    """None of 60 records with x = 1 has y = 1, all of 40 with x = 2 have it: equal tails would exclude both truths."""
    counts = np.array([30, 30, 60, 0, 0, 40])
    levels = {"x": (0, 1, 2), "y": (0, 1)}
    for prior, is_open in ((None, True), (1, False)):
        model = Network.from_edges("x -> y", levels=levels, outside=0, prior=prior)
        posterior = dc.infer(dc.simulate(dc.FamilyHistograms(model, 160, 8), counts, dc.SeededBits(4)))
        rows = {(row.quantity, row.given): row for row in posterior.rows()}
        low, high = rows["y=1", "x=1"], rows["y=1", "x=2"]
        assert (low.low == 0.0) is is_open
        assert (high.high == 1.0) is is_open
        assert 0 < rows["y=1", "x=0"].low < rows["y=1", "x=0"].high < 1
        assert (posterior.conditional("y=1", "x=1").interval().low == 0.0) is is_open
        assert (posterior.conditional("y=1", "x=2").interval().high == 1.0) is is_open
        middle = posterior.probability("y=1").interval()
        assert 0 < middle.low < middle.high < 1
        exact = dict(zip(rows, model.exact(counts, 160, 0.9), strict=True))
        assert abs(exact["y=1", "x=1"][1] - (low.high - low.low)) < 0.03  # planned beside it, by the same rule


def test_a_rare_event_is_not_outweighed_by_rows_of_the_default_prior() -> None:
    """Twelve rows of a parent with a prior of 1 would be 24 imagined records, half of them with the event."""
    counts = np.array([[20, 0]] * 11 + [[19, 1]])
    model = Network.from_edges("x -> y", levels={"x": tuple(range(12)), "y": (0, 1)}, outside=0)
    release = dc.simulate(dc.FamilyHistograms(model, 240, 20), counts.ravel(), dc.SeededBits(1))
    assert dc.infer(release).probability("y=1").mean < 2.5 / 240
    assert dc.infer(release, prior=1).probability("y=1").mean > 10 / 240


def test_features_of_a_rare_class_pull_its_count_down_no_more_than_under_a_prior_of_one() -> None:
    """Half a record for each level, 1 for two rows, would let 6 features outweigh the class's own noisy count."""
    names = tuple(f"f{number}" for number in range(6))
    model = Network.naive_bayes("y", names, dict.fromkeys(("y", *names), ("no", "yes")), outside="no")
    counts = np.concatenate([[260, 108, 13, 19]] * 6)
    release = dc.simulate(dc.CubeCounts(model, 400, 1), counts, dc.SeededBits(5))
    found, one = (dc.infer(release, prior=prior).probability("y=yes").mean for prior in (None, 1))
    half = dc.infer(release, prior={"y": 1, **dict.fromkeys(names, 0.5)}).probability("y=yes").mean
    assert found == pytest.approx(one, abs=1e-9)
    assert half < one - 0.005
