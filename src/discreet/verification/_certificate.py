"""A certificate: what was promised, what was checked, how, and what came out."""

from dataclasses import dataclass, field
from math import exp, inf

from discreet._core.exact import Exact, exact, exact_text
from discreet._core.notebook import NotebookRepr, html_table
from discreet.privacy import Evidence, Guarantee, PrivacyLoss


@dataclass(frozen=True)
class Certificate(NotebookRepr):
    """What `verify` checked, and what it found.

    `epsilon` bounds the loss of every output (pure epsilon); it is infinite where only a delta is promised. `exact`
    means that neighbouring data sets with exactly this loss were found, so that no smaller number holds. Each of
    `checks` begins with what was done: recomputed, compared, drawn, looked up, or by proof alone.
    """

    guarantee: Guarantee
    epsilon: float
    exact: bool
    evidence: Evidence
    worst_pair: tuple[tuple[int, ...], tuple[int, ...]]
    checks: tuple[str, ...]
    loss: PrivacyLoss = field(repr=False)
    rows: int = 1
    protects: str = "one record"
    promises: str | None = None
    """What is promised about being in the data and about what a record says, where the former is secret."""

    def delta_at(self, epsilon: Exact) -> float:
        """Return a delta that holds at this epsilon, by the stated privacy loss, for the whole unit (group privacy).

        It is rounded up.
        """
        each = exact(epsilon, "epsilon") / self.rows
        growth = sum(exp(i * float(each)) for i in range(self.rows))
        delta = self.loss.delta_at(each)
        return delta if self.rows == 1 else min(1.0, delta * growth * (1 + 1e-12))

    @property
    def pure_in_words(self) -> str:
        """Say what is known about the privacy loss of single outputs."""
        if self.epsilon == inf:
            return "no bound holds for every single output; delta allows for the exceptions"
        number = f"{self.epsilon:.9g}"
        if self.exact:
            return f"pure epsilon {number}, exact: neighbouring data sets were found whose loss is this large"
        times = f", {self.rows} times that of one record" if self.rows > 1 else ""
        return f"pure epsilon at most {number}{times}: an upper bound; the true value may be smaller"

    def __str__(self) -> str:
        given = self.guarantee
        change = given.adjacency.words(self.protects)
        promise = f"epsilon = {exact_text(given.epsilon)}, delta = {exact_text(given.delta)}, {change}"
        lines = [f"promised: {promise} ({given.evidence.value})", self.pure_in_words]
        lines += [] if self.promises is None else [self.promises]
        return "\n".join([*lines, *(f"- {check}" for check in self.checks)])

    def _repr_html_(self) -> str:
        """Return what was checked for a notebook."""
        title, *lines = str(self).splitlines()
        return html_table(title, (), [(line,) for line in lines], words=1)
