"""Build the wheel and the source distribution, and try them outside of the project as strangers will.

    python release/try_release.py                       all of it
    python release/try_release.py --only extras         one part: distributions, extras, interpreters, oldest, newest
    python release/try_release.py --only extras --named serve,plots    some trials of a part, by a part of their names
    python release/try_release.py --keep FOLDER         leave the two files there

- distributions: wheel and source distribution alone, without any extra;
- extras: the wheel with each extra, whose libraries must load;
- interpreters: the wheel on every Python from 3.11 on that is found;
- oldest: every dependency at the oldest version that pyproject.toml allows, on the oldest interpreter; then the wheel
  with each extra, and the extra's own libraries at theirs;
- newest: every dependency at its newest version, and the constraints file, which must still be installable.

Each is a new environment in an empty folder, in which `smoke.py` takes a study from records to a posterior.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent
OLDEST = 11  # of Python 3
LOADS = {
    "plots": "vl_convert",
    "arviz": "arviz_base",
    "spark": "pyspark",
    "sklearn": "discreet.sklearn",
    "pgmpy": "pgmpy",
    "signatures": "cryptography",
    "postgresql": "psycopg",
    "serve": "discreet.server",
    "nutpie": "nutpie",
    "pymc": "discreet.programs.bridges.pymc",
    "numpyro": "discreet.programs.bridges.numpyro",
}
"""What each extra must make loadable."""
_LEAST = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9a-z.]*)")


@dataclass(frozen=True)
class Trial:
    """One environment: an interpreter, what is installed, further words for pip, and what must load."""

    part: str
    name: str
    python: str
    requirement: str
    options: tuple[str, ...] = ()
    loads: str = "discreet"


def declared() -> dict[str, list[str]]:
    """Return the requirements of the library itself (under '') and of each extra."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def extras() -> list[str]:
    """Return the extras that are for users."""
    return [name for name in declared() if name not in ("", "dev", "docs")]


def oldest_allowed(extra: str = "") -> list[str]:
    """Return each dependency of the library, or of an extra, at the oldest version that is allowed, if one is named."""
    found = [_LEAST.match(words) for words in declared()[extra]]
    return [f"{match[1]}=={match[2]}" for match in found if match]


def interpreters() -> dict[int, str]:
    """Return every Python 3 that is found, from the oldest allowed one on, by its second number."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    found = {sys.version_info.minor: sys.executable}
    for path in (each for folder in folders if folder.is_dir() for each in folder.glob("python3.*")):
        number = re.fullmatch(r"python3\.(\d+)", path.name)
        if number and int(number[1]) >= OLDEST and path.parent.name != "shims":
            with_venv = subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True, check=False)
            if with_venv.returncode == 0:
                found.setdefault(int(number[1]), str(path))
    return dict(sorted(found.items()))


def built(folder: Path) -> tuple[str, str]:
    """Build both distributions and return their paths: the wheel and the source distribution."""
    python = environment(sys.executable, folder / "building")
    run([python, "-m", "pip", "install", "--quiet", "build"], folder)
    run([python, "-m", "build", "--outdir", str(folder / "dist"), str(PROJECT)], folder)
    (wheel,), (source,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return str(wheel), str(source)


def environment(python: str, folder: Path) -> str:
    """Make an empty environment and return its interpreter."""
    run([python, "-m", "venv", str(folder)], folder.parent)
    return str(folder / "bin" / "python")


def run(words: list[str], folder: Path) -> str:
    """Run a command in a folder, as if the project was not there; return what it printed."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(words, cwd=folder, env=outside, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip()[-2_000:])
    return done.stdout.strip()


def trials(wheel: str, source: str) -> Iterator[Trial]:
    """Yield all that is tried."""
    here, known = sys.executable, interpreters()
    yield Trial("distributions", "wheel", here, wheel)
    yield Trial("distributions", "source distribution", here, source)
    for extra in extras():
        yield Trial("extras", extra, here, f"{wheel}[{extra}]", loads=LOADS[extra])
    for minor, python in known.items():
        yield Trial("interpreters", f"Python 3.{minor}", python, wheel)
    yield Trial("oldest", "oldest dependencies", known[min(known)], wheel, tuple(oldest_allowed()))
    for extra in extras():
        name, own = f"oldest libraries of {extra}", tuple(oldest_allowed(extra))
        yield Trial("oldest", name, known[min(known)], f"{wheel}[{extra}]", own, loads=LOADS[extra])
    yield Trial("newest", "newest dependencies", known[max(known)], wheel, ("--upgrade", "--upgrade-strategy", "eager"))
    yield Trial("newest", "constraints.txt", here, wheel, ("--constraint", str(PROJECT / "constraints.txt")))


def tried(trial: Trial, folder: Path) -> str:
    """Install into a new environment and take a study through it; return what it says."""
    python = environment(trial.python, folder / "environment")
    run([python, "-m", "pip", "install", "--quiet", trial.requirement, *trial.options], folder)
    room = folder / "empty"
    room.mkdir()
    run([python, "-c", f"import {trial.loads}"], room)
    said = run([python, "-W", "error::DeprecationWarning:discreet", str(HERE / "smoke.py")], room)
    run([python, "-m", "pip", "check"], room)
    return said


def main() -> None:
    """Try all parts, or one of them, and say of each how it went."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", help="one part")
    asked.add_argument("--named", default="", help="only trials whose names hold one of these words, by commas")
    asked.add_argument("--keep", type=Path, help="a folder for the wheel and the source distribution")
    asked.add_argument("--json", type=Path, help="write the outcome into a file too")
    given = asked.parse_args()
    outcome, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        wheel, source = built(Path(folder))
        if given.keep:
            given.keep.mkdir(exist_ok=True)
            for path in (wheel, source):
                shutil.copy(path, given.keep)
        for trial in trials(wheel, source):
            if given.only not in (None, trial.part) or not any(word in trial.name for word in given.named.split(",")):
                continue
            started, is_good = time.perf_counter(), True
            with tempfile.TemporaryDirectory(dir=folder) as room:
                try:
                    said = tried(trial, Path(room))
                except RuntimeError as problem:
                    said, is_good = str(problem), False
            seconds, failed = time.perf_counter() - started, failed + (not is_good)
            outcome.append({"part": trial.part, "name": trial.name, "is_good": is_good, "said": said})
            print(
                f"{'ok    ' if is_good else 'FAILED'} {trial.part}: {trial.name} ({seconds:.0f} s) {said}", flush=True
            )
    if given.json:
        given.json.write_text(json.dumps(outcome, indent=1))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
