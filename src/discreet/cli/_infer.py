"""The reader's command infer: what a release says."""

import csv
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet._core.errors import (
    ConvergenceWarning,
    DeclarationError,
    DocumentError,
    LittleInformationWarning,
    PriorOutweighsWarning,
    UncalibratedDrawsWarning,
)
from discreet.cli._posterior import show_posterior, show_rows, show_warnings
from discreet.cli._screen import as_json, helpful, patient, require_folder, say, show_json, working
from discreet.inference import ANSWERS, Posterior, PosteriorProbability, percent_text, why_unreadable
from discreet.inference import infer as read_release
from discreet.records import text_of
from discreet.release import Release
from discreet.report import document_of, write_csv, write_draws

if TYPE_CHECKING:
    from discreet.programs import Family

SHOWN_WARNINGS = (LittleInformationWarning, PriorOutweighsWarning, ConvergenceWarning)
_ANSWERED_BY = {
    "--that": "probability_that",
    "--event": "chance",
    "--by": "rates",
    "--pool": "pooled",
    "--differ": "differ",
    "--margin": "margin",
    "--bif": "to_bif",
    "--point": "closest",
    "--synthesize": "synthesize",
}
"""The method of a posterior that answers each option, if the posterior has its protocol."""
_file = click.Path(path_type=Path)


