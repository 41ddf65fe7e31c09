"""The reader's commands: infer, verify, ledger."""

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from discreet import charts
from discreet.columns import text_of
from discreet.command_line.categories import pooled_rates, posterior_document, posterior_rows, show_posterior
from discreet.command_line.comparing import examine_file
from discreet.command_line.families import show_family
from discreet.command_line.networks import network_document, network_rows, show_network
from discreet.command_line.regressions import regression_document, regression_rows, show_regression
from discreet.command_line.screen import as_json, console, helpful, require_folder, say, show_json, show_table, working
from discreet.errors import DeclarationError, DocumentError, LittleInformationWarning
from discreet.exact import exact_text
from discreet.inference import CategoriesPosterior, FamilyPosterior, NetworkPosterior, RegressionPosterior
from discreet.inference import infer as read_release
from discreet.inference.arviz import to_netcdf
from discreet.ledger import Ledger
from discreet.models import Network
from discreet.planning import verify as verify_release
from discreet.planning.audit import DRAWS
from discreet.releases import Release
from discreet.statement import statement, statement_html

Counted = CategoriesPosterior | NetworkPosterior
Posterior = Counted | RegressionPosterior
_file = click.Path(path_type=Path)


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--level", type=float, default=0.9, show_default=True, help="The probability of intervals.")
@click.option(
    "--that", "statements", multiple=True, help="Show the probability of a statement, such as 'current > 0.3'."
)
@click.option("--event", help="Show the probability of an event, such as 'fall=yes'.")
@click.option("--given", help="With --event: given another event, such as 'ward=A'.")
@click.option("--by", help="With --event: in each group, by the column whose levels are the groups.")
@click.option("--pool", is_flag=True, help="With --event and --by: let small groups borrow from all others.")
@click.option("--plot", type=_file, help="Write a picture: .png, .svg or .json.")
@click.option("--csv", "table", type=_file, help="Write the table as CSV.")
@click.option("--arviz", type=_file, help="Write 4,000 draws as netCDF for ArviZ.")
@click.option("--bif", type=_file, help="Write a network with its mean probabilities, in the BIF format.")
@click.option("--synthesize", type=click.IntRange(min=1), help="With --out: write so many made-up records as CSV.")
@click.option("--out", type=_file, help="With --synthesize: the file for made-up records.")
@click.option("--statement", "account", type=_file, help="Write a one-page account: .md or .html.")
@as_json
@helpful
def infer(
    releases: Sequence[Path],
    level: float,
    statements: Sequence[str],
    event: str | None,
    given: str | None,
    by: str | None,
    pool: bool,
    plot: Path | None,
    table: Path | None,
    arviz: Path | None,
    bif: Path | None,
    synthesize: int | None,
    out: Path | None,
    account: Path | None,
    as_json: bool,
) -> None:
    """Read one release, or several of the same counts: estimates with honest intervals.

    Of a network, all conditional tables are shown: each variable given its parents. Of a regression, the coefficients.

    \b
    Example:  discreet infer smoking-2026.release.json --plot smoking.png --that "current > 0.2"
              discreet infer risks.release.json --event cancer=yes --given smoker=yes --bif risks.bif
    """
    _check_options(event, given, by, pool, synthesize, out, account)
    files = [path for path in (plot, table, arviz, bif, out, account) if path is not None]
    for path in files:
        require_folder(path)
    documents = [read_document(path) for path in releases]
    with warnings.catch_warnings(record=True) as seen, working("reading", as_json):
        warnings.simplefilter("always", LittleInformationWarning)
        posterior: Posterior | FamilyPosterior = read_release(*documents)
    if isinstance(posterior, FamilyPosterior):
        notes = [str(warning.message) for warning in seen]
        return show_family(posterior, level, as_json, notes, others=bool(files or statements or event))
    _check_fits(posterior, statements, pool, bif, event, synthesize)
    answers: dict[str, Any] = {}
    if not isinstance(posterior, RegressionPosterior):
        answers["event"] = None if event is None or by else _event(posterior, event, given, level)
        answers["groups"] = {} if event is None or by is None else _groups(posterior, event, by, level)
    if isinstance(posterior, CategoriesPosterior):
        answers["statements"] = {text: posterior.probability_that(text) for text in statements}
        answers["pooled"] = pooled_rates(posterior, event, by, level) if pool and by is not None else {}
    with working("writing", as_json):
        _write(posterior, level, plot, table, arviz, bif, (event, by))
        if synthesize is not None and out is not None and not isinstance(posterior, RegressionPosterior):
            _write_records(posterior, synthesize, out)
        if account is not None:
            text = statement(documents[0], posterior, verify_release(documents[0]))
            account.write_text(statement_html(text) if account.suffix == ".html" else text, encoding="utf-8")
    notes = [str(warning.message) for warning in seen]
    if as_json:
        return show_json(_document(posterior, level) | answers | {"warnings": notes})
    for note in notes:
        console.print(f"[bold yellow]Warning:[/] {escape(note)}", soft_wrap=True)
    if isinstance(posterior, NetworkPosterior):
        show_network(posterior, level)
    elif isinstance(posterior, RegressionPosterior):
        show_regression(posterior, level)
    else:
        show_posterior(posterior, level)
    _show_answers(answers, event, by, level)
    for path in files:
        say(f"Wrote {path}.")
    return None


