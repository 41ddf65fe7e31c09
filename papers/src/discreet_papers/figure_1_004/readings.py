"""Algorithm 1 and CubeCounts read by the library: one release and one posterior for each repeat."""

from collections.abc import Callable
from typing import Any

import numpy as np

import discreet as dc
from discreet._core.arrays import Floats
from discreet_papers import as_published
from discreet_papers.figure_1_004.setting import FEATURES, NETWORK, SIZE, Curve, Splits, scores

AWARE, CUBE = "Algorithm 1, noise-aware reading", "CubeCounts, noise-aware reading"
KNOWN = "Algorithm 1, noise-aware, prior that knows the class to be a fair coin"
PROJECTED = "Algorithm 1, made consistent"
FAIR_COIN = {"y": 1000.0} | dict.fromkeys(FEATURES, 1.0)


def _reading(mechanism: Callable[..., Any], read: Callable[[dc.Release], Any]) -> Callable[[Splits, str], Floats]:
    """Return the scores of a reading of releases by a mechanism, repeat by repeat."""

    def of(records: Splits, epsilon: str) -> Floats:
        made = mechanism(NETWORK, SIZE, epsilon)
        chances = []
        for repeat, counts in enumerate(records.counts):
            release = dc.simulate(made, counts.ravel(), dc.SeededBits(1000 * repeat))
            chances.append(read(release).predict_proba(records.rows(repeat))[:, 1])
        return scores(np.array(chances), records.truth)

    return of


CURVES = (
    Curve(AWARE, _reading(as_published.LaplaceUpdates, dc.infer)),
    Curve(KNOWN, _reading(as_published.LaplaceUpdates, lambda release: dc.infer(release, prior=FAIR_COIN))),
    Curve(PROJECTED, _reading(as_published.LaplaceUpdates, as_published.projected_reading)),
    Curve(CUBE, _reading(dc.CubeCounts, dc.infer)),
)