@click.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--level",
    type=float,
    default=0.9,
    show_default=True,
    help="The probability that an interval contains the truth (credible level).",
)
@click.option(
    "--that", "statements", multiple=True, help="Show the probability of a statement, such as 'current > 0.3'."
)
@click.option("--event", help="Show the probability of an event, such as 'fall=yes'.")
@click.option("--given", help="With --event: only among records in another event, such as 'ward=A'.")
@click.option("--by", help="With --event: in each group, defined by the levels of this column.")
@click.option(
    "--pool",
    is_flag=True,
    help="With --event and --by: let small groups borrow strength from the others (partial pooling).",
)
@click.option("--differ", is_flag=True, help="With --event and --by: show the probability that the groups differ.")
@click.option(
    "--margin", "margin", multiple=True, help="Show and write this column alone, summed over the others (its margin)."
)
@click.option(
    "--point",
    type=click.Choice(["mean", "closest"]),
    default="mean",
    show_default=True,
    help="Show means, or the shares that are expected to be closest to the true ones (total variation).",
)
@click.option("--prior", help="The prior to use: declared, learnt (one joint posterior), none, a number, or JSON.")
@click.option("--number", help="What is known of a secret number of records: 5000, or a range: 4000,6000.")
@click.option("--own", type=_file, help="Also use your own records, from a file with the same columns.")
@click.option("--model", "program", help="Read a table with a model: a formula, 'falls ~ age + ward', or a family.")
@click.option("--plot", type=_file, help="Write a picture: .png, .svg or .json.")
@click.option("--csv", "table", type=_file, help="Write the table as CSV, which Excel opens too.")
@click.option("--draws", type=_file, help="Write 4,000 draws from the posterior as CSV, for R and others.")
@click.option("--arviz", type=_file, help="Write 4,000 draws as netCDF for ArviZ.")
@click.option("--bif", type=_file, help="Write a network with its mean probabilities, in the BIF format.")
@click.option("--synthesize", type=click.IntRange(min=1), help="With --out: write this many synthetic records as CSV.")
@click.option("--out", type=_file, help="With --synthesize: the file for the synthetic records.")
@click.option("--html", "page", type=_file, help="Write a page for readers without Python: it works offline.")
@click.option(
    "--statement", "account", type=_file, help="Write a one-page privacy statement in plain words: .md or .html."
)
@patient
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
    differ: bool,
    margin: Sequence[str],
    point: str,
    prior: str | None,
    number: str | None,
    own: Path | None,
    program: str | None,
    plot: Path | None,
    table: Path | None,
    draws: Path | None,
    arviz: Path | None,
    bif: Path | None,
    synthesize: int | None,
    out: Path | None,
    page: Path | None,
    account: Path | None,
    patience: float,
    as_json: bool,
) -> None:
    """Infer what one release, or several of the same counts, say: estimates with honest intervals.

    For a network, all conditional tables are shown: each variable given its parents. For a regression, the coefficients
    in their units. For a family, its parameter. Every kind of file below can be written for all of them.

    Where no prior was declared, shares and rates are inferred from their own noisy sums, and the column of means from
    one joint posterior of all cells, so that it adds up. With --margin the table, the picture and all files are about
    one column (or several: --margin ward --margin fall); events may still involve all columns.

    With --own the reader's own records are added: other records of the same population, in a file with the same
    columns. No noise protects them, so everything that is shown or written is then as confidential as they are.

    \b
    Example:  discreet infer smoking-2026.release.json --plot smoking.png --that "current > 0.2"
              discreet infer wards.release.json --event fall=yes --by ward --differ
              discreet infer wards.release.json --margin ward --plot wards.png --csv wards.csv
              discreet infer risks.release.json --event cancer=yes --given smoker=yes --bif risks.bif
              discreet infer risks.release.json --own our-patients.csv
              discreet infer wards.release.json --model "fall ~ age + ward"
              discreet infer stays.release.json --model "log-normal; mean = Normal(1, 1); sd = HalfNormal(1)"
    """
    _check_options(event, given, by, pool or differ, synthesize, out, account)
    if program is not None and prior is not None:
        raise DeclarationError("--prior is for plain tables; the priors of a model are part of it: --model '...'.")
    files = [path for path in (plot, table, draws, arviz, bif, out, page, account) if path is not None]
    for path in files:
        require_folder(path)
    documents = [read_document(path) for path in releases]
    is_stated_alone = (
        program is None and files == [account] and len(documents) == 1 and not (statements or event or margin)
    )
    if account is not None and is_stated_alone and (why := why_unreadable(documents[0].mechanism)) is not None:
        return _state_without_posterior(documents[0], account, why, as_json)
    with warnings.catch_warnings(record=True) as seen, working("inferring", as_json):
        for category in (*SHOWN_WARNINGS, UncalibratedDrawsWarning):
            warnings.simplefilter("always", category)
        model = None if program is None else _program(program)
        whole: Posterior = read_release(
            *documents,
            prior=prior_of(prior),
            own=records_of(own),
            patience=patience,
            model=model,
            number=_number_of(number),
        )
        asked = {"--that": statements, "--event": event, "--by": by, "--pool": pool, "--bif": bif, "--synthesize": out}
        asked |= {"--differ": differ, "--margin": margin, "--point": point != "mean"}
        answer = _answering(whole, [option for option, value in asked.items() if value])
        answers = {
            "event": [answer["--event"](event, given, level)] if event and not by else [],
            "groups": answer["--by"](event, by, level) if by else [],
            "pooled": answer["--pool"](event, by, patience).rows(level) if pool else [],
        }
        judged = {text: answer["--that"](text) for text in statements}
        difference = answer["--differ"](event, by, patience) if differ else None
        posterior: Posterior = answer["--margin"](*margin) if margin else whole
        posterior.rows(level)
        closest = None if point == "mean" else list(_answering(posterior, ["--point"])["--point"]().values())
    with working("writing", as_json), warnings.catch_warnings(record=True) as written:
        warnings.simplefilter("always", UncalibratedDrawsWarning)
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("ignore", category)  # a picture computes again what was asked above
        if plot is not None:
            from discreet.report import charts

            picture = charts.comparison_chart(whole, event, by, level) if event and by else None
            charts.render(picture or charts.posterior_chart(posterior, level), plot)
        if table is not None:
            write_csv(posterior, table, level)
        if draws is not None:
            write_draws(posterior, draws)
        if arviz is not None:
            posterior.to_netcdf(arviz)
        if bif is not None:
            bif.write_text(answer["--bif"](), encoding="utf-8")
        if out is not None:
            write_records(answer["--synthesize"](synthesize), out)
        if page is not None:
            from discreet.report.page import write_page

            write_page(posterior, page, [(event, by)] if event and by and not margin else [])
        if account is not None:
            _write_statement(documents[0], posterior, account, [] if difference is None else [difference.sentence])
    notes = list(dict.fromkeys(str(warning.message) for warning in (*seen, *written)))
    if as_json:
        found = {name: [asdict(row) for row in rows] for name, rows in answers.items()}
        said = {"differ": None if difference is None else difference.document(), "margin": list(margin)}
        document = document_of(posterior, level) | found | said | {"statements": judged, "warnings": notes}
        names = [row.quantity for row in posterior.rows(level)]
        points = {} if closest is None else {"closest": dict(zip(names, closest, strict=True))}
        return show_json(document | {"point": point} | points)
    show_warnings(notes)
    titles = {"groups": f"{event} by {by}", "pooled": f"{event} by {by}, pooled"}
    for key, title in titles.items():
        if rows := answers[key]:
            show_rows(title, rows, level)
    for row in answers["event"]:
        _, low, high = row.texts
        condition = f" given {row.given}" if row.given else ""
        is_open = row.is_probability and row.low <= 0 and row.high >= 1
        words = "without an interval" if is_open else f"{percent_text(level, '')} interval {low} to {high}"
        say(f"Probability of {row.quantity}{condition}: {row.text(row.mean)}, {words}.")
    say(*(f"Probability that {text}: {chance:.4f}{_drawn(chance)}" for text, chance in judged.items()))
    say(*([] if difference is None else [difference.sentence]))
    show_posterior(posterior, level, closest=closest)
    say(*(f"Wrote {path}." for path in files))
    return None


