"""Graphs whose tables have too many cells for chains, row by row: an approximation, for tables with any noise."""

from discreet.models.network import Network
from discreet.reading.case import Case, Engine, Work
from discreet.reading.consistent_tables import fit, noisy_parts
from discreet.reading.counts.rows import ApproximateCounts
from discreet.reading.published import Exactness
from discreet.reading.readings import NetworkReading


class RowsEngine(Engine, place=60):
    """Makes all tables agree by least squares, then reads every row by itself."""

    models = (Network,)
    exactness = Exactness.APPROXIMATE
    reads_own_rows = True

    def misfit(self, case: Case) -> str | None:
        """Refuse everything but measured tables, and measurements that leave a table of the network unknown."""
        if not case.is_measured:
            return "of so large a network only noisy tables can be read, row by row"
        parts = noisy_parts(case.measurements, case.size)
        if parts is None:
            return "only noisy cells and contrasts of tables can be made consistent"
        seen = {name for part in parts for name in part.names}
        if missing := [v.name for v in case.model.variables if v.name not in seen]:
            return f"nothing was measured about {missing[0]!r}"
        return None

    def work(self, case: Case) -> Work:
        """Return a few convolutions of a few hundred steps for each row."""
        cells = sum(len(prior) * _rows(case.model, place) for place, prior in enumerate(case.model.prior))
        return Work(f"reading {cells} cells row by row", 1e6 * cells, 1e3 * cells)

    def read(self, case: Case) -> NetworkReading:
        """Return draws of all tables, each row by itself."""
        fitted = fit(case.model, case.size, noisy_parts(case.measurements, case.size) or ())
        return NetworkReading(case.model, ApproximateCounts(fitted, case.model))


def _rows(model: Network, place: int) -> int:
    rows = 1
    for levels in model.shape(model.parents[place]):
        rows *= levels
    return rows
