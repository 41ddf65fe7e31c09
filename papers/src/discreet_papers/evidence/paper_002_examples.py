"""Evidence for what Dimitrakakis and others (2014) claim about adversaries and families, and for their proofs."""

from math import exp, log, sqrt

import numpy as np

from discreet.draws import bernoulli_rate, largest_divergence
from discreet.draws._lipschitz import KAPPA, OMEGA, divergence_of_range
from discreet.draws._privacy_curves import neighbour_divergence
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.distinguish import draws_needed
from discreet_papers.evidence.rows import near, row, rows
from discreet_papers.paper_002 import lemma_2, lemma_4, lemma_5
from discreet_papers.paper_002 import theorem_1_stochastic as waiting
from discreet_papers.paper_002.constants import series_bound
from discreet_papers.paper_002.lemma_3 import slope


def empirical_law() -> Finding:
    """Enumerate the law of the distance for small partitions."""
    found = rows("002-lemma-2")
    inside = [each for each in found if each["allowed"]]
    return Finding(
        Basis.PROOF,
        "the inequality of Weissman and others, with at most log2(1 / sqrt(delta)) parts",
        {"no chance above delta where the lemma applies": all(e["chance_beyond"] <= e["delta"] for e in inside)},
        numbers={"settings": len(inside)},
    )


def lower_bounds() -> Finding:
    """Say that the report is not part of the paper."""
    return Finding(Basis.NOT_GIVEN, "the details are in a technical report")


def equation_13() -> Finding:
    """Compute the best test at a distance that the theorem calls enough."""
    at = row("002-theorem-3", records=1_000_000)
    return Finding(
        Basis.COMPUTED,
        "a million tosses with probabilities of at least 0.2, one replaced, 100 draws, delta = 0.05",
        {
            "the distance is enough by the theorem": at["distance"] >= at["enough_by_the_theorem"],
            "the best test is right with probability 0.95": at["best_test_at_most"] >= 0.95,
        },
        numbers={"enough": at["enough_by_the_theorem"], "right": at["best_test_at_most"]},
    )


def equation_14() -> Finding:
    """Compute the same under a prior Beta(1, 1)."""
    enough = 3 * bernoulli_rate(1).rate * log(20) / (2 * KAPPA * 100)
    right = 0.5 + sqrt(100 * neighbour_divergence(500_001, 500_000) / 2) / 2
    return Finding(
        Basis.COMPUTED,
        "a prior Beta(1, 1), a million tosses, one replaced, 100 draws, delta = 0.05; Pinsker bounds every test",
        {
            "the distance is enough by the theorem": enough <= 1,
            "some test is right with probability 0.95": right >= 0.95,
        },
        numbers={"enough": enough, "right": right},
    )


def effort() -> Finding:
    """Compare lower bounds on the draws for smoother likelihoods and for more concentrated priors."""
    smooth = [draws_needed(divergence_of_range(2 * constant), 0.05) for constant in (1.0, 0.5, 0.1)]
    priors = [draws_needed(largest_divergence((a, a), 100), 0.05) for a in (1.0, 5.0, 20.0, 100.0)]
    stated = [3 * c * log(20) / (2 * KAPPA * 100) for c in (0.5, 1.0)]
    return Finding(
        Basis.COMPUTED,
        "it is concluded from theorem 3; the lower bound shows it for smoother likelihoods, exact divergences for "
        "coins",
        {"it follows from equation (14)": equation_14().verdict.value == "true" and stated == sorted(stated)},
        {
            "smoother likelihoods need more draws": smooth == sorted(smooth),
            "so do concentrated priors of coins": priors == sorted(priors),
        },
    )


def exponential_families() -> Finding:
    """Evaluate the condition of a coin with a negative natural parameter."""
    theta = 0.1
    eta = log(theta / (1 - theta))
    slope_ = abs(log(theta) - log(1 - theta))
    return Finding(
        Basis.COMPUTED,
        "a coin with theta = 0.1, T(x) = x, L its own constant",
        {"|T(x) - T(y)| / rho <= L / eta": slope_ / eta >= 1},
        {"<= L / |eta|": slope_ / abs(eta) * (1 + 1e-12) >= 1},
        {"eta": eta},
    )


