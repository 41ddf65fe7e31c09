"""TwoStepMedian: a noisy table finds the edge that is nearest to the median, and the records below it are counted anew.

The first step is a `TreeTable` with half of epsilon. Its output alone decides which edge is considered: the one below
which the published number is nearest to half of the records, the lowest if there are several. The second step publishes
how many records lie below that edge, with Laplace noise of rate epsilon / 2, as one record moves it by 1 at most:

    P(z, y | k) = P_1(z | k) tanh(epsilon / 4) e^(-(epsilon / 2) |y - C_j(z)(k)|).

It is a sequence: how much each step may cost is fixed in advance, what the second looks at is not. For any output the
losses of both steps add up to epsilon at most, and so do their zCDP parameters, as the second holds for every edge. All
of it is charged before the first draw.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet._core.fields import Checked, Number, Whole, computed, converted, frozen
from discreet.mechanism import Measurement, OutputSpace, Quantities, Sized, accepted, noise_epsilon
from discreet.noise import MARGIN, Laplace
from discreet.noise.randomness import RandomBits
from discreet.numbers._table_mechanisms import TreeTable
from discreet.numbers._table_model import NumberTable
from discreet.privacy import Guarantee, PrivacyLoss


@dataclass(frozen=True)
class Below(Quantities):
    """How many records lie below one edge of a table."""

    model: NumberTable
    edge: int

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1,)

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the sum of all cells below the edge."""
        sums: NumbersT = np.asarray(counts)[..., : self.edge].sum(axis=-1, keepdims=True)
        return sums

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return the number for every cell below the edge."""
        is_below = np.arange(self.model.count) < self.edge
        return np.asarray(values) * is_below

    def changes(self) -> tuple[Counts, ...]:
        """Return that a record moves it by 1."""
        return (np.ones(1, dtype=np.int64),)


@frozen(repr=False)
class TwoStepMedian(Sized[NumberTable], kind="TwoStepMedian"):
    """A noisy table, then a count below the edge nearest to its median: pure epsilon-DP, charged as a whole.

    >>> table = NumberTable("age", bounds=(0, 100), cells=64, quantiles=("0.5",), missing=40)
    >>> TwoStepMedian(table, size=1000, epsilon=1).guarantee.epsilon
    Fraction(1, 1)
    """

    model: Checked[NumberTable] = computed(accepted(NumberTable, "publishes a median from a NumberTable; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)

    def __post_init__(self) -> None:
        if self.model.by is not None or self.model.leaves_gaps_out:
            raise DeclarationError(
                "A median in two steps needs the number of records to be known. Declare `missing`, the number that "
                "missing values count as, and ask without groups, or use a TreeTable, which has neither restriction."
            )
        if Fraction(1, 2) not in self.model.quantiles:
            raise DeclarationError(
                "TwoStepMedian spends half of epsilon on the median, which is not among the requested quantiles. Add "
                "0.5 to them, or leave the mechanism out."
            )

    @cached_property
    def table(self) -> TreeTable:
        """Return the first step."""
        return TreeTable(self.model, self.size, self.epsilon / 2)

    @cached_property
    def noise(self) -> Laplace:
        """Return the noise of the second step."""
        return Laplace((self.epsilon / 2,), (1,))

    def edges_of(self, tables: ArrayLike) -> Counts:
        """Return for rows of published tables the inner edge, 1, 2, ..., that the second step looks at."""
        below = np.cumsum(np.asarray(tables), axis=-1)[..., :-1]
        return np.asarray(np.argmin(np.abs(2 * below - self.size), axis=-1) + 1)

    @property
    def guarantee(self) -> Guarantee:
        """Return epsilon, the sum of both steps."""
        why = "two steps of epsilon/2 each, fixed in advance; what the second looks at follows from the first (basic)"
        return Guarantee(self.epsilon, reason=why)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of the worst mechanism with this epsilon: losses of adaptive steps are not convolved."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def rho(self) -> Fraction:
        return self.table.rho + self.noise.privacy_loss(np.ones(1, dtype=np.int64)).rho

    @property
    def space(self) -> OutputSpace:
        """Return a table of the first step, and a number not too far from the possible ones."""
        return OutputSpace(self.model.count + 1, self._why_impossible)

    def _checked(self, counts: ArrayLike) -> Counts:
        return self.model.numbers(counts, self.model.count, self.size)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw both steps for each row of simulated counts; secret statistics must go through `publish`."""
        rows = self._checked(counts)
        tables = self.table.sample(rows, bits)
        below = self._below(rows, self.edges_of(tables))
        noise = self.noise.sample(int(np.prod(below.shape)), bits).reshape(below.shape)
        return np.concatenate([tables, (below + noise)[..., None]], axis=-1)

    @staticmethod
    def _below(counts: Counts, edges: Counts) -> Counts:
        """Return how many records lie below an edge, for rows of either."""
        sums = np.cumsum(counts, axis=-1)
        shape = np.broadcast_shapes(sums.shape[:-1], edges.shape)
        wide = np.broadcast_to(sums, (*shape, sums.shape[-1]))
        return np.take_along_axis(wide, np.broadcast_to(edges, shape)[..., None] - 1, axis=-1)[..., 0]

    def measured(self, counts: Counts) -> Counts:
        """Return the table, and how many records lie below the edge that it leads to itself."""
        rows = np.asarray(counts)
        return np.concatenate([rows, self._below(rows, self.edges_of(rows))[..., None]], axis=-1)

    def log_prob(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        found, rows = np.asarray(output), np.asarray(counts)
        tables, last = found[..., :-1], found[..., -1]
        away = last - self._below(rows, self.edges_of(tables))
        return np.asarray(self.table.log_prob(tables, rows) + self.noise.log_prob(away[..., None]))

    def _why_impossible(self, output: Counts) -> str | None:
        if (words := self.table.space.refusal(output[:-1])) is not None:
            return words
        is_far = abs(int(output[-1])) > self.size + 10**6 * (1 + float(self.noise.decay_length.max()))
        return "The output holds numbers too large to be read." if is_far else None

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return the table, and the number below the edge that follows from it."""
        values = np.asarray(output)
        edge = int(self.edges_of(values[:-1])) if len(values) == self.space.length else 1  # not drawn yet
        return *self.table.evidence(values[:-1]), Measurement(Below(self.model, edge), values[-1:], self.noise)

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return tables near these data sets, each with all numbers that are likely below any edge."""
        far = int(MARGIN * float(self.noise.decay_length.max()) / 3) + 2
        last = np.arange(-far, self.size + far + 1)
        tables = self.table.outputs_for(counts, max(1, most // len(last)))
        if tables is None:
            return None
        return np.column_stack([np.repeat(tables, len(last), axis=0), np.tile(last, len(tables))])
