"""What every posterior is: named rows with intervals, named draws, and words about how it was read.

Screens, files, pictures, statements, data frames and notebooks are written once, on these; what only one kind of model
can answer (a ratio of probabilities, a forecast) is a method of its own class.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Generic

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.inference.posteriors.account import Account
from discreet.inference.posteriors.frames import frame_of
from discreet.inference.posteriors.pictures import Graph, Intervals, Line
from discreet.inference.posteriors.row import PROBABILITY, Row, text_table
from discreet.inference.posteriors.trees import data_tree, write_netcdf
from discreet.markup import html_table
from discreet.models.model import MadeUp
from discreet.records.columns import Column
from discreet.releases.release import ModelT, Release

_DRAWS = 4_000
_SHOWN_LEVEL = 0.9
_MOST_IN_A_NOTEBOOK = 60


def require_posterior(given: object, undone: str) -> None:
    """Refuse what is no posterior, such as a release that nobody has read yet."""
    if not isinstance(given, Posterior):
        raise DeclarationError(
            f"This takes a posterior, which is what discreet.infer reads from a release; got a {type(given).__name__}. "
            f"{undone}."
        )


class Posterior(ABC, Generic[ModelT]):
    """What a reader knows once the noise is accounted for, whatever the model is.

    `model` holds the reader's prior, `releases` are those that were read, and `size` is their number of records.
    """

    subject: ClassVar[str]
    """What it is about, in words: 'a table of categories'."""
    answers: ClassVar[frozenset[str]] = frozenset()
    """Its methods that answer further questions, about events and made-up records; others refuse them."""

    def __init__(self, model: ModelT, releases: Sequence[Release[ModelT]]) -> None:
        self.model = model
        self.releases = tuple(releases)
        self.size: int = self.releases[0].mechanism.size

    @abstractmethod
    def rows(self, level: float = _SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for each quantity, with equal-tailed intervals of this probability."""

    def some_rows(self, places: Sequence[int], level: float = _SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return the rows at these places alone."""
        rows = self.rows(level)
        return tuple(rows[place] for place in places)

    def log_densities(self, places: Sequence[int], made: MadeUp) -> tuple[Floats, Floats]:
        """Return the log densities of the made-up truth of some rows, and what exact statistics would give.

        They are not numbers where densities are not known.
        """
        unknown = np.full(len(places), nan)
        return unknown, unknown

    @abstractmethod
    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Return named arrays of draws from the posterior; the first axis counts the draws, `dims` names the others."""

    @property
    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the axes of each array of draws, after the first."""

    @property
    @abstractmethod
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the places along each axis of `dims`."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Say in words how the releases were read, to follow 'this release was': exactly, or with which error."""

    @property
    @abstractmethod
    def information(self) -> float | None:
        """Return about how many nats the releases told: the divergence of the posterior from the prior, if known."""

    @property
    @abstractmethod
    def log_evidence(self) -> float | None:
        """Return log P(releases | model) if it is known. Differences are log Bayes factors."""

    @abstractmethod
    def account(self) -> Account:
        """Return what a statement says about the question, the columns and the prior."""

    @property
    def has_declared_prior(self) -> bool:
        """Tell whether the prior is the holder's, not the reader's own."""
        return bool(self.model == self.releases[0].mechanism.model)

    def facts(self, level: float = _SHOWN_LEVEL) -> dict[str, Any]:
        """Return further figures for a document, by name."""
        return {}

    def remarks(self, level: float = _SHOWN_LEVEL) -> tuple[str, ...]:
        """Return further sentences to stand below the table of rows."""
        return ()

    def intervals(self, level: float = _SHOWN_LEVEL) -> Intervals:
        """Return what is drawn of the rows: one axis, or one for each unit if there are several."""
        rows, what = self.rows(level), f"mean and {100 * level:g} % interval"
        units, quantities = {row.unit for row in rows}, {row.quantity for row in rows}
        only = rows[0].unit if len(units) == 1 else None
        alone = only is not None and len(quantities) == 1 and len(rows) > 1  # one quantity under many conditions
        lines = []
        for row in rows:
            mean, low, high = row.texts
            group = "" if alone else row.unit if only is None else f"given {row.given}" if row.given else ""
            name = row.given if alone else row.quantity
            lines.append(Line(name, row.mean, row.low, row.high, group, f"{mean}  ({low} to {high})"))
        axis = "" if only is None else "Probability" if only == PROBABILITY else only
        shown = ": ".join(filter(None, [f"{axis} of {rows[0].quantity}" if alone else axis, what]))
        return Intervals(shown, tuple(lines), unit=only)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns whose levels make up events; none if there are no events."""
        return ()

    def rates(self, event: str, by: str, level: float = _SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for P(event | each level of a column)."""
        raise DeclarationError(
            f"A comparison is of an event's probability in groups of records; {self.subject} has no events. "
            "Nothing was compared."
        )

    def chance(self, event: str, given: str | None = None, level: float = _SHOWN_LEVEL) -> Row:
        """Return P(event), or P(event | given), as a row with its interval."""
        raise DeclarationError(f"An event's probability was asked for; {self.subject} has no events.")

    def graph(self, level: float = _SHOWN_LEVEL) -> Graph | None:
        """Return the graph of a network with its tables; nothing if the model has none."""
        return None

    def to_frame(self, backend: str | None = None, level: float = _SHOWN_LEVEL) -> Any:
        """Return the rows as a data frame: 'pandas', 'polars' or 'pyarrow', by default the first that is installed."""
        return frame_of(self.rows(level), backend)

    def to_arviz(self, draws: int = _DRAWS, seed: int = 0) -> Any:
        """Return draws as a data tree for ArviZ, with one chain."""
        return data_tree(self.draws(draws, seed), self.dims, self.coords)

    def to_netcdf(self, path: str | Path, draws: int = _DRAWS, seed: int = 0) -> None:
        """Write draws as a netCDF file that ArviZ reads."""
        write_netcdf(self.draws(draws, seed), self.dims, self.coords, Path(path))

    @property
    def heading(self) -> str:
        """Return which releases were read, of how many records, and under which promise."""
        labels = "; ".join(dict.fromkeys(release.label for release in self.releases))
        epsilons = " and ".join(exact_text(release.guarantee.epsilon) for release in self.releases)
        return f"{labels}: {self.size} records, epsilon = {epsilons}"

    def __repr__(self) -> str:
        return f"<posterior of {self.subject} given {self.releases[0].label!r}>"

    def __str__(self) -> str:
        headings, lines, words = text_table(self.rows(_SHOWN_LEVEL), _SHOWN_LEVEL)
        widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
        shown = []
        for line in (headings, *lines):
            cells = [c.ljust(w) if n < words else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True))]
            shown.append("   ".join(cells).rstrip())
        return "\n".join(shown)

    def _repr_html_(self) -> str:
        """Return the table of rows for a notebook; everything in it is text and nothing else."""
        headings, lines, words = text_table(self.rows(_SHOWN_LEVEL), _SHOWN_LEVEL)
        simulated = "SIMULATED, no release of real records. " if self.releases[0].simulated else ""
        notes = [f"This release was {self.method}."]
        if len(lines) > _MOST_IN_A_NOTEBOOK:
            notes.insert(0, f"These are the first {_MOST_IN_A_NOTEBOOK} of {len(lines)} rows; to_frame() has all.")
        return html_table(simulated + self.heading, headings, lines[:_MOST_IN_A_NOTEBOOK], words, notes)
