"""Noise that keeps a total promises nothing about a record that moves it, whichever way the cost is computed."""

from functools import cached_property
from math import inf

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Counts
from discreet.noise import epsilon_weights, rho_weights
from discreet.tables._mechanisms import TableCells

MODEL = dc.Categories("x", levels=("a", "b", "c"), outside="c")


class OneMore(TableCells):
    """TableCells of a table to which a record can be added."""

    def changes(self) -> tuple[Counts, ...]:
        return (np.array([1, 0, 0]),)


class OpenHistogram(dc.GeometricHistogram):
    @cached_property
    def quantities(self) -> OneMore:
        return OneMore(self.model)


class OpenGaussians(dc.tables.DiscreteGaussianHistogram):
    @cached_property
    def quantities(self) -> OneMore:
        return OneMore(self.model)


class OpenCounts(dc.tables.DiscreteLaplaceCounts):
    @cached_property
    def quantities(self) -> OneMore:
        return OneMore(self.model)


def test_laplace_noise_that_sums_to_zero_has_no_epsilon_where_a_total_moves() -> None:
    assert dc.GeometricHistogram(MODEL, 5, 1).pure_epsilon == 1
    mechanism = OpenHistogram(MODEL, 5, 1)
    assert epsilon_weights(mechanism.noise.structure) is not None
    assert mechanism.pure_epsilon == inf
    with pytest.raises(dc.DeclarationError, match="no pure epsilon"):
        _ = mechanism.guarantee
    with pytest.raises(dc.DeclarationError, match="keeps the totals"):
        mechanism.privacy_loss()


def test_gaussian_noise_that_sums_to_zero_has_no_rho_where_a_total_moves() -> None:
    mechanism = OpenGaussians(MODEL, 5, 1, "1e-6")
    assert rho_weights(mechanism.noise.structure) is not None
    with pytest.raises(dc.DeclarationError, match="keeps the totals"):
        _ = mechanism.rho


def test_free_noise_still_hides_a_record_that_is_added() -> None:
    assert OpenCounts(MODEL, 5, 1).pure_epsilon == dc.tables.DiscreteLaplaceCounts(MODEL, 5, 1).pure_epsilon / 2
