"""The suite that mechanisms which publish parameters of networks must pass: draws from a posterior."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.draws import NetworkSampling
from discreet.mechanism import Mechanism, with_fields
from discreet.release import mechanism_document, read_mechanism

Counts = NDArray[np.int64]


def network_of(*edges: str, prior: Any = 1, **levels: int) -> dc.Network:
    return dc.Network.from_edges(
        *edges,
        levels={n: tuple(range(k)) for n, k in levels.items()},
        prior=prior,
        outside={name: each[0] for name, each in ({n: tuple(range(k)) for n, k in levels.items()}).items()},
    )


CHAIN = network_of("a -> b", a=2, b=2)
MIXED = network_of("a", "b", a=2, b=3, prior={"a": 2, "b": (1, 2, 1.5)})
PARENTS = network_of("a -> c", "b -> c", a=2, b=2, c=2)


def data_sets(network: dc.Network, size: int) -> tuple[Counts, Counts]:
    """Return the counts of all data sets, and all pairs of neighbours among them: the slow and obvious way."""
    names = [variable.name for variable in network.variables]
    records = list(product(*(range(len(variable.levels)) for variable in network.variables)))
    sets = list(combinations_with_replacement(records, size))
    place = {data: number for number, data in enumerate(sets)}
    pairs = {
        (place[data], place[tuple(sorted((*data[:i], other, *data[i + 1 :])))])
        for data in sets
        for i in range(size)
        for other in records
    }
    tables = []
    for data in sets:
        parts = [np.zeros(network.shape(family), dtype=np.int64) for family in network.maximal_families]
        for record, (part, family) in product(data, zip(parts, network.maximal_families, strict=True)):
            part[tuple(record[names.index(name)] for name in family)] += 1
        tables.append(np.concatenate([part.ravel() for part in parts]))
    return np.array(tables), np.array(sorted(pairs))


def all_outputs(mechanism: NetworkSampling) -> Counts:
    axes = [np.arange(2**mechanism.grid_bits)] * mechanism.space.length
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def laws_of(mechanism: NetworkSampling, tables: Counts) -> tuple[Counts, NDArray[np.float64]]:
    outputs = all_outputs(mechanism)
    laws = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    used = np.isfinite(laws).all(axis=0)
    assert (np.isfinite(laws).any(axis=0) == used).all()  # what one data set can give, all can
    assert np.exp(laws[:, used]).sum(axis=1) == pytest.approx(1, abs=1e-9)
    return outputs[used], laws[:, used]


TRUNCATED = [
    pytest.param(NetworkSampling(CHAIN, 3, "5.5452", least="0.2", grid_bits=4), id="chain"),
    pytest.param(NetworkSampling(CHAIN, 3, "1", power="0.18", least="0.2", grid_bits=4), id="tempered"),
    pytest.param(NetworkSampling(MIXED, 2, "6.56", least="0.15", grid_bits=3), id="two and three levels"),
    pytest.param(NetworkSampling(CHAIN, 2, "9.76", least="0.2", draws=2, grid_bits=2, power="0.88"), id="two draws"),
]


@pytest.mark.parametrize("mechanism", TRUNCATED)
def test_no_output_of_a_truncated_draw_reveals_more_than_the_promised_epsilon(mechanism: NetworkSampling) -> None:
    tables, pairs = data_sets(mechanism.model, mechanism.size)
    _, laws = laws_of(mechanism, tables)
    losses = np.abs(laws[pairs[:, 0]] - laws[pairs[:, 1]])
    assert 0.2 * float(mechanism.epsilon) < losses.max() <= float(mechanism.epsilon)


def test_the_range_of_a_truncated_posterior_is_attained_by_many_records_and_a_fine_grid() -> None:
    """Two nodes and a record that changes in both; all others are on one side, so both means are near the edge."""
    net = network_of("a", "b", a=2, b=2)
    mechanism = NetworkSampling(net, 10**4, "5.5452", least="0.2", grid_bits=20)  # 4 ln 4
    size = mechanism.size
    first, second = np.array([size, 0, 0, size]), np.array([size - 1, 1, 1, size - 1])
    low, high = int(0.2 * 2**20) + 1, int(0.8 * 2**20) - 1
    edge = np.array([[high, low], [low, high]])
    loss = float(np.abs(mechanism.log_prob(edge, first) - mechanism.log_prob(edge, second)).max())
    assert 0.998 * 4 * log(4) < loss < 4 * log(4)


UNTRUNCATED = [
    pytest.param(NetworkSampling(CHAIN, 2, "1", "0.9", grid_bits=4), id="chain"),
    pytest.param(NetworkSampling(CHAIN.with_prior(3), 3, "0.5", "0.9", power="0.5", grid_bits=4), id="tempered"),
    pytest.param(NetworkSampling(MIXED, 2, "1", "0.9", grid_bits=4), id="two priors"),
    pytest.param(NetworkSampling(PARENTS.with_prior(4), 1, "1", "0.9", grid_bits=2), id="two parents"),
    pytest.param(NetworkSampling(CHAIN.with_prior(5), 1, "1", "0.9", draws=2, grid_bits=2), id="two draws"),
]


@pytest.mark.parametrize("mechanism", UNTRUNCATED)
def test_the_stated_loss_dominates_all_neighbours_at_every_epsilon(mechanism: NetworkSampling) -> None:
    tables, pairs = data_sets(mechanism.model, mechanism.size)
    _, laws = laws_of(mechanism, tables)
    stated = mechanism.privacy_loss()
    for epsilon in (0.0, 0.3, 1.0, 2.0, 4.0):
        gaps = np.exp(laws[pairs[:, 0]]) - np.exp(epsilon) * np.exp(laws[pairs[:, 1]])
        found = np.maximum(0.0, gaps).sum(axis=1).max()
        assert found <= mechanism.delta_at(Fraction(epsilon)) + 1e-9
        assert mechanism.delta_at(Fraction(epsilon)) <= stated.delta_at(epsilon) + 1e-12


def test_drawn_tables_have_their_places() -> None:
    """A table far from even in each row: every drawn row lies near its own counts."""
    mechanism = NetworkSampling.plain(PARENTS.with_prior(0.5), size=40_000, delta="0.5")
    cells = np.array([9000, 1000, 2000, 8000, 5000, 5000, 9900, 100])
    drawn = mechanism.parameters(mechanism.sample(cells, dc.SeededBits(3)))
    assert {name: table.shape for name, table in drawn.items()} == {"a": (1, 2), "b": (1, 2), "c": (1, 2, 2, 2)}
    assert drawn["a"][0, 0] == pytest.approx(0.5, abs=0.02)
    assert drawn["c"][0, :, :, 0] == pytest.approx(np.array([[0.9, 0.2], [0.5, 0.99]]), abs=0.02)


@pytest.mark.parametrize(("prior", "most"), [(1, 50.2), (10, 10.07)])  # stronger priors in validation/
def test_one_draw_of_naive_bayes_with_sixteen_features(prior: float, most: float) -> None:
    names = [f"x{i}" for i in range(16)]
    net = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), prior=prior, outside=0)
    mechanism = NetworkSampling.plain(net, size=50, delta="1e-6")
    assert 0.98 * most < mechanism.epsilon <= most
    assert mechanism.privacy_loss().delta_at(mechanism.epsilon) <= 1e-6
    assert dc.verify(mechanism).guarantee == mechanism.guarantee


def test_powers_and_priors_are_found_and_nothing_weaker_is_accepted() -> None:
    tempered = NetworkSampling.tempered(CHAIN, size=100, epsilon="1", delta="1e-6")
    strong = NetworkSampling.concentrated(CHAIN, size=100, epsilon="1", delta="1e-6")
    assert 0.05 < tempered.power < 0.2
    assert strong.model == CHAIN
    assert strong.strength is not None
    assert 50 < float(strong.strength) == min(strong.drawn_under.prior[0]) < 100
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        with_fields(tempered, power=tempered.power * Fraction(10001, 10000))
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        with_fields(strong, strength=strong.strength * Fraction(9999, 10000))
    several = NetworkSampling.tempered(CHAIN, size=100, epsilon="1", delta="1e-6", draws=4)
    assert 0.4 * tempered.power < several.power < 0.7 * tempered.power


def test_the_least_probability_for_a_pure_epsilon() -> None:
    mechanism = NetworkSampling.truncated(PARENTS, size=100, epsilon="3", draws=2)
    assert float(mechanism.least) == pytest.approx(1 / (1 + exp(1.5 / 6)), rel=1e-9)
    assert mechanism.rho == Fraction(9, 16)
    mixed = NetworkSampling.truncated(MIXED, size=100, epsilon="2")
    w = float(mixed.least)
    assert 2 * (log((1 - w) / w) + log((1 - 2 * w) / w)) == pytest.approx(2, abs=1e-9)
    assert 2 * (log((1 - w) / w) + log((1 - 2 * w) / w)) <= 2
    lower = NetworkSampling.truncated(MIXED, size=100, epsilon="2", least="0.01")
    assert float(lower.power) == pytest.approx(2 / (2 * log(99) + 2 * log(98)), rel=1e-9)
    with pytest.raises(dc.DeclarationError, match="cost epsilon"):
        with_fields(mixed, least=mixed.least * Fraction(999_999, 10**6))


def test_the_published_rule_has_its_true_epsilon_and_its_empty_set() -> None:
    names = [f"x{i}" for i in range(16)]
    net = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    true = {"1.5": 3.762, "2": 18.405, "3": 42.416, "5": 82.088, "10": 169.770}
    for claimed, digits in true.items():
        mechanism = NetworkSampling.published(net, size=50, claimed=claimed)
        assert float(mechanism.guarantee.epsilon) == pytest.approx(digits, abs=5e-4)
        assert float(mechanism.least) == pytest.approx(exp(-float(claimed) / 2), rel=1e-10)
    assert float(NetworkSampling.published(net, size=50, claimed=Fraction(2 * log(5))).epsilon) == pytest.approx(
        47.134, abs=5e-4
    )
    for claimed in ("1", "1.386"):
        with pytest.raises(dc.DeclarationError, match=r"claimed must be above 2 ln 2 = 1.3863"):
            NetworkSampling.published(net, size=50, claimed=claimed)


@pytest.mark.parametrize("mechanism", [*TRUNCATED, *UNTRUNCATED])
def test_a_mechanism_survives_the_way_through_its_document(mechanism: NetworkSampling) -> None:
    assert isinstance(mechanism, Mechanism)
    assert read_mechanism(mechanism_document(mechanism)) == mechanism
    assert with_fields(mechanism) == mechanism
    assert repr(mechanism).startswith("NetworkSampling(")
    tables, _ = data_sets(mechanism.model, 1)
    release = dc.simulate(mechanism, tables[0] * mechanism.size, dc.SeededBits(4))
    assert dc.Release.from_json(release.to_json()) == release


def test_a_document_that_promises_too_much_is_refused() -> None:
    written = mechanism_document(NetworkSampling(CHAIN, 3, "5.5452", least="0.2"))
    with pytest.raises(dc.DocumentError, match="cost epsilon"):
        read_mechanism(written | {"least": "0.19"})
    with pytest.raises(dc.DocumentError, match="above the stated"):
        read_mechanism(mechanism_document(NetworkSampling.plain(CHAIN, size=3, delta="0.1")) | {"delta": "0.01"})


def test_draws_are_published_and_charged(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=10)
    mechanism = NetworkSampling.truncated(CHAIN, size=3, epsilon="2")
    secret = CHAIN.statistics({"a": [0, 1, 1], "b": [0, 0, 1]})
    release = dc.publish(mechanism, secret, ledger=ledger, label="chain", reading="none")
    assert ledger.spent.epsilon == 2
    assert dc.verify(release, ledger=ledger).epsilon == 2


def test_secrets_nonsense_and_outputs_off_the_grid_are_refused() -> None:
    mechanism = NetworkSampling(CHAIN, 2, "5.5452", least="0.2", grid_bits=4)
    with pytest.raises(dc.SecretError):
        mechanism.sample(CHAIN.statistics({"a": [0, 1], "b": [0, 1]}), dc.SeededBits(1))  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="add up to the public size"):
        mechanism.sample(np.array([1, 0, 0, 0]), dc.SeededBits(1))
    for output, words in (([8], "3 numbers"), ([8, 8, 16], "outside"), ([8, -1, 8], "outside"), ([8, 1, 8], "least")):
        with pytest.raises(dc.DocumentError, match=words):
            mechanism.space.check(np.array(output))
    right: dict[str, Any] = {"model": CHAIN, "size": 2, "epsilon": "5.5452", "least": "0.2"}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"model": "chain"}, "Network"),
        ({"size": 0}, "size"),
        ({"epsilon": 0}, "epsilon"),
        ({"least": 0}, "no pure epsilon"),
        ({"delta": "0.1"}, "leave delta out"),
        ({"power": 2}, "at most 1"),
        ({"least": "0.5"}, "below 1/2"),
        ({"least": "0.4999", "grid_bits": 2}, "grid_bits"),
    ]
    for change, words in wrong:
        with pytest.raises(dc.DeclarationError, match=words):
            NetworkSampling(**right | change)


def test_refusals_name_their_cause() -> None:
    refused: list[tuple[Callable[[], NetworkSampling], str]] = [
        (lambda: NetworkSampling.plain(CHAIN, size=100, delta="1e-12"), "rounding errors of Fourier transforms"),
        (lambda: NetworkSampling.plain(CHAIN, size=100, delta=0), "state a delta above 0, or a least"),
        (lambda: NetworkSampling.tempered(CHAIN, size=100, epsilon=1, delta=0), "state a delta above 0, or a least"),
        (lambda: NetworkSampling.concentrated(CHAIN, size=100, epsilon=1, delta=0), "state a delta above 0"),
        (lambda: NetworkSampling.published(CHAIN, size=100, claimed="3000"), "claimed must be at most 1000"),
        (lambda: NetworkSampling.published(CHAIN, size=100, claimed="1.3862943612"), "claimed = 1.3862943612 requires"),
    ]
    for make, words in refused:
        with pytest.raises(dc.DeclarationError, match=words):
            make()


def test_several_draws_are_verified_on_outputs_of_their_own_length() -> None:
    mechanism = NetworkSampling.tempered(network_of("a", a=2), size=5, epsilon=2, delta="1e-2", draws=2)
    small = with_fields(mechanism, grid_bits=3)
    outputs = small.outputs_for(np.array([[5, 0]]), 1_000)
    assert outputs is not None
    assert outputs.shape == (8**2, small.space.length)
    assert any("all 5 pairs of neighbours" in check for check in dc.verify(mechanism).checks)
