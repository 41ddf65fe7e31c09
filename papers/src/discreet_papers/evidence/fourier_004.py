"""Evidence for what Zhang, Rubinstein and Dimitrakakis (2016) claim about Fourier noise and smooth networks."""

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
from scipy.special import betainc, expit

import discreet as dc
from discreet.draws import bernoulli_rate, categories_lipschitz
from discreet.draws._lipschitz import network_rate
from discreet.networks import contrast_basis
from discreet_papers import as_published
from discreet_papers.claims.finding import Basis, Finding
from discreet_papers.evidence.laplace_004 import accuracies_of_figure_1
from discreet_papers.evidence.rows import near, row, rows
from discreet_papers.fourier_bounds_004 import (
    kept_run_epsilon,
    needed_t_of_naive_bayes,
    published_stealth,
    published_table_error,
    stealth_bound,
    stealth_range_holds,
    table_error,
)
from discreet_papers.networks_004 import NETWORKS, naive_bayes, yes_no
from discreet_papers.paper_004 import remark_1, theorem_3
from discreet_papers.paper_004.lemma_3 import outside


def marginal() -> Finding:
    """Sum cells by the product of eta and j as a number, and variable by variable."""
    table, chosen = np.random.default_rng(1).integers(0, 9, (2, 2, 2)), (1, 0, 1)
    by_number, by_cell = np.zeros(4, dtype=int), np.zeros((2, 2), dtype=int)
    for cell in product((0, 1), repeat=3):
        kept = tuple(a * b for a, b in zip(cell, chosen, strict=True))
        by_number[sum(kept)] += table[cell]
        by_cell[kept[0], kept[2]] += table[cell]
    truth = table.sum(axis=1)
    return Finding(
        Basis.COMPUTED,
        "a table of three yes/no variables, a marginal of two of them",
        {"with <eta, j> a number": bool(np.array_equal(np.sort(by_number), np.sort(truth.ravel())))},
        {"with eta and j multiplied variable by variable": bool(np.array_equal(by_cell, truth))},
    )


def theorem_2() -> Finding:
    """Rebuild tables of families from the coefficients inside them alone."""
    network = yes_no("a -> c", "b -> c", "c -> d")
    records = np.random.default_rng(2).integers(0, 2, (40, 4))
    names = [variable.name for variable in network.variables]

    def counted(family: tuple[str, ...]) -> np.ndarray:
        table = np.zeros(network.shape(family), dtype=np.int64)
        np.add.at(table, tuple(records[:, names.index(name)] for name in family), 1)
        return table

    basis = contrast_basis(network)
    coefficients = basis.contrasts(np.concatenate([counted(family).ravel() for family in network.maximal_families]))
    right = []
    for family in network.families:
        used = [basis.indices[block] for block in basis.within(family)]
        only = np.zeros_like(coefficients)
        only[used] = coefficients[used]
        right.append(bool(np.array_equal(basis.table(family, only, 40), counted(family))))
    return Finding(
        Basis.PROOF,
        "the projection of a basis vector outside j is zero",
        {"all tables of a network from their own coefficients": all(right)},
    )


def corollary_2() -> Finding:
    """Compare the exact change of one record with the counted one."""
    found = rows("004-algorithm-2")
    return Finding(
        Basis.PROOF,
        "each of |N| unnormalised coefficients moves by at most two, and the Laplace mechanism",
        {
            "one record moves no more than counted": all(
                e["largest_distance"] <= e["published_distance"] for e in found
            ),
            "the true epsilon is at most the stated one": all(e["true_epsilon_at_1"] <= 1 for e in found),
        },
        numbers={"true": max(e["true_epsilon_at_1"] for e in found)},
    )


def number_of_coefficients() -> Finding:
    """Count coefficients in several networks."""
    nets = (*NETWORKS.values(), naive_bayes(16))
    holds = all(
        as_published.FourierUpdates(net, 50, 1).space.length
        <= len(net.variables) * 2 ** (1 + max(map(len, net.parents)))
        for net in nets
    )
    return Finding(Basis.PROOF, "each family has 2^(1 + parents) subsets", {f"in {len(nets)} networks": holds})


def comparison_of_noise() -> Finding:
    """Compare variances of released cells in a dense graph."""
    found = {name: row("004-remark-1", network=name) for name in ("complete, 5 variables", "8 independent")}
    dense, loose = found.values()
    return Finding(
        Basis.COMPUTED,
        "mean variance of the released cells; the paper compares normalised coefficients with counts",
        {"smaller in a complete graph of five variables": dense["algorithm_2"] <= dense["algorithm_1"]},
        numbers={"two": dense["algorithm_2"], "one": dense["algorithm_1"], "loose": loose["algorithm_2"]},
    )


