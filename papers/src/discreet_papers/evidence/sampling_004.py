"""Evidence for what Zhang, Rubinstein and Dimitrakakis (2016) claim about draws, their maximum, and regression."""

from math import exp, log, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.stats import beta

from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import Numbers, near, recorded, row, rows
from discreet_papers.paper_004.algorithm_3 import change_with_many_records
from discreet_papers.paper_004.appendix_c2 import least_loss
from discreet_papers.paper_004.lemma_4 import chances
from discreet_papers.sampler_004 import CLAIMED_MANY, NODES, RECORD_MANY, RECORD_ONE, record_epsilon, sampler_rows


def _record_level() -> tuple[float, float]:
    """Return the loss that a pair of neighbours attains for entries of at least 0.2, and 2 L for the largest L_i."""
    return least_loss(10**5, 0.2), 2 * log(0.8 / 0.2)


def draw_is_private() -> Finding:
    """Compare the loss of a pair of neighbours with 2 max L_i and with 2 sum L_i."""
    attained, claimed = _record_level()
    return Finding(
        Basis.COMPUTED,
        "naive Bayes with 16 features, entries of at least 0.2, 100,000 records",
        {"at record level 2 L with the largest L_i is enough": attained <= claimed},
        {"2 sum of L_i over all nodes is": attained <= record_epsilon(0.2)},
        {"attained": attained, "claimed": claimed, "record": record_epsilon(0.2)},
    )


def stochastic_bound() -> Finding:
    """Compare exact total variations with the bound, for priors and over random constants."""
    found = rows("004-theorem-4")
    at = row("004-theorem-4", prior=5)
    return Finding(
        Basis.SEARCHED,
        f"coins under {len(found)} priors; we have no proof, and the bound exceeds one",
        {"no exact difference above the bound": all(e["total_variation"] <= e["bound"] for e in found)},
        numbers={"least": sqrt(log(2)), "bound": at["bound"], "exact": at["total_variation"]},
    )


def maximum_in_table() -> Finding:
    """Judge both halves of the row: privacy by corollary 4, utility by lemma 4."""
    privacy, utility = corollary_4(), lemma_4()
    return Finding(
        Basis.COMPUTED,
        "algorithm 3 and lemma 4 as printed and as changed",
        {"private as stated": all(privacy.printed.values()), "utility as stated": all(utility.printed.values())},
        {"with the sensitivity of the utility in the exponent": all(utility.changed.values())},
    )


def algorithm_3() -> Finding:
    """Compute the true epsilon of the published form."""
    found = rows("004-algorithm-3")
    at = row("004-algorithm-3", nodes=1, half_width=0.01)
    return Finding(
        Basis.COMPUTED,
        "one record and parameters within a narrow interval; the largest change of the density in closed form",
        {
            "Delta = sqrt(L r) is a sensitivity of the density": all(
                e["true_change"] <= e["delta"] * (1 + 1e-9) for e in found
            )
        },
        numbers={"true": at["true_epsilon"], "delta": at["delta"]},
    )


def corollary_4() -> Finding:
    """Compute the true epsilon of the published form at a claimed epsilon of 1."""
    found = rows("004-algorithm-3")
    at = row("004-algorithm-3", nodes=1, half_width=0.01)
    change, stated = change_with_many_records(5, 1000, 0.1)
    return Finding(
        Basis.COMPUTED,
        "one yes/no record, theta within 0.5 +- 0.01, and five nodes with 1,000 records",
        {
            "claimed epsilon = 1 is kept": max(e["true_epsilon"] for e in found) <= 1,
            "the density changes by Delta at most": change <= stated,
        },
        numbers={"true": at["true_epsilon"], "change": change, "stated": stated},
    )


def footnote_4() -> Finding:
    """Compare the normalising constant with the stated bound, for a bounded utility."""
    theta = np.linspace(0, 1, 10_001)
    utility = 6 * theta * (1 - theta)  # a posterior density on [0, 1], bounded by 1.5, with a uniform base measure
    holds = [float(np.trapezoid(np.exp(e * utility), theta)) <= exp(1.5 * e) for e in (0.1, 1.0, 10.0)]
    return Finding(
        Basis.PROOF,
        "an average of e^(epsilon u) over a probability measure is at most its largest value",
        {"for a density bounded by 1.5 and three epsilons": all(holds)},
    )


