"""Evidence for what Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) claim, up to their algorithm."""

from itertools import product
from math import exp, inf, log

import numpy as np
from scipy.stats import gamma

import discreet as dc
from discreet.draws import posterior_draw_delta
from discreet.draws._privacy_curves import neighbour_divergence
from discreet.mathematics import kullback_leibler
from discreet.mathematics._divergences import hockey_stick
from discreet.mathematics.distributions._dirichlet import Dirichlet
from discreet.privacy import MetricGuarantee
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import near, row, rows
from discreet_papers.paper_002 import definition_2 as definition
from discreet_papers.paper_002 import lemma_4
from discreet_papers.paper_002 import theorem_1_stochastic as waiting
from discreet_papers.paper_002.theorem_1_lipschitz import log_masses, odds


def bayes_rule() -> Finding:
    """Compare prior times likelihood with the posterior of waiting times."""
    theta = np.linspace(0.1, 5, 50)
    posterior, times = gamma.pdf(theta, 2 + 3, scale=1 / (1 + 4.5)), theta * np.exp(-theta)
    ratio = times * theta**3 * np.exp(-4.5 * theta) / posterior
    return Finding(
        Basis.DEFINITION,
        "Bayes' rule; the library's posteriors are its closed forms",
        {"prior times likelihood is in proportion to the posterior": float(np.ptp(np.log(ratio))) < 1e-9},
    )


def privacy() -> Finding:
    """Check that the hockey-stick divergence is the definition, event by event."""
    generator = np.random.default_rng(1)
    right = []
    for p, q in generator.dirichlet(np.ones(5), size=(40, 2)):
        events = [np.array(chosen) for chosen in product((0, 1), repeat=5)]
        delta = max(float(event @ p - exp(0.3) * (event @ q)) for event in events)
        right.append(near(hockey_stick(p, q, 0.3), delta, 1e-9))
    return Finding(
        Basis.DEFINITION,
        "a definition; the library's delta is the largest over all events",
        {"the same delta as over all events of 40 pairs of laws": all(right)},
    )


def metric_privacy() -> Finding:
    """Check the definition at every distance for geometric noise."""
    mechanism = dc.GeometricHistogram(dc.Categories("x", levels=("a", "b"), outside="a"), size=6, epsilon="0.5")
    promise, outputs = MetricGuarantee.of_records(mechanism.guarantee), mechanism.outputs_near(30)
    laws = [np.exp(mechanism.log_prob(outputs, np.array([k, 6 - k]))) for k in range(7)]
    holds = all(promise.holds(laws[a], laws[b], abs(a - b)) for a in range(7) for b in range(7))
    return Finding(
        Basis.DEFINITION,
        "a definition; `MetricGuarantee.holds` checks it",
        {"geometric noise keeps it at every distance": holds},
    )


def remark_1() -> Finding:
    """Check the statement where epsilon or delta is zero, and where both are above."""
    found = rows("002-definition-2")
    pure = all(each["pure_epsilon"] <= each["pure_allowed"] + 1e-12 for each in found)
    flat = all(each["variation"] <= each["variation_allowed"] + 1e-12 for each in found)
    return Finding(
        Basis.PROOF,
        "chains of neighbours: pure losses add along a path, and so do total variations",
        {
            "epsilon alone carries over to every distance": pure,
            "delta alone carries over to every distance": flat,
            "both together do not, as the footnote says": definition.holds_in_two_steps() == (True, True, False),
        },
    )


def assumption_1() -> Finding:
    """Compute the slope of a coin for parameters near zero."""
    slopes = [abs(log(theta / (1 - theta))) for theta in (0.1, 1e-3, 1e-9)]
    return Finding(
        Basis.DEFINITION,
        "a definition, with the remark that coins have no constant",
        {"the slope of a coin grows without bound": slopes == sorted(slopes) and slopes[-1] > 20},
    )


