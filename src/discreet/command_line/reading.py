"""The reader's commands: infer, verify, ledger."""

import csv
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from discreet import charts
from discreet.command_line.screen import as_json, cell_name, console, helpful, say, show_json, show_table
from discreet.errors import DeclarationError, DocumentError, LedgerError, LittleInformationWarning
from discreet.exact import exact_text
from discreet.guarantees import Ledger, Totals
from discreet.inference import CategoriesPosterior
from discreet.inference import infer as read_release
from discreet.inference.arviz import to_netcdf
from discreet.planning import ledger_totals
from discreet.planning import verify as verify_release
from discreet.releases import Release
from discreet.statement import statement, statement_html
from discreet.study import Study

_FIELDS = ("cell", "mean", "median", "low", "high", "sampling_sd", "privacy_sd", "share_due_to_privacy")


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--level", type=float, default=0.9, show_default=True, help="The probability of intervals.")
@click.option(
    "--that", "statements", multiple=True, help="Show the probability of a statement, such as 'current > 0.3'."
)
@click.option("--event", help="With --by: an event to compare between groups, such as 'fall=yes'.")
@click.option("--by", help="With --event: the column whose levels are the groups.")
@click.option("--pool", is_flag=True, help="With --event and --by: let small groups borrow from all others.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write the table as CSV.")
@click.option("--arviz", type=click.Path(path_type=Path), help="Write 4,000 draws as netCDF for ArviZ.")
@click.option("--statement", "account", type=click.Path(path_type=Path), help="Write a one-page account: .md or .html.")
@as_json
@helpful
def infer(
    releases: Sequence[Path],
    level: float,
    statements: Sequence[str],
    event: str | None,
    by: str | None,
    pool: bool,
    plot: Path | None,
    table: Path | None,
    arviz: Path | None,
    account: Path | None,
    as_json: bool,
) -> None:
    """Read one release, or several of the same counts: estimates with honest intervals.

    \b
    Example:  discreet infer smoking-2026.release.json --plot smoking.png --that "current > 0.2"
    """
    if (event is None) != (by is None):
        raise DeclarationError("--event and --by go together: discreet infer R --event fall=yes --by ward")
    if pool and by is None:
        raise DeclarationError("--pool goes with --event and --by: discreet infer R --event fall=yes --by ward --pool")
    if account is not None and account.suffix not in (".md", ".html"):
        raise DeclarationError(f"A statement is written as .md or .html; got {account.name!r}.")
    for path in (plot, table, arviz, account):
        require_folder(path)
    documents = [read_document(path) for path in releases]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", LittleInformationWarning)
        posterior = read_release(*documents)
    groups = {} if event is None or by is None else _groups(posterior, event, by, level)
    pooled = _pooled(posterior, event, by, level) if pool and by is not None else {}
    chances = {text: posterior.probability_that(text) for text in statements}
    if plot is not None:
        chart = charts.posterior_chart(posterior, level)
        charts.render(charts.comparison_chart(posterior, event, by, level) if event and by else chart, plot)
    if table is not None:
        _write_csv(posterior, level, table)
    if arviz is not None:
        to_netcdf(posterior, arviz)
    if account is not None:
        text = statement(documents[0], posterior, verify_release(documents[0]))
        account.write_text(statement_html(text) if account.suffix == ".html" else text, encoding="utf-8")
    notes = [str(warning.message) for warning in seen]
    if as_json:
        extra = {"statements": chances, "groups": groups, "pooled": pooled, "warnings": notes}
        return show_json(posterior_document(posterior, level) | extra)
    for note in notes:
        console.print(f"[bold yellow]Warning:[/] {escape(note)}", soft_wrap=True)
    show_posterior(posterior, level)
    for title, found in ((f"{event} by {by}", groups), (f"{event} by {by}, pooled", pooled)):
        if found:
            rows = [(g, f"{v['mean']:.4f}", f"{v['low']:.4f} - {v['high']:.4f}") for g, v in found.items()]
            show_table(title, (str(by), "mean", f"{level:.0%} interval"), rows)
    for text, chance in chances.items():
        say(f"Probability that {text}: {chance:.4f}")
    for path in (plot, table, arviz, account):
        if path is not None:
            say(f"Wrote {path}.")
    return None


def require_folder(path: Path | None) -> None:
    """Refuse early if a file could not be written because its folder is not there."""
    if path is not None and not path.absolute().parent.is_dir():
        raise DeclarationError(
            f"There is no folder {str(path.parent)!r} to write {path.name!r} into. Nothing was done."
        )


