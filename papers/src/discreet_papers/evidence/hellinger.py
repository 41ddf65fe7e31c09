"""What the draft, the poster and the notes claim alike about Hellinger mechanisms: one piece of evidence for all."""

from functools import cache
from math import comb

import numpy as np
from flint import arb

import discreet as dc
from discreet._core.arrays import Floats
from discreet.choices._hellinger_sensitivity import (
    global_sensitivity,
    local_sensitivity,
    published_gamma,
    smooth_sensitivity,
)
from discreet.choices._posterior_distances import Tables
from discreet.mathematics import hellinger_rows
from discreet.privacy import compositions
from discreet_papers.as_published import PublishedHellingerGlobal, PublishedHellingerSmooth
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.rows import near, row
from discreet_papers.paper_003 import exponential_law, model_of, smooth_of

PRIORS = ((1.0, 1.0), (7.0, 4.0), (0.01, 3.0), (1.0, 1.0, 1.0), (7.0, 4.0, 5.0), (0.2, 5.0, 1.0, 2.5))
SEARCHED = (
    *(((1.0, 1.0), 20, "1", "1e-8"), ((1.0, 1.0), 100, "0.1", "0.05"), ((7.0, 4.0), 50, "2", "5e-4")),
    *(((0.5, 0.5), 60, "0.8", "1e-6"), ((1.0, 1.0, 1.0), 12, "1", "1e-8"), ((20.0, 20.0, 2000.0), 10, "5", "0.05")),
)
"""Prior, size, epsilon and delta of the settings in which all neighbours are compared."""


class CountedHellingerSmooth(PublishedHellingerSmooth):
    """The papers' mechanism with the number of candidates |R| in gamma, where they write n + 1: right for any cells."""

    def gamma(self) -> arb:
        """Return an enclosure of ln(1 - epsilon / (2 ln(delta / (2 |R|))))."""
        return published_gamma(self.epsilon, self.delta, self.candidates)


@cache
def by_definition(prior: tuple[float, ...], size: int) -> tuple[Floats, Floats, Floats]:
    """Return all tables, their distances in records, and for each LS: the largest change of H over neighbours and r."""
    tables = np.array(list(compositions(size, len(prior))))
    steps = np.maximum(tables[:, None] - tables[None], 0).sum(axis=-1)
    distances = hellinger_rows(np.array(prior) + tables[:, None], np.array(prior) + tables[None])
    gaps = np.abs(distances[:, None] - distances[None]).max(axis=-1)
    return tables, steps, np.where(steps == 1, gaps, 0).max(axis=1)


def candidates() -> Finding:
    """Count candidates, and compare the law with the exponential of minus the distance."""
    sizes = {m: len(Tables(np.ones(m), 7).all) for m in (2, 3, 4)}
    law = np.exp(
        PublishedHellingerGlobal(model_of((1, 1, 1)), 7, 1).log_prob(Tables(np.ones(3), 7).all, np.array([2, 3, 2]))
    )
    return Finding(
        Basis.DEFINITION,
        "a definition; the library's candidates and probabilities are those defined",
        {
            "C(n + m - 1, m - 1) candidates": all(count == comb(7 + m - 1, m - 1) for m, count in sizes.items()),
            "probabilities sum to one": near(float(law.sum()), 1),
        },
    )


def global_is_largest() -> Finding:
    """Compare the closed form of the global sensitivity with the definition."""
    pairs = [
        (global_sensitivity(np.array(prior), size), float(by_definition(prior, size)[2].max()))
        for prior in PRIORS
        for size in (1, 2, 5)
    ]
    return Finding(
        Basis.PROOF,
        "H is a metric, so the largest change of the score is the distance of the neighbours; ln r is concave",
        {"the closed form is the search of the definition": all(near(one, two) for one, two in pairs)},
        numbers={"at_100": global_sensitivity(np.ones(2), 100)},
    )


def global_is_private() -> Finding:
    """Compare all neighbours under the mechanism with global sensitivity."""
    losses = {
        (prior, size): float(PublishedHellingerGlobal(model_of(prior), size, "0.8").neighbours().losses.max())
        for prior, size in (((1.0, 1.0), 100), ((7.0, 4.0), 30), ((1.0, 1.0, 1.0), 12))
    }
    return Finding(
        Basis.PROOF,
        "McSherry and Talwar's: score and normaliser each change by a factor of at most e^(epsilon/2)",
        {"no loss above epsilon among all neighbours": max(losses.values()) <= 0.8},
        numbers={"loss": losses[(1.0, 1.0), 100]},
    )


def local_is_largest() -> Finding:
    """Compare the closed form of the local sensitivity with the definition."""
    right = [
        near(local_sensitivity(np.array(prior), table), float(local))
        for prior in PRIORS
        for table, local in zip(by_definition(prior, 5)[0], by_definition(prior, 5)[2], strict=True)
    ]
    return Finding(
        Basis.PROOF,
        "the triangle inequality, attained at r = BI(x), and concavity of ln r",
        {"the closed form is the search of the definition": all(right)},
    )


