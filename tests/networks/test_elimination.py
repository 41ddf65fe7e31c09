"""Variable elimination against sums over all records."""

import itertools
from typing import Any

import numpy as np
import pytest

from discreet.networks import Network
from discreet.networks._elimination import chance_of, joint_chances, most_probable

TWO, THREE = (0, 1), (0, 1, 2)
GRAPHS = {
    "loop": Network.from_edges(
        "a -> b -> d",
        "a -> c -> d",
        levels={"a": TWO, "b": THREE, "c": TWO, "d": TWO},
        outside={"a": TWO[0], "b": THREE[0], "c": TWO[0], "d": TWO[0]},
    ),
    "two roots": Network.from_edges(
        "a -> c", "b -> c", "c -> d", "b -> e", levels=dict.fromkeys("abcde", TWO), outside=TWO[0]
    ),
    "apart": Network.from_edges(
        "a -> b", "c", levels={"a": TWO, "b": THREE, "c": THREE}, outside={"a": TWO[0], "b": THREE[0], "c": THREE[0]}
    ),
    "dense": Network.from_edges(
        *(f"{p} -> {c}" for p, c in itertools.combinations("abcd", 2)),
        levels=dict.fromkeys("abcd", TWO),
        outside=TWO[0],
    ),
}


def tables_of(network: Network, batch: tuple[int, ...], seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    shapes = [network.shape(family) for family in network.families]
    rows = [int(np.prod(shape[:-1])) for shape in shapes]
    names = [variable.name for variable in network.variables]
    return {
        name: generator.dirichlet(np.ones(shape[-1]), size=(*batch, count))
        for name, shape, count in zip(names, shapes, rows, strict=True)
    }


def joint_of(network: Network, tables: dict[str, Any]) -> dict[tuple[int, ...], Any]:
    """Return the probability of every record: the slow twin."""
    names = [variable.name for variable in network.variables]
    found = {}
    for record in itertools.product(*(range(len(variable.levels)) for variable in network.variables)):
        level = dict(zip(names, record, strict=True))
        chance: Any = 1.0
        for name, above in zip(names, network.parents, strict=True):
            row = np.ravel_multi_index([level[p] for p in above], network.shape(above)) if above else 0
            chance = chance * tables[name][..., row, level[name]]
        found[record] = chance
    return found


def all_events(network: Network, seed: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    events = []
    for _ in range(25):
        chosen = [variable for variable in network.variables if generator.random() < 0.5]
        events.append({v.name: generator.random(len(v.levels)) < 0.6 for v in chosen})
    return events


@pytest.mark.parametrize("name", GRAPHS)
def test_chances_are_those_of_a_sum_over_all_records(name: str) -> None:
    network = GRAPHS[name]
    tables = tables_of(network, (3,), seed=1)
    joint = joint_of(network, tables)
    names = [variable.name for variable in network.variables]
    for event in all_events(network, seed=2):
        inside = [all(event[n][x] for n, x in zip(names, r, strict=True) if n in event) for r in joint]
        wanted = sum((p for p, yes in zip(joint.values(), inside, strict=True) if yes), np.zeros(3))
        np.testing.assert_allclose(np.broadcast_to(chance_of(event, tables, network), 3), wanted, atol=1e-13)


@pytest.mark.parametrize("name", GRAPHS)
def test_joint_tables_are_those_of_a_sum_over_all_records(name: str) -> None:
    network = GRAPHS[name]
    tables = tables_of(network, (2,), seed=3)
    joint = joint_of(network, tables)
    names = [variable.name for variable in network.variables]
    for (one, two), event in zip(itertools.permutations(names, 2), all_events(network, seed=4), strict=False):
        wanted = np.zeros((2, *network.shape((one, two))))
        for record, chance in joint.items():
            level = dict(zip(names, record, strict=True))
            if all(inside[level[n]] for n, inside in event.items()):
                wanted[:, level[one], level[two]] += chance
        np.testing.assert_allclose(joint_chances((one, two), event, tables, network), wanted, atol=1e-13)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_most_probable_record_is_that_of_all_records(name: str) -> None:
    network = GRAPHS[name]
    names = [variable.name for variable in network.variables]
    for seed, event in enumerate(all_events(network, seed=5)):
        tables = tables_of(network, (), seed)
        possible = {
            record: float(chance)
            for record, chance in joint_of(network, tables).items()
            if all(event[n][x] for n, x in zip(names, record, strict=True) if n in event)
        }
        if possible:
            levels, chance = most_probable(event, tables, network)
            best = max(possible, key=possible.__getitem__)
            assert tuple(levels[n] for n in names) == best
            assert chance == pytest.approx(possible[best])


def test_a_question_that_is_too_wide_is_refused_in_words() -> None:
    names = [f"x{number}" for number in range(30)]
    network = Network.from_edges(*names, levels=dict.fromkeys(names, TWO), outside=TWO[0])
    tables = {name: np.full((1, 2), 0.5) for name in names}
    with pytest.raises(ValueError, match="needs a table of about"):
        joint_chances(names, {}, tables, network)
