"""What the commands show of any posterior: its rows, remarks about all of them, and warnings."""

from collections.abc import Sequence
from dataclasses import replace

from rich.markup import escape

from discreet.cli._screen import console, say, show_table
from discreet.inference import Posterior, Row, heading, outside_interval_note, remarks, sources_line, text_table

MOST_SHOWN = 60
"""The most rows that a screen shows; a CSV file holds them all."""
_CLOSEST = (
    "The column 'closest' has the shares that are expected to lie closest to the true ones in total variation, instead "
    "of means; a star stands where one lies outside the interval of its own noisy sum."
)
_OTHER_PEOPLE = (
    "If they are about different people, that is wrong: in Python, infer(populations={'north': r1, 'south': r2}, "
    "model=...) reads them together."
)


def show_posterior(
    posterior: Posterior, level: float, truth: Sequence[float] | None = None, closest: Sequence[float] | None = None
) -> None:
    """Print the rows of a posterior, beside the truth in a rehearsal, and say how it was computed.

    Where the point that is closest in total variation is given, it is shown in place of the means.
    """
    if posterior.releases[0].simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    rows, point = posterior.rows(level), "mean"
    if closest is not None:
        rows, point = tuple(replace(row, mean=own) for row, own in zip(rows, closest, strict=True)), "closest"
    shown = None if truth is None else truth[:MOST_SHOWN]
    show_rows(heading(posterior), rows[:MOST_SHOWN], level, shown, point)
    if len(rows) > MOST_SHOWN:
        words = f"These are the first {MOST_SHOWN} of {len(rows)} rows. Use --csv FILE to write them all."
        console.print(f"[bold]{escape(words)}[/]", soft_wrap=True)
    people = _OTHER_PEOPLE if len(posterior.releases) > 1 and not posterior.text.populations else None
    shares = "; the last column is the share of their width that is due to privacy" if _has_shares(rows) else ""
    say(
        *([] if closest is None else [_CLOSEST]),
        *filter(None, [] if closest is not None else [outside_interval_note(posterior, rows[:MOST_SHOWN])]),
        f"Intervals cover the uncertainty from sampling and from the privacy noise together{shares}.",
        *filter(None, [sources_line(posterior), people, posterior.text.estimation]),
        *remarks(posterior, level),
        f"This release was {posterior.method}.",
    )


def show_rows(
    title: str, rows: Sequence[Row], level: float, truth: Sequence[float] | None = None, point: str = "mean"
) -> None:
    """Print rows as a table. Screens are narrow, so the last heading is short and is explained below the table."""
    headings, lines, words = text_table(rows, level, truth, point)
    show_table(title, [heading.removeprefix("due to ") for heading in headings], lines, words)


def _has_shares(rows: Sequence[Row]) -> bool:
    return any(row.share_due_to_privacy is not None for row in rows)


def show_warnings(notes: Sequence[str]) -> None:
    """Print the warnings of `infer`."""
    for note in notes:
        console.print(f"[bold yellow]Warning:[/] {escape(note)}", soft_wrap=True)
