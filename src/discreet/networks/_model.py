"""Bayesian networks: which variables depend on which, with declared levels and a Dirichlet prior for every row.

A family is a variable with its parents. One record adds one to one cell of every family table, and the posterior of the
row of a variable given its parents is Dirichlet(prior + counts of that row). A family inside another one is a marginal
of it, so only the tables of the maximal families are counted. The graph is declared, never learnt from the records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import Document, document_of
from discreet._core.errors import DeclarationError, SecretError
from discreet.mechanism import Asked, Key, Model, Parameters, Simulated, all_or_some, of_levels
from discreet.networks._families import Family, FamilyTables
from discreet.networks._graph import (
    ancestral_parts,
    check_sizes,
    checked_graph,
    columns_named,
    parents_by_edges,
    parents_first,
)
from discreet.networks._prior import NetworkPrior, parameters_of, shared, strength_grids, undeclared
from discreet.records import Column, Level, Statistics, as_source

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

    from discreet.mechanism import Informed
    from discreet.networks._posterior import NetworkPosterior


@dataclass(frozen=True, init=False, repr=False)
class Network(FamilyTables, Model["NetworkPosterior"], kind="Network"):
    """A Bayesian network: a directed acyclic graph over categorical variables, with a Dirichlet prior.

    `parents` are in the order of the variables as given; the network stores its variables with parents before children.
    Use `from_edges`, `naive_bayes` or `from_bif` to create one.

    >>> levels = dict.fromkeys(("smoker", "cancer", "age"), (0, 1))
    >>> net = Network.from_edges("smoker -> cancer", "age", levels=levels, outside=0)
    >>> net.families
    (('smoker',), ('smoker', 'cancer'), ('age',))
    >>> net.maximal_families, net.cells
    ((('smoker', 'cancer'), ('age',)), 6)
    """

    document_types: ClassVar[Mapping[str, object]] = {"prior": tuple[tuple[float, ...], ...] | None}

    variables: tuple[Column, ...]
    parents: tuple[tuple[str, ...], ...]
    prior: tuple[tuple[float, ...], ...]
    is_prior_declared: bool = field(default=True, init=False)

    def __init__(
        self,
        variables: Sequence[Column],
        parents: Sequence[Sequence[str]],
        prior: NetworkPrior | Sequence[Sequence[float]] = None,
    ) -> None:
        given, above = checked_graph(variables, parents)
        order = parents_first([variable.name for variable in given], above)
        values = parameters_of(1 if prior is None else prior, given, above)
        object.__setattr__(self, "variables", tuple(given[index] for index in order))
        object.__setattr__(self, "parents", tuple(above[index] for index in order))
        object.__setattr__(self, "prior", tuple(values[index] for index in order))
        object.__setattr__(self, "is_prior_declared", prior is not None)
        check_sizes({family: prod(self.shape(family)) for family in self.families}, self.cells)

    def document_values(self) -> dict[str, object]:
        """Return the prior as it is declared: None if it is not."""
        return {} if self.is_prior_declared else {"prior": None}

    def canonical_document(self) -> Document:
        """Return the network with variables and their parents in the order of their names, parents first."""
        order = sorted(range(len(self.variables)), key=lambda index: self.variables[index].name)
        prior = [self.prior[index] for index in order] if self.is_prior_declared else None
        parents = [sorted(self.parents[index]) for index in order]
        return document_of(Network([self.variables[index] for index in order], parents, prior))

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return two names: a network of edges or of a file, and a naive Bayes network."""
        from discreet.networks._study_keys import asked_naive_bayes, asked_network

        arrows = {"edges": Key("Arrows, one in each line", example="smoker -> cancer")}
        target, features = Key("Column to predict", of_levels), Key("Columns to predict it from", of_levels)
        parts = {"target": target, "features": features}
        drawn = "The tables of a Bayesian network whose arrows you draw: each column given those that point to it."
        naive = "A classifier: how often each level of a column occurs, and the other columns given that level."
        return {
            "network": Asked(asked_network, title="Bayesian network", about=drawn, keys=arrows),
            "naive-bayes": Asked(asked_naive_bayes, title="Classifier (naive Bayes)", about=naive, keys=parts),
        }

    @classmethod
    def from_edges(
        cls,
        *edges: str,
        levels: Mapping[str, Sequence[Level] | Column],
        prior: NetworkPrior = None,
        outside: Level | Mapping[str, Level] | None = None,
    ) -> "Network":
        """Return the network with edges such as 'smoker -> cancer'; a name alone adds a variable without edges.

        `levels` declares every variable by its levels or a `Column`. `outside` names the level for undeclared values,
        for all variables or by name (see `Column`).
        """
        parents = parents_by_edges(edges)
        return cls(columns_named(parents, levels, outside), list(parents.values()), prior)

    @classmethod
    def naive_bayes(
        cls,
        target: str,
        features: Sequence[str],
        levels: Mapping[str, Sequence[Level] | Column],
        prior: NetworkPrior = None,
        outside: Level | Mapping[str, Level] | None = None,
    ) -> "Network":
        """Return the network in which every feature depends only on the target; see `from_edges` for the rest."""
        if isinstance(features, str) or not features:
            raise DeclarationError("Naive Bayes needs at least one feature: pass a sequence of names.")
        names = (target, *features)
        return cls(columns_named(names, levels, outside), [(), *((target,) for _ in features)], prior)

    @classmethod
    def from_bif(
        cls,
        path_or_text: str | PathLike[str],
        prior: NetworkPrior = None,
        outside: Level | Mapping[str, Level] | None = None,
    ) -> "Network":
        """Return the graph of a BIF file, or of its text; the file's probabilities are not used, the prior is.

        Such a file lists all levels of its tables. Undeclared and missing values therefore go to the level that the
        file names as `outside`, otherwise to 'other' if that is listed, otherwise to the first. `outside` overrides
        this, for all variables or by name; it is added as a level where it is not listed.
        """
        from discreet.networks._bif import bif_text, read_bif

        return read_bif(bif_text(path_or_text))[0]._with(prior, outside)

    @classmethod
    def from_pgmpy(
        cls, model: object, prior: NetworkPrior = None, outside: Level | Mapping[str, Level] | None = None
    ) -> "Network":
        """Return the graph and the levels of a network of pgmpy; its probabilities are not used, the prior is.

        `outside` is that of `from_bif`.
        """
        from discreet.networks._pgmpy import read_pgmpy

        return read_pgmpy(model)[0]._with(prior, outside)

    def _with(self, prior: NetworkPrior, outside: Level | Mapping[str, Level] | None) -> "Network":
        """Return the same graph with another prior, and other levels for undeclared values where they are said."""
        own = {column.name: column.outside for column in self.variables}
        said = outside if isinstance(outside, Mapping) else {} if outside is None else dict.fromkeys(own, outside)
        levels = {column.name: column.levels for column in self.variables}
        return Network(columns_named(own, levels, {**own, **said}), self.parents, prior)

    @classmethod
    def learn(cls, *_: object, **__: object) -> NoReturn:
        """Refuse: a graph chosen by looking at the records would itself be a release."""
        raise DeclarationError(
            "The graph of a network is declared, never learnt from the data: a graph chosen by looking at the "
            "records says something about them, so it would itself be a release, without a guarantee. Base it on "
            "knowledge of the field or on public data, with Network.from_edges."
        )

    def to_bif(self, tables: Mapping[str, ArrayLike] | None = None) -> str:
        """Return the network as BIF text. `tables` holds P(variable | parents), axes (parents..., variable).

        By default, the tables are the means of the prior.
        """
        from discreet.networks._bif import write_bif

        return write_bif(self, tables)

    def to_pgmpy(self, tables: Mapping[str, ArrayLike] | None = None) -> "DiscreteBayesianNetwork":
        """Return the network as an object of pgmpy, with tables as `to_bif` takes them."""
        from discreet.networks._pgmpy import write_pgmpy

        return write_pgmpy(self, tables)

    def with_prior(self, prior: NetworkPrior) -> "Network":
        """Return the same network under another prior."""
        return Network(self.variables, self.parents, prior)

    @property
    def is_prior_open(self) -> bool:
        """Return whether no prior was declared."""
        return not self.is_prior_declared

    @cached_property
    def _rows(self) -> tuple[int, ...]:
        """Return how many rows the table of each variable has."""
        return tuple(prod(self.shape(above)) for above in self.parents)

    @cached_property
    def strength_grids(self) -> dict[str, tuple[float, ...]]:
        """Return the prior parameters among which each variable of many levels learns its own."""
        return strength_grids(self.variables, self._rows)

    @cached_property
    def _worth(self) -> tuple[float, ...]:
        """Return how many records a row of each variable is worth where no prior was declared: see `shared`.

        The features of a class keep 1 for each level. Where only differences within a class were released
        (`CubeCounts`), the chance of d of them given the class count t is about prod_i pi(theta_i) / t: unless the
        density pi of shares is high in the middle, many features make every class look smaller than its own count.
        """
        usual = [shared(rows) for rows in self._rows]
        if self.target is None or len(self.variables) == 2:
            return tuple(usual)
        return (usual[0], *(float(len(column.levels)) for column in self.variables[1:]))

    def under_strengths(self, chosen: Mapping[str, float]) -> "Network":
        """Return the network with these prior parameters, and for all others those where no prior was declared."""
        pairs = zip(self.variables, self._worth, strict=True)
        return self.with_prior({v.name: chosen.get(v.name, undeclared(len(v.levels), own)) for v, own in pairs})

    def proposals(self, is_evidence_known: bool) -> "tuple[Network, ...]":
        """Return the network under the priors that may be meant where none was declared.

        The strength of one variable of many levels is learnt if evidence is known. Strengths of several are too many
        to list: see `networks._family_strengths`.
        """
        if is_evidence_known and len(self.strength_grids) == 1:
            ((name, values),) = self.strength_grids.items()
            return tuple(self.under_strengths({name: value}) for value in values)
        return (self.under_strengths({}),)

    def strengthened(self, strength: float) -> "Network":
        """Return the same network with all parameters of its prior multiplied."""
        return Network(self.variables, self.parents, [tuple(strength * value for value in row) for row in self.prior])

    @property
    def counted(self) -> tuple[tuple[Column, ...], tuple[tuple[str, ...], ...]]:
        return self.variables, self.parents

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the maximal families."""
        return tuple(tuple(self._column[name] for name in family) for family in self.maximal_families)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the variables."""
        return self.variables

    @property
    def conditionals(self) -> tuple[tuple[Family, tuple[float, ...]], ...]:
        """Return every family with the prior of its rows."""
        return tuple(zip(self.families, self.prior, strict=True))

    def __repr__(self) -> str:
        pairs = zip(self.variables, self.parents, strict=True)
        edges = [repr(f"{p} -> {v.name}" if p else v.name) for v, above in pairs for p in above or ("",)]
        shown = ", ".join(edges[:8]) + (f", ... ({len(edges)} in all)" if len(edges) > 8 else "")
        return f"Network({shown})"

    @cached_property
    def target(self) -> str | None:
        """Return the class variable if this is a naive Bayes network: one root, the only parent of all others."""
        root = self.variables[0].name
        is_naive = len(self.variables) > 1 and all(above == (root,) for above in self.parents[1:])
        return root if is_naive else None

    @property
    def is_tree(self) -> bool:
        """Return whether every variable has at most one parent."""
        return all(len(above) <= 1 for above in self.parents)

    def statistics(self, data: object) -> Statistics:
        tables = as_source(data).count_families(self.tables)
        values = np.concatenate([table.ravel() for table in tables])
        return Statistics(self, values, records=int(tables[0].sum()))

    def contributions(self, most: int) -> tuple[NDArray[np.int64], bool]:
        records, complete = all_or_some([len(variable.levels) for variable in self.variables], most)
        return self.contributions_of(records), complete

    def contributions_of(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what given records add to the counts; a record is a row of numbers of levels."""
        index = {variable.name: number for number, variable in enumerate(self.variables)}
        rows = np.zeros((len(records), self.cells), dtype=np.int64)
        for start, family in zip(self._edges[:-1], self.maximal_families, strict=True):
            values = tuple(records[:, index[name]] for name in family)
            rows[np.arange(len(records)), start + np.ravel_multi_index(values, self.shape(family))] = 1
        return np.unique(rows, axis=0)

    def parts(self) -> Iterator["Network"]:
        """Yield smaller networks, each variable with its ancestors: most kinds of records first, up to 32."""
        for own in ancestral_parts(self.variables, self.parents):
            prior = {self.variables[number].name: self.prior[number] for number in own}
            yield Network([self.variables[n] for n in own], [self.parents[n] for n in own], prior)

    @property
    def part_in_words(self) -> str:
        """Name the variables."""
        names = [variable.name for variable in self.variables]
        return f"the variable{'' if len(names) == 1 else 's'} {', '.join(names)} alone"

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw tables of probabilities from the prior, and records from these, parents before children."""
        from discreet.networks._simulate import by_row, counts_of, simulated_records, simulated_tables

        tables = simulated_tables(self, generator)
        return Simulated(by_row(self, tables), counts_of(self, simulated_records(self, tables, size, generator)))

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return the work of records that are drawn one by one, each with all variables."""
        values = float(size) * sum(2 + len(variable.levels) for variable in self.variables)
        return 20 * values, values

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of every level given every combination of parents, from exact counts."""
        from discreet.networks._simulate import exact_rows

        return exact_rows(self, statistics, level)

    def by_name(self, parameters: Parameters) -> Parameters:
        """Return the tables, which are by variable."""
        return parameters

    def even_parameters(self) -> dict[str, Floats]:
        """Return tables of equal probabilities."""
        return {family[-1]: np.full(shape := self.shape(family), 1 / shape[-1]) for family in self.families}

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return P(event), or P(event | given), under tables with axes (parents..., levels)."""
        from discreet.networks._events import chance_under

        return chance_under(self, event, parameters, given)

    def counts(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return simulated counts as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(values, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(values)
        if rows.shape[-1:] != (self.cells,) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(f"Counts must be whole numbers >= 0, one for each of the {self.cells} cells.")
        return rows.astype(np.int64)

    @cached_property
    def row_priors(self) -> tuple[Floats, ...]:
        """Return the Dirichlet parameters of every row (rows, levels) of every variable: all rows have the same."""
        rows = [prod(self.shape(above)) for above in self.parents]
        return tuple(np.tile(np.array(own), (count, 1)) for own, count in zip(self.prior, rows, strict=True))

    def informed_by(self, own: object) -> "Informed":
        """Return the network with own records in the prior of its rows: records, or counts of all cells."""
        from discreet.networks._own_records import informed_network

        return informed_network(self, own)
