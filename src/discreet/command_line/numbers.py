"""What the commands show of a question about a number before it is published: how wide its intervals will be."""

from collections.abc import Sequence
from pathlib import Path

from discreet.command_line.epsilons import Epsilons, documents
from discreet.command_line.networks import chosen_by
from discreet.command_line.screen import say, show_json, show_table, working
from discreet.exact import Exact
from discreet.mechanisms import with_fields
from discreet.planning.number_accuracy import NumberWidths, WishedWidth, expected_widths
from discreet.show import charts
from discreet.study import Question


def plan_number(
    question: Question,
    named: Epsilons,
    epsilons: Sequence[Exact],
    sizes: Sequence[int],
    level: float,
    width: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Show the widths of both rows for several epsilons or sizes, what bounds cost, and what a desired width needs."""
    mechanism, model = question.mechanism, question.model
    who = model.protects.removeprefix("one ") + "s"
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons]
    others += [with_fields(mechanism, size=size) for size in sizes]
    with working("reading made-up studies", as_json):
        rows = [expected_widths(other, level) for other in others]
        stated = expected_widths(mechanism, level)
        needed = sampled = None
        if width is not None:
            wished = WishedWidth(mechanism, width, level)
            needed = wished.for_records()
            sampled = wished.for_population() if width > stated.exact_population else None
    if plot is not None:
        points = [
            {"epsilon": named.declared(r.epsilon), "width": r.population, "non_private": r.exact_population}
            for r in rows[: len(epsilons)]
        ]
        title, chosen = f"{question.label}: in the population, {mechanism.size:,} {who}", named.declared(stated.epsilon)
        charts.render(charts.width_chart(points, title, stated.unit, chosen, named.unit), plot)
    if as_json:
        facts: dict[str, object] = {"question": question.name, "mechanism": type(mechanism).__name__}
        facts |= {"reason": question.reason, "rows": documents(named, [row.document() for row in rows])}
        return show_json(
            facts
            | (
                {}
                if width is None
                else {"wished": {"width": width, "epsilon_needed": needed, "epsilon_needed_for_population": sampled}}
            )
        )
    show_table(
        f"{question.label}: expected {level:.0%} widths in {stated.unit}",
        (*named.heads, who, f"these {who}", "population", "with exact numbers"),
        [(*named.cells(row.epsilon), *_figures(row)) for row in rows],
    )
    low, high = float(model.bounds.low), float(model.bounds.high)
    ends = f"{model.shown(low)} to {model.shown(high)}"
    say(
        *named.sentence,
        f"Averages over made-up {who} spread between the bounds; the first width is due to privacy alone.",
        f"Noise is proportional to the distance between the bounds ({ends}): bounds half as far apart would halve it, "
        "but cut off (clip) what lies beyond them.",
        *_wish(stated, width, needed, named, who),
        *_wish_of_population(stated, width, sampled, named, who),
        *_poor(stated, high - low, who),
        *chosen_by(question),
        *([] if plot is None else [f"Wrote {plot}."]),
    )
    return None


def _figures(row: NumberWidths) -> tuple[str, ...]:
    widths = (row.records, row.population, row.exact_population)
    return (str(row.size), *(f"{width:.4g}" for width in widths))


def _wish(stated: NumberWidths, width: float | None, needed: float | None, named: Epsilons, who: str) -> list[str]:
    """Say which epsilon, or which bounds, would give the desired width for the records."""
    if width is None:
        return []
    first = (
        f"about {named.words(needed)}"
        if needed
        else ("no epsilon up to 100, because the cells are too coarse; ask for more cells")
    )
    share = width / stated.records if stated.records > 0 else 1.0
    second = f"bounds {share:.2g} times as far apart" if share < 1 else "the declared bounds"
    return [f"A width of {width:g} for these {who} needs {first}; at {named.words(stated.epsilon, '.4g')}, {second}."]


def _wish_of_population(
    stated: NumberWidths, width: float | None, needed: float | None, named: Epsilons, who: str
) -> list[str]:
    """Say which epsilon, or how many records, would give the desired width for the population."""
    if width is None:
        return []
    if needed is not None:
        return [f"For the population it needs about {named.words(needed)}."]
    more = stated.size * (stated.exact_population / width) ** 2
    return [
        f"For the population no epsilon gives it: sampling alone leaves {stated.exact_population:.4g}. It needs about "
        f"{more:,.0f} {who}."
        if more > stated.size
        else "For the population no epsilon up to 100 gives it, because the cells are too coarse; ask for more cells."
    ]


def _poor(stated: NumberWidths, span: float, who: str) -> list[str]:
    """Warn if intervals will cover most of the range."""
    if stated.unit == "probability" or stated.records < 0.5 * span:
        return []
    return [
        f"These intervals will cover most of the range between the bounds: more {who} or a larger epsilon is needed."
    ]
