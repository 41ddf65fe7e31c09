"""Evidence for what Zhang, Rubinstein and Dimitrakakis (2016) claim about noise on updates, and for appendix A."""

from collections.abc import Iterator
from itertools import product
from math import exp

import numpy as np
from scipy.integrate import quad
from scipy.stats import beta

import discreet as dc
from discreet.mathematics._divergences import hockey_stick
from discreet_papers.bounds_004 import (
    Pair,
    deviation,
    divergence,
    divergence_exceedance,
    divergence_range,
    mean_divergence,
    noise_bound,
    noise_exceedance,
    noise_quantile,
    published_deviation,
    published_divergence,
    published_divergence_bound,
    published_mean_bound,
    published_ranges,
    published_refined_bound,
    published_truncated_mean,
    truncated_mean,
)
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import Numbers, near, recorded, rows
from discreet_papers.figure_1_004 import fourier_counts, fourier_updates, laplace_updates, without_privacy
from discreet_papers.figure_1_004.setting import splits
from discreet_papers.networks_004 import yes_no

NAIVE_BAYES = (17, 33, 1.0, 0.05)  # |I|, m, epsilon, delta
WORST: tuple[Pair, Pair, float, float] = ((2, 2), (50, 0), 50, 2 / 0.001)


def settings() -> Iterator[tuple[Pair, Pair, int]]:
    """Yield 288 priors, counts and sizes."""
    for prior, size in product(((2, 2), (2, 5), (5, 5), (10, 3)), (10, 50, 200)):
        for first in np.linspace(0, size, 6).round():
            for second in np.linspace(0, size - first, 4).round():
                yield prior, (float(first), float(second)), size


def example_1() -> Finding:
    """Compare counting with prior times likelihood, for one row."""
    given, prior = np.array([1, 0, 1]), (2.0, 3.0)  # the row of b where a = 1
    counted = beta(prior[0] + given.sum(), prior[1] + (1 - given).sum())

    def joint(theta: float) -> float:
        return float(beta(*prior).pdf(theta) * np.prod(np.where(given, theta, 1 - theta)))

    evidence = quad(joint, 0, 1)[0]
    return Finding(
        Basis.PROOF,
        "Bayes' rule: exponents add, row by row",
        {
            "counting is the posterior": all(
                near(joint(t) / evidence, float(counted.pdf(t)), 1e-8) for t in (0.1, 0.5, 0.9)
            )
        },
    )


def algorithm_1() -> Finding:
    """Cut noisy counts to [0, n] and compare their errors."""
    generator = np.random.default_rng(2)
    true = generator.integers(0, 51, 66)
    noisy = true + np.rint(generator.laplace(0, 34, (2000, 66)))
    cut = np.clip(noisy, 0, 50)
    return Finding(
        Basis.PROOF,
        "the truth lies in [0, n], so a projection onto it brings nothing farther; it is post-processing",
        {"no count farther from the truth in 2,000 releases": bool((np.abs(cut - true) <= np.abs(noisy - true)).all())},
    )


def lemma_1() -> Finding:
    """Compare all pairs of records in several networks."""
    found = rows("004-lemma-1")
    return Finding(
        Basis.PROOF,
        "two counts of each family move by one",
        {"attained in every network and exceeded in none": all(e["largest_distance"] == e["bound"] for e in found)},
        numbers={"networks": len(found)},
    )


def corollary_1() -> Finding:
    """Compare the exact epsilon of noise for epsilon = 1 in several networks."""
    return Finding(
        Basis.PROOF,
        "lemma 1 and the Laplace mechanism",
        {"the exact epsilon is at most the stated one": all(e["epsilon_at_1"] <= 1 for e in rows("004-lemma-1"))},
    )


def proposition_1() -> Finding:
    """Compare the bound with the exact quantile of the largest noise."""
    deltas = (0.001, 0.05, 0.5, 0.9)
    below = all(noise_quantile(17, 33, 1, delta) <= noise_bound(17, 33, 1, delta) for delta in deltas)
    return Finding(
        Basis.PROOF,
        "a union bound over 2 m noises",
        {"the exact quantile is below the bound": below},
        numbers={"exact": noise_quantile(*NAIVE_BAYES), "bound": noise_bound(*NAIVE_BAYES)},
    )


def after_proposition_1() -> Finding:
    """Compare the bound with |I|^2 / epsilon for chains and complete graphs."""
    ratios = []
    for variables in (2, 5, 10, 20, 40):
        for m in (2 * variables - 1, 2**variables - 1):  # a chain, a complete graph
            ratios.append(noise_bound(variables, m, 1.0, 0.05) / variables**2)
    return Finding(
        Basis.PROOF,
        "m <= |I| 2^|I|, so ln(2 m / delta) is at most of the order of |I| for any fixed delta; cutting moves no "
        "count farther",
        {"the ratio to |I|^2 does not grow": max(ratios[-2:]) <= max(ratios[:2])},
        numbers={"chain": ratios[-2], "complete": ratios[-1]},
    )


