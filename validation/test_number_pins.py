"""Digits of wide tables of numbers that take seconds: 1,024 cells in blocks of 32."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import ZeroSumBlocks


def test_cuts_of_a_thousand_cells_have_the_stated_deviations() -> None:
    law = ZeroSumBlocks(Fraction(1, 4), Fraction(1, 4), (32,) * 32)
    deviations = np.array([law.cut(place).sd for place in range(1, 513)])  # the others have the same laws
    squares = np.concatenate([deviations**2, deviations[:-1] ** 2])
    print(f"\n1,024 cells, epsilon = 1: rms {np.sqrt(squares.mean()):.4f}, largest {np.sqrt(squares.max()):.4f}")
    assert np.sqrt(squares.mean()) == pytest.approx(17.5615, abs=6e-5)
    assert np.sqrt(squares.max()) == pytest.approx(21.4981, abs=6e-5)