def assumption_2() -> Finding:
    """Look at a family with one constant, for L below it."""
    below = row("002-lemma-4", reading=lemma_4.CENTRE, L=0.4)
    above = [each for each in rows("002-lemma-4") if each["reading"] == lemma_4.CENTRE and each["L"] >= 0.5]
    return Finding(
        Basis.COMPUTED,
        "the Laplace law with scale 2, all of whose parameters have the constant 1/2",
        {"assumption 1 implies it for every L": below["prior_mass"] >= below["needed"]},
        {"it does from some L on": all(each["prior_mass"] >= each["needed"] for each in above)},
        {"needed": below["needed"], "mass": below["prior_mass"]},
    )


def log_ratio() -> Finding:
    """Check the axioms on a few numbers, zero among them."""

    def distance(a: float, b: float) -> float:
        return 0.0 if a == b else inf if 0 in (a, b) else abs(log(a / b))

    numbers = (0.0, 1e-6, 0.3, 1.0, 40.0)
    triples = product(numbers, repeat=3)
    return Finding(
        Basis.PROOF,
        "|ln a - ln b| on the logarithms; zero is infinitely far from the rest",
        {"triangles": all(distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12 for a, b, c in triples)},
    )


def lemma_1() -> Finding:
    """Compare all pairs of sequences with n L."""
    found = rows("002-lemma-1")
    return Finding(
        Basis.PROOF,
        "logarithms of products add, and so do the distances",
        {"no slope above n L": all(each["largest_slope"] <= each["lemma"] * (1 + 1e-12) for each in found)},
        numbers={"slope": found[-1]["largest_slope"], "lemma": found[-1]["lemma"], "records": found[-1]["records"]},
    )


def divergence() -> Finding:
    """Compare the closed form with the integral."""
    theta = np.linspace(1e-4, 1 - 1e-4, 200_001)
    logs = [np.log(theta) * (a - 1) + np.log1p(-theta) * (b - 1) for a, b in ((3.0, 5.0), (4.0, 4.0))]
    laws = [np.exp(each) / np.trapezoid(np.exp(each), theta) for each in logs]
    integral = float(np.trapezoid(laws[0] * np.log(laws[0] / laws[1]), theta))
    closed = kullback_leibler(Dirichlet((3.0, 5.0)), Dirichlet((4.0, 4.0)))
    return Finding(
        Basis.DEFINITION, "a definition; the library has closed forms", {"closed form": near(closed, integral, 1e-5)}
    )


def theorem_1i() -> Finding:
    """Compare exact divergences of a coin with 2 L."""
    found = rows("002-theorem-1-lipschitz")
    return Finding(
        Basis.PROOF,
        "the paper's: the likelihood and the marginal density each change by a factor of at most e^(L rho)",
        {"no divergence above 2 L": all(each["divergence"] <= each["theorem"] for each in found)},
        numbers={"most": max(each["divergence"] for each in found), "stated": found[0]["theorem"]},
    )


def theorem_1ii() -> Finding:
    """Compare the divergence of waiting times with kappa rho / c."""
    at = row("002-theorem-1-stochastic", records=10)
    return Finding(
        Basis.COMPUTED,
        "ten waiting times of 0, against one of 100, theta ~ Exp(1); the divergence in closed form",
        {"at most kappa rho / c": at["divergence"] <= at["theorem"]},
        numbers={"divergence": at["divergence"], "stated": at["theorem"], "prior": at["mean_under_the_prior"]},
    )


def theorem_2i() -> Finding:
    """Compare the exact epsilon of a draw with 2 L."""
    found = rows("002-theorem-2-lipschitz")
    return Finding(
        Basis.PROOF,
        "the paper's: the likelihood and the marginal density each change by a factor of at most e^(L rho)",
        {"no exact epsilon above 2 L": all(each["exact_epsilon"] <= each["theorem"] for each in found)},
    )


def theorem_2ii() -> Finding:
    """Compare the total variation of waiting times with the stated bound."""
    at = row("002-theorem-2-stochastic", records=1000)
    return Finding(
        Basis.COMPUTED,
        "a thousand waiting times of 0, against one of 0.1; the total variation in closed form",
        {"at most sqrt(kappa rho / 2 c)": at["variation"] <= at["theorem"]},
        numbers={"variation": at["variation"], "stated": at["theorem"]},
    )


