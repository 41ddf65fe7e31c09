"""How accurate a release will be, before any budget is spent. Nothing here touches data.

Probabilities are drawn from the prior, counts from these, outputs from the mechanism, and each output is read as a
reader will read it: `repeats` made-up studies, the same ones for every epsilon, so that curves are smooth. All
figures come with their simulation error.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, isnan, log, nan, sqrt

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import ConvergenceWarning, DeclarationError, LittleInformationWarning, PriorOutweighsWarning
from discreet.exact import Exact, exact
from discreet.inference._infer import infer
from discreet.markup import html_table
from discreet.mechanisms import Mechanism, with_fields
from discreet.mechanisms.mechanism import require_mechanism
from discreet.models import Categories
from discreet.models.model import MadeUp
from discreet.notebook import Shown
from discreet.planning.many_studies import MadeUpTables, ManyStudies, are_read_together, joint_means
from discreet.planning.work_ahead import planning
from discreet.progress import shown
from discreet.randomness import SeededBits
from discreet.reading import Exactness, exactness_of, why_unreadable
from discreet.reading.known_sum import MANY
from discreet.reading.patience import require
from discreet.releases import simulate

REPEATS = 60
SEARCH_REPEATS = 60
_SAMPLED_STUDIES = 4  # studies of models read by chains, which take seconds each
_JOINT_STUDIES, _LARGE_STUDIES, _JOINT_PAIRS = 8, 3, 450  # studies whose means are read from all cells together
_MOST_STEPS = 40
_SEARCH_STEPS = 8  # about how many widths a search computes
_USUAL_SLOPE = 0.75  # slope of log width by log epsilon, or by the log number of records
_UNDONE = "Nothing was simulated."
_MOST_ROWS = 24  # rows of a posterior considered in each made-up study


@dataclass(frozen=True)
class Accuracy(Shown):
    """The accuracy to expect of reading one release, averaged over the prior and over the cells.

    `width` is that of intervals of the stated level, `error` the distance of the posterior mean from the true
    probability, and `log_score` the logarithm of the posterior density at the truth (larger is better). Each comes with
    the figure that exact counts would give.
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

    def _repr_html_(self) -> str:
        """Return the figures beside those of exact counts for a notebook."""
        title = f"What to expect of {self.size} records at epsilon = {self.epsilon:g}"
        lines = [
            (f"width of {self.level:.0%} intervals", f"{self.width:.4g}", f"{self.non_private_width:.4g}"),
            ("error of the mean", f"{self.error:.4g}", f"{self.non_private_error:.4g}"),
            ("log score", f"{self.log_score:.4g}", f"{self.non_private_log_score:.4g}"),
        ]
        return html_table(title, ("", "with privacy", "exact counts"), lines, words=1)

    def document(self) -> dict[str, float | None]:
        """Return all figures by name; what is NaN is None."""
        figures = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: None if isnan(figure) else figure for name, figure in figures.items()}


def expected_accuracy(
    mechanism: Mechanism, level: float = 0.9, repeats: int = REPEATS, seed: int = 1, patience: float = 1.0
) -> Accuracy:
    """Return the expected accuracy of a release by this mechanism, for any model.

    Only tables of categories have a log score (elsewhere it is NaN), and regressions are judged by effects:
    coefficients times the range of their feature. Reading by sampling is slow, so fewer studies are simulated then. A
    mechanism whose releases could not be read is refused, and so is more than `patience` times the usual work.
    """
    sampled = _exactness(mechanism) is Exactness.SAMPLED
    studies = min(repeats, _SAMPLED_STUDIES) if sampled else repeats
    require(planning([mechanism], studies), patience, _UNDONE)
    rows = _studies(mechanism, level, studies, seed)
    width, width_0, error, error_0, score, score_0 = rows.mean(axis=0).tolist()
    spread = float(rows[:, 0].std(ddof=1) / np.sqrt(studies)) if studies > 1 else inf
    epsilon = float(mechanism.guarantee.epsilon)
    return Accuracy(epsilon, mechanism.size, level, width, spread, width_0, error, error_0, score, score_0)


def _exactness(mechanism: Mechanism) -> Exactness:
    """Return how well a release will be read, or refuse what nobody could read."""
    require_mechanism(mechanism, "Accuracy is that")
    found = exactness_of(mechanism)
    if found is None:
        why = why_unreadable(mechanism)
        raise DeclarationError(f"A release by {type(mechanism).__name__} could not be read here: {why}.")
    return found


