"""PairGaussians: one-way tables, scores of all pairs of columns, then the pairs that are worth it, with Gaussian noise.

It is a sequence: what each step may cost is fixed in advance, and what it asks follows from what the steps before it
published. All of it is charged before the first draw. With rho found from (epsilon, delta), and d columns, P pairs:

    one-way    z_j = k_j + N(0, v)                    all columns j; the share `one_way` of rho
    scores     s_ab = |k_ab - r_ab|_1 + N(0, w)       all pairs, in each of `rounds` rounds; together the share `scores`
    tables     y_ab = k_ab + N(0, v_ab)               in each round, those pairs that are worth it: what is left of rho
    check      c_ab = |k_ab - r_ab|_1 + N(0, u)       pairs that were never measured; the share `check`, if it is bought

N is discrete Gaussian noise on whole numbers, k_ab are the counts of a pair, and r_ab whole numbers that follow from
what was published before. A replaced record moves two cells of a table by one, |change|_2^2 = 2, and a score by 2 at
most, since | |k - r|_1 - |k' - r|_1 | <= |k - k'|_1 = 2. The zCDP of Gaussian noise is the squared sensitivity over
twice the variance (Canonne, Kamath and Steinke, 2020), and it adds whatever later steps ask (Bun and Steinke, 2016):

    one-way 2 d / (2 v),    scores 4 P / (2 w),    tables sum 2 / (2 v_ab),    check 4 C / (2 u),

each no more than its part of rho. Which pairs are measured and how finely differs from output to output, but the sum of
a step is a constant: `parts` are whole numbers of 2^-20 of its rho, rounded down.

Where a record may come or go (`GaussianPairTables`), it moves one cell of a table and a score by 1: the numerators are
d, P, 1 and C.

r_ab of the first round is the product of one-way readings, of later rounds and the check the model that has the largest
entropy (`maximum_entropy`). How precisely each pair is measured makes the expected loss smallest (`ExpectedLoss`),
among pairs that keep the model below 15 n sqrt(rho) cells, n as published, and below `cells`: the largest gains first.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import combinations, product
from math import comb, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import Exact, exact, exact_text, rounded_up, whole
from discreet._core.fields import Checked, Number, Whole, computed, converted, frozen
from discreet.mechanism import (
    MOST_RECORDS,
    Measurement,
    Mechanism,
    Model,
    OutputSpace,
    Part,
    Quantities,
    Sized,
    accepted,
    noise_epsilon,
)
from discreet.noise import Gaussian
from discreet.noise.randomness import RandomBits, any_gaussian
from discreet.privacy import (
    Adjacency,
    Guarantee,
    PrivacyLoss,
    concentrated_loss,
    reached_delta,
    zcdp_limit,
)
from discreet.synthesis._junction_tree import Columns, TreeDistribution, within
from discreet.synthesis._maximum_entropy import NoisyTable, maximum_entropy, one_way_shares
from discreet.synthesis._model import Pair, Synthesis
from discreet.synthesis._precision import ExpectedLoss, expected_scores, gain
from discreet.tables import gaussian_delta

PARTS = 2**20
"""Into how many parts the rho of the tables of a round is divided."""
_ROUNDS, _CELLS, _ONE_WAY, _SCORES = 2, 400_000, Fraction(1, 10), Fraction(7, 100)
_CELLS_PER = 15  # of a model, for each record and root of rho
MOST_CELLS_OF_A_MODEL = 10_000_000
_MOST_ROUNDS, _DIGITS = 4, 6  # digits of a variance
_STEPS, FINAL_STEPS = 120, 300  # of the fit that the scores of later rounds are held against, and of the last one
_FARTHEST = 10**6  # standard deviations of noise beyond which outputs are not read
_USUAL = (("rounds", _ROUNDS), ("cells", _CELLS), ("one_way", _ONE_WAY), ("scores", _SCORES), ("check", 0))
_MOST_SPREAD = 6  # the sum of all variances up to which outputs are listed
_REACHES, _LEAST_LISTED = 8, 0.01  # of noise in lists of outputs: most in all, and what they must hold at least
_MOST_KEPT = 2**12


@dataclass(frozen=True, eq=False)
class PairCounts(Quantities):
    """The counts of some tables of one or two columns (by number), one after the other."""

    model: Synthesis
    chosen: tuple[tuple[int, ...], ...]

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        return tuple(int(np.prod([self.model.levels[v] for v in columns])) for columns in self.chosen)

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        return {pair: index for index, pair in enumerate(self.model.pairs)}

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return their cells for one or many rows of counts of all pairs."""
        rows: NumbersT = np.asarray(counts)
        tables, ones = self.model.split(rows), self.model.one_way(rows)
        chosen = [ones[c[0]] if len(c) == 1 else tables[self._places[c]] for c in self.chosen]
        found: NumbersT = np.concatenate([table.reshape(*rows.shape[:-1], -1) for table in chosen], axis=-1)
        return found

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return for every cell of every pair the sum over the numbers that count it."""
        rows: NumbersT = np.asarray(values)
        found: NumbersT = np.zeros((*rows.shape[:-1], self.model.cells), dtype=rows.dtype)
        parts = np.split(rows, np.cumsum(self.blocks)[:-1], axis=-1)
        homes = [(0, 1), *((0, v) for v in range(1, len(self.model.levels)))]  # where `one_way` finds a column
        for columns, part in zip(self.chosen, parts, strict=True):
            pair = columns if len(columns) == 2 else homes[columns[0]]
            place, (a, b) = self._places[pair], pair
            table = part.reshape(*rows.shape[:-1], *(self.model.levels[v] for v in columns))
            if len(columns) == 1:
                table = np.expand_dims(table, -1 if columns[0] == a else -2)
            shape = (*rows.shape[:-1], self.model.levels[a], self.model.levels[b])
            whole_table = np.broadcast_to(table, shape).reshape(*rows.shape[:-1], -1)
            found[..., self.model.starts[place] : self.model.starts[place + 1]] += whole_table
        return found

    def changes(self) -> tuple[Counts, ...]:
        """Return the one change that has the most of all: in every table one unit moves."""
        change = np.zeros(self.length, dtype=np.int64)
        starts = np.cumsum([0, *self.blocks])
        change[starts[:-1]], change[starts[1:] - 1] = 1, -1
        return (change,)

    def additions(self) -> tuple[Counts, ...]:
        """Return one unit more in every table."""
        change = np.zeros(self.length, dtype=np.int64)
        change[np.cumsum([0, *self.blocks[:-1]])] = 1
        return (change,)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the columns of each table."""
        return tuple(tuple(self.model.columns[v].name for v in columns) for columns in self.chosen)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return which numbers are cells of which table."""
        starts = np.cumsum([0, *self.blocks[:-1]]).tolist()
        found = []
        for names, columns, start, cells in zip(self.tables, self.chosen, starts, self.blocks, strict=True):
            shape = [self.model.levels[v] for v in columns]
            found.append(Part(names, (True,) * len(names), np.arange(start, start + cells).reshape(shape)))
        return tuple(found)


class NoisyPairs(Mechanism[Synthesis]):
    """One-way tables, then rounds of scores and tables, then a check: what both kinds of neighbours share."""

    epsilon: Fraction
    delta: Fraction
    rounds: int
    cells: int
    one_way: Fraction
    scores: Fraction
    check: Fraction

    moved: ClassVar[int]
    """The squared length of the change that one record makes in a table."""
    step: ClassVar[int]
    """By how much one record moves a score at most."""
    neighbours: ClassVar[Adjacency]

    def __post_init__(self) -> None:
        if self.one_way <= 0 or self.scores <= 0 or self.check < 0 or self.one_way + self.scores + self.check >= 1:
            raise DeclarationError(
                "one_way, scores and check are shares of rho: one_way and scores above 0, check at least 0, and less "
                f"than 1 together, so that tables are left something; got {exact_text(self.one_way)}, "
                f"{exact_text(self.scores)} and {exact_text(self.check)}."
            )
        if self._largest_variance > 10**16:
            raise DeclarationError(
                f"epsilon = {exact_text(self.epsilon)} and delta = {exact_text(self.delta)} leave so little for each "
                f"of {len(self.model.pairs)} pairs that their noise would have a variance above 1e16. Choose a larger "
                "epsilon or fewer columns."
            )

    @property
    def _largest_variance(self) -> Fraction:
        """Return the largest variance of a number of any step but of tables, which may have any."""
        checks = [self.check_variance(len(self.model.pairs))] if self.check else []
        return max([self.one_way_variance, self.score_variance, *checks])

    @property
    def derived_fields(self) -> Collection[str]:
        return tuple(name for name, usual in _USUAL if getattr(self, name) == usual)

    @cached_property
    def whole_rho(self) -> Fraction:
        """Return the largest rho, rounded down, that gives (epsilon, delta), of which every step gets its share."""
        return zcdp_limit(self.epsilon, self.delta)

    @property
    def rho(self) -> Fraction:
        """Return what all steps cost together at most."""
        return self.whole_rho

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), which follows from rho."""
        steps = 1 + 2 * self.rounds + (self.check > 0)
        why = f"{steps} steps of discrete Gaussian noise whose shares of rho are fixed in advance (adaptive zCDP)"
        return Guarantee(self.epsilon, self.delta, self.neighbours, reason=why)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss that rho allows: losses of adaptive steps are not convolved."""
        return concentrated_loss(self.rho)

    def recomputed_delta(self) -> Fraction:
        """Return the delta that rho proves at epsilon, at the best order that was found."""
        found = Fraction(float(reached_delta(self.rho, self.epsilon).upper()))
        return min(found, self.delta) if found <= self.delta * (1 + Fraction(1, 10**6)) else found

    @cached_property
    def one_way_variance(self) -> Fraction:
        """Return the variance of every cell of a single column."""
        return rounded_up(self.moved * len(self.model.columns) / (2 * self.one_way * self.whole_rho), _DIGITS)

    @cached_property
    def score_variance(self) -> Fraction:
        """Return the variance of every score."""
        rho = self.scores * self.whole_rho / self.rounds
        return rounded_up(self.step**2 * len(self.model.pairs) / (2 * rho), _DIGITS)

    @cached_property
    def table_rho(self) -> Fraction:
        """Return what the tables of one round cost together at most."""
        return (1 - self.one_way - self.scores - self.check) * self.whole_rho / self.rounds

    def table_variance(self, part: int) -> Fraction:
        """Return the variance of the cells of a table with so many parts of the rho of its round."""
        return rounded_up(self.moved * PARTS / (2 * part * self.table_rho), _DIGITS)

    def check_variance(self, pairs: int) -> Fraction:
        """Return the variance of each of so many checks."""
        return rounded_up(self.step**2 * pairs / (2 * self.check * self.whole_rho), _DIGITS)

    @cached_property
    def _ones(self) -> int:
        return sum(self.model.levels)

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        """Return how many numbers each piece of an output has."""
        pairs = len(self.model.pairs)
        return (self._ones, *(pairs, pairs, self.model.cells) * self.rounds, *((pairs,) if self.check else ()))

    @cached_property
    def _edges(self) -> Counts:
        return np.cumsum([0, *self._lengths])

    @property
    def space(self) -> OutputSpace:
        """Return cells of single columns; for each round scores, parts and cells of pairs; and checks, if any."""
        return OutputSpace(int(self._edges[-1]), self._why_impossible)

    def pieces(self, output: Counts) -> list[Counts]:
        """Return the one-way cells; scores, parts and cells of each round; and the checks, for rows of outputs."""
        return np.split(np.asarray(output), self._edges[1:-1], axis=-1)

    def _why_impossible(self, output: Counts) -> str | None:
        _, *rest = self.pieces(output)
        if np.abs(output.astype(float)).max() > self._reach:
            return "The output holds numbers too large to be read."
        measured = np.zeros(len(self.model.pairs), dtype=bool)
        for number in range(self.rounds):
            _, parts, cells = rest[3 * number : 3 * number + 3]
            if (parts < 0).any() or int(parts.sum()) > PARTS:
                return f"The parts of a round must be whole numbers >= 0 that add up to at most {PARTS}."
            if cells[np.repeat(parts == 0, self.model.sizes)].any():
                return "The output has counts of a pair of columns that was not measured."
            measured |= parts > 0
        if self.check and rest[-1][measured].any():
            return "The output has a check of a pair of columns that was measured."
        return None

    @property
    @abstractmethod
    def _reach(self) -> float:
        """Return the largest number that an output may hold."""

    @abstractmethod
    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, or refuse what cannot be those of the records."""

    @abstractmethod
    def number_of_records(self, tables: Sequence[NoisyTable]) -> float:
        """Return the number of records, or what the published tables say of it."""

    def noisy_tables(self, output: Counts, rounds: int | None = None) -> list[NoisyTable]:
        """Return everything that was measured in the first rounds, of one output."""
        ones, *rest = self.pieces(output)
        precision = 1 / float(self.one_way_variance)
        columns = np.split(ones.astype(float), np.cumsum(self.model.levels)[:-1])
        found = [NoisyTable((number,), values, precision) for number, values in enumerate(columns)]
        for number in range(self.rounds if rounds is None else rounds):
            _, parts, cells = rest[3 * number : 3 * number + 3]
            tables = self.model.split(cells)
            for index in np.flatnonzero(parts).tolist():
                precision = 1 / float(self.table_variance(int(parts[index])))
                found.append(NoisyTable(self.model.pairs[index], tables[index].astype(float), precision))
        return found

    def model_after(self, output: Counts, rounds: int) -> TreeDistribution:
        """Return the model that was fitted to what the first rounds published: it depends on nothing else."""
        steps = _STEPS if rounds < self.rounds else FINAL_STEPS
        return _fitted(self, np.asarray(output, dtype=np.int64)[: self._edges[1 + 3 * rounds]].tobytes(), rounds, steps)

    def references(self, output: Counts, rounds: int) -> Counts:
        """Return r of all pairs, whole numbers, as they follow from the first rounds of one output."""
        ones = np.asarray(output, dtype=np.int64)[: self._edges[1 + 3 * rounds]]
        return _references(self, ones.tobytes(), rounds)

    def final_references(self, output: Counts) -> Counts:
        """Return r of all pairs as they follow from all rounds."""
        return self.references(output, self.rounds)

    def parts_for(self, output: Counts, number: int) -> Counts:
        """Return the parts of all pairs in a round, as they follow from one output up to the scores of that round."""
        published = np.asarray(output, dtype=np.int64)
        scores = published[self._edges[1 + 3 * number] : self._edges[2 + 3 * number]]
        kept = tuple(table.columns for table in self.noisy_tables(published, number))
        references = np.split(self.references(published, number).astype(float), self.model.starts[1:-1])
        likely = expected_scores(scores.astype(float), float(self.score_variance))
        precision = 2 * float(self.table_rho) / self.moved
        return shared_parts(self.model, references, likely, precision, self._cells_for(published), kept)

    def _cells_for(self, output: Counts) -> int:
        """Return how many cells the model may have: more where there are more records and less noise."""
        size = self.number_of_records(self.noisy_tables(output, 0))
        return int(min(self.cells, _CELLS_PER * size * sqrt(self.rho)))

    def _scores(self, counts: Counts, references: Counts) -> Counts:
        """Return |k - r|_1 of all pairs, for rows of counts; all pairs, whatever the records are."""
        found: Counts = np.add.reduceat(np.abs(counts - references), self.model.starts[:-1], axis=-1)
        return found

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw all steps for each row of simulated counts; secret statistics must go through `publish`."""
        rows = self.checked(counts)

        def noise(variance: Fraction, count: int) -> Counts:
            return any_gaussian(variance, count, bits)

        drawn = [self._drawn(row, noise) for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(drawn, dtype=np.int64).reshape(*rows.shape[:-1], -1)

    def _drawn(self, row: Counts, noise: Callable[[Fraction, int], Counts]) -> Counts:
        """Return the output for one row of counts; `noise` gives so many numbers of a variance, step by step."""
        output = np.concatenate(self.model.one_way(row)) + noise(self.one_way_variance, self._ones)
        measured = np.zeros(len(self.model.pairs), dtype=bool)
        for number in range(self.rounds):
            scores = self._scores(row, self.references(output, number))
            output = np.concatenate([output, scores + noise(self.score_variance, len(scores))])
            parts = self.parts_for(output, number)
            cells = np.zeros(self.model.cells, dtype=np.int64)
            for index in np.flatnonzero(parts).tolist():
                own = slice(int(self.model.starts[index]), int(self.model.starts[index + 1]))
                cells[own] = row[own] + noise(self.table_variance(int(parts[index])), self.model.sizes[index])
            output = np.concatenate([output, parts, cells])
            measured |= parts > 0
        if self.check:
            open_ = np.flatnonzero(~measured)
            checks = np.zeros(len(measured), dtype=np.int64)
            if len(open_):
                found = self._scores(row, self.references(output, self.rounds))[open_]
                checks[open_] = found + noise(self.check_variance(len(open_)), len(open_))
            output = np.concatenate([output, checks])
        return output

    def measured(self, counts: Counts) -> Counts:
        """Return what would be published without any noise."""
        rows = self.checked(counts)
        found = [self._drawn(row, _no_noise) for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(found, dtype=np.int64).reshape(*rows.shape[:-1], -1)

    def log_prob(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        """Return log P(output | counts): of all noise, step by step, where each asked what the output says."""
        found, rows = np.asarray(output, dtype=np.int64), self.checked(counts)
        shape = np.broadcast_shapes(found.shape[:-1], rows.shape[:-1])
        outputs = np.broadcast_to(found, (*shape, found.shape[-1])).reshape(-1, found.shape[-1])
        tables = np.broadcast_to(rows, (*shape, rows.shape[-1])).reshape(-1, rows.shape[-1])
        return self._log_prob(outputs, tables).reshape(shape)

    def _log_prob(self, outputs: Counts, rows: Counts) -> Floats:
        ones, *rest = self.pieces(outputs)
        measured = np.concatenate(self.model.one_way(rows), axis=-1)
        logs = Gaussian((self.one_way_variance,), (self._ones,)).log_prob(ones - measured)
        never = np.ones((len(outputs), len(self.model.pairs)), dtype=bool)
        for number in range(self.rounds):
            scores, parts, cells = rest[3 * number : 3 * number + 3]
            noise = Gaussian((self.score_variance,), (len(self.model.pairs),))
            for _, own in _alike(outputs[:, : self._edges[1 + 3 * number]]):
                references = self.references(outputs[own[0]], number)
                logs[own] += noise.log_prob(scores[own] - self._scores(rows[own], references))
            for chosen, own in _alike(parts):
                logs[own] += self._log_prob_of_tables(chosen, cells[own], rows[own])
            never &= parts == 0
        if self.check:
            for _, own in _alike(outputs[:, : self._edges[1 + 3 * self.rounds]]):
                open_ = np.flatnonzero(never[own[0]])
                if len(open_):
                    found = self._scores(rows[own], self.references(outputs[own[0]], self.rounds))[:, open_]
                    noise = Gaussian((self.check_variance(len(open_)),), (len(open_),))
                    logs[own] += noise.log_prob(rest[-1][np.ix_(own, open_)] - found)
        return np.asarray(logs)

    def _log_prob_of_tables(self, parts: Counts, cells: Counts, rows: Counts) -> Floats:
        indices = np.flatnonzero(parts)
        if not len(indices):
            return np.zeros(len(rows))
        chosen = np.isin(np.repeat(np.arange(len(parts)), self.model.sizes), indices)
        noise = self._table_noise(parts)
        return noise.log_prob(cells[:, chosen] - rows[:, chosen])

    def _table_noise(self, parts: Counts) -> Gaussian:
        indices = np.flatnonzero(parts).tolist()
        variances = tuple(self.table_variance(int(parts[index])) for index in indices)
        return Gaussian(variances, tuple(self.model.sizes[index] for index in indices))

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return the cells of single columns, and of the pairs that were measured in each round.

        How likely the scores are is left out: that what was measured holds for every choice is all that is used.
        """
        given = np.asarray(output)
        singles = PairCounts(self.model, tuple((number,) for number in range(len(self.model.columns))))
        noise = Gaussian((self.one_way_variance,) * len(singles.blocks), singles.blocks)
        if len(given) != self.space.length:  # not drawn
            return (Measurement(singles, np.zeros(singles.length, dtype=np.int64), noise),)
        ones, *rest = self.pieces(given)
        found = [Measurement(singles, ones, noise)]
        for number in range(self.rounds):
            _, parts, cells = rest[3 * number : 3 * number + 3]
            indices = np.flatnonzero(parts)
            if len(indices):
                of = PairCounts(self.model, tuple(self.model.pairs[index] for index in indices.tolist()))
                own = np.isin(np.repeat(np.arange(len(parts)), self.model.sizes), indices)
                found.append(Measurement(of, cells[own], self._table_noise(parts)))
        return tuple(found)

    def dependence_scores(self, output: Counts) -> tuple[Floats, float]:
        """Return the scores of the first round, whose references are products of one-way readings; their variance."""
        return self.pieces(output)[1].astype(float), float(self.score_variance)

    def checks(self, output: Counts) -> tuple[dict[Pair, float], float] | None:
        """Return the checks of the pairs that were never measured, and the variance of their noise; None without."""
        pieces = self.pieces(output)
        never = np.flatnonzero(sum(pieces[2 + 3 * number] for number in range(self.rounds)) == 0)
        if not self.check or not len(never):
            return None
        found = {self.model.pairs[index]: float(pieces[-1][index]) for index in never.tolist()}
        return found, float(self.check_variance(len(never)))

    def count_deviations(self) -> dict[str, float]:
        """Return the standard deviation of the noise of a count of one level, for whoever plans a release."""
        return {"one_way_sd": float(self.one_way_variance) ** 0.5}

    def worst_records(self) -> Counts:
        """Return two records that differ in every column."""
        return self.model.worst_pair_of_records()

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Ask for what is declared; then for so large an epsilon that the noise is small, and for one round."""
        yield {}
        few = {"delta": Fraction(1, 10), "rounds": 1, "one_way": Fraction(3, 10), "scores": Fraction(3, 10), "check": 0}
        yield {"epsilon": Fraction(90 if isinstance(self, Sized) else 44), **few}

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs whose noise has a small sum of sizes, for any of these data sets.

        None where that holds next to nothing: noise of usual sizes has too many values in too many numbers.
        """
        pairs = len(self.model.pairs)
        spread = self._ones * self.one_way_variance + self.rounds * pairs * self.score_variance
        if spread + self.rounds * self.model.cells * self.table_variance(PARTS) > _MOST_SPREAD:
            return None
        rows = np.unique(np.asarray(counts).reshape(-1, self.model.cells), axis=0)
        numbers = (
            self._ones
            + self.rounds * (len(self.model.pairs) + self.model.cells)
            + (len(self.model.pairs) if self.check else 0)
        )
        for reach in range(_REACHES, 0, -1):
            count = sum(comb(numbers, k) * comb(reach, k) * 2**k for k in range(min(numbers, reach) + 1))
            if count * len(rows) > most:
                continue
            lists = [self._with_noise(row, each) for row in rows for each in _small_vectors(numbers, reach)]
            found = np.unique(np.array(lists), axis=0)
            if len(found) > most:
                continue
            held = float(np.exp(self.log_prob(found, rows[0])).sum())
            return found if held >= _LEAST_LISTED else None
        return None

    def _with_noise(self, row: Counts, given: Counts) -> Counts:
        """Return the output for one row of counts whose noise is this, number by number."""
        left = iter(given.tolist())
        return self._drawn(row, lambda _, count: np.array([next(left) for _ in range(count)], dtype=np.int64))


