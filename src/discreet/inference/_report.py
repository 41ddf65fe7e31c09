"""What is shown of any posterior: words about it, and its rows as tables and as lines of a picture.

A posterior gives its rows and one `ReportText`. Screens, notebooks, pages, statements and pictures are written once for
all of them, here and in `discreet.report`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from discreet._core.exact import exact_text
from discreet._core.notebook import html_table, with_picture
from discreet.inference._protocols import HasRemarks
from discreet.inference._row import SHOWN_LEVEL, STAR, UNKNOWN, Row, percent_text
from discreet.mechanism import columns_of_levels, forced_prior
from discreet.records import Bounds, Column, text_of

if TYPE_CHECKING:
    from discreet.inference._posterior import Posterior

MOST_IN_A_NOTEBOOK = 60
"""The number of rows that a notebook shows."""
_OUTSIDE = "This mean lies outside its interval: rare large values affect a mean, but not the interval."


@dataclass(frozen=True)
class ReportText:
    """What a posterior says in words. All of it is plain text: whoever shows it must escape it.

    `subject` is what the posterior is about, such as 'a table of categories'; `question` goes on after 'The question:';
    `columns` names each column and says what is counted of it; `hidden` is what was not published; `meaning` explains a
    line of the results; `prior` says what was believed beforehand, and `has_holders_prior` whether that is what the
    holder declared; `public` are further facts that are not protected, such as bounds. `estimation` says in one line,
    above the rows, how means and intervals were computed where that is not obvious; `outside_interval` says why a mean
    may lie outside its interval; `populations` are the different populations that were read together.
    """

    subject: str
    question: str
    columns: tuple[tuple[str, str], ...]
    hidden: str
    meaning: str
    prior: str
    has_holders_prior: bool
    public: tuple[str, ...] = ()
    estimation: str = ""
    outside_interval: str = _OUTSIDE
    populations: str = ""


def heading(posterior: "Posterior") -> str:
    """Return which releases were read, of how many records, and under which promise."""
    releases = posterior.releases
    labels = "; ".join(dict.fromkeys(release.label for release in releases))
    epsilons = " and ".join(exact_text(release.guarantee.epsilon) for release in releases)
    who = releases[0].model.protects.removeprefix("one ")
    where = f" where {releases[0].where}" if releases[0].where else ""
    return f"{labels}: {posterior.about}{posterior.size} {who}s{where}, epsilon = {epsilons}"


def sources_line(posterior: "Posterior") -> str:
    """Say which releases were read together, which prior privacy demanded of draws, and how many own records."""
    if populations := posterior.text.populations:
        return f"Read together, as likelihoods of different populations: {populations}."
    read = ""
    if len(posterior.releases) > 1:
        each = [
            f"{r.label!r} ({type(r.mechanism).__name__} of {', '.join(c.name for c in columns_of_levels(r.model))})"
            for r in posterior.releases
        ]
        read = (
            f"Read together, as likelihoods of the same {posterior.about}{posterior.size} records: {'; '.join(each)}."
        )
    lines = [read, derived_line(posterior), forced_prior_line(posterior), own_records_line(posterior)]
    return " ".join(filter(None, lines))


def derived_line(posterior: "Posterior") -> str:
    """Say how columns are made of others, if they are."""
    said = (release.derived.in_words for release in posterior.releases if release.derived is not None)
    found = dict.fromkeys(each for words in said for each in words)
    return f"Derived from the stored columns: {'; '.join(found)}." if found else ""


def forced_prior_line(posterior: "Posterior") -> str:
    """Say under which prior draws were made if privacy demanded one: it is read as noise, not as belief."""
    forced = dict.fromkeys(filter(None, (forced_prior(release.mechanism) for release in posterior.releases)))
    if not forced:
        return ""
    return (
        f"For privacy, it was drawn under {' and '.join(forced)}; this is accounted for like noise, and is not the "
        "prior of this posterior."
    )


def own_records_line(posterior: "Posterior") -> str:
    """Say that own records were read too, and that nothing protects them."""
    if not posterior.own_records:
        return ""
    return (
        f"Read with {posterior.own_records:,} records of the reader's own, taken as other members of the same "
        "population. No noise protects these, so the result is as confidential as they are."
    )


def outside_interval_note(posterior: "Posterior", rows: Sequence[Row]) -> str:
    """Say why means have a star: they lie outside their intervals. Nothing if none of these rows has one."""
    return f"{STAR} {posterior.text.outside_interval}" if any(row.is_mean_outside for row in rows) else ""


def remarks(posterior: "Posterior", level: float = SHOWN_LEVEL) -> tuple[str, ...]:
    """Return further sentences for below the table of rows."""
    return posterior.remarks(level) if isinstance(posterior, HasRemarks) else ()


def screen(posterior: "Posterior", level: float = SHOWN_LEVEL) -> str:
    """Return what `print` shows: the rows with aligned columns, and below them how they were inferred."""
    rows = posterior.rows(level)
    notes = [outside_interval_note(posterior, rows), sources_line(posterior), posterior.text.estimation]
    return "\n".join(filter(None, [screen_of(rows, level), *notes]))


def notebook(posterior: "Posterior", level: float = SHOWN_LEVEL) -> str:
    """Return picture and table of the rows for a notebook; all that others wrote in it is text and nothing else."""
    simulated = "SIMULATED, not a release of real records. " if posterior.releases[0].simulated else ""
    title = ". ".join(filter(None, [simulated + heading(posterior), posterior.text.estimation.rstrip(".")]))
    rows = posterior.rows(level)
    note = outside_interval_note(posterior, rows[:MOST_IN_A_NOTEBOOK])
    return with_picture(notebook_of(rows, level, title, posterior.method, note), "posterior_chart", posterior)


def screen_of(rows: Sequence[Row], level: float) -> str:
    """Return rows as lines of text with aligned columns."""
    headings, lines, words = text_table(rows, level)
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    shown = []
    for line in (headings, *lines):
        cells = [c.ljust(w) if n < words else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True))]
        shown.append("   ".join(cells).rstrip())
    return "\n".join(shown)


def notebook_of(rows: Sequence[Row], level: float, title: str, method: str, outside: str = "") -> str:
    """Return rows as a table for a notebook; `outside` explains a star before a mean."""
    headings, lines, words = text_table(rows, level)
    notes = [*filter(None, [outside]), f"This release was {method}."]
    if len(lines) > MOST_IN_A_NOTEBOOK:
        notes.insert(0, f"These are the first {MOST_IN_A_NOTEBOOK} of {len(lines)} rows; to_frame() has all.")
    return html_table(title, headings, lines[:MOST_IN_A_NOTEBOOK], words, notes)


class TextTable(NamedTuple):
    """Rows as texts under headings; the first columns hold words, the others figures."""

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: int


def text_table(
    rows: Sequence[Row], level: float, truth: Sequence[float] | None = None, point: str = "mean"
) -> TextTable:
    """Return rows as a table of texts, without columns that would be empty: conditions, units, sizes, shares.

    `truth` holds the true values of a rehearsal, one for each row; `point` says what stands where rows have their mean.
    """
    has_given, has_units = any(row.given for row in rows), any(not row.is_probability for row in rows)
    has_shares = any(row.share_due_to_privacy is not None for row in rows)
    words = ["quantity", *(["given"] if has_given else []), *(["unit"] if has_units else [])]
    has_records = any(row.records_low is not None for row in rows)
    figures = [
        *(["records"] if has_records else []),
        *([] if truth is None else ["truth"]),
        point,
        f"{percent_text(level, '')} interval",
    ]
    lines = []
    for index, row in enumerate(rows):
        line = [row.quantity, *([row.given or UNKNOWN] if has_given else []), *([row.unit_text] if has_units else [])]
        line += [row.records_text] if has_records else []
        line += [] if truth is None else [row.text(truth[index])]
        lines.append((*line, row.starred_mean, row.interval_text, *([row.share_text] if has_shares else [])))
    return TextTable((*words, *figures, *(["due to privacy"] if has_shares else [])), tuple(lines), len(words))


def levels_in_words(column: Column) -> str:
    """Return the names of a column's levels, the first ones if there are many, and where other values are counted."""
    names = [str(text_of(level)) for level in column.levels]
    shown = ", ".join(names if len(names) <= 12 else [*names[:10], f"... {len(names)} in all"])
    return f"({shown}); missing and other values count as {text_of(column.outside)}"


def bounds_in_words(bounds: Bounds) -> str:
    """Return the bounds of a column of numbers, and what becomes of values beyond them and of missing values."""
    low, high, missing = (exact_text(value) for value in (bounds.low, bounds.high, bounds.missing))
    return f"({low} to {high}; values beyond are clipped to these bounds, missing values count as {missing})"


def dirichlet_in_words(parameters: Sequence[float]) -> str:
    """Return the range of a Dirichlet prior's parameters in words."""
    least, most = min(parameters), max(parameters)
    return f"all its parameters {least:g}" if least == most else f"parameters from {least:g} to {most:g}"
