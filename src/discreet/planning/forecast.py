"""How well a program will be read, before anything is spent: Fisher information of made-up releases.

The score of a release at parameters theta is s = J' E[k | z, p(theta)], that of the exact table S = J' k, and
s = E[S | z]. So the information of a release is E[s s'] = E[s S'], and that of the table is known:
I = E[S S'] = n sum_i p_i J_i J_i'. Both differences are control variates: made-up releases are averaged as
s s' + c (S S' - I) + d (s S' - s s'), with the c and d that vary least. Where there is little noise these say what it
takes away (c = -1, d = 2), where there is much what is left (c = d = 0). With the prior's precision the inverse is
about the covariance of the posterior. It is taken at parameters that are given, or as the median over some from the
prior.

Where epsilon is tiny the posterior is not normal, and this says too little: rehearse then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.markup import html_table
from discreet.mechanisms import Mechanism
from discreet.models.modelled_table import ModelledTable
from discreet.models.programs.program import Cells
from discreet.notebook import Shown
from discreet.randomness import SeededBits
from discreet.reading.case import Case, Observed
from discreet.reading.engines.cell_models import CellModelsEngine

RELEASES, PLACES = 40, 5
"""Simulated releases at each parameter value, and parameter values drawn from the prior."""
_STEP = 1e-5


@dataclass(frozen=True)
class Forecast(Shown):
    """Expected posterior standard deviations by name, beside those of exact tables; `kept` is the information's share.

    `kept` is the least share over all directions of the parameters, `error` the simulation error of the first sd.
    """

    size: int
    epsilon: float
    sds: Mapping[str, float]
    exact_sds: Mapping[str, float]
    kept: float
    error: float

    def document(self) -> dict[str, object]:
        """Return all figures."""
        rows = [{"name": n, "sd": sd, "non_private_sd": self.exact_sds[n]} for n, sd in self.sds.items()]
        facts = {"epsilon": self.epsilon, "size": self.size, "kept": self.kept, "error": self.error}
        return facts | {"quantities": rows}

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        lines = [(name, f"{sd:.3g}", f"{self.exact_sds[name]:.3g}") for name, sd in self.sds.items()]
        title = f"{self.size} records at epsilon = {self.epsilon:g}"
        return html_table(title, ("quantity", "expected sd", "from exact counts"), lines, words=1)

    def __str__(self) -> str:
        rows = [f"{name}: sd {sd:.3g} ({self.exact_sds[name]:.3g} from exact counts)" for name, sd in self.sds.items()]
        return "\n".join([f"{self.size} records at epsilon = {self.epsilon:g}", *rows])


def forecast(
    mechanism: Mechanism, at: Mapping[str, float] | None = None, releases: int = RELEASES, seed: int = 1
) -> Forecast:
    """Return how well the program of a mechanism's table will be read from a release, on average over made-up ones.

    `at` gives values of the parameters by name, on their own scale, for programs that show them as they are; left out,
    some are drawn from the prior.
    """
    model = ModelledTable.forecast_of(mechanism.model)
    if (why := why_no_forecast(mechanism)) is not None:
        raise DeclarationError(f"A release could not be read: {why}.")
    generator = np.random.default_rng(seed)
    places = model.bound.prior_draws(PLACES, generator) if at is None else _placed(model.bound, at)
    found = [_at(mechanism, theta[None], releases, generator, seed + k) for k, theta in enumerate(places)]
    private, exact, kept, errors = (np.array(each) for each in zip(*found, strict=True))
    names = model.bound.labels
    private_sds, exact_sds = np.median(private, axis=0), np.median(exact, axis=0)
    return Forecast(
        mechanism.size,
        float(mechanism.guarantee.epsilon),
        dict(zip(names, private_sds.tolist(), strict=True)),
        dict(zip(names, exact_sds.tolist(), strict=True)),
        float(np.median(kept)),
        float(np.median(errors)),
    )


def why_no_forecast(mechanism: Mechanism) -> str | None:
    """Tell why nobody could read a release of a program, as `publish` asks before a charge; nothing if it can be."""
    return CellModelsEngine().refusal(Case.before(mechanism))


@dataclass(frozen=True)
class Forecasts:
    """Forecasts of one question under several guarantees or sizes, and words about those that nobody could read."""

    readable: tuple[Forecast, ...]
    unreadable: tuple[tuple[Mechanism, str], ...]

    @classmethod
    def of(cls, mechanisms: Sequence[Mechanism]) -> "Forecasts":
        """Return forecasts of all mechanisms whose releases can be read; refuse if none of them can."""
        asked = [(mechanism, why_no_forecast(mechanism)) for mechanism in mechanisms]
        refused = tuple((mechanism, why) for mechanism, why in asked if why is not None)
        if len(refused) == len(asked):
            raise DeclarationError(f"Nobody could read any of these. {_refusal(*refused[-1])} Nothing was planned.")
        return cls(tuple(forecast(mechanism) for mechanism, why in asked if why is None), refused)

    @property
    def refusals(self) -> list[str]:
        """Say which of them nobody could read, and why."""
        return [_refusal(mechanism, why) for mechanism, why in self.unreadable]

    def document(self) -> dict[str, object]:
        """Return all figures, and what is refused."""
        refused = [
            {"epsilon": float(mechanism.guarantee.epsilon), "size": mechanism.size, "why": why}
            for mechanism, why in self.unreadable
        ]
        return {"rows": [each.document() for each in self.readable], "unreadable": refused}


def _refusal(mechanism: Mechanism, why: str) -> str:
    where = f"epsilon {float(mechanism.guarantee.epsilon):g} with {mechanism.size} records"
    return f"Cannot be read at {where}, so publish refuses it before any charge: {why}."


def _placed(bound: Cells, at: Mapping[str, float]) -> Floats:
    """Return unconstrained parameters from values by name."""
    if set(at) != set(bound.names):
        raise DeclarationError(f"`at` gives values for {', '.join(at)}; the parameters are {', '.join(bound.names)}.")
    try:
        return np.array([[law.without_ends(at[name]) for name, law in zip(bound.names, bound.laws, strict=True)]])
    except (ValueError, ZeroDivisionError):
        raise DeclarationError(f"{dict(at)} lies outside the range of the parameters.") from None


def _at(
    mechanism: Mechanism, theta: Floats, releases: int, generator: np.random.Generator, seed: int
) -> tuple[Floats, Floats, float, float]:
    """Return both standard deviations of what is shown, the share of information that is kept, and an error."""
    model = mechanism.model
    bound = model.bound
    (chances,) = model.chances(theta, generator)
    chances = chances / chances.sum()
    tables = generator.multinomial(mechanism.size, chances, size=releases)
    outputs = mechanism.sample(tables, SeededBits(seed))
    exactly = _exact_information(bound, theta, chances, mechanism.size)
    scores = np.array([_score(mechanism, output, theta) for output in outputs])
    known = bound.pull_back(np.repeat(theta, releases, axis=0), tables.astype(float))
    precision = np.diag(1 / np.maximum(bound.prior_draws(400, np.random.default_rng(0)).var(axis=0), 1e-12))
    jacobian = _jacobian(bound, theta)
    shares = _shares(exactly, scores, known)
    private, exact = (_sds(precision + info, jacobian) for info in (_kept(shares), exactly))
    parts = [_shares(exactly, scores[start::2], known[start::2]) for start in (0, 1)]
    halves = [_sds(precision + _kept(part), jacobian)[0] for part in parts]
    return private, exact, float(shares[0].min()), abs(halves[0] - halves[1]) / 2


def _score(mechanism: Mechanism, output: Counts, theta: Floats) -> Floats:
    case = Case(mechanism.model, mechanism.size, (Observed(mechanism, np.asarray(output), "made up"),))
    told = CellModelsEngine().target(case).told(theta)[1]
    return np.asarray(told[0])


def _exact_information(bound: Cells, theta: Floats, chances: Floats, size: int) -> Floats:
    """Return n sum_i p_i J_i J_i'."""
    cells = np.eye(len(chances))
    rows = bound.pull_back(np.repeat(theta, len(chances), axis=0), cells)
    return np.asarray(size * (rows * chances[:, None]).T @ rows)


