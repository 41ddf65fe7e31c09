"""Run the tests as other machines would: other processors, threads, locales, users, clocks and interpreters.

    python release/try_machines.py                        the whole suite once, then the numeric part in every setting
    python release/try_machines.py --list                 what there is, and what cannot be had here
    python release/try_machines.py --only Nehalem,locale  settings whose names hold one of these words
    python release/try_machines.py --tests tests/noise    other tests in place of the numeric part
    python release/try_machines.py --again                what passed at this commit as well

What floating point gives in the last digits depends on the instructions of a processor and on the order in which
libraries add. Every result must be the same to within the accuracy that it states, so tests that compare digits must
pass in each setting. The numeric part is what reads every frozen release, and all that computes such readings: it is
where a difference shows, in at most four minutes of a processor. All other tests run once, with the whole suite.

Outcomes are kept in build/machines, so that a run that was interrupted goes on where it stopped: what has passed at a
commit without further changes is not run again. What cannot be had on this machine is said in words, with the reason.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from try_release import PROJECT, interpreters

_INFERENCE = ("chain_pins", "known_sum", "numerical_errors", "tempering", "windows")
_PROGRAMS = ("programs", "program_posterior", "likelihood")
NUMERIC = (
    *("tests/documents/test_corpus.py", "tests/mathematics", "tests/noise", "tests/numbers"),
    *(f"tests/inference/test_{name}.py" for name in _INFERENCE),
    *(f"tests/programs/test_{name}.py" for name in _PROGRAMS),
    *("tests/tables/test_inference.py", "tests/draws/test_family_draws.py", "tests/networks/test_shared_radius.py"),
)
KEPT = PROJECT / "build" / "machines"
CORES = ("Nehalem", "Haswell", "SkylakeX")  # without AVX; with AVX2; with AVX-512
FAR_AWAY = "Pacific/Kiritimati"  # 14 hours ahead: there it is tomorrow already
NOBODY = "nobody"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
WHOLE = "whole suite"
_MULTIPLY = "import numpy; numpy.linalg.eigh(numpy.ones((90, 90)) @ numpy.ones((90, 90)))"
_CORE = """
from threadpoolctl import threadpool_info
import numpy, scipy.linalg
print(",".join(str(pool.get("architecture")) for pool in threadpool_info() if pool["user_api"] == "blas"))
"""
_DISPATCHED = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(" ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name)))
"""


