"""What a reader learns about a Bayesian network from a release of its noisy counts.

The true tables have a posterior, and given them every row of probabilities is Dirichlet. For naive Bayes the chance of
the next record is a finite sum. For other graphs it is averaged over draws of the true tables, each with its
probabilities integrated out; `method` says how these were found.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from discreet.columns import Level
from discreet.distributions import BetaMixture, Sampled
from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import whole
from discreet.inference.elimination import Event, Tables, chance_of, joint_chances, most_probable
from discreet.inference.network_queries import both, codes_of, levels_of, read_event
from discreet.models.network import Network
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.reading.counts.states import log_chances
from discreet.reading.readings import NetworkReading
from discreet.releases import Release

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_DRAWS = 4_000
_SEED = 0


class NetworkPosterior:
    """What a reader knows about the probabilities of a network, with the noise accounted for."""

    def __init__(self, model: Network, releases: Sequence[Release], readings: Sequence[NetworkReading]) -> None:
        self.model = model
        self.releases = tuple(releases)
        self.readings = tuple(readings)
        self.size = releases[0].mechanism.size
        self._log_evidences = np.array([reading.log_evidence for reading in readings])
        only = len(self.readings) == 1  # then its evidence does not matter, and need not be known
        self._shares = np.ones(1) if only else np.exp(self._log_evidences - logsumexp(self._log_evidences))

    def __repr__(self) -> str:
        return f"<posterior of {self.model!r} given {self.releases[0].label!r}>"

    @property
    def log_evidence(self) -> float:
        """Return log P(release | model), averaged over the prior's strengths. Differences are log Bayes factors.

        It is not a number for graphs that are not read exactly.
        """
        return float(logsumexp(self._log_evidences) - np.log(len(self.readings)))

    @property
    def method(self) -> str:
        """Say in words how the release was read, and how well chains agree if it was read by chains."""
        return self.readings[0].method

    @property
    def strength_probabilities(self) -> tuple[float, ...]:
        """Return the posterior probability of each strength of the prior, in the order in which they were given."""
        return tuple(float(share) for share in self._shares)

    def _shapes(self, count: int, seed: int | None) -> tuple[Tables, np.random.Generator]:
        """Draw Dirichlet parameters, from every reading as often as its share says, in random order."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self._shares / self._shares.sum())
        parts = [r.shapes(int(n), generator) for n, r in zip(numbers, self.readings, strict=True) if n]
        order = generator.permutation(count)
        return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}, generator

    @cached_property
    def _standard_shapes(self) -> Tables:
        return self._shapes(_DRAWS, _SEED)[0]

    @cached_property
    def _predictive_tables(self) -> Tables:
        """Return draws of P(next record | true tables): the means of the Dirichlet rows."""
        return {name: table / table.sum(axis=-1, keepdims=True) for name, table in self._standard_shapes.items()}

    def _shaped(self, name: str, table: Floats) -> Floats:
        """Return a table with one axis for each parent, instead of one row for each of their levels."""
        family = self.model.families[[variable.name for variable in self.model.variables].index(name)]
        return table.reshape(*table.shape[:-2], *self.model.shape(family))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw tables of probabilities, axes (draws, parents..., levels): true tables, then Dirichlets.

        They are independent, except that chains give as many independent ones as their effective size says.
        """
        return {name: self._shaped(name, table) for name, table in self._parameters(count, seed).items()}

    def _parameters(self, count: int, seed: int | None) -> Tables:
        shapes, generator = self._shapes(count, seed)
        return {name: _dirichlet(table, generator) for name, table in shapes.items()}

    @cached_property
    def _standard_parameters(self) -> Tables:
        return self._parameters(_DRAWS, _SEED)

    def mean_tables(self) -> dict[str, Floats]:
        """Return the expected probabilities of every variable, axes (parents..., levels).

        They are exact for naive Bayes by independent or cube noise, else averages over 4,000 draws of the true tables.
        """
        tables = [self._exact_means(reading) for reading in self.readings]
        if any(table is None for table in tables):
            means = {name: table.mean(axis=0) for name, table in self._predictive_tables.items()}
        else:
            exact = [table for table in tables if table is not None]
            means = {n: sum(s * t[n] for s, t in zip(self._shares, exact, strict=True)) for n in exact[0]}
        return {name: self._shaped(name, np.asarray(table)) for name, table in means.items()}

    def _exact_means(self, reading: NetworkReading) -> Tables | None:
        counts, names = reading.counts, [variable.name for variable in self.model.variables]
        if not isinstance(counts, NaiveBayesCounts):
            return None
        first = [] if self.model.target is None else [counts.class_means[None]]
        features = [counts.feature_means(place) for place in range(len(names) - len(first))]
        return dict(zip(names, [*first, *features], strict=True))

    def predict_proba(self, rows: Any, target: str | None = None) -> Floats:
        """Return P(target = level | the rest of each record, release), one column for each level of the target.

        Records are a list of mappings, a mapping of lists or a data frame. The target is the class of a naive Bayes
        network; in another graph it must be named. Undeclared values belong to the level declared for them.
        """
        name = self._target(target)
        logs = self._log_joint(rows, name)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

    def predict(self, rows: Any, target: str | None = None) -> list[Level]:
        """Return the most probable level of the target for each record."""
        levels = next(column.levels for column in self.model.variables if column.name == self._target(target))
        return [levels[place] for place in self.predict_proba(rows, target).argmax(axis=1)]

    def _target(self, target: str | None) -> str:
        names = [variable.name for variable in self.model.variables]
        name = self.model.target if target is None else target
        if name not in names:
            raise DeclarationError(f"Name the variable to predict, one of {', '.join(map(repr, names))}.")
        return str(name)

    def _log_joint(self, rows: Any, target: str) -> Floats:
        others = [column for column in self.model.variables if column.name != target]
        codes = codes_of(rows, others)
        engines = [reading.counts for reading in self.readings]
        naive = [engine for engine in engines if isinstance(engine, NaiveBayesCounts)]
        if target == self.model.target and len(naive) == len(engines):
            parts = np.stack([engine.log_joint(codes) for engine in naive])
            return np.asarray(logsumexp(parts, axis=0, b=self._shares[:, None, None]))
        if target == self.model.target:
            return self._log_joint_by_draws(codes)
        levels = next(len(column.levels) for column in self.model.variables if column.name == target)
        found, which = np.unique(codes, axis=0, return_inverse=True)
        known = [dict(zip([c.name for c in others], row.tolist(), strict=True)) for row in found]
        chances = np.array([[self._record_chance(row | {target: x}) for x in range(levels)] for row in known])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chances.reshape(-1, levels)[which.ravel()]))

    def _record_chance(self, record: Mapping[str, int]) -> float:
        """Return P(next record has these levels), averaged over draws of the true tables."""
        chance = np.ones(_DRAWS)
        for column, above in zip(self.model.variables, self.model.parents, strict=True):
            row = self._row_place(above, record)
            chance = chance * self._predictive_tables[column.name][:, row, record[column.name]]
        return float(chance.mean())

    def _row_place(self, above: Sequence[str], record: Mapping[str, Any]) -> Any:
        """Return the row of a table for the levels of its parents; records may be arrays."""
        shape, row = self.model.shape(above), 0
        for number, parent in enumerate(above):
            row = row + record[parent] * prod(shape[number + 1 :])
        return row

    def _log_joint_by_draws(self, codes: Counts) -> Floats:
        """Average naive Bayes over draws of the true tables."""
        classes, *features = self._predictive_tables.values()
        return np.stack(
            [
                log_chances(np.log(p / _DRAWS), [f[:, y] for f in features], codes)
                for y, p in enumerate(classes[:, 0].T)
            ],
            axis=1,
        )

    def probability(self, event: str) -> BetaMixture | Sampled:
        """Return the distribution of an event's probability, such as that of 'cancer=yes'."""
        return self._conditional(read_event(event, self.model), {}, event)

    def conditional(self, event: str, given: str) -> BetaMixture | Sampled:
        """Return the distribution of P(event | given), such as that of 'cancer=yes' given 'smoker=yes'.

        A child given its parent is a mixture of Betas: for naive Bayes by independent or cube noise over all that its
        counts can be (beyond 128 likely ones in ranges of neighbours), else over 4,000 exact draws of the true tables.
        All else is computed from as many draws of the probabilities themselves.
        """
        return self._conditional(read_event(event, self.model), read_event(given, self.model), event)

    def _conditional(self, event: Event, given: Event, words: str) -> BetaMixture | Sampled:
        if all(levels.all() for levels in event.values()) or any(set(event) & {name} for name in given):
            raise DeclarationError(f"{words!r} must be neither certain nor about a variable that is given.")
        row = self._row_of(event, given)
        if row is not None:
            return self._row_law(*row, event[row[0]])
        tables = self._standard_parameters
        chance = chance_of(both(event, given), tables, self.model)
        return Sampled(chance / chance_of(given, tables, self.model) if given else chance)

    def marginal(self, *names: str, given: str = "") -> Floats:
        """Return the expected probabilities of all combinations of levels of some variables, axes in their order.

        They are averages of P(names | given) over 4,000 draws of the probabilities.
        """
        known = {variable.name for variable in self.model.variables}
        condition = read_event(given, self.model) if given else {}
        if not names or len(set(names)) < len(names) or not known.issuperset(names) or set(names) & set(condition):
            raise DeclarationError("Name one or more variables of the network, each once, that are not given.")
        joint = joint_chances(names, condition, self._standard_parameters, self.model)
        totals = joint.sum(axis=tuple(range(1, joint.ndim)), keepdims=True)
        return np.asarray((joint / totals).mean(axis=0))

    def most_probable(self, given: str = "") -> tuple[dict[str, Level], float]:
        """Return the most probable record of which this is known, and P(that record | given).

        Both are of the network of expected probabilities, `mean_tables`.
        """
        condition = read_event(given, self.model) if given else {}
        tables = {name: table.reshape(-1, table.shape[-1]) for name, table in self.mean_tables().items()}
        levels, chance = most_probable(condition, tables, self.model)
        return levels_of(levels, self.model), chance / float(chance_of(condition, tables, self.model))

    def _row_law(self, name: str, place: int, inside: NDArray[np.bool_]) -> BetaMixture:
        """Return the law of one row of one table: the readings' own if they have it, else over draws of the tables."""
        laws = [law for reading in self.readings if (law := reading.row_law(name, place, inside)) is not None]
        if len(laws) == len(self.readings):
            weights = [share * law.weights for share, law in zip(self._shares, laws, strict=True)]
            a, b = np.concatenate([law.a for law in laws]), np.concatenate([law.b for law in laws])
            return BetaMixture(np.concatenate(weights), a, b)
        table = self._standard_shapes[name][:, place]
        equal = np.full(_DRAWS, 1 / _DRAWS)
        return BetaMixture(equal, table[:, inside].sum(axis=1), table[:, ~inside].sum(axis=1))

    def _row_of(self, event: Event, given: Event) -> tuple[str, int] | None:
        """Return the variable and the row if an event is about one row of one table: a child given its parent."""
        parents = {v.name: above for v, above in zip(self.model.variables, self.model.parents, strict=True)}
        (name, *more) = event
        if more or set(given) != set(parents[name]) or any(levels.sum() != 1 for levels in given.values()):
            return None
        return name, int(self._row_place(parents[name], {n: levels.argmax() for n, levels in given.items()}))

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return made-up records, as lists by column: probabilities drawn once, then records from them.

        Analyse several sets and combine them; one set alone shows only one of the plausible worlds.
        """
        generator = np.random.default_rng(seed)
        tables = self._parameters(1, int(generator.integers(2**32)))
        codes: dict[str, Counts] = {}
        for column, above in zip(self.model.variables, self.model.parents, strict=True):
            row = np.zeros(whole(rows, "rows"), dtype=np.int64) + self._row_place(above, codes)
            edges = np.cumsum(tables[column.name][0], axis=1)[row]
            marks = generator.random(len(row)) * edges[:, -1]
            codes[column.name] = np.minimum((marks[:, None] >= edges).sum(axis=1), len(column.levels) - 1)
        return {c.name: [c.levels[code] for code in codes[c.name]] for c in self.model.variables}

    def to_bif(self) -> str:
        """Return the network with the expected probabilities, in the Bayesian interchange format."""
        return self.model.to_bif(self.mean_tables())

    def to_pgmpy(self) -> Any:
        """Return the network with the expected probabilities, as an object of pgmpy."""
        return self.model.to_pgmpy(self.mean_tables())

    def to_arviz(self, draws: int = _DRAWS, seed: int = _SEED) -> Any:
        """Return independent draws as an ArviZ data tree: one variable for each table, one chain."""
        try:
            from arviz_base import from_dict
        except ImportError:
            raise DiscreetError('ArviZ output needs another package: pip install "discreet[arviz]".') from None
        values = {name: table[None] for name, table in self.draws(draws, seed).items()}
        dims = {family[-1]: [f"{name}_level" for name in family] for family in self.model.families}
        coords = {f"{column.name}_level": [str(level) for level in column.levels] for column in self.model.variables}
        return from_dict({"posterior": values}, dims=dims, coords=coords)


def _dirichlet(shapes: Floats, generator: np.random.Generator) -> Floats:
    """Draw rows of probabilities through logarithms, which do not vanish however small a parameter is.

    A Gamma(a) number is a Gamma(a + 1) number times U^(1/a).
    """
    logs = np.log(generator.standard_gamma(shapes + 1)) - generator.standard_exponential(shapes.shape) / shapes
    return np.exp(logs - logsumexp(logs, axis=-1, keepdims=True))
