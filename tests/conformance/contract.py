"""The contract of an engine: it agrees with the slow twin on every record, and one record does what one record may."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dc
from conformance import twin
from conformance.backends import Engine
from conformance.values import CORPUS
from discreet.records import CONSTANT, UNIT, GroupPlan, Measure, MomentPlan, as_source
from discreet.records._spark import SparkSource

AGE = Measure("x", *twin.AGE_BOUNDS, twin.AGE_MISSING)
DAY = Measure("x", *twin.DAY_BOUNDS, twin.DAY_MISSING, dates=True)
PLAN = MomentPlan(
    (AGE, DAY),
    ((0, 0), (0, 1), (1, 1), (0, CONSTANT), (1, CONSTANT)),
    twin.GRID,
)
GAPPED = MomentPlan((replace(AGE, leaves_gaps_out=True), DAY), (*PLAN.products, (CONSTANT, CONSTANT)), twin.GRID)
"""The same without records that have no number, and how many those are that have one."""

_NEAR = 12  # values of the corpus that one table may be made of


def holdable(engine: Engine, kind: str) -> list[Any]:
    """Return the values of the corpus that this engine can hold in a column of this type, and a gap."""
    return [value for value in (*CORPUS[kind], None) if value is None or engine.can_hold(value)]


def agree_on_every_record(engine: Engine, kind: str, folder: Path, seed: int) -> None:
    """Hold an engine to the twin on a table of all values: crossed with its number, each record shows its own place."""
    values = holdable(engine, kind)
    random.Random(seed).shuffle(values)
    source = as_source(engine.make(values, kind, folder))
    numbers = dc.Column("id", tuple(range(len(values))), outside="no number")
    used = twin.uses()
    tables = source.count_families([[numbers, use.declared] for use in used.values()])
    for (name, use), table in zip(used.items(), tables, strict=True):
        wanted = np.zeros(table.shape, dtype=np.int64)
        for record, value in enumerate(values):
            wanted[record, use.place(engine.holds(value))] += 1
        wrong = sorted({int(record) for record in np.argwhere(table != wanted)[:, 0]})
        assert not wrong, f"{kind}, {name}: {[repr(values[w])[:40] if w < len(values) else 'lost' for w in wrong[:9]]}"
    assert source.sum_moments(PLAN)[0].tolist() == _sums(engine, values)
    kept = _kept(engine, values)
    assert source.sum_moments(GAPPED)[0].tolist() == [sum(row[i] * row[j] for row in kept) for i, j in GAPPED.products]
    if not isinstance(source, SparkSource):  # whose records stay where they are
        assert sorted(source.whole_rows(GAPPED).tolist()) == sorted(kept)
    for measure, meant in ((AGE, twin.number), (DAY, twin.day)):
        found, _ = source.sum_groups(GroupPlan(measure, (numbers,), leaves_gaps_out=True))
        held = [meant(engine.holds(value)) for value in values]
        places = [twin.whole(v, measure.low, measure.high, 0.0, UNIT // 2) + UNIT // 2 for v in held]
        assert found[:-1, 2].tolist() == [int(v is not None) for v in held], f"{kind}: who has a value"
        assert found[:-1, 0].tolist() == [p * (v is not None) for p, v in zip(places, held, strict=True)], kind


def keep_neighbours_apart_by_one_record(engine: Engine, kind: str, folder: Path, seed: int, changes: int = 2) -> None:
    """Replace one record after another: counts and sums change by what that record may do, and by nothing else."""
    chance = random.Random(seed)
    known = holdable(engine, kind)
    start = chance.randrange(len(known))
    near = (known[start:] + known)[:_NEAR] if chance.random() < 0.5 else known  # what is alike stands together
    values = chance.choices(near, k=chance.randint(1, 40))
    tables = [values]
    for _ in range(changes):
        values = list(values)
        values[chance.randrange(len(values))] = chance.choice(near)
        tables.append(values)
    used = twin.uses()
    seen = []
    for number, each in enumerate(tables):
        (own := folder / str(number)).mkdir()
        source = as_source(engine.make(each, kind, own))
        counts = [table.tolist() for table in source.count_families([[use.declared] for use in used.values()])]
        seen.append((counts, source.sum_moments(PLAN)))
    for (before, old), (after, new), each, changed in zip(seen, seen[1:], tables, tables[1:], strict=False):
        place = next((i for i, (a, b) in enumerate(zip(each, changed, strict=True)) if a is not b), 0)
        gone, come = engine.holds(each[place]), engine.holds(changed[place])
        for use, first, second in zip(used.values(), before, after, strict=True):
            wanted = np.array(first)
            wanted[use.place(gone)] -= 1
            wanted[use.place(come)] += 1
            assert second == wanted.tolist(), f"{kind}: {each[place]!r:.40} became {changed[place]!r:.40}"
        moved = np.subtract(_sums(engine, [changed[place]]), _sums(engine, [each[place]]))
        assert (new[0] - old[0]).tolist() == moved.tolist()
        assert old[1] == new[1] == len(each)
    for each, (counts, (sums, _)) in zip(tables, seen, strict=True):
        held = [engine.holds(value) for value in each]
        for use, found in zip(used.values(), counts, strict=True):
            assert found == np.bincount([use.place(v) for v in held], minlength=len(found)).tolist()
        assert sums.tolist() == _sums(engine, each)
    assert len(list(pairwise(tables))) == changes


def _kept(engine: Engine, values: list[Any]) -> list[list[int]]:
    """Return the whole numbers of every record, the constant last; all are 0 where there is no number."""
    held = [engine.holds(value) for value in values]
    rows = [[twin.age_whole(value), twin.day_whole(value), twin.GRID] for value in held]
    return [row if twin.number(value) is not None else [0, 0, 0] for row, value in zip(rows, held, strict=True)]


def _sums(engine: Engine, values: list[Any]) -> list[int]:
    """Return the sums of products, record by record."""
    held = [engine.holds(value) for value in values]
    wholes = [(twin.age_whole(value), twin.day_whole(value), twin.GRID) for value in held]
    return [sum(each[i] * each[j] for each in wholes) for i, j in PLAN.products]
