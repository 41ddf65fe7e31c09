"""Algorithm 1: how noisy it is, next to noise that has the shape of one record's influence."""

import discreet as dc
from discreet_papers import as_published
from discreet_papers.papers import PAPER_004
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

SIZE, EPSILON = 50, 1
FEATURES, QUICK_FEATURES = (1, 2, 4, 8, 16, 32, 64), (1, 4, 16)
CELL, COUNT, CUBE = "Algorithm 1, a cell", "Algorithm 1, a cell given its row total", "CubeCounts, a count"


def naive_bayes(features: int) -> dc.Network:
    """Return the network of a yes/no class and so many yes/no features."""
    names = [f"x{number}" for number in range(1, features + 1)]
    return dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)


def run(quick: bool) -> Outcome:
    """Compute standard deviations from the laws of the noise."""
    rows: list[Row] = []
    for features in QUICK_FEATURES if quick else FEATURES:
        network = naive_bayes(features)
        published, cube = as_published.LaplaceUpdates(network, SIZE, EPSILON), dc.CubeCounts(network, SIZE, EPSILON)
        row: Row = {"features": features, "scale": published.reach, "cell_sd": published.cell_sd()}
        rows.append(row | {"count_sd": published.count_sd(), "cube_count_sd": cube.count_sd()})
    at = next(row for row in rows if row["features"] == 16)
    verdict = (
        f"With 16 features and epsilon = 1 the noise has scale {at['scale']:g} and a cell the standard deviation "
        f"{at['cell_sd']:.1f}, {at['count_sd']:.1f} once the row total is known; there are {SIZE} records. "
        f"CubeCounts has {at['cube_count_sd']:.1f}."
    )
    return Outcome(rows, verdict, _chart(rows))


def _chart(rows: list[Row]) -> dict[str, object]:
    keys = {CELL: "cell_sd", COUNT: "count_sd", CUBE: "cube_count_sd"}
    shown = [{"x": row["features"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    across = axis("number of features", logarithmic=True, ticks=[row["features"] for row in rows])
    down = axis("standard deviation of the noise", logarithmic=True, ticks=(1, 3, 10, 30, 100, 300))
    return lines("Noise in naive Bayes at epsilon = 1", shown, across, down, least=1)


REPRODUCTION = Reproduction(
    name="004-algorithm-1",
    title="Algorithm 1: Laplace noise on the posterior updates",
    paper=PAPER_004,
    setting="Naive Bayes with a yes/no class and 1 to 64 yes/no features, epsilon = 1.",
    says="Every count gets Laplace noise of scale 2 |I| / epsilon and is cut to [0, n]; cutting can only help, and "
    "does not touch privacy. The noise does not depend on the number of records.",
    finds="Private as stated. Cutting brings each count nearer to the truth, but it throws away what a reader who "
    "knows the law of the noise could use, so the library publishes the uncut integers. A record adds one to each "
    "table, so the class totals are measured many times over; noise shaped like one record's influence is smaller.",
    run=run,
)
