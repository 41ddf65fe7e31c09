"""Do the released tables fit the graph: what is found, what is not, and what cannot be said."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.networks._criticism import _decided, criticised
from discreet.networks._elimination import joint_chances
from discreet.networks._further_records import expected_counts, further_counts
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables
from discreet.report import charts

LOOP = dc.Network.from_edges(
    *("a -> b -> d", "a -> c -> d", "d -> e"),
    levels={"a": (0, 1), "b": (0, 1, 2), "c": (0, 1), "d": (0, 1, 2), "e": (0, 1)},
    outside=0,
)
COLLIDER = dc.Network.from_edges("b -> d", "c -> d", "d -> e", levels=dict.fromkeys("bcde", (0, 1)), outside=0)
SIZE = 2_000


def drawn_tables(network: dc.Network, draws: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    made = [simulated_tables(network, generator) for _ in range(draws)]
    return {name: np.stack([each[name] for each in made]) for name in made[0]}


def counts(tied: float, seed: int = 3) -> Any:
    """Return counts in which c follows b by so much, which the graph of the collider does not allow."""
    generator = np.random.default_rng(seed)
    b = generator.random(SIZE) < 0.4
    c = generator.random(SIZE) < 0.3 + tied * b
    d = generator.random(SIZE) < np.where(b & c, 0.8, 0.3)
    e = generator.random(SIZE) < np.where(d, 0.7, 0.2)
    return counts_of(COLLIDER, {name: x.astype(int) for name, x in zip("bcde", (b, c, d, e), strict=True)})


MECHANISMS: Mapping[str, Any] = {
    "histograms": dc.networks.FamilyHistograms(COLLIDER, SIZE, 1),
    "joint": dc.networks.JointHistograms(COLLIDER, SIZE, 1),
    "parities": dc.networks.FourierCounts(COLLIDER, SIZE, 1),
    "contrasts": dc.networks.ContrastGaussians(COLLIDER, SIZE, 1, Fraction(1, 10**6)),
}


@cache
def read(kind: str, tied: float) -> Any:
    return dc.infer(dc.simulate(MECHANISMS[kind], counts(tied), dc.SeededBits(2), kind))


@pytest.fixture(scope="module")
def blamed() -> Any:
    return read("histograms", 0.15).criticise(replicates=500)


def test_expected_tables_are_those_of_elimination() -> None:
    tables = drawn_tables(LOOP, 4, seed=1)
    slow = [joint_chances(family, {}, tables, LOOP).reshape(4, -1) for family in LOOP.maximal_families]
    np.testing.assert_allclose(expected_counts(LOOP, tables, 90), 90 * np.concatenate(slow, axis=1), atol=1e-11)


def test_further_tables_have_the_law_of_records_that_are_drawn_one_by_one() -> None:
    """Means and variances of 4,000 studies of 40 records within 5 standard errors (variance: kurtosis of 4)."""
    one, draws = drawn_tables(LOOP, 1, seed=2), 4_000
    many = {name: np.repeat(table, draws, axis=0) for name, table in one.items()}
    fast = further_counts(LOOP, many, 40, np.random.default_rng(3))
    generator = np.random.default_rng(4)
    single = {name: table[0] for name, table in one.items()}
    slow = np.stack([counts_of(LOOP, simulated_records(LOOP, single, 40, generator)) for _ in range(draws)])
    sd = np.maximum(slow.std(axis=0), 0.05)
    np.testing.assert_array_less(np.abs(fast.mean(axis=0) - slow.mean(axis=0)), 5 * sd * np.sqrt(2 / draws))
    np.testing.assert_array_less(np.abs(fast.var(axis=0) - slow.var(axis=0)), 5 * sd**2 * np.sqrt(6 / draws) + 0.01)
    for table in LOOP.split(fast):
        np.testing.assert_array_equal(table.reshape(draws, -1).sum(axis=1), 40)
    for one_family, other in ((("a", "b"), ("a", "c")), (("b", "c", "d"), ("d", "e"))):  # tables of the same records
        shared = next(name for name in one_family if name in other)
        tables = [LOOP.split(fast)[LOOP.maximal_families.index(each)] for each in (one_family, other)]
        first, second = (LOOP.marginal(t, f, (shared,)) for t, f in zip(tables, (one_family, other), strict=True))
        np.testing.assert_array_equal(first, second)


def test_graphs_too_dense_for_tables_get_their_records_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = drawn_tables(LOOP, 3, seed=5)
    fast = expected_counts(LOOP, tables, 50)
    monkeypatch.setattr("discreet.networks._further_records.MOST_CELLS", 3)
    np.testing.assert_allclose(expected_counts(LOOP, tables, 50), fast, atol=1e-11)
    found = further_counts(LOOP, tables, 50, np.random.default_rng(1))
    assert found.shape == fast.shape
    assert {int(table[0].sum()) for table in LOOP.split(found)} == {50}


def test_a_right_graph_is_not_blamed() -> None:
    right = read("histograms", 0.0).criticise(replicates=300)
    assert right.fits
    assert "Nothing that was released contradicts the graph" in right.verdict
    assert "of the records goes unnoticed" in right.verdict


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_missing_arrow_is_found_whatever_numbers_were_released(kind: str) -> None:
    """At n = 2,000, epsilon 1: P(c | b) .45 instead of .3. One seed; validation measures how often."""
    wrong = read(kind, 0.15).criticise(replicates=300)
    assert not wrong.fits
    assert wrong.misfits[0].about == ("b", "c")
    assert wrong.misfits[0].is_pair
    assert "b and c are not associated as the graph says" in wrong.verdict
    names = {check.name for check in wrong.checks}
    assert names == {"table of b, c, d", "table of d, e", "b and c, no arrow"}
    assert [check.is_misfit for check in wrong.checks if check.about == ("d", "e")] == [False]


def test_what_is_off_is_told_in_records_with_the_released_margins(blamed: Any) -> None:
    (pair,) = blamed.pairs
    truth = COLLIDER.split(counts(0.15))[0].sum(axis=2)
    places = tuple(int(part.split("=")[1]) for part in pair.number.split(", "))
    independent = truth.sum(axis=1)[places[0]] * truth.sum(axis=0)[places[1]] / SIZE
    assert pair.released == pytest.approx(truth[places], abs=40)
    assert pair.expected == pytest.approx(independent, abs=40)
    assert pair.low < pair.expected < pair.high
    assert not pair.low < pair.released < pair.high


def test_the_noise_is_accounted_for() -> None:
    """The same numbers are blamed if they carry little noise, and not if they carry much."""
    judged = []
    for epsilon in (1, "0.02"):
        mechanism = dc.networks.FamilyHistograms(COLLIDER, SIZE, epsilon)
        release = dc.Release(mechanism, tuple(counts(0.15).tolist()), "same numbers", simulated=True)
        tables = read("histograms", 0.15).parameters(300, 0)  # the same posterior for both
        judged.append(criticised(COLLIDER, [release], SIZE, tables, 0, 0.05))
    assert not judged[0].fits
    assert judged[1].fits
    little, much = (each.pairs[0].sd or 0.0 for each in judged)
    assert much > 5 * little > 0


def test_pairs_that_no_release_informs_are_named_and_not_judged(blamed: Any) -> None:
    assert blamed.unseen == (("b", "e"), ("c", "e"))
    assert "Nothing is said about 2 pairs" in blamed.verdict
    naive = dc.Network.naive_bayes("y", ["x", "z"], dict.fromkeys("yxz", (0, 1)), outside=0)
    release = dc.simulate(dc.networks.CubeCounts(naive, 100, 1), [30, 20, 10, 40, 25, 25, 25, 25], dc.SeededBits(1))
    found = dc.infer(release).criticise(replicates=99)
    assert found.unseen == (("x", "z"),)
    assert not found.pairs
    assert "Nothing is said about 1 pair" in found.verdict


def test_margins_that_are_read_along_are_judged_with_their_own_noise() -> None:
    posterior = read("histograms", 0.15)
    wide = posterior.releases[0]
    table = dc.Categories(("b", "c"), levels={"b": (0, 1), "c": (0, 1)}, outside={"b": 0, "c": 0})
    own = COLLIDER.split(counts(0.15))[0].sum(axis=2).ravel()
    margin = dc.simulate(dc.GeometricHistogram(table, SIZE, 1), own, dc.SeededBits(3), "margin")
    found = criticised(COLLIDER, [wide, margin], SIZE, posterior.parameters(300, 0), 0, 0.05)
    assert [(c.about, c.release) for c in found.checks if c.is_misfit and not c.is_pair] == [
        (("b", "c", "d"), "histograms"),
        (("b", "c"), "margin"),
    ]
    (pair,) = found.pairs
    assert pair.release == "histograms, margin"
    assert pair.distance > 4


def test_the_same_seed_gives_the_same_criticism(blamed: Any) -> None:
    again = read("histograms", 0.15).criticise(replicates=500)
    assert again == blamed
    assert read("histograms", 0.15).criticise(replicates=500, seed=1) != blamed


def test_few_checks_are_decided_by_holm_and_never_by_less_than_one_replicate() -> None:
    (check,) = read("histograms", 0.0).criticise(replicates=99).pairs

    def failed(*values: float, replicates: int = 999) -> list[bool]:
        return [c.is_misfit for c in _decided([replace(check, p_value=v) for v in values], 0.05, replicates)]

    assert failed(0.04, 0.001, 0.02) == [True, True, True]
    assert failed(0.06, 0.001, 0.03) == [False, True, False]
    assert failed(0.02, 0.02, 0.02) == [False, False, False]
    assert failed(*[0.001] * 100) == [True] * 100  # the smallest that 999 replicates can give


def test_what_cannot_be_criticised_is_refused_in_words() -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    posterior: Any = dc.infer(dc.simulate(dc.GeometricHistogram(coin, 50, 1), [20, 30], dc.SeededBits(1)))
    with pytest.raises(
        AttributeError, match=r"A table of categories has no `criticise`. That is for .* The model makes"
    ):
        posterior.criticise()
    chain = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=0, prior=1)
    drawn = dc.simulate(
        dc.draws.NetworkSampling.tempered(chain, size=40, epsilon=2, delta="0.1"),
        [10, 10, 5, 15],
        dc.SeededBits(1),
        "draws",
    )
    with pytest.raises(dc.DeclarationError, match=r"holds no noisy tables, .* Ask for noisy counts"):
        dc.infer(drawn).criticise()
    network: Any = read("histograms", 0.0)
    with pytest.raises(dc.DeclarationError, match="at least 99 replicates; got 10"):
        network.criticise(replicates=10)
    with pytest.raises(dc.DeclarationError, match="risk must lie between 0 and 1"):
        network.criticise(replicates=99, risk=2)
    with pytest.raises(dc.DeclarationError, match="This chart needs a criticism"):
        charts.criticism_chart(network)


def test_it_is_shown_as_a_picture_and_in_a_notebook(blamed: Any, capfd: pytest.CaptureFixture[str]) -> None:
    convert = pytest.importorskip("vl_convert")
    picture = charts.criticism_chart(blamed)
    drawn = convert.vegalite_to_svg(picture, show_warnings=True)
    assert "WARN" not in "".join(capfd.readouterr())
    assert "does not fit" in drawn
    assert [row["misfit"] for row in picture["data"]["values"]] == [True, True, False]
    page = blamed._repr_html_()
    assert "<td" in page
    assert "do not fit the graph" in page
    assert "conservative" in str(blamed)
    assert "does not fit" in repr(blamed)
