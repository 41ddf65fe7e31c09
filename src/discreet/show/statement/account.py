"""A one-page account of a release in plain words, for those who must answer for it.

What was published, what is protected and how well, how that was checked, what the results are, and what is not
promised. Every number comes from the release and its posterior, and bounds are rounded to the safe side. All text that
others wrote (labels, names of levels) is written so that it can be nothing but text, in Markdown and in HTML.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import DeclarationError
from discreet.exact import exact_text
from discreet.guarantees import Evidence, Guarantee
from discreet.inference import Posterior
from discreet.inference.posteriors.posterior import require_posterior
from discreet.reading import why_unreadable
from discreet.releases import Release
from discreet.show.statement.markdown import bullets, plain, table
from discreet.show.statement.results import no_results, published, published_unread, results

if TYPE_CHECKING:
    from discreet.planning import Certificate

_EVIDENCE = {
    Evidence.PROVED: "It is proved",
    Evidence.ENUMERATED: "It was computed by comparing all neighbouring tables",
    Evidence.CLAIMED: "**It is only claimed, neither proved nor computed**",
}
_DECLARED = ("all else that the model declares",)
_SIMULATED = (
    "> **SIMULATED. This is not a release of real records.** The counts behind it were made up for a rehearsal and no "
    "ledger was charged. No number on this page describes real people."
)


def statement(
    release: Release,
    posterior: Posterior | None,
    certificate: "Certificate | None" = None,
    answers: Sequence[str] = (),
) -> str:
    """Return a plain-language account of a release, in Markdown.

    `posterior` is what `infer` read from the release, and `certificate` what `verify` found about it. A release that
    nobody can read has no posterior: give None, and the statement says so. `answers` are sentences that answer further
    questions, such as `posterior.differ(event, by).sentence`.
    """
    why = None if posterior is not None else why_unreadable(release.mechanism)
    if why is None:
        require_posterior(posterior, "No statement was written")
    if posterior is not None and release not in posterior.releases:
        raise DeclarationError(f"The posterior was not read from {release.label!r}. No statement was written.")
    if certificate is not None and _promise(certificate.guarantee) != _promise(release.guarantee):
        raise DeclarationError(f"The certificate is not about {release.label!r}. No statement was written.")
    blocks = [
        f"# {'SIMULATED: ' if release.simulated else ''}Privacy statement: {plain(release.label)}",
        *([_SIMULATED] if release.simulated else []),
        *(published_unread(release) if posterior is None else published(release, posterior)),
        *_protected(release),
        *_guaranteed(release.guarantee),
        *_checked(release, certificate),
        *(no_results(release, str(why)) if posterior is None else results(posterior, answers)),
        *_not_promised(release, _DECLARED if posterior is None else posterior.account().public),
    ]
    return "\n\n".join(blocks) + "\n"


def _promise(guarantee: Guarantee) -> tuple[object, ...]:
    return guarantee.epsilon, guarantee.delta, guarantee.adjacency


def _protected(release: Release) -> list[str]:
    unit, change = release.unit, release.change
    who, what = f"**{plain(unit.description)}**", "what any single record says is protected, whatever the others are"
    who_is_counted = "records there are is public"
    if release.model.protects != "one record":
        who_is_counted = "persons there are is public; how many of them have rows is not"
        what = "what all rows of any single person say is protected, whatever those of the others say"
    elif unit.rows > 1:
        who += f" with up to {unit.rows} records; that nobody has more is the holder's word"
        change += f", up to {unit.rows} times"
        what = "what all records of any single unit say is protected, whatever the others are"
    return [
        "## What is protected",
        f"The unit of protection is {who}. Tables count as neighbours if they differ by this change: {change}. So "
        f"{what}. How many {who_is_counted}.",
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
    return ["## The guarantee", numbers + words, _belief_table(factor), *_under_metric(guarantee)]


def _under_metric(guarantee: Guarantee) -> list[str]:
    """Say what holds besides for content that moves a little, with the unit beside every number."""
    if (metric := guarantee.metric) is None:
        return []
    return [
        f"**Besides, for content that moves little:** {plain(metric.words)} Two contents at a distance d change the "
        "probability of any publication by a factor of at most e to the power of that epsilon times d, and distances "
        "of several records add up. This hides details, not a rough place: for that only the last number counts."
    ]


def _belief_table(factor: Decimal) -> str:
    rows = []
    for percent in (1, 10, 50):
        chance = Decimal(percent) / 100
        most = 100 * chance * factor / (1 - chance + chance * factor)
        least = 100 * chance / (chance + (1 - chance) * factor)
        cent = Decimal("0.01")
        low, high = least.quantize(cent, rounding=ROUND_FLOOR), most.quantize(cent, rounding=ROUND_CEILING)
        rows.append((f"{percent} %", f"{low} %", f"{high} %"))
    return table(("chance given before", "after the release at least", "and at most"), rows, words=0)


def _checked(release: Release, certificate: "Certificate | None") -> list[str]:
    given, receipt = release.guarantee, release.receipt
    points = [f"{_EVIDENCE[given.evidence]}: {plain(given.reason)}."]
    if certificate is None:
        points.append("Nothing was checked for this statement. Anyone can: `discreet.verify(release)`.")
    else:
        points.append(f"Checked with `discreet.verify`: {plain(certificate.pure_in_words)}.")
        points += [f"{plain(check[0].upper() + check[1:])}." for check in certificate.checks]
    if receipt is None:
        points.append("There is no receipt: **no ledger was charged**.")
    else:
        points.append(f"It was charged as **entry {receipt.sequence}** of the ledger, with hash {plain(receipt.head)}.")
    points.append(f"Fingerprint of the release: {release.digest}, made with {plain(release.software)}.")
    points.append("No document can show that the holder counted the right records and drew the noise as stated.")
    return ["## How it was checked", bullets(points)]


def _not_promised(release: Release, public: Sequence[str]) -> list[str]:
    epsilon, rows = release.guarantee.epsilon, release.unit.rows
    delta = ", and delta grows as well" if release.guarantee.delta else ""
    who = release.model.protects.removeprefix("one ")
    more = "more than one record" if rows == 1 else f"more than {rows} records"
    several = f"**Several rows for one person.** A person with {more} is protected less, in the same way."
    if who != "record":
        several = "**Several ids for one person.** Who has rows under two ids counts as two, and is protected less."
    points = [
        "**Other releases add up.** If the same people are in other releases, the epsilons are added. The ledger keeps "
        "the sum; a second ledger for the same people would not be noticed.",
        f"**Groups are protected less.** For a family of four whose records hang together, the factor is "
        f"{_power_in_words(4 * epsilon)}{delta}.",
        several,
        "**What is true of people in general is not protected.** If the release shows that something is common, "
        "readers will expect it of everyone, also of those who are not in the data.",
        f"**Public facts are not protected:** the number of {who}s, the columns and levels, "
        f"{''.join(f'{fact}, ' for fact in public)}epsilon and the label.",
    ]
    return ["## What is not promised", bullets(points)]


def _power(epsilon: Fraction) -> Decimal:
    return (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()


def _power_in_words(epsilon: Fraction) -> str:
    """Return e^epsilon with four digits, rounded up."""
    rounded = Context(prec=4, rounding=ROUND_CEILING).plus(_power(epsilon))
    shown = f"{rounded:,f}" if rounded < 10**9 else f"{rounded:.3E}".replace("E+", " x 10^")
    text = exact_text(epsilon)
    return f"e^({text}) = {shown}" if "/" in text else f"e^{text} = {shown}"
