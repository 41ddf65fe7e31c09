"""How accurate a release will be, before any budget is spent: one answer for every model. Nothing here touches data.

Studies are simulated: parameters from the prior, statistics of records from these, an output from the mechanism, and
what a reader makes of it. Over K studies k, with w_k the width of an interval of a row,

    width = mean of w_k,    mc_error = sd of w_k / sqrt(K),    error = mean of |posterior mean - truth|,

and the same from the exact statistics of the same studies: `exact_width`, `exact_error`. So privacy never seems to help
by more than `cost_error`, the Monte Carlo error of width - exact_width. Study k is the same for every epsilon, and its
noise comes from the same bits, so that curves are smooth.

How many studies are simulated follows from the work that public facts let expect: it is the same on every machine.
Curves and searches share studies, and what was read of them (`Simulations`).
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import ceil, exp, inf, log, nan, sqrt
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import (
    ConvergenceWarning,
    DeclarationError,
    DiscreetError,
    LittleInformationWarning,
    PriorOutweighsWarning,
)
from discreet._core.exact import Exact, exact, whole
from discreet._core.notebook import NotebookRepr, html_table
from discreet._core.progress import shown
from discreet.inference import (
    DAYS,
    Exactness,
    HasFewerDraws,
    HasPlannedFacts,
    HasPlannedFigures,
    HasSomeRows,
    Posterior,
    Problem,
    Row,
    infer,
    infer_many,
    percent_text,
    require,
    solver_for,
    why_unreadable,
)
from discreet.mathematics.distributions import tails
from discreet.mechanism import (
    HasConditionals,
    HasEventChances,
    HasMainRows,
    HasProgram,
    HasRowScales,
    Mechanism,
    Model,
    Simulated,
    Sized,
    require_mechanism,
    simulated_size,
    sized,
    with_fields,
)
from discreet.noise.randomness import SeededBits
from discreet.publishing import simulate
from discreet.verification import drawing, numbers_of, planning

MOST_STUDIES, LEAST_STUDIES = 60, 4
"""How many studies are simulated at one epsilon, at most and at least."""
POINT = 4e9
"""Operations that take about a second: the most at one epsilon; twice as many for a few studies."""
CURVE = 5 * POINT
"""Operations of a curve: further points are left out."""
_FEW = 20  # studies, from which on the Monte Carlo error of a mean width is usually below 2 %
_SLACK = 1.6  # factor on the operations of a curve where a few studies are read: they take less
_SHARE = 0.4  # of the operations of a point, for more than a few studies
_STUDY, _NUMBER = 5e7, 2e6  # operations that every study takes, whatever is read, and every number of it
_SAMPLED = 2.0  # how much longer chains and importance sampling take than their counted operations
_TABLES = 3e7  # operations that the rows of a network take, all in all
_QUICK, _SEARCH = 6e10, 1.2e11  # operations that somebody waits for at a screen: of a plan, and of a search
_AT_ONCE = 20_000  # counts of all studies that are read at a time
_MOST_ROWS = 48  # rows that are looked at in each study
_USUAL_STEPS = 8  # of a search
_MOST_STEPS, _MOST_MAKING = 40, 1e9  # of a search: steps, and operations of making up one study of the largest size
_USUAL_SLOPE = 0.75  # slope of log width by log epsilon, or by the log number of records
_UNDONE = "Nothing was simulated."
_QUIET = (LittleInformationWarning, ConvergenceWarning, PriorOutweighsWarning)


@runtime_checkable
class HasCountDeviations(Protocol):
    """A mechanism that knows how noisy its counts will be."""

    def count_deviations(self) -> dict[str, float]:
        """Return standard deviations of the noise of counts, by name."""


@runtime_checkable
class HasStudiesInWords(Protocol):
    """A model that says itself from what its studies are simulated."""

    def studies_in_words(self) -> str:
        """Say from which distribution studies are drawn."""


@dataclass(frozen=True)
class PlannedRow:
    """What to expect of one row of a posterior: means over simulated studies, beside those of exact statistics."""

    quantity: str
    given: str
    unit: str
    width: float
    exact_width: float
    mc_error: float
    cost_error: float
    error: float
    exact_error: float

    @property
    def name(self) -> str:
        """Return the quantity, with its group if it has one."""
        return f"{self.quantity} | {self.given}" if self.given else self.quantity


@dataclass(frozen=True)
class Accuracy(NotebookRepr):
    """The accuracy to expect of a release: one row for each quantity, and the mean over them.

    Means over rows are in `unit`: rows of other units are scaled to it. `log_score` is the mean log density of the
    posterior at the truth, where densities are known (larger is better). `method` says how studies were simulated and
    read, `facts` holds what else is known at once, such as the standard deviation of the noise of a count.
    """

    size: int
    epsilon: float
    delta: float
    level: float
    studies: int
    rows: tuple[PlannedRow, ...]
    rows_of_all: int
    unit: str
    width: float
    exact_width: float
    mc_error: float
    cost_error: float
    error: float
    exact_error: float
    log_score: float | None
    exact_log_score: float | None
    log_score_error: float | None
    method: str
    facts: Mapping[str, float] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return all figures by name."""
        return asdict(self) | {"rows": [asdict(row) for row in self.rows], "facts": dict(self.facts)}

    @property
    def stated(self) -> str:
        """Return size and epsilon in words."""
        return f"{self.size} records at epsilon = {self.epsilon:g}"

    @property
    def sentence(self) -> str:
        """Say in one sentence what to expect on average over rows."""
        score = (
            ""
            if self.log_score is None
            else f", log score {self.log_score:.2f} ({self.exact_log_score:.2f}) +- {self.log_score_error:.2g}"
        )
        return (
            f"{percent_text(self.level, '')} intervals will be {self.width:.4g} wide on average, "
            f"+- {self.mc_error:.2g} ({self.exact_width:.4g} from exact statistics, {self.unit}); error of a mean "
            f"{self.error:.3g} ({self.exact_error:.3g}){score}"
        )

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows as texts: name, unit, width with its Monte Carlo error, exact width, and both errors."""
        return [
            (
                row.name, row.unit, f"{row.width:.4g} +- {row.mc_error:.2g}", f"{row.exact_width:.4g}",
                f"{row.error:.3g} ({row.exact_error:.3g})",
            )
            for row in self.rows
        ]  # fmt: skip

    @property
    def _headings(self) -> tuple[str, ...]:
        return "quantity", "unit", f"{percent_text(self.level, '')} width", "exact", "error (exact)"

    def _repr_html_(self) -> str:
        """Return the figures beside those of exact statistics for a notebook."""
        title = f"What to expect of {self.stated}"
        return html_table(title, self._headings, self.table(), words=2, notes=[f"{self.sentence}.", self.method])

    def __str__(self) -> str:
        return f"{self.stated}: {self.sentence}"


def accuracy(
    mechanism: Mechanism,
    level: float = 0.9,
    studies: int | None = None,
    seed: int = 1,
    patience: float = 1.0,
    model: Model | None = None,
    about: int | None = None,
) -> Accuracy:
    """Return the accuracy to expect of a release by this mechanism, for any model.

    Studies are simulated, noise is added, and they are read as the release will be. No records are needed.

    >>> from discreet.tables import GeometricHistogram
    >>> from discreet.tables import Categories
    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> found = accuracy(GeometricHistogram(coin, size=100, epsilon=1))
    >>> found.exact_width < found.width < 1.2 * found.exact_width
    True

    Args:
        mechanism: the mechanism that would publish.
        level: the level of the intervals whose widths are expected.
        studies: how many studies are simulated; left out, as many as take about a second.
        seed: the seed of the simulation.
        patience: how many times the usual work is allowed.
        model: a family or program by which a table will be read, as in `infer`.
        about: where the number of records is secret, a guess of it that does not come from the data.

    Returns:
        expected widths and errors, overall and for each quantity, beside those of exact statistics.

    Raises:
        DeclarationError: if a release could not be read, or if that takes more than the work allowed.
    """
    require_mechanism(mechanism, "Accuracy is that")
    size = simulated_size(mechanism, about)
    simulated = _Studies(mechanism.model if model is None else model, size, level, seed)
    return _accuracy(mechanism, simulated, studies, patience)


def studies_for(mechanism: Mechanism) -> int:
    """Return how many studies are simulated if nobody says how many: what curves of five points have time for.

    A few are simulated even if that takes longer, up to twice `POINT`.
    """
    allowed = POINT / work_of_study(mechanism)
    return int(np.clip(max(_SHARE * allowed, min(_FEW, 2 * allowed)), LEAST_STUDIES, MOST_STUDIES))


def work_of_study(mechanism: Mechanism) -> float:
    """Return about how many operations one study takes."""
    problem = Problem.before(mechanism)
    solver = solver_for(problem)
    cost = None if solver is None else solver.cost(problem)
    inference = 0.0 if cost is None else cost.operations * cost.share_of_many
    if solver is not None and solver.exactness is Exactness.SAMPLED:
        inference *= _SAMPLED
    model = mechanism.model
    rows = _TABLES if isinstance(model, HasConditionals) else _NUMBER * numbers_of(model)
    return _STUDY + rows + inference + drawing(mechanism, 1, 1) + float(model.simulation_cost(_size_of(mechanism))[0])


def _size_of(mechanism: Mechanism) -> int:
    return mechanism.size if isinstance(mechanism, Sized) else 1  # tables, whose work does not depend on it


@dataclass(frozen=True)
class Refused:
    """A point of a curve that could not be read, and why."""

    epsilon: float
    size: int
    why: str

    @property
    def words(self) -> str:
        """Say so."""
        where = f"epsilon {self.epsilon:g} with {self.size} records"
        return f"Not planned at {where}: {self.why}."


@dataclass(frozen=True)
class Curve:
    """The accuracy to expect under several guarantees or sizes, and the points that no inference method supports."""

    points: tuple[Accuracy, ...]
    refused: tuple[Refused, ...] = ()

    def document(self) -> dict[str, object]:
        """Return all figures, and what is refused."""
        return {"points": [each.document() for each in self.points], "unreadable": [asdict(e) for e in self.refused]}


def accuracy_curve(
    mechanisms: Iterable[Mechanism],
    level: float = 0.9,
    studies: int | None = None,
    seed: int = 1,
    patience: float = 1,
    about: int | None = None,
) -> Curve:
    """Return what to expect of one model's mechanisms, each with another epsilon or size, from the same studies."""
    return Simulations(level, seed, patience, about).curve(mechanisms, studies)


