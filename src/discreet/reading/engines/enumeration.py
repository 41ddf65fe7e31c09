"""Few tables, whatever the evidence: the likelihood of every table is computed, which is exact."""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats
from discreet.certificates.enumeration import number_of_tables
from discreet.certificates.posterior_distances import Tables
from discreet.models import Categories
from discreet.reading.case import Case, Engine, Observed, Work
from discreet.reading.counts.weighted_tables import WeightedTables, most_tables
from discreet.reading.readings import TableReading

_PART = 4e6  # numbers that one call of a likelihood may make


class EnumerationEngine(Engine, place=20):
    """Sums over all tables of n counts, one by one: for choices, coarse or truncated draws, and mixed evidence."""

    models = (Categories,)

    def misfit(self, case: Case) -> str | None:
        """Refuse more tables than can be listed, and outputs whose likelihood is not known in numbers."""
        cells, most = len(case.model.cells), most_tables(len(case.model.cells))
        if number_of_tables(case.size, cells, most) > most:
            return (
                f"the likelihood does not factor over cells, so a reading goes through all tables of {case.size} "
                f"records in {cells} cells, and at most {most} can be listed: ask for fewer cells or records, or "
                "publish noisy counts, which can be read at any size"
            )
        return next((why for each in case.observed if (why := each.likelihood_refusal) is not None), None)

    def work(self, case: Case) -> Work:
        """Return the operations of all likelihoods, at the cost of one table that each of them states."""
        tables = number_of_tables(case.size, len(case.model.cells), most_tables(len(case.model.cells)))
        each = sum(cost.operations for observed in case.observed for cost in observed.costs)
        return Work(f"computing the likelihood of {tables} tables", tables * each, 20.0 * tables)

    def read(self, case: Case) -> TableReading:
        return self.reader()(case)

    def reader(self) -> Callable[[Case], TableReading]:
        """Return what reads cases of the same outputs: no likelihood of a table depends on the reader's prior."""
        known: list[Floats] = []

        def read(case: Case) -> TableReading:
            tables = Tables(case.model.concentration, case.size)
            if not known:
                known.extend(table_likelihoods(observed, tables) for observed in case.observed)
            counts = WeightedTables.listed(tables.all, sum(known, case.model.log_evidence(tables.all)))
            return TableReading(case.model, counts, counts.log_sum)

        return read


def few_records(case: Case) -> bool:
    """Tell whether all tables can be listed."""
    cells = len(case.model.cells)
    return number_of_tables(case.size, cells, most_tables(cells)) <= most_tables(cells)


def table_likelihoods(observed: Observed, tables: Tables) -> Floats:
    """Return log P(output | table) for all tables, some at a time if a likelihood holds many numbers for each."""
    parts = max(1, int(len(tables.all) * max(cost.numbers for cost in observed.costs) / _PART))
    return np.concatenate([observed.log_likelihood(part) for part in np.array_split(tables.all, parts)])
