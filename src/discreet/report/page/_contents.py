"""What a page knows: rows at several levels, pictures, draws to compare, and rates in groups, as plain data for JSON.

All of it comes from the protocol of posteriors, so that a page need not ask what kind of model it is about.
"""

import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import ceil, floor
from typing import Any

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.notebook import one_line
from discreet.inference import PROBABILITY, HasEvents, Posterior, Row
from discreet.mechanism import event_name
from discreet.records import Column, text_of
from discreet.report.charts import posterior_chart

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""The levels of intervals that a reader can choose from."""
MOST_DRAWS, MOST_NUMBERS = 4_000, 600_000
"""Draws of every quantity that a page holds, and the most numbers in all."""
MOST_RATES = 60
"""How many rates of events in groups a page computes by itself; others must be asked for by name."""
_QUANTILE_DRAWS = 40_000  # draws of one rate for its intervals; their ends are off by about a hundredth of a deviation
MOST_CELLS = 100
"""Of a table with more cells than this, only rates that are asked for by name are computed."""

Question = tuple[str, str]
"""An event, and the column whose levels are the groups."""


def contents_of(posterior: Posterior, asked: Sequence[Question] = ()) -> dict[str, Any]:
    """Return everything that the page's script reads."""
    by_level = {level: posterior.rows(level) for level in LEVELS}
    return {
        "levels": [f"{level:g}" for level in LEVELS],
        "rows": [_row(index, row) for index, row in enumerate(by_level[LEVELS[0]])],
        "intervals": {f"{level:g}": [_interval(row) for row in rows] for level, rows in by_level.items()},
        "charts": {f"{level:g}": posterior_chart(posterior, level) for level in LEVELS},
        "draws": _draws(posterior),
        "groups": _groups(posterior, asked),
    }


def _row(index: int, row: Row) -> dict[str, Any]:
    return {
        "index": index,
        "quantity": one_line(row.quantity),
        "given": one_line(row.given),
        "unit": one_line(row.unit_text),
        "mean": row.mean,
        "median": row.median,
        "sd": row.sd,
        "is_share": row.is_probability,
    }


def _interval(row: Row) -> dict[str, Any]:
    return {
        "low": row.low,
        "high": row.high,
        "mean_text": row.starred_mean,
        "text": row.interval_text,
        "share": row.share_due_to_privacy,
        "share_text": row.share_text,
    }


def _draws(posterior: Posterior) -> dict[str, Any]:
    """Return named draws; each quantity's lie together, so that a page reads two of them and compares draw by draw."""
    sizes = [
        int(np.prod([len(posterior.coords[axis]) for axis in axes], dtype=int)) for axes in posterior.dims.values()
    ]
    count = max(500, min(MOST_DRAWS, MOST_NUMBERS // max(1, sum(sizes))))
    rows = posterior.rows()
    units = {row.quantity: PROBABILITY if row.is_probability else row.unit_text for row in rows}
    else_unit = PROBABILITY if all(row.is_probability for row in rows) else ""
    arrays = []
    for name, drawn in posterior.draws(count, seed=0).items():
        axes = posterior.dims[name]
        labels = [_label(name, axes, parts) for parts in product(*(posterior.coords[axis] for axis in axes))]
        flat = np.asarray(drawn, dtype=float).reshape(len(drawn), -1).T
        own = [units.get(label, else_unit) for label in labels]
        for unit in dict.fromkeys(own):  # only what has one unit can be compared
            inside = [index for index, each in enumerate(own) if each == unit]
            what = " ".join([name.replace("_", " "), f"({unit})" if unit else ""]).strip()
            known = {"name": one_line(name), "what": one_line(what), "unit": one_line(unit)}
            data = {"labels": [one_line(labels[index]) for index in inside], "data": _packed(flat[inside])}
            arrays.append(known | data)
    return {"count": count, "arrays": arrays}


def _label(name: str, axes: Sequence[str], parts: Sequence[str]) -> str:
    """Return the name of one of many draws: its coordinate on the only axis, or all coordinates with their axes."""
    if len(parts) <= 1:
        return parts[0] if parts else name
    return ", ".join(f"{axis.removesuffix('_level')}={part}" for axis, part in zip(axes, parts, strict=True))


def _packed(numbers: Floats) -> str:
    """Return numbers as 32-bit floats, least significant byte first, in base 64."""
    return b64encode(np.ascontiguousarray(numbers, dtype="<f4").tobytes()).decode()


def _groups(posterior: Posterior, asked: Sequence[Question]) -> list[dict[str, Any]]:
    """Return rates of events in the levels of columns, each with draws from the posterior given its noisy sums."""
    if not isinstance(posterior, HasEvents) or len(posterior.columns) < 2:
        return []
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is mostly noise is said to be wide, or unknown, in the rows
        for event, by in _questions(posterior, asked):
            try:
                found.append(_rates_of(posterior, event, by))
            except DeclarationError:
                if (event, by) in asked:
                    raise
                continue  # impossible or certain by the model, so there is nothing to compare
    return found


def _rates_of(posterior: HasEvents, event: str, by: str) -> dict[str, Any]:
    (column,) = [each for each in posterior.columns if each.name == by]
    rates, sizes = posterior.rate_distributions(event, by), posterior.group_sizes(by)
    drawn = np.array([rate.sample(_QUANTILE_DRAWS, np.random.default_rng(index)) for index, rate in enumerate(rates)])
    ends = {
        f"{level:g}": [rate.interval_of_draws(own, level) for rate, own in zip(rates, drawn, strict=True)]
        for level in LEVELS
    }
    return {
        "event": one_line(event),
        "by": one_line(by),
        "labels": [one_line(text_of(level)) for level in column.levels],
        "records": [f"{floor(size.low):,} to {ceil(size.high):,}" for size in sizes],
        "unknown": [size.low < 1 for size in sizes],
        "means": [rate.mean for rate in rates],
        "intervals": {level: [{"low": low, "high": high} for low, high in own] for level, own in ends.items()},
        "data": _packed(drawn[:, :MOST_DRAWS]),
    }


def _questions(posterior: HasEvents, asked: Sequence[Question]) -> Iterator[Question]:
    """Yield what is asked for, and of a small table every level of every column by every other one."""
    yield from asked
    cells = int(np.prod([float(len(column.levels)) for column in posterior.columns]))
    if cells > MOST_CELLS:
        return
    left, pairs = MOST_RATES, sorted(permutations(posterior.columns, 2), key=lambda pair: _rates(*pair))
    for of, by in pairs:
        left -= _rates(of, by)
        if left < 0:
            return
        for level in of.levels[1 if len(of.levels) == 2 else 0 :]:
            event = event_name(of.name, level)
            if (event, by.name) not in asked:
                yield event, by.name


def _rates(of: Column, by: Column) -> int:
    return (1 if len(of.levels) == 2 else len(of.levels)) * len(by.levels)
