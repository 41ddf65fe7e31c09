"""The one parameter of a family behind draws of its posterior: a sum over the total of the records.

A published draw is not a draw from the reader's own posterior: it was made with a tempered likelihood, and informs
about the total s of the records through its likelihood. The records inform about the parameter through the family:

    p(theta | draws) ~ p(theta) sum_s P(s | theta) prod_draws P(cell of the draw | s).

The sum over totals is `RecordTotals`; theta is a number, so a fine grid holds the rest.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp

from discreet._core.arrays import Floats
from discreet._core.errors import MisfitWarning
from discreet.mathematics.distributions import CertifiedDistribution
from discreet.mechanism import Draw
from discreet.noise import MARGIN
from discreet.programs.families._readable_family import ReadableFamily
from discreet.programs.families._record_totals import RecordTotals

CELLS = 600
_KNOTS = 4_001
_SEARCHED = 65
_ROUNDS = 60
_TINY, _NEARLY_ONE = 1e-200, 1 - 2.0**-50
_CONTRADICTION = 7.0  # standard deviations of the total from what the family expects, beyond which readers are warned


@dataclass(frozen=True, eq=False)
class FamilySolution:
    """The parameter on a grid: `weights` of cells between `edges`, the prior's `log_masses`, and the mean total."""

    model: ReadableFamily
    prior: CertifiedDistribution
    edges: Floats
    weights: Floats
    log_masses: Floats
    mean_total: float
    log_evidence: float
    weight_error: float = 0.0
    """About how far the weights may be off, in total variation, where totals are known by an expansion."""
    method: str = "read exactly, on a grid of the parameter"

    @property
    def middles(self) -> Floats:
        """Return the middles of the cells."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    @property
    def thirds(self) -> tuple[Floats, Floats]:
        """Return edges and weights of a grid of a third as many cells, each with the likelihood at its middle one."""
        edges = self.edges[::3]
        masses = logsumexp(self.log_masses.reshape(-1, 3), axis=1)
        with np.errstate(divide="ignore"):
            log_ratios = np.log(self.weights[1::3]) - self.log_masses[1::3]
        logs = np.where(np.isfinite(log_ratios), log_ratios, -np.inf) + masses
        return edges, np.exp(logs - logsumexp(logs))


def solve_parameter(
    model: ReadableFamily, size: int, draws: Sequence[Draw], prior: CertifiedDistribution, label: str
) -> FamilySolution:
    """Return what draws say about the parameter of a family under a prior.

    Records that the family cannot explain are still read, as far as possible, with a warning: what was charged can be
    read.
    """
    totals = RecordTotals(model, size)
    kernel = DrawKernel(draws, totals.ends)
    edges = _edges(totals, kernel, prior)
    middles = (edges[:-1] + edges[1:]) / 2
    expectations = totals.log_expectations(middles, kernel, kernel.slope)
    masses = np.asarray(prior.log_mass(edges[:-1], edges[1:]))
    log_evidence = float(logsumexp(expectations.logs + masses))
    weights = np.exp(expectations.logs + masses - log_evidence)
    mean, spread = totals.about(middles)
    if float(weights @ (np.abs(expectations.totals - mean) / spread)) > _CONTRADICTION:
        warnings.warn(
            f"What {label!r} says about the records contradicts the family {model!r}: for no parameter is their total "
            f"within {_CONTRADICTION:g} standard deviations of its expected value. Do not trust its intervals.",
            MisfitWarning,
            stacklevel=2,
        )
    off = float(weights @ totals.expansion_errors(middles))
    return FamilySolution(model, prior, edges, weights, masses, float(weights @ expectations.totals), log_evidence, off)


class DrawKernel:
    """log prod P(cell of the draw | total), a spline over the totals that count; -infinity elsewhere."""

    def __init__(self, draws: Sequence[Draw], ends: tuple[float, float]) -> None:
        from scipy.interpolate import CubicSpline  # slow to import

        self._draws, low, high = draws, ends[0], max(ends[1], ends[0] + 1.0)  # one value: one total, and a spline
        for _ in range(_ROUNDS):
            self.totals = np.linspace(low, high, _KNOTS)
            self.logs = self._exact(self.totals)
            inside = np.flatnonzero(self.logs > self.logs.max() - 4 * MARGIN)
            if len(inside) > _KNOTS // 4:
                break
            low, high = self.totals[max(inside[0] - 1, 0)], self.totals[min(inside[-1] + 1, _KNOTS - 1)]
        self._spline = CubicSpline(self.totals, self.logs)

    def _exact(self, totals: Floats) -> Floats:
        logs = np.zeros(len(totals))
        for draw in self._draws:
            logs += draw.log_likelihood_of_totals(totals)
        return np.maximum(logs, -1e9)

    def __call__(self, totals: Floats) -> Floats:
        """Return the log likelihood of totals."""
        inside = (totals >= self.totals[0]) & (totals <= self.totals[-1])
        if not inside.any():  # draws that contradict the family: no possible total is near what they say
            return self._exact(totals)
        return np.where(inside, self._spline(totals), -np.inf)

    def slope(self, totals: Floats) -> Floats:
        """Return how the log likelihood changes with the total; beyond those that count, as at the last of them."""
        return np.asarray(self._spline(np.clip(totals, self.totals[0], self.totals[-1]), 1))

    def smoothed(self, mean: Floats, spread: Floats) -> Floats:
        """Return log E g(total) for totals that are normal, and no narrower than the knots."""
        wide = np.maximum(spread, self.totals[1] - self.totals[0])
        squares = ((self.totals - mean[:, None]) / wide[:, None]) ** 2
        return np.asarray(logsumexp(self.logs - squares / 2, axis=1) - np.log(wide))


def _edges(totals: RecordTotals, kernel: DrawKernel, prior: CertifiedDistribution) -> Floats:
    """Return the edges of a grid of parameters that holds all but a negligible part of the posterior.

    Found with a normal approximation of the total, which has no noise of its own far away from the peak.
    """
    on_line, scaled = _coordinates(prior)
    low, high = (on_line(prior.guess(p)) for p in (1e-15, 1 - 1e-15))

    for _ in range(_ROUNDS):
        edges = np.linspace(low, high, _SEARCHED + 1)
        logs = np.asarray(prior.log_mass(scaled(edges[:-1]), scaled(edges[1:])))
        found = logs + kernel.smoothed(*totals.about(scaled((edges[:-1] + edges[1:]) / 2)))
        inside = np.flatnonzero(found > found.max() - MARGIN)
        if len(inside) > _SEARCHED // 3:
            break
        low, high = edges[max(inside[0] - 1, 0)], edges[min(inside[-1] + 2, _SEARCHED)]
    return np.asarray(scaled(np.linspace(low, high, CELLS + 1)))


def _coordinates(prior: CertifiedDistribution) -> tuple[Callable[[float], float], Callable[[Floats], Floats]]:
    """Return the map from a parameter to the real line, and back: logit of a probability, logarithm, or itself."""
    start, end = prior.support
    if start is None:
        return float, np.asarray
    if end is None:
        return lambda x: float(np.log(max(x, _TINY))), np.exp
    return lambda x: float(logit(min(max(x, _TINY), _NEARLY_ONE))), expit
