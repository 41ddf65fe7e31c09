"""The reader's command `criticise`, which checks whether the released tables fit the graph (model criticism)."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import click

from discreet._core.errors import DeclarationError
from discreet.cli._infer import SHOWN_WARNINGS, prior_of, read_document
from discreet.cli._posterior import show_warnings
from discreet.cli._screen import as_json, console, helpful, patient, require_folder, say, show_json, show_table, working
from discreet.inference import HasCriticism, Posterior, heading
from discreet.inference import infer as read_release
from discreet.report import charts


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--prior", help="The prior to use: declared, learnt, none, a number, or JSON.")
@click.option(
    "--replicates", type=int, default=1_000, show_default=True, help="How many simulated studies to compare with."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the simulated studies.")
@click.option(
    "--risk",
    type=float,
    default=0.05,
    show_default=True,
    help="How often a correct graph may be rejected by mistake (significance level).",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@patient
@as_json
@helpful
def criticise(
    releases: Sequence[Path],
    prior: str | None,
    replicates: int,
    seed: int,
    risk: float,
    plot: Path | None,
    patience: float,
    as_json: bool,
) -> None:
    """Check whether the released tables fit the graph.

    Every released table, and every pair of variables in one that no arrow connects, is compared with simulated studies
    in which the graph is right, each published with the same noise (a posterior predictive check). No budget is spent:
    only the release is used. A missing arrow shows up where the noise is small enough.

    \b
    Example:  discreet criticise risks.release.json --plot fit.png
              discreet criticise risks.release.json --json
    """
    require_folder(plot)
    charts.require_ending(plot)
    documents = [read_document(path) for path in releases]
    with warnings.catch_warnings(record=True) as seen, working("inferring and checking", as_json):
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("always", category)
        posterior: Posterior = read_release(*documents, prior=prior_of(prior), patience=patience)
        if not isinstance(posterior, HasCriticism):
            raise DeclarationError(
                "A criticism checks whether released tables fit a graph that leaves arrows out, and "
                f"{posterior.text.subject} has no graph. Nothing was checked."
            )
        found = posterior.criticise(replicates, seed, risk)
    if plot is not None:
        charts.render(charts.criticism_chart(found), plot)
    notes = [str(warning.message) for warning in seen]
    if as_json:
        return show_json(found.document() | {"method": posterior.method, "warnings": notes})
    show_warnings(notes)
    if documents[0].simulated:
        console.print("[bold yellow]Simulated: this is not a release of real records.[/]")
    show_table(heading(posterior), found.headings, found.lines)
    say(found.verdict, found.method, *([] if plot is None else [f"Wrote {plot}."]))
    return None