def _no_noise(_: Fraction, count: int) -> Counts:
    return np.zeros(count, dtype=np.int64)


def _small_vectors(length: int, most: int) -> Counts:
    """Return all vectors of whole numbers whose sizes add up to at most this."""
    found = [np.zeros(length, dtype=np.int64)]
    for number in range(1, min(length, most) + 1):
        sizes = [np.diff([0, *cut]) for cut in combinations(range(1, most + 1), number)]  # rising sums, up to `most`
        for places in combinations(range(length), number):
            for signs in product((1, -1), repeat=number):
                for each in sizes:
                    vector = np.zeros(length, dtype=np.int64)
                    vector[list(places)] = each * np.array(signs)
                    found.append(vector)
    return np.array(found)


def _alike(rows: Counts) -> Iterator[tuple[Counts, NDArray[np.intp]]]:
    """Yield each different row, with the numbers of the rows that equal it."""
    found, which = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    edges = np.searchsorted(which.ravel()[order], np.arange(len(found) + 1))
    for index, row in enumerate(found):
        yield row, order[edges[index] : edges[index + 1]]


@lru_cache(maxsize=_MOST_KEPT)
def _fitted(mechanism: NoisyPairs, published: bytes, rounds: int, steps: int) -> TreeDistribution:
    """Return the model of largest entropy for what the first rounds published."""
    output = np.frombuffer(published, dtype=np.int64)
    tables = mechanism.noisy_tables(output, rounds)
    return maximum_entropy(mechanism.model.levels, mechanism.number_of_records(tables), tables, steps)


