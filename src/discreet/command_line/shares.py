"""What `plan` shows of a table of shares: how wide the intervals of its cells will be."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isnan
from pathlib import Path

from discreet.command_line.epsilons import Epsilons, documents
from discreet.command_line.screen import say, show_json, show_table, working
from discreet.mathematics.distributions.dirichlet import tails
from discreet.mechanisms import with_fields
from discreet.planning import Accuracy, accuracy_curve, expected_accuracy
from discreet.planning.expected_accuracy import check_search, wishes
from discreet.planning.planned_reading import planned_reading
from discreet.show import charts
from discreet.study import Question


def plan_shares(
    question: Question,
    named: Epsilons,
    epsilons: Sequence[Fraction],
    sizes: Sequence[int],
    level: float,
    width: float | None,
    patience: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Show mean widths for several epsilons or sizes, and what a desired width needs."""
    mechanism = question.mechanism
    tails(level)
    if width is not None:
        check_search(mechanism, width)
    with working("simulating made-up studies", as_json):
        others = [with_fields(mechanism, size=size) for size in sizes]
        rows = list(accuracy_curve(mechanism, epsilons, level, patience=patience))
        rows += [expected_accuracy(other, level, patience=patience) for other in others]
        wished = {} if width is None else wishes(mechanism, width, rows[: len(epsilons)], level, patience)
    stated = float(mechanism.guarantee.epsilon)
    if plot is not None:
        points = [
            {"epsilon": named.declared(r.epsilon), "width": r.width, "non_private": r.non_private_width}
            for r in rows[: len(epsilons)]
        ]
        title = f"{question.label}: {mechanism.size:,} records"
        charts.render(charts.width_chart(points, title, chosen=named.declared(stated), of=named.unit), plot)
    if as_json:
        shown = documents(named, [row.document() for row in rows])
        facts = {"question": question.name, "rows": shown, "wished": wished}
        return show_json(facts | {"reading": planned_reading(mechanism)})
    show_table(
        f"{question.label}: what to expect, with exact counts in brackets",
        (*named.heads, "records", f"{level:.0%} width", "error", "log score"),
        [(*named.cells(row.epsilon), *_figures(row)) for row in rows],
    )
    most = max(row.width_error for row in rows)
    say(*named.sentence, f"{planned_reading(mechanism)} Simulation error of a width at most {most:.2g}.")
    if wished:
        say(*_wishes(wished, named, stated, mechanism.size))
    if plot is not None:
        say(f"Wrote {plot}.")
    return None


def _figures(row: Accuracy) -> list[str]:
    return [
        f"{row.size}",
        f"{row.width:.4f} ({row.non_private_width:.4f})",
        f"{row.error:.4f} ({row.non_private_error:.4f})",
        "-" if isnan(row.log_score) else f"{row.log_score:.2f} ({row.non_private_log_score:.2f})",
    ]


def _wishes(wished: Mapping[str, float | None], named: Epsilons, stated: float, size: int) -> list[str]:
    width, needed, records = wished["width"], wished["epsilon_needed"], wished["size_needed"]
    first = f"about {named.words(needed)}" if needed else "no epsilon is enough; more records are needed"
    second = f"about {records} records" if records else "even ten million records are not enough"
    return [
        f"Mean width {width:g} with {size} records: {first}.",
        f"Mean width {width:g} at {named.words(stated, '.6g')}: {second}.",
    ]