def read_document(path: Path) -> Release:
    """Read a release from a file."""
    if not path.is_file():
        raise DocumentError(f"There is no file {str(path)!r}.")
    return Release.from_json(path.read_bytes())


def _groups(posterior: CategoriesPosterior, event: str, by: str, level: float) -> dict[str, dict[str, float]]:
    column = next((column for column in posterior.model.columns if column.name == by), None)
    if column is None:
        raise DeclarationError(f"The release has no column {by!r}.")
    laws = {str(value): posterior.conditional(event, given=f"{by}={value}") for value in column.levels}
    return {
        name: {"mean": law.mean, "low": law.interval(level).low, "high": law.interval(level).high}
        for name, law in laws.items()
    }


def _pooled(posterior: CategoriesPosterior, event: str | None, by: str, level: float) -> dict[str, dict[str, float]]:
    rates = posterior.pooled(event, by)
    intervals = rates.interval(level)
    return {g: {"mean": m, "low": intervals[g].low, "high": intervals[g].high} for g, m in rates.mean.items()}


def posterior_rows(posterior: CategoriesPosterior, level: float) -> list[dict[str, Any]]:
    """Return one row of figures for each cell."""
    rows = []
    for cell in posterior.model.cells:
        law = posterior.probability(cell)
        low, high = law.interval(level)
        sampling, privacy = law.variances
        values = (
            cell_name(cell),
            law.mean,
            law.median,
            low,
            high,
            sampling**0.5,
            privacy**0.5,
            law.share_between(level),
        )
        rows.append(dict(zip(_FIELDS, values, strict=True)))
    return rows


def posterior_document(
    posterior: CategoriesPosterior, level: float, truth: Mapping[Any, float] | None = None
) -> dict[str, Any]:
    """Return a reading as a document."""
    rows = posterior_rows(posterior, level)
    for row, cell in zip(rows, posterior.model.cells, strict=True):
        row |= {} if truth is None else {"truth": truth[cell]}
    guarantee = posterior.releases[0].guarantee
    return {
        "label": posterior.releases[0].label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": posterior.releases[0].simulated,
        "size": posterior.size,
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "level": level,
        "cells": rows,
        "log_evidence": posterior.log_evidence,
        "effective_size": posterior.effective_size,
    }


def show_posterior(posterior: CategoriesPosterior, level: float, truth: Mapping[Any, float] | None = None) -> None:
    """Print the table of a reading; it tells sampling from privacy."""
    release = posterior.releases[0]
    if release.simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    truths = {} if truth is None else {cell: f"{value:.4f}" for cell, value in truth.items()}
    headings = ["", *(["truth"] if truths else []), "mean", f"{100 * level:.4g}% interval"]
    headings += ["sampling sd", "privacy sd", "privacy"]
    rows = [
        [
            row["cell"],
            *([truths[cell]] if truths else []),
            f"{row['mean']:.4f}",
            f"{row['low']:.4f} - {row['high']:.4f}",
            f"{row['sampling_sd']:.4f}",
            f"{row['privacy_sd']:.4f}",
            f"{row['share_due_to_privacy']:.0%}",
        ]
        for row, cell in zip(posterior_rows(posterior, level), posterior.model.cells, strict=True)
    ]
    epsilons = " and ".join(exact_text(each.guarantee.epsilon) for each in posterior.releases)
    labels = "; ".join(dict.fromkeys(each.label for each in posterior.releases))
    show_table(f"{labels}: {posterior.size} records, epsilon = {epsilons}", headings, rows)
    say("Intervals hold what sampling and what privacy leave open; the last column is privacy's share of their width.")
    say(f"Tells about as much as {max(0.0, posterior.effective_size):.0f} records that were known exactly.")


def _write_csv(posterior: CategoriesPosterior, level: float, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _FIELDS)
        writer.writeheader()
        writer.writerows(posterior_rows(posterior, level))


_RULES = {
    "basic": ("basic: epsilons add", "any questions"),
    "advanced": ("advanced, closed form", "epsilons fixed in advance"),
    "zcdp": ("zCDP: rhos add", "any questions"),
    "planned": ("privacy losses convolved", "a plan fixed in advance"),
}


