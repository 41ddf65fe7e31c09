"""Noise that differs between cells: the guarantee is never computed from a move that does not meet all of them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Counts
from discreet.mechanism import Quantities
from discreet.noise import Laplace
from discreet.tables._mechanisms import NoisyCounts, TableCells

THREE = dc.Categories("x", levels=("a", "b", "c"), outside="c")


@dataclass(frozen=True, init=False, repr=False)
class MiddleCell(NoisyCounts):
    """Twice the rate in the middle cell, with the quantities of cells that are alike: a contributor's mistake."""

    reason: ClassVar[str] = "none"

    @cached_property
    def noise(self) -> Laplace:
        rate = self.epsilon / 2
        return Laplace((rate, 2 * rate, rate), (1, 1, 1))


class EveryMove(TableCells):
    """All moves between two cells."""

    def changes(self) -> tuple[Counts, ...]:
        moves = [np.eye(3, dtype=np.int64)[i] - np.eye(3, dtype=np.int64)[j] for i in range(3) for j in range(3)]
        return tuple(move for move in moves if move.any())


@dataclass(frozen=True, init=False, repr=False)
class MiddleCellStated(MiddleCell):
    """The same noise with quantities that know it."""

    @cached_property
    def quantities(self) -> Quantities:
        return EveryMove(self.model)


def test_unlike_noise_is_refused_with_the_moves_of_cells_that_are_alike() -> None:
    wrong = MiddleCell(THREE, 5, "1")
    with pytest.raises(dc.DeclarationError, match="noise that differs between cells"):
        _ = wrong.guarantee
    with pytest.raises(dc.DeclarationError, match="noise that differs between cells"):
        wrong.privacy_loss()


def test_with_every_move_the_guarantee_is_the_true_one() -> None:
    assert MiddleCellStated(THREE, 5, "1").pure_epsilon == Fraction(3, 2)
