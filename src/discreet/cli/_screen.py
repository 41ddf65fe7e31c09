"""What the commands show: tables for people, JSON for machines, errors that help and reveal nothing.

Exit codes: 0 done, 1 refused or failed, 2 the command was called wrongly, 3 the budget is spent, 4 the data cannot be
counted, 5 a document or ledger is not what it should be.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Literal, NoReturn, ParamSpec

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from discreet._core.errors import (
    BudgetError,
    DeclarationError,
    DiscreetError,
    DocumentError,
    LedgerError,
    SourceError,
    VerificationError,
)
from discreet._core.progress import working as working  # commands import everything for the screen from here

EXIT_CODES: dict[type[DiscreetError], int] = {
    BudgetError: 3,
    SourceError: 4,
    DocumentError: 5,
    LedgerError: 5,
    VerificationError: 5,
}

Given = ParamSpec("Given")
_LONGEST_WORD = 30  # characters; longer ones may be broken on a narrow screen

console = Console(highlight=False)
complaints = Console(stderr=True, highlight=False)

study_file = click.argument("study", type=click.Path(path_type=Path))
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
patient = click.option(
    "--patience", type=float, default=1.0, show_default=True, help="Allow this many times the usual work and memory."
)


def helpful(command: Callable[Given, None]) -> Callable[Given, None]:
    """Turn errors into messages and exit codes. An unforeseen error is named but not quoted: it may contain records."""

    @wraps(command)
    def wrapped(*arguments: Given.args, **options: Given.kwargs) -> None:
        try:
            command(*arguments, **options)
            return
        except DiscreetError as problem:
            words, code = str(problem), next((c for error, c in EXIT_CODES.items() if isinstance(problem, error)), 1)
        except click.ClickException:
            raise
        except OSError as problem:
            words, code = f"{problem.strerror}: {problem.filename}", 1
        except Exception as problem:  # noqa: BLE001 - its message and traceback may contain records
            words, code = f"An unforeseen {type(problem).__name__} stopped this; its message is withheld.", 1
        _stop(words, code, bool(options.get("as_json")))

    return wrapped


def _stop(words: str, code: int, machine: bool) -> NoReturn:
    if machine:
        click.echo(json.dumps({"error": words, "exit_code": code}))
    else:
        complaints.print(f"[bold red]Error:[/] {escape(words)}", soft_wrap=True)
    sys.exit(code)


def show_json(document: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def say(*lines: str) -> None:
    """Print plain lines."""
    for line in lines:
        console.print(escape(line), soft_wrap=True)


def show_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> None:
    """Print a table; its first `words` columns are text, the others are figures.

    Where the screen is narrow, cells are broken between words, never inside one, though lines may then be too long.
    """
    kept = [list(row) for row in rows]
    table = Table(title=escape(title), title_justify="left", title_style="bold", header_style="dim", box=SIMPLE_HEAD)
    for number, heading in enumerate(headings):
        longest = max(map(len, " ".join([heading, *(row[number] for row in kept)]).split()), default=1)
        justify: Literal["left", "right"] = "left" if number < words else "right"
        least = min(longest, _LONGEST_WORD)
        table.add_column(escape(heading), justify=justify, overflow="fold", min_width=least)
    for row in kept:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table, crop=False)


def require_folder(path: Path | None) -> None:
    """Refuse early if a file could not be written because its folder does not exist."""
    if path is not None and not path.absolute().parent.is_dir():
        raise DeclarationError(
            f"There is no folder {str(path.parent)!r} to write {path.name!r} into. Nothing was done."
        )