def exponential() -> Finding:
    """Compare the prior mass with what is asked."""
    found = rows("002-lemma-3")
    return Finding(
        Basis.PROOF,
        "the slope is theta, and P(theta > L) = e^(-lambda L)",
        {
            "the mass is what is needed": all(abs(each["prior_mass"] - each["needed"]) < 1e-12 for each in found),
            "the slope is theta": all(near(slope(each["L"]), each["L"]) for each in found),
        },
    )


def laplace() -> Finding:
    """Compare both readings with what is asked."""
    found = rows("002-lemma-4")
    enough = {
        name: all(e["prior_mass"] >= e["needed"] - 1e-15 for e in found if e["reading"] == name)
        for name in (lemma_4.CENTRE, lemma_4.INVERSE_SCALE)
    }
    return Finding(
        Basis.COMPUTED,
        "the prior is not defined; both parameters that it may be about",
        {
            "with an unknown centre": enough[lemma_4.CENTRE],
            "with an unknown inverse scale": enough[lemma_4.INVERSE_SCALE],
        },
        {"with an unknown inverse scale ~ Exp(lambda)": enough[lemma_4.INVERSE_SCALE]},
    )


def binomial() -> Finding:
    """Compute the largest c for coins, and the smallest slope of numbers of successes."""
    found = {each["prior"]: each for each in rows("002-lemma-5")}
    near_search = all(near(each["c"], each["c_by_search"], 2e-3) for each in found.values())
    least = {trials: lemma_5.least_slope(trials) for trials in (2, 5, 10)}
    return Finding(
        Basis.COMPUTED,
        "the largest c by search over L, and the smallest slope over theta",
        {"for numbers of successes in two trials some theta has a small constant": least[2] < 0.1},
        {
            "for yes/no records with c = Gamma(a + 1/2) / (sqrt(pi) Gamma(a))": near_search,
            "which grows like a root": near(found[100]["c"], found[100]["root"], 0.01),
        },
        {"least": least[2], "c_100": found[100]["c"]},
    )


def normal() -> Finding:
    """Compare the prior mass of smooth parameters with what is asked, for both priors."""
    found, at = rows("002-lemma-6"), row("002-lemma-6", L=10.0)
    return Finding(
        Basis.COMPUTED,
        "variance ~ Exp(1): the smooth parameters are those with a large variance, whose mass is e^(-lambda / 2 L)",
        {"the mass is sufficient for every L": all(e["prior_on_variance"] >= e["needed"] for e in found)},
        numbers={
            **{"mass": at["prior_on_variance"], "needed": at["needed"]},
            "precision": "holds" if all(e["prior_on_precision"] >= e["needed"] for e in found) else "fails",
        },
    )


def networks() -> Finding:
    """Compare all pairs of records with both readings of the smallest probability."""
    found = rows("002-lemma-7")
    one = found[0]
    return Finding(
        Basis.COMPUTED,
        "all pairs of records and corners of naive Bayes with entries of at least 0.2",
        {"epsilon the smallest entry": all(e["slope"] <= e["lemma_with_entries"] for e in found)},
        {
            "epsilon the smallest probability of a whole record": all(
                e["slope"] <= e["lemma_with_joint_atoms"] for e in found
            )
        },
        {"slope": one["slope"], "entry": one["lemma_with_entries"]},
    )


