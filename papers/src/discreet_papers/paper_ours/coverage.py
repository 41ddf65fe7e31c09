"""What 90 % intervals really cover, if noisy counts are taken for true ones, and if the noise is accounted for."""

import warnings
from math import sqrt

import numpy as np

import discreet as dc
from discreet.mathematics.distributions._dirichlet import Interval
from discreet_papers.exact_sums.accuracy import accuracy
from discreet_papers.paper_ours import OURS
from discreet_papers.pictures import axis, lines, with_level
from discreet_papers.reproduction import Outcome, Reproduction, Row

SIZES, EPSILONS, LEVEL = (20, 100, 500), ("0.05", "0.1", "0.2", "0.5", "1", "2"), 0.9
REPEATS, QUICK_REPEATS, SEED = 1_000, 60, 20
SHOWN = 100


def run(quick: bool) -> Outcome:
    """Sum what plug-in intervals cover; count, in made-up studies, what noise-aware ones cover."""
    sizes, epsilons = ((20,), ("0.1", "1")) if quick else (SIZES, EPSILONS)
    repeats = QUICK_REPEATS if quick else REPEATS
    rows = [_row(size, epsilon, repeats) for size in sizes for epsilon in epsilons]
    least = min(rows, key=lambda row: row["plug_in"])
    verdict = (
        f"Plug-in intervals cover as little as {least['plug_in']:.1%} (n = {least['records']}, epsilon = "
        f"{least['epsilon']:g}). Noise-aware ones cover {min(row['noise_aware'] for row in rows):.1%} to "
        f"{max(row['noise_aware'] for row in rows):.1%} of {repeats} made-up studies in every setting, where 90 % are "
        f"meant and one standard error is {sqrt(LEVEL * (1 - LEVEL) / repeats):.1%}."
    )
    return Outcome(rows, verdict, _chart(rows, SHOWN if not quick else 20))


def _row(size: int, epsilon: str, repeats: int) -> Row:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    mechanism = dc.GeometricHistogram(coin, size, epsilon)
    found = accuracy(mechanism, LEVEL)
    row: Row = {"records": size, "epsilon": float(epsilon), "plug_in": found.plain_coverage}
    row |= {"noise_aware": _covered(mechanism, repeats), "plug_in_width": found.plain_width}
    return row | {"noise_aware_width": found.width, "width_without_privacy": found.non_private_width}


def _covered(mechanism: dc.GeometricHistogram, repeats: int) -> float:
    generator, bits = np.random.default_rng(SEED), dc.SeededBits(SEED)
    truths = generator.random(repeats)
    tables = generator.multinomial(mechanism.size, np.column_stack([truths, 1 - truths]))
    laws: dict[tuple[int, ...], Interval] = {}
    inside = 0
    for theta, output in zip(truths, mechanism.sample(tables, bits), strict=True):
        key = tuple(int(count) for count in output)
        if key not in laws:
            release = dc.Release(mechanism, key, "made up", simulated=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dc.LittleInformationWarning)
                laws[key] = dc.infer(release).probability("heads").interval(LEVEL)
        inside += laws[key].low <= theta <= laws[key].high
    return inside / repeats


def _chart(rows: list[Row], size: int) -> dict[str, object]:
    keys = {"noise-aware": "noise_aware", "noisy counts taken for true ones": "plug_in"}
    shown = [
        {"x": row["epsilon"], "y": row[key], "series": name}
        for name, key in keys.items()
        for row in rows
        if row["records"] == size
    ]
    across = axis("epsilon, on a logarithmic scale", logarithmic=True, ticks=[float(e) for e in EPSILONS])
    chart = lines(f"What 90 % intervals of a proportion cover, {size} records", shown, across, axis("coverage"))
    return with_level(chart, LEVEL, "what they should cover")


REPRODUCTION = Reproduction(
    name="ours-coverage",
    title="What intervals cover: plug-in against noise-aware",
    paper=OURS,
    setting="A proportion under a uniform prior, published by GeometricHistogram; 90 % intervals; averages over the "
    "prior, exact for plug-in and counted for noise-aware readings.",
    says="May a reader take noisy counts for true ones?",
    finds="No. Their intervals have the width of exact counts and miss the truth the more often the more privacy there "
    "is. The exact posterior given the noisy counts covers what it says at every epsilon, with intervals as wide as "
    "that needs.",
    run=run,
)
