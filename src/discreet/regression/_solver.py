"""Regressions from noisy moments: weighted draws of the noise or, where too few of them count, tempering.

Noise is drawn and subtracted from the release; what remains are candidates for the true moments, each weighted by its
likelihood under the model (`regression._likelihood`). Where the noise is small compared with the moments, nearly all of
them count. Where the weights collapse (Pareto k-hat above .7, or fewer than 1,000 draws' worth), particles in the
noise's own coordinates are tempered (`inference._tempering`).
"""

import warnings
from collections.abc import Sequence
from math import inf, log2, nan
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import ConvergenceWarning, DeclarationError, LittleInformationWarning
from discreet.inference import EACH, ISLANDS, MOST_OPERATIONS, CostEstimate, Exactness, Particles, Problem, Solver
from discreet.mathematics import MOST_SHAPE, Grouped, Smoothed, smoothed
from discreet.noise import generator_of, has_density
from discreet.regression._inference import MomentSolution
from discreet.regression._likelihood import MomentTarget
from discreet.regression._model import LinearRegression, Regression

DRAWS, MOST_DRAWS = 4096, 32768
"""How many draws of the noise are weighted at first, and at most."""
LEAST_WORTH, GOOD_WORTH = 1000.0, 4000.0
"""Least effective sample size that is trusted, and the one beyond which no more draws are made."""
LOOKS, _MOVES = (5, 10, 20, 40, 60), 4  # after tempering: rounds after which draws are checked, and moves in each round
_MOST_ERROR = 1.0  # error of the log evidence above which it counts as unknown
GOOD_R_HAT, BAD_R_HAT = 1.02, 1.1
_STAGE = 17.0  # about how many evaluations of all particles a stage takes
_WALKED = 1.5  # how many times the evaluations of all stages are needed after them, as measured with 12 columns

_SHARE_OF_MANY = 0.25  # of the draws, for a problem of a plan


class MomentsSolver(Solver):
    """Weighs draws of the noise, and tempers particles where that is not enough."""

    models: ClassVar[tuple[type[Regression], ...]] = (LinearRegression,)
    solution: ClassVar[type[MomentSolution]] = MomentSolution
    exactness = Exactness.SAMPLED

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but a measurement of the moments, and noise that cannot be generated from normal numbers."""
        if not problem.is_measured:
            return (
                "a draw of the coefficients does not tell how far it lies from the truth: that depends on all moments "
                "of the records, which it does not reveal. It comes without an interval; the mechanism's own "
                "`coefficients` gives it in the units of the table"
            )
        distributions = [measurement.noise for measurement in problem.measurements]
        if any(generator_of(distribution.structure) is None for distribution in distributions):
            return "its noise has no generator"
        if sum(not has_density(distribution.structure) for distribution in distributions) > 1:
            return "the noise of more than one of these releases has no density, so they cannot be read together"
        return None

    def unsuited(self, problem: Problem) -> str | None:
        """Return why this solver is not made for a problem: for its model, or for its evidence; None if it is."""
        if not isinstance(problem.model, self.models):
            return f"it is about a {type(problem.model).__name__}"
        return self.unsupported_reason(problem)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of all draws, of as many stages as public facts let expect, and of walking after them."""
        target = MomentTarget(problem.model, problem.size, problem.measurements)
        each = operations_of(target)
        stages = expected_stages(target)
        what = f"finding {len(problem.model.cells)} moments of {problem.size} records behind their noise"
        operations = each * (MOST_DRAWS + (1 + _WALKED) * _STAGE * stages * ISLANDS * EACH)
        numbers = 2.0 * MOST_DRAWS * (len(problem.model.cells) + problem.model.dimension**2 / 8)
        return CostEstimate(what, operations, numbers, _SHARE_OF_MANY)

    def solve(self, problem: Problem) -> MomentSolution:
        """Return draws of the true moments; the same problem always gives the same solution."""
        target = MomentTarget(problem.model, problem.size, problem.measurements)
        generator = np.random.default_rng(problem.seed)
        solution = weighed(target, generator, self.solution) or tempered(target, generator, problem, self.solution)
        if solution.r_hat > BAD_R_HAT:
            warnings.warn(
                f"The particles for {problem.label!r} do not agree (R-hat {solution.r_hat:.2f}): its noise drowns the "
                "moments. Use more records, fewer features or a larger epsilon.",
                LittleInformationWarning,
                stacklevel=2,
            )
        return solution

    def solve_many(self, problems: Sequence[Problem]) -> list[MomentSolution]:
        """Return solutions by a quarter of the draws; where too few of them count, as one release is read."""
        found = []
        for problem in problems:
            target = MomentTarget(problem.model, problem.size, problem.measurements)
            rough = weighed(target, np.random.default_rng(problem.seed), self.solution, _SHARE_OF_MANY)
            found.append(self.solve(problem) if rough is None else rough)
        return found