def theorem_1_deviation() -> Finding:
    """Compute how often the printed and the squared deviation are exceeded, by quadrature."""
    mean = mean_divergence(*WORST)
    constants = published_ranges((2, 2), 50)
    beyond = [divergence_exceedance(*WORST, mean + published_deviation([c], 0.05)) for c in constants.values()]
    squares = divergence_exceedance(*WORST, mean + deviation([divergence_range((2, 2), (50, 0), 50)], 0.05))
    return Finding(
        Basis.COMPUTED,
        "one row with all 50 records on one side, epsilon = 0.001, by quadrature",
        {"exceeded with probability at most 0.05, with any printed c": max(beyond) <= 0.05},
        {"with squares, as McDiarmid's inequality has it": squares <= 0.05},
        {"beyond": beyond[0]},
    )


def theorem_1_mean() -> Finding:
    """Compare the bound with the largest divergence, which is above every mean."""
    holds = [divergence_range(*each) <= published_mean_bound(*each) for each in settings()]
    return Finding(
        Basis.SEARCHED,
        f"{len(holds)} priors, counts and sizes; the printed proof rests on lemma A.3, and we have none",
        {"even the largest divergence stays below": all(holds)},
        numbers={"settings": len(holds)},
    )


def theorem_1_refined() -> Finding:
    """Compare the refined bound with the exact mean."""
    mean, bound = mean_divergence((2, 2), (5, 5), 50, 2), published_refined_bound((2, 2), 50, 2)
    return Finding(
        Basis.COMPUTED,
        "one row with counts (5, 5), 50 records, noise of scale 2, by quadrature",
        {"the mean is below": mean <= bound},
        numbers={"mean": mean, "bound": bound},
    )


def after_theorem_1() -> Finding:
    """Compare m in two graphs of five variables: one with four parents of one node, one with five arrows in a row."""
    star = yes_no(*(f"{name} -> e" for name in "abcd"))
    denser = yes_no("a -> b", "b -> c", "c -> d", "d -> e", "a -> e")
    arrows = {net: sum(map(len, net.parents)) for net in (star, denser)}
    rows_of = {net: sum(2 ** len(above) for above in net.parents) for net in (star, denser)}
    return Finding(
        Basis.COMPUTED,
        "two graphs of five variables, four and five arrows",
        {
            "the smaller average number of parents has the smaller m": (arrows[star] < arrows[denser])
            == (rows_of[star] < rows_of[denser])
        },
        {
            "m = sum of 2^parents decides: the bounds grow with m": noise_bound(5, rows_of[denser], 1, 0.05)
            < noise_bound(5, rows_of[star], 1, 0.05)
        },
        {"few": rows_of[star], "more": rows_of[denser]},
    )


def table_1() -> Finding:
    """Follow the summary and the exact mean as epsilon grows."""
    scales = (40.0, 20.0, 4.0, 0.4)
    means = [mean_divergence((2, 2), (5, 5), 50, scale) for scale in scales]
    brackets = [1 - exp(-50 / scale) for scale in scales]
    vanishing = 1 - exp(-50 / 1e6)
    return Finding(
        Basis.COMPUTED,
        "one row, counts (5, 5), 50 records, by quadrature",
        {
            "the bracket falls with epsilon, as the loss does": means == sorted(means, reverse=True)
            and brackets == sorted(brackets, reverse=True),
            "it does not vanish where the loss is largest": vanishing > 0.1,
        },
        {
            "for n >= 2 |I| / epsilon it lies between 1 - 1/e and 1 and can be left out": all(
                1 - exp(-1) <= each <= 1 for each in brackets
            )
        },
        {"least": 1 - exp(-1)},
    )


def appendix_a1() -> Finding:
    """Compare chances above and below the stated z."""
    stated = noise_bound(*NAIVE_BAYES)
    chances = {share: noise_exceedance(17, 33, 1, share * stated) for share in (0.9, 1.0, 1.1)}
    return Finding(
        Basis.COMPUTED,
        "naive Bayes with 16 features, delta = 0.05",
        {"z at most the stated value keeps the chance": chances[0.9] <= 0.05},
        {"z at least the stated value does": chances[1.0] <= 0.05 and chances[1.1] <= 0.05},
    )


def mcdiarmid() -> Finding:
    """Check the inequality for a sum of bounded numbers."""
    drawn = np.random.default_rng(5).random((20_000, 10)).sum(axis=1) - 5
    holds = all(float((drawn >= t).mean()) <= exp(-2 * t * t / 10) for t in (0.5, 1.0, 2.0))
    return Finding(Basis.PROOF, "McDiarmid's, a textbook inequality", {"for a sum of ten uniform numbers": holds})


