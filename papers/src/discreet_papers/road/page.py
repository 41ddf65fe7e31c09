"""The table of the road as a page of Markdown, from what was tried and kept."""

import json
from collections.abc import Mapping
from importlib.resources import files

from discreet_papers.road.tried import VERBS, WORKS
from discreet_papers.road.ways import WAYS, Way

_HEAD = """\
# The papers' systems, from study to posterior

This table lists every algorithm and mechanism of the five papers, named in a study file and taken through the command
line: declared and checked (study), planned, published, verified, read (infer) and shown. A cell says that the step
works, or points to the message with which it is refused. Sampled and chosen parameters are read by their likelihood,
like noisy counts: see [inference from a release](reading-a-release.md). The queries of algorithm 1 of 002 are a [page
of their own](queries.md). What the papers say about these mechanisms, and whether it is true, is on [another
page](claims.md). Studies at the papers' own sizes are in [examples/papers](../examples/papers/README.md).

This page is written by `python -m discreet_papers.road`, which tries every cell on eight simulated records; with
`--kept` it is written from the stored results of the last trial.
"""


def kept() -> dict[str, dict[str, str]]:
    """Return what came of every way when it was last tried."""
    found: dict[str, dict[str, str]] = json.loads(
        files("discreet_papers.road").joinpath("kept.json").read_text("utf-8")
    )
    return found


def key_of(way: Way) -> str:
    """Return the name under which a way is kept."""
    return f"{way.paper} {way.place}: {way.what} ({way.mechanism})"


def road_page(found: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Return the page, from what is given or was kept."""
    found = kept() if found is None else found
    notes: dict[str, int] = {}
    lines = ["| paper | place | mechanism | " + " | ".join(VERBS) + " |", "|---" * (3 + len(VERBS)) + "|"]
    for way in (way for way in WAYS if key_of(way) in found):
        cells = [_cell(found[key_of(way)][verb], notes) for verb in VERBS]
        lines.append(f"| {way.paper} | {way.place} | {way.what}: `{way.mechanism}` | {' | '.join(cells)} |")
    words = [f"{number}. {text}" for text, number in notes.items()]
    return "\n".join([_HEAD, *lines, "", "## In words", "", *words]) + "\n"


def _cell(text: str, notes: dict[str, int]) -> str:
    if text == WORKS:
        return WORKS
    says = text.removeprefix(f"{WORKS}; ")
    number = notes.setdefault(says, len(notes) + 1)
    return f"works ({number})" if text.startswith(WORKS) else f"no ({number})"