def _check_options(
    event: str | None,
    given: str | None,
    by: str | None,
    pool: bool,
    synthesize: int | None,
    out: Path | None,
    account: Path | None,
) -> None:
    """Refuse options that do not go together."""
    if event is None and (given is not None or by is not None):
        raise DeclarationError("--by and --given go with --event: discreet infer R --event fall=yes --by ward")
    if given is not None and by is not None:
        raise DeclarationError("--given asks about one group and --by about all of them; choose one of the two.")
    if pool and by is None:
        raise DeclarationError("--pool goes with --event and --by: discreet infer R --event fall=yes --by ward --pool")
    if (synthesize is None) != (out is None):
        raise DeclarationError("--synthesize and --out go together: discreet infer R --synthesize 1000 --out new.csv")
    if account is not None and account.suffix not in (".md", ".html"):
        raise DeclarationError(f"A statement is written as .md or .html; got {account.name!r}.")


def _check_fits(
    posterior: Posterior,
    statements: Sequence[str],
    pool: bool,
    bif: Path | None,
    event: str | None,
    synthesize: int | None,
) -> None:
    """Refuse options that this kind of release does not have."""
    if isinstance(posterior, RegressionPosterior):
        given = {"--that": statements, "--event": event, "--bif": bif, "--synthesize": synthesize}
        if odd := [option for option, value in given.items() if value]:
            raise DeclarationError(f"{odd[0]} is not for regressions, which have coefficients and no probabilities.")
    elif isinstance(posterior, CategoriesPosterior):
        if bif is not None:
            raise DeclarationError("--bif is for releases of a network; this is a table of categories.")
    elif statements or pool:
        option = "--that" if statements else "--pool"
        raise DeclarationError(
            f"{option} is for tables of categories; this is a network. Ask for one probability with --event and "
            "--given: discreet infer R --event cancer=yes --given smoker=yes"
        )


def _write(
    posterior: Posterior,
    level: float,
    plot: Path | None,
    table: Path | None,
    arviz: Path | None,
    bif: Path | None,
    asked: tuple[str | None, str | None],
) -> None:
    """Write the files that were asked for."""
    if plot is not None:
        charts.render(_chart(posterior, level, *asked), plot)
    if table is not None:
        _write_csv(_rows(posterior, level), table)
    if arviz is not None:
        to_netcdf(posterior, arviz)
    if bif is not None and isinstance(posterior, NetworkPosterior):
        bif.write_text(posterior.to_bif(), encoding="utf-8")


def _document(posterior: Posterior, level: float) -> dict[str, Any]:
    if isinstance(posterior, NetworkPosterior):
        return network_document(posterior, level)
    if isinstance(posterior, RegressionPosterior):
        return regression_document(posterior, level)
    return posterior_document(posterior, level)


def _rows(posterior: Posterior, level: float) -> list[dict[str, Any]]:
    if isinstance(posterior, NetworkPosterior):
        return network_rows(posterior, level)
    if isinstance(posterior, RegressionPosterior):
        return regression_rows(posterior, level)
    return posterior_rows(posterior, level)


