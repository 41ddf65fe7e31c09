"""What a reproduction is: one table, figure or result of a paper, computed again, and what came out.

A reproduction says in words what the paper says and how what we get differs, and computes it: rows of numbers, a chart
if there is something to see, and a verdict. It uses the library as any reader would, and the same seeds every time, so
that its numbers can be asserted. Where a paper drew samples and the law is known, the law is used instead.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.report.charts._drawing import render
from discreet_papers.small_svg import compact

Row = dict[str, Any]
Spec = dict[str, Any]


@dataclass(frozen=True)
class Paper:
    """A source paper. `number` begins the names of its reproductions."""

    number: str
    authors: str
    year: int
    title: str
    venue: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}). {self.title}. {self.venue}."


@dataclass(frozen=True)
class Outcome:
    """What a reproduction found: rows with the same keys, the verdict in words, and a Vega-Lite chart or none."""

    rows: list[Row]
    verdict: str
    chart: Spec | None = None


@dataclass(frozen=True)
class Reproduction:
    """One result of a paper and how it is computed again.

    `says` is what the paper says, in our words; `finds` is what we get and why it differs, without the numbers that
    `run` computes. `run(quick)` returns the outcome; quick means fewer repeats and coarser grids, never another method.
    """

    name: str
    title: str
    paper: Paper
    setting: str
    says: str
    finds: str
    run: Callable[[bool], Outcome]

    def write(self, outcome: Outcome, folder: Path) -> list[Path]:
        """Write the rows as NAME.csv and the chart as NAME.json and NAME.svg; return what was written."""
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / f"{self.name}.csv"
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(outcome.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(outcome.rows)
        pictures = [] if outcome.chart is None else [folder / f"{self.name}{ending}" for ending in (".json", ".svg")]
        for picture in pictures:
            render(outcome.chart or {}, picture)
        if pictures:
            pictures[-1].write_text(compact(pictures[-1].read_text(encoding="utf-8")), encoding="utf-8")
        return [table, *pictures]
