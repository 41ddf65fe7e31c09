"""How robust a published law is, and how many releases like it an adversary needs to tell two neighbours apart.

Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) call an inference robust if neighbouring data sets have laws of a
small divergence (theorem 1), and ask how many draws tell them apart (theorem 3, whose inequality runs the wrong way;
see `certificates.distinguishing`). Both follow from the privacy loss that every mechanism states: a pair that dominates
all neighbours is at least as far apart as any of them, and whoever decides with both errors at most e needs

    n >= (1 - 2 e) ln((1 - e) / e) / KL

releases. That is what nobody can do better than; it is no promise that so many are enough.
"""

from dataclasses import dataclass

from discreet.certificates.distinguishing import draws_needed
from discreet.documents import Document
from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism
from discreet.releases import Release

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


def distinguish(subject: Release | Mechanism, error: float = ERROR) -> Distinguishing:
    """Return how far apart neighbours are under a mechanism, and how many outputs it takes to tell them apart."""
    if not isinstance(subject, Release | Mechanism):
        raise DeclarationError(f"distinguish takes a release or a mechanism; got a {type(subject).__name__}.")
    mechanism = subject.mechanism if isinstance(subject, Release) else subject
    if not isinstance(error, int | float) or not 0 < error < 0.5:
        raise DeclarationError(f"The error of both decisions must lie between 0 and 1/2; got {error!r}.")
    loss, known = mechanism.privacy_loss(), mechanism.divergence
    told = draws_needed(loss.divergence, error, loss.beyond) if loss.divergence > 0 else None
    if known is None:
        needed = told if told is not None else draws_needed(1e-300, error, max(loss.beyond, 1e-300))
        return Distinguishing(loss.divergence, loss.delta_at(0), needed, error, exact=False)
    needed = max(draws_needed(known, error), told or 1)
    return Distinguishing(known, loss.delta_at(0), needed, error, exact=True)
