"""How much of epsilon should go to the class counts? Shares compared on the same made-up studies, read exactly.

Yes/no features, theta ~ U(0, 1) and the share of the class ~ U(0, 1) fresh for every study, 200 test records.
`python benchmarks/class_share.py 200 26 200` reads 200 studies of 50 records and 26 of 1,000 with 16 features, and 200
of 50 records with 2, one by one as they take long; differences are to a share of a tenth.
"""

import sys
import warnings
from fractions import Fraction

import numpy as np

import discreet as dc
from discreet.mechanisms.cube_counts import CubeCounts, usual_class_share

SETTINGS, TEST = ((16, 50, Fraction(1)), (16, 1000, Fraction(1, 10)), (2, 50, Fraction(1))), 200


def shares_of(features: int) -> tuple[Fraction, ...]:
    """Return a tenth, what the rule says, and a fiftieth."""
    return Fraction(1, 10), usual_class_share(features), Fraction(1, 50)


def scores(features: int, size: int, epsilon: Fraction, seed: int) -> list[tuple[float, float]]:
    """Return accuracy and log-loss for each share, on one made-up study."""
    names = [f"x{number}" for number in range(features)]
    network = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    generator = np.random.default_rng(seed)
    theta, share = generator.random((2, features)), generator.random()
    y = (generator.random(size + TEST) < share).astype(int)
    x = (generator.random((size + TEST, features)) < theta[y]).astype(int)
    table = np.concatenate([np.bincount(2 * y[:size] + x[:size, i], minlength=4) for i in range(features)])
    test, found = {name: x[size:, i].tolist() for i, name in enumerate(names)}, []
    for place, part in enumerate(shares_of(features)):
        release = dc.simulate(CubeCounts(network, size, epsilon, part), table, dc.SeededBits(4 * seed + place))
        chances = dc.infer(release).predict_proba(test)
        truth = chances[np.arange(TEST), y[size:]]
        found.append((float((chances.argmax(axis=1) == y[size:]).mean()), float(-np.log(truth).mean())))
    return found


def main(repeats: tuple[int, ...]) -> None:
    """Print the means, and the differences to the first share with their standard errors."""
    warnings.simplefilter("ignore")
    for place, ((features, size, epsilon), studies) in enumerate(zip(SETTINGS, repeats, strict=True)):
        if not studies:
            continue
        rows = np.array([scores(features, size, epsilon, 1000 * place + run) for run in range(studies)])
        print(f"{features} features, n = {size}, epsilon = {float(epsilon):g}, {studies} studies")
        for number, share in enumerate(shares_of(features)):
            gaps = rows[:, number] - rows[:, 0]
            errors = gaps.std(axis=0, ddof=1) / studies**0.5
            means = rows[:, number].mean(axis=0)
            print(
                f"  share {float(share):.3f}: accuracy {means[0]:.3f}, log-loss {means[1]:.3f}; difference "
                f"{gaps[:, 0].mean():+.3f} +- {errors[0]:.3f}, {gaps[:, 1].mean():+.3f} +- {errors[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (200, 26, 200))
