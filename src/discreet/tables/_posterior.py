"""What one can ask the noise-aware posterior of a table: events, shares within a group, ratios, counts, forecasts.

Any sum of probabilities is a mixture of Betas, and so is the share of one group of cells in two: conditional
probabilities and ratios are exact. Other functions of theta are summarised by exact, independent draws.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, LittleInformationWarning, UncalibratedDrawsWarning
from discreet._core.exact import whole
from discreet.inference import (
    PROBABILITY,
    SHOWN_LEVEL,
    Comparison,
    GroupedCounts,
    PosteriorProbability,
    PosteriorSample,
    Problem,
    ReportText,
    Row,
    Statement,
    column_named,
    dirichlet_in_words,
    levels_in_words,
    require_one_comparison,
)
from discreet.mathematics import root
from discreet.mathematics.distributions import (
    CountDistribution,
    Dirichlet,
    Interval,
    MixtureBatch,
    Odds,
    Sampled,
    SampledDifference,
    SampledRatio,
    SampledShares,
    log_dirichlet_rows,
)
from discreet.mechanism import Cell, probability_name
from discreet.records import Column, Level, level_text
from discreet.tables._group_distributions import GroupwiseDistributions, ShareDistribution
from discreet.tables._groupwise import GroupwiseInference
from discreet.tables._joint_posterior import TablePosterior, levels_of
from discreet.tables._model import CROSSED_FROM
from discreet.tables._prior_conflict import watch_rates, watch_share
from discreet.tables._solution import TableSolution

if TYPE_CHECKING:
    from discreet.inference import IntervalLine, Intervals
    from discreet.tables._differences import Difference
    from discreet.tables._pooling import PooledRates

T = TypeVar("T")
_DRAWS = 20_000


_CROSSED = (
    "under the crossed prior: cells scatter around products of scales of their levels, or around one rate, by as much "
    "as they are found to"
)
_LEAST = 1e-9  # levels of quantiles between which that of the closest point is sought
_WIDE = 0.75  # a wider interval for a share mostly reflects the prior, whose own is 0.9 wide


class CategoriesPosterior(TablePosterior, shows=TableSolution):
    """The posterior of the cell probabilities, with the noise accounted for.

    Cells are named as in the model; an event is a cell, a list of cells, or text such as 'ward=A, fall=yes'.
    """

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.model.columns)
        return f"<posterior of {names} given {self.releases[0].label!r}: {len(self.model.cells)} cells>"

    def _rate(self, event: object, column: Column, index: int) -> ShareDistribution:
        return self.distributions.between(
            *self._split(event, [self.model.cells[cell] for cell in self._groups(column)[index]])
        )

    def rates(self, event: str, by: str, level: float = 0.9) -> tuple[Row, ...]:
        rows, groups = super().rates(event, by, level), self._groups(column_named(self.columns, by))
        splits = [self._split(event, [self.model.cells[cell] for cell in group]) for group in groups]
        watch_rates(self, {f"{event} | {row.given}": split for row, split in zip(rows, splits, strict=True)})
        return rows

    @cached_property
    def table(self) -> "CategoriesPosterior":
        """Return the joint posterior of all cells, which answers coherently: sums of answers are answers to sums.

        Where no prior was declared, it is that under the crossed prior if there are ten cells or more, and else under
        a Dirichlet prior whose strength was learnt.
        """
        if self.distributions is self.together:
            return self
        if self.is_crossed:
            self._watch_draws()
        found = copy(self)
        found.distributions, found._known_rows = found.together, {}
        found.__dict__.pop("cell_distributions", None)
        return found

    def margin(self, *columns: str) -> "CategoriesPosterior":
        """Return the marginal posterior of one or more columns, such as `posterior.margin("country")`."""
        from discreet.tables._margins import margin_of  # it builds on this module

        return margin_of(self, columns)

    def grouped(self, counts: Any, groups: Sequence[Counts]) -> GroupedCounts:
        """Return the counts of groups of cells, from those of all cells read together."""
        return GroupedCounts(counts, groups)

    @property
    def _has_holders_prior(self) -> bool:
        return bool(self.model == self.releases[0].mechanism.model)

    @property
    def _estimation(self) -> str:
        whose = "the declared prior" if self._has_holders_prior else "the reader's own prior"
        whose = "the prior and own records" if self.own_records else whose
        learnt = "under the crossed prior" if self.is_crossed else f"with a learnt prior strength ({self._learnt})"
        together = f"from all cells together, {f'under {whose}' if self.model.is_prior_declared else learnt}"
        if self.distributions.is_groupwise:
            return f"Means: {together}. Intervals: for each share from its own noisy sum."
        if self.distributions is not self.together:
            return "Means and intervals: from both shares together, with a uniform prior."
        return f"Means and intervals: {together}."

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.model.columns

    @property
    def method(self) -> str:
        """Say that all counts were summed out, or how they were drawn."""
        if self.is_crossed and self.distributions.is_groupwise:
            return f"{self.joint.method}, share by share; for means and draws, all cells were {self.together.method}"
        return self.together.method

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `theta` has one entry for each cell."""
        return {"theta": ("cell",)}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {"cell": tuple(self.event_of(cell) for cell in self.model.cells)}

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return how many exactly known records would tell as much, and what is left open by sampling and by noise."""
        within, between = np.sqrt(self.distributions.variances(self._every))
        names = [self.event_of(cell) for cell in self.model.cells]
        return {
            "equivalent_records": self.equivalent_records,
            "sampling_sd": dict(zip(names, within.tolist(), strict=True)),
            "privacy_sd": dict(zip(names, between.tolist(), strict=True)),
            **self.together.facts,
        }

    @property
    def _every(self) -> range:
        return range(len(self.model.cells))

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how many records without noise would be as informative."""
        return (f"This is about as informative as {max(0.0, self.equivalent_records):.0f} records without noise.",)

    @property
    def text(self) -> ReportText:
        cells, crossed = len(self.model.cells), len(self.model.columns) > 1
        what = f"{cells} combinations of the levels" if crossed else f"{cells} levels"
        return ReportText(
            subject="a table of categories",
            question=f"how often does each of the {what} of {' and '.join(c.name for c in self.model.columns)} occur?",
            columns=tuple((column.name, levels_in_words(column)) for column in self.model.columns),
            hidden="counts",
            meaning="Estimated shares in the population, with intervals that combine the uncertainty of sampling and "
            "of the noise. Together they are about as informative as "
            f"{max(0, round(self.equivalent_records)):,} records without noise.",
            prior=self._prior_in_words(),
            estimation=self._estimation,
            outside_interval=(
                "Read together with all cells, this mean lies outside the interval from its own noisy count: the prior "
                f"{'' if self.is_crossed else f'({float(self.mean_prior.sum()):.3g} records in all) '}outweighs the "
                "data here. Trust the interval."
            ),
            has_holders_prior=self._has_holders_prior,
        )

    @property
    def _learnt(self) -> str:
        """Say how many records the prior is worth, and among which numbers that was learnt."""
        return f"{float(self.mean_prior.sum()):.3g} records in all, of 2 to {len(self.model.cells)}"

    def _prior_in_words(self) -> str:
        if self.model.is_prior_declared:
            subject = "The prior together with the reader's own records is" if self.own_records else "The prior is"
            return f"{subject} a Dirichlet distribution with {dirichlet_in_words(self.model.prior)}."
        if len(self.model.cells) == 2:
            return "The prior of both shares is uniform between 0 and 1."
        learnt = (
            _CROSSED
            if self.is_crossed
            else (
                "under a Dirichlet prior whose strength was learnt, between 2 records in all and one for each "
                f"({float(self.mean_prior.sum()):.3g} were found)"
            )
        )
        if self.distributions.is_groupwise:
            return (
                "Each interval was read from the noisy sum of its own share, under a uniform prior for that share "
                f"alone; it begins at 0 where the data cannot exclude 0. Estimates were read together, {learnt}, so "
                "that they add up."
            )
        return f"All shares were read together, {learnt}."

    def intervals(self, level: float = 0.9) -> "Intervals":
        """Return the cells in groups by all columns but the last, beside a plug-in estimate of a single release."""
        from discreet.inference import Intervals  # of pictures alone, as is the estimate
        from discreet.tables._plug_in import has_plain_counts, plug_in

        *outer, inner = self.model.columns
        what = "combination of " + " and ".join([", ".join(c.name for c in outer), inner.name])
        title = f"Probability of each {what if outer else f'level of {inner.name}'}"
        careless: tuple[IntervalLine, ...] = ()
        if len(self.releases) == 1 and has_plain_counts(self.releases[0].mechanism):
            naive = plug_in(self.releases[0].with_prior(self.model.prior))
            taken = [naive.marginal(index) for index in range(len(naive.concentration))]
            careless = self._lines([(distribution.mean, distribution.interval(level)) for distribution in taken])
        distributions = list(zip(self.joint_means.tolist(), self._intervals(level), strict=True))
        return Intervals(title, self._lines(distributions), careless)

    def _lines(self, distributions: Sequence[tuple[float, Interval]]) -> "tuple[IntervalLine, ...]":
        from discreet.inference import IntervalLine  # of pictures alone

        names = [column.name for column in self.model.columns]
        found = []
        for cell, (mean, interval) in zip(self.model.cells, distributions, strict=True):
            *group, own = [level_text(level) for level in levels_of(cell)]
            words = ", ".join(f"{name} {known}" for name, known in zip(names, group, strict=False))
            found.append(IntervalLine(own, mean, *interval, words))
        return tuple(found)

    def _by_cell(self, values: Iterable[T]) -> dict[Cell, T]:
        return dict(zip(self.model.cells, values, strict=True))

    @property
    def log_evidence(self) -> float:
        """Return log P(release | model), averaged over the prior's strengths. Differences are log Bayes factors.

        It is that of Dirichlet priors, declared or of a learnt strength: the crossed prior's is not known.
        """
        return float(logsumexp(self.joint.log_evidences) - np.log(len(self.joint.log_evidences)))

    @property
    def strength_probabilities(self) -> tuple[float, ...]:
        """Return the posterior probability of each strength of the prior, in the order in which they were given."""
        return tuple(self.joint.probabilities.tolist())

    def keys(self) -> tuple[Cell, ...]:
        """Return the cells: levels as declared, or tuples of them."""
        return tuple(self.model.cells)

    @property
    def mean(self) -> Mapping[Cell, float]:
        """Return the expected probability of every cell; it is also the chance that the next record falls there."""
        return self._by_key(self.joint_means.tolist())

    def closest(self) -> dict[Cell, float]:
        """Return the probabilities that are expected to lie closest to the true ones in total variation.

        The sum of E|theta_c - t_c| over t with sum t = 1 is least where all t_c are quantiles of one level q, chosen
        so that they add up to 1: F_c(t_c) = q. They are quantiles of all cells read together, as in `table`.
        """
        batch = self.together.cells(self._every)
        level = root(lambda at: float(batch.quantile(at).sum()) - 1, _LEAST, 1 - _LEAST, absolute=1e-9)
        found = batch.quantile(level)
        return self._by_cell((found / found.sum()).tolist())

    @property
    def sd(self) -> Mapping[Cell, float]:
        return self._by_key(self.cell_distributions.sd.tolist())

    @property
    def median(self) -> dict[Cell, float]:
        """Return the median of every cell's probability."""
        return self._by_cell(self.cell_distributions.median.tolist())

    def _intervals(self, level: float) -> list[Interval]:
        """Return the interval of every cell."""
        low, high = self.distributions.ends(self._every, level)
        return list(map(Interval, low.tolist(), high.tolist()))

    @property
    def equivalent_records(self) -> float:
        """Return about how many exactly known records would tell as much: closest Dirichlet minus prior, at most n."""
        return min(float(self.size), sum(self.closest_dirichlet.concentration) - float(self.mean_prior.sum()))

    def highest_density(self, level: float = 0.9) -> dict[Cell, Interval]:
        """Return the shortest interval of every cell's probability."""
        return self._by_cell(
            self.cell_distributions.row(index).highest_density(level) for index in range(len(self.model.cells))
        )

    def privacy_share(self, level: float = 0.9) -> dict[Cell, float]:
        """Return the share of each interval's width that is due to privacy, which exact counts would save."""
        low, high = self.distributions.ends(self._every, level)
        known = self.distributions.known_widths(self._every, level)
        shares = np.maximum(0.0, 1 - known / np.maximum(high - low, 1e-300))
        return self._by_cell(shares.tolist())

    def probability(self, event: object) -> ShareDistribution:
        indices = self.model.cell_indices(event)
        if len(indices) == len(self.model.cells):
            raise DeclarationError(f"{event!r} includes every cell, so its probability is 1.")
        watch_share(self, str(event), indices)
        return self.distributions.share(indices)

    def conditional(self, event: object, given: object) -> ShareDistribution:
        """Return the distribution of P(event | given), such as that of 'fall=yes' given 'ward=A'."""
        inside, rest = self._split(event, given)
        watch_rates(self, {f"{event} | {given}": (inside, rest)})
        return self.distributions.between(inside, rest)

    def _split(self, event: object, given: object) -> tuple[Counts, Counts]:
        """Return the cells of a group in which an event occurs, and those in which it does not."""
        among = self.model.cell_indices(given)
        inside = np.intersect1d(among, self.model.cell_indices(event))
        rest = np.setdiff1d(among, inside)
        if not inside.size or not rest.size:
            raise DeclarationError(f"Given {given!r}, {event!r} is either impossible or certain.")
        return inside, rest

    def pooled(self, event: object, by: str, patience: float = 1.0) -> "PooledRates":
        """Return the rate of an event in each level of a column, partially pooled: small groups borrow from all others.

        Anything that takes more than `patience` times the usual work is refused before it begins. A warning says what
        pooling does to a group that is unlike all others: its own noisy sums need not show that it is one.
        """
        from discreet.tables._pooling import PooledRates  # another model of the same releases

        sizes = partial(self.group_sizes, by)
        pooled = PooledRates(self.model, self.releases, event, by, sizes, patience)
        warnings.warn(
            f"Pooling draws the rate of a group of {by!r} that is unlike all others towards theirs, and its interval "
            "holds the true rate less often than it states (docs/calibration.md). If one group may be unlike the "
            "others, ask for the rates of the groups without pooling: posterior.rates, or no --pool.",
            UncalibratedDrawsWarning,
            stacklevel=2,
        )
        return pooled

    def ratio(self, first: object, second: object) -> Odds:
        """Return the distribution of P(first) / P(second) for two mutually exclusive events."""
        one, two = self.model.cell_indices(first), self.model.cell_indices(second)
        if np.intersect1d(one, two).size:
            raise DeclarationError(f"{first!r} and {second!r} must be mutually exclusive.")
        watch_rates(self, {f"{first} | {first} or {second}": (one, two)})
        if all(self.distributions.share(cells).interval(SHOWN_LEVEL)[0] == 0 for cells in (one, two)):
            warnings.warn(
                f"The shares of {first!r} and of {second!r} may both be 0, and intervals of a ratio of such shares "
                "hold the true ratio less often than they state (docs/calibration.md). Ask for both shares "
                "themselves: posterior.probability.",
                LittleInformationWarning,
                stacklevel=2,
            )
        return Odds(self.distributions.between(one, two))

    def probability_that(
        self,
        what: Any,
        *,
        above: float | None = None,
        below: float | None = None,
        greater_than: Any = None,
        draws: int = _DRAWS,
        seed: int = 0,
    ) -> PosteriorProbability:
        """Return the probability of a statement about events: exact, unless it is a function of draws.

        In words it is such as 'current > 0.3', 'current > former', 'ward=A > 2 * ward=B'.
        """
        if callable(what):
            return super().probability_that(what, draws=draws, seed=seed)
        if above is below is greater_than is None and isinstance(what, str) and not self._is_event(what):
            first = self.model.columns[0]
            example = f"cells and numbers, such as '{first.name}={first.levels[0]} > 0.3'"
            asked = Statement.read(what, self._event, example)
        else:
            require_one_comparison(above, below, greater_than)
            other = None if greater_than is None else self._named(greater_than)
            asked = Statement.about(self._named(what), above, below, other)
        for side in (asked.larger, asked.smaller):
            if side.what is not None:
                watch_share(self, *side.what)
        return self._probability(asked)

    def _named(self, event: object) -> tuple[str, Counts]:
        return str(event), self.model.cell_indices(event)

    def _event(self, text: str) -> tuple[str, Counts] | None:
        try:
            return self._named(text)
        except (DeclarationError, ValueError):
            return None

    def _is_event(self, text: str) -> bool:
        return self._event(text) is not None

    def _probability(self, asked: "Statement[tuple[str, Counts]]") -> PosteriorProbability:
        """Return P(a x > b y): x alone has a distribution, and a x > b y if and only if x / (x + y) > b / (a + b)."""
        larger, smaller = asked.larger, asked.smaller
        if larger.what is None and smaller.what is None:
            return PosteriorProbability(float(larger.factor > smaller.factor))
        if smaller.what is None and larger.what is not None:
            distribution = self.distributions.share(larger.what[1])
            return PosteriorProbability(1 - float(distribution.cdf(smaller.factor / larger.factor)), distribution.worth)
        if larger.what is None and smaller.what is not None:
            distribution = self.distributions.share(smaller.what[1])
            return PosteriorProbability(float(distribution.cdf(larger.factor / smaller.factor)), distribution.worth)
        assert larger.what is not None
        assert smaller.what is not None
        one, two = larger.what[1], smaller.what[1]
        if np.intersect1d(one, two).size and larger.factor != smaller.factor:
            raise DeclarationError("Multiples can only be compared for events that are mutually exclusive.")
        only_one, only_two = np.setdiff1d(one, two), np.setdiff1d(two, one)
        if not only_one.size or not only_two.size:
            return PosteriorProbability(float(only_one.size > 0))
        distribution = self.distributions.between(only_one, only_two)
        return PosteriorProbability(
            1 - float(distribution.cdf(smaller.factor / (larger.factor + smaller.factor))), distribution.worth
        )

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw vectors of probabilities (rows of `theta`): counts first, then these; from chains, of each in turn."""
        self._watch_draws()
        return {"theta": np.exp(self.together.log_cells(whole(count, "count"), seed))}

    def _watch_draws(self) -> None:
        """Warn whoever takes draws that hold less than they state: of one Dirichlet prior, or through wide noise."""
        if self.model.is_prior_declared or len(self.model.cells) < CROSSED_FROM:
            return
        why = (
            "is drawn under one Dirichlet prior for all cells: on skewed tables, 90 % intervals of such draws held 12 "
            "to 100 % of the true shares (docs/calibration.md). Read intervals from posterior.interval, probability "
            "and conditional, or declare a prior. Draws hold what they state where every cell has the same Laplace or "
            "Gaussian noise."
        )
        if self.is_crossed:
            from discreet.tables._crossed_solver import wide_noise

            if (wide := wide_noise(self.problem)) is None:
                return
            why = (
                f"has noise with a standard deviation of {wide[0]:.3g} in every cell, where cells hold {wide[1]:.2g} "
                "records on average: that hides which cells are empty. On a table where most are, 90 % intervals of "
                "all cells read together, and so of draws, held three in four of the others' true shares "
                "(docs/calibration.md). Read intervals from posterior.interval, probability and conditional, "
                "each from its own noisy sum."
            )
        warnings.warn(f"{self.releases[0].label!r} {why}", UncalibratedDrawsWarning, stacklevel=3)

    def quantity(self, function: Callable[[Floats], Floats], draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of any function of the probabilities (rows of cells), by draws."""
        found = np.asarray(function(self.draws(draws, seed)["theta"]), dtype=float)
        return Sampled(found, chains=self.together.chains)

    def difference(
        self, first: Any, second: Any, level: float = SHOWN_LEVEL, draws: int = _DRAWS, seed: int = 0
    ) -> Comparison:
        """Return P(first) - P(second) for two cells or events.

        Interval and mean are those of `difference_distribution`, so of the same noisy sums as each interval; the
        probability that it is above 0 is exact.
        """
        (one, here), (two, there) = self._named(first), self._named(second)
        minus = self._minus((one, here), (two, there), draws, seed, calls=5)
        greater = self._probability(Statement.about((one, here), None, None, (two, there)))
        name = f"{_event_text(first)} minus {_event_text(second)}"
        figures = *minus.summary(level), PROBABILITY, minus.monte_carlo_error
        return Comparison(name, "", *figures, probability_above_zero=greater)

    def difference_distribution(
        self, first: object, second: object, draws: int = _DRAWS, seed: int = 0
    ) -> SampledDifference:
        """Return the distribution of P(first) - P(second), by exact draws."""
        return self._minus(self._named(first), self._named(second), draws, seed, calls=5)

    def _minus(
        self, first: tuple[str, Counts], second: tuple[str, Counts], draws: int, seed: int, calls: int
    ) -> SampledDifference:
        (_, here), (_, there) = first, second
        for name, indices in (first, second):
            watch_share(self, name, indices, calls)
        one, two = self._log_sums((here, there), draws, seed)
        drawn, only = np.exp(one) - np.exp(two), [np.setdiff1d(here, there), np.setdiff1d(there, here)]
        return SampledDifference(drawn, *(self.distributions.share(own) if own.size else None for own in only))

    def risk_difference(
        self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0
    ) -> Sampled:
        """Return the distribution of P(event | first) - P(event | second)."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        return SampledDifference(expit(one - rest_one) - expit(two - rest_two), *self._two_rates(event, first, second))

    def risk_ratio(self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of P(event | first) / P(event | second)."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        logs = log_expit(one - rest_one) - log_expit(two - rest_two)
        return SampledRatio.of_logs(logs, *self._two_rates(event, first, second), of_odds=False)

    def odds_ratio(self, event: object, first: object, second: object, draws: int = _DRAWS, seed: int = 0) -> Sampled:
        """Return the distribution of the odds of an event under `first`, divided by its odds under `second`."""
        (one, rest_one), (two, rest_two) = self._log_risks(event, first, second, draws, seed)
        logs = (one - rest_one) - (two - rest_two)
        return SampledRatio.of_logs(logs, *self._two_rates(event, first, second), of_odds=True)

    def _two_rates(self, event: object, first: object, second: object) -> tuple[ShareDistribution, ShareDistribution]:
        return self.distributions.between(*self._split(event, first)), self.distributions.between(
            *self._split(event, second)
        )

    def _log_risks(
        self, event: object, first: object, second: object, draws: int, seed: int
    ) -> list[tuple[Floats, Floats]]:
        """Return, for both groups, draws of the log probability of the event in it and of the rest of it."""
        groups = [*self._split(event, first), *self._split(event, second)]
        rates = zip((first, second), (groups[:2], groups[2:]), strict=True)
        watch_rates(self, {f"{event} | {group}": (own[0], own[1]) for group, own in rates}, calls=5)
        one, rest_one, two, rest_two = self._log_sums(groups, draws, seed)
        return [(one, rest_one), (two, rest_two)]

    def _log_sums(self, groups: Sequence[Counts], draws: int, seed: int) -> list[Floats]:
        """Draw the log probabilities of groups that may overlap: from the parts into which they split the cells."""
        cells = np.arange(len(self.model.cells))
        codes = np.array([np.isin(cells, group) for group in groups]) * 2 ** np.arange(len(groups))[:, None]
        kinds = [kind for kind in np.unique(codes.sum(axis=0)) if kind]
        parts = [np.flatnonzero(codes.sum(axis=0) == kind) for kind in kinds]
        logs = self.distributions.log_draws(parts, whole(draws, "draws"), seed)
        return [logsumexp(logs[:, [bool(kind & 2**number) for kind in kinds]], axis=1) for number in range(len(groups))]

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of the number of records behind the releases: one number, unless it is secret."""
        return CountDistribution(self.size, np.ones(1))

    def true_count(self, event: object) -> CountDistribution:
        """Return the distribution of how many of the records behind the release fall into an event."""
        indices = self.model.cell_indices(event)
        watch_share(self, str(event), indices)
        return self.distributions.count(indices)

    def predictive(self, event: object, records: int) -> CountDistribution:
        """Return how many of `records` further records fall into an event: a mixture of Beta-binomials.

        Its intervals are opened to 0 and to all of them where those of shares are.
        """
        future, distribution = whole(records, "records", most=10**7), self.probability(event)
        return CountDistribution(0, distribution.hits(future), future if self.distributions.are_opened else None)

    def bayes_remap(self) -> Dirichlet:
        """Return one Dirichlet(alpha + r), with r whole counts of this size, at a small expected Hellinger distance.

        Use it when a single conjugate posterior is wanted. It is optimal for two levels and for small tables, otherwise
        the best found by a local search (see `remap`).
        """
        from discreet.tables._remap import bayes_remap, weighted_tables  # rarely wanted

        parts = [
            weighted_tables(solution.counts, len(self.model.cells))  # type: ignore[arg-type]  # their number is public
            for _, solution in self.joint.weighed
        ]
        tables = np.concatenate([part[0] for part in parts])
        weights = np.concatenate([pair[0] * part[1] for pair, part in zip(self.joint.weighed, parts, strict=True)])
        tables, indices = np.unique(tables, axis=0, return_inverse=True)
        summed = np.asarray(np.bincount(indices.ravel(), weights), dtype=float)
        return bayes_remap(tables, summed, self.mean_prior, summed @ tables)

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return synthetic records, as lists by column: probabilities drawn once, then records from them.

        Analyse several sets and combine the results; a single set shows only one of the plausible worlds.
        """
        generator = np.random.default_rng(seed)
        theta = self.draws(1, int(generator.integers(2**32)))["theta"][0]
        cells = generator.choice(len(theta), size=whole(rows, "rows"), p=theta)
        indices = np.unravel_index(cells, tuple(len(column.levels) for column in self.model.columns))
        return {
            c.name: [c.levels[code] for code in codes] for c, codes in zip(self.model.columns, indices, strict=True)
        }

    @cached_property
    def groupwise_distributions(self) -> GroupwiseDistributions | None:
        sums = GroupwiseInference(Problem.of(self.releases))
        return GroupwiseDistributions(sums, self.size) if sums.refusal is None else None

    @cached_property
    def cell_distributions(self) -> MixtureBatch | SampledShares:
        """Return the distributions of all cells."""
        return self.distributions.cells(self._every)

    def _groups(self, column: Column) -> list[Counts]:
        """Return the indices of the cells of each level of a column."""
        shape = [len(each.levels) for each in self.model.columns]
        codes = np.unravel_index(np.arange(len(self.model.cells)), shape)[self.model.columns.index(column)]
        return [np.flatnonzero(codes == index) for index in range(len(column.levels))]

    def _group_share(self, column: Column, index: int) -> ShareDistribution:
        return self.distributions.share(self._groups(column)[index])

    def asked(self, event: str, rows: Sequence[Row]) -> None:
        """Warn where its own sums leave a share almost unknown: the noise is then larger than its counts."""
        wide = [row for row in rows if row.high - row.low > _WIDE]
        if wide and self.distributions.is_groupwise:
            first = probability_name(event, wide[0].given)
            which = f"{first} and {len(wide) - 1} more" if len(wide) > 1 else first
            warnings.warn(
                f"{self.releases[0].label!r} says almost nothing about {which}: the noise is larger than the counts in "
                "these cells. Ask about fewer cells, pool groups, publish the margin itself, or use a larger epsilon.",
                LittleInformationWarning,
                stacklevel=4,
            )

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw counts and probabilities: independently, or about as many from each chain."""
        self._watch_draws()
        return self.together.sample(whole(count, "count"), seed)

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw counts of as many further records."""
        theta = sample.parameters["theta"]
        return generator.multinomial(self.size, theta / theta.sum(axis=1, keepdims=True))

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw probabilities from the prior; if its strength was learnt, all candidate strengths are equally likely."""
        if self.drawn is not None:
            return self.drawn.prior_sample(count, generator)
        models = [solution.model for solution in self.joint.solutions]
        if len(models) < len(self.joint.log_evidences):  # some strengths were dropped
            models = list(self.model.proposals(True))
        if len(models) != len(self.joint.log_evidences):
            raise DeclarationError("some strengths of the prior were dropped, because no draw had them")
        shapes = np.array([model.concentration for model in models])[generator.integers(len(models), size=count)]
        return PosteriorSample({"theta": np.exp(log_dirichlet_rows(shapes, generator))})

    def differ(self, event: object, by: str, patience: float = 1.0) -> "Difference":
        """Return whether the rate of an event differs between the levels of a column: a probability and a sentence.

        Anything that takes more than `patience` times the usual work is refused before it begins.
        """
        from discreet.tables._differences import difference_between_groups  # two other models of the same releases

        groups, inside = self._groups(column_named(self.columns, by)), self.model.cell_indices(event)

        def rates() -> Floats:
            return np.array([_rate(self.joint_means, indices, inside) for indices in groups])

        return difference_between_groups(self.model, self.releases, event, by, rates, patience)


def _event_text(event: object) -> str:
    return event if isinstance(event, str) else ", ".join(map(level_text, levels_of(event)))  # type: ignore[arg-type]


def _rate(means: Floats, indices: Counts, inside: Counts) -> float:
    """Return the expected share of an event in a group, from the means of all cells."""
    return float(means[np.intersect1d(indices, inside)].sum() / means[indices].sum())
