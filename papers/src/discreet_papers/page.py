"""One page of HTML with every reproduction and the claims register: it stands alone, and can be read offline."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from discreet._core.version import __version__
from discreet_papers.claims.claim import Claim, Register
from discreet_papers.claims.page import LEGEND, evidence_words, in_order, registers, summary
from discreet_papers.reproduction import Outcome, Reproduction
from discreet_papers.small_svg import as_address

_MOST_ROWS = 24  # of a table on the page; the whole table is in a file beside it

_STYLE = """
body { font: 17px/1.55 Georgia, 'Liberation Serif', serif; color: #222; max-width: 52rem; margin: 2rem auto;
  padding: 0 1.2rem; }
h1, h2, h3, th, dt, summary, .place, .verdict { font-family: Helvetica, Arial, 'Liberation Sans', sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; } h2 { margin-top: 3rem; font-size: 1.4rem;
  line-height: 1.3; border-bottom: 2px solid #222; padding-bottom: .4rem; }
h3 { margin-top: 2.6rem; font-size: 1.2rem; }
dl { display: grid; grid-template-columns: 8.5rem 1fr; gap: .5rem 1rem; margin: 1rem 0; }
dt { font-size: .85rem; color: #666; padding-top: .2rem; } dd { margin: 0; }
.verdict-words { background: #eef5fa; border-left: 4px solid #0072b2; padding: .5rem .8rem; }
img { max-width: 100%; display: block; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; margin: .8rem 0; }
th { text-align: left; border-bottom: 1px solid #222; } th, td { padding: .3rem .6rem .3rem 0; vertical-align: top; }
td { border-bottom: 1px solid #e4e4e4; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; color: #0072b2; font-size: .9rem; } .wide { overflow-x: auto; }
.place { font-weight: bold; font-size: .85rem; } .verdict { font-size: .8rem; white-space: nowrap; }
.true { color: #00664a; } .corrected { color: #8a5a00; } .false { color: #a33c00; } .muted { color: #767676; }
code { font-size: .82rem; overflow-wrap: anywhere; } a { color: #0072b2; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } }
@media print { h3 { break-after: avoid; } img, dl { break-inside: avoid; } }
"""
_CLAIMS = "What the papers claim, and what we found"
_INTRODUCTION = (
    "Tables, figures and results of the source papers, computed again. Each part says what the paper says, in our "
    "words, what we get, and why the two differ where they do. The register of claims at the end gives a verdict on "
    "every numbered statement, with evidence that can be run."
)


def report_page(
    results: Sequence[tuple[Reproduction, Outcome]], folder: Path, quick: bool = False, waiting: int = 0
) -> str:
    """Return the page. Pictures are taken from the folder that the reproductions were written to.

    While some are `waiting` to be computed the page says so, and the register is left for the last.
    """
    notes = ["A quick run: fewer repeats and coarser grids than the full report."] if quick else []
    notes += [f"Not finished: {waiting} results and the register of claims are still to come."] if waiting else []
    note = "".join(f"<p><b>{words}</b></p>" for words in notes)
    results = sorted(results, key=lambda result: place_of(result[0]))
    papers = list(dict.fromkeys(reproduction.paper for reproduction, _ in results))
    parts = [
        f"<h2>{escape(str(paper))}</h2>\n"
        + "\n".join(_part(*result, folder) for result in results if result[0].paper == paper)
        for paper in papers
    ]
    contents = "\n".join(
        f"<li>{escape(str(paper))}\n<ul>\n"
        + "\n".join(f'<li><a href="#{r.name}">{escape(r.title)}</a></li>' for r, _ in results if r.paper == paper)
        + "\n</ul></li>"
        for paper in papers
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Reproductions</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>The papers, computed again</h1>\n"
        f'<p>{_INTRODUCTION}</p>\n{note}<p class="muted">discreet {escape(__version__)}</p>\n<ul>\n{contents}\n'
        f'<li><a href="#claims">{_CLAIMS}</a></li>\n</ul>\n{"".join(parts)}\n'
        f'<h2 id="claims">{_CLAIMS}</h2>\n{"" if waiting else _all_claims()}\n</body>\n</html>\n'
    )


def _all_claims() -> str:
    legend = "".join(f"<dt>{verdict.value}</dt><dd>{escape(words)}</dd>\n" for verdict, words in LEGEND.items())
    return f"<dl>\n{legend}</dl>\n" + "\n".join(_register(register) for register in registers())


def place_of(reproduction: Reproduction) -> tuple[str, int, str]:
    """Return where a reproduction stands in its paper: at the claim with its name, or else at the first it shows."""
    rows = [row for register in registers() if register.paper == reproduction.paper for row in in_order(register)]
    own = reproduction.name.partition("-")[2].replace("-", "")
    named = [place for place, claim in enumerate(rows) if f"reproduction {reproduction.name}" in claim.shown]
    same = [place for place in named if re.match(rf"{own}(?!\d)", re.sub(r"[^a-z0-9]", "", rows[place].place.lower()))]
    return reproduction.paper.number, min(same or named, default=len(rows)), reproduction.name


def _part(reproduction: Reproduction, outcome: Outcome, folder: Path) -> str:
    said = "The paper says" if reproduction.paper.number.isdigit() else "The question"
    words = {"Setting": reproduction.setting, said: reproduction.says, "We find": reproduction.finds}
    terms = "".join(f"<dt>{term}</dt><dd>{escape(text)}</dd>\n" for term, text in words.items())
    result = f'<dt>In numbers</dt><dd class="verdict-words">{escape(outcome.verdict)}</dd>\n'
    head = f'<h3 id="{reproduction.name}">{escape(reproduction.title)}</h3>\n<dl>\n{terms}{result}</dl>\n'
    return head + _picture(reproduction, outcome, folder) + _table(reproduction, outcome)


def _picture(reproduction: Reproduction, outcome: Outcome, folder: Path) -> str:
    if outcome.chart is None:
        return ""
    picture = as_address((folder / f"{reproduction.name}.svg").read_text(encoding="utf-8"))
    return f'<img alt="{escape(reproduction.title)}" src="{picture}">\n'


def _table(reproduction: Reproduction, outcome: Outcome) -> str:
    keys = list(outcome.rows[0])
    kinds = {key: ' class="number"' if _is_number(outcome.rows[0][key]) else "" for key in keys}
    head = "".join(f"<th{kinds[key]}>{escape(key.replace('_', ' '))}</th>" for key in keys)
    shown = outcome.rows[:_MOST_ROWS]
    rows = ["".join(f"<td{kinds[key]}>{escape(in_short(row[key]))}" for key in keys) for row in shown]
    body = "\n".join(f"<tr>{row}" for row in rows)
    opened = " open" if len(rows) <= 12 else ""
    file = f'<a href="{reproduction.name}.csv">{reproduction.name}.csv</a>'
    all_of_them = len(rows) == len(outcome.rows)
    title = (
        f"{len(rows)} rows, as in {file}" if all_of_them else f"{len(rows)} of the {len(outcome.rows)} rows in {file}"
    )
    table = f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
    return f"<details{opened}><summary>{title}</summary>\n{table}\n</details>\n"


def in_short(value: Any) -> str:
    """Return a value for people: four digits of a number, nothing for none."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _register(register: Register) -> str:
    rows = "\n".join(map(_claim, in_order(register)))
    head = "<tr><th>place</th><th>claim, verdict and evidence</th><th>the library</th></tr>"
    words = f"<h3>{escape(str(register.paper))}</h3>\n<p>{escape(summary(register))}</p>\n"
    return f'{words}<div class="wide"><table>\n{head}\n{rows}\n</table></div>'


def _claim(claim: Claim) -> str:
    first = f'<td class="place">{escape(claim.place)}</td>'
    kind = claim.verdict.value.replace(" ", "-")
    shown = ", ".join(_shown(each) for each in claim.shown)
    verdict = f'<b class="verdict {kind}">{claim.verdict.value}</b>'
    told = f"{_with_code(claim.claim)}<br>{verdict} {_with_code(evidence_words(claim.finding))}<br>{shown}"
    return f"<tr>{first}<td>{told}</td><td>{_with_code(claim.words)}</td></tr>"


def _shown(shown: str) -> str:
    """Return a link to a reproduction on this page, or the name of a test, which may be broken between words."""
    path, _, test = shown.partition("::")
    if not test:
        name = shown.removeprefix("reproduction ")
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    return f'<code title="{escape(path)}">{escape(test).replace("_", "_<wbr>")}</code>'


def _with_code(text: str) -> str:
    """Return words as HTML, with what stands between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
