"""A one-page account of a release in plain words, for those who must answer for it.

What was published, what is protected and how well, how that was checked, what the results are, and what is not
promised. Every number comes from the release and its posterior, and bounds are rounded to the safe side. All text that
others wrote (labels, names of levels) is written so that it can be nothing but text, in Markdown and in HTML.
"""

import html
import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.columns import Column, text_of
from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.guarantees import Evidence, Guarantee
from discreet.inference import CategoriesPosterior
from discreet.releases import Release

if TYPE_CHECKING:
    from discreet.planning import Certificate

LEVEL = 0.9
"""The level of the intervals in a statement."""
MOST_ROWS = 40
"""A statement shows the results of at most so many cells, the likeliest."""

_EVIDENCE = {
    Evidence.PROVED: "It is proved",
    Evidence.ENUMERATED: "It was computed by comparing all neighbouring tables",
    Evidence.CLAIMED: "**It is only claimed, neither proved nor computed**",
}
_SIMULATED = (
    "> **SIMULATED. This is not a release of real records.** The counts behind it were made up for a rehearsal and no "
    "ledger was charged. No number on this page describes real people."
)


def statement(release: Release, posterior: CategoriesPosterior, certificate: "Certificate | None" = None) -> str:
    """Return a plain-language account of a release, in Markdown.

    `posterior` is what `infer` read from the release, and `certificate` what `verify` found about it.
    """
    if release not in posterior.releases:
        raise DeclarationError(f"The posterior was not read from {release.label!r}. No statement was written.")
    if certificate is not None and _promise(certificate.guarantee) != _promise(release.guarantee):
        raise DeclarationError(f"The certificate is not about {release.label!r}. No statement was written.")
    blocks = [
        f"# {'SIMULATED: ' if release.simulated else ''}Privacy statement: {_plain(release.label)}",
        *([_SIMULATED] if release.simulated else []),
        *_published(release),
        *_protected(release),
        *_guaranteed(release.guarantee),
        *_checked(release, certificate),
        *_results(posterior),
        *_not_promised(release),
    ]
    return "\n\n".join(blocks) + "\n"


def statement_html(markdown: str) -> str:
    """Return a statement as a page of HTML that stands alone and prints well. Only what `statement` writes is read."""
    blocks = [block for block in markdown.split("\n\n") if block.strip()]
    heads = [block[2:] for block in blocks if block.startswith("# ")]
    title = html.escape(html.unescape(heads[0])) if heads else "Privacy statement"
    return _PAGE.format(title=title, style=_STYLE, body="\n".join(_block(block) for block in blocks))


def _promise(guarantee: Guarantee) -> tuple[object, ...]:
    return guarantee.epsilon, guarantee.delta, guarantee.adjacency


def _published(release: Release) -> list[str]:
    columns: Sequence[Column] = release.model.columns
    cells = len(release.model.cells)
    question = " and ".join(f"**{_plain(column.name)}** ({_some_levels(column)})" for column in columns)
    kind = "made-up " if release.simulated else ""
    what = f"{cells} combinations of the levels" if len(columns) > 1 else f"{cells} levels"
    homes = ", ".join(f"{_plain(column.name)} = {_plain(text_of(column.outside))}" for column in columns)
    return [
        "## What was published",
        f"Noisy counts from **{release.mechanism.size:,} {kind}records**. The question: how often does each of the "
        f"{what} of {question} occur? Gaps and values that were not declared are counted as {homes}. The true counts "
        f"were not published: random noise was added to them by `{type(release.mechanism).__name__}`.",
    ]


def _protected(release: Release) -> list[str]:
    unit, change = release.unit, release.guarantee.adjacency.value
    who, what = f"**{_plain(unit.description)}**", "what any single record says is protected, whatever the others are"
    if unit.rows > 1:
        who += f" with up to {unit.rows} records; that nobody has more is the holder's word"
        change += f", up to {unit.rows} times"
        what = "what all records of any single unit say is protected, whatever the others are"
    return [
        "## What is protected",
        f"The unit of protection is {who}. Tables count as neighbours if they differ by this change: {change}. So "
        f"{what}. How many records there are is public.",
    ]


