"""All that is asked of the noise-aware posterior of a table: events, shares of a group, ratios, counts, forecasts.

Any sum of probabilities is a mixture of Betas, and so is the share that one group of cells has of two: conditional
probabilities and ratios are exact. Other functions of theta are summarised by exact, independent draws.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.special import betaln, expit, gammaln, log_expit, logsumexp

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.inference.plug_in import plug_in
from discreet.inference.pooling import PooledRates
from discreet.inference.posteriors.account import Account, dirichlet_in_words, levels_in_words
from discreet.inference.posteriors.pictures import Intervals, Line
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.inference.posteriors.table import TablePosterior, levels_of
from discreet.inference.remap import bayes_remap, weighted_tables
from discreet.inference.statements import Statement
from discreet.mathematics.distributions import BetaMixture, CountDistribution, Dirichlet, Interval, Odds, Sampled
from discreet.mathematics.distributions.proportions import log_dirichlet_rows
from discreet.models import Cell
from discreet.models.model import MadeUp
from discreet.reading.readings import TableReading
from discreet.records.columns import Column, Level, level_text

T = TypeVar("T")
_DRAWS = 20_000


class CategoriesPosterior(TablePosterior, shows=TableReading):
    """What a reader knows about the probabilities of the cells, with the noise accounted for.

    Cells are named as in the model; an event is a cell, a list of cells, or text such as 'ward=A, fall=yes'.
    """

    subject = "a table of categories"
    is_information_at_hand = True
    answers = TablePosterior.answers | {"probability_that", "pooled"}

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.model.columns)
        return f"<posterior of {names} given {self.releases[0].label!r}: {len(self.model.cells)} cells>"

    def some_rows(self, places: Sequence[int], level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of some cells; no others are worked out."""
        laws = [self._sum(np.array([place])) for place in places]
        names = [self.event_of(self.model.cells[place]) for place in places]
        return tuple(Row(name, "", *law.summary(level), PROBABILITY) for name, law in zip(names, laws, strict=True))

    def log_densities(self, places: Sequence[int], made: MadeUp) -> tuple[Floats, Floats]:
        """Return the log densities of some cells' made-up probabilities, and what exact counts would give."""
        known, truth = self.model.posterior(made.statistics), np.clip(made.truth, 1e-12, 1 - 1e-12)
        laws = [(self._sum(np.array([place])), known.marginal(place), truth[place]) for place in places]
        pairs = np.array([(own.log_density(at), exact.log_density(at)) for own, exact, at in laws])
        return pairs[:, 0], pairs[:, 1]

    def _rate(self, event: object, column: Column, place: int) -> BetaMixture:
        shape = [len(each.levels) for each in self.model.columns]
        codes = np.unravel_index(np.arange(len(self.model.cells)), shape)[self.model.columns.index(column)]
        return self.conditional(event, [self.model.cells[cell] for cell in np.flatnonzero(codes == place)])

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are crossed."""
        return self.model.columns

    @property
    def method(self) -> str:
        """Say that all counts were summed out."""
        return "read exactly"

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return that `theta` has one place for each cell."""
        return {"theta": ("cell",)}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the cells."""
        return {"cell": tuple(self.event_of(cell) for cell in self.model.cells)}

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return how many exactly known records would tell as much, and what is left open by sampling and by noise."""
        parts = [law.variances for law in self._marginals]
        names = [self.event_of(cell) for cell in self.model.cells]
        return {
            "equivalent_records": self.equivalent_records,
            "sampling_sd": {name: sampling**0.5 for name, (sampling, _) in zip(names, parts, strict=True)},
            "privacy_sd": {name: privacy**0.5 for name, (_, privacy) in zip(names, parts, strict=True)},
        }

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how many exactly known records would tell as much."""
        return (f"Tells about as much as {max(0.0, self.equivalent_records):.0f} records that were known exactly.",)

    def account(self) -> Account:
        """Return the question and the prior in words."""
        cells, crossed = len(self.model.cells), len(self.model.columns) > 1
        what = f"{cells} combinations of the levels" if crossed else f"{cells} levels"
        return Account(
            question=f"how often does each of the {what} of {' and '.join(c.name for c in self.model.columns)} occur?",
            columns=tuple((column.name, levels_in_words(column)) for column in self.model.columns),
            hidden="counts",
            meaning="Estimated shares in the population, and intervals that hold the uncertainty of sampling and of "
            "the noise together. All of them tell about as much as "
            f"{max(0, round(self.equivalent_records)):,} exactly known records would.",
            prior=f"The prior is a Dirichlet distribution with {dirichlet_in_words(self.model.prior)}.",
        )

    def intervals(self, level: float = 0.9) -> Intervals:
        """Return the cells in groups by all columns but the last, beside a careless reading of a single release."""
        *outer, inner = self.model.columns
        what = "combination of " + " and ".join([", ".join(c.name for c in outer), inner.name])
        title = f"Probability of each {what if outer else f'level of {inner.name}'}"
        careless: tuple[Line, ...] = ()
        if len(self.releases) == 1 and self.releases[0].mechanism.has_plain_counts:
            naive = plug_in(self.releases[0].with_prior(self.model.prior))
            taken = [naive.marginal(place) for place in range(len(naive.concentration))]
            careless = self._lines([(law.mean, law.interval(level)) for law in taken])
        laws = list(zip(self._means.tolist(), self.interval(level).values(), strict=True))
        return Intervals(title, self._lines(laws), careless)

    def _lines(self, laws: Sequence[tuple[float, Interval]]) -> tuple[Line, ...]:
        names = [column.name for column in self.model.columns]
        found = []
        for cell, (mean, interval) in zip(self.model.cells, laws, strict=True):
            *group, own = [level_text(level) for level in levels_of(cell)]
            words = ", ".join(f"{name} {known}" for name, known in zip(names, group, strict=False))
            found.append(Line(own, mean, *interval, words))
        return tuple(found)

    def _by_cell(self, value: Callable[[int], T]) -> dict[Cell, T]:
        return {cell: value(place) for place, cell in enumerate(self.model.cells)}

    @property
    def log_evidence(self) -> float:
        """Return log P(release | model), averaged over the prior's strengths. Differences are log Bayes factors."""
        return float(logsumexp(self._log_evidences) - np.log(len(self.readings)))

    @property
    def strength_probabilities(self) -> tuple[float, ...]:
        """Return the posterior probability of each strength of the prior, in the order in which they were given."""
        return tuple(float(share) for share in self._shares)

    @cached_property
    def _means(self) -> Floats:
        terms = [
            share * (r.model.concentration + r.mean_counts) / (r.model.concentration.sum() + self.size)
            for share, r in zip(self._shares, self.readings, strict=True)
        ]
        return np.asarray(sum(terms))

    @cached_property
    def mean(self) -> dict[Cell, float]:
        """Return the expected probability of every cell; it is also the chance that the next record falls there."""
        return self._by_cell(lambda place: float(self._means[place]))

    @property
    def sd(self) -> dict[Cell, float]:
        """Return the standard deviation of every cell's probability."""
        return self._by_cell(lambda place: self._marginals[place].sd)

    @property
    def median(self) -> dict[Cell, float]:
        """Return the median of every cell's probability."""
        return self._by_cell(lambda place: self._marginals[place].median)

    def interval(self, level: float = 0.9) -> dict[Cell, Interval]:
        """Return the equal-tailed interval of every cell's probability."""
        return self._by_cell(lambda place: self._marginals[place].interval(level))

    @property
    def equivalent_records(self) -> float:
        """Return about how many exactly known records would tell as much: closest Dirichlet less prior, at most n."""
        return min(float(self.size), sum(self.closest_dirichlet.concentration) - sum(self.model.prior))

    def highest_density(self, level: float = 0.9) -> dict[Cell, Interval]:
        """Return the shortest interval of every cell's probability."""
        return self._by_cell(lambda place: self._marginals[place].highest_density(level))

    def privacy_share(self, level: float = 0.9) -> dict[Cell, float]:
        """Return the share of each interval's width that is due to privacy: what exact counts would save."""
        return self._by_cell(lambda place: self._marginals[place].share_between(level))

    def _share(self, one: Counts, two: Counts) -> BetaMixture:
        """Return the law of theta_one / (theta_one + theta_two) for disjoint groups: Beta given both counts."""
        parts = []
        for share, reading in zip(self._shares, self.readings, strict=True):
            alpha = reading.model.concentration
            sums_one, sums_two, weights = reading.counts.pair_of_sums(one, two)
            parts.append((share * weights, alpha[one].sum() + sums_one, alpha[two].sum() + sums_two))
        return BetaMixture(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def probability(self, event: object) -> BetaMixture:
        """Return the distribution of an event's probability."""
        places = self.model.places(event)
        if len(places) == len(self.model.cells):
            raise DeclarationError(f"{event!r} takes in all cells: its probability is 1.")
        return self._sum(places)

    def conditional(self, event: object, given: object) -> BetaMixture:
        """Return the distribution of P(event | given), such as that of 'fall=yes' given 'ward=A'."""
        among = self.model.places(given)
        inside = np.intersect1d(among, self.model.places(event))
        rest = np.setdiff1d(among, inside)
        if not inside.size or not rest.size:
            raise DeclarationError(f"Given {given!r}, {event!r} is impossible or certain.")
        return self._share(inside, rest)

    def pooled(self, event: object, by: str) -> PooledRates:
        """Return the rate of an event in each level of a column, small groups borrowing from all others."""
        return PooledRates(self.model, self.releases, event, by)

    def ratio(self, first: object, second: object) -> Odds:
        """Return the distribution of P(first) / P(second) for two events that exclude each other."""
        one, two = self.model.places(first), self.model.places(second)
        if np.intersect1d(one, two).size:
            raise DeclarationError(f"{first!r} and {second!r} must exclude each other.")
        return Odds(self._share(one, two))

    def probability_that(self, statement: str) -> float:
        """Return the probability of a statement: 'current > 0.3', 'current > former', 'ward=A > 2 * ward=B'."""
        return Statement.read(statement, self.model).probability(self._sum, self._share)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw independent vectors of probabilities (rows of `theta`), exactly: counts first, then these."""
        return {"theta": np.exp(self._log_draws(count, seed))}

    def _log_draws(self, count: int, seed: int | None) -> Floats:
        """Draw logarithms of probabilities, which do not vanish however small a prior parameter is."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self._shares / self._shares.sum())
        parts = []
        for share_of, reading in zip(numbers, self.readings, strict=True):
            if share_of:
                shapes = reading.model.concentration + reading.counts.draw(int(share_of), generator)
                parts.append(log_dirichlet_rows(shapes, generator))
        return np.asarray(generator.permutation(np.concatenate(parts)))

    def quantity(self, function: Callable[[Floats], Floats], draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of any function of the probabilities (rows of cells), by exact draws."""
        return Sampled(np.asarray(function(self.draws(draws, seed)["theta"]), dtype=float))

    def difference(self, first: object, second: object, draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of P(first) - P(second)."""
        one, two = self.model.places(first), self.model.places(second)
        return self.quantity(lambda theta: theta[:, one].sum(axis=1) - theta[:, two].sum(axis=1), draws, seed)

    def risk_difference(
        self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0
    ) -> Sampled:
        """Return the distribution of P(event | first) - P(event | second)."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        return Sampled(expit(one - rest_one) - expit(two - rest_two))

    def risk_ratio(self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of P(event | first) / P(event | second)."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        return Sampled(_exponential(log_expit(one - rest_one) - log_expit(two - rest_two)))

    def odds_ratio(self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of the odds of an event under `first`, divided by its odds under `second`."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        return Sampled(_exponential((one - rest_one) - (two - rest_two)))

    def _log_risks(
        self, event: object, first: object, second: object, draws: int, seed: int
    ) -> list[tuple[Floats, Floats]]:
        """Return, for both groups, draws of the log probability of the event in it and of the rest of it."""
        logs, pairs = self._log_draws(draws, seed), []
        for group in (first, second):
            places = self.model.places(group)
            inside = np.intersect1d(places, self.model.places(event))
            rest = np.setdiff1d(places, inside)
            if not inside.size or not rest.size:
                raise DeclarationError(f"{event!r} must be neither certain nor impossible in {group!r}.")
            pairs.append((logsumexp(logs[:, inside], axis=1), logsumexp(logs[:, rest], axis=1)))
        return pairs

    def true_count(self, event: object) -> CountDistribution:
        """Return the distribution of how many of the records behind the release fall into an event."""
        laws = [reading.counts.sum_of(self.model.places(event)) for reading in self.readings]
        first = min(int(sums[0]) for sums, _ in laws)
        table = np.zeros(max(int(sums[-1]) for sums, _ in laws) - first + 1)
        for share, (sums, weights) in zip(self._shares, laws, strict=True):
            table[sums - first] += share * weights
        return CountDistribution(first, table)

    def predictive(self, event: object, records: int) -> CountDistribution:
        """Return how many of `records` further records fall into an event: a mixture of Beta-binomials."""
        future, law = whole(records, "records", most=10**7), self.probability(event)
        hits = np.arange(future + 1)
        ways = gammaln(future + 1.0) - gammaln(hits + 1.0) - gammaln(future - hits + 1.0)
        keep = law.weights > 1e-15
        table = np.zeros(future + 1)
        for weight, a, b in zip(law.weights[keep], law.a[keep], law.b[keep], strict=True):
            table += weight * np.exp(ways + betaln(a + hits, b + future - hits) - betaln(a, b))
        return CountDistribution(0, table / table.sum())

    def bayes_remap(self) -> Dirichlet:
        """Return one Dirichlet(alpha + r), r whole counts of this size, of small expected Hellinger distance.

        This is the point release to show when a single conjugate posterior is wanted. It is the best there is for two
        levels and for small tables, otherwise the best found by a local search (see `remap`).
        """
        parts = [weighted_tables(reading.counts, len(self.model.cells)) for reading in self.readings]
        tables = np.concatenate([part[0] for part in parts])
        weights = np.concatenate([share * part[1] for share, part in zip(self._shares, parts, strict=True)])
        tables, places = np.unique(tables, axis=0, return_inverse=True)
        summed = np.asarray(np.bincount(places.ravel(), weights), dtype=float)
        return bayes_remap(tables, summed, self.model.concentration, summed @ tables)

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return made-up records, as lists by column: probabilities drawn once, then records from them.

        Analyse several sets and combine them; one set alone shows only one of the plausible worlds.
        """
        generator = np.random.default_rng(seed)
        theta = self.draws(1, int(generator.integers(2**32)))["theta"][0]
        cells = generator.choice(len(theta), size=whole(rows, "rows"), p=theta)
        places = np.unravel_index(cells, tuple(len(column.levels) for column in self.model.columns))
        return {c.name: [c.levels[code] for code in codes] for c, codes in zip(self.model.columns, places, strict=True)}


def _exponential(logs: Floats) -> Floats:
    """Return e^logs; a ratio to almost nothing may be infinite."""
    with np.errstate(over="ignore"):
        return np.exp(logs)