def smooth_is_largest() -> Finding:
    """Compare draining with the definition of the smooth sensitivity."""
    right = []
    for prior in PRIORS:
        tables, steps, local = by_definition(prior, 5)
        for rate in (0.01, 0.2, 1.0):
            found = [smooth_sensitivity(np.array(prior), table, rate) for table in tables]
            right += [
                near(one, float((local * np.exp(-rate * far)).max())) for one, far in zip(found, steps, strict=True)
            ]
    return Finding(
        Basis.DEFINITION,
        "a definition; draining one cell after the other finds the maximum",
        {"draining is the search of the definition": all(right)},
    )


def local_is_not_private() -> Finding:
    """Compare all neighbours under the mechanism with local sensitivity, for several priors."""
    ratio = {
        prior: float(row("000-local-sensitivity", prior=str(prior))["ratio"])
        for prior in ((1.0, 1.0), (1e-4, 1.0), (20.0,) * 3)
    }
    coin, tiny, die = ratio.values()
    return Finding(
        Basis.COMPUTED,
        "all neighbours and candidates compared, for the prior of the experiments and for others",
        {"the loss exceeds epsilon under beta(1, 1)": coin > 1},
        {"it does under beta(0.0001, 1)": tiny > 1, "it does under DL(20, 20, 20)": die > 1},
        {"coin": coin, "tiny": tiny, "die": die},
    )


def mechanism_is_defined() -> Finding:
    """Compare the mechanism's law with the printed expression."""
    mechanism = PublishedHellingerSmooth(model_of((1, 1)), 8, 1, "1e-8")
    law = np.exp(mechanism.log_prob(mechanism.tables.all, np.array([4, 4])))
    plain = exponential_law((1, 1), (4, 4), 0.5 / smooth_of((1, 1), (4, 4), "1", "1e-8")).chances
    three = [len(Tables(np.ones(m), 8).all) for m in (2, 3)]
    return Finding(
        Basis.DEFINITION,
        "a definition; the library draws from this law",
        {"the law is the printed expression": bool(np.allclose(np.sort(law), np.sort(plain), rtol=1e-9))},
        numbers={"candidates_2": three[0], "candidates_3": three[1]},
    )


def smooth_is_private() -> Finding:
    """Compare all neighbours under the published smooth mechanism in several settings."""
    broken, proved = [], []
    for prior, size, epsilon, delta in SEARCHED:
        mechanism = CountedHellingerSmooth(model_of(prior), size, epsilon, delta)
        found = mechanism.neighbours((float(epsilon), float(mechanism.proved_epsilon())))
        broken.append(found.delta(0) > float(delta))
        proved.append(found.delta(1) <= float(delta) and mechanism.proved_epsilon() <= 1.5 * float(epsilon))
    large = PublishedHellingerSmooth(model_of((1, 1)), 400, 1, "1e-8").neighbours().losses.max()
    return Finding(
        Basis.SEARCHED,
        f"all neighbours compared in {len(SEARCHED)} settings; the printed proof does not hold, and we have none",
        {"(epsilon, delta) holds in every setting": not any(broken), "(1.5 epsilon, delta) holds too": all(proved)},
        numbers={"loss_400": float(large), "settings": len(SEARCHED)},
    )


def smooth_beats_global() -> Finding:
    """Compare E H of the smooth and the global mechanism at every count."""
    better = []
    for size in (10, 40, 100):
        largest = global_sensitivity(np.ones(2), size)
        for ones in range(size + 1):
            counts = (ones, size - ones)
            smooth = smooth_of((1, 1), counts, "1", "1e-8")
            means = [exponential_law((1, 1), counts, 0.5 / each).mean for each in (smooth, largest)]
            better.append(smooth <= largest * (1 + 1e-12) and means[0] <= means[1] * (1 + 1e-12))
    middle = [
        exponential_law((1, 1), (50, 50), 0.5 / each).mean
        for each in (smooth_of((1, 1), (50, 50), "1", "1e-8"), global_sensitivity(np.ones(2), 100))
    ]
    return Finding(
        Basis.PROOF,
        "S <= GS, and the mean distance falls with the exponent: its derivative is minus a variance",
        {"smaller at every count of 10, 40 and 100 records": all(better)},
        numbers={"smooth": middle[0], "global_": middle[1]},
    )


def dirichlet_is_conjugate() -> Finding:
    """Compare prior times likelihood with the posterior at many parameters."""
    generator = np.random.default_rng(3)
    prior, counts, theta = np.array([2.0, 1.0, 3.5]), np.array([4, 0, 2]), generator.dirichlet(np.ones(3), 50)
    gaps = ((prior - 1) * np.log(theta) + counts * np.log(theta) - (prior + counts - 1) * np.log(theta)).sum(axis=1)
    model = dc.Categories("x", levels=("a", "b", "c"), prior=tuple(prior), outside="a")
    return Finding(
        Basis.PROOF,
        "Bayes' rule: exponents add",
        {
            "prior times likelihood is in proportion to the posterior": float(np.ptp(gaps)) < 1e-9,
            "the library adds counts to the prior": np.allclose(np.array(model.concentration), prior),
        },
    )