def epsilons_that_fit(mechanism: Mechanism, epsilons: Sequence[Exact], studies: int) -> list[Exact]:
    """Return as many of these epsilons, the mechanism's own first and then the nearest, as a curve has time for."""
    declared, kept = float(mechanism.guarantee.epsilon), list[Exact]()
    left = CURVE * (_SLACK if studies >= _FEW else 1.0)
    for epsilon in sorted(epsilons, key=lambda each: abs(log(float(exact(each, "epsilon")) / declared))):
        try:
            other = with_fields(mechanism, epsilon=exact(epsilon, "epsilon"))
        except DeclarationError:
            continue
        left -= studies * work_of_study(other)
        if kept and left < 0:
            break
        kept.append(epsilon)
    return sorted(kept, key=lambda each: exact(each, "epsilon"))


def require_quick(mechanism: Mechanism, patience: float) -> None:
    """Refuse a plan that takes much longer than seconds, as inference by chains does."""
    work = studies_for(mechanism) * work_of_study(mechanism)
    if work > patience * _QUICK:
        enough = ceil(10 * work / _QUICK) / 10
        raise DeclarationError(
            f"Planning this takes about {work:.0e} operations, and {patience * _QUICK:.0e} are allowed. {_UNDONE} One "
            f"simulated study shows much of it: discreet rehearse. A patience of {enough:g} allows a plan (--patience)."
        )