def algorithm_1() -> Finding:
    """Add up what answers without end cost, and ask a session until it is refused."""
    found = rows("002-algorithm-1")
    exact = [each["exact_epsilon"] for each in found]
    words = [each["added_epsilon"] for each in found]
    return Finding(
        Basis.COMPUTED,
        "exact privacy of 1, 10 and 100 fresh draws of a mean of 399 records",
        {"what is private for one draw is private for all answers": max(exact) <= exact[0] * (1 + 1e-9)},
        {
            "answers together cost no more than the sum of draws, which a ledger ends": all(
                a <= b + 1e-9 for a, b in zip(exact, words, strict=True)
            )
        },
        {"one": exact[0], "hundred": exact[-1]},
    )


def all_queries() -> Finding:
    """Coarsen pairs of laws by functions of the draw."""
    generator = np.random.default_rng(2)
    holds = []
    for p, q in generator.dirichlet(np.ones(6), size=(60, 2)):
        parts = generator.integers(0, 3, 6)
        one, two = (np.bincount(parts, law, 3) for law in (p, q))
        holds.append(hockey_stick(one, two, 0.2) <= hockey_stick(p, q, 0.2) + 1e-12)
    return Finding(
        Basis.PROOF,
        "an event about the answer is an event about the draw",
        {"no function of a draw tells more, in 60 pairs of laws": all(holds)},
    )


def conditional_expectation() -> Finding:
    """Say that an example of a query has nothing to be computed."""
    return Finding(Basis.DEFINITION, "an example of a query, which is one of the library's declared kinds")


def prior_concentration() -> Finding:
    """Follow the exact delta of a draw, and the weight of the data, as the prior gets more concentrated."""
    priors = (1.0, 5.0, 20.0, 100.0)
    deltas = [posterior_draw_delta(1.0, a, a + 99) for a in priors]
    weights = [100 / (100 + 2 * a) for a in priors]
    return Finding(
        Basis.PROOF,
        "for coins: D falls in both parameters of the posterior, and the data have the weight n / (n + 2 a) in its "
        "mean",
        {
            "delta falls as the prior concentrates": deltas == sorted(deltas, reverse=True),
            "so does the weight of the data": weights == sorted(weights, reverse=True),
        },
        numbers={"first": deltas[0], "last": deltas[-1], "weight": weights[-1]},
    )


def guide_to_access() -> Finding:
    """Compare the draws that theorem 3 calls enough with those that any test needs."""
    at = row("002-theorem-3", records=1_000_000)
    needed = at["draws_needed_at_least"]
    return Finding(
        Basis.COMPUTED,
        "a million tosses, one replaced, probabilities of at least 0.2",
        {"the bound on the adversary's effort is a bound": needed <= 100 or at["enough_by_the_theorem"] > 1},
        {"a lower bound on the number of draws is": needed > 100 and neighbour_divergence(500_001, 500_000) > 0},
        {"needed": needed},
    )


def marginal_densities() -> Finding:
    """Compare marginal densities of neighbours with e^L."""
    gaps = [float(np.abs(np.diff(log_masses(size))).max()) for size in (1, 5, 50)]
    return Finding(
        Basis.PROOF,
        "an average of likelihoods, each of which changes by that factor at most",
        {"no ratio above e^L for 1, 5 and 50 tosses": max(gaps) <= odds()},
    )


def mean_under_prior() -> Finding:
    """Compare the mean of the log ratio under the posterior with that under the prior."""
    theta = np.linspace(1e-6, 60, 400_001)
    log_ratio_ = gamma.logpdf(theta, 3) - gamma.logpdf(theta, 3, scale=1 / 3)
    posterior, prior = (float(np.trapezoid(law * log_ratio_, theta)) for law in (gamma.pdf(theta, 3), np.exp(-theta)))
    exact = waiting.divergence(2, 2, 1)
    return Finding(
        Basis.COMPUTED,
        "two waiting times of 0, against one of 2, integrated",
        {"the mean under the prior is the divergence": near(prior, exact, 1e-3)},
        {"the mean under the posterior is": near(posterior, exact, 1e-3)},
        {"posterior": waiting.divergence(10, 100, 1), "prior": waiting.prior_average(10, 100, 1)},
    )
