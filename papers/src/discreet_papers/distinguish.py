"""How robust a published law is, and how many releases like it an adversary needs to tell two neighbours apart.

Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) call an inference robust if neighbouring data sets have laws of a
small divergence (theorem 1), and ask how many draws tell them apart. Their theorem 3 says that data at distance
rho >= 3 ln(1/delta) / (4 L n) can be told apart after n draws. Its inequalities run the other way: that is a condition
without which its own method fails, not one under which any method works. What holds is a lower bound: whoever decides
between two data sets with both errors at most e needs

    n >= (1 - 2 e) ln((1 - e) / e) / KL

releases: by data processing, n KL is at least the divergence of the two decisions, which is that of two coins with
probabilities 1 - e and e. KL is that of the worst neighbours, or of a pair that dominates all of them, which every
mechanism states as its privacy loss. That is what nobody can do better than; it is no promise that it is enough.
"""

from dataclasses import dataclass
from math import ceil, log
from pathlib import Path
from typing import Protocol, runtime_checkable

import click

from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet.cli._infer import read_document
from discreet.cli._screen import as_json, helpful, say, show_json
from discreet.mechanism import Mechanism
from discreet.release import Release

ERROR = 0.05


@dataclass(frozen=True)
class Distinguishing:
    """The largest divergence and total variation between neighbours, and how many releases it takes to tell them apart.

    `exact` tells whether the divergence is that of the worst neighbours, rather than of a pair that dominates them.
    """

    divergence: float
    total_variation: float
    releases: int
    error: float
    exact: bool

    @property
    def words(self) -> tuple[str, ...]:
        """Say both in plain sentences."""
        how = "" if self.exact else "at most "
        return (
            "Robustness: replacing one record changes the distribution of the output by a Kullback-Leibler divergence "
            f"of {how}{self.divergence:.4g}, and the probability of any event by at most {self.total_variation:.4g}.",
            "Distinguishing: to tell two neighbouring data sets apart, with both error probabilities at most "
            f"{self.error:g}, takes at least {self.releases:,} release{'s' * (self.releases != 1)} like this one.",
        )

    def document(self) -> Document:
        """Return the numbers by name."""
        return {
            "divergence": self.divergence,
            "total_variation": self.total_variation,
            "releases_needed": self.releases,
            "error": self.error,
            "exact": self.exact,
        }


@runtime_checkable
class HasDivergence(Protocol):
    """A mechanism whose Kullback-Leibler divergence between neighbours is known exactly."""

    def divergence(self) -> float | None:
        """Return the largest between neighbours; None if the privacy loss gives it."""


def distinguish(subject: Release | Mechanism, error: float = ERROR) -> Distinguishing:
    """Return how far apart neighbours are under a mechanism, and how many outputs it takes to tell them apart."""
    if not isinstance(subject, Release | Mechanism):
        raise DeclarationError(f"distinguish takes a release or a mechanism; got a {type(subject).__name__}.")
    mechanism = subject.mechanism if isinstance(subject, Release) else subject
    if not isinstance(error, int | float) or not 0 < error < 0.5:
        raise DeclarationError(f"The error of both decisions must lie between 0 and 1/2; got {error!r}.")
    loss = mechanism.privacy_loss()
    known = mechanism.divergence() if isinstance(mechanism, HasDivergence) else None
    told = draws_needed(loss.divergence, error, loss.beyond) if loss.divergence > 0 else None
    if known is None:
        needed = told if told is not None else draws_needed(1e-300, error, max(loss.beyond, 1e-300))
        return Distinguishing(loss.divergence, loss.delta_at(0), needed, error, exact=False)
    needed = max(draws_needed(known, error), told or 1)
    return Distinguishing(known, loss.delta_at(0), needed, error, exact=True)


def draws_needed(divergence: float, error: float, beyond: float = 0.0) -> int:
    """Return how many draws, at least, give both errors of the best test at most `error`.

    If the divergence holds except on an event of probability `beyond` in each draw, n draws avoid that event except
    with probability n `beyond`, and the errors of the test grow by no more than that.

    >>> draws_needed(2.0e-6, 0.05)
    1324998
    """
    if not 0 < error < 0.5 or divergence <= 0:
        raise DeclarationError("The error must lie between 0 and 1/2, and the divergence must be above 0.")

    def suffices(draws: int) -> bool:
        chance = error + draws * beyond
        return chance >= 0.5 or draws * divergence >= (1 - 2 * chance) * log((1 - chance) / chance)

    high = max(1, ceil((1 - 2 * error) * log((1 - error) / error) / divergence))
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def published_distance(constant: float, draws: int, error: float) -> float:
    """Return 3 ln(1/delta) / (4 L n), the distance from which theorem 3 claims that data sets can be told apart."""
    return 3 * log(1 / error) / (4 * constant * draws)


@click.command(name="distinguish")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--error", type=float, default=ERROR, show_default=True, help="The largest probability of either error.")
@as_json
@helpful
def command(release: Path, error: float, as_json: bool) -> None:
    """Show how many such releases an adversary would need to tell neighbouring data sets apart.

    \b
    Example:  discreet distinguish smoking-2026.release.json --error 0.01
    """
    found = distinguish(read_document(release), error)
    if as_json:
        return show_json(found.document())
    return say(*found.words)