def sequences() -> Finding:
    """Compare the distance of sequences with n times the sum, and with the sum."""
    logs = {0: log(0.2), 1: log(0.8)}

    def distances(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[float, float]:
        apart = [logs[a] - logs[b] for a, b in zip(x, y, strict=True)]
        return abs(sum(apart)), sum(map(abs, apart))

    alike, mixed = distances((1, 1, 1), (0, 0, 0)), distances((1, 0, 1), (0, 1, 1))
    return Finding(
        Basis.COMPUTED,
        "three tosses with theta = 0.8",
        {"n times the sum": near(alike[0], 3 * alike[1])},
        {"at most the sum": alike[0] <= alike[1] + 1e-12 and mixed[0] <= mixed[1]},
    )


def pieces() -> Finding:
    """Compare the sum over pieces with both means that it is to bound."""
    stated = KAPPA * 100  # rho = 100, c = 1
    return Finding(
        Basis.COMPUTED,
        "waiting times at distance 100, c = 1, with the pieces of the printed width",
        {
            "it bounds the mean under the posterior": waiting.divergence(10, 100, 1) <= stated,
            "it bounds the mean under the prior": -waiting.prior_average(200, 100, 1) <= stated,
            "the marginal densities differ by the constant of the piece": 201 * log(101) <= OMEGA * 100,
        },
        numbers={"stated": stated, "found": waiting.divergence(10, 100, 1)},
    )


def constants() -> Finding:
    """Compare the printed digits with certified ones."""
    found = rows("002-constants")
    return Finding(
        Basis.COMPUTED,
        "ball arithmetic with 192 bits; the bound is smallest at omega",
        {
            "all printed digits": all(each["certified"].startswith(each["printed"]) for each in found),
            "the bound is least at omega": min(series_bound(OMEGA - 0.01), series_bound(OMEGA + 0.01)) > KAPPA,
        },
        numbers={"omega": found[0]["certified"][:16], "kappa": found[1]["certified"][:16]},
    )


def _pairs() -> list[tuple[float, float, float]]:
    """Return divergence, l1 distance and l1 distance on a coarser algebra, for 300 pairs of laws."""
    generator, found = np.random.default_rng(2), []
    for p, q in generator.dirichlet(np.full(5, 0.5), size=(300, 2)) + 1e-9:
        p, q = p / p.sum(), q / q.sum()
        coarse = abs(p[:2].sum() - q[:2].sum()) + abs(p[2:].sum() - q[2:].sum())
        found.append((float(p @ np.log(p / q)), float(np.abs(p - q).sum()), float(coarse)))
    return found


def pinsker() -> Finding:
    """Compare divergences with squared distances."""
    holds = all(divergence >= apart**2 / 2 - 1e-9 for divergence, apart, _ in _pairs())
    return Finding(Basis.PROOF, "Pinsker's, a textbook inequality", {"in 300 pairs of laws": holds})


def last_step() -> Finding:
    """Evaluate the last step at the largest delta for each number of parts."""
    holds = all(
        (2**parts - 2) * 4.0 ** (-1.5 * parts)
        <= exp(parts * log(2) - 1.5 * parts * log(4))
        <= 4.0**-parts * (1 + 1e-12)
        and lemma_2.most_parts(4.0**-parts) == parts
        for parts in (1, 2, 3, 6)
    )
    return Finding(
        Basis.PROOF, "the paper's, an inequality between powers of delta", {"for 1, 2, 3 and 6 parts": holds}
    )


def data_processing() -> Finding:
    """Compare distances on a coarser algebra."""
    holds = all(coarse <= apart + 1e-12 for _, apart, coarse in _pairs())
    return Finding(Basis.PROOF, "the triangle inequality inside each part", {"in 300 pairs of laws": holds})


def equation_21() -> Finding:
    """Check the inequalities, and whether the conclusion follows."""
    found = rows("002-theorem-1-lipschitz")
    inequality = (
        all(each["divergence"] <= each["theorem"] for each in found) and pinsker().printed["in 300 pairs of laws"]
    )
    concluded = all(equation_13().printed.values())
    return Finding(
        Basis.COMPUTED,
        "the inequalities bound from above how different posteriors are; theorem 3 needs a bound from below",
        {"the inequalities": inequality, "theorem 3, which is concluded from them": concluded},
        {"the inequalities, without the conclusion": inequality},
    )
