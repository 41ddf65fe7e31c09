"""What to expect of a release that is too large to be written out: averages over made-up studies."""

from math import sqrt
from typing import cast

import numpy as np
from scipy.special import betaincinv, betaln, log_expit, logit, logsumexp, roots_legendre

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import whole
from discreet.inference import Observed, Problem, solve
from discreet.mathematics import hellinger_rows, kullback_leibler
from discreet.mathematics.distributions._dirichlet import BetaMixture, Interval
from discreet.mechanism import Sized
from discreet.noise.randomness._samplers import SeededBits
from discreet.tables import Categories
from discreet.tables._group_distributions import GroupwiseDistributions
from discreet.tables._groupwise import GroupwiseInference
from discreet.tables._plug_in import plain_counts
from discreet.tables._solution import TableSolution
from discreet_papers.exact_sums.exact_accuracy import ExactAccuracy

_TRUTH = 1e9  # the prior of a reader who knows the truth
_TAIL = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.35, 0.5])
_PANELS = np.concatenate([_TAIL, 1 - _TAIL[-2::-1]])
_MASSES = np.diff(np.concatenate([[0], _TAIL, 1 - _TAIL[::-1]]))  # masses between the quantiles of one part
_NODES, _SHARES = roots_legendre(20)


def simulated_accuracy(mechanism: Sized, level: float, repeats: int, seed: int) -> ExactAccuracy:
    """Return averages over made-up studies with their standard errors: theta, then counts, output and readings.

    The divergence and coverage of the plain reading have heavy tails: below 1,000 studies their errors are rough.
    """
    generator, bits, model = np.random.default_rng(seed), SeededBits(seed), mechanism.model
    truths = generator.dirichlet(model.concentration, size=whole(repeats, "repeats", least=2))
    tables = generator.multinomial(mechanism.size, truths)
    outputs = mechanism.sample(tables, bits)
    plain = model.concentration + plain_counts(mechanism, outputs)
    hellinger = hellinger_rows(plain, model.concentration + tables)
    rows = zip(truths, tables, outputs, plain, generator.integers(len(model.cells), size=repeats), strict=True)
    studies = [_study(mechanism, level, *row) for row in rows]
    found = {name: np.array([study[name] for study in studies]) for name in studies[0]}
    found |= {"hellinger": hellinger, "plain_log_score": found["non_private_log_score"] - found["divergence"]}
    errors = {name: float(values.std(ddof=1) / sqrt(repeats)) for name, values in found.items()}
    mean = {name: float(values.mean()) for name, values in found.items()}
    return ExactAccuracy(
        mechanism.size, level, mean["hellinger"], mean["divergence"], mean["plain_log_score"], mean["log_score"],
        mean["non_private_log_score"], mean["plain_coverage"], mean["plain_width"], mean["width"],
        mean["non_private_width"], errors=errors,
    )  # fmt: skip


def _study(
    mechanism: Sized, level: float, theta: Floats, table: Counts, output: Counts, plain: Floats, cell: int
) -> dict[str, float]:
    """Return the figures of one made-up study; widths are those of one cell."""
    model = mechanism.model
    alpha = model.concentration
    reading = reading_of(mechanism, output, model)
    sums, weights = reading.counts.sum_of(np.array([cell]))
    aware = BetaMixture(weights, alpha[cell] + sums, alpha.sum() - alpha[cell] + mechanism.size - sums)
    if len(alpha) == 2:
        score = _gain(aware, alpha[[cell, 1 - cell]])
    else:
        told = model.with_prior(tuple(np.clip(_TRUTH * theta / theta.max(), 1e-6, _TRUTH)))
        score = reading_of(mechanism, output, told).log_evidence - reading.log_evidence
    known, read = _beta(alpha + table, cell), _beta(plain, cell)
    low, high = read.interval(level)
    return {
        "divergence": kullback_leibler(alpha + table, plain),
        "non_private_log_score": kullback_leibler(alpha + table, alpha),
        "log_score": score,
        "plain_width": high - low,
        "width": _reader_interval(mechanism, output, aware, cell, level).width,
        "non_private_width": known.interval(level).width,
        "plain_coverage": float(known.cdf(high) - known.cdf(low)),
    }


def _reader_interval(mechanism: Sized, output: Counts, together: BetaMixture, cell: int, level: float) -> Interval:
    """Return the default interval of `infer` for a cell: from its own sum, extended, if no prior was declared."""
    if mechanism.model.is_prior_declared:
        return together.interval(level)
    sums = GroupwiseInference(Problem(mechanism.model, mechanism.size, (_observed(mechanism, output),)))
    if sums.refusal is not None:
        return together.interval(level)
    return GroupwiseDistributions(sums, mechanism.size).share(np.array([cell])).interval(level)


def _gain(law: BetaMixture, alpha: Floats) -> float:
    """Return KL(law || prior) of a proportion: its mean over outputs is I(theta; z), without the luck of one theta.

    It is integrated over the logit, between about the quantiles of the law, where its mass is.
    """
    ends = _about_quantiles(law)
    middle, half = (ends[1:] + ends[:-1])[:, None] / 2, np.diff(ends)[:, None] / 2
    points = middle + half * _NODES
    logs = _logit_density(law, points)
    return float((half * _SHARES * np.exp(logs) * (logs - _logit_density(_beta(alpha, 0), points))).sum())


def _about_quantiles(law: BetaMixture) -> Floats:
    """Return logits that divide the mass of a mixture nearly as `_PANELS` says: quantiles of its parts, pooled."""
    low = logit(np.maximum(betaincinv(law.a[:, None], law.b[:, None], _TAIL), 1e-300))
    high = -logit(np.maximum(betaincinv(law.b[:, None], law.a[:, None], _TAIL), 1e-300))[:, ::-1]
    points, masses = np.hstack([low, high]).ravel(), (law.weights[:, None] * _MASSES).ravel()
    order = np.argsort(points)
    return np.asarray(np.interp(_PANELS, np.cumsum(masses[order]), points[order]))


def _logit_density(law: BetaMixture, points: Floats) -> Floats:
    """Return the logarithm of the density of a proportion's logit."""
    at = points[..., None]
    terms = law.a * log_expit(at) + law.b * log_expit(-at) - betaln(law.a, law.b)
    return np.asarray(logsumexp(terms, axis=-1, b=law.weights))


def _beta(parameters: Floats, cell: int) -> BetaMixture:
    return BetaMixture(np.ones(1), parameters[[cell]], parameters.sum(keepdims=True) - parameters[[cell]])


def reading_of(mechanism: Sized, output: Counts, model: Categories) -> TableSolution:
    """Return the true counts behind an output, as seen by a reader with the prior of `model`."""
    problem = Problem(model, mechanism.size, (_observed(mechanism, output),))
    return cast(TableSolution, solve(problem))  # what solvers for Categories give


def _observed(mechanism: Sized, output: Counts) -> Observed:
    return Observed(mechanism, np.asarray(output, dtype=np.int64), "planned")
