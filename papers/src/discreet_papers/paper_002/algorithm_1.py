"""Algorithm 1: questions answered from fresh draws, what they cost together, and how the budget ends them."""

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from scipy.optimize import brentq

import discreet as dc
from discreet.draws import gaussian_delta
from discreet.publishing import Probability
from discreet_papers.paper_002 import PAPER_002
from discreet_papers.pictures import axis, lines
from discreet_papers.reproduction import Outcome, Reproduction, Row

MODEL = dc.NormalMean("height", low=0, high=1, variance="0.04", prior_records=1, outside="usual")
SIZE, DELTA = 399, 1e-6
ANSWERS, QUICK_ANSWERS = (1, 2, 5, 10, 20, 50, 100), (1, 10, 100)
LIMIT, EACH = Fraction(2), Fraction(1, 2)


def epsilon_of(answers: int) -> float:
    """Return the exact epsilon at delta = 1e-6 of this many fresh draws of a mean: Gaussian privacy mu sqrt(q)."""
    mu = MODEL.gaussian_privacy(SIZE) * answers**0.5
    return float(brentq(lambda epsilon: gaussian_delta(epsilon, mu) - DELTA, 0, 700))


def answers_until_refused() -> tuple[int, str]:
    """Ask a session until its ledger refuses; return the number of answers, and the ledger's words."""
    coin = dc.Categories("fall", levels=("no", "yes"), outside="no")
    mechanism = dc.PosteriorSampling.truncated(coin, size=100, epsilon=EACH, least="0.01")
    secret = coin.statistics({"fall": ["no"] * 90 + ["yes"] * 10})
    with TemporaryDirectory() as folder:
        ledger = dc.Ledger.create(Path(folder) / "ledger.db", epsilon=LIMIT)
        session = dc.QuerySession(mechanism, secret, ledger, label="falls")
        answers = 0
        while True:
            try:
                session.ask(Probability("yes"))
            except dc.BudgetError as refusal:
                return answers, str(refusal).replace(folder, "").replace("(/", "(")
            answers += 1


def run(quick: bool) -> Outcome:
    """Compute what answers cost together, and ask until refused; quick takes fewer numbers of answers."""
    rows: list[Row] = [
        {"answers": answers, "exact_epsilon": epsilon_of(answers), "added_epsilon": answers * epsilon_of(1)}
        for answers in (QUICK_ANSWERS if quick else ANSWERS)
    ]
    given, words = answers_until_refused()
    verdict = (
        f"One draw of the mean costs {rows[0]['exact_epsilon']:.4f} at delta = 1e-6, {rows[-1]['answers']} draws cost "
        f"{rows[-1]['exact_epsilon']:.3f}: there is no end to it. A session with a budget of {LIMIT} and draws of "
        f"{float(EACH):g} gave {given} answers; then: {words}"
    )
    keys = {"each draw by itself, added": "added_epsilon", "all draws together, exactly": "exact_epsilon"}
    shown = [{"x": row["answers"], "y": row[key], "series": name} for name, key in keys.items() for row in rows]
    across = axis("number of answers", logarithmic=True, ticks=[row["answers"] for row in rows])
    return Outcome(rows, verdict, lines("Fresh draws of a mean of 399 records", shown, across, axis("epsilon")))


REPRODUCTION = Reproduction(
    name="002-algorithm-1",
    title="Algorithm 1: the posterior sampling query model",
    paper=PAPER_002,
    setting="The mean of 399 numbers in [0, 1] with variance 0.04; and a session about a coin with a budget.",
    says="For every query, without end: draw theta from the posterior and answer q(theta). As answers are computed "
    "from draws, the privacy of a draw holds for every query.",
    finds="True of each answer. Of all answers together it is not said, and their cost grows without bound, so a "
    "holder needs a budget. In the library each fresh draw is charged to a ledger before it is made, and "
    "refused when the budget is gone; further questions about a draw that is already public are free.",
    run=run,
)
