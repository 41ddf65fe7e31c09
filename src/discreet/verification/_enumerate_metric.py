"""Enumeration under a metric: all pairs of cells at the real size, and all pairs of data sets of a small instance.

A promise under a metric is about data sets at any distance, not about neighbours alone. Distances are computed from
the metric that is written down, losses from the stated likelihood; neither knows of the other.
"""

from itertools import combinations_with_replacement, islice

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, VerificationError
from discreet.mechanism import Mechanism, MetricMechanism, with_fields
from discreet.privacy import Metric
from discreet.verification._enumerate import Measuring, log_probs, outputs_for, parts_of, small_instance_fields

_ROUNDING = 1e-9
_CELLS = 256  # most cells of which all pairs are compared
_POSITIONS = 12  # cells of an instance that has no smaller model


def metric_checks(mechanism: Mechanism) -> list[str]:
    """Compare what is promised under a metric with the likelihood; nothing if nothing is promised."""
    given = mechanism.guarantee.metric
    if given is None or not isinstance(given.metric, Metric):
        return []
    if not isinstance(mechanism, MetricMechanism):
        raise VerificationError(
            f"{type(mechanism).__name__} does not define the distances between its records under its metric."
        )
    return [f"promised besides: {given.words}", *_pairs_of_cells(mechanism), _instance(mechanism)]


def _pairs_of_cells(mechanism: MetricMechanism) -> list[str]:
    """Move one record between any two cells at the real size, and compare on outputs without noise, if there are."""
    metric = mechanism.metric
    chosen = np.unique(np.linspace(0, metric.position_count - 1, min(metric.position_count, _CELLS)).astype(int))
    if metric.position_count > _CELLS:
        chosen = np.unique([*chosen, 1, metric.position_count - 2])  # steps at both ends
    rows = (mechanism.size - 1) * mechanism.records_at([0]) + mechanism.records_at(chosen.tolist())
    if not isinstance(mechanism, Measuring):
        return []
    logs = log_probs(mechanism, mechanism.measured(rows), rows)
    losses = np.diagonal(logs)[None, :] - logs
    far = np.array([[float(metric.distance(int(a), int(b))) for b in chosen] for a in chosen])
    _held(losses, far, mechanism, "data sets in which one record moves between two cells")
    pairs = len(chosen) * (len(chosen) - 1) // 2
    which = "all" if len(chosen) == metric.position_count else "chosen"
    return [f"compared under the metric, at the real size: {which} {pairs:,} pairs of cells, {_words(mechanism)}"]


def _words(mechanism: MetricMechanism) -> str:
    return (
        "the loss of each equals its distance"
        if mechanism.loses_every_distance
        else "the loss of none exceeds its distance"
    )


def _instance(mechanism: MetricMechanism) -> str:
    """Compare all data sets of a small instance, whatever their distance, on all outputs of a window."""
    if (small := _small(mechanism)) is None:
        return "compared under the metric, on a small instance: nothing, because no instance has few enough outputs"
    metric = small.metric
    chosen = np.unique(
        np.linspace(0, metric.position_count - 1, min(metric.position_count, _POSITIONS)).astype(int)
    ).tolist()
    records = dict(zip(chosen, small.records_at(chosen), strict=True))
    sets = list(combinations_with_replacement(chosen, 2))
    tables = np.array([records[one] + records[two] for one, two in sets])
    outputs = outputs_for(small, tables, 20_000)
    if outputs is None:
        return "compared under the metric, on a small instance: nothing, because there are too many outputs"
    logs = log_probs(small, outputs, tables)
    far = np.array([[_nearest(metric, one, two) for two in sets] for one in sets])
    losses: Floats = np.stack([np.max(logs[i][None] - logs, axis=1) for i in range(len(sets))])
    _held(losses, far, small, "two data sets")
    where = f"on a small instance of {len(chosen)} cells"
    return f"compared under the metric, {where}: all {len(sets) ** 2} pairs of data sets"


def _small(mechanism: MetricMechanism) -> MetricMechanism | None:
    """Return an instance of two records whose model has about three cells, if one can be published so; or none."""
    found: list[MetricMechanism] = []
    for model in (*parts_of(mechanism.model), mechanism.model):
        try:
            for fields in islice(
                small_instance_fields(mechanism, model), 1
            ):  # none if even the coarsest grid is too fine
                found.append(with_fields(mechanism, model=model, size=2, **fields))
        except DeclarationError:  # such as a table without groups, where groups have a distance
            continue
    return min(found, key=lambda small: abs(len(small.model.cells) - 3), default=None)


def _nearest(metric: Metric, one: tuple[int, int], two: tuple[int, int]) -> float:
    """Return the distance of two data sets of two records: the better of both orders."""
    straight = metric.distance(one[0], two[0]) + metric.distance(one[1], two[1])
    return float(min(straight, metric.distance(one[0], two[1]) + metric.distance(one[1], two[0])))


def _held(losses: Floats | Counts, far: Floats, mechanism: MetricMechanism, of: str) -> None:
    """Refuse losses that are not what the metric says: more is a broken promise, less is another metric.

    Both the stated promise and the mechanism's own words are held against the likelihood: epsilon times the distance,
    and no more than what holds for any change whatever.
    """
    given = mechanism.guarantee.metric
    assert given is not None
    allowed = float(given.epsilon) * far
    slack = _ROUNDING * np.maximum(1.0, np.abs(allowed))
    misses = np.abs(losses - allowed) if mechanism.loses_every_distance else losses - allowed
    if np.all(misses <= slack):
        return
    worst = np.unravel_index(int(np.argmax(misses - slack)), losses.shape)
    raise VerificationError(
        f"Comparing by the stated likelihood, {of} have a privacy loss of {float(losses[worst]):.9g} where the metric "
        f"of {type(mechanism).__name__} allows {float(allowed[worst]):.9g} ({given.per_unit_words}). The noise does "
        "not match the stated metric. Do not publish with it."
    )
