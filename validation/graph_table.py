"""The table of graphs on docs/calibration.md, made of what `test_graph_calibration.py` found, by chains and row by row.

    python validation/graph_table.py collect   # what was kept becomes validation/graph_calibration.json
    python validation/graph_table.py write     # and these the table of the page

What is not on file stays as it was collected before. A test holds the page against the file.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from calibration_page import PAGE, files, percent, table
from kept_results import HERE, write
from rank_tests import uniformity

COLLECTED = HERE / "graph_calibration.json"
LEVELS = (0.5, 0.9, 0.95)
HOW = {"CountsSolver": "chains", "RowsSolver": "row by row"}
Entry = dict[str, Any]
_FIRST, _LAST = "<!-- graphs: made by validation/graph_table.py -->", "<!-- end of graphs -->"


def summed_up(found: Entry) -> Entry:
    """Return how much intervals of each level cover, with standard errors, data sets being independent."""
    (engine,) = found["repeats"][0]
    below = np.array([each[engine] for each in found["repeats"]])
    shares = {str(level): (np.abs(below - 0.5) <= level / 2).mean(axis=1) for level in LEVELS}
    covers = {
        level: [round(float(own.mean()), 4), round(float(own.std(ddof=1) / np.sqrt(len(own))), 4)]
        for level, own in shares.items()
    }
    graph = found["setting"].removesuffix(f", {engine}")
    facts = {"graph": graph, "read": HOW[engine], "seed": found["seed"], "commit": found["commit"]}
    return facts | {"releases": len(below), "covers": covers, "p": float(f"{uniformity(below):.3g}")}


def collected(earlier: list[Entry]) -> list[Entry]:
    """Return what is on file, and what was collected before of all else."""
    known = {(each["graph"], each["read"]): each for each in earlier}
    for found in files("graph-calibration"):
        entry = summed_up(found)
        known[entry["graph"], entry["read"]] = entry
    return [known[key] for key in sorted(known, key=lambda key: (not key[0].startswith("asia"), *key))]


def lines(results: list[Entry]) -> str:
    """Return coverage of 50, 90 and 95 % intervals, graph by graph."""
    rows = []
    for each in results:
        covers = [f"{percent(share)} ± {percent(error)}" for share, error in each["covers"].values()]
        rows.append([each["graph"], each["read"], str(each["releases"]), *covers, f"{each['p']:.2g}"])
    return table(["graph", "read", "releases", "50 %", "90 %", "95 %", "ranks, p"], rows)


def written(page: str, results: list[Entry]) -> str:
    """Return a page whose table of graphs is that of the results."""
    before, rest = page.split(_FIRST)
    return f"{before}{_FIRST}\n{lines(results)}\n{_LAST}{rest.split(_LAST)[1]}"


def main(word: str) -> None:
    """Collect results, or write the page."""
    results: list[Entry] = json.loads(COLLECTED.read_text("utf-8"))["graphs"] if COLLECTED.exists() else []
    if word == "collect":
        write(COLLECTED, {"graphs": collected(results)}, indent=1)
    elif word == "write":
        PAGE.write_text(written(PAGE.read_text("utf-8"), results), encoding="utf-8")
    else:
        raise SystemExit(str(__doc__))


if __name__ == "__main__":
    main(Path(sys.argv[-1]).name)
