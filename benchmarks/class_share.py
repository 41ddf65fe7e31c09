"""How much of epsilon should go to the class counts? Shares compared on the same made-up studies, read exactly.

16 yes/no features, theta ~ U(0, 1) and the share of the class ~ U(0, 1) fresh for every study, 200 test records.
`python benchmarks/class_share.py 200 26` reads 200 studies of 50 records and 26 of 1,000, one by one as they take long;
differences are to a share of a tenth.
"""

import sys
import warnings
from fractions import Fraction

import numpy as np

import discreet as dc
from discreet.mechanisms.cube_counts import CubeCounts, usual_class_share

NAMES = [f"x{number}" for number in range(16)]
NETWORK = dc.Network.naive_bayes("y", NAMES, dict.fromkeys(["y", *NAMES], (0, 1)), outside=0)
SETTINGS, TEST = ((50, 1), (1000, "0.1")), 200
SHARES = (Fraction(1, 10), usual_class_share(16), Fraction(1, 50))


def scores(size: int, epsilon: object, seed: int) -> list[tuple[float, float]]:
    """Return accuracy and log-loss for each share, on one made-up study."""
    generator = np.random.default_rng(seed)
    theta, share = generator.random((2, 16)), generator.random()
    y = (generator.random(size + TEST) < share).astype(int)
    x = (generator.random((size + TEST, 16)) < theta[y]).astype(int)
    table = np.concatenate([np.bincount(2 * y[:size] + x[:size, i], minlength=4) for i in range(16)])
    test, found = {name: x[size:, i].tolist() for i, name in enumerate(NAMES)}, []
    for place, part in enumerate(SHARES):
        release = dc.simulate(CubeCounts(NETWORK, size, epsilon, part), table, dc.SeededBits(4 * seed + place))  # type: ignore[arg-type]
        chances = dc.infer(release).predict_proba(test)
        truth = chances[np.arange(TEST), y[size:]]
        found.append((float((chances.argmax(axis=1) == y[size:]).mean()), float(-np.log(truth).mean())))
    return found


def main(repeats: tuple[int, ...]) -> None:
    """Print the means, and the differences to the first share with their standard errors."""
    warnings.simplefilter("ignore")
    for place, ((size, epsilon), studies) in enumerate(zip(SETTINGS, repeats, strict=True)):
        rows = np.array([scores(size, epsilon, 1000 * place + run) for run in range(studies)])
        print(f"n = {size}, epsilon = {epsilon}, {studies} studies")
        for number, share in enumerate(SHARES):
            gaps = rows[:, number] - rows[:, 0]
            errors = gaps.std(axis=0, ddof=1) / studies**0.5
            means = rows[:, number].mean(axis=0)
            print(
                f"  share {float(share):.3f}: accuracy {means[0]:.3f}, log-loss {means[1]:.3f}; difference "
                f"{gaps[:, 0].mean():+.3f} +- {errors[0]:.3f}, {gaps[:, 1].mean():+.3f} +- {errors[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (200, 26))