def _shares(exactly: Floats, scores: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Return which shares of the information are kept, between 0 and 1, and in which directions.

    Scores are measured in units of the exact information first, so that its share in a direction is E[x x'].
    """
    root = np.linalg.cholesky(exactly + 1e-9 * np.trace(exactly) / len(exactly) * np.eye(len(exactly)))
    x, whole = np.linalg.solve(root, scores.T), np.linalg.solve(root, known.T)
    controls = np.stack([(whole * whole).sum(axis=0) - len(x), (x * whole - x * x).sum(axis=0)], axis=1)
    own = (x * x).sum(axis=0)
    c, d = np.linalg.lstsq(np.column_stack([controls, np.ones(len(own))]), -own, rcond=None)[0][:2]
    found = (1 - d) * x @ x.T + c * whole @ whole.T + d * x @ whole.T
    values, vectors = np.linalg.eigh((found + found.T) / (2 * len(own)) - c * np.eye(len(x)))
    return np.clip(values, 1e-6, 1.0), root @ vectors


def _kept(shares: tuple[Floats, Floats]) -> Floats:
    values, directions = shares
    return np.asarray((directions * values) @ directions.T)


def _jacobian(bound: Cells, theta: Floats) -> Floats:
    """Return the derivative of what is shown by the parameters, by differences."""
    steps = _STEP * np.eye(bound.dimension)
    return np.asarray((bound.natural(theta + steps) - bound.natural(theta - steps)).T / (2 * _STEP))


def _sds(information: Floats, jacobian: Floats) -> Floats:
    covariance = jacobian @ np.linalg.solve(information, jacobian.T)
    return np.array([sqrt(max(0.0, value)) for value in np.diag(covariance)])
