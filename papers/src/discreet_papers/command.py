"""The command that computes the results of the source papers again: reproduce."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from discreet._core.errors import DeclarationError, DiscreetError
from discreet.cli._screen import as_json, complaints, helpful, say, show_json, show_table, working
from discreet_papers.kept import Kept, keep, kept, seconds_left
from discreet_papers.page import in_short, place_of, report_page
from discreet_papers.registry import reproduction_named, reproductions
from discreet_papers.reproduction import Outcome, Reproduction

_PROBLEMS = (DiscreetError, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Compute everything, and write it all to one page.")
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Write tables and pictures to this folder.")
@click.option("--quick", is_flag=True, help="Fewer repeats and coarser grids.")
@click.option("--again", is_flag=True, help="With --all: recompute what an earlier run left in the folder.")
@as_json
@helpful
def reproduce(
    names: Sequence[str], everything: bool, folder: Path | None, quick: bool, again: bool, as_json: bool
) -> None:
    """Reproduce tables and figures of the source papers. Without a name, list them.

    With --all each result is written as soon as it is done, and an interrupted run continues where it stopped.

    \b
    Example:  discreet reproduce 004-figure-1 --quick --out report
              discreet reproduce --all --out report
    """
    if everything and (names or folder is None):
        raise DeclarationError(
            "--all takes no names and needs a folder, such as discreet reproduce --all --out report. Nothing was "
            "computed."
        )
    if again and not everything:
        raise DeclarationError("--again goes with --all; a named result is always recomputed. Nothing was computed.")
    if not names and not everything:
        return _list(as_json)
    if folder is not None:
        _require_pictures(folder)
    if everything and folder is not None:
        return _all(folder, quick, again, as_json)
    chosen = [reproduction_named(name) for name in names]
    results = [_run(each, place, len(chosen), quick, as_json) for place, each in enumerate(chosen, start=1)]
    written = [path for each in results for path in (each.reproduction.write(each.outcome, folder) if folder else [])]
    if as_json:
        documents = [_document(result) for result in results]
        return show_json(documents if len(documents) > 1 else documents[0])
    for result in results:
        _show(result.reproduction, result.outcome)
    say(*(f"Wrote {path}." for path in written))
    return None


def _all(folder: Path, quick: bool, again: bool, silent: bool) -> None:
    """Compute everything in the order of the papers; keep each result, and write the page, as soon as it is done."""
    chosen = sorted(reproductions(), key=place_of)
    found = {} if again else {each.name: result for each in chosen if (result := kept(each, folder, quick))}
    if found and not silent:
        complaints.print(f"{len(found)} of {len(chosen)} are kept from an earlier run; --again recomputes them.")
    new: list[Kept] = []
    failed: dict[str, str] = {}
    for place, each in enumerate(chosen, start=1):
        if each.name not in found:
            try:
                new.append(_run(each, place, len(chosen), quick, silent))
            except _PROBLEMS as problem:  # one result that fails must not cost all others
                failed[each.name] = f"{type(problem).__name__}: {problem}"
                continue
            found[each.name] = new[-1]
            keep(new[-1], folder, quick)
            each.write(new[-1].outcome, folder)
            waiting = [other for other in chosen if other.name not in found and other.name not in failed]
            _page(found, folder, quick, len(waiting))
            if waiting and not silent:
                complaints.print(f"about {in_time(seconds_left(new, waiting))} left", soft_wrap=True)
        elif not (folder / f"{each.name}.csv").exists():
            each.write(found[each.name].outcome, folder)
    page = _page(found, folder, quick, 0)
    if silent:
        show_json([_document(found[each.name]) for each in chosen if each.name in found])
    else:
        say(f"Wrote {page}, {page.stat().st_size / 1e6:.2f} MB.")
    if failed:
        raise DiscreetError(
            f"{len(failed)} of {len(chosen)} results could not be computed: "
            + "; ".join(f"{name} ({problem})" for name, problem in failed.items())
            + f". All others are in {str(folder)!r}. Run the same command again to compute only these."
        )


def _page(found: dict[str, Kept], folder: Path, quick: bool, waiting: int) -> Path:
    """Write the page with what is there."""
    page = folder / "index.html"
    results = [(result.reproduction, result.outcome) for result in found.values()]
    page.write_text(report_page(results, folder, quick, waiting), encoding="utf-8")
    return page


def in_time(seconds: float) -> str:
    """Return a time in words: seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list(machine: bool) -> None:
    found = reproductions()
    if machine:
        return show_json([{"name": each.name, "title": each.title, "paper": str(each.paper)} for each in found])
    widest = max(len(each.name) for each in found)
    say(*(f"{each.name:<{widest}}  {each.title}" for each in found), "")
    say("Run one with: discreet reproduce NAME    Run all with: discreet reproduce --all --out report")
    return None


def _run(each: Reproduction, place: int, number: int, quick: bool, silent: bool) -> Kept:
    """Run one, showing on the error stream which and how long it took."""
    start = perf_counter()
    with working(f"{place} of {number}: {each.title}", silent):
        outcome = each.run(quick)
    seconds = perf_counter() - start
    if not silent:
        complaints.print(f"{place} of {number}: {each.name}, {seconds:.1f} s", soft_wrap=True)
    return Kept(each, outcome, seconds)


def _require_pictures(folder: Path) -> None:
    """Refuse before the work is done, not after it."""
    if folder.exists() and not folder.is_dir():
        raise DeclarationError(f"{str(folder)!r} is a file, not a folder. Nothing was computed.")
    if find_spec("vl_convert") is None:
        raise DeclarationError(
            'Pictures need one more package: pip install "discreet[plots]". Nothing was computed. '
            "Without --out, or with --json, the numbers are shown without it."
        )


def _document(result: Kept) -> dict[str, Any]:
    each, outcome = result.reproduction, result.outcome
    words = {"name": each.name, "title": each.title, "paper": str(each.paper), "setting": each.setting}
    return words | {"says": each.says, "finds": each.finds, "verdict": outcome.verdict, "rows": outcome.rows}


def _show(each: Reproduction, outcome: Outcome) -> None:
    say("", f"{each.name}: {each.title}", str(each.paper), "")
    say(f"Setting: {each.setting}", f"The paper says: {each.says}", f"We find: {each.finds}", "", outcome.verdict, "")
    keys = list(outcome.rows[0])
    rows = [[in_short(row[key]) for key in keys] for row in outcome.rows]
    show_table("", [key.replace("_", " ") for key in keys], rows)
