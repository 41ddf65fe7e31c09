"""Figures: what a benchmark measured. It prints them for people; the collector also keeps them as JSON.

A script calls `record` beside its `print`. If the environment names a file in DISCREET_FIGURES, the figure is added to
that file as one line. If not, nothing happens, and scripts run by themselves as before.
"""

import json
import os
from pathlib import Path

FILE = "DISCREET_FIGURES"


def record(what: str, value: float, unit: str, beside: str = "", goal: str = "", missed: bool = False) -> None:
    """Keep one figure: what was measured, value and unit, what it is seen beside, the goal, and if it was missed."""
    if place := os.environ.get(FILE):
        line = {"what": what, "value": float(f"{value:.4g}"), "unit": unit, "beside": beside, "goal": goal}
        line |= {"missed": True} if missed else {}
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
