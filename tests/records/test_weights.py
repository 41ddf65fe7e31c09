"""Weighted sums are the same from every engine, and one record, or one person, is divided and moves one unit."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.numbers._bounded_number import POPULATION
from discreet.records import ListSource, parts_of

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
UNIT = 2**16
ENGINES: dict[str, Any] = {
    "lists": ListSource,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "duckdb": lambda data: duckdb.from_arrow(pa.table(data)),
    "duckdb texts": lambda data: duckdb.from_arrow(pa.table(data)).project(
        "id, x::VARCHAR AS x, w::VARCHAR AS w, ward"
    ),
}


def weighted(by: bool = True, missing: float | None = None) -> dc.WeightedSums:
    weights = dc.Weights("w", 8, "fixed by design")
    return dc.WeightedSums("x", (-1, 3), ("mean", "sum"), WARD if by else None, missing, weights=weights)


def rows(size: int = 40, most: int = 4) -> dc.WeightedSums:
    return dc.WeightedSums("x", (-1, 3), ("mean", "sum"), WARD, rows=dc.numbers.PersonRows("id", size, most))


def made_up(seed: int, size: int = 150) -> dict[str, list[Any]]:
    generator = np.random.default_rng(seed)
    data: dict[str, list[Any]] = {
        "id": [None if one < 0 else f"p{one}" for one in generator.integers(-1, 30, size=size)],
        "x": np.round(generator.normal(1, 2, size=size), 3).tolist(),
        "w": generator.choice([0.5, 1.0, 2.0, 8.0, 9.0], size=size).tolist(),
        "ward": [["A", "B", "C", "Z", None][one] for one in generator.integers(5, size=size)],
    }
    for name, odd in (("x", (None, float("nan"), 1e300)), ("w", (None, float("nan"), -1.0, 1e300))):
        for value in odd if size > 9 else ():
            data[name][generator.integers(size)] = value
    return data


def slow(data: dict[str, list[Any]]) -> list[int]:
    """Divide every record by itself, with Python's own numbers."""
    sums = [[0] * 5 for _ in WARD.levels]
    for x, w, ward in zip(data["x"], data["w"], data["ward"], strict=True):
        if x is None or not abs(x) < 2**53:
            continue
        share = min(max(w, 0), 8) / 8 if w is not None and abs(w) < 2**53 else 0
        known = int(share * UNIT + 0.5)
        h = int(known * (min(max(x, -1), 3) + 1) / 4 + 0.5)
        l = known - h  # noqa: E741
        squares = [h * h, 2 * h * l, l * l]
        cut = [sum(squares[:place]) // UNIT for place in range(4)]
        for place, part in enumerate((h, l, *(cut[i + 1] - cut[i] for i in range(3)))):
            sums[WARD.code(ward)][place] += part
    first, second = [part for own in sums for part in own[:2]], [part for own in sums for part in own[2:]]
    total = UNIT * len(data["x"])
    return [*first, total - sum(first), *second, total - sum(second)]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_weighs_alike(engine: str) -> None:
    data = made_up(1)
    frame = ENGINES[engine](data)
    assert weighted().rehearse(frame).tolist() == slow(data)
    assert rows().rehearse(frame).tolist() == rows().rehearse(data).tolist()


def test_sums_of_rows_are_those_of_the_slow_way() -> None:
    data = made_up(2)
    model, people = rows(), {}  # type: ignore[var-annotated]
    for own, x, ward in zip(data["id"], data["x"], data["ward"], strict=True):
        if x is not None and abs(x) < 2**53:
            people.setdefault(own, []).append((min(max(x, -1), 3), WARD.code(ward)))
    sums = np.zeros((3, 2))
    for own in people.values():
        for x, ward in own:
            sums[ward] += np.array([x + 1, 3 - x]) / 4 / max(4, len(own))
    first, _ = model.pairs(model.rehearse(data).astype(float))
    assert np.abs(first - sums).max() <= len(people) / UNIT


def test_one_record_and_one_person_move_one_unit() -> None:
    generator = np.random.default_rng(11)
    for number in range(60):
        data = made_up(number, int(generator.integers(2, 60)))
        other = made_up(number + 999, int(generator.integers(1, 20)))
        place = int(generator.integers(len(data["x"])))
        replaced = {name: [*column[:place], other[name][0], *column[place + 1 :]] for name, column in data.items()}
        own = data["id"][place]
        kept = [at for at, each in enumerate(data["id"]) if each != own]
        person = {name: [column[at] for at in kept] + other[name] for name, column in data.items()}
        person["id"] = [data["id"][at] for at in kept] + ["somebody else" if number % 2 else own] * len(other["id"])
        size = int(generator.choice([3, 40]))
        for model, neighbour in ((weighted(), replaced), (rows(size), person)):
            first, second = model.rehearse(data), model.rehearse(neighbour)
            for half in np.split(first - second, [model.ends]):
                assert half.sum() == 0
                assert np.abs(half).sum() <= 2 * UNIT


def test_parts_of_a_square_never_exceed_the_unit() -> None:
    generator = np.random.default_rng(4)
    for unit in (2, 4, UNIT):
        known = generator.multinomial(unit, [0.02] * 49 + [0.02])[:49]
        high = generator.integers(0, known + 1)
        parts = parts_of(high, known - high, np.array([0]), unit)
        assert (parts >= 0).all()
        assert parts[:, 2:].sum() <= unit


def test_calibrated_weights_are_refused_in_words_that_say_why() -> None:
    for said in (None, "calibrated", "raked"):
        with pytest.raises(dc.DeclarationError, match="if one record changes, the weights of all others do"):
            dc.Weights("w", 8, said)
    with pytest.raises(dc.DeclarationError, match="either weights or the rows"):
        dc.WeightedSums("x", (0, 1))
    with pytest.raises(dc.DeclarationError, match="cannot say how units count"):
        dc.WeightedSums("x", (0, 1), weights=dc.Weights("x", 8, "fixed by design"))
    with pytest.raises(dc.DeclarationError, match="ask names 'variance'"):
        dc.WeightedSums("x", (0, 1), ("variance",), weights=dc.Weights("w", 8, "fixed by design"))


@pytest.mark.parametrize("model", [weighted(), weighted(False, 2), rows()], ids=["by", "missing", "rows"])
def test_weighted_sums_go_the_whole_road(model: dc.WeightedSums) -> None:
    data = made_up(5)
    size = 40 if model.rows else 150
    mechanism = dc.suggest(model, size, 20).mechanism
    release = dc.simulate(mechanism, model.rehearse(data), dc.SeededBits(1))
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert read.unit.description == ("one person" if model.rows else "one record")
    posterior = dc.infer(read)
    found = posterior.rows(0.999)
    assert [f"{row.quantity} {row.given}".strip() for row in found] == [
        f"{model.row_name(model.quantity_name(ask), of)} {group}".strip()
        for group in model.groups
        for ask in model.asks
        for of in (model.among, POPULATION)
    ]
    first, _ = model.pairs(model.rehearse(data).astype(float))
    for group, (high, low) in enumerate(first):
        mean, _, total, _ = found[4 * group : 4 * group + 4]
        assert mean.low <= -1 + 4 * high / (high + low) <= mean.high
        assert total.low <= model.largest * (3 * high - low) <= total.high
    made = model.simulate(size, np.random.default_rng(1))
    assert len(made.truth) == len(found) == len(model.exact(made.statistics, size, 0.9))
    assert len(posterior.draws(5, 1)["mean"]) == 5
    assert posterior.text.columns


def test_the_guarantee_of_weighted_sums_is_verified_on_all_neighbours_of_a_twin() -> None:
    certificate = dc.verify(dc.GeometricSums(weighted(), 150, 1))
    assert certificate.epsilon == pytest.approx(1)
    assert any("all" in check and "pairs of neighbours" in check for check in certificate.checks)