def lemma_4() -> Finding:
    """Compare exact chances with the printed and the changed exponent."""
    far, printed, corrected = chances(5, 1, 5.0, 0.97)
    never = all(
        chances(records, ones, epsilon, gap)[0] <= chances(records, ones, epsilon, gap)[2]
        for records in (1, 5, 12)
        for ones in (0, records // 2, records)
        for epsilon, gap in ((1.0, 0.2), (5.0, 0.5), (20.0, 1.0))
    )
    return Finding(
        Basis.COMPUTED,
        "five records, one of them a yes, epsilon = 5, t = 0.97",
        {"exponent epsilon t": far <= printed},
        {"exponent epsilon t / (2 Delta)": far <= corrected and never},
        {"far": far, "printed": printed},
    )


@recorded
def accuracies_of_the_sampler() -> Numbers:
    """Return accuracies on records of our own, by curve and epsilon; Laplace noise on the counts has 0.803 at 3."""
    names = {CLAIMED_MANY: "claimed", RECORD_ONE: "record", RECORD_MANY: "many"}
    found = sampler_rows((1.0, 3.0, 10.0), data_sets=6, splits=4)
    return {f"{names[e['method']]}_{e['epsilon']:g}": e["accuracy"] for e in found if e["method"] in names}


def figure_1() -> Finding:
    """Compare the sampler with Laplace noise on records of our own, at the claimed and at the record's epsilon."""
    from discreet_papers.evidence.laplace_004 import accuracies_of_figure_1

    found, noise = accuracies_of_the_sampler(), accuracies_of_figure_1()
    return Finding(
        Basis.NOT_GIVEN,
        "the records, the number of draws and the plotted values are not given",
        {
            "on records of our own it wins at the claimed epsilon": found["claimed_3"] > noise["laplace_3"],
            "and at the epsilon of a record": found["record_3"] > noise["laplace_3"]
            or found["record_10"] > noise["laplace_10"],
        },
        numbers={"claimed": found["claimed_3"], "record": found["record_3"], "laplace": noise["laplace_3"]},
    )


def appendix_c2() -> Finding:
    """Compare the loss of a pair of neighbours with 2 ln(1/omega)."""
    attained, claimed = least_loss(50, 0.2), 2 * log(1 / 0.2)
    return Finding(
        Basis.COMPUTED,
        "17 nodes, omega = 0.2, 50 records: one pair of neighbours and one draw",
        {"a loss of at most 2 ln(1/omega)": attained <= claimed},
        numbers={"attained": attained, "claimed": claimed, "record": record_epsilon(0.2), "nodes": NODES},
    )


def appendix_c1() -> Finding:
    """Compare the printed predictive with an integral."""
    a, b = 4.0, 2.5
    right = []
    for x in (0, 1):
        integral = quad(lambda theta, x=x: theta**x * (1 - theta) ** (1 - x) * beta(a, b).pdf(theta), 0, 1)[0]
        right.append(near(integral, a**x * b ** (1 - x) / (a + b), 1e-8))
    return Finding(Basis.PROOF, "the mean of a Beta law, row by row", {"the integral of one row": all(right)})


@recorded
def errors_of_figure_2() -> Numbers:
    """Return mean squared errors on records of our own, by prior precision."""
    found = rows("004-figure-2")
    keys = ("ridge", "draw", "record_epsilon")
    return {f"{key}_{each['precision']}": each[key] for each in found for key in keys}


def figure_2() -> Finding:
    """Look at the shape on records of our own."""
    found = errors_of_figure_2()
    draw, ridge, cost = ([found[f"{key}_{b}"] for b in (1, 500, 10_000)] for key in ("draw", "ridge", "record_epsilon"))
    return Finding(
        Basis.NOT_GIVEN,
        "the census records cannot be obtained, and the plotted values are not given",
        {
            "on records of our own both errors rise with the precision": draw == sorted(draw)
            and ridge == sorted(ridge),
            "the draw is worse than the regression": all(a > b for a, b in zip(draw, ridge, strict=True)),
            "and more private": cost == sorted(cost, reverse=True),
        },
        numbers={"draw": draw[1], "ridge": ridge[1]},
    )


def gradient() -> Finding:
    """Compare printed derivatives and their norm with differences of the likelihood."""
    found = rows("004-appendix-d-gradient")
    return Finding(
        Basis.COMPUTED,
        "made-up records in 1 to 14 dimensions, by finite differences",
        {
            "the printed derivatives": max(e["printed_off_by"] for e in found) < 1e-6,
            "the printed bound on the norm": all(e["largest_norm"] <= e["printed_bound"] for e in found),
        },
        numbers={"norm": found[0]["largest_norm"], "printed": found[0]["printed_bound"]},
    )


def lemma_d1() -> Finding:
    """Compare both sides of Bayes' rule at many parameters."""
    most = max(e["off_by"] for e in rows("004-lemma-d1"))
    return Finding(
        Basis.PROOF,
        "the product of two Gaussian densities is Gaussian, and the ball is the same",
        {"both sides differ by one constant in 1 to 14 dimensions": most < 1e-10},
    )


def privacy_of_regression() -> Finding:
    """Compare the loss of a draw with the printed expression."""
    at = row("004-appendix-d-privacy", w=-10.0)
    return Finding(
        Basis.COMPUTED,
        "one feature, n = 1, ||w|| <= 10, sigma = 1: the loss at w = -10",
        {"a loss of at most 2 L(w)": at["largest_loss"] <= at["printed_1"]},
        numbers={"loss": at["largest_loss"], "printed": at["printed_1"], "bound": at["record_bound"]},
    )
