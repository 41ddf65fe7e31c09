"""How noisy totals of successes are read: every possible total is weighed, so p | z is a mixture of Betas, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from successes import Successes

from discreet.inference import PROBABILITY, CostEstimate, Posterior, Problem, ReportText, Row, Solver
from discreet.mathematics.distributions import BetaMixture
from discreet.mechanism import Floats, sized
from discreet.release import Release


@dataclass(frozen=True, eq=False)
class SuccessesSolution:
    """The law of p, and the evidence for the prior."""

    model: Successes
    distribution: BetaMixture
    log_evidence: float
    method: str = "read exactly"


class SuccessesSolver(Solver):
    """Lists all totals."""

    models = (Successes,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse what is no measurement."""
        return None if problem.is_measured else "a total of successes is read from noisy totals only"

    def cost(self, problem: Problem) -> CostEstimate:
        """Return what the likelihood of all totals costs."""
        totals = problem.size * problem.model.tries + 1
        return CostEstimate(f"weighing {totals} totals", 50.0 * totals * len(problem.observed), 10.0 * totals)

    def solve(self, problem: Problem) -> SuccessesSolution:
        """Return the mixture of Betas over all totals."""
        model, tries = problem.model, problem.size * problem.model.tries
        totals = np.arange(tries + 1)
        logs = model.log_evidence(totals, tries)
        logs = logs + sum(each.log_likelihood(totals[:, None]) for each in problem.observed)
        weights = np.exp(logs - logsumexp(logs))
        return SuccessesSolution(
            model, BetaMixture(weights, model.a + totals, model.b + tries - totals), logsumexp(logs)
        )


class SuccessesPosterior(Posterior[Successes], shows=SuccessesSolution):
    """What a reader knows about the probability of a success."""

    dims: Mapping[str, tuple[str, ...]] = {"p": ()}
    coords: Mapping[str, tuple[str, ...]] = {}
    information = None

    def __init__(
        self, model: Successes, releases: Sequence[Release[Successes]], solutions: Sequence[SuccessesSolution]
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        (self.solution,) = solutions
        self.success = self.solution.distribution

    @property
    def method(self) -> str:
        """Say how it was read."""
        return self.solution.method

    @property
    def log_evidence(self) -> float:
        """Return log P(release | prior)."""
        return self.solution.log_evidence

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row: the probability of a success."""
        return (Row(f"success in {self.model.column}", "", *self.success.summary(level), PROBABILITY),)

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw probabilities."""
        return {"p": self.success.sample(count, np.random.default_rng(seed))}

    @property
    def text(self) -> ReportText:
        """Return the question and the prior in words."""
        model = self.model
        return ReportText(
            subject="a probability of success",
            question=f"how likely is one of {model.tries} tries of {model.column} to succeed?",
            columns=((model.column, f"(0 to {model.tries} successes; anything else counts as none)"),),
            hidden="totals",
            meaning="The estimated probability, with the uncertainty of sampling and of the noise together.",
            prior=f"The prior is a Beta distribution with parameters {model.a:g} and {model.b:g}.",
            has_holders_prior=bool(model == self.releases[0].mechanism.model),
        )
