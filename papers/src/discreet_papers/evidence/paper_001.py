"""Evidence for what the poster claims."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from discreet.choices._hellinger_sensitivity import local_sensitivity
from discreet.mathematics import kullback_leibler
from discreet.mathematics._divergences import hellinger
from discreet_papers import as_published
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.hellinger import by_definition
from discreet_papers.evidence.rows import Numbers, near, recorded, rows
from discreet_papers.paper_001.figure_2a import compare, laplace
from discreet_papers.paper_003 import model_of

NO_SENTENCE = "the plotted values are not printed and no sentence is about this picture alone"


def k_divergence() -> Finding:
    """Ask of several distances whether one record changes them by more than neighbours are apart.

    The poster defines no K-divergence; Lin's is KL(p, (p + q)/2), the directed half of Jensen and Shannon's.
    """
    posteriors = [(1.0 + count, 9.0 - count) for count in range(9)]
    densities = _densities(posteriors)
    found = {
        "hellinger": np.array([[hellinger(p, q) for q in posteriors] for p in posteriors]),
        "total variation": _between(densities, lambda p, q: abs(p - q) / 2),
        "lin": _between(densities, lambda p, q: p * np.log(2 * p / (p + q))),
    }
    changes = {name: np.abs(np.diff(table, axis=0)).max(axis=1) for name, table in found.items()}
    apart = {name: np.maximum(np.diagonal(table, 1), np.diagonal(table, -1)) for name, table in found.items()}
    keeps = {name: bool((changes[name] <= apart[name] * (1 + 1e-6)).all()) for name in found}
    worst = int(np.argmax(changes["lin"] / apart["lin"]))
    growing = [_largest_change_of_kullback_leibler(size) for size in (10, 100, 1_000)]
    return Finding(
        Basis.COMPUTED,
        "all posteriors of eight records; Kullback-Leibler for 10, 100 and 1,000",
        {
            "the Hellinger distance changes by no more than neighbours are apart": keeps["hellinger"],
            "the K-divergence changes by no more than neighbours are apart": keeps["lin"],
        },
        {
            "the total variation changes by no more than neighbours are apart": keeps["total variation"],
            "the total variation is at most 1": bool(found["total variation"].max() <= 1),
            "the K-divergence is at most ln 2": bool(found["lin"].max() <= np.log(2)),
            "the change of Kullback-Leibler grows with the records": growing[0] < growing[1] / 2 < growing[2] / 4,
        },
        {
            "change": float(changes["lin"][worst]),
            "apart": float(apart["lin"][worst]),
            "ten": growing[0],
            "thousand": growing[2],
        },
    )


def _densities(posteriors: list[tuple[float, float]]) -> NDArray[np.float64]:
    """Return densities of Betas at the middles of many equal steps, each with a mean of 1."""
    x = (np.arange(20_000) + 0.5) / 20_000
    logs = np.array([(a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - betaln(a, b) for a, b in posteriors])
    return np.asarray(np.exp(logs))


def _between(
    densities: NDArray[np.float64], integrand: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the integral of a function of two densities, for all pairs."""
    return np.array([[float(integrand(p, q).mean()) for q in densities] for p in densities])


def _largest_change_of_kullback_leibler(size: int) -> float:
    """Return the most that one record changes KL(k, r) by, over all r, seen from no record of the first level."""
    candidates = [(1.0 + count, 1.0 + size - count) for count in range(size + 1)]
    none, one = ([kullback_leibler(known, each) for each in candidates] for known in candidates[:2])
    return float(np.abs(np.array(one) - np.array(none)).max())


def baseline_noise() -> Finding:
    """Compute the true epsilon of noise of scale 1/epsilon on one count."""
    mechanism = as_published.RoundedLaplace(model_of((1, 1)), 30, "0.6", 1, 1)
    return Finding(
        Basis.PROOF,
        "one record moves the number of ones by at most one; rounding is post-processing",
        {"the true epsilon is the stated one": near(float(mechanism.guarantee.epsilon), 0.6, 1e-5)},
    )


def baseline_growth() -> Finding:
    """Compute how far neighbours are apart in the l1 norm, in several dimensions."""
    moved = {}
    for cells in (2, 3, 4, 5):
        tables, steps, _ = by_definition((1.0,) * cells, 3)
        moved[cells] = int(np.abs(tables[:, None] - tables[None]).sum(axis=-1)[steps == 1].max())
    return Finding(
        Basis.COMPUTED,
        "all neighbours of three records in two to five dimensions",
        {"the l1 norm of the change grows with the dimension": len(set(moved.values())) == len(moved)},
        {"it is two in every dimension": set(moved.values()) == {2}},
        {"moved": moved[5]},
    )


def figure_1() -> Finding:
    """Compare the sensitivity at the edge and in the middle."""
    local = {each["count"]: each["local"] for each in rows("001-figure-1") if each["size"] == 100}
    falling = [local[x] >= local[x + 1] for x in range(50)]
    return Finding(
        Basis.PROOF,
        "concavity of ln r: the sensitivity falls from the edge to the middle",
        {"largest at the edge": max(local.values()) == local[0], "falls towards the middle": all(falling)},
        numbers={"middle": local[50], "edge": local[0]},
    )


