"""The reader's command `synthesize`: synthetic records of a release, and pages that say how good they are."""

import warnings
from pathlib import Path

import click

from discreet._core.errors import DeclarationError
from discreet.cli._infer import SHOWN_WARNINGS, read_document
from discreet.cli._posterior import show_warnings
from discreet.cli._screen import as_json, helpful, require_folder, say, show_json, working
from discreet.inference import infer as read_release
from discreet.report import Quality, quality_page
from discreet.synthesis import RULES, SynthesisPosterior, several

_file = click.Path(path_type=Path)


@click.command()
@click.argument("release", type=_file)
@click.option("--out", type=_file, help="Write the records: .csv or .parquet; several sets as NAME-1, NAME-2, ...")
@click.option("--rows", type=click.IntRange(min=1), help="How many records; by default as many as were published.")
@click.option("--sets", type=click.IntRange(1, 100), default=1, show_default=True, help="How many data sets.")
@click.option(
    "--numbers",
    type=click.Choice(list(RULES)),
    default="spread",
    show_default=True,
    help="Columns with bands: numbers spread over each band, its middle, or its name.",
)
@click.option("--seed", type=int, help="Draw the same records again.")
@click.option("--page", type=_file, help="Write a quality page, from the release alone: .html.")
@click.option("--truth", type=_file, help="With --truth-page: the real records, for the holder's eyes only.")
@click.option("--truth-page", type=_file, help="With --truth: write the page with the exact counts beside: .html.")
@as_json
@helpful
def synthesize(
    release: Path,
    out: Path | None,
    rows: int | None,
    sets: int,
    numbers: str,
    seed: int | None,
    page: Path | None,
    truth: Path | None,
    truth_page: Path | None,
    as_json: bool,
) -> None:
    """Draw synthetic records from a release of many columns (model = "synthesis"), and say how good they are.

    Records cost nothing more, however many are drawn. They hold declared levels, and numbers inside declared bands.
    Intervals come from the release (discreet infer), not from the records.

    \b
    Example:  discreet synthesize census.release.json --out made-up.csv --page quality.html
              discreet synthesize census.release.json --out made-up.parquet --sets 5 --numbers middle
              discreet synthesize census.release.json --truth census.csv --truth-page own-eyes.html
    """
    if (truth is None) != (truth_page is None):
        raise DeclarationError("--truth and --truth-page need each other: they make the page for the holder's eyes.")
    if out is None and page is None and truth_page is None:
        raise DeclarationError("Nothing to write: name --out FILE for records, --page FILE for a page, or both.")
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise DeclarationError(f"Synthetic records are written as .csv or .parquet; got {out.name!r}.")
    files = several(out, sets) if out is not None else []
    for path in (*files, page, truth_page):
        require_folder(path)
    with warnings.catch_warnings(record=True) as seen, working("drawing synthetic records", as_json):
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("always", category)
        posterior = read_release(read_document(release))
        if not isinstance(posterior, SynthesisPosterior):
            raise DeclarationError(
                f"{posterior.text.subject.capitalize()} has no quality page. Nothing was written. Draw its records "
                "with discreet infer --synthesize 1000 --out new.csv."
            )
        seeds = [None if seed is None else seed + number for number in range(sets)]
        records = [posterior.records(rows, each, numbers) for each in seeds]
        for path, each in zip(files, records, strict=False):
            each.write(path)
        if page is not None:
            page.write_text(quality_page(Quality(posterior, records)), encoding="utf-8")
        if truth is not None and truth_page is not None:
            from discreet.records import read

            truth_page.write_text(quality_page(Quality.with_truth(posterior, records, read(truth))), encoding="utf-8")
    notes = [str(warning.message) for warning in seen]
    quality = Quality(posterior, records)
    single, double = quality.inside(quality.made, quality.made_ones)
    written = [*files, *(path for path in (page, truth_page) if path is not None)]
    if as_json:
        return show_json(
            {
                "records": len(records[0]),
                "sets": sets,
                "measured_pairs": len(posterior.sums.pairs),
                "pairs": len(posterior.model.pairs),
                "levels_inside": single,
                "pairs_inside": double,
                "files": [str(path) for path in written],
                "warnings": notes,
            }
        )
    show_warnings(notes)
    say(
        f"{sets if sets > 1 else 'One'} set{'s' if sets > 1 else ''} of {len(records[0]):,} synthetic records of "
        f"{len(posterior.columns)} columns.",
        f"{single:.0%} of their shares of levels and {double:.0%} of those of measured pairs lie within the 90% "
        "intervals of the release.",
        *posterior.remarks(),
        *(f"Wrote {path}." for path in written),
    )
    if truth_page is not None:
        say(f"{truth_page} shows exact counts of the real records: for the holder's eyes only.")
    return None
