"""The noise-aware posterior of a table: the probability of each cell, exactly, with its interval.

theta | z is the mixture sum_k P(k | z) Dirichlet(alpha + k) over the true counts k, so each cell is a mixture of Betas.
Where no prior was declared, `distributions` answers every question from its noisy total; of two cells these are the
table. All cells `together` are then read under the crossed prior, by chains, if there are enough of them: means and
draws are its. What is known in closed form for Dirichlet priors alone, evidence and information, stays with `joint`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, digamma

from discreet._core.arrays import Floats
from discreet.inference import PROBABILITY, EventPosterior, Posterior, Problem, Row, little_information
from discreet.mathematics.distributions import ROUNDED, Dirichlet, MixtureBatch, Share, ends_of, tails
from discreet.mechanism import Cell, Simulated, event_name, sized
from discreet.records import Level, level_text
from discreet.release import Release
from discreet.tables._group_distributions import GroupDistributions, JointDistributions, JointPosterior, MixedGroups
from discreet.tables._model import CROSSED_FROM, Categories
from discreet.tables._prior_conflict import outweighed_level
from discreet.tables._solution import TableSolution

if TYPE_CHECKING:
    from discreet.tables._drawn_table import DrawnTable

_FEW = 1  # more cells than this are summed all at once, which takes a fraction of the time


class TablePosterior(EventPosterior[Categories]):
    """What a reader knows about the probabilities of the cells, one by one, with the noise accounted for."""

    def __init__(
        self, model: Categories, releases: Sequence[Release[Categories]], solutions: Sequence[TableSolution]
    ) -> None:
        self.model, self.releases = model, tuple(releases)
        super().__init__(model, self.releases, self._size())
        self._known_rows: dict[tuple[float, float], tuple[Row, ...]] = {}
        self.joint = self.joint_type(solutions)
        self.solutions = self.joint.solutions
        self.is_uniform_pair = len(model.cells) == 2 and set(model.prior) == {
            1.0
        }  # the joint posterior is the groupwise one
        plain = (
            self.joint
            if model.is_prior_declared
            else self.joint_type(solutions, Share)
            if self.is_uniform_pair
            else None
        )
        self.own_distributions: MixedGroups = plain or self.groupwise_distributions or self.joint
        self.distributions: GroupDistributions = self.own_distributions

    joint_type = JointPosterior
    """What all cells read together are."""

    def _size(self) -> int:
        """Return the number of records."""
        return sized(self.releases[0].mechanism).size

    @property
    @abstractmethod
    def groupwise_distributions(self) -> MixedGroups | None:
        """Return the groupwise distributions, whatever the prior; None where there are none."""

    @property
    def problem(self) -> Problem[Categories]:
        """Return what was read, under the reader's prior."""
        return replace(Problem.of(self.releases), model=self.model)

    @cached_property
    def is_crossed(self) -> bool:
        """Return whether cells are read together under the crossed prior, which needs a public number of records."""
        if self.about or self.model.is_prior_declared or len(self.model.cells) < CROSSED_FROM:
            return False
        from discreet.tables._crossed_solver import CrossedSolver

        return CrossedSolver().rejection(self.problem) is None

    @cached_property
    def drawn(self) -> "DrawnTable | None":
        """Return the draws of chains under the crossed prior, None where all cells are read under another."""
        if not self.is_crossed:
            return None
        from discreet.tables._crossed_solver import CrossedSolver
        from discreet.tables._drawn_table import DrawnTable

        return DrawnTable(CrossedSolver().solve(self.problem))

    @property
    def together(self) -> JointDistributions:
        """Return what all cells say together: by chains under the crossed prior, or under the Dirichlet priors."""
        return self.drawn or self.joint

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each cell, named by its event: means add up to 1, intervals are of each cell alone."""
        if (outside := tails(level)) not in self._known_rows:  # tables, pictures and statements ask for the same
            self._known_rows[outside] = self.some_rows(range(len(self.model.cells)), level)
        return self._known_rows[outside]

    def some_rows(self, indices: Sequence[int], level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of some cells; no others are computed."""
        names = [self.event_of(self.model.cells[index]) for index in indices]
        if len(names) > _FEW:
            found, off = self.distributions.summaries(indices, level)
        else:
            shares = [self.distributions.share(np.array([index])) for index in indices]
            found, off = [share.summary(level) for share in shares], [share.numerical_error(level) for share in shares]
        errors, rough = self.together.mean_errors, self.together.weight_error
        off = [None if rough is None or each is None else max(each, ROUNDED + rough) for each in off]
        means = self.joint_means[list(indices)].tolist()
        figures = zip(names, means, found, [errors[p] for p in indices], off, strict=True)
        return tuple(Row(name, "", mean, *own[1:], PROBABILITY, drawn, by) for name, mean, own, drawn, by in figures)

    @classmethod
    def planned(
        cls, posteriors: Sequence[Posterior], made: Sequence[Simulated], indices: Sequence[int], level: float
    ) -> Floats:
        """Return these figures of some cells; the intervals of all studies are found in one search.

        Means are those under the Dirichlet priors, which take no chains; where the crossed prior reads them, a real
        release has means that lie closer to the truth on most tables (docs/calibration.md).
        """
        tables = [each for each in posteriors if isinstance(each, TablePosterior)]
        truth = np.clip([each.truth for each in made], 1e-12, 1 - 1e-12)[:, list(indices)]
        means, widths, scores = (np.empty(truth.shape) for _ in range(3))
        distributions: list[MixtureBatch] = [table.own_distributions.cells(indices) for table in tables]
        joined = MixtureBatch.joined(distributions)
        batches = [(slice(number, number + 1), own) for number, own in enumerate(distributions)]
        for own, batch in batches if joined is None else [(slice(None), joined)]:
            low, high = ends_of(batch, level, tables[0].own_distributions.are_opened)
            widths[own] = (high - low).reshape(-1, len(indices))
            scores[own] = batch.log_density(truth[own].ravel()).reshape(-1, len(indices))
        for number, table in enumerate(tables):
            means[number] = table.joint.means[list(indices)]
        shapes = tables[0].model.concentration + np.array([each.statistics for each in made])
        a, b = shapes[:, list(indices)], shapes.sum(axis=1, keepdims=True) - shapes[:, list(indices)]
        exact = (a - 1) * np.log(truth) + (b - 1) * np.log1p(-truth) - betaln(a, b)
        return np.stack([means, widths, scores, exact], axis=-1)

    def event_of(self, cell: Cell) -> str:
        """Return the text of a cell, such as 'ward=A, fall=yes'; for a single column, only the level."""
        names, levels = [column.name for column in self.model.columns], levels_of(cell)
        words = [event_name(name, known) for name, known in zip(names, levels, strict=True)]
        return level_text(levels[0]) if len(names) == 1 else ", ".join(words)

    @cached_property
    def joint_means(self) -> Floats:
        """Return the expected probability of every cell, all read together: they add up."""
        return self.together.means

    @cached_property
    def closest_dirichlet(self) -> Dirichlet:
        """Return the Dirichlet closest by Kullback-Leibler: the one with the same E[log theta]."""
        return Dirichlet.with_mean_logs(self.joint.expected(lambda a, total: digamma(a) - digamma(total)))

    @property
    def mean_prior(self) -> Floats:
        """Return the prior's parameters: of several strengths the mean, weighted by their evidence."""
        return np.asarray(sum(share * solution.model.concentration for share, solution in self.joint.weighed))

    @property
    def information(self) -> float:
        """Return the information gained, in nats: KL(closest Dirichlet || prior)."""
        return self.closest_dirichlet.divergence_from(Dirichlet(self.mean_prior))

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Warn of little information, and of the level that the prior outweighs most, if any.

        With a learnt strength, only if the largest is the most probable.
        """
        is_meant = self.model.is_prior_declared or float(self.joint.probabilities[-1]) > 0.5
        is_asked = is_meant and not (self.is_uniform_pair or self.own_records or self.is_crossed)
        return (*little_information(self), *(outweighed_level(self) if is_asked else ()))


def levels_of(cell: Cell) -> tuple[Level, ...]:
    """Return the level of each column in a cell."""
    return cell if isinstance(cell, tuple) else (cell,)
