"""Five quantiles, and a median alone, beside OpenDP's documented ways, in one run on the same records.

    python benchmarks/number_peers.py [repeats]

OpenDP counts added and removed records: replacing one is a distance of 2, and all of epsilon is asked at that distance.
Quantiles are its scores of 1,001 candidates with noisy maximum, epsilon / 5 for each of five; nothing of it was tuned,
and it gives no intervals. Errors are root mean squares in per cent of the range, of the records' own quantile. It needs
the package opendp. A mean has the same noise in both, but for the tenth of epsilon that tells the spread here.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.reading.number_tests import ExactTests

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
TRUTHS: dict[str, tuple[Any, tuple[float, float]]] = {
    "income": (lambda n, g: np.clip(g.lognormal(10.4, 0.7, n), 0, 200_000), (0.0, 200_000.0)),
    "age": (
        lambda n, g: np.clip(np.where(g.random(n) < 0.3, g.normal(12, 8, n), g.normal(50, 18, n)), 0, 99.9),
        (0.0, 100.0),
    ),
}


def opendp_quantile(opendp: Any, candidates: list[float], share: float, epsilon: float, size: int) -> Any:
    """Return OpenDP's private quantile at this epsilon for replaced records."""
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=size), opendp.symmetric_distance()
    scores = space >> opendp.t.then_quantile_score_candidates(candidates, share)

    def made(scale: float) -> Any:
        return scores >> opendp.m.then_noisy_max(opendp.max_divergence(), scale, negate=True)

    return made(float(made(1.0).map(2)) / epsilon)  # its epsilon falls as one over the scale


def main(repeats: int) -> None:
    """Print the errors of both, and their ratio."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    for name, (draw, (low, high)) in TRUTHS.items():
        for size in (1000, 10_000):
            generator = np.random.default_rng(20261122)
            model = dc.NumberTable("x", (int(low), int(high)), 64 if size == 1000 else 256, missing=0)
            table = dc.TreeTable(model, size, 1)
            noise: Any = table.noise
            candidates = np.linspace(low, high, 1001).tolist()
            theirs = [opendp_quantile(opendp, candidates, share, 0.2, size) for share in SHARES]
            alone = opendp_quantile(opendp, candidates, 0.5, 1.0, size)
            errors: list[list[float]] = []
            for number in range(repeats):
                records: NDArray[np.float64] = np.sort(draw(size, generator))
                true = [records[max(1, int(np.ceil(share * size - 1e-9))) - 1] for share in SHARES]
                counts = np.histogram(records, model.places)[0]
                tests = ExactTests(table.sample(counts, dc.SeededBits(number)), size, noise.cut, noise.single)
                ours = [tests.point(share, model.places) for share in table.model.quantiles]
                listed = records.tolist()
                others = [candidates[each(listed)] for each in theirs]
                errors.append(
                    [*np.subtract(ours, true), *np.subtract(others, true), candidates[alone(listed)] - true[2]]
                )
            rmse = 100 * np.sqrt(np.mean(np.square(errors), axis=0)) / (high - low)
            print(f"{name}, n = {size}, epsilon = 1, {repeats} data sets, rmse in % of the range at 10 25 50 75 90 %:")
            print(f"  discreet, five at once {rmse[:5].round(2)}; OpenDP, epsilon/5 each {rmse[5:10].round(2)}")
            print(f"  ratio {(rmse[:5] / rmse[5:10]).round(2)}; OpenDP, the median alone at epsilon = 1 {rmse[10]:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
