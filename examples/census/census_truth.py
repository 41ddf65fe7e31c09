"""The exact answers to the questions of the study, from the records: what no reader of a release can know."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.inference import Row

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
OWN = " (these records)"
"""Rows of numbers come twice: about the records, and about the population that they are a sample of."""


REGRESSIONS = {"hours-line": ("hours", False), "income-odds": ("income", True)}
"""The target of each regression, and whether it is a logistic one."""


class Census:
    """Records by column: texts as they were written, and the places of their levels as the study declares them."""

    def __init__(self, texts: Mapping[str, Sequence[str] | np.ndarray], study: dc.Study, named: bool = False) -> None:
        """Take texts as they were written, or, if they are `named`, names of levels as made-up records have them."""
        self.study, self.size = study, len(next(iter(texts.values())))
        self.texts = {name: np.array(values, dtype=object) for name, values in texts.items()}
        self._codes = {name: _codes(texts[name], column, named) for name, column in study.columns.items()}

    def drawn(self, generator: np.random.Generator) -> "Census":
        """Return as many records drawn with replacement: another sample of the same population."""
        places, other = generator.integers(self.size, size=self.size), copy(self)
        other.texts = {name: values[places] for name, values in self.texts.items()}
        other._codes = {name: codes[places] for name, codes in self._codes.items()}
        other.__dict__.pop("numbers", None)
        return other

    def counts(self, *names: str) -> Counts:
        """Return the table of some columns, crossed, the last one running fastest."""
        levels = [len(self.study.columns[name].levels) for name in names]
        places = np.ravel_multi_index([self._codes[name] for name in names], levels)
        return np.bincount(places, minlength=int(np.prod(levels)))

    def statistics(self, question: str) -> Counts:
        """Return what the mechanism of a question adds its noise to."""
        asked = self.study.question(question)
        model = asked.model
        if hasattr(model, "rehearse"):
            names = [*(column.name for column in asked.columns), *(bounds.name for bounds in asked.bounds)]
            return np.asarray(model.rehearse({name: self.texts[name].tolist() for name in names}))
        if hasattr(model, "maximal_families"):
            return np.concatenate([self.counts(*family) for family in model.maximal_families])
        return self.counts(*(column.name for column in model.columns))

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """Return the columns of numbers."""
        return {name: self.texts[name].astype(float) for name in ("age", "schooling", "hours")}

    def where(self, event: str) -> NDArray[np.bool_]:
        """Tell which records an event such as 'sex=Male, race=White' holds for; no words hold for all."""
        found = np.ones(self.size, dtype=bool)
        for part in filter(None, event.split(", ")):
            name, _, level = part.partition("=")
            column = self.study.columns[name]
            found &= self._codes[name] == [str(each) for each in column.levels].index(level)
        return found

    def coefficients(self, target: str, logistic: bool, names: Sequence[str]) -> dict[str, float]:
        """Return those of a least-squares line, or of a logistic regression, for rows with these names."""
        x = self.design(names)
        if not logistic:
            return dict(zip(names, np.linalg.lstsq(x, self.numbers[target], rcond=None)[0].tolist(), strict=True))
        y, weights = self._codes[target].astype(float), np.zeros(x.shape[1])
        for _ in range(40):  # Newton's steps
            chances = 1 / (1 + np.exp(-x @ weights))
            weights += np.linalg.solve((x.T * (chances * (1 - chances))) @ x, x.T @ (y - chances))
        return dict(zip(names, weights.tolist(), strict=True))

    def design(self, names: Sequence[str]) -> Floats:
        """Return the columns of features by the names of coefficients."""
        return np.column_stack([self._feature(name) for name in names])

    def coded(self, names: Sequence[str]) -> Counts:
        """Return the places of the levels of some columns."""
        return np.column_stack([self._codes[name] for name in names])

    def _feature(self, name: str) -> Floats:
        if name == "intercept":
            return np.ones(self.size)
        return self.where(name).astype(float) if "=" in name else self.numbers[name]

    def truth(self, question: str, rows: Sequence[Row]) -> list[float]:
        """Return the exact answer for every row of a reading."""
        if question in REGRESSIONS:
            known = self.coefficients(*REGRESSIONS[question], [row.quantity for row in rows])
            return [known[row.quantity] for row in rows]
        columns = [column.name for column in self.study.question(question).columns]
        return [self._truth_of(row, columns) for row in rows]

    def _truth_of(self, row: Row, columns: Sequence[str]) -> float:
        quantity, inside = row.quantity.split(" (")[0], self.where(row.given)
        words = quantity.split(" of ")
        if len(words) == 2 and words[1].split()[0] in self.numbers:
            return self._number(words[0], words[1].split(), inside)
        event = quantity if "=" in quantity and quantity.partition("=")[0] in columns else f"{columns[0]}={quantity}"
        return float(self.where(event)[inside].mean())

    def _number(self, what: str, words: Sequence[str], inside: NDArray[np.bool_]) -> float:
        values = np.sort(self.numbers[words[0]][inside])
        if what in ("mean", "sum"):
            return float(values.mean() if what == "mean" else values.sum())
        if what == "share":  # of hours below 25
            return float((values < float(words[-1])).mean())
        share = 0.5 if what == "median" else float(what.split()[0]) / 100
        return float(values[max(1, int(np.ceil(share * len(values) - 1e-9))) - 1])


def _codes(values: Sequence[str] | np.ndarray, column: dc.Column, named: bool) -> Counts:
    levels = [str(level) for level in column.levels]
    places = {v: levels.index(v) if named and v in levels else column.code(v) for v in set(values)}
    return np.array([places[value] for value in values])
