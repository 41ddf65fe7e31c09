"""Graphs whose tables have too many cells for chains, row by row: an approximation, for tables with any noise."""

from discreet.models.network import Network
from discreet.reading.consistent_tables import fit, noisy_parts
from discreet.reading.counts.rows import ApproximateCounts
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Feature, Problem, Solver
from discreet.reading.published import Exactness

BY_ROWS = "read row by row, which approximates how a release will be read"
"""How plans read networks for which a reading takes long."""


class RowsSolver(Solver):
    """Makes all tables agree by least squares, then reads every row by itself."""

    models = (Network,)
    exactness = Exactness.APPROXIMATE
    handles = frozenset({Feature.OWN_ROWS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse everything but measured tables, and measurements that leave a table of the network unknown."""
        if not problem.is_measured:
            return "of so large a network only noisy tables can be read, row by row"
        parts = noisy_parts(problem.measurements, problem.size)
        if parts is None:
            return "only noisy cells and contrasts of tables can be made consistent"
        seen = {name for part in parts for name in part.names}
        if missing := [v.name for v in problem.model.variables if v.name not in seen]:
            return f"nothing was measured about {missing[0]!r}"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return a few convolutions of a few hundred steps for each row."""
        cells = sum(len(prior) * _rows(problem.model, place) for place, prior in enumerate(problem.model.prior))
        return CostEstimate(f"reading {cells} cells row by row", 1e6 * cells, 1e3 * cells)

    def solve(self, problem: Problem) -> NetworkReading:
        """Return draws of all tables, each row by itself."""
        fitted = fit(problem.model, problem.size, noisy_parts(problem.measurements, problem.size) or ())
        return NetworkReading(problem.model, ApproximateCounts(fitted, problem.model))


def _rows(model: Network, place: int) -> int:
    rows = 1
    for levels in model.shape(model.parents[place]):
        rows *= levels
    return rows
