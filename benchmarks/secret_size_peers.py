"""Means by group of a secret number of records beside OpenDP's documented ways; and what it costs to hide that number.

    python benchmarks/secret_size_peers.py [repeats]
    python benchmarks/secret_size_peers.py price

**Neighbours.** One record is added or removed, which is OpenDP's symmetric distance of 1: both promise the same.

**Its ways.** A mean is a noisy sum over a noisy count (`then_clamp`, `then_sum`, `then_count`, `then_laplace`), epsilon
split evenly, as `Context` and `summarize` do by default; and, for a reader who knows more, the sum of values less the
middle of their bounds, with 59 % of epsilon. Groups share no record, so each has the whole epsilon on either side. Ours
are CubeSums, which has variances besides, and LaplaceSums with 1/50 of epsilon on squares. Errors are root mean squares
in units of the column over all releases; intervals are ours alone.

**The price** of hiding how many records there are: the standard deviation of noise at epsilon = 1/10 for an added
record, over that at 1/5 for a replaced one with a public number, so that both promise the same about what a record
says. With more epsilon it is a little larger, as noise is made of whole records. Of a share the noise is
(1 - theta) u_S - theta u_R, each at its best linear estimate from all noisy counts.
"""

import sys
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.inference import Problem, solve

Floats = NDArray[np.float64]
BOUNDS = (0.0, 200_000.0)
SIZES = (10, 50, 300, 3000)
EPSILONS = (0.5, 1.0)
CENTRED = 0.59  # the share of epsilon of a centred sum that makes the error of incomes least
THETAS = (0.01, 0.05, 0.3)
LITTLE = Fraction(1, 10)


def incomes(size: int, generator: np.random.Generator) -> Floats:
    """Return incomes within their bounds."""
    return np.asarray(np.clip(generator.lognormal(10.4, 0.7, size), *BOUNDS))


def opendp_mean(opendp: Any, bounds: tuple[int, int], epsilon: float, share: float) -> Any:
    """Return a sum and a count of records, with this share of epsilon for the sum, for one record added or removed.

    Incomes are rounded to whole numbers, for which the sum of centred values needs half the noise of that of floats.
    """
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.symmetric_distance()
    summed, counted = space >> opendp.t.then_clamp(bounds) >> opendp.t.then_sum(), space >> opendp.t.then_count()
    found = []
    for query, part in ((summed, share), (counted, 1 - share)):
        scale = float((query >> opendp.m.then_laplace(1.0)).map(1)) / (part * epsilon)
        found.append(query >> opendp.m.then_laplace(scale))
    return found


def means_of(opendp: Any, size: int, epsilon: float, repeats: int) -> None:
    """Print the errors of the mean of a group of some size."""
    generator = np.random.default_rng([20_261_126, size, int(10 * epsilon)])
    low, high = map(int, BOUNDS)
    middle = (low + high) // 2
    model = dc.NumberSums("x", (low, high), missing=0)
    ours: dict[str, Any] = {
        "CubeSums": dc.CubeSums(model, str(epsilon)),
        "LaplaceSums": dc.LaplaceSums(model, str(epsilon), squares="1/50"),
    }
    even = opendp_mean(opendp, (low, high), epsilon, 0.5)
    centred = opendp_mean(opendp, (-middle, middle), epsilon, CENTRED)
    errors: dict[str, list[float]] = {name: [] for name in (*ours, "even", "centred")}
    held: dict[str, list[bool]] = {name: [] for name in ours}
    for _ in range(repeats):
        records = incomes(size, generator)
        true, counts = float(records.mean()), model.rehearse({"x": records.tolist()})
        for name, mechanism in ours.items():
            release = dc.simulate(mechanism, counts, dc.SeededBits(int(generator.integers(2**32))))
            solution: Any = solve(Problem.of([release]))
            found = solution.in_units(solution.record_mean(0, solution.quantiles(0.9)))
            errors[name].append(found.point - true)
            held[name].append(found.low <= true <= found.high)
        for name, (summed, counted), values, back in (
            ("even", even, records, 0), ("centred", centred, records - middle, middle),
        ):  # fmt: skip
            mean = (
                summed(np.rint(values).astype(int).tolist()) / max(counted(np.rint(values).astype(int).tolist()), 1)
                + back
            )
            errors[name].append(float(np.clip(mean, low, high)) - true)
    rmse = {name: float(np.sqrt(np.mean(np.square(each)))) for name, each in errors.items()}
    shown = " | ".join(f"{rmse[name]:,.0f}" for name in errors)
    ratios = " | ".join(f"{rmse[other] / rmse[name]:.2f}" for name in ours for other in ("even", "centred"))
    covers = " | ".join(f"{np.mean(each):.3f}" for each in held.values())
    print(f"| {size:,} | {epsilon:g} | {shown} | {ratios} | {covers} |", flush=True)


