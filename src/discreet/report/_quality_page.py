"""The quality page of synthetic records: margins beside those of the release, with intervals, and where not to trust.

It is made from the release and the records alone, so it is as safe to share as these. For the holder's own eyes the
exact counts can stand beside everything; such a page says so at its top, and nothing protects it. Pages stand alone:
they hold no script and ask for nothing from anywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.notebook import one_line
from discreet.inference import Row, percent_text, remarks
from discreet.privacy import spent_text
from discreet.records import as_source, text_of
from discreet.report._theme import PAGE_COLOURS
from discreet.synthesis import BY_THE_MODEL, SynthesisPosterior, SyntheticRecords

LEVEL = 0.9
_MOST_PAIRS, _DOUBTFUL = 40, 12  # pairs in the table of margins, and in the list of those not to trust
_STYLE = """
* { box-sizing: border-box } body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 70rem;
  padding: 1rem 1.2rem 3rem; color: var(--ink); background: var(--paper); overflow-wrap: anywhere }
h1 { font-size: 1.6rem; margin: .6rem 0 } h2 { font-size: 1.2rem; margin: 1.9rem 0 .4rem }
h3 { font-size: 1rem; margin: 1rem 0 .2rem }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: .8rem 0 } dt { color: var(--soft); font-size: .87rem }
dd { margin: 0; font-variant-numeric: tabular-nums } .hint { color: var(--soft); font-size: .93rem }
.warning { border-left: .4rem solid var(--bad); padding: .5rem .9rem; margin: .8rem 0; background: var(--pale) }
.columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(31rem, 1fr)); gap: .2rem 2.2rem }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .93rem; overflow-wrap: normal }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line) }
th { color: var(--soft); font-weight: 600 }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.off { color: var(--bad); font-weight: 600 }
svg { display: block } svg text { fill: var(--ink); font-size: 12px }
.all { stroke: var(--line); stroke-width: 2 } .held { stroke: var(--bar); stroke-width: 6; opacity: .55 }
.mean { fill: var(--bar) } .made { fill: none; stroke: var(--ink); stroke-width: 1.6 }
.true { stroke: var(--bad); stroke-width: 2.4 }
.cell { stroke: var(--paper); stroke-width: 1 } .open { fill: none; stroke: var(--bad); stroke-width: 1.4 }
@media (max-width: 40rem) { .columns { grid-template-columns: 1fr } }
"""


@dataclass(frozen=True, eq=False)
class Quality:
    """What a page compares: a posterior, synthetic records, and for the holder alone the exact counts of all pairs."""

    posterior: SynthesisPosterior
    records: Sequence[SyntheticRecords]
    truth: Counts | None = None

    @classmethod
    def with_truth(cls, posterior: SynthesisPosterior, records: Sequence[SyntheticRecords], data: object) -> "Quality":
        """Return what is compared beside the real records: for the holder's eyes only."""
        tables = as_source(data).count_families(posterior.model.tables)
        return cls(posterior, records, np.concatenate([table.ravel() for table in tables]))

    @cached_property
    def made(self) -> list[Floats]:
        """Return the shares of all pairs among the synthetic records, of all sets together."""
        return _shares(self.posterior.model.split(sum(each.counts for each in self.records)))

    @cached_property
    def made_ones(self) -> list[Floats]:
        """Return the shares of single columns among the synthetic records."""
        return _shares(self.posterior.model.one_way(sum(each.counts for each in self.records)))

    @cached_property
    def true(self) -> list[Floats] | None:
        """Return the exact shares of all pairs."""
        return None if self.truth is None else _shares(self.posterior.model.split(self.truth))

    @cached_property
    def true_ones(self) -> list[Floats] | None:
        """Return the exact shares of single columns."""
        return None if self.truth is None else _shares(self.posterior.model.one_way(self.truth))

    @cached_property
    def own(self) -> dict[tuple[int, int], tuple[Floats, Floats, Floats]]:
        """Return for each measured pair the shares among the records that were published, and the ends of intervals."""
        found, n = {}, self.posterior.solution.size
        for pair in self.posterior.sums.pairs:
            a, b = pair
            rows = self.posterior.counts(self._name(a), self._name(b), level=LEVEL)
            shape = (self.posterior.model.levels[a], self.posterior.model.levels[b])
            ends = np.array([(row.mean, row.low, row.high) for row in rows]).T / n
            mean, low, high = (each.reshape(shape) for each in ends)
            found[a, b] = mean, low, high
        return found

    def _name(self, number: int) -> str:
        return self.posterior.columns[number].name

    def inside(self, tables: Sequence[Floats], ones: Sequence[Floats]) -> tuple[float, float]:
        """Return which part of the cells of columns, and of measured pairs, lies within the release's intervals."""
        single, double = [], []
        for number, table in enumerate(ones):
            rows = self.posterior.counts(self._name(number), level=LEVEL)
            n = self.posterior.solution.size
            single += [row.low / n <= value <= row.high / n for row, value in zip(rows, table.tolist(), strict=True)]
        for index, pair in enumerate(self.posterior.model.pairs):
            if pair in self.own:
                _, low, high = self.own[pair]
                double += ((low <= tables[index]) & (tables[index] <= high)).ravel().tolist()
        return float(np.mean(single)), float(np.mean(double)) if double else 1.0


