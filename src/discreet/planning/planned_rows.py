"""One made-up study, read as a release would be: the rows of any model, with the widths that exact statistics give."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.inference._infer import infer
from discreet.inference.posteriors.row import Row
from discreet.mechanisms import Mechanism
from discreet.planning.work_ahead import planning
from discreet.randomness import SeededBits
from discreet.reading.patience import require
from discreet.releases import simulate


@dataclass(frozen=True)
class PlannedRows:
    """The rows of a made-up study; `exact_widths` are those of a reader of exact statistics."""

    rows: Sequence[Row]
    exact_widths: Sequence[float]

    @property
    def widths(self) -> list[float]:
        """Return how wide the intervals are."""
        return [row.high - row.low for row in self.rows]


def planned_rows(mechanism: Mechanism, level: float, number: int, seed: int = 26) -> PlannedRows:
    """Return the rows of the made-up study of this number, drawn from the prior."""
    require(planning([mechanism], 1), 1.0, "Nothing was simulated.")
    made = mechanism.model.made_up(mechanism.size, np.random.default_rng([seed, number]))
    posterior = infer(simulate(mechanism, made.statistics, SeededBits(seed * 1_000_003 + number), "planned"))
    known = mechanism.model.known_rows(made.statistics, mechanism.size, level)
    return PlannedRows(posterior.rows(level), [width for _, width in known])