def _studies(mechanism: Mechanism, level: float, studies: int, seed: int) -> Floats:
    """Return the figures of `_study` for many studies, read at once where that is possible."""
    if not are_read_together(mechanism):
        numbers = shown(range(studies), "Reading made-up studies", studies)
        return np.array([_study(mechanism, level, number, seed, _MOST_ROWS) for number in numbers])
    made_up = MadeUpTables.of(mechanism.model, mechanism.size, studies, seed, _MOST_ROWS)
    truth, outputs = made_up.chosen(made_up.truths), made_up.outputs(mechanism, seed)
    found = ManyStudies.read(mechanism, outputs, made_up.places)
    known_widths, known_scores = _known(mechanism.model, mechanism.size, made_up, level)
    errors = _errors(mechanism, made_up, outputs)
    columns = (found.widths(level), known_widths, *errors, found.log_densities(truth), known_scores)
    return np.stack([each.mean(axis=1) for each in columns], axis=1)


@lru_cache(maxsize=16)
def _known(model: Categories, size: int, made_up: MadeUpTables, level: float) -> tuple[Floats, Floats]:
    """Return widths and log scores of readers of exact counts, which no epsilon changes."""
    exactly = ManyStudies.known(model, size, made_up)
    return exactly.widths(level), exactly.log_densities(made_up.chosen(made_up.truths))