def _shares(tables: Sequence[Counts]) -> list[Floats]:
    return [np.asarray(table / max(int(table.sum()), 1), dtype=float) for table in tables]


def quality_page(quality: Quality) -> str:
    """Return the page as HTML."""
    posterior, release = quality.posterior, quality.posterior.releases[0]
    title = one_line(f"Synthetic records: {release.label}")
    sections = [
        _summary(quality),
        _margins(quality),
        _dependence(quality),
        _pairs(quality),
        _doubts(quality),
        _method(posterior),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{PAGE_COLOURS}{_STYLE}</style>\n</head>\n<body>",
            f"<header><h1>{escape(title)}</h1></header>\n<main>",
            *sections,
            "</main>\n</body>\n</html>\n",
        ]
    )


def _summary(quality: Quality) -> str:
    posterior, release = quality.posterior, quality.posterior.releases[0]
    given, sets = release.guarantee, quality.records
    made = f"{len(sets[0]):,}" if len(sets) == 1 else f"{len(sets)} sets of {len(sets[0]):,}"
    facts = [
        ("records published", f"{posterior.about}{posterior.size:,}"),
        ("synthetic records", made),
        ("columns", f"{len(posterior.columns)}"),
        ("pairs measured", f"{len(posterior.sums.pairs)} of {len(posterior.model.pairs)}"),
        ("epsilon", spent_text(given.epsilon)),
        ("delta", spent_text(given.delta)),
        ("protects", release.unit.description),
    ]
    cells = "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(one_line(b))}</dd></div>" for a, b in facts)
    single, double = quality.inside(quality.made, quality.made_ones)
    words = [
        f"Of the synthetic records, {single:.0%} of the shares of single levels and {double:.0%} of those of measured "
        f"pairs of levels lie within the {percent_text(LEVEL)} intervals of the release."
    ]
    warnings = []
    if release.simulated:
        warnings.append("Simulated: this is a rehearsal with simulated records, not a release.")
    if quality.true is not None and quality.true_ones is not None:
        warnings.append(
            "For the data holder's eyes only: this page shows exact counts of the real records, which nothing "
            "protects. Do not share it."
        )
        known_single, known_double = quality.inside(quality.true, quality.true_ones)
        apart = np.mean([np.abs(a - b).sum() / 2 for a, b in zip(quality.made, quality.true, strict=True)])
        words.append(
            f"The exact shares lie within them in {known_single:.0%} and {known_double:.0%}. The tables of pairs of "
            f"the synthetic records are {apart:.3f} from the true ones in total variation, on average."
        )
    warnings.append(
        "Intervals come from the release, not from the records. Records may be looked at, and programs tried on "
        "them; an interval or a test computed from them as if they were real claims too much."
    )
    boxes = "".join(f'<p class="warning">{escape(each)}</p>' for each in warnings)
    return f"<dl>{cells}</dl>{boxes}{''.join(f'<p>{escape(each)}</p>' for each in words)}"


def _margins(quality: Quality) -> str:
    tables = []
    for number, column in enumerate(quality.posterior.columns):
        rows = quality.posterior.counts(column.name, level=LEVEL)
        true = None if quality.true_ones is None else quality.true_ones[number]
        names = [str(text_of(level)) for level in column.levels]
        body = "".join(_lines(names, rows, quality.posterior.solution.size, quality.made_ones[number], true))
        tables.append(f"<div><h3>{escape(one_line(column.name))}</h3>{_table(body, true is not None)}</div>")
    legend = (
        f"bar: {percent_text(LEVEL)} interval of the release, always drawn in one length; dot: its estimate; "
        f"circle: synthetic records{'; line: exact' if quality.truth is not None else ''}"
    )
    return f"""<section><h2>Single columns</h2><p class="hint">Shares of these records; {escape(legend)}.</p>
<div class="columns">{"".join(tables)}</div></section>"""


