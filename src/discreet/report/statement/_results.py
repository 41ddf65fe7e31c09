"""What a statement says about the question and its answer: the columns, the rows with their intervals, the prior."""

from collections.abc import Sequence
from fractions import Fraction
from math import isclose

from discreet.inference import (
    STAR,
    Posterior,
    Row,
    bounds_in_words,
    forced_prior_line,
    levels_in_words,
    outside_interval_note,
    own_records_line,
    text_table,
)
from discreet.mechanism import Model, Sized
from discreet.privacy import spent_text
from discreet.records import Column
from discreet.release import NO_READING, Release
from discreet.report.statement._markdown import bullets, plain, table

LEVEL = 0.9
"""The level of the intervals in a statement."""
MOST_ROWS = 40
"""Most rows that a statement shows: of shares in one whole the likeliest, else the first."""
MOST_COLUMNS = 20
"""Most columns that a statement lists."""


def published(release: Release, posterior: Posterior) -> list[str]:
    """Say what was asked of how many records, and that the true statistics stayed where they are."""
    text = posterior.text
    return _published(release, f" The question: {plain(text.question)}", text.columns, text.hidden)


def published_unread(release: Release) -> list[str]:
    """Say what was published where there is no posterior that could tell of it."""
    return _published(release, " It is about these columns:", _columns_of(release.model), "statistics")


def _published(release: Release, question: str, columns: Sequence[tuple[str, str]], hidden: str) -> list[str]:
    kind = ("simulated " if release.simulated else "") + release.model.protects.removeprefix("one ")
    number = f"{release.mechanism.size:,} " if isinstance(release.mechanism, Sized) else ""
    points = [f"**{plain(name)}** {plain(words)}" for name, words in columns[:MOST_COLUMNS]]
    if len(columns) > MOST_COLUMNS:
        points.append(f"and {len(columns) - MOST_COLUMNS} more columns")
    return [
        "## What was published",
        f"A randomised summary of **{number}{kind}s{_where(release)}**.{question}",
        bullets(points),
        *_derived(release),
        f"The true {plain(hidden)} were not published; what was published instead was drawn at random by "
        f"`{type(release.mechanism).__name__}`.",
    ]


def _where(release: Release) -> str:
    return "" if release.where is None else f" where {plain(str(release.where))}"


def _derived(release: Release) -> list[str]:
    """Say how columns are made of others."""
    if release.derived is None:
        return []
    listed = bullets([f"`{plain(each)}`" for each in release.derived.in_words])
    return ["Some of these are not stored in the records, but derived from them, record by record:", listed]


def _columns_of(model: Model) -> list[tuple[str, str]]:
    """Return the columns of a model, with their levels or bounds in words."""
    return [
        (each.name, levels_in_words(each) if isinstance(each, Column) else bounds_in_words(each))
        for each in model.columns
    ]


def results(posterior: Posterior, answers: Sequence[str] = ()) -> list[str]:
    """Return the rows with their intervals, how they are read, and answers to further questions."""
    text, rows = posterior.text, posterior.rows(LEVEL)
    shown, cut = _shown(rows)
    shares = (
        " The last column is the share of an interval's width that is due to privacy: exact statistics would save it."
    )
    known = any(row.share_due_to_privacy is not None for row in shown)
    return [
        "## What the results are",
        plain(text.meaning) + (shares if known else "") + cut,
        _table(shown),
        *([plain(outside)] if (outside := outside_interval_note(posterior, shown)) else []),
        f"The release was {plain(posterior.method)}. {plain(text.prior)}{_together(posterior)}",
        *([bullets([plain(answer) for answer in answers])] if answers else []),
    ]


def no_results(release: Release, why: str) -> list[str]:
    """Say that there is no posterior, who declared that, and why it is so."""
    declared = f", as the holder declared when it was published (reading = {NO_READING!r})"
    return [
        "## What the results are",
        f"**There is no posterior{declared if release.reading == NO_READING else ''}**: {plain(why)}. So this page "
        "gives no estimates and no intervals. The published values are not the truth and must not be read as if "
        "they were.",
    ]


def _shown(rows: Sequence[Row]) -> tuple[Sequence[Row], str]:
    """Return the rows to show, and a sentence if these are not all."""
    if len(rows) <= MOST_ROWS:
        return rows, ""
    if all(row.is_probability for row in rows) and isclose(sum(row.mean for row in rows), 1, abs_tol=1e-6):
        likeliest = sorted(rows, key=lambda row: row.mean, reverse=True)[:MOST_ROWS]
        return likeliest, f" Only the {MOST_ROWS} most likely of {len(rows)} lines are shown."
    return rows[:MOST_ROWS], f" Only the first {MOST_ROWS} of {len(rows)} lines are shown."


def _table(rows: Sequence[Row]) -> str:
    """Return rows as a table; probabilities are in percent, with as many digits as the narrowest interval deserves."""
    headings, lines, words = text_table(rows, LEVEL)
    narrowest = min(row.high - row.low for row in rows)
    digits = 1 if narrowest >= 0.01 else 2 if narrowest >= 0.001 else 3
    shown = []
    for row, line in zip(rows, lines, strict=True):
        cells = [plain(cell) for cell in line]
        if row.is_probability:
            mean, low, high = (f"{100 * value:.{digits}f}" for value in (row.mean, row.low, row.high))
            star = plain(STAR) if row.is_mean_outside else ""
            cells[words : words + 2] = [f"{star}{mean} %", f"{low} to {high} %"]
        shown.append([*cells[: words + 2], *(cell.replace("%", " %") for cell in cells[words + 2 :])])
    heads = [heading.replace("mean", "estimate").replace("%", " %") for heading in headings]
    return table(heads, shown, words=words)


def _together(posterior: Posterior) -> str:
    text = _words_of_the_holder(posterior) + (f" {plain(forced)}" if (forced := forced_prior_line(posterior)) else "")
    if any(release.reading == NO_READING for release in posterior.releases):
        text += f" The holder declared that there would be no posterior (reading = {NO_READING!r}); it was read anyway."
    if len(posterior.releases) > 1:
        total = sum((release.guarantee.epsilon for release in posterior.releases), Fraction(0))
        text += (
            f" These results were inferred from **{len(posterior.releases)} releases together**, whose epsilons add "
            f"up to {spent_text(total)}."
        )
    return text


def _words_of_the_holder(posterior: Posterior) -> str:
    """Say whether the holder declared a prior, and whether it is another one than the reader's, or has own records."""
    if posterior.own_records:
        return f" {plain(own_records_line(posterior))}"
    published, read = posterior.releases[0].mechanism.model, posterior.model
    if not published.is_prior_declared:
        return (
            " The holder declared none."
            if read.is_prior_declared
            else (" It is this program's default, because none was declared.")
        )
    return "" if posterior.text.has_holders_prior else " The data holder had declared a different prior."
