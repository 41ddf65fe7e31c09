"""How long it takes to begin: CPU seconds of a fresh process, user and system, the best of several."""

import os
import sys
from importlib.metadata import version
from os import wait4
from subprocess import DEVNULL, Popen

from figures import record

REPEATS = 5
HELP = "from discreet.cli import main; main(['--help'], standalone_mode=False)"
STARTS = {
    "an empty program": "pass",
    "import numpy": "import numpy",
    "import discreet": "import discreet",
    "discreet --help": HELP,
    "a mechanism is made": (
        "import discreet as dc; dc.GeometricHistogram(dc.Categories('x', levels=('a', 'b')), size=6, epsilon=1)"
    ),
    "every public name": "from discreet import *",
}


def cpu_seconds(code: str) -> float:
    """Return the CPU time of one fresh process."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
    process = Popen([sys.executable, "-c", code], stdout=DEVNULL, env=kept)
    _, status, usage = wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit(f"this did not run: {code}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    print(f"CPU seconds from start to end, best of {REPEATS} (numpy {version('numpy')}, scipy {version('scipy')})")
    for name, code in STARTS.items():
        taken = min(cpu_seconds(code) for _ in range(REPEATS))
        print(f"  {name:<20} {taken:6.2f}")
        record(name, taken, "CPU s")


if __name__ == "__main__":
    main()
