"""What a statement says about a network: which variable depends on which, and the shares in each of its tables."""

from fractions import Fraction

from discreet.exact import exact_text
from discreet.inference import NetworkPosterior
from discreet.inference.network_tables import table_entries
from discreet.models import Network
from discreet.records.values import text_of
from discreet.releases import Release
from discreet.statement.categories import LEVEL, MOST_ROWS
from discreet.statement.markdown import bullets, plain, some_levels, table

MOST_VARIABLES = 20
"""A statement lists at most so many variables."""


def published_network(release: Release) -> list[str]:
    """Say what was published: the variables, and on which others each of them depends."""
    network: Network = release.model
    kind = "made-up " if release.simulated else ""
    shown = list(zip(network.variables, network.parents, strict=True))[:MOST_VARIABLES]
    points = []
    for column, above in shown:
        given = f", given {' and '.join(f'**{plain(name)}**' for name in above)}" if above else ""
        home = plain(text_of(column.outside))
        points.append(f"**{plain(column.name)}** ({some_levels(column)}){given}; gaps and other values count as {home}")
    if len(network.variables) > MOST_VARIABLES:
        points.append(f"and {len(network.variables) - MOST_VARIABLES} more variables")
    return [
        "## What was published",
        f"Noisy counts from **{release.mechanism.size:,} {kind}records**, for a Bayesian network of "
        f"{len(network.variables)} variables. Which of them depends on which was declared beforehand, not looked up in "
        "the records. The question: how often does each level of a variable occur, given the levels of those that it "
        "depends on?",
        bullets(points),
        f"The true counts were not published: random noise was added to them by `{type(release.mechanism).__name__}`.",
    ]


def network_results(posterior: NetworkPosterior) -> list[str]:
    """Give the tables with their intervals, and say how they are read."""
    entries = table_entries(posterior, LEVEL)
    narrowest = min(entry.high - entry.low for entry in entries)
    digits = 1 if narrowest >= 0.01 else 2 if narrowest >= 0.001 else 3
    rows = []
    for entry in entries[:MOST_ROWS]:
        low, high = (f"{100 * end:.{digits}f}" for end in (entry.low, entry.high))
        given = ", ".join(f"{plain(name)} = {plain(text_of(level))}" for name, level in entry.given) or "-"
        names = (plain(entry.variable), plain(text_of(entry.level)), given)
        rows.append((*names, f"{100 * entry.mean:.{digits}f} %", f"{low} to {high} %"))
    cut = f" Only the first {MOST_ROWS} of {len(entries)} lines are shown." if len(entries) > MOST_ROWS else ""
    return [
        "## What the results are",
        "Each line is the estimated share of a level among all those in the population for whom the condition holds, "
        "with an interval that holds the uncertainty of sampling and of the noise together. A line without a condition "
        "is about everyone. That one variable is given another says how the shares are sorted, not what causes what."
        + cut,
        table(("variable", "level", "given", "estimate", f"{100 * LEVEL:g} % interval"), rows, words=3),
        _weight(posterior),
    ]


def _weight(posterior: NetworkPosterior) -> str:
    values = [value for row in posterior.model.prior for value in row]
    least, most = min(values), max(values)
    parameters = f"all its parameters {least:g}" if least == most else f"parameters from {least:g} to {most:g}"
    text = f"The release was {posterior.method}. "
    text += f"The prior of every row of a table is a Dirichlet distribution, with {parameters}."
    if posterior.model.prior != posterior.releases[0].model.prior:
        text += " The holder had declared another prior."
    if len(posterior.releases) > 1:
        total = sum((release.guarantee.epsilon for release in posterior.releases), Fraction(0))
        text += (
            f" These results were read from **{len(posterior.releases)} releases together**; for them all, "
            f"epsilon adds up to {exact_text(total)}."
        )
    return text
