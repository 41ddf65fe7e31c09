"""What privacy costs: how a ledger was spent, what releases cost together, what an epsilon buys."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite

from discreet._core.errors import DeclarationError
from discreet.ledger import Body, Ledger
from discreet.privacy import EVERYONE, Adjacency, Amount, Totals, left_text, read_amount, spent_text
from discreet.report import BAND, BLUE, GREY, PALE, VERMILION
from discreet.report.charts._drawing import WIDTH, Spec, chart, layer, lines_of, measured, named_rows, row_height, words

MOST_CHARGES = 40
"""A budget with more charges shows the earliest of them as one."""


def width_chart(
    rows: Sequence[Mapping[str, float]],
    title: str,
    unit: str | None = None,
    chosen: float | None = None,
    of: str = "epsilon",
) -> Spec:
    """Draw the expected width of an interval against epsilon, and the width that exact statistics would give.

    Each row has the keys 'epsilon', 'width', 'exact_width' and 'mc_error'; only these points are drawn, with a bar of
    two Monte Carlo errors on both sides. Widths are shares unless a unit is named. `chosen` is the epsilon that was
    decided on; a line marks it. `of` names what epsilon is counted in.
    """
    values = [{key: float(row[key]) for key in ("epsilon", "width", "exact_width", "mc_error")} for row in rows]
    for row in values:
        row |= {"low": max(0.0, row["width"] - 2 * row["mc_error"]), "high": row["width"] + 2 * row["mc_error"]}
    values.sort(key=lambda row: row["epsilon"])
    if not values or values[0]["epsilon"] <= 0:
        raise DeclarationError("A chart of widths needs at least one row, each with an epsilon above 0.")
    few = len(values) <= 12
    ticks = {"values": [row["epsilon"] for row in values]} if few else {}
    axis = {"title": f"{of}, on a logarithmic scale (more privacy to the left)", "format": "~g", "grid": False}
    x = measured("epsilon", scale={"type": "log", "nice": False}, axis={**axis, **ticks, "labelSeparation": 8})
    scale: Spec = {"title": "Expected width of the interval", "format": "%"}
    if unit is not None:
        scale = {"title": lines_of(f"Expected width of the interval, {unit}", 44), "format": ",~r"}
    y = measured("width", axis={**scale, "tickCount": 5})
    exact = measured("exact_width")
    point = {"type": "point", "filled": True, "fill": BLUE, "size": 70 if few else 25}
    plain = {"type": "point", "filled": True, "fill": GREY, "shape": "diamond", "size": 50 if few else 20}
    private = words(align="left", dx=10, dy=-10, fill=BLUE, fontWeight="bold")
    known = words(align="left", dx=14, fill=GREY)
    layers = [
        *_chosen(chosen, x),
        layer(plain, {"x": x, "y": exact}),
        layer({"type": "rule", "stroke": BLUE}, {"x": x, "y": measured("low"), "y2": {"field": "high"}}),
        layer(point, {"x": x, "y": y}),
        layer(private, {"x": x, "y": y, "text": {"value": "with privacy"}}, values[:1]),
        layer(
            known,
            {"x": x, "y": exact, "text": {"value": "exact counts" if unit is None else "exact statistics"}},
            values[-1:],
        ),
    ]
    return chart(values, {"text": lines_of(title, 68)}, {"width": WIDTH, "height": 260, "layer": layers})


def _chosen(epsilon: float | None, x: Spec) -> list[Spec]:
    """Return a line at the epsilon that was decided on, with its name above it."""
    if epsilon is None:
        return []
    row, text = [{"epsilon": epsilon}], {"value": f"chosen: {epsilon:g}"}
    return [
        layer({"type": "rule", "stroke": VERMILION, "strokeWidth": 2}, {"x": x}, row),
        layer(words(dy=-9, fill=VERMILION), {"x": x, "y": {"value": 0}, "text": text}, row),
    ]


def budget_chart(ledger: Ledger) -> Spec:
    """Draw how a ledger's budget was spent: one bar for each charge, starting where the one before ended.

    Where groups are charged separately and a record is of one of them, there is one bar for everyone, and one for each
    group, which starts where that for everyone ended. The scale is the currency of the ledger's accountant: epsilon, or
    rho for zCDP.
    """
    entries = ledger.entries()
    created, newest = entries[0].body, entries[-1].body
    spent, limit = read_amount(newest["spent"]), read_amount(newest["limit"])
    name = next(iter(limit.document()))
    gone, most = getattr(spent, name), getattr(limit, name)
    left = _bar("left to spend", gone, max(most, gone), most) | {"cost": left_text(max(most, gone) - gone)}
    rows = [*_charges([entry.body for entry in entries if entry.kind == "charge"], name), left]
    by_group = bool(created["groups"]) and Adjacency(created["adjacency"]) is Adjacency.ADD_OR_REMOVE
    rows = _groups(created["groups"], newest, name) if by_group else rows
    rows = [row | {"index": index} for index, row in enumerate(rows)]
    names = [lines_of(row["label"], 44, most=2) for row in rows]
    y, at = named_rows(names), measured("limit")
    x = measured("start", axis={"title": f"{name}, added up", "tickCount": 6})
    pale = 0 if by_group else len(rows) - 1
    fill = {"condition": {"test": f"datum.index == {pale}", "value": PALE}, "value": BLUE}
    whole_row = {"y": y | {"bandPosition": 0}, "y2": {"field": "index", "bandPosition": 1}}
    top, right, first, beside = {"value": 0}, {"value": "width"}, rows[:1], {"align": "left", "dx": 14}
    layers = [
        layer({"type": "bar", "height": 18}, {"y": y, "x": x, "x2": {"field": "end"}, "fill": fill}),
        layer({"type": "rule", "stroke": VERMILION, "strokeWidth": 2}, {"x": at, **whole_row}),
        layer(words(dy=-9, fill=VERMILION, align="right"), {"x": at, "y": top, "text": {"value": "limit"}}, first),
        layer(words(**beside), {"y": y, "x": right, "text": {"field": "cost"}}),
        layer(words(**beside, dy=-9, fill=GREY), {"x": right, "y": top, "text": {"value": name}}, first),
    ]
    whose = created["population"] or str(ledger.place).split("/")[-1]
    title = _budget_title(whose, ledger, spent, limit, ledger.declared_limit)
    return chart(rows, title, {"width": WIDTH, "height": row_height(names, 26), "layer": layers})


def composition_chart(totals: Totals, number: int) -> Spec:
    """Draw what several releases cost together by each rule that says something."""
    rules = {
        "basic": "basic: epsilons add",
        "advanced": "advanced, closed form",
        "zcdp": "zCDP: rhos add",
        "planned": "as one plan: privacy losses convolved",
    }
    figures = [(rules[rule], float(getattr(totals, rule))) for rule in rules]
    known = [(rule, epsilon) for rule, epsilon in figures if isfinite(epsilon)]
    rows = [
        {"index": index, "rule": rule, "epsilon": epsilon, "text": f"{epsilon:.4g}"}
        for index, (rule, epsilon) in enumerate(known)
    ]
    names = [[rule] for rule, _ in known]
    y, x = named_rows(names), measured("epsilon", axis={"title": "epsilon", "tickCount": 6})
    least = min(epsilon for _, epsilon in known)
    fill = {"condition": {"test": f"datum.epsilon == {least!r}", "value": BLUE}, "value": BAND}
    layers = [
        layer({"type": "bar", "height": 18}, {"y": y, "x": x, "fill": fill}),
        layer(words(align="left", dx=6), {"y": y, "x": x, "text": {"field": "text"}}),
    ]
    title = {
        "text": f"{number} releases together",
        "subtitle": [f"at delta = {spent_text(totals.delta)}; the plan must be fixed before the first draw"],
    }
    return chart(rows, title, {"width": WIDTH, "height": row_height(names, 26), "layer": layers})


def _budget_title(name: str, ledger: Ledger, spent: Amount, limit: Amount, declared: Amount) -> Spec:
    unit = next(iter(limit.document()))
    gone, most = getattr(spent, unit), getattr(limit, unit)
    over = "; the limit was later lowered below this" if gone > most else ""
    lines = [f"{unit}: {spent_text(gone)} of {left_text(most)} spent{over}"]
    lines += [f"delta: {spent_text(spent.delta)} of {left_text(limit.delta)} spent"] if limit.delta else []
    lines += [f"zCDP, converted from a limit of {declared.words(left_text)}"] if unit == "rho" else []
    lines += lines_of(f"protects {ledger.created['unit']} (neighbours: {ledger.change})", 80)
    return {"text": lines_of(f"Privacy budget: {name}", 68), "subtitle": lines}


def _charges(bodies: list[Body], name: str) -> list[Spec]:
    """Return a bar for each charge, as long as what it added; if there are many, the early ones together."""
    early = len(bodies) - MOST_CHARGES + 1 if len(bodies) > MOST_CHARGES else 0
    ends = [Fraction(body["spent"][name]) for body in bodies]
    limits = [Fraction(body["limit"][name]) for body in bodies]
    starts = [Fraction(0), *ends]
    rows = [_bar(f"the first {early} charges", Fraction(0), ends[early - 1], limits[early - 1])] if early else []
    labels = [body["label"] for body in bodies]
    for index, (start, end, limit) in list(enumerate(zip(starts, ends, limits, strict=False)))[early:]:
        label = labels[index]
        which = f" ({labels[: index + 1].count(label)})" if labels.count(label) > 1 else ""
        rows.append(_bar(label + which, start, end, limit))
    return rows


def _groups(groups: Sequence[str], newest: Body, name: str) -> list[Spec]:
    """Return a bar for everyone, and one for each group beside it."""
    shares = {group: Fraction(amount[name]) for group, amount in newest["shares"].items()}
    everyone, limit = shares.pop(EVERYONE), Fraction(newest["limit"][name])
    bars = (_bar(group, everyone, everyone + shares[group], limit) for group in groups)
    return [_bar("everyone", Fraction(0), everyone, limit), *bars]


def _bar(label: str, start: Fraction, end: Fraction, limit: Fraction) -> Spec:
    cost = spent_text(end - start)
    return {"label": label, "start": float(start), "end": float(end), "limit": float(limit), "cost": cost}