def show_totals(totals: Totals, title: str, binding: str) -> None:
    """Print what several releases cost together, by each rule; the binding one is marked."""
    rows = []
    for rule, (words, holds) in _RULES.items():
        epsilon = float(getattr(totals, rule))
        figure = "-" if epsilon == float("inf") else f"{epsilon:.6g}"
        rows.append((words, figure, holds, "binds" if rule == binding else ""))
    show_table(f"{title}, at delta = {exact_text(totals.delta)}", ("rule", "epsilon", "holds for", ""), rows)


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--ledger", "book", type=click.Path(path_type=Path), help="Check the release against this ledger too.")
@as_json
@helpful
def verify(release: Path, book: Path | None, as_json: bool) -> None:
    """Recompute a release's guarantee from the document alone; with --ledger, check charge, digest and chain.

    \b
    Example:  discreet verify smoking-2026.release.json --ledger study.db
    """
    document = read_document(release)
    certificate = verify_release(document, ledger=None if book is None else Ledger.open(book))
    if as_json:
        return show_json(
            {
                "label": document.label,
                "simulated": document.simulated,
                "epsilon": certificate.epsilon,
                "delta": exact_text(certificate.guarantee.delta),
                "adjacency": certificate.guarantee.adjacency.value,
                "unit": document.unit.description,
                "evidence": certificate.evidence.value,
                "worst_pair": certificate.worst_pair,
                "checks": certificate.checks,
            }
        )
    console.print("[bold green]The promise holds.[/]")
    return say(f"{document.label!r}, protecting {document.unit.description}", *str(certificate).splitlines())


@click.command()
@click.argument("book", type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@click.option("--limit", help="Set a new limit for epsilon; needs --reason.")
@click.option("--delta-limit", help="With --limit: a new limit for delta too.")
@click.option("--reason", default="", help="Why the limit is changed; it is written into the ledger.")
@as_json
@helpful
def ledger(
    book: Path, plot: Path | None, limit: str | None, delta_limit: str | None, reason: str, as_json: bool
) -> None:
    """Show what has been spent, and check the whole chain. BOOK is a ledger or a study file.

    \b
    Example:  discreet ledger study.db --plot budget.png
    """
    require_folder(plot)
    if limit is None and (reason or delta_limit):
        raise DeclarationError("--reason and --delta-limit go with --limit: discreet ledger L --limit 3 --reason '...'")
    path = Study(book).ledger_path if book.suffix == ".toml" else book
    if book.suffix == ".toml" and not path.exists():
        raise LedgerError(f"Nothing has been published under {str(book)!r} yet: there is no ledger at {str(path)!r}.")
    opened = Ledger.open(path)
    opened.check()
    if limit is not None:
        opened.change_limit(limit, delta_limit, reason=reason)
    if plot is not None:
        charts.render(charts.budget_chart(opened), plot)
    entries = opened.entries()
    totals = ledger_totals(opened)
    if as_json:
        sums: dict[str, Any] = {
            "accountant": opened.accountant.value,
            "declared_limit": opened.declared_limit.document(),
        }
        sums |= {"limit": opened.limit.document(), "spent": opened.spent.document(), "totals": totals.document()}
        return show_json(sums | {"entries": [{"sequence": e.sequence, "digest": e.digest} | e.body for e in entries]})
    created = entries[0].body
    say(
        f"{opened.path}: {created['adjacency']}, {created['unit']}, population {created['population'] or 'not named'!r}"
    )
    recorded = {e.body["charge"]: e for e in entries if e.kind == "release"}
    rows = [
        (
            str(e.sequence),
            e.body["label"],
            *(e.body["cost"][name] for name in opened.limit.document()),
            e.body["group"] or "everyone",
            e.body["data"] or "-",
            "yes" if e.sequence in recorded else "no",
        )
        for e in entries
        if e.kind == "charge"
    ]
    spent, limits = opened.spent.document(), opened.limit.document()
    show_table("Charges", ("entry", "label", *spent, "about", "data", "recorded"), rows)
    show_totals(totals, "All charges together", opened.accountant.value)
    rule = {"basic": "basic composition: all add up", "zcdp": f"zCDP, from a limit of {opened.declared_limit.words()}"}
    say(
        "Spent "
        + ", ".join(f"{name} = {spent[name]} of {limits[name]}" for name in spent)
        + f" ({rule[opened.accountant.value]}).",
        f"The chain of {len(entries)} entries is intact; its head is {opened.head.digest[:16]}...",
    )
    return None
