"""What a reader learns about a Bayesian network from a release of its noisy counts.

The true tables have a posterior, and given them every row of probabilities is Dirichlet. For naive Bayes the chance of
the next record is a finite sum. For other graphs it is averaged over draws of the true tables, each with its
probabilities integrated out; `method` says how these were found.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import inf, prod
from typing import Any, Self, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import (
    Criticism,
    EventPosterior,
    Graph,
    Posterior,
    PosteriorSample,
    ReportText,
    Row,
    TableEntry,
    dirichlet_in_words,
    levels_in_words,
)
from discreet.mathematics import kullback_leibler
from discreet.mathematics.distributions import (
    BetaMixture,
    Dirichlet,
    MergedMixture,
    OpenedMergedMixture,
    OpenedMixture,
    Sampled,
    SampledShare,
    log_dirichlet_rows,
)
from discreet.mechanism import Simulated, event_name, probability_name, sized
from discreet.networks._class_states import log_chances
from discreet.networks._criticism import criticised
from discreet.networks._elimination import Event, Tables, chance_of, joint_chances, most_probable
from discreet.networks._events import both, levels_of, read_event
from discreet.networks._further_records import further_counts
from discreet.networks._model import Network
from discreet.networks._prediction import chances_of
from discreet.networks._prior_conflict import outweighed_variable, pulled_class
from discreet.networks._records_to_predict import UNKNOWN, partial_codes_of
from discreet.networks._rows import ends_of_draws, table_entries
from discreet.networks._solution import NetworkSolution
from discreet.records import Column, Level, text_of
from discreet.release import Release

DRAWS, _ROUGH_DRAWS = 4_000, 500
"""The number of draws from which questions are answered; and in a plan."""

_CLASSIFIED = 500  # new records of a simulated study that are classified


class NetworkPosterior(EventPosterior[Network], shows=NetworkSolution):
    """The posterior of the probabilities of a Bayesian network, with the noise accounted for."""

    rough_draws: int | None = None
    """From how many draws rows come in a plan; None for the usual number."""
    is_rough = False
    seed = 0
    """The seed of the draws from which questions are answered."""

    @cached_property
    def _known_entries(self) -> dict[float, tuple[TableEntry, ...]]:
        return {}

    def __repr__(self) -> str:
        return f"<posterior of {self.model!r} given {self.releases[0].label!r}>"

    @property
    def log_evidence(self) -> float | None:
        """Return log P(release | model), averaged over the prior's strengths; None if it is not known.

        Differences are log Bayes factors. For small graphs that are read by chains it is computed on demand, and
        `facts` has its Monte Carlo error.
        """
        if np.isnan(self.log_evidences).any():
            return None
        return float(logsumexp(self.log_evidences))

    @property
    def method(self) -> str:
        return self.solutions[0].method

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Warn of the variable whose declared prior outweighs what was measured most, and of a class that is pulled."""
        return (*outweighed_variable(self), *pulled_class(self))

    @property
    def mean_prior(self) -> list[list[float]]:
        """Return the prior parameters of a row of every variable; with several strengths, their mean by evidence."""
        tables = [[np.array(row) for row in solution.model.prior] for solution in self.solutions]
        return [(self.shares @ np.array(rows)).tolist() for rows in zip(*tables, strict=True)]

    @property
    def strength_probabilities(self) -> tuple[float, ...]:
        """Return the posterior probability of each strength of the prior, in the order in which they were given."""
        return tuple(float(share) for share in self.shares)

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each level of each variable, given each combination of its parents' levels."""
        return tuple(entry.row for entry in self._entries(level))

    def _entries(self, level: float) -> tuple[TableEntry, ...]:
        if level not in self._known_entries:  # tables, pictures and statements use the same rows
            means, draws, shapes = self.mean_tables(), self.standard_parameters, self.standard_shapes
            self._known_entries[level] = table_entries(self.model, means, draws, shapes, level, self.mean_errors())
        return self._known_entries[level]

    @classmethod
    def planned(
        cls, posteriors: Sequence[Posterior], made: Sequence[Simulated], indices: Sequence[int], level: float
    ) -> Floats:
        """Return them from means and draws alone: no draw is compared with what known counts would give."""
        found = np.full((len(posteriors), len(indices), 4), np.nan)
        for study, each in zip(found, cast("Sequence[NetworkPosterior]", posteriors), strict=True):
            means, draws = each.mean_tables(), each.standard_parameters
            ends = {name: ends_of_draws(each.model, table, level) for name, table in draws.items()}
            study[:, 0] = np.concatenate([means[name].ravel() for name in draws])[list(indices)]
            study[:, 1] = np.concatenate([(high - low).ravel() for low, high in ends.values()])[list(indices)]
        return found

    def planned_facts(self, made: Simulated, generator: np.random.Generator) -> dict[str, float]:
        """Return how often new records would be classified correctly, and with exact counts, if there is a class."""
        if self.model.target is None:
            return {}
        from discreet.networks._simulate import known_tables, simulated_records, tables_by_row

        records = simulated_records(self.model, tables_by_row(self.model, made.truth), _CLASSIFIED, generator)
        target, *others = self.model.variables
        found = []
        for tables in (self.mean_tables(), known_tables(self.model, made.statistics, 0.9)[0]):
            logs = np.log(tables[target.name]).reshape(1, -1)
            for column in others:
                logs = logs + np.log(tables[column.name]).reshape(-1, len(column.levels)).T[records[column.name]]
            found.append(float(np.mean(logs.argmax(axis=1) == records[target.name])))
        return {"classified": found[0], "classified_exactly": found[1]}

    def graph(self, level: float = 0.9) -> Graph:
        """Return the graph of the network with its tables."""
        return Graph(self.model, lambda: self._entries(level))

    @property
    def information(self) -> float:
        """Return the information gained, in nats: sum of KL(closest Dirichlet || prior) over all rows."""
        total = 0.0
        tables = zip(*(solution.model.row_priors for solution in self.solutions), strict=True)
        for variable, own in zip(self.model.variables, tables, strict=True):
            shapes, priors = self.standard_shapes[variable.name], np.tensordot(self.shares, np.array(own), 1)
            logs = (digamma(shapes) - digamma(shapes.sum(axis=-1, keepdims=True))).mean(axis=0)
            pairs = zip(logs, priors, strict=True)
            total += sum(kullback_leibler(Dirichlet.with_mean_logs(row), Dirichlet(prior)) for row, prior in pairs)
        return total

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the class of a naive Bayes network, and how well chains agree if it was read by chains."""
        known: dict[str, object] = {"target": self.model.target}
        if (diagnostics := self.solutions[0].counts.diagnostics) is not None:
            known |= {"r_hat": diagnostics.r_hat, "effective_size": diagnostics.effective_size}
            known |= {"tail_effective_size": diagnostics.tail_effective_size, "accepted": diagnostics.accepted}
            error = self.solutions[0].counts.log_evidence_error
            known |= {"log_evidence_error": None if np.isnan(error) else error}
        return known

    @property
    def effective_size(self) -> float:
        """Return how many independent draws chains are worth; no limit where draws are independent."""
        found = [solution.counts.diagnostics for solution in self.solutions]
        return min((float(each.effective_size) for each in found if each is not None), default=inf)

    def mean_errors(self) -> dict[str, Floats] | None:
        """Return the Monte Carlo standard errors of `mean_tables` if they were read by chains."""
        found = [solution.counts.diagnostics for solution in self.solutions]
        known = [diagnostics for diagnostics in found if diagnostics is not None]
        if len(known) < len(found):
            return None
        names = [variable.name for variable in self.model.variables]
        squares = [
            sum((s * t) ** 2 for s, t in zip(self.shares, own, strict=True))
            for own in zip(*(diagnostics.errors for diagnostics in known), strict=True)
        ]
        return {n: self.shaped(n, np.sqrt(np.asarray(square))) for n, square in zip(names, squares, strict=True)}

    @property
    def text(self) -> ReportText:
        """Return the variables, what they depend on, and the prior in words."""
        columns = []
        for column, above in zip(self.model.variables, self.model.parents, strict=True):
            given = f"; given {' and '.join(above)}" if above else ""
            columns.append((column.name, levels_in_words(column) + given))
        return ReportText(
            subject="a network",
            question=(
                f"in a Bayesian network of {len(columns)} variables, how often does each level of a variable occur, "
                "given the levels of those that it depends on? Which variable depends on which was declared in "
                "advance, not looked up in the records."
            ),
            columns=tuple(columns),
            hidden="counts",
            meaning=(
                "Each line is the estimated share of a level among those in the population for whom the condition "
                "holds, with an interval that combines the uncertainty of sampling and of the noise. A line without a "
                "condition is about everyone. A condition says how the shares are grouped, not what causes what."
            ),
            prior=(
                "The prior of every row of a table is a Dirichlet distribution, with "
                f"{dirichlet_in_words([value for row in self.mean_prior for value in row])}"
                f"{self._prior_note}."
            ),
            has_holders_prior=bool(self.model == self.releases[0].mechanism.model),
            public=("the arrows between them",),
        )

    @property
    def _prior_note(self) -> str:
        if self.model.is_prior_declared:
            return ""
        return " (learnt from the data)" if len(self.solutions) > 1 else " (none was declared)"

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.model.variables

    def _rate(self, event: str, column: Column, index: int) -> BetaMixture | Sampled:
        given = {column.name: np.arange(len(column.levels)) == index}
        return self._conditional(read_event(event, self.model.variables), given, event)

    def _group_share(self, column: Column, index: int) -> BetaMixture | Sampled:
        return self._conditional({column.name: np.arange(len(column.levels)) == index}, {}, column.name)

    def mean_tables(self) -> dict[str, Floats]:
        """Return the expected probabilities of every variable, axes (parents..., levels).

        They are exact for naive Bayes with independent or cube noise and for binary trees, averages over all draws of
        the true tables where these come from chains (`mean_errors` says how accurate), and averages over 4,000 draws
        otherwise.
        """
        exact = [means for solution in self.solutions if (means := solution.counts.means()) is not None]
        if len(exact) < len(self.solutions):
            tables = [table.mean(axis=0) for table in self.predictive_tables.values()]
        else:
            tables = [sum(s * t for s, t in zip(self.shares, own, strict=True)) for own in zip(*exact, strict=True)]
        names = [variable.name for variable in self.model.variables]
        return {name: self.shaped(name, np.asarray(table)) for name, table in zip(names, tables, strict=True)}

    def predict_proba(self, rows: object, target: str | None = None, unknown: Collection[object] = ()) -> Floats:
        """Return P(target = level | what is known of each record, release), one column for each level of the target.

        Records are a list of mappings, a mapping of lists or a data frame, and may be partial: a variable that is left
        out is unknown, and so is a value among `unknown`, such as ('?', None). A band may be given by its name. Other
        undeclared values count as the level declared for them. The target is the class of a naive Bayes network; in
        another graph it must be named.
        """
        name = self._target(target)
        indices = [variable.name for variable in self.model.variables]
        others = [variable for variable in self.model.variables if variable.name != name]
        codes = partial_codes_of(rows, others, unknown, ignored=(name,))
        given = np.insert(codes, indices.index(name), UNKNOWN, axis=1)
        joint = None if self.model.target is None else self._log_joint
        return chances_of(name, given, self.model, joint, lambda: self.predictive_tables)

    def predict(self, rows: object, target: str | None = None, unknown: Collection[object] = ()) -> list[Level]:
        """Return the most probable level of the target for each record, which may be partial."""
        levels = next(column.levels for column in self.model.variables if column.name == self._target(target))
        return [levels[index] for index in self.predict_proba(rows, target, unknown).argmax(axis=1)]

    def predictions(
        self, rows: object, target: str | None = None, unknown: Collection[object] = (), level: float = 0.9
    ) -> Mapping[str, Sequence[object]]:
        """Return the most probable level of the target for each record, and the probability of every level, by name."""
        name, chances = self._target(target), self.predict_proba(rows, target, unknown)
        levels = next(column.levels for column in self.model.variables if column.name == name)
        each = {
            probability_name(event_name(name, known)): chances[:, index].tolist() for index, known in enumerate(levels)
        }
        return {name: [levels[index] for index in chances.argmax(axis=1)], **each}

    def criticise(self, replicates: int = 1_000, seed: int = 0, risk: float = 0.05) -> Criticism:
        """Return whether the released tables fit the graph, by a posterior predictive check of every table and pair.

        Replicates are simulated studies for which the graph is right, with their own noise. Every pair without an arrow
        that a released table holds is checked. `risk` is about the probability that a correct graph is rejected at all.
        """
        tables = self.parameters(whole(replicates, "replicates", most=100_000), seed)
        return criticised(self.model, self.releases, self.size, tables, seed, risk)

    def _target(self, target: str | None) -> str:
        names = [variable.name for variable in self.model.variables]
        name = self.model.target if target is None else target
        if name not in names:
            raise DeclarationError(f"Name the variable to predict, one of {', '.join(map(repr, names))}.")
        return str(name)

    def _log_joint(self, codes: Counts) -> Floats:
        """Return log P(class, features) for every class: a finite sum, or an average over draws of the true tables."""
        parts = [part for r in self.solutions if (part := r.counts.log_joint(codes)) is not None]
        if len(parts) == len(self.solutions):
            return np.asarray(logsumexp(np.stack(parts), axis=0, b=self.shares[:, None, None]))
        classes, *features = self.predictive_tables.values()
        weights = enumerate(np.log(classes[:, 0].T / DRAWS))
        return np.stack([log_chances(own, [f[:, y] for f in features], codes) for y, own in weights], axis=1)

    def _row_index(self, above: Sequence[str], record: Mapping[str, Any]) -> Any:
        """Return the row of a table for the levels of its parents; records may be arrays."""
        shape, row = self.model.shape(above), 0
        for number, parent in enumerate(above):
            row = row + record[parent] * prod(shape[number + 1 :])
        return row

    def probability(self, event: str) -> BetaMixture | Sampled:
        """Return the distribution of an event's probability, such as that of 'cancer=yes'."""
        return self._conditional(read_event(event, self.model.variables), {}, event)

    def conditional(self, event: str, given: str) -> BetaMixture | Sampled:
        """Return the distribution of P(event | given), such as that of 'cancer=yes' given 'smoker=yes'.

        A child given its parent is a mixture of Betas: for naive Bayes with independent or cube noise over all possible
        counts (beyond 128 likely ones in ranges of neighbours), else over 4,000 exact draws of the true tables.
        Everything else is computed from as many draws of the probabilities themselves.
        """
        return self._conditional(
            read_event(event, self.model.variables), read_event(given, self.model.variables), event
        )

    def _conditional(self, event: Event, given: Event, words: str) -> BetaMixture | Sampled:
        if all(levels.all() for levels in event.values()) or any(set(event) & {name} for name in given):
            raise DeclarationError(f"{words!r} must be neither certain nor about a variable that is given.")
        row = self._row_of(event, given)
        if row is not None:
            return self._row_distribution(*row, event[row[0]])
        tables = self.standard_parameters
        chance = chance_of(both(event, given), tables, self.model)
        drawn = chance / chance_of(given, tables, self.model) if given else chance
        return SampledShare(drawn) if self.model.is_prior_open else Sampled(drawn)

    def marginal(self, *names: str, given: str = "") -> Floats:
        """Return the expected probabilities of all combinations of levels of some variables, axes in their order.

        They are averages of P(names | given) over 4,000 draws of the probabilities.
        """
        known = {variable.name for variable in self.model.variables}
        condition = read_event(given, self.model.variables) if given else {}
        if not names or len(set(names)) < len(names) or not known.issuperset(names) or set(names) & set(condition):
            raise DeclarationError(
                "Name one or more variables of the network, each once, other than those that are given."
            )
        joint = joint_chances(names, condition, self.standard_parameters, self.model)
        totals = joint.sum(axis=tuple(range(1, joint.ndim)), keepdims=True)
        return np.asarray((joint / totals).mean(axis=0))

    def most_probable(self, given: str = "") -> tuple[dict[str, Level], float]:
        """Return the most probable record, given what is known of it, and P(that record | given).

        Both are computed in the network of expected probabilities, `mean_tables`.
        """
        condition = read_event(given, self.model.variables) if given else {}
        tables = {name: table.reshape(-1, table.shape[-1]) for name, table in self.mean_tables().items()}
        levels, chance = most_probable(condition, tables, self.model)
        return levels_of(levels, self.model), chance / float(chance_of(condition, tables, self.model))

    def _row_distribution(self, name: str, index: int, inside: NDArray[np.bool_]) -> BetaMixture:
        """Return the distribution of one row of one table: from the solutions if known, else from drawn tables."""
        distributions = [
            distribution
            for solution in self.solutions
            if (distribution := solution.row_distribution(name, index, inside)) is not None
        ]
        if len(distributions) == len(self.solutions):
            weights = [
                share * distribution.weights for share, distribution in zip(self.shares, distributions, strict=True)
            ]
            a, b = (
                np.concatenate([distribution.a for distribution in distributions]),
                np.concatenate([distribution.b for distribution in distributions]),
            )
            is_merged = any(isinstance(distribution, MergedMixture) for distribution in distributions)
            return self._mixture(is_merged)(
                np.concatenate(weights),
                a,
                b,
                weight_error=max(distribution.weight_error or 0.0 for distribution in distributions),
            )
        table = self.standard_shapes[name][:, index]
        equal, diagnostics = np.full(DRAWS, 1 / DRAWS), [solution.counts.diagnostics for solution in self.solutions]
        worth = min((each.effective_size for each in diagnostics if each is not None), default=float(DRAWS))
        shapes = table[:, inside].sum(axis=1), table[:, ~inside].sum(axis=1)
        return self._mixture(is_merged=False)(equal, *shapes, draws=min(worth, DRAWS))

    def _mixture(self, is_merged: bool) -> type[BetaMixture]:
        """Return the class of the distribution of a probability: opened to 0 and 1 where no prior was declared."""
        if self.model.is_prior_open:
            return OpenedMergedMixture if is_merged else OpenedMixture
        return MergedMixture if is_merged else BetaMixture

    def _row_of(self, event: Event, given: Event) -> tuple[str, int] | None:
        """Return the variable and the row if an event is about one row of one table: a child given its parent."""
        parents = {v.name: above for v, above in zip(self.model.variables, self.model.parents, strict=True)}
        (name, *more) = event
        if more or set(given) != set(parents[name]) or any(levels.sum() != 1 for levels in given.values()):
            return None
        return name, int(self._row_index(parents[name], {n: levels.argmax() for n, levels in given.items()}))

    def synthesize(self, rows: int, seed: int | None = None) -> dict[str, list[Level]]:
        """Return synthetic records, as lists by column: probabilities drawn once, then records from them.

        Analyse several sets and combine the results; a single set shows only one of the plausible worlds.
        """
        generator = np.random.default_rng(seed)
        tables = self.parameters(1, int(generator.integers(2**32)))
        codes: dict[str, Counts] = {}
        for column, above in zip(self.model.variables, self.model.parents, strict=True):
            row = np.zeros(whole(rows, "rows"), dtype=np.int64) + self._row_index(above, codes)
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

    def __init__(
        self, model: Network, releases: Sequence[Release[Network]], solutions: Sequence[NetworkSolution]
    ) -> None:
        super().__init__(model, tuple(releases), self._number(releases, solutions))
        self.solutions = tuple(solutions)
        equal = -np.log(len(self.solutions))
        self._log_weights = np.array([equal if r.log_weight is None else r.log_weight for r in solutions])

    @staticmethod
    def _number(releases: Sequence[Release[Network]], solutions: Sequence[NetworkSolution]) -> int:
        """Return the number of records."""
        return sized(releases[0].mechanism).size

    @cached_property
    def log_evidences(self) -> Floats:
        """Return the log evidence of every solution; that of chains takes longer than the chains themselves."""
        return np.asarray(np.array([solution.log_evidence for solution in self.solutions]) + self._log_weights)

    @cached_property
    def shares(self) -> Floats:
        """Return the share of every solution, by evidence; that of a single one need not be known."""
        return np.ones(1) if len(self.solutions) == 1 else np.exp(self.log_evidences - logsumexp(self.log_evidences))

    def with_fewer_draws(self) -> Self:
        """Return the same posterior with rows from fewer draws."""
        made = type(self)(self.model, self.releases, self.solutions)
        made.is_rough = True
        made.rough_draws, made.seed = _ROUGH_DRAWS, crc32(repr(self.releases[0].output).encode())
        return made

    def _drawn(self, count: int, seed: int | None) -> tuple[dict[str, Counts], Counts, np.random.Generator]:
        """Draw true tables from every solution in proportion to its share, in random order, with its index."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self.shares / self.shares.sum())
        parts = [r.draw(int(n), generator) for n, r in zip(numbers, self.solutions, strict=True) if n]
        order = generator.permutation(count)
        found = {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
        return found, np.repeat(np.arange(len(numbers)), numbers)[order], generator

    def _with_prior(self, tables: Mapping[str, Counts], which: Counts) -> Tables:
        """Return the Dirichlet parameters of every row, under the prior of the solution that it was drawn from."""
        priors = zip(*(solution.model.row_priors for solution in self.solutions), strict=True)
        pairs = zip(self.model.variables, priors, strict=True)
        return {v.name: np.array(own)[which] + tables[v.name] for v, own in pairs}

    def _shapes(self, count: int, seed: int | None) -> tuple[Tables, np.random.Generator]:
        """Draw Dirichlet parameters."""
        tables, which, generator = self._drawn(count, seed)
        return self._with_prior(tables, which), generator

    @cached_property
    def _standard(self) -> tuple[Tables, np.random.Generator]:
        """Return the Dirichlet parameters from which questions are answered, and what draws probabilities of them."""
        return self._shapes(self.rough_draws or DRAWS, self.seed)

    @property
    def standard_shapes(self) -> Tables:
        """Return the draws of Dirichlet parameters from which questions are answered."""
        return self._standard[0]

    @cached_property
    def predictive_tables(self) -> Tables:
        """Return draws of P(next record | true tables): the means of the Dirichlet rows."""
        return {name: table / table.sum(axis=-1, keepdims=True) for name, table in self.standard_shapes.items()}

    def shaped(self, name: str, table: Floats) -> Floats:
        """Return a table with one axis for each parent, instead of one row for each of their levels."""
        family = self.model.families[[variable.name for variable in self.model.variables].index(name)]
        return table.reshape(*table.shape[:-2], *self.model.shape(family))

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw tables of probabilities, axes (draws, parents..., levels): true tables, then Dirichlets.

        They are independent, except that chains give as many independent ones as their effective size says.
        """
        return {name: self.shaped(name, table) for name, table in self.parameters(count, seed).items()}

    def parameters(self, count: int, seed: int | None) -> Tables:
        """Draw tables of probabilities, axes (draws, rows of parents, levels)."""
        return self._drawn_rows(*self._shapes(count, seed))

    @staticmethod
    def _drawn_rows(shapes: Tables, generator: np.random.Generator) -> Tables:
        return {name: np.exp(log_dirichlet_rows(table, generator)) for name, table in shapes.items()}

    @cached_property
    def standard_parameters(self) -> Tables:
        """Return the draws of probabilities from which questions are answered."""
        shapes, generator = self._standard
        return self._drawn_rows(shapes, generator)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes of each table: one for each parent, and one for its own levels."""
        return {family[-1]: tuple(f"{name}_level" for name in family) for family in self.model.families}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {f"{c.name}_level": tuple(str(text_of(level)) for level in c.levels) for c in self.model.variables}

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw probabilities and the counts behind them: by chain if they come from chains, else independently."""
        chained = self.solutions[0].counts.by_chain(whole(count, "count")) if len(self.solutions) == 1 else None
        if chained is None:
            chains, (tables, which, generator) = 1, self._drawn(count, seed)
        else:
            chains, generator = len(chained[0]), np.random.default_rng(seed)
            names = [variable.name for variable in self.model.variables]
            tables = {n: own.reshape(-1, *own.shape[2:]) for n, own in zip(names, chained, strict=True)}
            which = np.zeros(len(tables[names[0]]), dtype=np.int64)
        drawn = self._drawn_rows(self._with_prior(tables, which), generator)
        families = [tables[family[-1]].reshape(len(which), -1) for family in self.model.maximal_families]
        parameters = {name: self.shaped(name, table) for name, table in drawn.items()}
        return PosteriorSample(parameters, np.concatenate(families, axis=1), chains, {"prior_place": which})

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the tables of as many further records."""
        tables = {n: t.reshape(len(t), -1, t.shape[-1]) for n, t in sample.parameters.items()}
        return further_counts(self.model, tables, self.size, generator)

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw probabilities from the prior; with several, from each in proportion to its prior probability."""
        weights = np.exp(self._log_weights)
        if abs(weights.sum() - 1) > 1e-6:
            raise DeclarationError(
                "priors that the evidence all but rules out were not read, so not all of them are known"
            )
        which = generator.choice(len(weights), size=count, p=weights / weights.sum())
        rows = [prod(self.model.shape(above)) for above in self.model.parents]
        none = {
            v.name: np.zeros((count, row, len(v.levels)), dtype=np.int64)
            for v, row in zip(self.model.variables, rows, strict=True)
        }
        drawn = self._drawn_rows(self._with_prior(none, which), generator)
        return PosteriorSample({name: self.shaped(name, table) for name, table in drawn.items()})
