"""Run the benchmarks one after another and keep their figures: what `make bench` does.

    python benchmarks/collect.py                    all of them, in less than 25 minutes on two free cores
    python benchmarks/collect.py --only start noise some; the figures of the others stay as they are
    python benchmarks/collect.py --page             no run: only write docs/performance.md anew

The figures go to benchmarks/figures.json, with what each script printed on the screen as before. The tables of
docs/performance.md are made of that file, so page and measurement cannot disagree. Sizes are such that all runs fit;
each script takes larger ones by itself.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from figures import FILE

HERE = Path(__file__).parent
KEPT = HERE / "figures.json"
PAGE = HERE.parent / "docs" / "performance.md"
BEGIN, END = "<!-- figures of benchmarks/figures.json begin -->", "<!-- figures end -->"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""As in tests: threads of linear algebra that wait for a core count as CPU time."""
LIMIT = 420
"""Seconds after which one script is stopped."""

RUNS: dict[str, tuple[str, str]] = {  # what is run, and its title on the page
    "start": ("start.py", "Starting"),
    "commands": ("commands.py", "Everyday commands"),
    "noise": ("noise.py", "Drawing noise"),
    "counting": ("counting.py --rows 4000000", "Counting records"),
    "check": ("counting.py --only check", "Checking records"),
    "memory": ("counting.py --only memory --rows 50000000", "Memory of counting"),
    "postgresql": ("postgresql.py", "Counting on PostgreSQL"),
    "spark": ("spark.py 7", "Counting on Spark"),
    "moments": ("moments.py", "Sums for regressions"),
    "number_sums": ("number_sums.py 10000000", "Sums of numbers by group"),
    "group_means": ("group_means.py 60", "Means by group"),
    "inference": ("inference.py", "Inference for tables, and planning"),
    "plans": ("plans.py", "Plans of all questions"),
    "networks": ("networks.py", "Inference for naive Bayes and trees"),
    "solvers": ("solvers.py", "Inference for other graphs, and choices among candidates"),
    "all_columns": ("all_columns.py", "All columns at once"),
    "alarm": ("alarm.py", "A network of 37 variables"),
    "regression_inference": ("regression_inference.py", "Inference for regressions"),
    "programs": ("programs.py", "A release as a likelihood"),
    "certificates": ("certificates.py", "Certificates"),
    "hellinger_draws": ("hellinger_draws.py", "Draws among candidate posteriors"),
    "ledger": ("ledger.py --sizes 10,1000,10000 --turns 3", "The ledger in a file"),
    "ledger_server": ("ledger.py --server --sizes 10,1000 --turns 3", "The ledger on PostgreSQL"),
    "serve": ("serve.py 1000", "The server"),
}


def run(name: str) -> dict[str, Any]:
    """Run one script, and return its command, its time and its figures; what it prints is seen."""
    command, title = RUNS[name]
    print(f"\n== {name}: python benchmarks/{command}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "figures"
        kept.touch()
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [sys.executable, *f"{HERE}/{command}".split()],
                env=os.environ | ONE_THREAD | {FILE: str(kept)},
                timeout=LIMIT,
                check=False,
            )
            failed = done.returncode != 0
        except subprocess.TimeoutExpired:
            failed = True
        figures = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
        taken = round(time.perf_counter() - started, 1)
    return {"title": title, "command": f"python benchmarks/{command}", "seconds": taken, "failed": failed} | {
        "figures": figures,
        "on": machine(),
    }


def machine() -> dict[str, str]:
    """Return the day, the commit and the machine of a run."""
    asked = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "commit": commit or "unknown",
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


def tables(kept: dict[str, Any]) -> str:
    """Return the figures as they stand on the page: one table for each run, in the order of RUNS."""
    parts = []
    for name, (_, title) in RUNS.items():
        found = kept.get(name)
        if found is None:
            continue
        on = found["on"]
        rows = [
            f"| {_cell(each['what'])} | {_number(each['value'])} {each['unit']} "
            f"| {_cell(each['beside'])} | {_cell(each['goal'])}{' (**missed**)' if each.get('missed') else ''} |"
            for each in found["figures"]
        ]
        parts.append(
            f"### {title}\n\n`{found['command']}`, {found['seconds']:.0f} s in all, {on['day']}, "
            f"commit {on['commit']}, {on['cores']} cores, Python {on['python']}"
            f"{'; stopped before its end' if found['failed'] else ''}\n\n"
            + "\n".join(["| measured | figure | beside it | goal |", "|---|---:|---|---|", *rows])
        )
    return "\n\n".join(parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|") or "-"


def page_with(kept: dict[str, Any], page: str) -> str:
    """Return the page with the tables of these figures."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(kept)}\n\n{END}{after}"


def main() -> int:
    """Run what is asked for, keep the figures, and write the page."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", nargs="*", choices=list(RUNS), default=list(RUNS))
    asked.add_argument("--page", action="store_true")
    given = asked.parse_args()
    kept: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    names = [] if given.page else given.only
    for name in names:
        kept[name] = run(name)
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page_with(kept, PAGE.read_text("utf-8")), "utf-8")
    failed = [name for name in names if kept[name]["failed"]]
    print(f"\n{len(names)} runs, {sum(kept[name]['seconds'] for name in names):.0f} s", end="")
    print(f"; these did not come to their end: {', '.join(failed)}" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