def _guaranteed(guarantee: Guarantee) -> list[str]:
    factor = _power(guarantee.epsilon)
    bound = f"**{_power_in_words(guarantee.epsilon)}** (rounded up)"
    numbers = f"**epsilon = {exact_text(guarantee.epsilon)}, delta = {exact_text(guarantee.delta)}.** "
    if guarantee.delta:
        words = (
            "Whatever the protected content is replaced by, the probability of any set of possible publications "
            f"becomes at most {bound} times what it was, plus delta. Because of delta there is no bound for "
            "every single publication."
        )
        return ["## The guarantee", numbers + words]
    words = (
        f"Whatever the protected content is replaced by, no possible publication becomes more than {bound} times as "
        "likely as it was. Take a reader who knows all other records and has unlimited computers: the odds that this "
        "reader gives to anything about the protected content change by at most that factor, up or down. Readers who "
        "know less may learn from the other records too; see the end of this page."
    )
    return ["## The guarantee", numbers + words, _belief_table(factor)]


def _belief_table(factor: Decimal) -> str:
    rows = []
    for percent in (1, 10, 50):
        chance = Decimal(percent) / 100
        most = 100 * chance * factor / (1 - chance + chance * factor)
        least = 100 * chance / (chance + (1 - chance) * factor)
        cent = Decimal("0.01")
        low, high = least.quantize(cent, rounding=ROUND_FLOOR), most.quantize(cent, rounding=ROUND_CEILING)
        rows.append((f"{percent} %", f"{low} %", f"{high} %"))
    return _table(("chance given before", "after the release at least", "and at most"), rows, words=0)


def _checked(release: Release, certificate: "Certificate | None") -> list[str]:
    given, receipt = release.guarantee, release.receipt
    points = [f"{_EVIDENCE[given.evidence]}: {_plain(given.reason)}."]
    if certificate is None:
        points.append("It was not recomputed for this statement. Anyone can: `discreet.verify(release)`.")
    else:
        found = "; ".join(_plain(check) for check in certificate.checks)
        times = f", {release.unit.rows} times that of one record" if release.unit.rows > 1 else ""
        number = f"epsilon = {certificate.epsilon:.12g}{times}"
        points.append(f"It was recomputed as {number} ({certificate.evidence.value}): {found}.")
    if receipt is None:
        points.append("There is no receipt: **no ledger was charged**.")
    else:
        points.append(
            f"It was charged as **entry {receipt.sequence}** of the ledger, with hash {_plain(receipt.head)}."
        )
    points.append(f"Fingerprint of the release: {release.digest}, made with {_plain(release.software)}.")
    points.append("No document can show that the holder counted the right records and drew the noise as stated.")
    return ["## How it was checked", _list(points)]