def algorithm_2() -> Finding:
    """Check that tables made of noisy coefficients agree with each other."""
    network = yes_no("a -> b", "b -> c")
    mechanism = as_published.FourierUpdates(network, 20, 1)
    drawn = mechanism.sample(np.tile([10, 2, 3, 5, 8, 4, 6, 2], (20, 1)), dc.SeededBits(4))
    tables = list(mechanism.tables(drawn).values())
    first, second = (table.reshape(20, 2, 2) for table in tables if table[0].size == 4)
    agree = np.abs(first.sum(axis=1) - second.sum(axis=2)).max()
    return Finding(
        Basis.PROOF,
        "tables are linear in coefficients that they share",
        {"two noisy tables agree on the variable they share": float(agree) < 1e-9},
    )


def linear_time() -> Finding:
    """Count operations of building the tables of complete graphs by fast transforms, against |N|."""
    ratios = []
    for k in (4, 8, 16, 24):
        work = sum((parents + 1) * 2 ** (parents + 1) for parents in range(k))
        ratios.append(work / 2**k)
    return Finding(
        Basis.COMPUTED,
        "complete graphs of 4 to 24 variables: |N| = 2^k, a table of s variables takes s 2^s additions",
        {"all tables take a number of steps in proportion to |N|": max(ratios) <= 2 * min(ratios)},
        {
            "at most in proportion to |N| ln|N|, once the coefficients are counted": all(
                ratio <= 2 * k for ratio, k in zip(ratios, (4, 8, 16, 24), strict=True)
            )
        },
        {"first": ratios[0], "last": ratios[-1]},
    )


def corollary_3() -> Finding:
    """Draw the noise of 16 features, and look at all cells of the whole table."""
    mechanism = as_published.FourierUpdates(naive_bayes(16), 50, 1)
    needed = needed_t_of_naive_bayes(mechanism, mechanism.noise.sample(20_000, dc.SeededBits(3)))
    share = float((needed <= 0.2).mean())
    above = all(
        stealth_range_holds(n, t) and stealth_bound(n, t) >= published_stealth(t)
        for n in (2, 3, 4, 10, 34, 200, 5000)
        for t in (1.0, 1.5, 3.0, 10.0)
    )
    return Finding(
        Basis.COMPUTED,
        "20,000 draws for 16 features at t = 0.2, within 0.002; a Gamma tail for t >= 1",
        {"at t = 0.2 with the stated chance": share >= published_stealth(0.2) - 0.002},
        {"for t >= 1": above},
        {"share": share, "stated": published_stealth(0.2)},
    )


def running_again() -> Finding:
    """Compute what a run that is shown because it succeeded costs."""
    cost = kept_run_epsilon(1.0)
    return Finding(
        Basis.COMPUTED,
        "one noisy count that is shown if it is not negative, epsilon = 1",
        {"a run that is shown because it succeeded costs epsilon": cost <= 1},
        {"it costs 2 epsilon at most": all(kept_run_epsilon(e) <= 2 * e for e in (0.1, 0.5, 1.0, 2.0))},
        {"cost": cost},
    )


def table_errors() -> Finding:
    """Compare drawn errors with the bound and with a Gamma quantile."""
    drawn = theorem_3.errors(naive_bayes(16), ("y", "x1"), 20_000)
    return Finding(
        Basis.PROOF,
        "no noise is large, and 2^(parents + 1) of them make a table",
        {"exceeded in 5 of 100 runs at most": float((drawn > published_table_error(34, 1, 1.0, 0.05)).mean()) <= 0.05},
        numbers={
            **{"gamma": table_error(34, 1, 1.0, 0.05), "printed": published_table_error(34, 1, 1.0, 0.05)},
            "drawn": float(np.quantile(drawn, 0.95)),
        },
    )


def assumption_1() -> Finding:
    """Look at the slopes of exponential laws, with and without a bound on the rate, and of coins."""
    rates = (0.1, 1.0, 100.0)
    slopes = [abs((log(rate) - rate * 2.0) - (log(rate) - rate * 1.0)) for rate in rates]
    coins = [abs(log(theta / (1 - theta))) for theta in (0.1, 1e-3, 1e-9)]
    return Finding(
        Basis.COMPUTED,
        "the slope of an exponential law is its rate",
        {"one constant for all exponential laws": max(slopes) <= 2 * min(slopes), "none for all coins": coins[-1] > 20},
        {
            "one constant for rates up to a bound": all(near(a, b) for a, b in zip(slopes, rates, strict=True)),
            "none for all coins": coins[-1] > 20,
        },
        {"slope": slopes[-1]},
    )