@lru_cache(maxsize=_MOST_KEPT)
def _references(mechanism: NoisyPairs, published: bytes, rounds: int) -> Counts:
    """Return r of all pairs as whole numbers."""
    output = np.frombuffer(published, dtype=np.int64)
    tables = mechanism.noisy_tables(output, rounds)
    size, model = mechanism.number_of_records(tables), mechanism.model
    if rounds:
        pairs = mechanism.model_after(output, rounds).pairs()
        shares = [pairs[pair] for pair in model.pairs]
    else:
        ones = one_way_shares(model.levels, size, tables)
        shares = [np.outer(ones[a], ones[b]) for a, b in model.pairs]
    return np.rint(size * np.concatenate([share.ravel() for share in shares])).astype(np.int64)


def shared_parts(
    model: Synthesis, references: list[Floats], scores: Floats, precision: float, cells: int, kept: Sequence[Columns]
) -> Counts:
    """Return how many parts of a round's rho each pair gets: those that are worth it, within a model of so many cells.

    `references` are r, `scores` what is expected of |k - r|_1, `precision` all that there is to share out, and `kept`
    the tables that belong to the model already.
    """
    losses = ExpectedLoss(references, scores)
    tried = losses.shared(precision)
    gains = gain(losses, tried)
    order = [int(index) for index in np.argsort(-gains, kind="stable") if tried[index] > 0]
    fitting = set(within(model.levels, [model.pairs[index] for index in order], cells, kept))
    chosen = [index for index, pair in enumerate(model.pairs) if pair in fitting]
    parts = np.zeros(len(model.pairs), dtype=np.int64)
    if chosen:
        own = ExpectedLoss([references[index] for index in chosen], scores[chosen]).shared(precision)
        parts[chosen] = np.floor(own / own.sum() * PARTS * (1 - 1e-12)).astype(np.int64)
    if (parts < 0).any() or int(parts.sum()) > PARTS:  # whatever was computed above, this alone is what privacy asks
        raise DiscreetError("The precision of tables could not be shared out. Nothing further was drawn.")
    return parts