def _chart(posterior: Posterior, level: float, event: str | None, by: str | None) -> charts.Spec:
    if isinstance(posterior, NetworkPosterior):
        return charts.network_chart(posterior, level)
    if isinstance(posterior, RegressionPosterior):
        return charts.coefficient_chart(posterior, level)
    if event and by:
        return charts.comparison_chart(posterior, event, by, level)
    return charts.posterior_chart(posterior, level)


def _write_csv(rows: Sequence[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _write_records(posterior: Counted, count: int, path: Path) -> None:
    """Write made-up records, which are as safe as the release."""
    records = posterior.synthesize(count)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*([text_of(value) for value in values] for values in records.values()), strict=True))


def _event(posterior: Counted, event: str, given: str | None, level: float) -> dict[str, Any]:
    law = posterior.probability(event) if given is None else posterior.conditional(event, given)
    low, high = law.interval(level)
    return {"event": event, "given": given, "mean": law.mean, "low": low, "high": high}


def _groups(posterior: Counted, event: str, by: str, level: float) -> dict[str, dict[str, float]]:
    model = posterior.model
    columns = model.variables if isinstance(model, Network) else model.columns
    column = next((column for column in columns if column.name == by), None)
    if column is None:
        raise DeclarationError(f"The release has no column {by!r}.")
    groups = {str(value): _event(posterior, event, f"{by}={text_of(value)}", level) for value in column.levels}
    return {name: {key: found[key] for key in ("mean", "low", "high")} for name, found in groups.items()}


def _show_answers(answers: dict[str, Any], event: str | None, by: str | None, level: float) -> None:
    for title, key in ((f"{event} by {by}", "groups"), (f"{event} by {by}, pooled", "pooled")):
        if found := answers.get(key):
            rows = [(g, f"{v['mean']:.4f}", f"{v['low']:.4f} - {v['high']:.4f}") for g, v in found.items()]
            show_table(title, (str(by), "mean", f"{level:.0%} interval"), rows)
    if one := answers.get("event"):
        given = f" given {one['given']}" if one["given"] else ""
        interval = f"{one['low']:.4f} - {one['high']:.4f}"
        say(f"Probability of {one['event']}{given}: {one['mean']:.4f}, {100 * level:.4g}% interval {interval}.")
    for text, chance in answers.get("statements", {}).items():
        say(f"Probability that {text}: {chance:.4f}")


def read_document(path: Path) -> Release:
    """Read a release from a file."""
    if not path.is_file():
        raise DocumentError(f"There is no file {str(path)!r}.")
    return Release.from_json(path.read_bytes())


@click.command()
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--ledger", "book", type=click.Path(path_type=Path), help="Check the release against this ledger too.")
@click.option("--mechanism", type=click.Path(path_type=Path), help="Test a mechanism instead, from a file.")
@click.option("--draws", type=int, default=DRAWS, show_default=True, help="How many draws a mechanism's audit takes.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture of the audit: .png, .svg or .json.")
@as_json
@helpful
def verify(
    release: Path | None, book: Path | None, mechanism: Path | None, draws: int, plot: Path | None, as_json: bool
) -> None:
    """Recompute a release's guarantee from the document alone; with --ledger, check charge, digest and chain.

    With --mechanism no data are involved: the guarantee of a mechanism, given by its document or that of a release, is
    recomputed from its stated law, and its sampler is audited by draws on made-up data.

    \b
    Example:  discreet verify smoking-2026.release.json --ledger study.db
              discreet verify --mechanism smoking-2026.release.json --plot audit.png
    """
    require_folder(plot)
    if (release is None) == (mechanism is None):
        raise DeclarationError("Verify a release, or a mechanism with --mechanism FILE.")
    if mechanism is not None:
        if book is not None:
            raise DeclarationError("--ledger goes with a release: a mechanism alone was never charged.")
        return examine_file(mechanism, draws, plot, as_json)
    if release is None or plot is not None:
        raise DeclarationError("--plot draws an audit: it goes with --mechanism.")
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
