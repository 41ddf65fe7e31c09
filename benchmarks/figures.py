"""Figures: what a benchmark measured, and who is ahead.

A benchmark prints them for people; the collector also keeps them as JSON.

A script calls `record` beside its `print`. If the environment names a file in DISCREET_FIGURES, the figure is added to
that file as one line. If not, nothing happens, and scripts run by themselves as before.
"""

import json
import os
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = "DISCREET_FIGURES"


def record(what: str, value: float, unit: str, beside: str = "", goal: str = "", missed: bool = False) -> None:
    """Keep one figure: what was measured, value and unit, what it is seen beside, the goal, and if it was missed."""
    if place := os.environ.get(FILE):
        line = {"what": what, "value": float(f"{value:.4g}"), "unit": unit, "beside": beside, "goal": goal}
        line |= {"missed": True} if missed else {}
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def ratio_of(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ratio of root mean squares over data sets (rows), and its standard error by resampling these.

    Where a resample has no error of theirs, there is no ratio; it is left out.
    """
    one, two = (np.square(each).mean(axis=1) for each in (ours, theirs))
    if not two.any():
        return (inf if one.any() else 1.0), 0.0
    rows = np.random.default_rng(0).integers(len(one), size=(1000, len(one)))
    tops, bottoms = one[rows].mean(axis=1), two[rows].mean(axis=1)
    several = np.sqrt(tops[bottoms > 0] / bottoms[bottoms > 0])
    return float(np.sqrt(one.mean() / two.mean())), float(several.std())


def verdict(ratio: float, error: float) -> str:
    """Say who is ahead: nobody, where the ratio of errors is within two standard errors of 1.

    >>> verdict(0.5, 0.1), verdict(1.1, 0.1), verdict(1.3, 0.1)
    ('ahead', 'even', 'behind')
    """
    return "even" if abs(ratio - 1) <= 2 * error else "ahead" if ratio < 1 else "behind"
