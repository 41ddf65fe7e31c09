"""How much of epsilon should go to the class counts? Shares compared on the same made-up studies, read exactly.

Yes/no features, theta ~ U(0, 1) and the share of the class ~ U(0, 1) fresh for every study, 200 test records. In one
study all shares see the same records, and noise from the same uniform numbers (quantiles of each law), so that little
but the share tells their scores apart. `python benchmarks/class_share.py 200 26 200 26` says how many studies of each
setting are read; differences are to a share of a tenth.
"""

import sys
import warnings
from fractions import Fraction

import numpy as np

import discreet as dc
from discreet._core.arrays import Floats
from discreet.networks import CubeCounts, usual_class_share

SETTINGS = ((16, 50, Fraction(1)), (16, 1000, Fraction(1, 10)), (2, 50, Fraction(1)), (16, 1000, Fraction(1)))
TEST = 200


def shares_of(features: int) -> tuple[Fraction, ...]:
    """Return a tenth, what the rule says, and a fiftieth."""
    return Fraction(1, 10), usual_class_share(features), Fraction(1, 50)


def quantile(log_weights: Floats, chance: float) -> int:
    """Return the first place where a law on 0, 1, ... that is known up to a factor reaches a chance."""
    sums = np.cumsum(np.exp(log_weights - log_weights.max()))
    return int(np.searchsorted(sums, chance * sums[-1]))


def output(mechanism: CubeCounts, table: np.ndarray, chances: Floats) -> tuple[int, ...]:
    """Return noisy numbers of a study with two classes, with noise at the given chances of its laws.

    The class counts move by u with P(u) ~ e^(-epsilon_c |u|); a block by uniform numbers within a radius r with
    P(r) ~ (2 r + 1)^d e^(-epsilon_f r / 2).
    """
    features, reach = mechanism.features, int(40 / mechanism.class_epsilon)
    steps = np.arange(-reach, reach + 1)
    place = quantile(-float(mechanism.class_epsilon) * np.abs(steps), chances[0])
    noise = [steps[place], -steps[place]]
    radii = np.arange(int(80 * (features + 20) / float(mechanism.feature_epsilon)))
    law = features * np.log(2 * radii + 1) - float(mechanism.feature_epsilon) / 2 * radii
    for block in chances[1:].reshape(2, 1 + features):
        radius = quantile(law, block[0])
        noise += list(np.floor(block[1:] * (2 * radius + 1)) - radius)
    return tuple(int(value) for value in mechanism.quantities.apply(table) + np.array(noise, dtype=np.int64))


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
    uniform = generator.random(1 + 2 * (1 + features))
    for part in shares_of(features):
        mechanism = CubeCounts(network, size, epsilon, part)
        release = dc.Release(mechanism, output(mechanism, table, uniform), "simulated", simulated=True)
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
    main(tuple(map(int, sys.argv[1:])) or (200, 26, 200, 26))
