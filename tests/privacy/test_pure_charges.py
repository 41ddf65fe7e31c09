"""What pure mechanisms cost under zCDP: at most epsilon tanh(epsilon / 2), and version 1 as it was charged."""

from fractions import Fraction
from itertools import product
from math import tanh
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.privacy import pure_rho
from discreet_papers import as_published

COIN = dc.Categories("x", levels=("a", "b"), outside="a")
THREE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
ARROW = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=0)
NOW: dict[str, Any] = {
    "RoundedLaplace": as_published.RoundedLaplace(THREE, 6, 1, 2, 2),
    "FlooredLaplace": as_published.FlooredLaplace(THREE, 6, 1, 2, 2),
    "TruncatedLaplace": as_published.TruncatedLaplace(THREE, 6, 1, 2, 2),
    "ClampedLaplace": as_published.ClampedLaplace(THREE, 6, 1, 2, 2),
    "LaplaceUpdates": as_published.LaplaceUpdates(ARROW, 6, 8),
    "FourierUpdates": as_published.FourierUpdates(ARROW, 6, 8),
    "FourierCounts": dc.networks.FourierCounts(ARROW, 6, 8),
    "HellingerCalibrated": dc.choices.HellingerCalibrated(COIN, 6, 1),
    "PublishedHellingerGlobal": as_published.PublishedHellingerGlobal(COIN, 6, 1),
    "HellingerGlobal": dc.choices.HellingerGlobal(COIN, 6, 1),
    "PermuteAndFlip": dc.choices.PermuteAndFlip(COIN, 6, 1),
    "MaximumPosterior": dc.choices.MaximumPosterior(COIN, 6, 1),
    "ConeMoments": dc.regression.ConeMoments(
        dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle"), 50, 1
    ),
    "BoxMoments": dc.regression.BoxMoments(
        dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle"), 50, 1
    ),
    "JointHistograms": dc.networks.JointHistograms(ARROW, 6, 1),
    "FamilyHistograms": dc.FamilyHistograms(ARROW, 6, 1),
    "GeometricHistogram": dc.GeometricHistogram(THREE, 6, 1),
    "DiscreteLaplaceCounts": dc.tables.DiscreteLaplaceCounts(THREE, 6, 1),
}


@pytest.mark.parametrize("kind", NOW)
def test_no_pure_mechanism_costs_more_than_randomised_response(kind: str) -> None:
    mechanism = NOW[kind]
    assert mechanism.rho <= pure_rho(Fraction(mechanism.pure_epsilon)) * (1 + Fraction(2, 10**4))  # steps of `rho`


@pytest.mark.parametrize("kind", ["LaplaceUpdates", "FourierUpdates", "FourierCounts"])
def test_numbers_that_move_by_one_cost_what_a_sum_over_their_noise_says(kind: str) -> None:
    """Sup over orders of D_a / a of each number, its noise summed from -60 to 60, for the worst pair of records."""
    mechanism = NOW[kind]
    rows = [mechanism.measured(row) for row in mechanism.model.contributions(100)[0]]
    rates = np.repeat([float(rate) for rate in mechanism.noise.rates], mechanism.noise.blocks)
    places = np.arange(-60, 61)

    def rho_of(rate: float, moved: int) -> float:
        p, q = (-rate * np.abs(places - shift) for shift in (0, moved))
        p, q = p - np.logaddexp.reduce(p), q - np.logaddexp.reduce(q)
        return max(float(np.logaddexp.reduce(a * p + (1 - a) * q)) / (a - 1) / a for a in (1.0001, 1.5, 2.0, 8.0))

    known = {(rate, moved): rho_of(rate, moved) for rate in set(rates) for moved in (-1, 0, 1)}
    worst = max(sum(known[r, int(c)] for r, c in zip(rates, x - y, strict=True)) for x, y in product(rows, rows))
    assert worst <= float(mechanism.rho) <= worst * (1 + 1e-3)


def test_the_loss_of_one_number_that_moves_by_one_is_that_of_randomised_response() -> None:
    rate = 1.3
    logs = [(-rate * abs(u), -rate * abs(u - 1)) for u in range(-9, 9)]
    assert {round(p - q, 9) for p, q in logs} == {rate, -rate}
    assert float(pure_rho(Fraction("1.3"))) == pytest.approx(rate * tanh(rate / 2), abs=2e-9)