def lemma_a2() -> Finding:
    """Evaluate both sides on a grid."""
    a, t = np.meshgrid(np.geomspace(1e-3, 1e4, 60), np.concatenate([[0], np.geomspace(1e-3, 1e4, 60)]))
    right = t * np.log(a + t) + t
    holds = ((a + t) * np.log(a + t) - a * np.log(a) <= right + 1e-9 * (1 + np.abs(right))).all()
    return Finding(
        Basis.PROOF, "the mean value theorem on x ln x, whose derivative is ln x + 1", {"on a grid": bool(holds)}
    )


def lemma_a3() -> Finding:
    """Compare the divergence, and the function in the proof, with the bound."""
    example: tuple[Pair, Pair, float, float] = ((2, 2), (10, 15), 12, 9)
    far: tuple[Pair, Pair, float, float] = ((2, 2), (10, 15), 50, 9)
    return Finding(
        Basis.COMPUTED,
        "prior (2, 2), counts (10, 15), noisy counts (12, 9) and (50, 9)",
        {
            "the function in the proof stays below": bool(
                published_divergence(*example) <= published_divergence_bound(*example)
            ),
            "the divergence stays below": bool(divergence(*far) <= published_divergence_bound(*far)),
        },
        numbers={"printed": float(published_divergence(*example)), "exact": float(divergence(*example))},
    )


def lemma_a4() -> Finding:
    """Compare the three printed constants with the range of the divergence and of the function in the proof."""
    bounds = all(divergence_range(*each) <= min(published_ranges(each[0], each[2]).values()) for each in settings())
    corners = np.array([0, 50])
    other = float(np.ptp(published_divergence((2, 2), (50, 0), corners[:, None], corners[None, :])))
    constants = published_ranges((2, 2), 50)
    return Finding(
        Basis.COMPUTED,
        "288 priors, counts and sizes; three expressions are printed",
        {
            "they agree": len({round(c, 6) for c in constants.values()}) == 1,
            "the theorem's bounds the function in the proof": other <= constants["theorem 1"],
        },
        {"all three bound the divergence": bounds},
        {"least": divergence_range((2, 2), (50, 0), 50), "printed": constants["theorem 1"]},
    )


def mean_of_z() -> Finding:
    """Compare the printed mean with the exact one."""
    printed, exact = published_truncated_mean(45, 50, 10), truncated_mean(45, 50, 10)
    drawn = float(np.clip(45 + np.random.default_rng(3).laplace(0, 10, 200_000), 0, 50).mean())
    return Finding(
        Basis.COMPUTED,
        "a count of 45 among 50 records, scale 10",
        {"the printed mean lies in [0, n]": 0 <= printed <= 50, "it is what draws show": abs(drawn - printed) < 0.12},
        numbers={"printed": printed, "exact": exact, "drawn": drawn},
    )


@recorded
def accuracies_of_figure_1() -> Numbers:
    """Return accuracies on 30 splits of records of our own, by the first letters of the method and by epsilon."""
    methods = {
        "laplace": laplace_updates,
        "fourier": fourier_updates,
        "counts": fourier_counts,
        "plain": without_privacy,
    }
    found: Numbers = {}
    for name, method in methods.items():
        (curve,) = method.CURVES
        found |= {
            f"{name}_{epsilon}": float(curve.scores(splits(30), epsilon)[:, 0].mean()) for epsilon in ("1", "3", "10")
        }
    return found


def figure_1() -> Finding:
    """Look at the shape on records of our own."""
    found = accuracies_of_figure_1()
    low, high, plain = found["laplace_1"], found["laplace_10"], found["plain_10"]
    return Finding(
        Basis.NOT_GIVEN,
        "the records and the plotted values are not given",
        {"on records of our own accuracy rises with epsilon towards that without privacy": low < high <= plain + 0.01},
        numbers={"low": low, "high": high, "plain": plain},
    )


def privacy_of_updates() -> Finding:
    """Check the definition for an exact law."""
    model = dc.Categories("x", levels=("no", "yes"), outside="no")
    mechanism = dc.GeometricHistogram(model, 5, 1)
    outputs = mechanism.outputs_near(60)
    laws = [np.exp(mechanism.log_prob(outputs, np.array([k, 5 - k]))) for k in (2, 3)]
    return Finding(
        Basis.DEFINITION,
        "a definition; the library compares neighbours by it",
        {
            "geometric noise keeps epsilon = 1 and not 0.99": hockey_stick(laws[0], laws[1], 1.0)
            < 1e-12
            < hockey_stick(laws[0], laws[1], 0.99)
        },
    )
