"""The referee of a metric: all pairs of cells at the real size, and all pairs of data sets of a small twin.

A promise under a metric is about data sets at any distance, not about neighbours alone. Distances are worked out from
the metric that is written down, losses from the stated likelihood; neither knows of the other.
"""

from itertools import combinations_with_replacement

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import VerificationError
from discreet.exact import exact_text
from discreet.guarantees.metric import Metric
from discreet.mechanisms import Mechanism, with_fields

_ROUNDING = 1e-9
_CELLS, _PLACES = 256, 40  # cells of which all pairs are compared; values on each side in a twin's window


def metric_checks(mechanism: Mechanism) -> list[str]:
    """Compare what is promised under a metric with the likelihood; nothing if nothing is promised."""
    given = mechanism.guarantee.metric
    if given is None or not isinstance(given.metric, Metric):
        return []
    epsilon, metric = float(given.epsilon), given.metric
    return [f"promised besides: {given.words}", _pairs_of_cells(mechanism, metric, epsilon), _twin(mechanism)]


def _pairs_of_cells(mechanism: Mechanism, metric: Metric, epsilon: float) -> str:
    """Move one record between any two cells at the real size, and compare on the outputs without noise."""
    cells = len(mechanism.model.cells)
    chosen = np.unique(np.linspace(0, cells - 1, min(cells, _CELLS)).astype(int))
    rows = np.zeros((len(chosen), cells), dtype=np.int64)
    rows[:, 0] = mechanism.size - 1
    rows[np.arange(len(chosen)), chosen] += 1
    laws = mechanism.log_laws(rows, rows)
    losses = np.diagonal(laws)[None, :] - laws
    far = np.array([[float(metric.distance(int(a), int(b))) for b in chosen] for a in chosen])
    _held(losses, epsilon * far, mechanism, "one record that moves between two cells")
    pairs = len(chosen) * (len(chosen) - 1) // 2
    which = "all" if len(chosen) == cells else "chosen"
    return f"compared under the metric, at the real size: {which} {pairs:,} pairs of cells, each loses its distance"


def _twin(mechanism: Mechanism) -> str:
    """Compare all data sets of a small twin, whatever their distance, on all outputs of a window."""
    model = min(mechanism.model.parts(), key=lambda part: abs(len(part.cells) - 3), default=mechanism.model)
    small = with_fields(mechanism, model=model, size=2)
    given = small.guarantee.metric
    assert given is not None
    metric = given.known_metric
    cells = len(model.cells)
    sets = list(combinations_with_replacement(range(cells), 2))
    tables = np.array([np.bincount(each, minlength=cells) for each in sets])
    outputs = small.outputs_for(tables, 20_000)
    if outputs is None:
        return "compared under the metric, on a small twin: nothing, there are too many outputs"
    laws = small.log_laws(outputs, tables)
    far = np.array([[_nearest(metric, one, two) for two in sets] for one in sets])
    losses: Floats = np.stack([np.max(laws[i][None] - laws, axis=1) for i in range(len(sets))])
    _held(losses, float(given.epsilon) * far, small, "two data sets")
    return f"compared under the metric, on a small twin of {cells} cells: all {len(sets) ** 2} pairs of data sets"


def _nearest(metric: Metric, one: tuple[int, int], two: tuple[int, int]) -> float:
    """Return the distance of two data sets of two records: the better of both orders."""
    straight = metric.distance(one[0], two[0]) + metric.distance(one[1], two[1])
    return float(min(straight, metric.distance(one[0], two[1]) + metric.distance(one[1], two[0])))


def _held(losses: Floats | Counts, allowed: Floats, mechanism: Mechanism, of: str) -> None:
    """Refuse losses that are not what the metric says: more is a broken promise, less is another metric."""
    slack = _ROUNDING * np.maximum(1.0, np.abs(allowed))
    if np.all(np.abs(losses - allowed) <= slack):
        return
    metric = mechanism.guarantee.metric
    assert metric is not None
    worst = np.unravel_index(int(np.argmax(np.abs(losses - allowed))), losses.shape)
    raise VerificationError(
        f"Comparing by the stated likelihood, {of} lose {float(losses[worst]):.9g} where the metric of "
        f"{type(mechanism).__name__} says {float(allowed[worst]):.9g} (epsilon = {exact_text(metric.epsilon)} for each "
        "unit). The noise is not that of the metric which is written down. Do not publish with it."
    )
