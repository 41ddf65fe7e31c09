"""Lemma 3: from the stochastic smoothness of every variable to that of the network."""

from math import exp, log

from discreet.draws._lipschitz import network_rate
from discreet_papers.papers import PAPER_004
from discreet_papers.reproduction import Outcome, Reproduction, Row

NODES, SMOOTHNESS = (2, 3, 10), (2.0, 4.0, 8.0)


def outside(nodes: int, smoothness: float) -> float:
    """Return P(some of so many independent Exp(1) numbers exceeds L): each variable's constant is such a number."""
    return 1 - (1 - exp(-smoothness)) ** nodes


def run(quick: bool) -> Outcome:
    """Compare what is outside with both constants, at L = L0 where the lemma is tightest, if it applies."""
    rows: list[Row] = []
    for nodes in NODES:
        for smoothness in SMOOTHNESS:
            rate = network_rate([1.0] * nodes, smoothness)
            row: Row = {"variables": nodes, "smoothness": smoothness, "outside": outside(nodes, smoothness)}
            row |= {"by_the_statement": exp(-rate * smoothness) if rate > 0 else 1.0}
            rows.append(row | {"by_the_proof": exp(-log(nodes) * smoothness)})
    at = next(row for row in rows if (row["variables"], row["smoothness"]) == (3, 2.0))
    verdict = (
        f"Three variables, L = 2: outside lies {at['outside']:.3f}. The statement allows {at['by_the_statement']:.3f}, "
        f"the last line of its proof {at['by_the_proof']:.3f}."
    )
    return Outcome(rows, verdict)


REPRODUCTION = Reproduction(
    name="004-lemma-3",
    title="Lemma 3: stochastically smooth variables make such a network",
    paper=PAPER_004,
    setting="The constants of the variables are independent and exponential with rate 1, so that c = 1 exactly.",
    says="If the prior gives at least 1 - e^(-c_i L) to the parameters for which variable i is L-smooth, then it "
    "gives at least 1 - e^(-c' L) to those of the network, c' = min c_i - ln|I| / L0, if |I| <= e^(L0 min c).",
    finds="The statement is right, by the union bound. The last line of its proof puts c' = ln|I| min c_i instead, "
    "which is wrong from three variables on. As in lemma 2, smoothness must compare families.",
    run=run,
)
