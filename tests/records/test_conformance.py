"""Every engine agrees with the slow twin on every value, and no record does more than one record may."""

from pathlib import Path

import pytest

from conformance.backends import ENGINES
from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record

PAIRS = [(name, kind) for name, engine in ENGINES.items() for kind in engine.kinds]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_every_value_has_the_place_that_the_slow_twin_gives_it(name: str, kind: str, tmp_path: Path) -> None:
    agree_on_every_record(ENGINES[name], kind, tmp_path, seed=20261116)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_neighbours_differ_by_what_one_record_may_do(name: str, kind: str, tmp_path: Path) -> None:
    keep_neighbours_apart_by_one_record(ENGINES[name], kind, tmp_path, seed=20261117)