def operations_of(target: MomentTarget) -> float:
    """Return about how many operations one candidate takes: three eliminations, an eigenvalue, and its noise."""
    d = target.model.dimension
    return 18.0 * d**3 + 10.0 * (d + 1) ** 3 + 60.0 * target.normals + 3e3


def expected_stages(target: MomentTarget) -> float:
    """Return about how many stages particles need, for evenly spread records; a stage keeps every second.

    Noise of deviation s leaves a number of range R in its place with a chance of about 1 / (1 + s / R). A symmetric
    d x d matrix of noise alone is positive with a chance of about 3^(-d^2 / 4); beside moments whose least eigenvalue
    is n / 3 this matters as far as the norm of the noise, 2 sqrt(d) deviations, reaches it.
    """
    d, reach = target.model.dimension, float(target.model.layout.reach) * target.size
    deviations = np.sqrt(target.generated.noise.variance)
    drowned = float(np.log2(1 + np.sqrt(12) * deviations / reach).sum())
    norm = 2 * np.sqrt(d) * float(np.median(deviations)) * 2 * target.size / reach
    singular = d * d / 4 * log2(3) * min(1.0, (3 * norm / target.size) ** 2)
    return drowned + float(singular)


def weighed(
    target: MomentTarget,
    generator: np.random.Generator,
    kind: type[MomentSolution] = MomentSolution,
    share: float = 1.0,
) -> MomentSolution | None:
    """Return draws of the noise with their weights, or None if too few of them count.

    `share` is which part of the usual draws is made, and of what they must be worth.
    """
    first, least, good = int(share * DRAWS), share * LEAST_WORTH, share * GOOD_WORTH
    normals = np.empty((0, target.normals))
    logs = np.empty(0)
    found = Smoothed(logs, inf, -inf, inf)
    while len(logs) < MOST_DRAWS and not (found.effective_size >= good and found.shape <= MOST_SHAPE):
        fresh = target.draw(max(first, len(logs)), generator)
        normals, logs = np.concatenate([normals, fresh]), np.concatenate([logs, target.evaluate(fresh)[1]])
        found = smoothed(logs)
        if found.effective_size * MOST_DRAWS / len(logs) < least:
            return None
    if found.shape > MOST_SHAPE or found.effective_size < least:
        return None
    counting = np.isfinite(logs)
    rows = np.where(counting, np.arange(len(logs)), np.argmax(counting))  # what is impossible has no weight
    grouped = Grouped(found.weights, len(logs))
    evidence, states = (found.log_mean, found.log_mean_error), target.states(normals[rows])
    return kind(target.model, target.of, target.size, *states, grouped, *evidence, found.shape)


def tempered(
    target: MomentTarget, generator: np.random.Generator, problem: Problem, kind: type[MomentSolution] = MomentSolution
) -> MomentSolution:
    """Return particles that were tempered on islands, then moved until they are worth enough draws."""
    most = problem.work_limit * MOST_OPERATIONS / (operations_of(target) * ISLANDS * EACH)
    particles = Particles(target, generator, most)
    if not particles.temper():
        raise DeclarationError(
            f"{problem.label!r} could not be read with {problem.work_limit * MOST_OPERATIONS:.0e} operations: its "
            f"noise drowns the moments. Nothing was read. patience={4 * problem.work_limit:g} (on the command line "
            f"--patience {4 * problem.work_limit:g}) allows more."
        )
    states: list[tuple[Floats, Floats]] = []
    for normals in particles.walk(max(LOOKS), _MOVES):
        states.append(target.states(normals))
        if len(states) in LOOKS or particles.is_spent:
            solution = _solution_of(target, particles, states, kind)
            is_good = min(solution.effective_size, solution.tail_size) >= LEAST_WORTH and solution.r_hat <= GOOD_R_HAT
            if is_good or particles.is_spent:
                break
    if not is_good:
        warnings.warn(
            f"{problem.label!r} was read by particles worth {solution.effective_size:.0f} independent draws (R-hat "
            f"{solution.r_hat:.3f}); the goal is {LEAST_WORTH:.0f}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return solution


def _solution_of(
    target: MomentTarget, particles: Particles, states: list[tuple[Floats, Floats]], kind: type[MomentSolution]
) -> MomentSolution:
    """Return all states of particles, island by island, with the evidence if the islands agree about it."""
    released, variance = (
        np.stack(part).reshape(len(states), ISLANDS, EACH, -1).swapaxes(0, 1) for part in zip(*states, strict=True)
    )
    value, error = particles.log_evidence
    return kind(
        target.model,
        target.of,
        target.size,
        released.reshape(-1, released.shape[-1]),
        variance.ravel(),
        Grouped.equal(variance.size, ISLANDS),
        *((value, error) if error <= _MOST_ERROR else (nan, nan)),
        pareto_shape=nan,
    )
