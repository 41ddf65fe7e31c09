"""Planned widths are those that a reader sees by default: own sums, opened to 0 and 1; or the joint under a prior."""

import warnings
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.choices import HellingerGlobal, PermuteAndFlip
from discreet.privacy import compositions
from discreet_papers.exact_sums.accuracy import accuracy
from discreet_papers.exact_sums.exact_accuracy import possible_outputs


def model(cells: int, prior: object = None) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)  # type: ignore[arg-type]


def read_one_by_one(mechanism: Any, level: float) -> float:
    """Return sum_z P(z) of the mean width of the cells' intervals that `infer` gives."""
    outputs = possible_outputs(mechanism)
    assert outputs is not None
    cells = len(mechanism.model.cells)
    tables = np.array(list(compositions(mechanism.size, cells)))
    likelihoods = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    chances = np.exp(likelihoods + mechanism.model.log_evidence(tables)[:, None]).sum(axis=0)
    found = 0.0
    for place in np.flatnonzero(chances > 1e-9):
        release = dc.Release(mechanism, tuple(int(value) for value in outputs[place]), "twin", simulated=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            widths = [row.high - row.low for row in dc.infer(release).rows(level)]
        found += chances[place] * float(np.mean(widths))
    return found


@pytest.mark.parametrize(
    ("kind", "cells", "size", "epsilon", "prior"),
    [
        (dc.GeometricHistogram, 2, 8, 1, None),
        (dc.GeometricHistogram, 3, 4, 6, None),
        (dc.GeometricHistogram, 3, 4, 6, 0.5),
        (dc.tables.DiscreteLaplaceCounts, 2, 4, 6, None),
        (HellingerGlobal, 2, 8, 3, None),
        (HellingerGlobal, 3, 5, 3, None),
        (PermuteAndFlip, 3, 5, 3, None),
    ],
)
def test_exact_widths_are_those_of_all_outputs_read_one_by_one(
    kind: Any, cells: int, size: int, epsilon: int, prior: object
) -> None:
    mechanism = kind(model(cells, prior), size=size, epsilon=epsilon)
    assert accuracy(mechanism, 0.8).width == pytest.approx(read_one_by_one(mechanism, 0.8), rel=3e-5)


def test_the_planner_simulates_what_exact_sums_add_up() -> None:
    for prior in (None, 2):
        mechanism = dc.GeometricHistogram(model(3, prior), 6, 2)
        planned, summed = dc.accuracy(mechanism, studies=300), accuracy(mechanism)
        assert planned.width == pytest.approx(summed.width, abs=4 * planned.mc_error)