def _table(body: str, with_truth: bool) -> str:
    heads = ["", "release", "interval", "synthetic", *(["exact"] if with_truth else []), ""]
    cells = "".join(f'<th scope="col"{"" if index == 0 else " class=figure"}>{h}</th>' for index, h in enumerate(heads))
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _lines(names: Sequence[str], rows: Sequence[Row], size: float, made: Floats, true: Floats | None) -> Iterator[str]:
    for index, row in enumerate(rows):
        low, mean, high = (value / size for value in (row.low, row.mean, row.high))
        own, exact = float(made.ravel()[index]), None if true is None else float(true.ravel()[index])
        name = f"<td>{escape(one_line(names[index]))}</td>"
        figures = [f"{mean:.4f}", f"{low:.4f} to {high:.4f}"]
        cells = "".join(f'<td class="figure">{each}</td>' for each in figures)
        off = " off" if not low - 1e-12 <= own <= high + 1e-12 else ""
        cells += f'<td class="figure{off}">{own:.4f}</td>'
        if exact is not None:
            cells += f'<td class="figure{" off" if not low <= exact <= high else ""}">{exact:.4f}</td>'
        yield f"<tr>{name}{cells}<td>{_strip(low, mean, high, own, exact)}</td></tr>"


def _strip(low: float, mean: float, high: float, made: float, true: float | None) -> str:
    """Return a picture of an interval, in the middle of three times its length, with what lies inside and beside."""
    middle, half = (low + high) / 2, max((high - low) / 2, 1e-12)
    a, m, b, c, t = (
        45 + 13 * min(max((value - middle) / half, -3.0), 3.0) for value in (low, mean, high, made, true or 0.0)
    )
    exact = "" if true is None else f'<path class="true" d="M{t:.1f} 1v14"/>'
    return (
        f'<svg width="90" height="16" viewBox="0 0 90 16" role="img" aria-label="from {low:.4f} to {high:.4f}">'
        f'<path class="all" d="M6 8h78"/><path class="held" d="M{a:.1f} 8H{b:.1f}"/>{exact}'
        f'<circle class="mean" cx="{m:.1f}" cy="8" r="2.6"/><circle class="made" cx="{c:.1f}" cy="8" r="4.6"/></svg>'
    )


def _dependence(quality: Quality) -> str:
    """Return the map of all pairs: how far each is from independence, and which were measured."""
    posterior, rows = quality.posterior, quality.posterior.dependence(LEVEL)
    if not rows:
        return ""
    names = [column.name for column in posterior.columns]
    found = {row.quantity: row for row in rows}
    top = max(max(row.mean for row in rows), 1e-9)
    side = 26 if len(names) <= 20 else 16
    left = 8 + 7 * min(max(map(len, names)), 24)
    cells = []
    for a, b in combinations(range(len(names)), 2):
        row = found[f"{names[a]} and {names[b]}"]
        x, y = left + side * a, side * (b - 1)
        shade = (row.mean / top) ** 0.5
        tip = f"{row.quantity}: {row.mean:.3f} ({row.low:.3f} to {row.high:.3f})"
        cells.append(
            f'<rect class="cell" x="{x}" y="{y}" width="{side}" height="{side}" fill="var(--bar)" '
            f'fill-opacity="{0.04 + 0.96 * shade:.2f}"><title>{escape(one_line(tip))}</title></rect>'
        )
        if (a, b) not in posterior.sums.pairs:
            cells.append(f'<path class="open" d="M{x + 4} {y + side - 4}l{side - 8} {8 - side}"/>')
    labels = [
        f'<text x="{left - 6}" y="{side * (b - 1) + side / 2 + 4}" text-anchor="end">{_short(names[b])}</text>'
        for b in range(1, len(names))
    ]
    bottom = side * (len(names) - 1)
    labels += [
        f'<text transform="translate({left + side * a + side / 2 + 4} {bottom + 8}) rotate(-60)" text-anchor="end">'
        f"{_short(names[a])}</text>"
        for a in range(len(names) - 1)
    ]
    width, height = left + side * len(names), bottom + 8 + int(6.4 * min(max(map(len, names)), 24))
    return f"""<section><h2>Which columns depend on each other</h2>
<p class="hint">How far the table of each pair is from independence, in total variation, from noisy scores that were
asked of all pairs. Darker is further, up to {top:.2f}. A stroke: not measured, known {BY_THE_MODEL}.</p>
<div class="wide"><svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"
aria-label="Dependence of pairs of columns">{"".join(cells)}{"".join(labels)}</svg></div></section>"""


def _short(name: str) -> str:
    return escape(one_line(name if len(name) <= 24 else name[:23] + "…"))