def lemma_2() -> Finding:
    """Compare records that differ in the class alone, by variables and by families."""
    found = rows("004-lemma-2")
    return Finding(
        Basis.COMPUTED,
        "naive Bayes with three features, all pairs of records",
        {
            "with distances between variables": all(
                e["only_the_class_differs"] <= e["printed_distance_times_constant"] for e in found
            )
        },
        {
            "with distances between families": all(
                e["largest_over_families"] <= e["constant"] * (1 + 1e-12) for e in found
            )
        },
    )


def lemma_2_proof() -> Finding:
    """Check that logarithms of factors add, with distances between families."""
    found = rows("004-lemma-2")
    return Finding(
        Basis.PROOF,
        "the logarithm of a product is a sum, and each term is bounded by its own constant",
        {
            "with distances between families": all(
                e["largest_over_families"] <= e["constant"] * (1 + 1e-12) for e in found
            )
        },
    )


def assumption_2() -> Finding:
    """Compare the mass of rough coins with e^(-c L)."""
    least = categories_lipschitz(2, Fraction(1, 5)).constant
    coins = all(
        2 * float(betainc(prior, prior, expit(-smooth))) <= exp(-bernoulli_rate(prior).rate * smooth) * (1 + 1e-9)
        for prior in (1.0, 2.0, 10.0)
        for smooth in np.linspace(0.01, 20, 40)
    )
    return Finding(
        Basis.DEFINITION,
        "a definition; with L0 it follows from assumption 1, as all of the prior lies where L >= L0",
        {
            "coins with Beta(1, 1), (2, 2) and (10, 10) satisfy it": coins,
            "all coins with entries of at least 0.2 are L0-smooth": least > 0,
        },
    )


def lemma_3() -> Finding:
    """Compare the mass outside with the stated constant."""
    holds = all(
        outside(nodes, smooth * beyond) <= exp(-network_rate([1.0] * nodes, smooth) * smooth * beyond)
        for nodes, smooth in product((2, 3, 10), (4.0, 8.0))
        for beyond in (1.0, 1.5, 3.0)
    )
    return Finding(Basis.PROOF, "a union bound over the nodes", {"for 2, 3 and 10 variables": holds})


def lemma_3_proof() -> Finding:
    """Compare the mass outside with the constant at the end of the proof."""
    found, allowed = outside(3, 2.0), exp(-2 * log(3))
    return Finding(
        Basis.COMPUTED,
        "three variables with c = 1 and L = 2",
        {"the mass outside is at most e^(-L ln|I| min c)": found <= allowed},
        numbers={"found": found, "allowed": allowed},
    )


def sizes() -> Finding:
    """Count variables, rows and coefficients of naive Bayes."""
    network = naive_bayes(16)
    m, length = (
        sum(2 ** len(above) for above in network.parents),
        as_published.FourierUpdates(network, 50, 1).space.length,
    )
    return Finding(
        Basis.COMPUTED,
        "naive Bayes with 16 features",
        {"|I| = d + 1": len(network.variables) == 17, "|N| = 2 d + 2": length == 34},
        numbers={"variables": len(network.variables), "coefficients": length, "rows": m},
    )


def noise_of_both() -> Finding:
    """Compare standard deviations of cells of naive Bayes."""
    found = {key: by_name["x1"] ** 0.5 for key, by_name in remark_1.columns(naive_bayes(16)).items()}
    return Finding(
        Basis.COMPUTED,
        "standard deviations of a cell of two variables, 16 features, epsilon = 1; neither depends on the records",
        {"similar in scale": near(found["algorithm_1"], found["algorithm_2"], 0.05)},
        numbers={"one": found["algorithm_1"], "two": found["algorithm_2"]},
    )


def figure_1() -> Finding:
    """Look at the shape on records of our own."""
    found = accuracies_of_figure_1()
    rises = found["fourier_1"] < found["fourier_3"] < found["fourier_10"] <= found["plain_10"] + 0.01
    return Finding(
        Basis.NOT_GIVEN,
        "the records, t and the plotted values are not given",
        {"on records of our own accuracy rises with epsilon towards that without privacy": rises},
        numbers={"fourier": found["fourier_1"], "counts": found["counts_1"]},
    )
