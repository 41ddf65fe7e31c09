"""Evidence for what the notes claim about mechanisms and their bounds."""

from math import comb, exp, log1p
from math import log as ln

import numpy as np

from discreet.choices._adjacent_pairs import compare_neighbours
from discreet.choices._hellinger_sensitivity import global_sensitivity, normaliser_bound
from discreet.choices._posterior_distances import Tables
from discreet.mathematics._divergences import hockey_stick
from discreet_papers import as_published
from discreet_papers.as_published import PublishedHellingerSmooth
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import digits, near, row, rows
from discreet_papers.paper_003 import exponential_law, gamma_of, laplace_law, model_of, smooth_law, smooth_of


def definition() -> Finding:
    """Count the candidates in two and three dimensions."""
    size = 8
    found = {m: len(Tables(np.ones(m), size).all) for m in (2, 3)}
    return Finding(
        Basis.COMPUTED,
        "all candidates of eight records counted",
        {"n + 1 candidates in two dimensions": found[2] == size + 1, "n + 1 in three": found[3] == size + 1},
        {"C(n + m - 1, m - 1) in both": all(count == comb(size + m - 1, m - 1) for m, count in found.items())},
        {"three": found[3]},
    )


def one_half() -> Finding:
    """Count how many candidates share a distance, at balanced and at unbalanced data."""
    shared = {}
    for counts in ((4, 4), (2, 6)):
        ones = np.sort(exponential_law((1, 1), counts, 1.0).distances)
        shared[counts] = int((np.diff(ones) < 1e-9).sum())
    return Finding(
        Basis.COMPUTED,
        "all distances of eight records",
        {"four pairs at (4, 4)": shared[4, 4] == 4, "distances come in pairs at (2, 6)": shared[2, 6] > 0},
        numbers={"pairs": shared[2, 6]},
    )


def shifted() -> Finding:
    """Look for the score that lemmas 2.1 and 2.2 compare with: it is not attained, so its probability is 0."""
    law, smooth = smooth_law((1, 1), (4, 4), "1", "1e-8"), smooth_of((1, 1), (4, 4), "1", "1e-8")
    gap = min(
        float(np.abs(moved[:, None] - law.distances).min())
        for moved in (law.distances + smooth / 2, law.distances[law.distances > 0] * exp(0.01))
    )
    right = exp(0.5) * 0.0 + 1e-8 / 2 if gap > 1e-4 else 1.0
    return Finding(
        Basis.COMPUTED,
        "eight records, epsilon = 1, delta = 1e-8: no score lies at the shifted value, and the left side is above "
        "delta/2",
        {"the inequality holds at every score": float(law.chances.max()) <= right},
        numbers={"left": float(law.chances.max()), "right": right},
    )


def lemma_2_3_argument() -> Finding:
    """Apply the argument to another score, on three data sets w - x - y and 1,020 candidates of two kinds."""
    epsilon, delta, many, few = 1.0, 1e-8, 1000, 20
    small = exp(-log1p(epsilon / (2 * ln(2 * (many + few) / delta))))
    scores = {"w": (1.0, 4.0), "x": (1.0, 5.0), "y": (1 - small, 5 + small)}

    def local(*pair: str) -> float:
        return max(abs(a - b) for a, b in zip(scores[pair[0]], scores[pair[1]], strict=True))

    at_x = max(local("w", "x"), local("x", "y"))
    smooth = {"x": at_x, "y": max(local("x", "y"), at_x * small)}
    laws = {}
    for name, scale in smooth.items():
        weights = np.repeat(np.exp(-epsilon / 2 * np.array(scores[name]) / scale), (many, few))
        laws[name] = weights / weights.sum()
    found = max(
        hockey_stick(laws["x"], laws["y"], 1),
        hockey_stick(laws["y"], laws["x"], 1),
    )
    return Finding(
        Basis.COMPUTED,
        "the argument uses nothing about H; a score that obeys all that it uses, computed exactly",
        {"what it would prove holds": found <= delta},
        numbers={"found": found, "stated": delta},
    )


def floor() -> Finding:
    """Compare the printed law of |u| with those of the floor and of noise cut towards zero."""
    printed = [exp(-0.4 * k) - exp(-0.4 * (k + 1)) for k in range(5)]
    kinds = {
        kind: kind(model_of((1, 1)), 8, "0.8", 2, 1)
        for kind in (as_published.FlooredLaplace, as_published.TruncatedLaplace)
    }
    folded = {
        kind: [
            float(
                np.exp(each.log_noise(np.array([k]))).sum() + (np.exp(each.log_noise(np.array([-k]))).sum() if k else 0)
            )
            for k in range(5)
        ]
        for kind, each in kinds.items()
    }
    zero = {kind: law[0] for kind, law in folded.items()}
    small = as_published.TruncatedLaplace(model_of((1, 1)), 8, "0.01", 2, 1).guarantee.epsilon
    return Finding(
        Basis.COMPUTED,
        "the laws of both at epsilon = 0.8",
        {"the printed law is that of the floor": np.allclose(folded[as_published.FlooredLaplace], printed)},
        {"it is that of noise cut towards zero": np.allclose(folded[as_published.TruncatedLaplace], printed)},
        {
            "floor": zero[as_published.FlooredLaplace],
            "cut": zero[as_published.TruncatedLaplace],
            "costs": float(small),
        },
    )


