"""What helps to choose and to check: a ranking of mechanisms, distances by data, and what audits have shown."""

from collections.abc import Sequence

from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.planning import Audit, ExactAccuracy, Ranking
from discreet.planning.compare_numbers import NumberRanking
from discreet.show.charts.drawing import (
    WIDTH,
    Spec,
    chart,
    layer,
    lines_of,
    measured,
    named_rows,
    row_height,
    words,
)
from discreet.show.theme import BLUE, GREY, INK, VERMILION

_REFERENCE: Spec = {"type": "rule", "stroke": GREY, "strokeDash": [6, 4]}


def ranking_chart(ranking: Ranking | NumberRanking) -> Spec:
    """Draw the expected log score of every mechanism as a bar, up to that of exact counts; of a number, widths."""
    if isinstance(ranking, NumberRanking):
        return _widths_chart(ranking)
    known = ranking.best.accuracy.non_private_log_score
    rows = [
        {
            "place": place,
            "score": entry.accuracy.log_score,
            "text": f"{entry.accuracy.share:.0%}" + (", mostly the prior" if entry.warning else ""),
            "warned": bool(entry.warning),
        }
        for place, entry in enumerate(ranking.entries)
    ]
    names = [lines_of(entry.name, 40) for entry in ranking.entries]
    y = named_rows(names)
    x = measured("score", axis={"title": "expected log score, nats beyond the prior", "tickCount": 6})
    fill = {"condition": {"test": "datum.warned", "value": VERMILION}, "value": BLUE}
    at = {"x": {"datum": known, "type": "quantitative"}}
    exact = {**at, "y": {"value": 0}, "text": {"value": "exact counts"}}
    layers = [
        layer({"type": "bar", "height": 18}, {"y": y, "x": x, "fill": fill}),
        layer(_REFERENCE, at),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
        layer(words(dy=-9, fill=GREY, align="right"), exact, [{}]),
    ]
    stated = f"epsilon = {exact_text(ranking.epsilon)}, delta = {exact_text(ranking.delta)}"
    subtitle = "on the right: the share of the information in exact counts"
    title = {"text": f"{ranking.size:,} records at {stated}", "subtitle": [subtitle]}
    return chart(rows, title, {"width": WIDTH, "height": row_height(names, 26), "layer": layers})


def _widths_chart(ranking: NumberRanking) -> Spec:
    """Draw how wide intervals will be in the population, and the part that exact numbers would leave."""
    rows = [
        {
            "place": place,
            "width": entry.widths.population or entry.widths.records,
            "own": entry.widths.records,
            "text": f"{entry.widths.population or entry.widths.records:.4g}",
        }
        for place, entry in enumerate(ranking.entries)
    ]
    known, names = ranking.best.widths, [lines_of(entry.name, 40) for entry in ranking.entries]
    y = named_rows(names)
    x = measured("width", axis={"title": f"expected {known.level:.0%} width in {known.unit}", "tickCount": 6})
    at = {"x": {"datum": known.exact_population, "type": "quantitative"}}
    exact = {**at, "y": {"value": 0}, "text": {"value": "exact numbers"}}
    layers = [
        layer({"type": "bar", "height": 18, "color": BLUE, "opacity": 0.45}, {"y": y, "x": x}),
        layer({"type": "tick", "thickness": 3, "height": 22, "color": INK}, {"y": y, "x": measured("own")}),
        layer(_REFERENCE, at),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
        layer(words(dy=-9, fill=GREY, align="left"), exact, [{}]),
    ]
    stated = f"epsilon = {exact_text(ranking.epsilon)}, delta = {exact_text(ranking.delta)}"
    subtitle = "bars: for the population; marks: for these records, where only privacy adds width"
    title = {"text": f"{ranking.size:,} records at {stated}", "subtitle": [subtitle]}
    return chart(rows, title, {"width": WIDTH, "height": row_height(names, 26), "layer": layers})


def distance_chart(found: ExactAccuracy) -> Spec:
    """Draw E[H] of the plain reading for every possible count of the first of two cells, and its prior mean."""
    if not found.by_table or any(len(table) != 2 for table in found.by_table):
        raise DeclarationError(
            "Distances by data can be drawn only for two cells whose figures are exact sums. Nothing was drawn."
        )
    rows = [{"count": table[0], "distance": figures[0]} for table, figures in sorted(found.by_table.items())]
    y = measured("distance", axis={"title": "expected Hellinger distance", "tickCount": 5})
    x = measured("count", axis={"title": "true count of the first cell", "grid": False, "tickCount": 6})
    mean = {"y": {"datum": found.hellinger, "type": "quantitative"}}
    named = {**mean, "x": {"value": WIDTH / 2}, "text": {"value": "mean over the prior"}}
    layers = [
        layer(_REFERENCE, mean),
        layer({"type": "line", "stroke": BLUE, "strokeWidth": 3}, {"x": x, "y": y}),
        layer(words(dy=-9, fill=GREY, align="center"), named, [{}]),
    ]
    title = {"text": f"How far the plug-in reading is off, {found.size:,} records"}
    return chart(rows, title, {"width": WIDTH, "height": 260, "layer": layers})


def audit_chart(audits: Sequence[tuple[str, Audit]]) -> Spec:
    """Draw by name the epsilon that audits have shown, beside what is claimed: a bar beyond its mark is a violation."""
    if not audits:
        raise DeclarationError("A chart of audits needs at least one audit. Nothing was drawn.")
    rows = [
        {
            "place": place,
            "shown": found.epsilon_lower,
            "claimed": float(found.claimed.epsilon),
            "text": "claim refuted" if found.violates else "",
            "violates": found.violates,
        }
        for place, (_, found) in enumerate(audits)
    ]
    names = [lines_of(name, 40) for name, _ in audits]
    y = named_rows(names)
    x = measured("shown", axis={"title": "epsilon shown by draws (bar) and claimed (mark)", "tickCount": 6})
    fill = {"condition": {"test": "datum.violates", "value": VERMILION}, "value": BLUE}
    mark = {"type": "tick", "thickness": 3, "height": 22, "color": INK}
    layers = [
        layer({"type": "bar", "height": 18}, {"y": y, "x": x, "fill": fill}),
        layer(mark, {"y": y, "x": measured("claimed")}),
        layer(words(align="left", dx=6), {"y": y, "x": x, "text": {"field": "text"}}),
    ]
    title = {"text": "Black-box audits", "subtitle": [f"confidence {audits[0][1].confidence:g} each"]}
    return chart(rows, title, {"width": WIDTH, "height": row_height(names, 30), "layer": layers})
