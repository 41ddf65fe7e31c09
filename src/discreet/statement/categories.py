"""What a statement says about a table of categories: the question, and the share of each cell."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.exact import exact_text
from discreet.inference import CategoriesPosterior
from discreet.records.columns import Column
from discreet.records.values import text_of
from discreet.releases import Release
from discreet.statement.markdown import plain, some_levels, table

LEVEL = 0.9
"""The level of the intervals in a statement."""
MOST_ROWS = 40
"""A statement shows the results of at most so many cells, the likeliest."""


def published_table(release: Release) -> list[str]:
    """Say what was published."""
    columns: Sequence[Column] = release.model.columns
    cells = len(release.model.cells)
    question = " and ".join(f"**{plain(column.name)}** ({some_levels(column)})" for column in columns)
    kind = "made-up " if release.simulated else ""
    what = f"{cells} combinations of the levels" if len(columns) > 1 else f"{cells} levels"
    homes = ", ".join(f"{plain(column.name)} = {plain(text_of(column.outside))}" for column in columns)
    return [
        "## What was published",
        f"Noisy counts from **{release.mechanism.size:,} {kind}records**. The question: how often does each of the "
        f"{what} of {question} occur? Gaps and values that were not declared are counted as {homes}. The true counts "
        f"were not published: random noise was added to them by `{type(release.mechanism).__name__}`.",
    ]


def table_results(posterior: CategoriesPosterior) -> list[str]:
    """Give the estimates with their intervals."""
    means, intervals, shares = posterior.mean, posterior.interval(LEVEL), posterior.privacy_share(LEVEL)
    narrowest = min(interval.width for interval in intervals.values())
    digits = 1 if narrowest >= 0.01 else 2 if narrowest >= 0.001 else 3
    cells = sorted(means, key=lambda cell: means[cell], reverse=True)[:MOST_ROWS] if len(means) > MOST_ROWS else means
    rows = []
    for cell in cells:
        names = [plain(text_of(part)) for part in (cell if isinstance(cell, tuple) else (cell,))]
        low, high = (f"{100 * end:.{digits}f}" for end in intervals[cell])
        rows.append((*names, f"{100 * means[cell]:.{digits}f} %", f"{low} to {high} %", f"{100 * shares[cell]:.0f} %"))
    heads = [plain(column.name) for column in posterior.model.columns]
    figures = table((*heads, "estimate", f"{100 * LEVEL:g} % interval", "due to privacy"), rows, words=len(heads))
    cut = f" Only the {MOST_ROWS} likeliest of {len(means)} cells are shown." if len(means) > MOST_ROWS else ""
    return [
        "## What the results are",
        "Estimated shares in the population, and intervals that hold the uncertainty of sampling and of the noise "
        "together. The last column is the part of an interval's width that exact counts would save." + cut,
        figures,
        _weight(posterior),
    ]


def _weight(posterior: CategoriesPosterior) -> str:
    worth = max(0, round(posterior.effective_size))
    least, most = min(posterior.model.prior), max(posterior.model.prior)
    parameters = f"all its parameters {least:g}" if least == most else f"parameters from {least:g} to {most:g}"
    text = (
        f"All this tells about as much as {worth:,} exactly known records would. The prior is a Dirichlet distribution "
        f"with {parameters}."
    )
    if posterior.model.prior != posterior.releases[0].model.prior:
        text += " The holder had declared another prior."
    if len(posterior.releases) > 1:
        total = sum((release.guarantee.epsilon for release in posterior.releases), Fraction(0))
        text += (
            f" These results were read from **{len(posterior.releases)} releases together**; for them all, "
            f"epsilon adds up to {exact_text(total)}."
        )
    return text
