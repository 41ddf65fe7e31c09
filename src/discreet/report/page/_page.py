"""A posterior as one page that stands alone: a table that sorts, pictures, comparisons, the guarantee, and the release.

The page asks for nothing from anywhere, and says so to the browser: only the scripts that stand in it here may run,
each named by its hash, and none of them may make code from text. What others wrote is text and nothing else.

In words it says how the release was read, what is promised and checked, and how to cite it.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from discreet._core.errors import DiscreetError
from discreet._core.notebook import one_line
from discreet._core.version import __version__
from discreet.inference import (
    Posterior,
    outside_interval_note,
    own_records_line,
    percent_text,
    remarks,
    require_posterior,
    sources_line,
)
from discreet.privacy import spent_text
from discreet.release import Release
from discreet.report import DARK, PAGE_COLOURS
from discreet.report.charts._drawing import label_of
from discreet.report.page._contents import LEVELS, Question, contents_of
from discreet.report.statement._page import blocks_html
from discreet.report.statement._results import published
from discreet.report.statement._statement import checked, guaranteed, not_promised, protected
from discreet.verification import Certificate, verify


def about_the_inference(posterior: Posterior) -> str:
    """Return the section on the method."""
    text = posterior.text
    who = "The release was" if len(posterior.releases) == 1 else "The releases were"
    sentences = [sources_line(posterior), text.estimation, f"{who} {posterior.method}.", text.prior]
    lines = [*filter(None, sentences), *remarks(posterior, 0.9)]
    known = "".join(f"<p>{_text(line)}</p>" for line in lines)
    return f"""<section aria-labelledby="method"><h2 id="method">Method</h2>
<p>Noise was deliberately added to what was published. The numbers here are not the published ones: they are Bayesian
estimates (a posterior) that take the noise into account. The intervals are credible intervals; they cover the
uncertainty from sampling and from the noise.</p>{known}</section>"""


def about_the_release(posterior: Posterior, certificates: Sequence[Certificate]) -> list[str]:
    """Return the sections on what was published and promised, and how that was checked, of every release."""
    sections = []
    for release, certificate in zip(posterior.releases, certificates, strict=True):
        several = f"<p><strong>{_text(release.label)}</strong></p>" if len(posterior.releases) > 1 else ""
        blocks = [*protected(release), *guaranteed(release), *checked(release, certificate)]
        if release is posterior.releases[0]:
            blocks = [*published(release, posterior), *blocks]
        lines = "".join(f"<li>{_text(check)}</li>" for check in certificate.checks)
        details = f"<details><summary>Every check, in the verifier's own words</summary><ul>{lines}</ul></details>"
        sections.append(f"<section>{several}{blocks_html(blocks)}{details}</section>")
    rest = not_promised(posterior.releases[0], posterior.text.public)
    return [*sections, f"<section>{blocks_html(rest)}</section>"]


def citation(posterior: Posterior) -> str:
    """Return how to cite the release and its posterior."""
    lines = "".join(f"<li>{_text(_cited(release))}</li>" for release in posterior.releases)
    return f"""<section aria-labelledby="cite"><h2 id="cite">How to cite</h2><ul>{lines}</ul>
