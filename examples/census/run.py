"""One full study of UCI Adult: nine questions along the whole road, and every reading held against the truth.

    python examples/census/run.py [FOLDER] [QUESTION ...] [--quick]

Everything is published by the road that any study takes, on one ledger. Then the script does what nobody else could: it
computes the exact answers from the records and prints them beside what a reader of the releases finds. After that many
samples are drawn from the same people and published, to see how often 90 % intervals hold. `--quick` takes the first
2,000 records and few repeats; questions that are named are asked alone.
"""

import csv
import shlex
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from census_beside import beside_others, beside_synthetic
from census_records import MISSING, adult_file, read_adult, write_census
from census_truth import OWN, Census
from rich.console import Console
from rich.table import Table

import discreet as dc
from discreet.cli._main import main as command
from discreet.inference import Posterior, Row
from discreet.report import charts

HERE = Path(__file__).parent
REPEATS = {
    "income": 50,
    "country-occupation": 20,
    "classifier": 2,
    "network": 2,
    "hours-line": 50,
    "income-odds": 4,
    "mean-hours": 50,
    "median-age": 15,
    "hours-distribution": 10,
}
"""How often each question is published anew to see how often its intervals hold; fewer where reading takes longer."""
QUICK = {"income": 10, "country-occupation": 2, "hours-line": 10, "mean-hours": 10, "median-age": 4}
QUICK_SIZE = 2000
SEED = 19940801
LEVEL = 0.9
MOST = 6  # rows of a question that are printed; all of them go into a file


@dataclass(frozen=True)
class Found:
    """What was read for one question, beside the truth, and the CPU seconds that reading it took."""

    question: str
    posterior: Posterior
    rows: tuple[Row, ...]
    truths: tuple[float, ...]
    seconds: float


def prepared(folder: Path, size: int | None) -> Census | None:
    """Write records and study file into a folder; nothing if the records are not installed."""
    path = adult_file()
    if path is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: values[:size] for name, values in read_adult(path).items()}
    write_census(texts, folder / "census.csv")
    declared = (HERE / "study.toml").read_text("utf-8")
    (folder / "study.toml").write_text(declared.replace("size = 32561", f"size = {len(texts['age'])}"), "utf-8")
    (folder / "census.db").unlink(missing_ok=True)
    return Census(texts, dc.Study(folder / "study.toml"))


def run(folder: Path, words: str) -> None:
    """Run a command of the library as it would be typed, and keep what it prints in road.txt."""
    with (folder / "road.txt").open("a", encoding="utf-8") as file, redirect_stdout(file):
        print(f"\n$ discreet {words}")
        command(shlex.split(words), standalone_mode=False)


def travelled(folder: Path, census: Census, question: str) -> Found:
    """Take one question along the whole road: plan, publish, verify, read; and look the truth up."""
    study, quoted = folder / "study.toml", shlex.quote(str(folder / "study.toml"))
    epsilon = dc.Study(study).question(question).mechanism.guarantee.epsilon
    run(folder, f"plan {quoted} --ask {question} --epsilon {float(epsilon)}")
    run(folder, f"publish {quoted} --ask {question}")
    path = folder / f"{question}.release.json"
    run(folder, f"verify {shlex.quote(str(path))} --ledger {shlex.quote(str(folder / 'census.db'))}")
    start = process_time()
    posterior = dc.infer(dc.Release.from_json(path.read_text("utf-8")))
    rows = posterior.rows(LEVEL)
    seconds = process_time() - start
    return Found(question, posterior, rows, tuple(census.truth(question, rows)), seconds)


def draw(folder: Path, found: Found) -> None:
    """Draw what was read, into a picture; of the 630 cells, occupations alone and one event by country."""
    if len(found.rows) <= charts.MOST_INTERVALS:
        charts.render(charts.posterior_chart(found.posterior, LEVEL), folder / f"{found.question}.png")
        return
    occupations: Posterior = found.posterior.margin("occupation")  # type: ignore[attr-defined]  # of a table
    charts.render(charts.interval_chart(occupations), folder / "occupations.png")
    by_country = charts.comparison_chart(found.posterior, "occupation=Prof-specialty", "country")
    charts.render(by_country, folder / "professionals-by-country.png")


def covered(row: Row, truth: float) -> bool:
    """Tell whether an interval holds the truth."""
    return row.low <= truth <= row.high


