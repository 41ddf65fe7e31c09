"""What the commands show of a family with one parameter: one line."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape

from discreet.command_line.screen import console, say, show_json, show_table
from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.inference import FamilyPosterior


def family_document(posterior: FamilyPosterior, level: float) -> dict[str, Any]:
    """Return a reading as a document."""
    release, (low, high) = posterior.releases[0], posterior.interval(level)
    return {
        "label": release.label,
        "releases": [{"label": r.label, "epsilon": exact_text(r.guarantee.epsilon)} for r in posterior.releases],
        "simulated": release.simulated,
        "size": posterior.size,
        "epsilon": exact_text(release.guarantee.epsilon),
        "delta": exact_text(release.guarantee.delta),
        "level": level,
        "family": type(posterior.model).__name__,
        "column": posterior.model.column.name,
        "parameter": {"mean": posterior.mean, "median": posterior.quantile(0.5), "low": low, "high": high}
        | {"sd": posterior.sd, "share_due_to_privacy": posterior.privacy_share(level)},
        "predictive_mean": posterior.predictive_mean,
        "log_evidence": posterior.log_evidence,
        "information": posterior.information,
    }


def show_family(posterior: FamilyPosterior, level: float, as_json: bool, notes: Sequence[str], others: bool) -> None:
    """Show the parameter; options that are about cells or files are refused."""
    if others:
        raise DeclarationError(
            f"A {type(posterior.model).__name__} has one parameter and no cells: only --level and --json go with it."
        )
    document = family_document(posterior, level)
    if as_json:
        return show_json(document | {"warnings": list(notes)})
    for note in notes:
        console.print(f"[bold yellow]Warning:[/] {escape(note)}", soft_wrap=True)
    if document["simulated"]:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    told = document["parameter"]
    row = [f"{document['family']} {document['column']}", f"{told['mean']:.4g}"]
    row += [f"{told['low']:.4g} - {told['high']:.4g}", f"{told['share_due_to_privacy']:.0%}"]
    title = f"{document['label']}: {document['size']} records, epsilon = {document['epsilon']}"
    show_table(title, ["", "mean", f"{100 * level:.4g}% interval", "privacy"], [row])
    say(
        "The interval holds what sampling and what privacy leave open; the last column is privacy's share of its width."
    )
    return None