<p>Quote an estimate with its interval and level, and say that it was published under differential privacy. Estimates
were read with discreet {escape(__version__)}.</p></section>"""


def _cited(release: Release) -> str:
    given = release.guarantee
    delta = f", delta = {spent_text(given.delta)}" if given.delta else ""
    entry = f" Entry {release.receipt.sequence} of its privacy ledger." if release.receipt is not None else ""
    made_up = " Simulated." if release.simulated else ""
    return (
        f"“{release.label}”. Differentially private release by {type(release.mechanism).__name__}, epsilon = "
        f"{spent_text(given.epsilon)}{delta}, protecting {release.unit.description}.{entry}{made_up} SHA-256 "
        f"{release.digest}."
    )


def _text(text: str) -> str:
    return escape(one_line(text))


SHOWN_FIRST = 0.9
"""The level that a page shows before another is chosen."""
_SCRIPTS = ("vega-6.4.0.min.js", "vega-lite-6.4.3.min.js")
_INTERPRETER = "vega-interpreter-2.3.2.js"


def write_page(posterior: Posterior, path: str | Path, asked: Sequence[Question] = ()) -> None:
    """Write the page of a posterior; `asked` names events and columns to compare groups by, for a large table."""
    text = posterior_page(posterior, asked=asked)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise DiscreetError(f"Cannot write the page to {str(path)!r}: {problem.strerror}.") from None


def posterior_page(
    posterior: Posterior, certificates: Sequence[Certificate] | None = None, asked: Sequence[Question] = ()
) -> str:
    """Return the page of a posterior, as HTML.

    `certificates` are what `verify` found of each release; left out, it is asked here. `asked` holds pairs of an event
    and a column, such as ("fall=yes", "ward"): the page compares these groups too, however large the table is.
    """
    require_posterior(posterior, "No page was written")
    checked = [verify(release) for release in posterior.releases] if certificates is None else list(certificates)
    contents = contents_of(posterior, asked)
    first = posterior.releases[0]
    title = one_line(label_of(posterior))
    known = json.dumps(contents | {"dark": DARK, "first": f"{SHOWN_FIRST:g}", "name": _file_name(first)})
    releases = [release.to_json() for release in posterior.releases]
    vendored = [_vendored(name) for name in _SCRIPTS]
    module = _vendored(_INTERPRETER) + "\n" + _own("page.js")
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in [*vendored, module])
    policy = f"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src {hashes}"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="discreet {escape(__version__)}">',
            f"<title>{escape(title)}</title>\n<style>{PAGE_COLOURS}{_own('page.css')}</style>\n</head>\n<body>",
            f"<header><h1>{escape(title)}</h1>{_facts(posterior)}</header>\n<main>",
            _estimates(posterior, contents),
            _comparisons(contents),
            about_the_inference(posterior),
            *about_the_release(posterior, checked),
            citation(posterior),
            _files(len(releases)),
            "</main>",
            *(_data(f"release-{index}", text) for index, text in enumerate(releases)),
            _data("known", known),
            *(f"<script>{script}</script>" for script in vendored),
            f'<script type="module">{module}</script>\n</body>\n</html>\n',
        ]
    )


def _facts(posterior: Posterior) -> str:
    given = [release.guarantee for release in posterior.releases]
    who = posterior.releases[0].model.protects.removeprefix("one ")
    facts = [
        (f"{who}s", f"{posterior.about}{posterior.size:,}"),
        ("epsilon", " + ".join(spent_text(each.epsilon) for each in given)),
        *([("delta", " + ".join(spent_text(each.delta) for each in given))] if any(e.delta for e in given) else []),
        ("protects", posterior.releases[0].unit.description),
        ("mechanism", ", ".join(dict.fromkeys(type(r.mechanism).__name__ for r in posterior.releases))),
    ]
    cells = "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(one_line(b))}</dd></div>" for a, b in facts)
    made_up = "<p class=warning><strong>Simulated.</strong> This is a rehearsal with simulated records, not a release."
    lines = [made_up + "</p>" if posterior.releases[0].simulated else ""]
    lines += [f"<p class=warning>{escape(own_records_line(posterior))}</p>" if posterior.own_records else ""]
    return f"<dl>{cells}</dl>{''.join(lines)}"


def _estimates(posterior: Posterior, contents: dict[str, object]) -> str:
    options = "".join(
        f'<option value="{level:g}"{" selected" if level == SHOWN_FIRST else ""}>{percent_text(level)}</option>'
        for level in LEVELS
    )
    rows = posterior.rows(SHOWN_FIRST)
    has_given, has_units = any(row.given for row in rows), any(not row.is_probability for row in rows)
    has_shares = any(row.share_due_to_privacy is not None for row in rows)
    words = ["quantity", *(["given"] if has_given else []), *(["unit"] if has_units else [])]
    heads = [(name, False) for name in words] + [("mean", True), ("interval", True)]
    heads += [("due to privacy", True)] if has_shares else []
    cells = "".join(
        f'<th scope="col"{_class(figure)} data-field="{name}"><button type="button">{name}</button></th>'
        for name, figure in heads
    )
    lines = []
    for index, row in enumerate(rows):
        named = [row.quantity, *([row.given or "-"] if has_given else []), *([row.unit_text] if has_units else [])]
        figures = [row.starred_mean, row.interval_text, *([row.share_text] if has_shares else [])]
        tds = [f"<td>{escape(one_line(each))}</td>" for each in named]
        tds += [f'<td class="figure">{escape(each)}</td>' for each in figures]
        lines.append(f'<tr data-index="{index}">{"".join(tds)}</tr>')
    outside = outside_interval_note(posterior, rows)
    return f"""<section aria-labelledby="estimates"><h2 id="estimates">Estimates</h2>
