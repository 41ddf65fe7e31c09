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
from discreet.command_line.screen import as_json, console, helpful, say, show_json, show_table, working
from discreet.errors import DeclarationError, DocumentError, LedgerError, LittleInformationWarning
from discreet.exact import exact_text
from discreet.guarantees import Ledger, Totals
from discreet.inference import CategoriesPosterior, FamilyPosterior, NetworkPosterior
from discreet.inference import infer as read_release
from discreet.inference.arviz import to_netcdf
from discreet.models import Network
from discreet.planning import ledger_totals
from discreet.planning import verify as verify_release
from discreet.planning.audit import DRAWS
from discreet.releases import Release
from discreet.statement import statement, statement_html
from discreet.study import Study

Posterior = CategoriesPosterior | NetworkPosterior
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

    Of a network, all conditional tables are shown: each variable given its parents.

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
    _check_fits(posterior, statements, pool, bif)
    groups = {} if event is None or by is None else _groups(posterior, event, by, level)
    answers: dict[str, Any] = {"event": None if event is None or by else _event(posterior, event, given, level)}
    answers |= {"groups": groups}
    if isinstance(posterior, CategoriesPosterior):
        answers["statements"] = {text: posterior.probability_that(text) for text in statements}
        answers["pooled"] = pooled_rates(posterior, event, by, level) if pool and by is not None else {}
    with working("writing", as_json):
        _write(posterior, level, plot, table, arviz, bif, (event, by))
        if synthesize is not None and out is not None:
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


def _check_fits(posterior: Posterior, statements: Sequence[str], pool: bool, bif: Path | None) -> None:
    """Refuse options that this kind of release does not have."""
    if isinstance(posterior, CategoriesPosterior):
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
    return posterior_document(posterior, level)


def _rows(posterior: Posterior, level: float) -> list[dict[str, Any]]:
    if isinstance(posterior, NetworkPosterior):
        return network_rows(posterior, level)
    return posterior_rows(posterior, level)


def _chart(posterior: Posterior, level: float, event: str | None, by: str | None) -> charts.Spec:
    if isinstance(posterior, NetworkPosterior):
        return charts.network_chart(posterior, level)
    if event and by:
        return charts.comparison_chart(posterior, event, by, level)
    return charts.posterior_chart(posterior, level)


def _write_csv(rows: Sequence[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _write_records(posterior: Posterior, count: int, path: Path) -> None:
    """Write made-up records, which are as safe as the release."""
    records = posterior.synthesize(count)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*([text_of(value) for value in values] for values in records.values()), strict=True))


def _event(posterior: Posterior, event: str, given: str | None, level: float) -> dict[str, Any]:
    law = posterior.probability(event) if given is None else posterior.conditional(event, given)
    low, high = law.interval(level)
    return {"event": event, "given": given, "mean": law.mean, "low": low, "high": high}


def _groups(posterior: Posterior, event: str, by: str, level: float) -> dict[str, dict[str, float]]:
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
    if one := answers["event"]:
        given = f" given {one['given']}" if one["given"] else ""
        interval = f"{one['low']:.4f} - {one['high']:.4f}"
        say(f"Probability of {one['event']}{given}: {one['mean']:.4f}, {100 * level:.4g}% interval {interval}.")
    for text, chance in answers.get("statements", {}).items():
        say(f"Probability that {text}: {chance:.4f}")


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