def rehearsal(
    mechanism: Mechanism, label: str, seed: int, about: int | None = None
) -> tuple[Posterior, tuple[float, ...]]:
    """Simulate one study, publish and read it; return the posterior, and the true value of each row."""
    made = mechanism.model.simulate(simulated_size(mechanism, about), np.random.default_rng(seed))
    return infer(simulate(mechanism, made.statistics, SeededBits(seed), label)), made.truth


def main_rows_of(model: Model, count: int) -> Sequence[int]:
    """Return over which of a posterior's `count` rows a mean is taken: all, if they have one unit."""
    return model.main_rows(count) if isinstance(model, HasMainRows) else range(count)


@dataclass
class _Read:
    """What was read of studies under one mechanism: figures and facts of every study, and the rows of one of them."""

    rows: tuple[Row, ...] = ()
    is_rough: bool = False
    figures: list[Floats] = field(default_factory=list)
    facts: list[dict[str, float]] = field(default_factory=list)


class _Studies:
    """Simulated studies of a model: truths, statistics and what exact statistics say; no epsilon changes them."""

    def __init__(self, model: Model, size: int, level: float, seed: int) -> None:
        tails(level)
        self.model, self.size, self.level, self.seed = model, size, level, seed
        self._made: list[Simulated] = []
        self._known: list[Floats] = []
        self._read: dict[Mechanism, _Read] = {}

    def made(self, count: int) -> list[Simulated]:
        """Return the first `count`."""
        for number in range(len(self._made), count):
            generator = np.random.default_rng([self.seed, number])
            self._made.append(self.model.simulate(self.size, generator))
        return self._made[:count]

    def known(self, count: int) -> Floats:
        """Return mean and width of the considered rows of studies (studies, rows, 2), from exact statistics."""
        for made in self._made[len(self._known) : count]:
            rows = self.model.exact(made.statistics, self.size, self.level)
            self._known.append(np.array(rows, dtype=float)[self.row_indices])
        return np.array(self._known[:count])

    @cached_property
    def row_indices(self) -> Counts:
        """Return which rows are considered: all, or evenly spaced ones of very many, and some that means are about."""
        count = len(self._made[0].truth)
        main = np.asarray(main_rows_of(self.model, count))
        if count <= _MOST_ROWS:
            return np.arange(count)
        return np.unique(main[np.linspace(0, len(main) - 1, min(_MOST_ROWS, len(main))).round().astype(np.int64)])

    @property
    def mains(self) -> NDArray[np.bool_]:
        """Tell over which of the considered rows a mean is taken."""
        return np.isin(self.row_indices, np.asarray(main_rows_of(self.model, len(self._made[0].truth))))

    @property
    def scales(self) -> Floats:
        """Return by what the considered rows are multiplied in a mean."""
        if not isinstance(self.model, HasRowScales):
            return np.ones(len(self.row_indices))
        return np.array(self.model.row_scales, dtype=float)[self.row_indices]

    def read(self, mechanism: Mechanism, count: int) -> "_Read":
        """Return the posteriors of the first `count` studies, or more; what is missing is drawn and read."""
        found = self._read.setdefault(mechanism, _Read())
        together, is_own = max(1, _AT_ONCE // numbers_of(mechanism.model)), self.model is mechanism.model
        row_indices: Sequence[int] = self.row_indices.tolist()
        with warnings.catch_warnings():
            for category in _QUIET:
                warnings.simplefilter("ignore", category)
            starts = range(len(found.figures), count, together)
            for first in shown(starts, "Reading simulated studies", len(starts)):
                batch = range(first, min(first + together, count))
                made = [self._made[k] for k in batch]
                noise = [SeededBits(self.seed * 1_000_003 + k) for k in batch]
                releases = [
                    simulate(mechanism, m.statistics, bits, "planned") for m, bits in zip(made, noise, strict=True)
                ]
                posteriors = infer_many(releases) if is_own else [infer(each, model=self.model) for each in releases]
                first_one = posteriors[0]
                found.rows = found.rows or _some_rows(first_one, row_indices, self.level)
                found.is_rough = isinstance(first_one, HasFewerDraws) and first_one.is_rough
                found.figures += list(_figures(posteriors, made, row_indices, self.level))
                generators = (np.random.default_rng([self.seed, k, 1]) for k in batch)
                found.facts += [
                    p.planned_facts(m, g) if isinstance(p, HasPlannedFacts) else {}
                    for p, m, g in zip(posteriors, made, generators, strict=True)
                ]
        return found

    def read_of(self, mechanism: Mechanism) -> list[Mechanism]:
        """Return the mechanisms under which studies were read that differ from this one in epsilon only."""
        epsilons = [other.guarantee.epsilon for other in self._read]
        return [
            other
            for other, epsilon in zip(self._read, epsilons, strict=True)
            if with_fields(mechanism, epsilon=epsilon) == other
        ]


@dataclass(frozen=True)
class _Figures:
    """Figures of all studies (rows) and considered rows (columns); log scores are NaN where densities are unknown."""

    width: Floats
    exact_width: Floats
    error: Floats
    exact_error: Floats
    log_score: Floats
    exact_log_score: Floats

    def over(self, mains: NDArray[np.bool_], scales: Floats) -> "_Figures":
        """Return means over the rows that a mean is about, in one unit, for every study."""
        sizes = (self.width, self.exact_width, self.error, self.exact_error)
        scaled = [(each[:, mains] * scales[mains]).mean(axis=1) for each in sizes]
        return _Figures(*scaled, *(each[:, mains].mean(axis=1) for each in (self.log_score, self.exact_log_score)))


def _some_rows(posterior: Posterior, row_indices: Sequence[int], level: float) -> tuple[Row, ...]:
    if isinstance(posterior, HasSomeRows):
        return posterior.some_rows(row_indices, level)
    rows = posterior.rows(level)
    return tuple(rows[index] for index in row_indices)


def _figures(
    posteriors: Sequence[Posterior], made: Sequence[Simulated], row_indices: Sequence[int], level: float
) -> Floats:
    """Return mean, width and two log densities of the truth of some rows of simulated studies (studies, rows, 4).

    Densities are NaN where they are not known.
    """
    if isinstance(posteriors[0], HasPlannedFigures):
        return posteriors[0].planned(posteriors, made, row_indices, level)
    found = [_some_rows(each, row_indices, level) for each in posteriors]
    return np.array([[(row.mean, row.high - row.low, nan, nan) for row in rows] for rows in found])


def _accuracy(mechanism: Mechanism, studies: _Studies, count: int | None, patience: float) -> Accuracy:
    """Simulate, sample, solve, and average over studies."""
    solver = solver_for(before := Problem.before(mechanism))
    if solver is None:
        raise DeclarationError(
            f"A release by {type(mechanism).__name__} could not be read here: {why_unreadable(mechanism)}."
        )
    number = studies_for(mechanism) if count is None else whole(count, "studies", least=2)
    require(planning([mechanism], number), patience, _UNDONE)
    made, model = studies.made(number), studies.model
    read = studies.read(mechanism, number)
    truths, known = np.array([each.truth for each in made])[:, studies.row_indices], studies.known(number)
    means, widths, scores, exact_scores = np.moveaxis(np.array(read.figures[:number]), -1, 0)
    found = _Figures(widths, known[..., 1], abs(means - truths), abs(known[..., 0] - truths), scores, exact_scores)
    over = found.over(studies.mains, studies.scales)
    units = {_unit(row) for row, is_main in zip(read.rows, studies.mains, strict=True) if is_main}
    at_once = mechanism.count_deviations() if isinstance(mechanism, HasCountDeviations) else {}
    is_scored = not np.isnan(over.log_score).any()
    return Accuracy(
        size=studies.size,
        epsilon=float(mechanism.guarantee.epsilon),
        delta=float(mechanism.guarantee.delta),
        level=studies.level,
        studies=number,
        rows=_rows(found, read.rows),
        rows_of_all=len(made[0].truth),
        unit=model.scaled_unit if isinstance(model, HasRowScales) else ", ".join(sorted(units)),
        width=float(over.width.mean()),
        exact_width=float(over.exact_width.mean()),
        mc_error=float(_error(over.width)),
        cost_error=float(_error(over.width - over.exact_width)),
        error=float(over.error.mean()),
        exact_error=float(over.exact_error.mean()),
        log_score=float(over.log_score.mean()) if is_scored else None,
        exact_log_score=float(over.exact_log_score.mean()) if is_scored else None,
        log_score_error=float(_error(over.log_score)) if is_scored else None,
        method=_method(
            model, number, solver.cost(before).many_read, read.is_rough or solver.exactness is not Exactness.EXACT
        ),
        facts=at_once | {name: float(np.mean([each[name] for each in read.facts[:number]])) for name in read.facts[0]},
    )


def _unit(row: Row) -> str:
    return "days" if row.unit == DAYS else row.unit


def _rows(found: _Figures, rows: Sequence[Row]) -> tuple[PlannedRow, ...]:
    columns = zip(
        found.width.mean(axis=0), found.exact_width.mean(axis=0), _error(found.width),
        _error(found.width - found.exact_width), found.error.mean(axis=0), found.exact_error.mean(axis=0), strict=True,
    )  # fmt: skip
    return tuple(
        PlannedRow(row.quantity, row.given, _unit(row), *map(float, figures))
        for row, figures in zip(rows, columns, strict=True)
    )


def _error(values: Floats) -> Floats:
    """Return the Monte Carlo error of means over studies."""
    return np.asarray(values.std(axis=0, ddof=1) / sqrt(len(values)))


def _method(model: Model, number: int, read: str, is_rough: bool) -> str:
    """Say from which distribution studies were simulated, and how they were read."""
    source = "drawn from the prior" if model.is_prior_declared else "drawn from the default prior"
    if isinstance(model, HasStudiesInWords):
        source = model.studies_in_words()
    how = ", by fewer draws than `infer` makes" if is_rough else ""
    return f"Means over {number} simulated studies {source}, {read}{how}."


Vary = Literal["epsilon", "size"]


class Simulations:
    """Simulated studies of any size, and what was read of them under any guarantee: curves and searches share them."""

    def __init__(self, level: float = 0.9, seed: int = 1, patience: float = 1.0, about: int | None = None) -> None:
        self.level, self.seed, self.patience, self.about = level, seed, patience, about
        self._known: dict[tuple[int, int], _Studies] = {}

    def _studies(self, mechanism: Mechanism) -> _Studies:
        model, size = mechanism.model, simulated_size(mechanism, self.about)
        return self._known.setdefault((id(model), size), _Studies(model, size, self.level, self.seed))

    def curve(self, mechanisms: Iterable[Mechanism], studies: int | None = None) -> Curve:
        """Return what to expect of one model's mechanisms, each with another epsilon or size."""
        points, refused = list[Accuracy](), list[Refused]()
        for mechanism in mechanisms:
            epsilon, size = float(mechanism.guarantee.epsilon), simulated_size(mechanism, self.about)
            if (why := why_unreadable(mechanism)) is not None:
                refused.append(Refused(epsilon, size, why))
                continue
            try:
                points.append(_accuracy(mechanism, self._studies(mechanism), studies, self.patience))
            except DiscreetError as problem:  # a simulated release that its solver gives up
                refused.append(Refused(epsilon, size, str(problem).rstrip(".")))
        if refused and not points:
            raise DeclarationError(f"None of these can be planned. {refused[-1].words}")
        return Curve(tuple(points), tuple(refused))

    def solve_for_width(
        self, mechanism: Mechanism, width: float, vary: Vary = "epsilon", studies: int | None = None
    ) -> float | None:
        """Return about the smallest epsilon, or size, at which intervals have this mean width; None if there is none.

        The search starts from what curves have found, or from the mechanism itself.
        """
        require_mechanism(mechanism, "A width is that")
        check_width(mechanism, width)
        count = studies_for(mechanism) if studies is None else studies
        if (work := _USUAL_STEPS * count * work_of_study(mechanism)) > self.patience * _SEARCH:
            raise DeclarationError(
                f"Searching for a width takes about {work:.0e} operations, and {self.patience * _SEARCH:.0e} are "
                f"allowed. {_UNDONE} Plan a few epsilons instead, or allow more patience ({work / _SEARCH:.2g})."
            )

        def excess(value: float) -> float:
            changed = {"epsilon": exact(f"{value:.6g}", "epsilon")} if vary == "epsilon" else {"size": int(value)}
            other = with_fields(mechanism, **changed)
            try:
                return log(_accuracy(other, self._studies(other), count, self.patience).width / width)
            except DeclarationError:
                raise
            except DiscreetError:  # a simulated release that its solver gives up
                if vary == "size" or value <= float(mechanism.guarantee.epsilon):
                    raise
            # so little noise is nearly none
            return log(_accuracy(mechanism, self._studies(mechanism), count, self.patience).exact_width / width)

        if vary == "epsilon":
            declared = float(mechanism.guarantee.epsilon)
            known = [float(each.guarantee.epsilon) for each in self._studies(mechanism).read_of(mechanism)]
            return _crossing(excess, 1e-4, 100.0, sorted(known, key=lambda each: -abs(excess(each))) or [declared])
        own = sized(mechanism)
        try:
            found = _crossing(excess, 2, largest_size(own), [own.size])
        except DeclarationError as problem:
            raise DeclarationError(
                f"The search reached sizes that {type(mechanism).__name__} does not allow: {problem}"
            ) from None
        return None if found is None else float(np.ceil(found))


def solve_for_width(
    mechanism: Mechanism, width: float, level: float = 0.9, vary: Vary = "epsilon", patience: float = 1.0
) -> float | None:
    """Return about the smallest epsilon, or size, at which intervals have this mean width; None if there is none.

    Sizes are searched up to ten million, or to what can be simulated (`largest_size`), epsilons up to 100.
    """
    return Simulations(level, patience=patience).solve_for_width(mechanism, width, vary)


def _are_rows_shares(model: Model) -> bool:
    """Return whether the rows of a posterior are probabilities: of a table's cells, or in a graph."""
    return isinstance(model, HasEventChances) and not isinstance(model, HasProgram)


def check_width(mechanism: Mechanism, width: float) -> None:
    """Refuse a width that no interval has."""
    if not 0 < width < inf:
        raise DeclarationError(f"The width of an interval must be above 0; got {width}.")
    if width >= 1 and _are_rows_shares(mechanism.model):
        raise DeclarationError(f"The width of an interval for a probability must lie between 0 and 1; got {width}.")


def largest_size(mechanism: Sized) -> float:
    """Return up to how many records a search goes: ten million, or what can be simulated in good time."""
    one, two = (float(mechanism.model.simulation_cost(size)[0]) for size in (1_000_000, 2_000_000))
    each = (two - one) / 1e6
    return min(1e7, max(2.0 * mechanism.size, _MOST_MAKING / max(each, 1e-9)))


def _crossing(
    excess: Callable[[float], float], least: float, most: float, starts: Sequence[float], accuracy: float = 0.03
) -> float | None:
    """Return where a falling function crosses zero, from above and to the stated relative accuracy.

    It is tried at all starts first, the nearest one last. On log scales, widths are nearly straight lines. So the line
    through the last two points, or through both ends of a bracket, says where to try next: a little beyond the
    crossing, at most a factor of 10 away, and every third time half-way.
    """
    low, high, slope = (0.0, inf), (inf, -inf), 0.0  # (point, excess) on both sides, and -d excess / d log point
    aimed, last = starts[0], (nan, nan)
    for step in range(_MOST_STEPS):
        aimed = starts[step] if step < len(starts) else aimed
        found = (aimed, excess(aimed))
        low, high = (max(low, found), high) if found[1] > 0 else (low, min(high, found))
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
        is_line = step < len(starts) or (step - len(starts) + 1) % 3
        if is_bracket and not (low[0] * (1 + accuracy / 4) < aimed < high[0] / (1 + accuracy / 4) and is_line):
            aimed = sqrt(low[0] * high[0])
        aimed = min(max(aimed, least), most)
    return high[0]