@dataclass(frozen=True)
class Setting:
    """One way of running tests: variables of the environment, words before the command, another interpreter, a copy.

    `cannot` says why it cannot be had here.
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    python: str = sys.executable
    is_copied: bool = False
    cannot: str = ""


class NotHereError(Exception):
    """A setting turns out not to be had on this machine."""


def said(words: Sequence[str], variables: Mapping[str, str] | None = None) -> str | None:
    """Return what a command prints, or nothing if it fails."""
    try:
        done = subprocess.run(
            words, env={**os.environ, **(variables or {})}, capture_output=True, text=True, check=False, timeout=120
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def settings(kept: Path) -> Iterator[Setting]:
    """Yield all settings in which the numeric part runs, those that cannot be had here included."""
    yield from processors()
    for threads in ("1", "4"):
        yield Setting(f"{threads} BLAS thread{'s' * (threads > '1')}", dict.fromkeys(THREADS, threads))
    yield Setting("another hash seed", {"PYTHONHASHSEED": "20011"})
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    yield Setting("locale without UTF-8", plain)
    yield home_that_cannot_be_written(kept)
    zone = "" if Path("/usr/share/zoneinfo", FAR_AWAY).exists() else "this machine has no table of time zones"
    yield Setting("far time zone", {"TZ": FAR_AWAY}, cannot=zone)
    yield without_network()
    yield not_root()
    for minor, python in interpreters().items():
        name = f"Python 3.{minor}"
        if minor == sys.version_info.minor:
            yield Setting(name, cannot="it is the interpreter of all other settings")
        else:
            yield Setting(name, python=python)


def processors() -> Iterator[Setting]:
    """Yield the kernels of OpenBLAS for other processors, and NumPy without what it chooses when it is loaded."""
    is_intel = platform.machine().lower() in ("x86_64", "amd64")
    for core in CORES:
        variables = {"OPENBLAS_CORETYPE": core}
        cannot = "" if is_intel else f"the kernels of {core} need an x86 processor, and this is {platform.machine()}"
        if not cannot and said([sys.executable, "-c", _MULTIPLY], variables) is None:
            cannot = f"this processor lacks instructions that the kernels of {core} use"
        used = (said([sys.executable, "-c", _CORE], variables) or "").split(",")
        if not cannot and used != [""] and core.lower() not in (each.lower() for each in used):
            cannot = f"linear algebra uses the kernels of {' and '.join(sorted(set(used)))} whatever is asked for"
        yield Setting(f"OpenBLAS for {core}", variables, cannot=cannot)
    dispatched = said([sys.executable, "-c", _DISPATCHED]) or ""
    cannot = "" if dispatched else "NumPy uses nothing beyond its baseline on this processor"
    yield Setting("NumPy without dispatch", {"NPY_DISABLE_CPU_FEATURES": dispatched}, cannot=cannot)


def home_that_cannot_be_written(kept: Path) -> Setting:
    """Return a setting whose home folder refuses every file; root may write anywhere but where there is no disk."""
    home = kept / "home"
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o555)
    found = Path("/proc") if os.access(home, os.W_OK) else home
    cannot = "" if found.is_dir() else "root may write everywhere, and there is no /proc"
    return Setting("home that cannot be written", {"HOME": str(found)}, cannot=cannot)


def without_network() -> Setting:
    """Return a setting in which no machine can be reached, not even this one by another name."""
    for words in (("unshare", "--net"), ("unshare", "--map-root-user", "--net")):
        if said([*words, "true"]) is not None:
            up = 'ip link set lo up 2>/dev/null; exec "$@"'
            return Setting("no network", before=(*words, "sh", "-c", up, "sh"))
    return Setting("no network", cannot="unshare is missing here, or not allowed")


def not_root() -> Setting:
    """Return a setting under another user, who may read a copy of the project and write nowhere else."""
    name = "user who is not root"
    if os.name != "posix" or os.geteuid() != 0:
        return Setting(name, cannot="all other settings run so already")
    import pwd  # which is not everywhere

    try:
        group = pwd.getpwnam(NOBODY).pw_gid
    except KeyError:
        return Setting(name, cannot=f"there is no user {NOBODY}")
    before = ("setpriv", f"--reuid={NOBODY}", f"--regid={group}", "--clear-groups", "--")
    for python in dict.fromkeys(
        [sys.executable, *interpreters().values(), "/usr/bin/python3", "/usr/local/bin/python3"]
    ):
        enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
        if said([*before, str(Path(python).resolve()), "-c", enough]) is not None:
            return Setting(name, before=before, python=python, is_copied=True)
    return Setting(name, cannot=f"setpriv is missing, or {NOBODY} may run no interpreter that is found here")


def environment(python: str, kept: Path) -> Path:
    """Return the interpreter of an environment with the tests' libraries, made once for each interpreter and change.

    What is tested is the project's own folder, which comes first on the path of imports.
    """
    version = said([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.base_prefix)"]) or "unknown"
    folder = kept / ("python-" + "".join(sign if sign.isalnum() or sign == "." else "-" for sign in version))
    ready, wanted = folder / "installed", (PROJECT / "pyproject.toml").read_text("utf-8")
    if not ready.exists() or ready.read_text("utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        for words in (
            [python, "-m", "venv", str(folder)],
            [*pip, f"{PROJECT}[dev]"],
            [*pip, "--no-deps", str(PROJECT / "papers")],
        ):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip() or done.stdout.strip() or "no reason was given").splitlines()[-1]
                raise NotHereError(f"the libraries of the tests cannot be installed for {python}: {last}")
        ready.write_text(wanted, "utf-8")
    return folder / "bin" / "python"


def copied(folder: Path) -> Path:
    """Return a copy of all files of the project that git knows or would add, readable by everyone."""
    words = ["git", "-C", str(PROJECT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, folder / name)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o644)
    return folder


def run(setting: Setting, tests: Sequence[str], kept: Path) -> str:
    """Run tests in a setting; return nothing if they pass, otherwise the last lines of what they print."""
    if setting.name == WHOLE:
        return failure(["make", "test"], PROJECT, dict(os.environ))
    with tempfile.TemporaryDirectory() as made:
        folder = copied(Path(made)) if setting.is_copied else PROJECT
        python, readable = setting.python, Path(tempfile.gettempdir(), "discreet-machines")
        if setting.is_copied or python != sys.executable:
            python = str(environment(python, readable if setting.is_copied else kept))
        variables = {**os.environ, **dict.fromkeys(THREADS, "1"), **setting.variables}
        variables["PYTHONPATH"] = os.pathsep.join(str(folder / each) for each in ("src", "papers/src"))
        if setting.is_copied:
            variables |= {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*setting.before, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        return failure(command, folder, variables)


def failure(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Return nothing if a command succeeds, otherwise the last lines of what it prints."""
    words = {name: value for name, value in variables.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=folder, env=words, capture_output=True, check=False)
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else "\n".join(lines[-40:] or [f"it ended with {done.returncode}"])


