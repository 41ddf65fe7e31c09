"""Rows of reproductions as evidence, and numbers that take too long to be computed each time.

A function under `@recorded` returns what stands in `recorded.json` under its name; `python -m discreet_papers.evidence`
computes all of them anew and writes that file.
"""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from discreet_papers.registry import reproduction_named
from discreet_papers.reproduction import Row

Numbers = dict[str, float]

LONG: dict[str, Callable[[], Numbers]] = {}
"""What is recorded, by name, and how it is computed."""


@cache
def rows(name: str) -> list[Row]:
    """Return the rows of a quick run of a reproduction."""
    return reproduction_named(name).run(True).rows


def row(name: str, **where: Any) -> Row:
    """Return the first row of a reproduction with these values."""
    return next(each for each in rows(name) if all(each[key] == value for key, value in where.items()))


@cache
def record() -> dict[str, Numbers]:
    """Return all recorded numbers."""
    found: dict[str, Numbers] = json.loads(
        files("discreet_papers.evidence").joinpath("recorded.json").read_text("utf-8")
    )
    return found


def recorded(compute: Callable[[], Numbers]) -> Callable[[], Numbers]:
    """Return a function that reads what `compute` found when it was last run."""
    LONG[compute.__name__] = compute
    return lambda: record()[compute.__name__]


def near(first: float, second: float, within: float = 1e-9) -> bool:
    """Tell whether two numbers agree, relative to the larger."""
    return bool(abs(first - second) <= within * max(abs(first), abs(second), 1e-300))


def digits(value: float) -> str:
    """Return a number as the notes print it, with twelve digits."""
    return "0.0" if value == 0 else f"{value:.12g}"
