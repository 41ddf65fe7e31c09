"""A ledger as one page for people: what, when, at which cost, what is left, and a picture. It needs no network.

Labels and names were written by others: they are text here and nothing else. The page asks for nothing from anywhere,
and says so to the browser; its one script sorts the table.
"""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from math import floor, log10

from discreet._core.notebook import one_line
from discreet.ledger import Filter, Ledger, LedgerLine, lines_of
from discreet.privacy import left_text, spent_text
from discreet.report._theme import PAGE_COLOURS

_WIDTH, _HEIGHT, _LEFT, _TOP = 760, 260, 60, 16
_MOST_POINTS = 2000  # of the picture; a browser draws no more of them than there are pixels

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper) }
h1 { font-size: 1.5rem; margin-bottom: .2rem } p.facts { color: var(--soft); margin: .15rem 0 }
dl { display: flex; flex-wrap: wrap; gap: .8rem 2.2rem; margin: 1.1rem 0 } dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th button { all: unset; cursor: pointer; font-weight: 600 } th button:focus-visible { outline: 2px solid var(--bar) }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums } td.unseen { color: var(--bad) }
th[aria-sort=ascending] button::after { content: " \\25B2" }
th[aria-sort=descending] button::after { content: " \\25BC" }
svg { max-width: 100%; height: auto } svg text { fill: var(--soft) } .scale { stroke: var(--line) }
.limit { fill: none; stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 4 } svg text.bound { fill: var(--bad) }
.spent { fill: none; stroke: var(--bar); stroke-width: 2 } .area { fill: var(--bar); fill-opacity: .16 }
svg text.sum { fill: var(--blue) }
@media print { th button::after { content: "" } }
"""

_SCRIPT = """
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentElement, row = head.parentElement, body = head.closest("table").tBodies[0];
  const column = [...row.children].indexOf(head), up = head.getAttribute("aria-sort") !== "ascending";
  for (const each of row.children) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = line => line.children[column].dataset.key ?? line.children[column].textContent;
  const number = head.classList.contains("figure");
  const order = (a, b) => number ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b));
  body.append(...[...body.rows].sort((a, b) => up ? order(a, b) : order(b, a)));
});
"""


def ledger_page(ledger: Ledger, wanted: Filter | None = None) -> str:
    """Return the page of a ledger; with a filter, the charges that are wanted."""
    everything = lines_of(ledger)
    shown = everything if wanted is None else [line for line in everything if wanted.wants(line)]
    created, limit, spent = ledger.created, ledger.limit, ledger.spent
    name = next(iter(limit.document()))
    title = f"Privacy budget: {created['population'] or str(ledger.place).split('/')[-1]}"
    facts = [f"Protects {created['unit']}; neighbours: {ledger.change}.", f"Ledger {ledger.place}"]
    facts += [f"Id {ledger.id}; {ledger.head.sequence} entries, head {ledger.head.digest[:16]}..."]
    facts += [f"Moved to {ledger.moved_to}: no further charges are made here."] if ledger.moved_to else []
    figures = [(f"{part} spent", f"{spent_text(getattr(spent, part))} of {left_text(getattr(limit, part))}") for part in
               limit.document() if getattr(limit, part)]  # fmt: skip
    figures += [(f"{name} left", left_text(getattr(limit - spent, name)))]
    if ledger.accountant.value == "zcdp":
        figures += [("limit as declared", ledger.declared_limit.words(left_text))]
    if (period := ledger.this_period) is not None:
        figures += [(f"{name} left in {period[0]}", left_text(getattr(period[1], name)))]
    number = f"{len(everything)}" if len(shown) == len(everything) else f"{len(shown)} shown of {len(everything)}"
    figures += [("charges", number)]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'\">",
            f"<title>{_text(title)}</title>\n<style>{PAGE_COLOURS}{_STYLE}</style>\n</head>",
            f"<body>\n<h1>{_text(title)}</h1>",
            *(f'<p class="facts">{_text(fact)}</p>' for fact in facts),
            "<dl>" + "".join(f"<div><dt>{_text(a)}</dt><dd>{_text(b)}</dd></div>" for a, b in figures) + "</dl>",
            _picture(everything, name, limit_now=getattr(limit, name)),
            _table(shown, list(limit.document())),
            f"<script>{_SCRIPT}</script>\n</body>\n</html>\n",
        ]
    )


def _table(lines: Sequence[LedgerLine], parts: Sequence[str]) -> str:
    heads = [("entry", True), ("when (UTC)", False), ("label", False), ("about", False), ("data", False)]
    heads += [*((part, True) for part in parts), (f"{parts[0]} in all", True), ("outcome", False)]
    cells = "".join(
        f'<th scope="col"{_figure(is_figure)}><button type="button">{_text(head)}</button></th>'
        for head, is_figure in heads
    )
    rows = "\n".join(_row(line, parts) for line in lines)
    return f'<div class="wide"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'


def _row(line: LedgerLine, parts: Sequence[str]) -> str:
    words = [(line.at or "not known").replace("T", " ").rstrip("Z"), line.label, line.about, line.data]
    amounts = [getattr(line.cost, part) for part in parts] + [getattr(line.spent, parts[0])]
    cells = [f'<td class="figure">{line.sequence}</td>', *(f"<td>{_text(word)}</td>" for word in words)]
    cells += [f'<td class="figure" data-key="{float(each)!r}">{_text(spent_text(each))}</td>' for each in amounts]
    unseen = "" if line.outcome == "published" else ' class="unseen"'
    return f"<tr>{''.join(cells)}<td{unseen}>{_text(line.outcome)}</td></tr>"


def _picture(lines: Sequence[LedgerLine], name: str, limit_now: Fraction) -> str:
    """Return steps of what was spent, charge by charge, below the limit as it was."""
    if not lines:
        return "<p>Nothing has been charged yet.</p>"
    few = lines[:: 1 + len(lines) // _MOST_POINTS]
    spent = [0.0, *(float(getattr(line.spent, name)) for line in few)]
    limits = [float(getattr(few[0].limit, name)), *(float(getattr(line.limit, name)) for line in few)]
    limits[-1] = float(limit_now)
    most = 1.08 * max(*spent, *limits)
    across = (_WIDTH - _LEFT - 90) / (len(few) + 1)  # the last step, which is now, has a width too
    right = _LEFT + across * (len(few) + 1)

    def steps(values: Sequence[float]) -> str:
        points = [(_LEFT + across * index, _y(value, most)) for index, value in enumerate(values)]
        stairs = "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:])
        return f"M{points[0][0]:.1f},{points[0][1]:.1f}{stairs}H{right:.1f}"

    bottom = _y(0, most)
    step = _step(most)
    ticks = "".join(
        f'<text x="{_LEFT - 8}" y="{_y(step * index, most) + 4:.1f}" text-anchor="end">{step * index:g}</text>'
        f'<path d="M{_LEFT},{_y(step * index, most):.1f}H{right:.1f}" class="scale"/>'
        for index in range(int(most / step) + 1)
    )
    area = f"{steps(spent)}V{bottom:.1f}H{_LEFT}Z"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" font-size="12" '
        f'aria-label="{_text(name)} spent after each of {len(lines)} charges, and the limit">{ticks}'
        f'<path d="{area}" class="area"/>'
        f'<path d="{steps(spent)}" class="spent"/>'
        f'<path d="{steps(limits)}" class="limit"/>'
        f'<text x="{right + 6:.1f}" y="{_y(limits[-1], most) + 4:.1f}" class="bound">limit</text>'
        f'<text x="{right + 6:.1f}" y="{_y(spent[-1], most) + 4:.1f}" class="sum">spent</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">{_text(name)} after each charge, oldest first</text></svg>'
    )


def _step(most: float) -> float:
    """Return a round distance between marks, so that there are three to eight of them."""
    tenth = 10.0 ** floor(log10(most)) / 10
    return next(tenth * each for each in (1, 2, 5, 10, 20, 50) if most / (tenth * each) <= 7)


def _y(value: float, most: float) -> float:
    return _TOP + (_HEIGHT - _TOP - 36) * (1 - value / most)


def _figure(is_figure: bool) -> str:
    return ' class="figure"' if is_figure else ""


def _text(text: str) -> str:
    return escape(one_line(text))
