"""Results that are kept as soon as they are computed, so that a long run goes on where it stopped.

`FOLDER/results/NAME.json` holds what a reproduction found, whether it was quick, how long it took, and a mark of the
code. A result counts as done if the mark is still the same: the version of the library and the text of the module.
"""

import json
import sys
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.resources import files
from inspect import getmodule
from pathlib import Path

from discreet._core.version import __version__
from discreet_papers.reproduction import Outcome, Reproduction


@dataclass(frozen=True)
class Kept:
    """What one reproduction found, and how many seconds it took."""

    reproduction: Reproduction
    outcome: Outcome
    seconds: float


def keep(result: Kept, folder: Path, quick: bool) -> None:
    """Write a result: first beside its place, then moved there, so that a file is whole or not there."""
    place = _place(result.reproduction, folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    words = {"name": result.reproduction.name, "quick": quick, "code": mark(result.reproduction)}
    part = place.with_suffix(".part")
    text = json.dumps(words | {"seconds": result.seconds} | asdict(result.outcome), default=lambda value: value.item())
    part.write_text(text, encoding="utf-8")
    part.replace(place)


def kept(reproduction: Reproduction, folder: Path, quick: bool) -> Kept | None:
    """Return the result of an earlier run of the same code, or None."""
    try:
        words = json.loads(_place(reproduction, folder).read_text(encoding="utf-8"))
        if (words["quick"], words["code"]) != (quick, mark(reproduction)):
            return None
        return Kept(reproduction, Outcome(words["rows"], words["verdict"], words["chart"]), float(words["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):  # not there, or not written by us: it is computed again
        return None


def mark(reproduction: Reproduction) -> str:
    """Return a short mark of the code behind a reproduction."""
    module = getmodule(reproduction.run)
    text = Path(module.__file__).read_bytes() if module is not None and module.__file__ else b""
    return sha256(f"{__version__} {sys.version_info[:2]} ".encode() + text).hexdigest()[:16]


def seconds_left(done: list[Kept], waiting: list[Reproduction]) -> float:
    """Return how long the rest may take: typical seconds, stretched as those that are done were."""
    typical: dict[str, float] = json.loads(files("discreet_papers").joinpath("typical_seconds.json").read_text("utf-8"))
    usual = sorted(typical.values())[len(typical) // 2]
    spent = sum(result.seconds for result in done)
    planned = sum(typical.get(result.reproduction.name, usual) for result in done)
    rest = sum(typical.get(reproduction.name, usual) for reproduction in waiting)
    return rest * (spent / planned if planned > 0 else 1.0)


def _place(reproduction: Reproduction, folder: Path) -> Path:
    return folder / "results" / f"{reproduction.name}.json"
