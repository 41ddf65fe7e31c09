"""A sweep of the conformance suite: every engine and type, many random tables, many neighbours.

`make validate-full` takes five orders of all values and 25 random tables for each, `make validate` two and eight.
"""

from pathlib import Path

import pytest
from kept_results import repeats

from conformance.backends import ENGINES
from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record

PAIRS = [(name, kind) for name, engine in ENGINES.items() for kind in engine.kinds]
ORDERS, TABLES = range(1, 1 + repeats(2, 5)), range(1, 1 + repeats(8, 25))


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_every_order_of_all_values_agrees_with_the_slow_twin(name: str, kind: str, tmp_path: Path) -> None:
    for seed in ORDERS:
        agree_on_every_record(ENGINES[name], kind, tmp_path, seed)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_random_neighbours_differ_by_one_record(name: str, kind: str, tmp_path: Path) -> None:
    for seed in TABLES:
        (folder := tmp_path / str(seed)).mkdir()
        keep_neighbours_apart_by_one_record(ENGINES[name], kind, folder, seed, changes=3)
