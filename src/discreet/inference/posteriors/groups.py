"""Groups of cells by the levels of a column: their shares, the rates of an event in them, and whether these differ."""

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.exact import whole
from discreet.inference.differences import Difference, difference_between_groups
from discreet.inference.posteriors.events import column_named
from discreet.inference.posteriors.laws import OwnLaws
from discreet.inference.posteriors.row import Row
from discreet.inference.posteriors.states import States
from discreet.inference.posteriors.table import TablePosterior
from discreet.mathematics.distributions import BetaMixture
from discreet.mathematics.distributions.mixture_batch import MixtureBatch
from discreet.mathematics.distributions.proportions import log_dirichlet_rows
from discreet.reading import Case
from discreet.reading.own_sums import OwnSums
from discreet.records.columns import Column

_WIDE = 0.75  # a wider interval for a share mostly reflects the prior, whose own is 0.9 wide


class GroupPosterior(TablePosterior):
    """What is known about groups of cells, each read from its own noisy sum where no prior was declared."""

    answers = TablePosterior.answers | {"differ"}

    @cached_property
    def own_laws(self) -> OwnLaws | None:
        """Return the distributions from own sums, whatever the prior; nothing where sums have none."""
        sums = OwnSums(Case.of(self.releases))
        return OwnLaws(sums, self.size) if sums.refusal is None else None

    @cached_property
    def cell_laws(self) -> MixtureBatch:
        """Return the laws of all cells."""
        return self.laws.cells(range(len(self.model.cells)))

    def _groups(self, column: Column) -> list[Counts]:
        """Return the indices of the cells of each level of a column."""
        shape = [len(each.levels) for each in self.model.columns]
        codes = np.unravel_index(np.arange(len(self.model.cells)), shape)[self.model.columns.index(column)]
        return [np.flatnonzero(codes == place) for place in range(len(column.levels))]

    def _group_share(self, column: Column, place: int) -> BetaMixture:
        return self.laws.share(self._groups(column)[place])

    def asked(self, event: str, rows: Sequence[Row]) -> None:
        """Warn where its own sums leave a share almost unknown: the noise has then drowned its cells."""
        wide = [row for row in rows if row.high - row.low > _WIDE]
        if wide and self.laws.are_own_sums:
            first = f"P({event} | {wide[0].given})" if wide[0].given else f"P({event})"
            which = f"{first} and {len(wide) - 1} more" if len(wide) > 1 else first
            warnings.warn(
                f"{self.releases[0].label!r} says almost nothing about {which}: the noise has drowned these cells. "
                "Ask about fewer cells, pool groups, publish the margin itself, or use a larger epsilon.",
                LittleInformationWarning,
                stacklevel=4,
            )

    def states(self, count: int, seed: int | None = None) -> States:
        """Draw counts and probabilities given them, independently."""
        counts, logs, places = self.joint.drawn(whole(count, "count"), seed)
        return States({"theta": np.exp(logs)}, counts, 1, {"prior_place": places})

    def further(self, states: States, generator: np.random.Generator) -> Counts:
        """Draw the counts of as many further records."""
        theta = states.parameters["theta"]
        return generator.multinomial(self.size, theta / theta.sum(axis=1, keepdims=True))

    def prior_states(self, count: int, generator: np.random.Generator) -> States:
        """Draw probabilities from the prior; if its strength was learnt, all candidate strengths are equally likely."""
        models = [reading.model for reading in self.joint.readings]
        if len(models) < len(self.joint.log_evidences):  # some strengths were dropped
            models = list(self.model.proposals(True))
        if len(models) != len(self.joint.log_evidences):
            raise DeclarationError("some strengths of the prior were dropped, because no draw had them")
        shapes = np.array([model.concentration for model in models])[generator.integers(len(models), size=count)]
        return States({"theta": np.exp(log_dirichlet_rows(shapes, generator))})

    def differ(self, event: object, by: str, patience: float = 1.0) -> Difference:
        """Return whether the rate of an event differs between the levels of a column: a probability and a sentence.

        Anything that takes more than `patience` times the usual work is refused before it begins.
        """
        groups, inside = self._groups(column_named(self.columns, by)), self.model.places(event)

        def rates() -> Floats:
            return np.array([_rate(self.joint_means, places, inside) for places in groups])

        return difference_between_groups(self.model, self.releases, event, by, rates, patience)


def _rate(means: Floats, places: Counts, inside: Counts) -> float:
    """Return the expected share of an event in a group, from the means of all cells."""
    return float(means[np.intersect1d(places, inside)].sum() / means[places].sum())
