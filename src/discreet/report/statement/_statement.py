"""A one-page account of a release in plain words, for those who must answer for it.

What was published, what is protected and how well, how that was checked, what the results are, and what is not
promised. Every number comes from the release and its posterior, and bounds are rounded to the safe side. All text that
others wrote (labels, names of levels) is written so that it can be nothing but text, in Markdown and in HTML.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from discreet._core.errors import DeclarationError
from discreet.inference import Posterior, require_posterior, why_unreadable
from discreet.mechanism import both_promises
from discreet.privacy import Adjacency, Evidence, Guarantee, spent_text
from discreet.release import Release
from discreet.report.statement._markdown import bullets, plain, table
from discreet.report.statement._results import no_results, published, published_unread, results

if TYPE_CHECKING:
    from discreet.verification import Certificate

_EVIDENCE = {
    Evidence.PROVED: "The guarantee rests on a **mathematical proof**, which the documentation of {mechanism} gives.",
    Evidence.ENUMERATED: "The guarantee was **computed**, by comparing all pairs of neighbouring tables.",
    Evidence.CLAIMED: "The guarantee is **only claimed, neither proved nor computed**: do not rely on it.",
}
_DONE = {
    "recomputed": "**Recomputed:** the privacy loss was computed again from the noise that the release describes, and "
    "it is within the stated guarantee.",
    "not recomputed": (
        "**Not recomputed:** when it is added to other releases, the worst case that the guarantee allows is counted."
    ),
    "compared": "**Compared:** {number} of data sets that differ by this change found no publication that reveals more "
    "than stated.",
    "checked": "**Checked:** the assumptions of the proof hold for example records.",
    "drawn": "**Tested:** random draws by the same program agree with the stated noise distribution.",
    "by proof alone": (
        "**By proof alone:** everything that was not recomputed or compared rests on the mathematical proof."
    ),
}
"""What `verify` did, by the words that its lines begin with, for people who do not read proofs."""
_SOME = (
    "The publication is about some of the records only, and which records these are is protected, too: whether "
    "somebody is among them, and what their record says about it. Separate publications about groups that share no "
    "record do not add up for any one of them."
)
_DECLARED = ("everything else that the model declares",)
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
        *protected(release),
        *guaranteed(release),
        *checked(release, certificate),
        *(no_results(release, str(why)) if posterior is None else results(posterior, answers)),
        *not_promised(release, _DECLARED if posterior is None else posterior.text.public),
    ]
    return "\n\n".join(blocks) + "\n"


def _promise(guarantee: Guarantee) -> tuple[object, ...]:
    return guarantee.epsilon, guarantee.delta, guarantee.adjacency


def protected(release: Release) -> list[str]:
    """Say whose information is protected, and against which change."""
    unit, change = release.unit, release.change
    who = f"**{plain(unit.description)}**"
    what = "whatever any single record says is protected, no matter what the other records say"
    is_secret = release.guarantee.adjacency is Adjacency.ADD_OR_REMOVE
    who_is_counted = f"records there are is {'secret too' if is_secret else 'public'}"
    if release.model.protects != "one record":
        who_is_counted = "persons there are is secret too"
        if not is_secret:
            who_is_counted = "persons there are is public; how many of them have rows is not"
        what = "whatever all rows of any single person say is protected, no matter what the rows of others say"
    elif unit.rows > 1:
        who += f" with up to {unit.rows} records (that nobody has more is the data holder's assertion)"
        change += f", up to {unit.rows} times"
        what = "whatever all records of any single unit say is protected, no matter what the other records say"
    return [
        "## What is protected",
        f"The unit of protection is {who}: {what}. In technical terms, two data sets are neighbours if they differ "
        f"by this change: {change}. How many {who_is_counted}.",
        *([] if (promises := both_promises(release.mechanism, unit.rows)) is None else [f"Two promises: {promises}."]),
        *([] if release.where is None else [_SOME]),
    ]


def guaranteed(release: Release) -> list[str]:
    """Say what epsilon and delta promise a person, with odds."""
    guarantee = release.guarantee
    is_secret = guarantee.adjacency is Adjacency.ADD_OR_REMOVE
    factor = _power(guarantee.epsilon)
    bound = f"**{_power_in_words(guarantee.epsilon)}** (rounded up)"
    numbers = f"**epsilon = {spent_text(guarantee.epsilon)}, delta = {spent_text(guarantee.delta)}.** "
    imagine = "Imagine that the protected content had been different, in any way whatsoever. "
    if is_secret:
        imagine = "Imagine that somebody's record had been absent, or that it had been added. "
    if guarantee.delta:
        words = (
            f"Then the probability of any set of possible publications would be at most {bound} times what it is "
            "now, plus delta. Delta is a small allowance on top of the factor; because of it, no bound holds for "
            "every single publication."
        )
        return ["## The guarantee", numbers + imagine + words]
    words = (
        f"Then no possible publication would be more than {bound} times as likely as it is now, or less likely by "
        "more than that factor. For a person this means: suppose that somebody knows all other records, has "
        f"unlimited computing power, and wants to find out {'whether this one' if is_secret else 'what this one'} "
        f"{'is there' if is_secret else 'says'}. The release changes the odds that "
        "they give to any answer by at most that factor, up or down: even odds (1 to 1) become at most "
        f"{_odds(factor)} to 1. Nothing that becomes known later can weaken this. People who know less may still "
        "learn something about everyone; see the end of this page."
    )
    return ["## The guarantee", numbers + imagine + words, _belief_table(factor), *_under_metric(guarantee)]


def _under_metric(guarantee: Guarantee) -> list[str]:
    """Say what holds besides for content that moves a little, with the unit beside every number."""
    if (metric := guarantee.metric) is None:
        return []
    return [
        f"**In addition, for small changes:** {plain(metric.words)} A change by a distance d changes the probability "
        "of any publication by a factor of at most e to the power of that epsilon times d, and the distances of "
        "several records add up. This hides details rather than the rough position, for which only the last number "
        "counts."
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
    return table(("probability before the release", "after it, at least", "and at most"), rows, words=0)


def checked(release: Release, certificate: "Certificate | None") -> list[str]:
    """Say in plain words what was recomputed and compared, and what rests on a proof alone."""
    given, receipt = release.guarantee, release.receipt
    points = [_EVIDENCE[given.evidence].format(mechanism=f"`{type(release.mechanism).__name__}`")]
    if certificate is None:
        points.append("Nothing was checked for this statement. Anyone can check it: `discreet.verify(release)`.")
    else:
        points += [
            *_done(certificate),
            f"{_tightness(certificate)} `discreet verify` shows every check with its numbers.",
        ]
    if receipt is None:
        points.append("There is no receipt: **no ledger was charged**.")
    else:
        points.append(f"It was charged as **entry {receipt.sequence}** of the ledger, with hash {plain(receipt.head)}.")
    points.append(f"Fingerprint of the release: {release.digest}, made with {plain(release.software)}.")
    points.append("No document can prove that the data holder counted the right records and drew the noise as stated.")
    return ["## How it was checked", bullets(points)]


def _done(certificate: "Certificate") -> list[str]:
    """Return one plain sentence for each kind of check, and lines of any other kind as they are."""
    found: dict[str, int] = {}
    for check in certificate.checks:
        kind = next((known for known in _DONE if check.startswith(known)), check)
        found[kind] = found.get(kind, 0) + 1
    sentences = []
    for kind, number in found.items():
        times = "one comparison" if number == 1 else f"{number} sets of comparisons"
        known = _DONE.get(kind)
        sentences.append(f"{plain(kind[0].upper() + kind[1:])}." if known is None else known.format(number=times))
    return sentences


def _tightness(certificate: "Certificate") -> str:
    if certificate.exact:
        return "No smaller epsilon would be true: for some two neighbouring data sets the loss is exactly this large."
    if certificate.epsilon == inf:
        return "There is no bound for a single publication: that is what delta allows for."
    return "Epsilon is an upper bound: the actual privacy loss may be smaller."


def not_promised(release: Release, public: Sequence[str]) -> list[str]:
    """Say what no guarantee of this kind covers."""
    epsilon, rows = release.guarantee.epsilon, release.unit.rows
    delta = ", and delta grows as well" if release.guarantee.delta else ""
    who = release.model.protects.removeprefix("one ")
    number = "" if release.guarantee.adjacency is Adjacency.ADD_OR_REMOVE else f"the number of {who}s, "
    more = "more than one record" if rows == 1 else f"more than {rows} records"
    several = f"**Several rows for one person.** A person with {more} is protected less, in the same way."
    if who != "record":
        several = "**Several ids for one person.** Somebody with rows under two ids counts as two people, "
        several += "and is protected less."
    points = [
        "**Other releases add up.** If the same people are in other releases, the epsilons are added. The ledger "
        "keeps the sum, but it cannot detect a second ledger for the same people.",
        f"**Groups are protected less.** For a family of four whose records depend on each other, the factor "
        f"is {_power_in_words(4 * epsilon)}{delta}.",
        several,
        "**What is true of people in general is not protected.** If the release shows that something is common, "
        "readers will expect it of everyone, including people who are not in the data.",
        f"**Public facts are not protected:** {number}the columns and levels, "
        f"{''.join(f'{fact}, ' for fact in public)}epsilon and the label.",
    ]
    return ["## What is not promised", bullets(points)]


def _power(epsilon: Fraction) -> Decimal:
    return (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()


def _odds(factor: Decimal) -> str:
    """Return a factor with four digits, rounded up."""
    rounded = Context(prec=4, rounding=ROUND_CEILING).plus(factor)
    return f"{rounded:,f}" if rounded < 10**9 else f"{rounded:.3E}".replace("E+", " x 10^")


def _power_in_words(epsilon: Fraction) -> str:
    """Return e^epsilon with four digits, rounded up."""
    shown = _odds(_power(epsilon))
    text = spent_text(epsilon)
    if " " in text:
        return f"e^epsilon = {shown}"
    return f"e^({text}) = {shown}" if "/" in text else f"e^{text} = {shown}"