def tail_global() -> Finding:
    """Compare exact tails with the bound."""
    scale = 0.5 / global_sensitivity(np.ones(2), 400)
    law = exponential_law((1, 1), (200, 200), scale)
    return Finding(
        Basis.PROOF,
        "each candidate that far has at most the weight e^(-epsilon c / 2 GS), and the normaliser is at least 1",
        {"no exact tail is above": all(1 - law.within(c) <= 401 * exp(-scale * c) for c in (0.1, 0.3, 0.5, 0.9))},
    )


def _tails() -> tuple[float, float, float, float]:
    """Return the exact tail beyond 0.5 for 400 records, the printed sum, and both forms of the second bound."""
    smooth = smooth_of((1, 1), (200, 200), "1", "1e-8")
    law = exponential_law((1, 1), (200, 200), 0.5 / smooth)
    far, normaliser = law.distances >= 0.5, 1 / law.chances.max()
    exact, printed = float(law.chances[far].sum()), float((law.chances[far] ** 2 * normaliser).sum())
    return exact, printed, 401 * exp(-0.5 / smooth) / normaliser, 401 * exp(-0.25 / smooth) / normaliser


def first_bound() -> Finding:
    """Evaluate the sum with and without the half."""
    exact, printed, _, _ = _tails()
    law = smooth_law((1, 1), (200, 200), "1", "1e-8")
    with_half = float(law.chances[law.distances >= 0.5].sum())
    return Finding(
        Basis.COMPUTED,
        "400 records, c = 0.5, epsilon = 1",
        {"the printed sum is the tail": near(printed, exact, 1e-6)},
        {"with the half in the exponent it is": near(with_half, exact, 1e-9)},
        {"exact": exact, "printed": printed},
    )


def second_bound() -> Finding:
    """Compare the bound with the exact tail, with and without the half."""
    exact, _, printed, half = _tails()
    return Finding(
        Basis.COMPUTED,
        "400 records, c = 0.5, epsilon = 1",
        {"the printed bound is above the tail": bool(exact <= printed)},
        {"with the half in the exponent it is": bool(exact <= half)},
        {"exact": exact, "printed": printed, "half": half},
    )


def third_bound() -> Finding:
    """Check our formula, as that of the notes is left open."""
    mechanism = PublishedHellingerSmooth(model_of((1, 1)), 50, 1, "1e-8")
    gamma = gamma_of(50, "1", "1e-8")
    least = float(np.exp(mechanism.log_normalisers(mechanism.tables.all)).min())
    return Finding(
        Basis.NOT_GIVEN,
        "the formula of N(n) is left open",
        {"ours lies below every normaliser of 50 records": normaliser_bound(1, gamma, 50, 2) <= least},
        numbers={"at_100": normaliser_bound(1, gamma_of(100, "1", "1e-8"), 100, 2)},
    )


def steps() -> Finding:
    """List the distances of candidates two steps away."""
    found = [each["distance"] for each in rows("003-table-2") if each["steps"] == 2]
    return Finding(
        Basis.COMPUTED,
        "all candidates two steps from DL(21, 21, 21)",
        {"one distance": max(found) - min(found) < 1e-9},
        numbers={"distances": ", ".join(f"{each:.6f}" for each in sorted(found)), "number": len(found)},
    )


def two_exponents() -> Finding:
    """Sum the printed probabilities, and compare neighbours without the half."""
    smooth = PublishedHellingerSmooth(model_of((1, 1)), 8, 1, "1e-8")
    law = smooth_law((1, 1), (4, 4), "1", "1e-8")
    total = float((law.chances**2).sum() / law.chances.max())
    without = compare_neighbours(smooth.model.concentration, 8, lambda t: 2 * smooth.scales(t), 1e-13, (1.0,))
    return Finding(
        Basis.COMPUTED,
        "eight records, epsilon = 1",
        {"the probabilities add up to one": near(total, 1, 1e-6)},
        {"without the half in both it is private": float(without.losses.max()) <= 1},
        {"total": total, "loss": float(without.losses.max())},
    )


