"""NetworkSampling: publish all tables of a network, drawn from their posterior.

Each row of each table is one draw from its own Dirichlet posterior, published on a grid as `PosteriorSampling` does.
One record changes a cell in the table of *every* node, so what one draw costs grows with the number of nodes:

- if every probability is at least `least`, R = 2 sum_i ln((1 - (K_i - 1) least) / least), K_i the levels of node i,
  and the draw is pure R-differentially private (tempered by a power tau of the likelihood: tau R);
- without a least, each node costs the universal pair of `_network_loss`, or less if it has no parents and
  the number of records is public, and their losses add.

Zhang, Rubinstein and Dimitrakakis (2016), appendix C.2, charge 2 ln(1 / least) for the whole network, which is what one
leaf costs at most; `NetworkSampling.published` draws as they do and states what that costs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from math import exp, inf, log, prod

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, probability, rounded_down, rounded_up, whole
from discreet._core.fields import Checked, Number, OptionalNumber, Whole, computed, converted, frozen, optional
from discreet.draws._calibration import least_probability, nearest
from discreet.draws._composition import dominating_loss
from discreet.draws._lipschitz import network_range
from discreet.draws._loss import Curve
from discreet.draws._network_loss import NodeCurve, composed_draws, composed_draws_about, least_epsilon
from discreet.draws._posterior_draws import PosteriorDraws
from discreet.draws._posterior_sampling import GRID_BITS
from discreet.draws._privacy_curves import SLACK, least_fitting
from discreet.draws._truncation import Truncation, enough_grid_bits
from discreet.mathematics.distributions import CertifiedBeta
from discreet.mechanism import (
    MOST_GRID_BITS,
    GridDistribution,
    OutputSpace,
    accepted,
    broken_sticks,
    grid_points,
    stick_distributions,
)
from discreet.networks import Network
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss, last_that_fits

_LARGEST_CLAIM = 1000  # e^-500 is still a float


@frozen(repr=False)
class NetworkSampling(PosteriorDraws[Network], kind="NetworkSampling", version=2):
    """Draws of all tables from the posterior of a network: (epsilon, delta)-DP, or pure epsilon-DP with a `least`.

    The output holds, for each draw, each variable and each row of its table, the sticks of that row (stick-breaking) as
    cells of a grid. `strength` is the prior's parameter, one for all, that draws are made under if privacy demands a
    stronger prior than the network's, which readers keep. The guarantee is certified when the mechanism is made;
    `plain`, `tempered`, `concentrated` and `truncated` find suitable settings, `published` those of a paper.

    >>> net = Network.naive_bayes("y", ["a", "b"], dict.fromkeys("yab", (0, 1)), outside=0)
    >>> round(float(NetworkSampling.truncated(net, size=100, epsilon="3").least), 9)  # 1 / (1 + e^(3/6))
    0.377540669
    """

    why_private = "curves of all nodes, composed"

    model: Checked[Network] = computed(accepted(Network, "draws the tables of a Network; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(positive)
    delta: Number = converted(probability, default=0)
    power: Number = converted(positive, default=1)
    draws: Whole = converted(partial(whole, most=1000), default=1)
    grid_bits: Whole = converted(partial(whole, most=MOST_GRID_BITS), default=GRID_BITS)
    least: Number = converted(probability, default=0)
    strength: OptionalNumber = converted(optional(positive), default=None, left_out=None)

    def __post_init__(self) -> None:
        if self.power > 1:
            raise DeclarationError(f"power must be at most 1; got {exact_text(self.power)}.")
        if self.least:
            self._certify_truncated()
        else:
            self._certify()

    @cached_property
    def drawn_under(self) -> Network:
        """Return the network under the prior that draws are made from: its own, or `strength` for every parameter."""
        return self.model if self.strength is None else self.model.with_prior(float(self.strength))

    def _certify(self) -> None:
        """Refuse numbers that do not give the stated guarantee, by certified arithmetic."""
        _above_zero(self.delta)
        found = self._curve(self.epsilon)
        if found > float(self.delta) * (1 - SLACK):
            raise DeclarationError(
                f"These draws have delta = {found:.6g} at epsilon = {exact_text(self.epsilon)}, above the stated "
                f"{exact_text(self.delta)}. To have suitable numbers found, use NetworkSampling.plain, .tempered, "
                ".concentrated or .truncated."
            )

    def _certify_truncated(self) -> None:
        if self.delta:
            raise DeclarationError("With a least probability the guarantee is pure (delta = 0): leave delta out.")
        most = max(_levels(self.model))
        if self.least * most >= 1:
            raise DeclarationError(
                f"The probabilities of a variable with {most} levels cannot all be {exact_text(self.least)} or more: "
                f"least must be below 1/{most}."
            )
        if self.loss_range > self.epsilon:
            raise DeclarationError(
                f"These draws cost epsilon = {float(self.loss_range):.9g}, above the stated "
                f"{exact_text(self.epsilon)}. To have suitable numbers found, use NetworkSampling.truncated."
            )
        if any(self._truncation(levels).is_empty for levels in set(_levels(self.model))):
            raise DeclarationError("The grid is too coarse for this least probability: use more grid_bits.")
        for prior in _priors(self.drawn_under):
            found = self._truncation(len(prior)).refusal(sum(prior, self.power * self.size), min(prior))
            if found is not None:
                raise DeclarationError(found)

    @staticmethod
    def nodes(model: Network, size: int, draws: int) -> Mapping[NodeCurve, int]:
        """Return for each privacy curve how many independent losses follow it: nodes times draws."""
        found = Counter[NodeCurve]()
        for family, row in zip(model.families, model.prior, strict=True):
            first, second = sorted(Fraction(value) for value in row)[:2]
            alone = NodeCurve(first, second, size if len(row) == 2 else None)
            found[alone if len(family) == 1 else NodeCurve.universal(first)] += draws
        return found

    @classmethod
    def plain(cls, model: Network, *, size: int, delta: Exact, draws: int = 1) -> "NetworkSampling":
        """Return draws from the untempered posterior, with the epsilon that they have at this delta."""
        allowed = _above_zero(delta)
        nodes = cls.nodes(_network(model), whole(size, "size"), whole(draws, "draws", most=1000))
        found = least_epsilon(composed_draws(nodes, Fraction(1), allowed), allowed * Fraction(1 - 2 * SLACK))
        return cls(model, size, rounded_up(found, 9), allowed, draws=draws)

    @classmethod
    def tempered(cls, model: Network, *, size: int, epsilon: Exact, delta: Exact, draws: int = 1) -> "NetworkSampling":
        """Return draws with the largest power of the likelihood that gives this guarantee."""
        asked = positive(epsilon, "epsilon"), _above_zero(delta)
        nodes = cls.nodes(_network(model), whole(size, "size"), whole(draws, "draws", most=1000))
        found = last_that_fits(lambda power: _excess(nodes, Fraction(power), *asked), 1e-9, 1.0)
        return nearest(lambda power: cls(model, size, *asked, power=rounded_down(power), draws=draws), found, -1)

    @classmethod
    def concentrated(
        cls, model: Network, *, size: int, epsilon: Exact, delta: Exact, draws: int = 1
    ) -> "NetworkSampling":
        """Return draws under the weakest prior, one number for all parameters, that gives this guarantee.

        That prior is a cost of privacy, like noise, and nobody's belief: readers keep the prior of the network.
        """
        asked = positive(epsilon, "epsilon"), _above_zero(delta)
        facts = whole(size, "size"), whole(draws, "draws", most=1000)
        _network(model)

        def build(number: float) -> NetworkSampling:
            return cls(model, size, *asked, draws=draws, strength=rounded_up(number))

        def above(number: float) -> float:
            return _excess(cls.nodes(model.with_prior(number), *facts), Fraction(1), *asked)

        found = last_that_fits(above, 1e6, 1e-3)
        return nearest(build, found, 1)

    @classmethod
    def truncated(
        cls, model: Network, *, size: int, epsilon: Exact, least: Exact | None = None, draws: int = 1
    ) -> "NetworkSampling":
        """Return pure epsilon draws in which every probability is at least `least`.

        The power is epsilon / (draws R), at most 1. By default `least` needs no tempering, R(least) = epsilon / draws:
        it is 1 / (K - 1 + e^(epsilon / (2 |I| draws))) if all |I| variables have K levels.
        """
        each = positive(epsilon, "epsilon") / whole(draws, "draws", most=1000)
        if least is None:
            found = least_probability(_levels(_network(model)), float(each))
            return nearest(lambda w: cls._cut(model, size, epsilon, draws, rounded_up(w)), found, 1)
        floor = positive(least, "least")
        most = min(Fraction(1), each / network_range(_levels(_network(model)), floor))
        return cls._cut(model, size, epsilon, draws, floor, rounded_down(most))

    @classmethod
    def _cut(
        cls, model: Network, size: int, epsilon: Exact, draws: int, least: Fraction, power: Fraction = Fraction(1)
    ) -> "NetworkSampling":
        """Return truncated draws on a grid that is fine enough."""
        added = power * whole(size, "size")
        bits = max(enough_grid_bits(GRID_BITS, len(prior), least, prior, added) for prior in _priors(model))
        return cls(model, size, epsilon, power=power, draws=draws, grid_bits=bits, least=least)

    @classmethod
    def published(cls, model: Network, *, size: int, claimed: Exact, draws: int = 1) -> "NetworkSampling":
        """Return the draws of a paper for its epsilon, least = e^(-claimed / 2), with the epsilon that they truly have.

        The claim is 2 ln(1 / least) for any number of nodes and draws. No probabilities remain if claimed is at most 2
        ln K for a variable with K levels.
        """
        stated, levels = positive(claimed, "claimed"), _levels(_network(model))
        if stated > _LARGEST_CLAIM:
            raise DeclarationError(f"claimed must be at most {_LARGEST_CLAIM}; got {exact_text(stated)}.")
        floor = rounded_up(exp(-float(stated) / 2))
        if floor * max(levels) >= 1:
            raise DeclarationError(
                f"The published rule requires probabilities of at least e^(-claimed/2) = {float(floor):.4g}, which a "
                f"variable with {max(levels)} levels cannot have: claimed must be above 2 ln {max(levels)} = "
                f"{2 * log(max(levels)):.4f}; got {exact_text(stated)}."
            )
        true = whole(draws, "draws", most=1000) * network_range(levels, floor)
        try:
            return cls._cut(model, size, rounded_up(true), draws, floor)
        except DeclarationError as problem:
            words = str(problem)
        raise DeclarationError(
            f"claimed = {exact_text(stated)} requires probabilities that cannot be drawn. State another claim. {words}"
        )

    @property
    def loss_range(self) -> Fraction:
        return self.draws * self.power * network_range(_levels(self.model), self.least)

    @cached_property
    def least_epsilon(self) -> Fraction:
        allowed = float(self.delta) * (1 - SLACK)
        return least_fitting(lambda index: self._curve(index) <= allowed, self.epsilon)

    @cached_property
    def _curve(self) -> Curve:
        return composed_draws(self.nodes(self.drawn_under, self.size, self.draws), self.power, self.delta)

    def delta_at(self, epsilon: Fraction) -> float:
        """Return an upper bound on delta at another epsilon; for truncated draws, that of any pure mechanism."""
        return self.privacy_loss().delta_at(epsilon) if self.least else self._curve(epsilon)

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates all neighbours: randomised response if pure, else chords of the whole curve."""
        if self.least:
            return PrivacyLoss.worst_case(self.cost)
        return dominating_loss(self._curve, float(self.delta) / 10, self.cost).loss

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Return for each variable how many rows its table has, and how many levels a row."""
        families = (self.model.shape(family) for family in self.model.families)
        return tuple((prod(shape[:-1]), shape[-1]) for shape in families)

    @property
    def space(self) -> OutputSpace:
        """Return cells of the grid; of truncated draws those whose probabilities are at least the declared one."""
        return OutputSpace(self.draws * self.draw_length, self._why_impossible)

    @property
    def draw_length(self) -> int:
        """Return how many whole numbers one draw has."""
        return sum(rows * (levels - 1) for rows, levels in self.shapes)

    def _truncation(self, levels: int) -> Truncation:
        return Truncation(levels, self.least, self.grid_bits)

    def distributions(self, counts: Counts) -> list[tuple[CertifiedBeta, ...]]:
        """Return the distributions of the sticks of each row of each table, given one row of counts."""
        return [self._row_distributions(number, row[0].tolist()) for number, row in self._rows_of(counts[None])]

    def _rows_of(self, tables: Counts) -> Iterator[tuple[int, Counts]]:
        """Yield the number of its variable and the counts (tables, levels) of each row of each table."""
        for number, (variable, (rows, levels)) in enumerate(zip(self.model.variables, self.shapes, strict=True)):
            found = self.model.table(variable.name, tables).reshape(len(tables), rows, levels)
            yield from ((number, found[:, row]) for row in range(rows))

    def _row_distributions(self, number: int, counts: Sequence[int]) -> tuple[CertifiedBeta, ...]:
        """Return the distributions of the sticks of a row with these counts."""
        alpha = [Fraction(value) for value in self.drawn_under.prior[number]]
        largest = sum(alpha, self.power * self.size)  # of any row: how many records a row has is secret
        return stick_distributions([a + self.power * k for a, k in zip(alpha, counts, strict=True)], largest)

    def _by_row(self, outputs: Counts) -> Iterator[Counts]:
        """Yield the sticks of each row of each table, axes (..., sticks)."""
        start = 0
        for rows, levels in self.shapes:
            for _ in range(rows):
                yield outputs[..., start : start + levels - 1]
                start += levels - 1

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must add up to the public size {self.size}.")
        rows, indices = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(indices.ravel()), self.draws * self.draw_length), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(indices.ravel() == number)
            parts = [
                self._draw(distributions, len(same) * self.draws, bits) for distributions in self.distributions(row)
            ]
            drawn[same] = np.concatenate(parts, axis=1).reshape(len(same), -1)
        return drawn.reshape(*table.shape[:-1], -1)

    def _draw(self, distributions: tuple[CertifiedBeta, ...], count: int, bits: RandomBits) -> Counts:
        if self.least:
            return self._truncation(len(distributions) + 1).sample(distributions, count, bits)
        return np.column_stack(
            [GridDistribution(distribution, self.grid_bits).sample(count, bits) for distribution in distributions]
        )

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either: a sum over draws, tables, rows and sticks."""
        outputs, tables = np.asarray(output), np.asarray(counts)
        shape = np.broadcast_shapes(outputs.shape[:-1], tables.shape[:-1])
        outputs = np.broadcast_to(outputs, (*shape, outputs.shape[-1])).reshape(-1, self.draws, self.draw_length)
        tables = np.broadcast_to(tables, (*shape, tables.shape[-1])).reshape(-1, tables.shape[-1])
        logs = np.zeros(len(tables))
        for sticks, (number, counted) in zip(self._by_row(outputs), self._rows_of(tables), strict=True):
            distinct, indices = np.unique(counted, axis=0, return_inverse=True)  # far fewer than tables
            for which, row in enumerate(distinct.tolist()):
                same = np.flatnonzero(indices.ravel() == which)
                logs[same] += self._log_masses(sticks[same], self._row_distributions(number, row)).sum(axis=1)
        return logs.reshape(shape)

    def _log_masses(self, sticks: Counts, distributions: tuple[CertifiedBeta, ...]) -> Floats:
        unit = 2.0**-self.grid_bits
        parts = [
            distribution.log_mass(sticks[..., i] * unit, (sticks[..., i] + 1) * unit)
            for i, distribution in enumerate(distributions)
        ]
        logs = np.asarray(sum(parts))
        if not self.least:
            return logs
        truncation = self._truncation(len(distributions) + 1)
        return np.where(truncation.holds(sticks), logs - truncation.log_normaliser(distributions), -inf)

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs on this grid, or None if there are more than `most`."""
        return grid_points([(0, (1 << self.grid_bits) - 1)] * self.space.length, most)

    def parameters(self, output: Counts) -> dict[str, Floats]:
        """Return the drawn tables P(variable | parents) by name, axes (draws, parents..., levels)."""
        units = (np.asarray(output, dtype=float).reshape(-1, self.draw_length) + 0.5) / 2.0**self.grid_bits
        parts = np.split(units, np.cumsum([rows * (levels - 1) for rows, levels in self.shapes])[:-1], axis=1)
        tables = {}
        for family, part, (rows, levels) in zip(self.model.families, parts, self.shapes, strict=True):
            table = broken_sticks(part.reshape(-1, rows, levels - 1))
            tables[family[-1]] = table.reshape(-1, *self.model.shape(family))
        return tables

    def first_draw(self, output: Counts) -> dict[str, Floats]:
        """Return the tables of the first draw, axes (parents..., levels)."""
        return {name: table[0] for name, table in self.parameters(output).items()}

    def drawn_tables(self) -> list[tuple[tuple[str, ...], Floats, int]]:
        tables = zip(self.model.families, self.drawn_under.prior, self.shapes, strict=True)
        return [(family, np.array(prior), rows) for family, prior, (rows, _) in tables]

    def _why_impossible(self, output: Counts) -> str | None:
        if (output < 0).any() or (output >= 1 << self.grid_bits).any():
            return "The output holds numbers outside the grid of the draws."
        rows = self._by_row(output.reshape(self.draws, self.draw_length)) if self.least else ()
        are_kept = all(self._truncation(sticks.shape[-1] + 1).holds(sticks).all() for sticks in rows)
        return None if are_kept else "The output holds probabilities below the declared least."


def _network(model: Network) -> Network:
    if not isinstance(model, Network):
        raise DeclarationError(f"NetworkSampling draws the tables of a Network; got a {type(model).__name__}.")
    return model


def _above_zero(delta: Exact) -> Fraction:
    """Return the delta of draws that are not truncated."""
    found = probability(delta, "delta")
    if not found:
        raise DeclarationError("A posterior draw has no pure epsilon: state a delta above 0, or a least probability.")
    return found


def _levels(model: Network) -> list[int]:
    return [len(variable.levels) for variable in model.variables]


def _priors(model: Network) -> list[list[Fraction]]:
    return [[Fraction(value) for value in prior] for prior in model.prior]


def _excess(nodes: Mapping[NodeCurve, int], power: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    """Return, from floats, the logarithm of the delta of such draws over what is allowed."""
    found = composed_draws_about(nodes, power, delta)(epsilon)
    return log(max(found, 1e-300) / (float(delta) * (1 - 2 * SLACK))) if delta else inf