def _drawn(chance: PosteriorProbability) -> str:
    error = chance.monte_carlo_error
    return "" if error is None else f" (Monte Carlo error {error:.1g})"


def prior_of(text: str | None) -> object:
    """Return the prior that is asked for: a number or a JSON object if it is one, else its name."""
    if text is None:
        return None
    try:
        found: object = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | dict) else text


def _number_of(text: str | None) -> object:
    """Return what is stated of a secret number of records: that number or a range, as the library takes it."""
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise DeclarationError(
            f"--number is what is known of a secret number of records, such as 5000, or a range such as 4000,6000; got "
            f"{text!r}. Nothing was read."
        )
    least, *most = (int(part) for part in parts)
    return (least, *most) if most else least


def records_of(path: Path | None) -> object:
    """Return the records of a file, or nothing if none is named."""
    if path is None:
        return None
    from discreet.records import read

    return read(path)


def _program(text: str) -> "Family | str":
    from discreet.programs import program_written

    return program_written(text)


def _write_statement(release: Release, posterior: Posterior | None, path: Path, answers: Sequence[str] = ()) -> None:
    from discreet.report.statement import statement, statement_html
    from discreet.verification import verify

    text = statement(release, posterior, verify(release), answers)
    path.write_text(statement_html(text, posterior) if path.suffix == ".html" else text, encoding="utf-8")


def _state_without_posterior(release: Release, path: Path, why: str, as_json: bool) -> None:
    """Write the statement of a release that nobody can read; it says so beside everything else."""
    with working("writing", as_json):
        _write_statement(release, None, path)
    if as_json:
        return show_json({"label": release.label, "reading": release.reading, "why": why, "statement": str(path)})
    return say(f"{release.label!r} has no posterior: {why}.", f"Wrote {path}.")


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
        raise DeclarationError("--by and --given need --event: discreet infer R --event fall=yes --by ward")
    if given is not None and by is not None:
        raise DeclarationError("--given asks about one group and --by about all groups; choose one of the two.")
    if pool and by is None:
        raise DeclarationError(
            "--pool and --differ need --event and --by: discreet infer R --event fall=yes --by ward --pool"
        )
    if (synthesize is None) != (out is None):
        raise DeclarationError(
            "--synthesize and --out need each other: discreet infer R --synthesize 1000 --out new.csv"
        )
    if account is not None and account.suffix not in (".md", ".html"):
        raise DeclarationError(f"A statement must be a .md or .html file; got {account.name!r}.")


def _answering(posterior: Posterior, options: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Return the method that answers each option; refuse options that this posterior cannot answer."""
    able = {
        option: getattr(posterior, name)
        for option, name in _ANSWERED_BY.items()
        if isinstance(posterior, ANSWERS[name])
    }
    for option in options:
        if option not in able:
            raise DeclarationError(
                f"{option} is not available for {posterior.text.subject}. Of {', '.join(_ANSWERED_BY)} it supports "
                f"{', '.join(able) or 'none'}. Nothing was written."
            )
    return able


def write_records(records: Mapping[str, Sequence[object]], path: Path) -> None:
    """Write synthetic records, which are as safe to share as the release."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*([text_of(value) for value in values] for values in records.values()), strict=True))


def read_document(path: Path) -> Release:
    """Read a release from a file."""
    if not path.is_file():
        raise DocumentError(f"There is no file {str(path)!r}.")
    written = path.read_bytes()
    if not written.lstrip().startswith(b"{"):
        raise DocumentError(
            f"{str(path)!r} is not a release: a release is the JSON document that `discreet publish STUDY --ask NAME` "
            "writes, NAME.release.json. If these are records, they are published first. Nothing was read."
        )
    return Release.from_json(written)
