"""Results of long sweeps, kept as they come, so that a run may be interrupted and go on where it stopped.

A sweep has settings, and a setting has repeats; each repeat draws from a seed of its own, the setting's and its number,
so that what was interrupted ends as if it had not been. Each setting has a file of its own in `validation/results/`,
JSON stamped with the commit, so settings may run side by side. What another commit found is not taken up.

`make validate` makes few repeats of each setting; `make validate-full` many.
"""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
IS_FULL = os.environ.get("DISCREET_VALIDATION") == "full"


def repeats(few: int, many: int) -> int:
    """Return how many repeats this run makes: few, or many if it is a full one."""
    return many if IS_FULL else few


@cache
def commit() -> str:
    """Return the commit that is checked out; if files were changed since, with a digest of the changes."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()

    stamp, changes = git("rev-parse", "HEAD"), git("diff", "HEAD")
    return stamp + (f" with changes {hashlib.sha256(changes.encode()).hexdigest()[:12]}" if changes else "")


def file_of(sweep: str, setting: str) -> Path:
    """Return where the results of a setting are kept."""
    return RESULTS / sweep / (re.sub(r"[^a-z0-9.]+", "-", setting.lower()).strip("-") + ".json")


def kept(
    sweep: str, setting: str, seed: int, count: int, repeat: Callable[[int], Any],
    so_far: Callable[[list[Any]], str] | None = None,
) -> list[Any]:  # fmt: skip
    """Return what `repeat` finds for 0, 1, ..., count - 1; what this commit found before is not computed again.

    Where a repeat takes long, `so_far` says what is known after each of them: it is printed as it comes.
    """
    place = file_of(sweep, setting)
    found = {"commit": commit(), "setting": setting, "seed": seed, "repeats": []}
    if place.exists():
        earlier = json.loads(place.read_text("utf-8"))
        found = earlier if all(earlier[key] == found[key] for key in ("commit", "setting", "seed")) else found
    done: list[Any] = found["repeats"]  # type: ignore[assignment]  # a list among texts and numbers
    for number in range(len(done), count):
        done.append(repeat(number))
        write(place, found)
        if so_far is not None:
            print(f"{setting}, {len(done)} of {count}: {so_far(done)}", flush=True)
    return done[:count]


def write(place: Path, found: dict[str, Any], indent: int | None = None) -> None:
    """Write a file of results whole, or leave the one that is there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(".new")
    fresh.write_text(json.dumps(found, indent=indent) + "\n", encoding="utf-8")
    fresh.replace(place)
