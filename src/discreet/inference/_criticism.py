"""What a check of a graph found: one line for each table and pair, and a verdict in plain words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from discreet._core.notebook import NotebookRepr, html_table, with_picture

_MOST_NAMED = 3
_HEADINGS = ("checked", "p-value", "distance", "90% of simulated studies", "fits")


@dataclass(frozen=True)
class Check:
    """How far a released table, or a pair of variables without an arrow, is from what the graph expects.

    `distance` is in units of the replicates' average, and 90 % of them lie within `usual`. `number` is the released
    number that is furthest off, with what was `released`, what was `expected`, and the range around it, from `low` to
    `high`, that holds 90 % of the replicates; for a pair, all of these have the released margins. `sd` is the standard
    deviation of the cell known best, or None for numbers that are not cells.
    """

    about: tuple[str, ...]
    release: str
    is_pair: bool
    p_value: float
    distance: float
    usual: tuple[float, float]
    number: str
    released: float
    expected: float
    low: float
    high: float
    sd: float | None
    is_misfit: bool = False

    def marked(self, is_misfit: bool) -> "Check":
        """Return the same check, decided."""
        return replace(self, is_misfit=is_misfit)

    @property
    def name(self) -> str:
        """Return what was checked, in words."""
        return " and ".join(self.about) + ", no arrow" if self.is_pair else f"table of {', '.join(self.about)}"

    def sentence(self, size: int) -> str:
        """Say what is wrong."""
        found = (
            f"{self.number}: released {self.released:,.0f} of {size:,}, expected {self.expected:,.0f} "
            f"(90 % of simulated studies: {self.low:,.0f} to {self.high:,.0f}); p = {self.p_value:.2g}"
        )
        if self.is_pair:
            first, second = self.about
            return f"{first} and {second} are not associated as the graph says ({found})."
        return f"The {self.name} is further from the graph than noise and sampling explain ({found})."


@dataclass(frozen=True, repr=False)
class Criticism(NotebookRepr):
    """How well released tables fit a graph, judged by simulated studies for which the graph is right.

    `checks` cover all tables, and all pairs without an arrow that appear in a released table; `unseen` are the other
    pairs without an arrow, about which the releases say nothing. `unjudged` are releases without noisy tables.
    """

    labels: tuple[str, ...]
    size: int
    checks: tuple[Check, ...]
    unseen: tuple[tuple[str, str], ...]
    unjudged: tuple[str, ...]
    replicates: int
    risk: float
    simulated: bool

    @property
    def misfits(self) -> tuple[Check, ...]:
        """Return the checks that fail, pairs before tables, the clearest first."""
        return tuple(sorted((c for c in self.checks if c.is_misfit), key=lambda c: (not c.is_pair, -c.distance)))

    @property
    def pairs(self) -> tuple[Check, ...]:
        """Return the checks of pairs."""
        return tuple(check for check in self.checks if check.is_pair)

    @property
    def fits(self) -> bool:
        """Return whether no check fails."""
        return not self.misfits

    @property
    def verdict(self) -> str:
        """Say in plain words whether the graph fits, what does not, and what could not be seen."""
        return " ".join([*(self._praise() if self.fits else self._blame()), *self._limits()])

    def _praise(self) -> list[str]:
        least = min(self.checks, key=lambda check: check.p_value)
        found = [
            f"Nothing that was released contradicts the graph: the smallest of {len(self.checks)} p-values is "
            f"{least.p_value:.2g} ({least.name})."
        ]
        known = [check.sd for check in self.pairs if check.sd is not None]
        if known:
            far = f"{4 * min(known) / self.size:.1%} of the records"
            found.append(
                f"That is no proof: an association of two variables that concerns less than about {far} goes unnoticed."
            )
        return found

    def _blame(self) -> list[str]:
        found = ["The released tables do not fit the graph."]
        found += [check.sentence(self.size) for check in self.misfits[:_MOST_NAMED]]
        if (more := len(self.misfits) - _MOST_NAMED) > 0:
            found.append(f"{more} more of {len(self.checks)} checks fail.")
        if any(check.is_pair for check in self.misfits):
            found.append("An arrow between the two, or a common cause, may be missing.")
        return found

    def _limits(self) -> list[str]:
        found = []
        if self.unseen:
            first, second = self.unseen[0]
            them = "1 pair" if len(self.unseen) == 1 else f"{len(self.unseen)} pairs"
            found.append(
                f"Nothing is said about {them} of variables without an arrow that no released table holds together, "
                f"such as {first} and {second}."
            )
        if self.unjudged:
            found.append(f"Not judged, as they hold no noisy tables: {', '.join(self.unjudged)}.")
        return found

    @property
    def method(self) -> str:
        """Say how it was found."""
        return (
            f"Checked by {self.replicates:,} simulated studies, each with its own noise. Such p-values are "
            f"conservative: if the graph is right, at most about {self.risk:.0%} of all studies are rejected (Holm's "
            "rule)."
        )

    def document(self) -> dict[str, object]:
        """Return everything that was found, for a machine."""
        return {
            "labels": list(self.labels),
            "size": self.size,
            "simulated": self.simulated,
            "fits": self.fits,
            "verdict": self.verdict,
            "checks": [asdict(check) | {"name": check.name} for check in self.checks],
            "unseen": [list(pair) for pair in self.unseen],
            "unjudged": list(self.unjudged),
            "replicates": self.replicates,
            "risk": self.risk,
        }

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Return the lines of a table, the smallest p-value first."""
        return [_line(check) for check in sorted(self.checks, key=lambda check: (check.p_value, -check.distance))]

    @property
    def headings(self) -> Sequence[str]:
        """Return the headings of that table."""
        return _HEADINGS

    def __repr__(self) -> str:
        return f"<criticism of {', '.join(map(repr, self.labels))}: {'fits' if self.fits else 'does not fit'}>"

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.method}"

    def _repr_html_(self) -> str:
        """Return the table of checks for a notebook; everything in it is text and nothing else."""
        page = html_table(self.verdict, self.headings, self.lines, 1, [self.method])
        return with_picture(page, "criticism_chart", self)


def _line(check: Check) -> tuple[str, ...]:
    usual = f"{check.usual[0]:.2f} to {check.usual[1]:.2f}"
    return check.name, f"{check.p_value:.3f}", f"{check.distance:.2f}", usual, "no" if check.is_misfit else "yes"