def local_sensitivity_as_printed() -> Finding:
    """Evaluate the printed expression, which compares x with x', and the one that is meant."""
    tables, _, local = by_definition((1.0, 1.0), 8)
    here, there = np.array([0, 8]), np.array([4, 4])
    printed = hellinger(tuple(1 + here), tuple(1 + there))  # the largest |H(x, r) - H(x', r)| over r
    meant = float(local[[tuple(each) for each in tables.tolist()].index((4, 4))])
    closed = local_sensitivity(np.ones(2), there)
    return Finding(
        Basis.COMPUTED,
        "eight records, x with no ones and x' with four",
        {"the printed expression is the local sensitivity at x'": near(printed, closed)},
        {"it is if x' and its neighbours x'' are compared": near(meant, closed)},
        {"printed": printed, "local": closed},
    )


def histogram_sensitivity() -> Finding:
    """Compute the true epsilon of the poster's noise in two, three and four dimensions."""
    stated = [
        as_published.RoundedLaplace(model_of((1,) * m), 30, "0.6", min(m - 1, 2), m - 1).guarantee.epsilon
        for m in (2, 3, 4)
    ]
    return Finding(
        Basis.PROOF,
        "neighbours differ by one in two counts; with two cells one count tells both",
        {"the true epsilon is the stated one": all(near(float(each), 0.6, 1e-5) for each in stated)},
    )


def no_sentence_about_figure_2() -> Finding:
    """Values of figure 2 are computed, but not printed."""
    return Finding(Basis.NOT_GIVEN, NO_SENTENCE, numbers=crossings() | four_dimensions())


def priors_of_figure_3a() -> Finding:
    """Priors of figure 3(a) are not given."""
    last = [each["mean"] for each in rows("001-figure-3a") if each["prior"] == 100]
    return Finding(Basis.NOT_GIVEN, "the priors are not given", numbers={"exponential": last[0], "laplace": last[2]})


def records_of_figure_3() -> Finding:
    """Say that the number of records of figures 3(b) and 3(c) is not given."""
    return Finding(Basis.NOT_GIVEN, "the number of records is not given, and " + NO_SENTENCE)


def crossings() -> Numbers:
    """Return the sizes in two and three dimensions at which the mechanism overtakes noise that grows with them."""
    found: Numbers = {}
    for cells, sizes in ((2, (336, 338, 340, 342)), (3, (396, 399, 402, 405))):
        won = [each["size"] for each in compare(cells, sizes) if each["exponential"] < each["dimension_laplace"]]
        found[f"cross_{cells}"] = min(won)
    return found


@recorded
def four_dimensions() -> Numbers:
    """Return both means at 600, 1,000 and 1,020 records in four dimensions: up to 178 million candidates."""
    found = compare(4, (600, 1000, 1020))
    both = {"exponential": "mechanism", "dimension_laplace": "laplace"}
    return {f"{name}_{each['size']}": each[key] for each in found for key, name in both.items()}


def asymptotics() -> Finding:
    """Compare both means at large sizes."""
    four, at = four_dimensions(), {cells: compare(cells, (600,))[0] for cells in (2, 3)}
    won = {f"wins at 600 records in {m} dimensions": at[m]["exponential"] < at[m]["dimension_laplace"] for m in (2, 3)}
    right = [at[m]["exponential"] > at[m]["histogram_laplace"] for m in (2, 3)]
    cost = float(laplace(4, 600, 4).guarantee.epsilon)
    return Finding(
        Basis.SEARCHED,
        "balanced data in two to four dimensions, sizes up to 1,020",
        won | {"wins at 1,020 records in 4 dimensions": four["mechanism_1020"] < four["laplace_1020"]},
        numbers={"cost": cost, "never": "at every size tried" if all(right) else "at some sizes"},
    )


def four_hundred() -> Finding:
    """Compare the sizes from which the mechanism wins with 400."""
    turn, four = crossings(), four_dimensions()
    late = four["mechanism_600"] < four["laplace_600"]
    between = four["mechanism_1000"] > four["laplace_1000"] and four["mechanism_1020"] < four["laplace_1020"]
    early = {f"in {m} dimensions from at most 400 records on": turn[f"cross_{m}"] <= 400 for m in (2, 3)}
    return Finding(
        Basis.COMPUTED,
        "exact means at balanced data, unit priors, epsilon = 1, delta = 1e-8",
        early | {"in 4 dimensions at 600 records, the largest of the figure": late},
        {
            "within one step of 400 in three dimensions, earlier in two": turn["cross_2"]
            <= 400
            <= turn["cross_3"]
            <= 402,
            "between 1,000 and 1,020 records in four": between,
        },
        turn | four,
    )


def beta_binomial() -> Finding:
    """Compare prior times likelihood with the posterior on a grid."""
    theta, ones, size = np.linspace(0.01, 0.99, 99), 7, 12
    prior, likelihood = theta**1.5 * (1 - theta) ** 0.5, theta**ones * (1 - theta) ** (size - ones)
    posterior = theta ** (1.5 + ones) * (1 - theta) ** (0.5 + size - ones)
    ratio = prior * likelihood / posterior
    return Finding(
        Basis.PROOF,
        "Bayes' rule: exponents add",
        {"prior times likelihood is in proportion to the posterior": float(np.ptp(ratio)) < 1e-12},
    )