def _errors(mechanism: Mechanism, drawn: MadeUpTables, outputs: Counts) -> tuple[Floats, Floats]:
    """Return how far means are from the truth, privately and from exact counts.

    Means are read from all cells together, which takes longer than intervals from own sums: a few studies tell what
    the noise adds to the error.
    """
    alpha, truth = mechanism.model.concentration, drawn.chosen(drawn.truths)
    exactly = abs(drawn.chosen((alpha + drawn.tables) / (alpha.sum() + mechanism.size)) - truth)
    few = slice(max(_JOINT_STUDIES, _JOINT_PAIRS // len(alpha) ** 2) if len(alpha) <= MANY else _LARGE_STUDIES)
    means = joint_means(mechanism, outputs[few], drawn.places[few])
    added = float((abs(means - truth[few]) - exactly[few]).mean())
    return exactly + added, exactly


def _made_up(mechanism: Mechanism, number: int, seed: int, most: int) -> tuple[MadeUp, Counts]:
    generator = np.random.default_rng([seed, number])
    made = mechanism.model.made_up(mechanism.size, generator)
    return made, generator.permutation(len(made.truth))[:most]


def _bits(number: int, seed: int) -> SeededBits:
    return SeededBits(seed * 1_000_003 + number)


def _study(mechanism: Mechanism, level: float, number: int, seed: int, most: int) -> list[float]:
    """Return means over some rows of one made-up study: widths, errors, log scores, each private and with exact ones.

    A study of a number is the same for every epsilon.
    """
    model, size = mechanism.model, mechanism.size
    made, places = _made_up(mechanism, number, seed, most)
    with warnings.catch_warnings():
        for kind in (LittleInformationWarning, ConvergenceWarning, PriorOutweighsWarning):
            warnings.simplefilter("ignore", kind)
        posterior = infer(simulate(mechanism, made.statistics, _bits(number, seed), "planned"))
        found, known = posterior.some_rows(places, level), np.array(model.known_rows(made.statistics, size, level))
        scores = posterior.log_densities(places, made)
    scales = np.ones(len(made.truth)) if model.row_scales is None else np.array(model.row_scales)
    scale, truth, (means, widths) = scales[places], np.array(made.truth)[places], known[places].T
    own = np.array([(row.mean, row.high - row.low) for row in found]).T
    figures = (own[1] * scale, widths * scale, abs(own[0] - truth) * scale, abs(means - truth) * scale, *scores)
    return [float(np.mean(each)) for each in figures]


def _mean_width(mechanism: Mechanism, level: float, repeats: int, seed: int = 1) -> float:
    """Return the expected width alone, from one row of each made-up study: all that a search needs."""
    if not are_read_together(mechanism):
        numbers = shown(range(repeats), "Reading made-up studies", repeats)
        return float(np.mean([_study(mechanism, level, number, seed, 1)[0] for number in numbers]))
    made_up = MadeUpTables.of(mechanism.model, mechanism.size, repeats, seed, 1)
    return float(ManyStudies.read(mechanism, made_up.outputs(mechanism, seed), made_up.places).widths(level).mean())


def accuracy_curve(
    mechanism: Mechanism, epsilons: Iterable[Exact], level: float = 0.9, repeats: int = REPEATS, patience: float = 1.0
) -> Iterator[Accuracy]:
    """Yield the expected accuracy at each epsilon in turn."""
    for epsilon in epsilons:
        other = with_fields(mechanism, epsilon=exact(epsilon, "epsilon"))
        yield expected_accuracy(other, level, repeats, patience=patience)


def epsilon_for(
    mechanism: Mechanism, width: float, level: float = 0.9, repeats: int = SEARCH_REPEATS, patience: float = 1.0
) -> float | None:
    """Return about the smallest epsilon at which intervals have the desired mean width; None if there is none."""
    check_search(mechanism, width)
    require(planning([mechanism], _SEARCH_STEPS * repeats), patience, _UNDONE)

    def excess(epsilon: float) -> float:
        other = with_fields(mechanism, epsilon=exact(f"{epsilon:.6g}", "epsilon"))
        return log(_mean_width(other, level, repeats) / width)

    return _crossing(excess, 1e-4, 100.0, start=float(mechanism.guarantee.epsilon))


def size_for(
    mechanism: Mechanism, width: float, level: float = 0.9, repeats: int = SEARCH_REPEATS, patience: float = 1.0
) -> int | None:
    """Return about how many records give intervals of the desired mean width; None beyond ten million."""
    check_search(mechanism, width)
    require(planning([mechanism], _SEARCH_STEPS * repeats), patience, _UNDONE)

    def excess(size: float) -> float:
        return log(_mean_width(with_fields(mechanism, size=int(size)), level, repeats) / width)

    try:
        found = _crossing(excess, 2, 1e7, start=mechanism.size)
    except DeclarationError as problem:
        raise DeclarationError(
            f"The search reached sizes that {type(mechanism).__name__} does not allow: {problem}"
        ) from None
    return None if found is None else int(np.ceil(found))


def wishes(
    mechanism: Mechanism, width: float, curve: Sequence[Accuracy], level: float = 0.9, patience: float = 1.0
) -> dict[str, float | None]:
    """Return a desired width with the epsilon and size that give it; the search begins where the curve is close."""
    near = min(curve, key=lambda each: abs(log(each.width / width)))
    start = with_fields(mechanism, epsilon=exact(f"{near.epsilon:.6g}", "epsilon"))
    return {
        "width": width,
        "epsilon_needed": epsilon_for(start, width, level, patience=patience),
        "size_needed": size_for(mechanism, width, level, patience=patience),
    }


def _crossing(
    excess: Callable[[float], float], least: float, most: float, start: float, accuracy: float = 0.03
) -> float | None:
    """Return where a falling function crosses zero, from above and to the stated relative accuracy.

    On log scales, widths are nearly straight lines. So the line through the last two points, or through both ends of a
    bracket, says where to try next: a little beyond the crossing, at most a factor of 10 away, and every third time
    half-way.
    """
    low, high, slope = (0.0, inf), (inf, -inf), 0.0  # (place, excess) on both sides, and -d excess / d log place
    aimed, last = start, (nan, nan)
    for step in range(_MOST_STEPS):
        found = (aimed, excess(aimed))
        low, high = (found, high) if found[1] > 0 else (low, found)
        is_bracket = low[0] > 0 and high[0] < inf
        one, two = (low, high) if is_bracket else (last, found)
        slope = max((one[1] - two[1]) / log(two[0] / one[0]), 0.05) if step else 0.0
        if (step and -high[1] <= 0.5 * slope * log(1 + accuracy)) or high[0] / max(low[0], 1e-300) <= 1 + accuracy:
            return high[0]
        if (found[1] > 0 and aimed >= most) or (found[1] <= 0 and aimed <= least):
            return None if found[1] > 0 else least
        last = found
        aimed = aimed * exp(float(np.clip(found[1] / (slope or _USUAL_SLOPE), -log(10), log(10)))) * (1 + accuracy / 4)
        aimed = aimed if is_bracket or found[1] > 0 else min(aimed, found[0] / (1 + accuracy))
        if is_bracket and not (low[0] * (1 + accuracy / 4) < aimed < high[0] / (1 + accuracy / 4) and step % 3):
            aimed = sqrt(low[0] * high[0])
        aimed = min(max(aimed, least), most)
    return high[0]


def check_search(mechanism: Mechanism, width: float) -> None:
    """Refuse a width that no interval has, and mechanisms whose made-up studies would take too long to read."""
    if not 0 < width < inf:
        raise DeclarationError(f"The width of an interval must be above 0; got {width}.")
    if mechanism.model.row_scales is None and width >= 1:
        raise DeclarationError(f"The width of an interval for a probability must lie between 0 and 1; got {width}.")
    if _exactness(mechanism) is not Exactness.EXACT:
        raise DeclarationError(
            "Searching for a width means reading many made-up studies, so it is done only where a release can be read "
            "exactly. This one is read by sampling. Compare a few epsilons with expected_accuracy instead."
        )
