"""Figure 10: accuracy against the prior and the variance of the data together."""

from discreet_papers.paper_003 import PAPER_003
from discreet_papers.paper_003.figure_8 import compare
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction

PRIORS, QUICK_PRIORS, ONES = (1.0, 4.0, 16.0), (1.0, 16.0), range(6)


def run(quick: bool) -> Outcome:
    """Sum exact laws for each prior and count."""
    priors = QUICK_PRIORS if quick else PRIORS
    rows = [row for prior in priors for ones in ONES for row in compare(prior, ones)]
    fall = {
        (name, ones): [row["mean"] for row in rows if (row["mechanism"], row["ones"]) == (name, ones)]
        for name in ("exponential", "Laplace")
        for ones in (0, 5)
    }
    words = [
        f"{name} with {ones} ones from {means[0]:.4f} to {means[-1]:.4f}, by {1 - means[-1] / means[0]:.0%}"
        for (name, ones), means in fall.items()
    ]
    verdict = f"From prior 1 to prior {priors[-1]:g} the mean falls: {'; '.join(words)}."
    shown = [
        {"x": row["ones"], "y": row["mean"], "series": f"{row['mechanism']}, prior {row['prior']:g}"} for row in rows
    ]
    across, down = axis("ones among ten records", ticks=ONES), axis("mean Hellinger distance")
    return Outcome(rows, verdict, lines("Priors beta(a, a), epsilon = 0.8, delta = 0.0005", shown, across, down))


REPRODUCTION = Reproduction(
    name="003-figure-10",
    title="Figure 10: accuracy against prior and variance",
    paper=PAPER_003,
    setting="Zero to five ones among ten records, priors beta(a, a), epsilon = 0.8, delta = 0.0005. The setting of the "
    "figure is not given and its caption is that of figure 2; the text is followed.",
    says="The exponential mechanism is better at balanced data, the Laplace mechanism at the edge; a growing prior "
    "helps the former continuously and the latter not.",
    finds="Half of it. At balanced data the exponential mechanism is the better one, and a larger prior helps it; but "
    "the distances of the Laplace mechanism fall as well, and at balanced data by nearly as much: its noise stays, and "
    "the posteriors come closer.",
    run=run,
)
