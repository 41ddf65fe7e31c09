"""Commands that people use every day, whole: CPU seconds of a fresh process from start to end, the better of two.

One study with a question of every sort, of made-up records with a fixed seed. `check` reads all columns; `publish`
counts, charges and draws; `infer` and `verify` know the release alone, the latter also the ledger.

    python benchmarks/commands.py [records]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
from demo import STUDY
from figures import record

SIZE = 10_000
FIVE = """
[questions.five]
model = "network"
edges = ["ward -> smoking", "ward -> fall", "smoking -> fall", "age -> fall", "fall -> fallen"]
epsilon = "2"
"""
GOALS = {"infer": 2.0, "verify": 1.5, "ledger": 0.5, "check": 2.0, "plan": 2.0}


def records(size: int) -> str:
    """Return a CSV file of made-up patients."""
    rng = np.random.default_rng(20)
    wards, habits = np.array(["North", "South", "East", "West"]), np.array(["never", "former", "current"])
    ward, smoking = rng.choice(wards, size, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(habits, size, p=[0.5, 0.25, 0.25])
    years = np.clip(rng.normal(62, 18, size), 0, 119).round(1)
    bmi = np.clip(rng.normal(24, 4, size) + 0.03 * years, 11, 59).round(1)
    fall = np.where(rng.random(size) < 0.03 + 0.001 * years, "yes", "no")
    fallen = np.where(rng.random(size) < np.where(fall == "yes", 0.9, 0.05), "yes", "no")
    columns = (ward, fall, fallen, smoking, years.astype(int), years, bmi)
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join(["ward,fall,fallen,smoking,age,years,bmi", *lines]) + "\n"


def taken(folder: Path, *words: str) -> float | None:
    """Return what a whole command takes, user and system; None if it was refused, with its words on the screen."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
    before = getrusage(RUSAGE_CHILDREN)
    program = "from discreet.cli import main; main(prog_name='discreet')"
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, env=kept, capture_output=True, text=True, check=False
    )
    after = getrusage(RUSAGE_CHILDREN)
    if done.returncode:
        print(f"discreet {' '.join(words)} failed: {done.stderr.strip()}")
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(folder: Path, title: str, *words: str, repeats: int = 2) -> None:
    found = [each for _ in range(repeats) if (each := taken(folder, *words)) is not None]
    if found:
        goal = GOALS.get(words[0])
        said = "" if goal is None else f"goal {goal:g}"
        print(f"{title:<44} {min(found):6.2f} CPU s   {said}", flush=True)
        record(title, min(found), "CPU s", "", said, goal is not None and min(found) > goal)


def main(size: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "survey.csv").write_text(records(size))
        study = STUDY.replace("size = 1200", f"size = {size}").replace('"20"', '"99"') + FIVE
        (folder / "study.toml").write_text(study)
        names = [line[11:-1] for line in study.splitlines() if line.startswith("[questions.")]
        taken(folder, "check", "study.toml")  # compiles the library once, as an installation does
        measured(folder, f"check, {size:,} rows of 7 columns", "check", "study.toml")
        for name in names:
            measured(folder, f"publish {name}", "publish", "study.toml", "--ask", name, repeats=1)
        for name in names:
            document = f"{name}.release.json"
            measured(folder, f"infer {name}", "infer", document)
            measured(folder, f"verify {name}", "verify", document, "--ledger", "study.db")
        measured(folder, f"ledger of {len(names)} entries", "ledger", "study.db")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
