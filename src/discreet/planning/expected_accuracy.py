"""How accurate a release will be, before any budget is spent. Nothing here touches data.

Probabilities are drawn from the prior, counts from these, outputs from the mechanism, and each output is read as a
reader will read it: `repeats` made-up studies, the same ones for every epsilon, so that curves are smooth. All
figures come with their simulation error.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConvergenceWarning, DeclarationError, LittleInformationWarning
from discreet.exact import Exact, exact
from discreet.inference import infer
from discreet.mathematics.distributions import BetaMixture
from discreet.mechanisms import Mechanism, with_fields
from discreet.models import Categories
from discreet.planning.made_up import made_up_study
from discreet.randomness import SeededBits
from discreet.reading import Exactness, exactness_of, why_unreadable
from discreet.releases import Release

REPEATS = 60
SEARCH_REPEATS = 60
_SAMPLED_STUDIES = 4  # of what is read by chains, which takes seconds each
_MOST_CELLS = 24  # of a large table, this many cells are looked at in each made-up study


@dataclass(frozen=True)
class Accuracy:
    """What to expect of the reading of one release, on average over the prior and over the cells.

    `width` is that of intervals of the stated level, `error` the distance of the mean from the true probability,
    `log_score` the logarithm of the posterior density at the truth (larger is better). Each stands beside what exact
    counts would give.
    """

    epsilon: float
    size: int
    level: float
    width: float
    width_error: float
    non_private_width: float
    error: float
    non_private_error: float
    log_score: float
    non_private_log_score: float

    def document(self) -> dict[str, float | None]:
        """Return all figures by name; what is not a number is None."""
        figures = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: None if isnan(figure) else figure for name, figure in figures.items()}


def expected_accuracy(mechanism: Mechanism, level: float = 0.9, repeats: int = REPEATS, seed: int = 1) -> Accuracy:
    """Return what to expect of a release by this mechanism, whatever its model is.

    Of models other than tables of categories there is no log score (it is not a number), and regressions are judged by
    effects: coefficients times how far their feature can vary. What is read by sampling takes its time, so that fewer
    studies are made up. What nobody could read is refused.
    """
    if not isinstance(mechanism, Mechanism):
        raise DeclarationError(f"Accuracy is that of a mechanism; got a {type(mechanism).__name__}.")
    if (why := why_unreadable(mechanism)) is not None:
        raise DeclarationError(f"Nobody could read a release by {type(mechanism).__name__} here: {why}.")
    if not isinstance(mechanism.model, Categories):
        return _from_studies(mechanism, level, repeats, seed)
    return _of_cells(mechanism, level, repeats, seed)


def _from_studies(mechanism: Mechanism, level: float, repeats: int, seed: int) -> Accuracy:
    """Return averages over made-up studies and over all quantities of the model."""
    studies = repeats if exactness_of(mechanism) is not Exactness.SAMPLED else min(repeats, _SAMPLED_STUDIES)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(studies):
            found = made_up_study(mechanism, level, seed * 1_000_003 + number)
            errors = [(abs(each.mean - each.truth), abs(each.known_mean - each.truth)) for each in found]
            widths = [(each.width, each.known_width) for each in found]
            rows.append([*np.mean(widths, axis=0), *np.mean(errors, axis=0)])
    width, width_0, error, error_0 = np.mean(rows, axis=0).tolist()
    spread = float(np.std(rows, axis=0, ddof=1)[0] / np.sqrt(studies)) if studies > 1 else inf
    epsilon = float(mechanism.guarantee.epsilon)
    return Accuracy(epsilon, mechanism.size, level, width, spread, width_0, error, error_0, nan, nan)


def _of_cells(mechanism: Mechanism, level: float, repeats: int, seed: int) -> Accuracy:
    """Return averages over made-up studies and over the cells of a table, with the log score."""
    generator, bits = np.random.default_rng(seed), SeededBits(seed)
    model: Any = mechanism.model
    truths = generator.dirichlet(model.concentration, size=repeats)
    tables = generator.multinomial(mechanism.size, truths)
    outputs = mechanism.sample(tables, bits)
    private, exact_counts = np.empty((repeats, 3)), np.empty((repeats, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)
        for number, (theta, counts, output) in enumerate(zip(truths, tables, outputs, strict=True)):
            release = Release(mechanism, tuple(int(count) for count in output), "planned", simulated=True)
            posterior, known = infer(release), model.posterior(counts)
            cells = generator.permutation(len(model.cells))[:_MOST_CELLS]
            private[number] = _scores((posterior.probability(model.cells[i]) for i in cells), theta[cells], level)
            exact_counts[number] = _scores((known.marginal(i) for i in cells), theta[cells], level)
    (width, error, score), (width_0, error_0, score_0) = private.mean(axis=0), exact_counts.mean(axis=0)
    spread = float(private[:, 0].std(ddof=1) / np.sqrt(repeats)) if repeats > 1 else float("inf")
    epsilon = float(mechanism.guarantee.epsilon)
    return Accuracy(
        epsilon, mechanism.size, level, float(width), spread, float(width_0), float(error), float(error_0),
        float(score), float(score_0),
    )  # fmt: skip


def _mean_width(mechanism: Mechanism, level: float, repeats: int, seed: int = 1) -> float:
    """Return the expected width alone, from one cell of each made-up study: all that a search needs."""
    if not isinstance(mechanism.model, Categories):
        raise DeclarationError("A width is searched for tables of categories; of other models see expected_accuracy.")
    generator, bits = np.random.default_rng(seed), SeededBits(seed)
    model: Any = mechanism.model
    tables = generator.multinomial(mechanism.size, generator.dirichlet(model.concentration, size=repeats))
    chosen = generator.integers(len(model.cells), size=repeats)
    widths = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)
        for output, cell in zip(mechanism.sample(tables, bits), chosen, strict=True):
            release = Release(mechanism, tuple(int(count) for count in output), "planned", simulated=True)
            widths.append(infer(release).probability(model.cells[cell]).interval(level).width)
    return float(np.mean(widths))


def _scores(laws: Iterable[BetaMixture], theta: Floats, level: float) -> Floats:
    """Return the mean width, error and log score over some cells."""
    rows = [
        (law.interval(level).width, abs(law.mean - truth), float(law.log_density(np.clip(truth, 1e-12, 1 - 1e-12))))
        for law, truth in zip(laws, theta, strict=True)
    ]
    return np.asarray(np.array(rows).mean(axis=0))


def accuracy_curve(
    mechanism: Mechanism, epsilons: Iterable[Exact], level: float = 0.9, repeats: int = REPEATS
) -> Iterator[Accuracy]:
    """Give what to expect at each epsilon, one after the other."""
    for epsilon in epsilons:
        yield expected_accuracy(with_fields(mechanism, epsilon=exact(epsilon, "epsilon")), level, repeats)


def epsilon_for(mechanism: Mechanism, width: float, level: float = 0.9, repeats: int = SEARCH_REPEATS) -> float | None:
    """Return about the smallest epsilon at which intervals have the wished mean width; None if no epsilon does."""
    _check_width(width)

    def miss(epsilon: float) -> float:
        other = with_fields(mechanism, epsilon=exact(f"{epsilon:.6g}", "epsilon"))
        return _mean_width(other, level, repeats) - width

    return _crossing(miss, 1e-4, 100.0, start=float(mechanism.guarantee.epsilon))


def size_for(mechanism: Mechanism, width: float, level: float = 0.9, repeats: int = SEARCH_REPEATS) -> int | None:
    """Return about how many records give intervals of the wished mean width; None beyond ten million."""
    _check_width(width)

    def miss(size: float) -> float:
        return _mean_width(with_fields(mechanism, size=int(size)), level, repeats) - width

    try:
        found = _crossing(miss, 2, 1e7, start=mechanism.size)
    except DeclarationError as problem:
        raise DeclarationError(
            f"The search went to sizes that {type(mechanism).__name__} cannot have: {problem}"
        ) from None
    return None if found is None else int(np.ceil(found))


def _crossing(
    miss: Callable[[float], float], least: float, most: float, start: float, accuracy: float = 0.03
) -> float | None:
    """Return where a falling function crosses zero, to the stated relative accuracy.

    Steps of a factor 4 from the start find a bracket, halving on a log scale narrows it.
    """
    low = high = start
    while miss(low) <= 0:
        low /= 4
        if low < least:
            return least
    while miss(high) > 0:
        low, high = high, 4 * high
        if high > most:
            return None
    while high / low > 1 + accuracy:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if miss(middle) > 0 else (low, middle)
    return high


def _check_width(width: float) -> None:
    if not 0 < width < 1:
        raise DeclarationError(f"A width of an interval lies between 0 and 1; got {width}.")