def share_noise(mechanism: Any, theta: float, cells: int) -> float:
    """Return the standard deviation of (1 - theta) u_S - theta u_R for one cell S, from all that was published."""
    variance = np.asarray(mechanism.noise.variance, dtype=float)
    if not isinstance(mechanism, dc.LaplaceTable):  # noise that adds up to zero: u_R = -u_S
        return float(np.sqrt(variance[0]))
    precision = np.diag([1 / variance[0], 1 / ((cells - 1) * variance[1])])
    if mechanism.total:
        precision += np.ones((2, 2)) / variance[-1]
    weights = np.array([1 - theta, -theta])
    return float(np.sqrt(weights @ np.linalg.solve(precision, weights)))


def price() -> None:
    """Print how much wider noise is where the number of records is secret."""
    print("| of | " + " | ".join(f"share of {theta:g}" for theta in THETAS) + " |")
    print("|---|" + "---|" * len(THETAS))
    for cells in (2, 10, 100, 500):
        table = dc.Categories("x", levels=tuple(range(cells)), outside=0)
        hidden, public = dc.LaplaceTable(table, LITTLE), dc.GeometricHistogram(table, 10_000, 2 * LITTLE)
        both = [share_noise(hidden, theta, cells) / share_noise(public, theta, cells) for theta in THETAS]
        print(f"| {cells} cells | " + " | ".join(f"{each:.2f}" for each in both) + " |")
    model = dc.NumberSums("x", (int(BOUNDS[0]), int(BOUNDS[1])), missing=0)
    ratio = 0.2  # the position of the mean of incomes between the bounds
    public_sd = float(np.sqrt(dc.GeometricSums(model, 10_000, 2 * LITTLE, squares="1/5").noise.variance[0]))
    cube = float(np.sqrt((1 + (1 - 2 * ratio) ** 2) * dc.CubeSums(model, LITTLE).noise.variance[0])) / 2
    ends = dc.LaplaceSums(model, LITTLE, squares=Fraction(1, 50)).noise.variance[0]
    laplace = float(np.sqrt(((1 - ratio) ** 2 + ratio**2) * ends))
    print(f"a mean at {ratio:g} of the way between its bounds: {cube / public_sd:.2f} by CubeSums, which has as")
    print(f"little noise on squares; {laplace / public_sd:.2f} by LaplaceSums with 1/50 of epsilon on squares.")
    names = tuple(f"v{index}" for index in range(10))
    naive = dc.Network.naive_bayes("y", names, dict.fromkeys(("y", *names), (0, 1)), outside=0)
    counts = [
        made.noise.variance[-1] for made in (dc.CubeTables(naive, LITTLE), dc.CubeCounts(naive, 10_000, 2 * LITTLE))
    ]
    print(f"naive Bayes with 10 yes/no features: {float(np.sqrt(counts[0] / counts[1])):.2f}.")


def main(repeats: int) -> None:
    """Print the means of groups of several sizes."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    print(f"Mean of incomes in a group; root mean squared errors, {repeats} data sets each:")
    print(
        "| records | epsilon | CubeSums | LaplaceSums | OpenDP, even | OpenDP, centred 59:41 | even / Cube | "
        "centred / Cube | even / Laplace | centred / Laplace | CubeSums holds | LaplaceSums holds |"
    )
    print("|" + "---|" * 12)
    for epsilon in EPSILONS:
        for size in SIZES:
            means_of(opendp, size, epsilon, repeats)
    print("The price of hiding how many records there are, at the same promise about what a record says:")
    price()


if __name__ == "__main__":
    if sys.argv[1:] == ["price"]:
        price()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
