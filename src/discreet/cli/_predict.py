"""The reader's command `predict`: one variable of new records, from what is known about them."""

import csv
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from discreet._core.errors import DeclarationError, SourceError
from discreet.cli._infer import SHOWN_WARNINGS, prior_of, read_document, records_of, write_records
from discreet.cli._posterior import show_warnings
from discreet.cli._screen import as_json, helpful, patient, require_folder, say, show_json, show_table, working
from discreet.inference import HasPrediction, Posterior, heading
from discreet.inference import infer as read_release

_MOST_SHOWN = 20


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--target", help="The variable to predict; the class of a naive Bayes network needs no name.")
@click.option("--unknown", multiple=True, help='A value that means "unknown", such as "?" or ""; may be repeated.')
@click.option(
    "--level",
    type=float,
    default=0.9,
    show_default=True,
    help="The probability that a regression's intervals contain the truth (credible level).",
)
@click.option("--prior", help="The prior to use: declared, learnt, none, a number, or JSON.")
@click.option("--own", type=click.Path(path_type=Path), help="Also learn from your own records, in this file.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the predictions as CSV, one line for each record.")
@patient
@as_json
@helpful
def predict(
    release: Path,
    records: Path,
    target: str | None,
    unknown: Sequence[str],
    level: float,
    prior: str | None,
    own: Path | None,
    out: Path | None,
    patience: float,
    as_json: bool,
) -> None:
    """Predict one variable of new records, some of whose values may be unknown.

    RECORDS is a CSV file with a header. A variable without a column is unknown, and so is a value that --unknown names;
    any other undeclared value, including an empty one, goes to the level declared for such values. Unknown values are
    summed over (marginalised), and predictions are averaged over the noise of the release.

    \b
    Example:  discreet predict risks.release.json patients.csv --target cancer --unknown "" --out risks.csv
    """
    require_folder(out)
    rows = _read(records)
    with warnings.catch_warnings(record=True) as seen, working("inferring and predicting", as_json):
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("always", category)
        posterior: Posterior = read_release(
            read_document(release), prior=prior_of(prior), own=records_of(own), patience=patience
        )
        if not isinstance(posterior, HasPrediction):
            raise DeclarationError(
                f"Predictions were requested, but {posterior.text.subject} has no variable that the others predict. "
                "Nothing was predicted."
            )
        found = posterior.predictions(rows, target, tuple(unknown), level)
    if out is not None:
        write_records(found, out)
    notes = [str(warning.message) for warning in seen]
    if as_json:
        return show_json({"records": len(next(iter(rows.values()))), "predictions": found, "warnings": notes})
    show_warnings(notes)
    lines = [tuple(map(_text, values)) for values in zip(*found.values(), strict=True)]
    show_table(
        heading(posterior), ("record", *found), [(str(n + 1), *line) for n, line in enumerate(lines[:_MOST_SHOWN])]
    )
    if len(lines) > _MOST_SHOWN:
        say(f"These are the first {_MOST_SHOWN} of {len(lines)} records. --out FILE writes all of them.")
    say(f"This release was {posterior.method}.", *([] if out is None else [f"Wrote {out}."]))
    return None


def _read(path: Path) -> Mapping[str, Sequence[str]]:
    """Read the columns of a CSV file."""
    if not path.is_file():
        raise SourceError(f"There is no file {str(path)!r}. Nothing was predicted.")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            heading, *lines = list(csv.reader(file)) or [[]]
    except (UnicodeDecodeError, csv.Error):
        raise SourceError(f"{path.name!r} is not a CSV file in UTF-8. Nothing was predicted.") from None
    lines = [line for line in lines if line]
    if not heading or len(set(heading)) < len(heading):
        raise SourceError(
            f"{path.name!r} needs a header that gives every column a different name. Nothing was predicted."
        )
    if any(len(line) != len(heading) for line in lines):
        raise SourceError(
            f"Every line of {path.name!r} must have {len(heading)} values, as many as its header has names. Nothing "
            "was predicted."
        )
    return {name: [line[index] for line in lines] for index, name in enumerate(heading)}


def _text(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
