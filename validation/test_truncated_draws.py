"""A truncated draw of four levels, read by chains, against all tables of three records."""

from itertools import product

import numpy as np

import discreet as dc
from discreet.reading import Case
from discreet.reading.engines.counts import fit_of


def test_a_truncated_draw_of_four_levels_is_read_as_all_tables_say() -> None:
    """Means within 4 of the largest Monte Carlo error that the reading states (0.0029).

    The likelihood of every table is held against exact sums in tests/inference/test_truncated_rows.py.
    """
    model = dc.Categories("ward", levels=("a", "b", "c", "d"), outside="a", prior=1)
    release = dc.simulate(dc.PosteriorSampling.truncated(model, size=3, epsilon=4), [2, 1, 0, 0], dc.SeededBits(5))
    tables = np.array([table for table in product(range(4), repeat=4) if sum(table) == 3])
    logs = fit_of(Case.of([release])).log_likelihood(tables.T)  # under this prior all tables are as likely
    weights = np.exp(logs - logs.max())
    wanted = weights @ (1 + tables) / weights.sum() / 7
    found = [row.mean for row in dc.infer(release).table.rows(0.9)][:4]
    print([f"{mean:.4f} ({exact:.4f})" for mean, exact in zip(found, wanted, strict=True)])
    assert np.abs(np.array(found) - wanted).max() < 4 * 0.0029
