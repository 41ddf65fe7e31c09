"""What other libraries make of the same records at the same epsilon; `make peers` builds their environment.

    .venv-peers/bin/python examples/census/census_peers.py records.npz

It prints one JSON document and needs nothing of this library. A peer that fails, or is not installed, is left out.
Epsilon means what the pages of each say; where the noise is ours (private-PGM has none of its own), one record is
replaced.
"""

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 1994
Floats = NDArray[np.float64]
Records = Any  # the arrays of a .npz file by name


def one_hot(codes: Any, levels: Any) -> Floats:
    """Return a column of zeros and ones for each level of each feature but the first."""
    parts = [codes[:, [place]] == np.arange(1, many)[None] for place, many in enumerate(levels)]
    return np.concatenate(parts, axis=1).astype(float)


def diffprivlib_naive_bayes(records: Records) -> list[float]:
    """Return P(>50K) of every test record by GaussianNB, on the places of levels."""
    from diffprivlib.models import GaussianNB  # type: ignore[import-not-found]

    bounds = (np.zeros(len(records["levels"])), records["levels"] - 1.0)
    model = GaussianNB(epsilon=1.0, bounds=bounds, random_state=SEED)
    model.fit(records["x"].astype(float), records["y"])
    return [float(chance) for chance in model.predict_proba(records["x_test"].astype(float))[:, 1]]


def diffprivlib_logistic(records: Records) -> list[float]:
    """Return P(>50K) of every test record by LogisticRegression on age, sex and schooling."""
    from diffprivlib.models import LogisticRegression

    norm = float(np.sqrt(records["levels_few"].size))
    model = LogisticRegression(epsilon=1.0, data_norm=norm, C=1.0, max_iter=500, random_state=SEED)
    model.fit(one_hot(records["few"], records["levels_few"]), records["y"])
    chances = model.predict_proba(one_hot(records["few_test"], records["levels_few"]))
    return [float(chance) for chance in chances[:, 1]]


def private_pgm(records: Records) -> list[float]:
    """Return P(>50K) by naive Bayes from tables with geometric noise, fitted by mirror descent (mbi)."""
    from mbi import Domain, LinearMeasurement, estimation  # type: ignore[import-not-found]

    x, y, levels = records["x"], records["y"], records["levels"].tolist()
    generator, rate = np.random.default_rng(SEED), 1.0 / (2 * len(levels))
    names, parts = [f"x{place}" for place in range(len(levels))], []
    for place, many in enumerate(levels):
        noise = generator.geometric(-np.expm1(-rate), (2, 2 * many))
        table = np.bincount(many * y + x[:, place], minlength=2 * many) + noise[0] - noise[1]
        parts.append(LinearMeasurement(table, ("y", names[place]), stddev=np.sqrt(2) / rate))
    domain = Domain(["y", *names], [2, *levels])
    model = estimation.MirrorDescent().estimate(domain, parts, known_total=float(len(y)))
    logs = np.tile(np.log(1 + np.asarray(model.project(("y",)).datavector())), (len(records["x_test"]), 1))
    for place, many in enumerate(levels):
        table = 1 + np.asarray(model.project(("y", names[place])).datavector()).reshape(2, many)
        logs += np.log(table / table.sum(axis=1, keepdims=True))[:, records["x_test"][:, place]].T
    return [float(chance) for chance in 1 / (1 + np.exp(logs[:, 0] - logs[:, 1]))]


def diffprivlib_line(records: Records) -> list[float]:
    """Return intercept and slopes of hours by age, sex and schooling, by LinearRegression."""
    from diffprivlib.models import LinearRegression

    low, high = records["line_bounds"]
    model = LinearRegression(epsilon=1.0, bounds_X=(low[1:], high[1:]), bounds_y=(low[0], high[0]), random_state=SEED)
    model.fit(records["line"][:, 1:], records["line"][:, 0])
    return [float(model.intercept_), *map(float, model.coef_)]


def diffprivlib_quartiles(records: Records) -> list[float]:
    """Return the quartiles of age, a third of epsilon = 0.5 for each."""
    from diffprivlib.tools import quantile  # type: ignore[import-not-found]

    age, bounds = records["line"][:, 1], (17.0, 90.0)
    shares = (0.25, 0.5, 0.75)
    return [float(quantile(age, share, epsilon=0.5 / 3, bounds=bounds, random_state=SEED)) for share in shares]


def opendp_quartiles(records: Records) -> list[float]:
    """Return the quartiles of age by noisy maxima among all ages, a third of epsilon = 0.5 for each."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib", "floating-point")
    age = records["line"][:, 1].tolist()
    domain = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=len(age))
    candidates = [float(year) for year in range(17, 91)]
    found = []
    for share in (0.25, 0.5, 0.75):
        scores = (domain, opendp.symmetric_distance()) >> opendp.t.then_quantile_score_candidates(candidates, share)

        def made(scale: float, scores: Any = scores) -> Any:
            return scores >> opendp.m.then_noisy_max(opendp.max_divergence(), scale, negate=True)

        found.append(candidates[made(float(made(1.0).map(2)) / (0.5 / 3))(age)])
    return found


PEERS: dict[str, Callable[[Records], list[float]]] = {
    "naive Bayes: diffprivlib GaussianNB": diffprivlib_naive_bayes,
    "naive Bayes: private-PGM (mbi)": private_pgm,
    "logistic: diffprivlib LogisticRegression": diffprivlib_logistic,
    "line: diffprivlib LinearRegression": diffprivlib_line,
    "quartiles: diffprivlib": diffprivlib_quartiles,
    "quartiles: OpenDP": opendp_quartiles,
}


def main(path: str) -> None:
    """Run every peer that is installed, and print what it found."""
    warnings.simplefilter("ignore")
    found, records = {}, np.load(path)
    for name, peer in PEERS.items():
        try:
            found[name] = peer(records)
        except Exception as problem:  # noqa: BLE001 - whatever goes wrong with one, the others are still wanted
            print(f"{name} is left out: {problem}.", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
