"""The command that computes the results of the source papers again: reproduce."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from discreet.command_line.screen import as_json, complaints, helpful, say, show_json, show_table, working
from discreet.errors import DeclarationError
from discreet_papers.page import in_short, report_page
from discreet_papers.registry import reproduction_named, reproductions
from discreet_papers.reproduction import Outcome, Reproduction

Result = tuple[Reproduction, Outcome]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Compute everything, and write one page that holds it all.")
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Write tables and pictures to this folder.")
@click.option("--quick", is_flag=True, help="Fewer repeats and coarser grids.")
@as_json
@helpful
def reproduce(names: Sequence[str], everything: bool, folder: Path | None, quick: bool, as_json: bool) -> None:
    """Compute tables and figures of the source papers again. Without a name, list them.

    \b
    Example:  discreet reproduce 004-figure-1 --quick --out report
              discreet reproduce --all --out report
    """
    if everything and (names or folder is None):
        raise DeclarationError("--all takes no names and needs a folder: discreet reproduce --all --out report")
    if not names and not everything:
        return _list(as_json)
    if folder is not None:
        _require_pictures(folder)
    chosen = reproductions() if everything else [reproduction_named(name) for name in names]
    results = [_run(each, place, len(chosen), quick, as_json) for place, each in enumerate(chosen, start=1)]
    written = [path for each, outcome in results for path in (each.write(outcome, folder) if folder else [])]
    if everything and folder is not None:
        written.append(folder / "index.html")
        written[-1].write_text(report_page(results, folder, quick), encoding="utf-8")
    if as_json:
        documents = [_document(*result) for result in results]
        return show_json(documents if everything or len(documents) > 1 else documents[0])
    if not everything:
        for result in results:
            _show(*result)
    say(*(f"Wrote {path}." for path in (written[-1:] if everything else written)))
    return None


def _list(machine: bool) -> None:
    found = reproductions()
    if machine:
        return show_json([{"name": each.name, "title": each.title, "paper": str(each.paper)} for each in found])
    widest = max(len(each.name) for each in found)
    say(*(f"{each.name:<{widest}}  {each.title}" for each in found), "")
    say("Run one with: discreet reproduce NAME    Run all with: discreet reproduce --all --out report")
    return None


def _run(each: Reproduction, place: int, number: int, quick: bool, silent: bool) -> Result:
    """Run one, showing on the error stream which and how long it took."""
    start = perf_counter()
    with working(f"{place} of {number}: {each.title}", silent):
        outcome = each.run(quick)
    if not silent:
        complaints.print(f"{place} of {number}: {each.name}, {perf_counter() - start:.1f} s", soft_wrap=True)
    return each, outcome


def _require_pictures(folder: Path) -> None:
    """Refuse before the work is done, not after it."""
    if folder.exists() and not folder.is_dir():
        raise DeclarationError(f"{str(folder)!r} is a file, not a folder. Nothing was computed.")
    if find_spec("vl_convert") is None:
        raise DeclarationError(
            'Pictures need one more package: pip install "discreet[plots]". Nothing was computed. '
            "Without --out, or with --json, the numbers are shown without it."
        )


def _document(each: Reproduction, outcome: Outcome) -> dict[str, Any]:
    words = {"name": each.name, "title": each.title, "paper": str(each.paper), "setting": each.setting}
    return words | {"says": each.says, "finds": each.finds, "verdict": outcome.verdict, "rows": outcome.rows}


def _show(each: Reproduction, outcome: Outcome) -> None:
    say("", f"{each.name}: {each.title}", str(each.paper), "")
    say(f"Setting: {each.setting}", f"The paper says: {each.says}", f"We find: {each.finds}", "", outcome.verdict, "")
    keys = list(outcome.rows[0])
    rows = [[in_short(row[key]) for key in keys] for row in outcome.rows]
    show_table("", [key.replace("_", " ") for key in keys], rows)
