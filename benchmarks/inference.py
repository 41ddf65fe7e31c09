"""Exact marginals and means of 50 levels, 100,000 records, epsilon 1: in units of one real FFT of the padded table."""

import numpy as np
from clock import seconds
from scipy.fft import rfft

import discreet as dc
from discreet.reading import Case
from discreet.reading.counts.latent_counts import LatentCounts
from discreet.reading.engines.tables import TablesEngine

LEVELS, SIZE, REPEATS = 50, 100_000, 20


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    model = dc.Categories("x", levels=tuple(range(LEVELS)), prior=1, outside=0)
    counts = generator.multinomial(SIZE, generator.dirichlet(np.ones(LEVELS)))
    release = dc.simulate(dc.GeometricHistogram(model, size=SIZE, epsilon=1), counts, dc.SeededBits(1))
    reading = TablesEngine().read(Case.of([release]))
    assert isinstance(reading.counts, LatentCounts)
    table = generator.random((LEVELS, reading.counts.length))
    for _ in range(5):
        rfft(table, axis=1)
        TablesEngine().read(Case.of([release])).mean_counts  # noqa: B018 - warm-up
    mine = seconds(lambda: TablesEngine().read(Case.of([release])).mean_counts, REPEATS)
    transform = seconds(lambda: rfft(table, axis=1), REPEATS)
    print(f"marginals and means: {1e3 * mine:.2f} ms; one real FFT of {table.shape}: {1e3 * transform:.3f} ms")
    print(f"ratio {mine / transform:.1f} (goal: at most 20)")