def good_answers() -> Finding:
    """Sum the chances of candidates within three steps, for growing balanced data."""
    sizes, found = (20, 40, 80, 500), {}
    for size in sizes:
        near_by = np.abs(Tables(np.ones(2), size).all[:, 0] - size // 2) <= 3
        found[size] = float(smooth_law((1, 1), (size // 2, size // 2)).chances[near_by].sum())
    values = [found[size] for size in sizes]
    return Finding(
        Basis.COMPUTED,
        "two dimensions, balanced data, epsilon = 0.8, delta = 0.0005, where the candidates are n + 1",
        {"the chance falls with the size": values == sorted(values, reverse=True)},
        {"it falls in proportion to 1 / n": near(found[500] * 500, found[20] * 20, 0.5)},
        {f"at_{size}": value for size, value in found.items()},
    )


def laplace_answers() -> Finding:
    """Compare the law of the noise for few and many records."""
    laws = [
        as_published.FlooredLaplace(model_of((1, 1)), size, "0.8", 2, 1).log_noise(np.arange(-3, 4))
        for size in (10, 10_000)
    ]
    return Finding(
        Basis.PROOF,
        "the law of the noise does not contain the number of records",
        {"the same probabilities for 10 and 10,000 records": bool(np.array_equal(laws[0], laws[1]))},
    )


def table_1() -> Finding:
    """Compare all printed digits with the mechanism as defined and as it was run."""
    found = rows("003-table-1")
    keys = ("distance", "exponential", "laplace")
    run = all(digits(each[key]) == each[f"printed_{key}"] for each in found for key in keys)
    defined = all(digits(each["definition_2_1"]) == each["printed_exponential"] for each in found)
    costs = as_published.TruncatedLaplace(model_of((1, 1)), 8, "0.8", 2, 1).guarantee.epsilon
    first = found[0]
    return Finding(
        Basis.COMPUTED,
        "all 15 printed numbers",
        {
            "they are those of definition 2.1": defined,
            "so it has the larger chance at the truth": first["definition_2_1"] > first["laplace"],
        },
        {"they are those of exponent epsilon/LS and noise cut towards zero": run},
        {"defined": first["definition_2_1"], "geometric": first["geometric_histogram"], "costs": float(costs)},
    )


def table_2() -> Finding:
    """Compare all printed digits, and both mechanisms step by step and by their means."""
    found = rows("003-table-2")
    keys = ("distance", "exponential", "laplace")
    run = all(digits(each[key]) == each[f"printed_{key}"] for each in found[:4] for key in keys)
    ahead = all(each["laplace"] > each["exponential"] for each in found[:3])
    local = found[1]["distance"]
    means = exponential_law((1, 1, 1), (20, 20, 20), 0.8 / local).mean
    noise = laplace_law(as_published.TruncatedLaplace(model_of((1, 1, 1)), 60, "0.8", 2, 2), (20, 20, 20)).mean
    return Finding(
        Basis.COMPUTED,
        "all 12 printed numbers, and the laws behind them",
        {
            "all digits, with the same departures": run,
            "the Laplace mechanism has the larger chance at 0, 1 and 2 steps": ahead,
        },
        {"all digits, with the same departures": run, "it has the smaller mean distance": noise < means},
        {"exponential": means, "laplace": noise, "one_e": found[1]["exponential"], "one_l": found[1]["laplace"]},
    )


def sensitivity_and_accuracy() -> Finding:
    """Compare means for three sensitivities."""
    means = [exponential_law((1, 1), (10, 10), 0.4 / each).mean for each in (0.4, 0.2, 0.1)]
    return Finding(
        Basis.COMPUTED,
        "twenty balanced records; the mean distance falls with the exponent, as its derivative is minus a variance",
        {"a larger sensitivity has the smaller mean distance": means == sorted(means)},
        {"a smaller sensitivity has": means == sorted(means, reverse=True)},
    )


def variance_and_accuracy() -> Finding:
    """Compare means for more and more balanced data."""
    falls = []
    for size in (10, 30, 100):
        means = [smooth_law((1, 1), (ones, size - ones)).mean for ones in range(size // 2 + 1)]
        falls.append(means == sorted(means, reverse=True))
    return Finding(
        Basis.SEARCHED,
        "every number of ones among 10, 30 and 100 records, prior beta(1, 1), epsilon = 0.8",
        {"the mean distance falls towards balanced data": all(falls)},
    )


def search_over_r() -> Finding:
    """Compare the largest change with that at r = BI(x)."""
    found = rows("003-figure-2")
    own = {
        x: [each["largest_change"] for each in found if each["truth"] == x] for x in {each["truth"] for each in found}
    }
    return Finding(
        Basis.PROOF,
        "the triangle inequality, with equality at r = BI(x)",
        {"largest at r = BI(x)": all(near(values[x], max(values)) for x, values in own.items())},
    )


def parameters_and_sensitivity() -> Finding:
    """Compare the sensitivity at growing and at more equal parameters."""
    found = rows("003-figure-1")
    own = {total: [each["local"] for each in found if each["total"] == total] for total in (6, 24)}
    middle = {total: min(values) for total, values in own.items()}
    return Finding(
        Basis.PROOF,
        "concavity of ln r",
        {
            "smallest in the middle": own[24].index(middle[24]) == 11,
            "smaller for larger totals": middle[24] < middle[6],
        },
        numbers={"at_24": middle[24], "at_6": middle[6], "n": row("003-figure-1", total=24)["total"]},
    )