<p>{escape(posterior.text.meaning)}</p>
<form class="controls"><p><label for="level">Probability that an interval contains the truth (credible level)</label>
<select id="level">{options}</select></p>
<p><label for="filter">Show only lines with</label><input id="filter" type="search" autocomplete="off"></p></form>
<figure tabindex="0" role="region" aria-label="Picture"><div id="chart" role="img"
aria-label="Estimates with their intervals; the table below has the same numbers"></div></figure>
<div class="wide" tabindex="0" role="region" aria-label="Table of estimates"><table id="rows">
<caption>Mean and <span class="level">90</span> % interval of each line<span class="screen">; click a heading to sort
by it</span></caption>
<thead><tr>{cells}</tr></thead>
<tbody>
{chr(10).join(lines)}
</tbody></table></div>
<p id="shown" role="status"></p>{f"<p>{escape(outside)}</p>" if outside else ""}
<p class="actions"><button type="button" id="csv">Download this table (CSV)</button></p></section>"""


def _comparisons(contents: dict[str, object]) -> str:
    groups = """<section aria-labelledby="groups"><h2 id="groups">Compare groups</h2>
<form class="controls"><p><label for="question">Rate of</label><select id="question"></select></p>
<p><label for="group-one">Is it higher in</label><select id="group-one"></select></p>
<p><label for="group-two">than in</label><select id="group-two"></select></p></form>
<p id="group-answer" class="answer" role="status"></p>
<div class="wide" tabindex="0" role="region" aria-label="Rates by group"><table id="rates"><caption></caption>
<thead><tr><th scope="col">group</th><th scope="col" class="figure">records</th><th scope="col" class="figure">rate</th>
<th scope="col" class="figure">interval</th><th scope="col"><span class="unseen">picture</span></th></tr></thead>
<tbody></tbody></table></div>
<p class="hint">Each rate is read from the noisy counts of its own group. The two groups are compared by draws from
both, taken as independent of each other. A group that may have no records gets no rate: nothing is known about it.</p>
</section>"""
    return (
        (groups if contents["groups"] else "")
        + """<section aria-labelledby="compare">
<h2 id="compare">Compare two quantities</h2>
<form class="controls"><p><label for="array">What</label><select id="array"></select></p>
<p><label for="one">Is</label><select id="one"></select></p>
<p><label for="two">larger than</label><select id="two"></select></p></form>
<p id="answer" class="answer" role="status"></p>
<p class="hint">Computed here from <span id="count"></span> joint draws of the posterior stored in this page, so that
what the two have in common is taken into account. Probabilities are accurate to about 0.01.</p></section>"""
    )


def _files(number: int) -> str:
    releases = "".join(
        f'<button type="button" class="release" data-index="{index}">Download '
        f"{'the release' if number == 1 else f'release {index + 1}'} (JSON)</button> "
        for index in range(number)
    )
    return f"""<section aria-labelledby="files"><h2 id="files">Files</h2>
<p>The release itself is inside this page. Anyone can check and read it again:
<code>discreet verify release.json</code>, <code>discreet infer release.json</code>.</p>
<p class="actions">{releases}<button type="button" id="draws">Download the draws (CSV)</button></p></section>"""


def _data(name: str, text: str) -> str:
    """Return a block of JSON in which nothing can end the block: every '<' is written as an escape."""
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json" id="{name}">{safe}</script>'


def _file_name(release: Release) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in release.label.lower())[:60].strip("-") or "release"


def _class(is_figure: bool) -> str:
    return ' class="figure"' if is_figure else ""


def _hash(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _vendored(name: str) -> str:
    return files("discreet.report").joinpath("vendor", name).read_text("utf-8")


def _own(name: str) -> str:
    return files("discreet.report").joinpath("page", name).read_text("utf-8")
