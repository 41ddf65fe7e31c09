"""What a page says in words: how it was read, what is promised and checked, and how to cite it."""

from collections.abc import Sequence
from html import escape

from discreet.amounts import spent_text
from discreet.inference import Posterior
from discreet.inference.posteriors.report import remarks, sources_line
from discreet.markup import one_line
from discreet.planning import Certificate
from discreet.releases import Release
from discreet.show.statement.account import checked, guaranteed, not_promised, protected
from discreet.show.statement.page import blocks_html
from discreet.show.statement.results import published
from discreet.version import __version__


def about_the_reading(posterior: Posterior) -> str:
    """Return the section on the method."""
    text = posterior.text
    who = "The release was" if len(posterior.releases) == 1 else "The releases were"
    sentences = [sources_line(posterior), text.estimation, f"{who} {posterior.method}.", text.prior]
    lines = [*filter(None, sentences), *remarks(posterior, 0.9)]
    known = "".join(f"<p>{_text(line)}</p>" for line in lines)
    return f"""<section aria-labelledby="method"><h2 id="method">Method</h2>
<p>Noise was deliberately added to what was published. The numbers here are not the published ones: they are a Bayesian
reading of them (a posterior) that takes the noise into account. The intervals are credible intervals; they cover the
uncertainty from sampling and from the noise.</p>{known}</section>"""


def about_the_release(posterior: Posterior, certificates: Sequence[Certificate]) -> list[str]:
    """Return the sections on what was published and promised, and how that was checked, of every release."""
    sections = []
    for release, certificate in zip(posterior.releases, certificates, strict=True):
        several = f"<p><strong>{_text(release.label)}</strong></p>" if len(posterior.releases) > 1 else ""
        blocks = [*protected(release), *guaranteed(release.guarantee), *checked(release, certificate)]
        if release is posterior.releases[0]:
            blocks = [*published(release, posterior), *blocks]
        lines = "".join(f"<li>{_text(check)}</li>" for check in certificate.checks)
        details = f"<details><summary>Every check, in the verifier's own words</summary><ul>{lines}</ul></details>"
        sections.append(f"<section>{several}{blocks_html(blocks)}{details}</section>")
    rest = not_promised(posterior.releases[0], posterior.text.public)
    return [*sections, f"<section>{blocks_html(rest)}</section>"]


def citation(posterior: Posterior) -> str:
    """Return how to cite the release and its reading."""
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