def _pairs(quality: Quality) -> str:
    """Return for the most dependent measured pairs how close the synthetic records are to the release's own table."""
    posterior, names = quality.posterior, [column.name for column in quality.posterior.columns]
    found = {row.quantity: row for row in posterior.dependence(LEVEL)}
    lines = []
    for index, (a, b) in enumerate(posterior.model.pairs):
        if (a, b) not in quality.own:
            continue
        key = f"{names[a]} and {names[b]}"
        mean, low, high = quality.own[a, b]
        made = quality.made[index]
        held = float(((low <= made) & (made <= high)).mean())
        width = float((high - low).mean())
        row = found.get(key)
        figures = [
            "" if row is None else f"{row.mean:.3f}",
            f"{width:.4f}",
            f"{np.abs(made - mean).sum() / 2:.3f}",
            f"{held:.0%}",
        ]
        if quality.true is not None:
            true = quality.true[index]
            figures += [f"{np.abs(made - true).sum() / 2:.3f}", f"{float(((low <= true) & (true <= high)).mean()):.0%}"]
        cells = "".join(f'<td class="figure">{each}</td>' for each in figures)
        lines.append((0.0 if row is None else -row.mean, f"<tr><td>{escape(one_line(key))}</td>{cells}</tr>"))
    lines.sort(key=lambda line: line[0])
    heads = ["pair", "from independence", "mean width", "synthetic to release", "cells inside"]
    heads += ["synthetic to exact", "exact inside"] if quality.true is not None else []
    top = "".join(f'<th scope="col"{"" if i == 0 else " class=figure"}>{h}</th>' for i, h in enumerate(heads))
    body = "".join(line for _, line in lines[:_MOST_PAIRS])
    more = "" if len(lines) <= _MOST_PAIRS else f" These are the {_MOST_PAIRS} most dependent of {len(lines)}."
    return f"""<section><h2>Measured pairs</h2>
<p class="hint">Every cell of these tables has a {percent_text(LEVEL)} interval of its own in the release, of this mean
width. Distances are total variation; that to the release includes its noise.{more}</p>
<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></section>"""


def _doubts(quality: Quality) -> str:
    """Return where the records should not be trusted, from the release alone."""
    posterior = quality.posterior
    bounds = posterior.bounds(LEVEL)
    known = {f"{a} and {b}" for a, b in posterior.measured_pairs()}
    open_ = [row for row in posterior.dependence(LEVEL) if row.quantity not in known]
    open_.sort(key=lambda row: -row.high)
    by_name: Mapping[str, float] = {f"{a} and {b}": bound for (a, b), bound in bounds.items()}
    items = []
    for row in open_[:_DOUBTFUL]:
        words = f"{row.quantity}: known {BY_THE_MODEL}; it may be up to {row.high:.3f} from independence"
        words += f"; the model is off by at most {by_name[row.quantity]:.3f}" if row.quantity in by_name else ""
        items.append(words)
    rare = [
        f"{name}: {count} of {len(levels)} levels may not occur at all, as far as the release can tell"
        for name, count, levels in _rare(posterior)
    ]
    more = f" and {len(open_) - _DOUBTFUL} further pairs" if len(open_) > _DOUBTFUL else ""
    pairs = "".join(f"<li>{escape(one_line(each))}</li>" for each in items)
    others = "".join(f"<li>{escape(one_line(each))}</li>" for each in rare)
    return f"""<section><h2>Where not to trust these records</h2>
<ul><li>Combinations of three and more columns: they are known {BY_THE_MODEL}, and have no interval.</li>
<li>Numbers inside a band: they follow the declared rule, not the records.</li>{others}</ul>
{f"<h3>Pairs that were not measured</h3><ul>{pairs}</ul><p>{escape(more)}</p>" if items else ""}</section>"""


def _rare(posterior: SynthesisPosterior) -> Iterator[tuple[str, int, tuple[object, ...]]]:
    for column in posterior.columns:
        count = sum(row.low <= 0 for row in posterior.counts(column.name, level=LEVEL))
        if count:
            yield column.name, count, column.levels


def _method(posterior: SynthesisPosterior) -> str:
    release = posterior.releases[0]
    lines = [
        f"The release was {posterior.method}.",
        *remarks(posterior, LEVEL),
        f"Guarantee: {release.guarantee!r}.",
        f"Release “{release.label}”, by {type(release.mechanism).__name__}, SHA-256 {release.digest}.",
    ]
    return f"<section><h2>Method</h2>{''.join(f'<p>{escape(one_line(line))}</p>' for line in lines)}</section>"
