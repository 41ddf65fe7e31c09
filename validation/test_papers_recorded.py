"""Numbers of the papers' register that take long are what computing them gives."""

import pytest

from discreet_papers.claims.page import registers
from discreet_papers.evidence.rows import LONG, record

REGISTERS = registers()  # imports all evidence


@pytest.mark.parametrize("name", sorted(LONG))
def test_recorded_numbers_are_those_of_the_run(name: str) -> None:
    assert LONG[name]() == pytest.approx(record()[name], rel=1e-9)