def coverage(census: Census, question: str, repeats: int) -> tuple[float, float, int]:
    """Return how often intervals held over many samples of the same people, with its standard error, and their number.

    The population is the file: every repeat draws as many records from it with replacement, publishes them by the
    mechanism of the study and reads the release. Rows about these records are held against those that were drawn.
    """
    mechanism, held, truths = census.study.question(question).mechanism, [], None
    for number in range(repeats):
        sample = census.drawn(np.random.default_rng([SEED, number]))
        release = dc.simulate(mechanism, sample.statistics(question), dc.SeededBits(SEED + number), question)
        rows = dc.infer(release).rows(LEVEL)
        truths = census.truth(question, rows) if truths is None else truths
        own = sample.truth(question, rows) if any(row.quantity.endswith(OWN) for row in rows) else truths
        each = [(o if row.quantity.endswith(OWN) else t) for row, o, t in zip(rows, own, truths, strict=True)]
        held.append(np.mean([covered(row, truth) for row, truth in zip(rows, each, strict=True)]))
    return float(np.mean(held)), float(np.std(held, ddof=1) / np.sqrt(repeats)), len(rows)


def show_readings(console: Console, all_found: Sequence[Found]) -> None:
    """Print truth and reading of every question, and how many rows are covered."""
    table = Table(title="What the releases tell, beside the truth", title_justify="left")
    for name in ("question", "quantity", "truth", "posterior", "90 % interval", "covered"):
        table.add_column(name, justify="left" if name in ("question", "quantity") else "right", overflow="fold")
    for found in all_found:
        pairs = list(zip(found.rows, found.truths, strict=True))
        for row, truth in pairs[:: max(1, len(pairs) // MOST)][:MOST]:
            words = " given ".join(filter(None, [row.quantity, row.given]))
            mean, low, high = row.texts
            is_in = "yes" if covered(row, truth) else "NO"
            table.add_row(found.question, words, row.text(truth), mean, f"{low} to {high}", is_in)
        inside = sum(covered(row, truth) for row, truth in pairs)
        table.add_row("", f"[dim]all {len(pairs)} rows; read in {found.seconds:.1f} CPU s[/]", "", "", "", f"{inside}")
        table.add_section()
    console.print(table)


def show_coverage(console: Console, census: Census, repeats: Iterable[tuple[str, int]]) -> None:
    """Print how often intervals held over repeated samples."""
    table = Table(title="How often 90 % intervals hold, over samples drawn from the same people", title_justify="left")
    for name in ("question", "releases", "rows of each", "held", "standard error", "CPU s"):
        table.add_column(name, justify="left" if name == "question" else "right")
    for question, times in repeats:
        start = process_time()
        share, error, rows = coverage(census, question, times)
        spent = process_time() - start
        table.add_row(question, f"{times}", f"{rows}", f"{share:.3f}", f"{error:.3f}", f"{spent:.0f}")
    console.print(table)


def write_rows(path: Path, all_found: Sequence[Found]) -> None:
    """Write every row with its truth as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("question", "quantity", "given", "truth", "mean", "low", "high", "covered"))
        for found in all_found:
            for row, truth in zip(found.rows, found.truths, strict=True):
                figures = (truth, row.mean, row.low, row.high, covered(row, truth))
                writer.writerow((found.question, row.quantity, row.given, *figures))


def main(folder: Path, asked: Sequence[str] = (), quick: bool = False, console: Console | None = None) -> bool:
    """Run the whole study in a folder; tell whether the records were there."""
    console = console or Console()
    census = prepared(folder, QUICK_SIZE if quick else None)
    if census is None:
        console.print(MISSING)
        return False
    warnings.simplefilter("ignore", dc.LittleInformationWarning)
    known = QUICK if quick else REPEATS
    repeats = {question: known[question] for question in asked or known}
    (folder / "road.txt").write_text("", "utf-8")
    run(folder, f"check {shlex.quote(str(folder / 'study.toml'))}")
    all_found = [travelled(folder, census, question) for question in repeats]
    show_readings(console, all_found)
    write_rows(folder / "readings.csv", all_found)
    for found in all_found:
        draw(folder, found)
    charts.render(charts.budget_chart(census.study.ledger()), folder / "budget.png")
    posteriors = {found.question: found.posterior for found in all_found}
    if not quick and not asked:
        beside_others(console, census, posteriors, folder)
        beside_synthetic(console, census, posteriors["classifier"])
    show_coverage(console, census, repeats.items())
    console.print(
        f"All rows: {folder}/readings.csv. Pictures: {folder}/*.png. What the commands said: {folder}/road.txt."
    )
    return True


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    sys.exit(0 if main(Path(given[0] if given else "census"), given[1:], "--quick" in sys.argv) else 1)
