"""The exponent of the printed tables: e^(-epsilon H / LS), twice as strong as the mechanism they were to show.

The tables and formulas of the later Hellinger notes leave out the factor 1/2 and divide by the local sensitivity. Kept
to reproduce their digits. Its loss exceeds epsilon in nearly all settings, so it never publishes.
"""

from dataclasses import dataclass

from flint import arb

from discreet._core.exact import ball
from discreet.privacy import Evidence, Guarantee
from discreet_papers.as_published.hellinger_local import HellingerLocal


@dataclass(frozen=True, init=False, repr=False)
class HellingerTable(HellingerLocal, kind="HellingerTable", version=1):
    """P(r | k) ~ e^(-epsilon H(k, r) / LS(k)). For reproduction only: it has no guarantee."""

    def strength(self) -> arb:
        return ball(self.epsilon)

    @property
    def claim(self) -> Guarantee:
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="heading of the notes' tables")

    @property
    def guarantee(self) -> Guarantee:
        reason = "the exponent lacks a factor 1/2 and the local sensitivity depends on the data: the loss is larger"
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason=reason)
