"""Why some intervals of a secret number of records hold more often than stated: worked out, without a reading.

    python validation/secret_size_reasons.py

Of the settings of `test_secret_size` with n epsilon = 50 (and 500 for variances), how often 90 % intervals hold by the
reason that is given alone; docs/calibration.md quotes it beside what was counted.

- A quantile is located by tests at edges of cells, each of which errs in 5 % at the edge itself. The true quantile is
  d records beyond, and noise V must exceed its own 95 % point c by as much: the end misses with P(V > c + d).
- Ends of a variance s, which lies between 0 and r (1 - r), are quantiles of what noise leaves possible. With U = P(S <=
  s) and G = P(S <= r (1 - r)) given the release, the lower end misses where U < G / 20, less often than U < 1 / 20. For
  the population, variances are sampled as if values were as far apart as possible; the ratio of the standard deviations
  says how much wider that is.
- Intervals for a share under a uniform prior hold 90 % of shares that are drawn from it, by construction. Where noise
  hides most, they hold nearly all shares in the middle.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtr, ndtri
from scipy.stats import binom
from test_other_intervals import released
from test_secret_size import INCOMES, RARE, REGION, SIZES

import discreet as dc

Floats = NDArray[np.float64]
WIDTH, TAIL, DRAWS = 200_000, 0.05, 4_000


def quantiles(share: float, size: int, epsilon: str) -> float:
    """Return how often the interval for a quantile of these records holds it, of incomes in 32 cells."""
    model = dc.NumberTable("pay", (0, WIDTH), 32, missing=0)
    generator, held = np.random.default_rng(26_120_001), list[float]()
    noise = dc.BlockTable(model, epsilon).noise.simulate(DRAWS, generator)
    below = np.concatenate([np.zeros((DRAWS, 1)), noise.cumsum(axis=1)], axis=1)
    moved = np.sort(below - share * below[:, -1:], axis=0)
    ends = np.quantile(moved, [TAIL, 1 - TAIL], axis=0)
    for _ in range(300):
        pay = np.sort(generator.choice(INCOMES, size))
        cell = min(int(pay[int(np.ceil(share * size)) - 1] / WIDTH * 32), 31)
        under = [float((pay < edge * WIDTH / 32).sum()) - share * size for edge in (cell, cell + 1)]
        above = float((moved[:, cell] + under[0] > ends[1, cell]).mean()) if cell else 0.0
        beneath = float((moved[:, cell + 1] + under[1] < ends[0, cell + 1]).mean()) if cell < 31 else 0.0
        held.append(1 - above - beneath)
    return float(np.mean(held))


def variances(size: int, epsilon: str) -> tuple[float, float]:
    """Return how often intervals for the variance of these records hold it, and how much too wide sampling is taken."""
    model = dc.NumberSums("pay", (0, WIDTH), ("mean", "sum", "variance"), by=REGION)
    generator, held = np.random.default_rng(26_120_002), list[float]()
    for share in (0.8, 0.2):
        pay = generator.choice(INCOMES, size)
        region = np.where(generator.random(size) < 0.8, "West", "East")
        counts = model.rehearse({"pay": pay, "region": region})
        solution = dc.infer(released(dc.CubeSums(model, epsilon), counts, dc.SeededBits(1))).solution  # for its noise
        number, mean = size * share, float(INCOMES.mean()) / WIDTH
        second = float((((2 * INCOMES / WIDTH) - 1) ** 2).mean())
        spread = (second - (2 * mean - 1) ** 2) / 4
        ends, squares = solution.noise, solution.square_noise
        total = number + squares.first + squares.second
        middle = (number * mean + ends.first) / (number + ends.first + ends.second)
        possible = (total > 0) & (number + ends.first + ends.second > 0)
        off = ((number * second + squares.first) / total - (2 * middle - 1) ** 2)[possible] / 4 - spread
        most, ranks = mean * (1 - mean), np.sort(off)

        def at_most(values: Floats, ranks: Floats = ranks) -> Floats:
            return np.searchsorted(ranks, values, side="right") / len(ranks)

        lower = (1 - at_most(off)) < TAIL * (1 - at_most(off + spread - most))
        upper = at_most(off) < TAIL * at_most(off + spread)
        held.append(1 - float(lower.mean() + upper.mean()))
    values = INCOMES / WIDTH
    spread, mean = float(values.var()), float(values.mean())
    farthest = max(mean, 1 - mean) ** 2
    true = float(((values - mean) ** 2).var())
    return float(np.mean(held)), float(np.sqrt(spread * (farthest - spread) / true))


def features(shares: Floats, size: int, epsilon: str, others: int = 3) -> Floats:
    """Return how often the interval for a yes/no feature of the rare class holds each of these shares.

    Everything is summed: the class's number and count given the noisy number n and signed count s = yes - no, flat on
    numbers and uniform on counts, with noise whose radius is that of 1 + 1 + `others` numbers.
    """
    rate, number = float(epsilon), round(RARE * size)
    reach, most = round(12 / rate), number + round(24 / rate)
    radii = np.arange(0, 40 * round(1 / rate) + 2 * most)
    shells = np.exp(-rate * radii) * ((2 * radii + 1.0) ** others - (2 * radii - 1.0).clip(0) ** others)
    tail = np.concatenate([np.cumsum(shells[::-1])[::-1][1:], [0.0]])
    own = np.exp(-rate * radii) * (2 * radii + 1.0) ** others + tail  # the other numbers lie within, or farther out
    sizes = np.concatenate([np.full(n + 1, n) for n in range(most + 1)])
    counts = np.concatenate([np.arange(n + 1) for n in range(most + 1)])
    below = betainc(1.0 + counts[:, None], 1.0 + (sizes - counts)[:, None], shares)
    chances = binom.pmf(np.arange(number + 1)[:, None], number, shares)
    signed = 2 * np.arange(number + 1) - number
    noisy = np.arange(-number - reach, number + reach + 1)
    held, mass = np.zeros(len(shares)), np.zeros(len(shares))
    for of_number in range(number - reach, number + reach + 1):
        apart = np.maximum(abs(of_number - sizes), abs(noisy[:, None] - (2 * counts - sizes)))
        weights = own[np.minimum(apart, len(own) - 1)] / (sizes + 1.0)
        ranks = weights @ below / weights.sum(axis=1, keepdims=True)
        outputs = own[np.maximum(abs(of_number - number), abs(noisy[:, None] - signed))] @ chances
        mass += outputs.sum(axis=0)
        held += (outputs * ((ranks > TAIL) & (ranks < 1 - TAIL))).sum(axis=0)
    return np.asarray(held / mass)


def main() -> None:
    """Print all."""
    for share in (0.5, 0.9):
        print(f"quantile {share}, records, n epsilon = 50: {100 * quantiles(share, *SIZES[50]):.1f}")
    for of in (50, 500):
        held, ratio = variances(*SIZES[of])
        print(f"variance of a group, records, n epsilon = {of}: {100 * held:.1f}")
    alone = 2 * ndtr(-ndtri(TAIL) * ratio) - 1
    print(f"variance, population: sampling taken {ratio:.2f} times too wide, which alone would hold {100 * alone:.1f}")
    shares = np.array([0.6, 0.4, 0.8, 0.25])
    print(f"feature in the rare class, n epsilon = 50: {100 * features(shares, *SIZES[50]).mean():.1f}")
    uniform = features((np.arange(50) + 0.5) / 50, *SIZES[50])
    print(f"the same, of shares drawn from the prior: {100 * uniform.mean():.1f}")


if __name__ == "__main__":
    main()
