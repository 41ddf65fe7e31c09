"""Figure 3c: the probability of each posterior against its distance from the truth, in three dimensions."""

from discreet_papers.paper_001 import PAPER_001
from discreet_papers.paper_001.figure_3b import outcome
from discreet_papers.reproduction import Outcome, Reproduction

SIZE, QUICK_SIZE = 600, 300


def run(quick: bool) -> Outcome:
    """Compute exact probabilities; quick takes half as many records."""
    return outcome(3, QUICK_SIZE if quick else SIZE)


REPRODUCTION = Reproduction(
    name="001-figure-3c",
    title="Figure 3c: probabilities in three dimensions",
    paper=PAPER_001,
    setting="Prior DL(1, 1, 1), balanced data, epsilon = 1, delta = 1e-8; along the line on which one cell takes from "
    "both others. The number of records is not given, 600 were chosen.",
    says="Shows the probability of each posterior against its distance from the true one.",
    finds="As in two dimensions, but there are some n^2/2 candidates, nearly all of them far away. Each has a tiny "
    "probability under the exponential mechanism, and together they weigh more, which is why it needs more records "
    "than in two dimensions.",
    run=run,
)