def state() -> str:
    """Return the commit that is tried, nothing if files were changed since."""
    head = said(["git", "-C", str(PROJECT), "rev-parse", "HEAD"]) or ""
    return head if said(["git", "-C", str(PROJECT), "status", "--porcelain"]) == "" else ""


def main() -> None:
    """Try all settings, or some, and print a table of how they went."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", default="", help="settings whose names hold one of these words, by commas")
    asked.add_argument("--tests", nargs="+", default=list(NUMERIC), help="tests in place of the numeric part")
    asked.add_argument("--again", action="store_true", help="run what has passed at this commit as well")
    asked.add_argument("--list", action="store_true", help="print the settings and run nothing")
    given = asked.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    outcomes = KEPT / "outcomes.json"
    passed: dict[str, str] = json.loads(outcomes.read_text("utf-8")) if outcomes.exists() else {}
    table, now = [], state()
    for setting in (Setting(WHOLE), *settings(KEPT)):
        if not any(word.lower() in setting.name.lower() for word in given.only.split(",")):
            continue
        key = f"{setting.name}: {'' if setting.name == WHOLE else ' '.join(given.tests)}"
        started, shown = time.perf_counter(), ""
        if setting.cannot:
            how = f"cannot be had here: {setting.cannot}"
        elif given.list:
            how = "can be had here"
        elif now and passed.get(key) == now and not given.again:
            how = "passed before, at this commit"
        else:
            try:
                shown = run(setting, given.tests, KEPT)
            except NotHereError as reason:
                how = f"cannot be had here: {reason}"
            else:
                how = f"{'FAILED' if shown else 'passed'} in {time.perf_counter() - started:.0f} s"
                passed = passed | ({key: now} if now and not shown else {})
                outcomes.write_text(json.dumps(passed, indent=1), "utf-8")
        table.append((setting.name, how, bool(shown)))
        print(f"{setting.name}: {how}{'' if not shown else chr(10) + shown}", flush=True)
    width = max((len(name) for name, _, _ in table), default=0)
    print("", *(f"{name:<{width}}  {how}" for name, how, _ in table), sep="\n")
    raise SystemExit(1 if any(failed for _, _, failed in table) else 0)


if __name__ == "__main__":
    main()