def _results(posterior: CategoriesPosterior) -> list[str]:
    means, intervals, shares = posterior.mean, posterior.interval(LEVEL), posterior.privacy_share(LEVEL)
    narrowest = min(interval.width for interval in intervals.values())
    digits = 1 if narrowest >= 0.01 else 2 if narrowest >= 0.001 else 3
    cells = sorted(means, key=lambda cell: means[cell], reverse=True)[:MOST_ROWS] if len(means) > MOST_ROWS else means
    rows = []
    for cell in cells:
        names = [_plain(text_of(part)) for part in (cell if isinstance(cell, tuple) else (cell,))]
        low, high = (f"{100 * end:.{digits}f}" for end in intervals[cell])
        rows.append((*names, f"{100 * means[cell]:.{digits}f} %", f"{low} to {high} %", f"{100 * shares[cell]:.0f} %"))
    heads = [_plain(column.name) for column in posterior.model.columns]
    table = _table((*heads, "estimate", f"{100 * LEVEL:g} % interval", "due to privacy"), rows, words=len(heads))
    cut = f" Only the {MOST_ROWS} likeliest of {len(means)} cells are shown." if len(means) > MOST_ROWS else ""
    return [
        "## What the results are",
        "Estimated shares in the population, and intervals that hold the uncertainty of sampling and of the noise "
        "together. The last column is the part of an interval's width that exact counts would save." + cut,
        table,
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


def _not_promised(release: Release) -> list[str]:
    epsilon, rows = release.guarantee.epsilon, release.unit.rows
    delta = ", and delta grows as well" if release.guarantee.delta else ""
    more = "more than one record" if rows == 1 else f"more than {rows} records"
    points = [
        "**Other releases add up.** If the same people are in other releases, the epsilons are added. The ledger keeps "
        "the sum; a second ledger for the same people would not be noticed.",
        f"**Groups are protected less.** For a family of four whose records hang together, the factor is "
        f"{_power_in_words(4 * epsilon)}{delta}.",
        f"**Several rows for one person.** A person with {more} is protected less, in the same way.",
        "**What is true of people in general is not protected.** If the release shows that something is common, "
        "readers will expect it of everyone, also of those who are not in the data.",
        "**Public facts are not protected:** the number of records, the columns and levels, epsilon and the label.",
    ]
    return ["## What is not promised", _list(points)]


def _power(epsilon: Fraction) -> Decimal:
    return (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()


def _power_in_words(epsilon: Fraction) -> str:
    """Return e^epsilon with four digits, rounded up."""
    rounded = Context(prec=4, rounding=ROUND_CEILING).plus(_power(epsilon))
    shown = f"{rounded:,f}" if rounded < 10**9 else f"{rounded:.3E}".replace("E+", " x 10^")
    text = exact_text(epsilon)
    return f"e^({text}) = {shown}" if "/" in text else f"e^{text} = {shown}"


def _some_levels(column: Column) -> str:
    names = [_plain(text_of(level)) for level in column.levels]
    return ", ".join(names if len(names) <= 12 else [*names[:10], f"... {len(names)} in all"])


def _list(points: Sequence[str]) -> str:
    return "\n".join(f"- {point}" for point in points)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """Return a table whose first so many columns hold words and whose others hold numbers, which stand to the right."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, rule, *rows])


def _plain(text: str | None) -> str:
    """Return a text in one line, with all that Markdown or HTML could take for more than text as references."""
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    safe = re.sub(r"[<>&|\\*`\[\]~#]", lambda found: f"&#{ord(found[0])};", words or "(empty)")
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", "&#95;", safe)  # within a word an underscore is only itself


def _block(block: str) -> str:
    lines = block.strip().splitlines()
    if block.startswith("## "):
        return f"<h2>{_inline(block[3:])}</h2>"
    if block.startswith("# "):
        return f"<h1>{_inline(block[2:])}</h1>"
    if block.startswith("> "):
        return f"<blockquote>{_inline(block[2:])}</blockquote>"
    if block.startswith("- "):
        return "<ul>\n" + "\n".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "\n</ul>"
    if block.startswith("| "):
        return _html_table([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
    return f"<p>{_inline(block)}</p>"


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    heads, rule, *body = rows
    sides = [' class="number"' if mark.endswith(":") else "" for mark in rule]

    def line(cells: Sequence[str], tag: str) -> str:
        inside = "".join(f"<{tag}{s}>{_inline(c)}</{tag}>" for c, s in zip(cells, sides, strict=True))
        return f"<tr>{inside}</tr>"

    return "\n".join(["<table>", line(heads, "th"), *(line(cells, "td") for cells in body), "</table>"])


def _inline(text: str) -> str:
    """Return text with **strong** and `code` marked; everything else is escaped, whatever it is."""
    parts = re.split(r"(\*\*.+?\*\*|`[^`]+`)", text)
    return "".join(_marked(part) for part in parts)


def _marked(part: str) -> str:
    if part.startswith("**") and part.endswith("**") and len(part) > 4:
        return f"<strong>{html.escape(html.unescape(part[2:-2]))}</strong>"
    if part.startswith("`") and part.endswith("`") and len(part) > 2:
        return f"<code>{html.escape(part[1:-1])}</code>"
    return html.escape(html.unescape(part))


_STYLE = """
@page { size: A4; margin: 12mm 16mm; }
body { font: 15px/1.45 Helvetica, Arial, sans-serif; color: #111; background: white; max-width: 46em; margin: 2em auto;
  padding: 0 1em; overflow-wrap: anywhere; }
h1 { font-size: 1.5em; margin: 0 0 0.6em; }
h2 { font-size: 1.1em; margin: 1.1em 0 0.3em; break-after: avoid; }
p, ul { margin: 0.3em 0; }
ul { padding-left: 1.3em; }
blockquote { margin: 0.8em 0; padding: 0.7em 1em; border: 3px solid #D55E00; }
table { border-collapse: collapse; margin: 0.6em 0; break-inside: avoid; }
th, td { padding: 0.15em 0.9em 0.15em 0; border-bottom: 1px solid #ccc; text-align: left; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
@media print {
  body { font-size: 9pt; line-height: 1.3; margin: 0; max-width: none; padding: 0; }
  h2 { margin-top: 0.8em; }
  td { padding-top: 0.05em; padding-bottom: 0.05em; }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