def _share(value: Exact, name: str) -> Fraction:
    return exact(value, name)


def _delta(value: Exact, _: str) -> Fraction:
    if exact(value, "delta") == 0:
        raise DeclarationError(
            "A synthesis measures many tables of the same records. With Gaussian noise their costs add in squares, "
            "which needs a delta above 0, such as delta = '1e-6', well below one over the number of records. With "
            "delta = 0 costs add without squares, so that for many columns hardly any pair could be told from "
            "independence. Nothing was charged. Declare a delta, or ask for one table (categories) or a network with a "
            "pure epsilon."
        )
    return gaussian_delta(value)


@frozen(repr=False)
class PairGaussians(NoisyPairs, Sized[Synthesis], kind="PairGaussians"):
    """Tables of pairs that noisy scores choose, with discrete Gaussian noise: (epsilon, delta), replacing one record.

    `rounds` is how often scores are asked and tables chosen by them, and `cells` how many cells the model may have at
    most that has all measured pairs within its cliques. `one_way`, `scores` and `check` are shares of rho; a check
    above 0 buys a bound on how far the model may be off for pairs that were not measured.

    >>> from discreet import Column
    >>> columns = [Column(name, (0, 1), outside=0) for name in "abc"]
    >>> PairGaussians(Synthesis(columns), size=1000, epsilon=1, delta="1e-6").guarantee.delta
    Fraction(1, 1000000)
    """

    model: Checked[Synthesis] = computed(accepted(Synthesis, "publishes pairs of columns of a Synthesis; got a"))
    size: Whole = converted(partial(whole, most=MOST_RECORDS))
    epsilon: Number = converted(noise_epsilon)
    delta: Number = converted(_delta)
    rounds: Whole = converted(partial(whole, most=_MOST_ROUNDS), default=_ROUNDS)
    cells: Whole = converted(partial(whole, most=MOST_CELLS_OF_A_MODEL), default=_CELLS)
    one_way: Number = converted(_share, default=_ONE_WAY)
    scores: Number = converted(_share, default=_SCORES)
    check: Number = converted(_share, default=0)

    moved: ClassVar[int] = 2
    step: ClassVar[int] = 2
    neighbours: ClassVar[Adjacency] = Adjacency.REPLACE_ONE

    @property
    def _reach(self) -> float:
        widest = sqrt(self._largest_variance)
        return min(2.0**53, 2.0 * self.size + _FARTHEST * (1 + widest) + PARTS)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; every table must add up to the public size."""
        found = self.model.counts(counts)
        sums = np.add.reduceat(found, self.model.starts[:-1], axis=-1)
        if (sums != self.size).any():
            raise DeclarationError(f"The counts of every pair of columns must add up to the public size {self.size}.")
        return found

    def number_of_records(self, tables: Sequence[NoisyTable]) -> float:
        """Return the public number."""
        return float(self.size)


@frozen(repr=False)
class GaussianPairTables(NoisyPairs, kind="GaussianPairTables"):
    """`PairGaussians` for a secret number of records: (epsilon, delta)-DP if one record is added or removed.

    >>> from discreet import Column
    >>> columns = [Column(name, (0, 1), outside=0) for name in "abc"]
    >>> GaussianPairTables(Synthesis(columns), epsilon=1, delta="1e-6").guarantee.adjacency.value
    'add or remove one record'
    """

    model: Checked[Synthesis] = computed(accepted(Synthesis, "publishes pairs of columns of a Synthesis; got a"))
    epsilon: Number = converted(noise_epsilon)
    delta: Number = converted(_delta)
    rounds: Whole = converted(partial(whole, most=_MOST_ROUNDS), default=_ROUNDS)
    cells: Whole = converted(partial(whole, most=MOST_CELLS_OF_A_MODEL), default=_CELLS)
    one_way: Number = converted(_share, default=_ONE_WAY)
    scores: Number = converted(_share, default=_SCORES)
    check: Number = converted(_share, default=0)

    moved: ClassVar[int] = 1
    step: ClassVar[int] = 1
    neighbours: ClassVar[Adjacency] = Adjacency.ADD_OR_REMOVE

    @property
    def _reach(self) -> float:
        return 2.0**53

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array, clamped where they are beyond all reason."""
        return np.minimum(self.model.counts(counts), MOST_RECORDS)

    def number_of_records(self, tables: Sequence[NoisyTable]) -> float:
        """Return the mean of the sums of all tables, weighted by the precision of these, and at least 1."""
        return max(1.0, total_of(tables)[0])


def total_of(tables: Sequence[NoisyTable]) -> tuple[float, float]:
    """Return the mean of the sums of tables, by precision, and its variance: a sum of m cells has m times that of one.

    Tables of the same records have the same sum.
    """
    weights = np.array([table.precision / table.values.size for table in tables])
    sums = np.array([table.values.sum() for table in tables])
    return float(weights @ sums / weights.sum()), float(1 / weights.sum())
