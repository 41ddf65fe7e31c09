"""A single median where records times epsilon are few, or values are heaped: what of its error pays for the interval.

    python benchmarks/number_limits.py [data sets]

OpenDP spends all of epsilon on its guess. Here the choice with which `ChosenCounts` begins spends all of it on one
place, too, then half and a tenth of it: what is left would count records, of which intervals are made. Beside them is
what `suggest` takes, with an interval. Columns, candidates and what epsilon means are those of `number_peers.py`. A
place is guessed to be in the middle of its cell, unless the column has whole numbers. Errors are root mean squares over
the records' own median, in per cent of the range; each data set is published three times.
"""

import sys
from fractions import Fraction
from typing import Any

import numpy as np
from figures import ratio_of, verdict
from number_peers import DRAWS, TRUTHS, Floats, Scores, Truth, mechanism_of, rmse

import discreet as dc
from discreet.numbers._rank_choice import RankChoice

SETTINGS = (
    ("income", 1_000, "0.1"),
    ("age", 1_000, "0.1"),
    ("delay, whole", 1_000, "0.1"),
    ("delay, whole", 1_000, "1"),
    ("delay, whole", 10_000, "1"),
)
PARTS = (Fraction(1), Fraction(1, 2), Fraction(1, 10))


def choices(truth: Truth, records: Floats, epsilon: Fraction, bits: dc.SeededBits) -> list[float]:
    """Return medians that are chosen with some of epsilon: a choice at rate b costs 2 b."""
    candidates = truth.candidates(len(records))
    step = float(candidates[1] - candidates[0])
    below = np.append(np.searchsorted(records, candidates), len(records))
    choice = RankChoice(epsilon / 2, below, np.array([-(-len(records) // 2)]), len(records) + 2)
    offset = 0.0 if truth.is_whole else step / 2
    return [float(candidates[choice.sample(bits)[0]]) + offset for _ in range(DRAWS)]


def main(opendp: Any, repeats: int) -> None:
    names = ("all", "half", "a tenth")
    print("| column | n | epsilon | " + " | ".join(f"{name} of epsilon on the guess" for name in names), end="")
    print(" | OpenDP, all | all / OpenDP | by | as published / OpenDP |\n|" + "---|" * 10)
    for name, size, epsilon in SETTINGS:
        truth, generator = TRUTHS[name], np.random.default_rng([20261120, size])
        mechanism = mechanism_of(truth, (0.5,), size, float(epsilon))
        errors = np.zeros((len(PARTS) + 2, repeats, DRAWS))
        for number in range(repeats):
            records: Floats = np.sort(truth.draw(size, generator))
            bits = dc.SeededBits(int(generator.integers(2**32)))
            counts = mechanism.model.rehearse({"x": records})
            scores = Scores(opendp, truth.candidates(size), records.tolist(), 0.5)
            found = [choices(truth, records, part * Fraction(epsilon), bits) for part in PARTS]
            found.append([scores.choose(float(epsilon)) for _ in range(DRAWS)])
            found.append([dc.infer(dc.simulate(mechanism, counts, bits)).rows()[0].mean for _ in range(DRAWS)])
            errors[:, number] = np.array(found) - records[-(-size // 2) - 1]
        *ours, theirs, published = errors
        per_cent = 100 / (truth.high - truth.low)
        figures = " | ".join(f"{per_cent * rmse(own):.3g}" for own in (*ours, theirs))
        ratios = [ratio_of(own, theirs) for own in (ours[0], published)]
        first, second = (f"{ratio:.2f} ± {error:.2f}, {verdict(ratio, error)}" for ratio, error in ratios)
        print(
            f"| {name} | {size:,} | {epsilon} | {figures} | {first} | {type(mechanism).__name__} | {second} |",
            flush=True,
        )


if __name__ == "__main__":
    try:
        import opendp.prelude as installed
    except ImportError:
        print("OpenDP is not installed: pip install opendp")
    else:
        installed.enable_features("contrib")
        main(installed, int(sys.argv[1]) if len(sys.argv) > 1 else 100)
