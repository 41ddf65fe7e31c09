"""What helps to choose and to check: a ranking of mechanisms, and what audits have shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet._core.errors import DeclarationError
from discreet._core.exact import exact_text
from discreet.inference import percent_text
from discreet.report import BLUE, GREY, INK, VERMILION
from discreet.report.charts._drawing import WIDTH, Spec, chart, layer, lines_of, measured, named_rows, row_height, words

if TYPE_CHECKING:
    from discreet.planning import Ranking  # which other charts do not need
    from discreet.verification import Audit

_REFERENCE: Spec = {"type": "rule", "stroke": GREY, "strokeDash": [6, 4]}


def ranking_chart(ranking: "Ranking") -> Spec:
    """Draw what decides a ranking: the expected log score of every mechanism as a bar, else the mean width."""
    best = ranking.best.accuracy
    is_scored = best.log_score is not None and best.exact_log_score is not None
    known = best.exact_log_score if is_scored else best.exact_width
    rows = [
        {
            "index": index,
            "figure": entry.accuracy.log_score if is_scored else entry.accuracy.width,
            "text": f"{entry.accuracy.width:.3g} wide",
        }
        for index, entry in enumerate(ranking.entries)
    ]
    names = [lines_of(entry.name, 40) for entry in ranking.entries]
    y = named_rows(names)
    title = "expected log score, nats" if is_scored else f"expected {percent_text(best.level, '')} width, {best.unit}"
    x = measured("figure", axis={"title": title, "tickCount": 6})
    at = {"x": {"datum": known, "type": "quantitative"}}
    exact = {**at, "y": {"value": 0}, "text": {"value": "exact statistics"}}
    layers = [
        layer({"type": "bar", "height": 18, "color": BLUE}, {"y": y, "x": x}),
        layer(_REFERENCE, at),
        layer(words(align="left", dx=14), {"y": y, "x": {"value": "width"}, "text": {"field": "text"}}),
        layer(words(dy=-9, fill=GREY, align="right" if is_scored else "left"), exact, [{}]),
    ]
    stated = f"epsilon = {exact_text(ranking.epsilon)}, delta = {exact_text(ranking.delta)}"
    heading = {
        "text": f"{ranking.records} at {stated}",
        "subtitle": [f"on the right: mean width of {percent_text(best.level, '')} intervals"],
    }
    return chart(rows, heading, {"width": WIDTH, "height": row_height(names, 26), "layer": layers})


def audit_chart(audits: Sequence[tuple[str, "Audit"]]) -> Spec:
    """Draw by name the epsilon that audits have shown, beside what is claimed: a bar beyond its mark is a violation."""
    if not audits:
        raise DeclarationError("A chart of audits needs at least one audit. Nothing was drawn.")
    rows = [
        {
            "index": index,
            "shown": found.epsilon_lower,
            "claimed": float(found.claimed.epsilon),
            "text": "claim refuted" if found.violates else "",
            "violates": found.violates,
        }
        for index, (_, found) in enumerate(audits)
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
