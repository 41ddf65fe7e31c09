"""`Likelihood`: what one release, or several of the same records, say about the probabilities of a table's cells.

    value, expected = likelihood(log_probabilities)

is log P(release | p) and its gradient in log p, the expected true counts E[k | release, p]. This is enough to read any
model that gives cell probabilities: if log p depends on theta with derivative J, the gradient in theta is J' expected.
What one record can change in a release never depends on the model: records enter as counts of declared cells.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import DrawnCells, Observed, Problem, Published, SecretNumber, in_order, most_tables
from discreet.privacy import all_tables, number_of_tables
from discreet.programs._given_covariates import MOST_STEPS, GivenLikelihood
from discreet.programs._listed_likelihood import ListedLikelihood
from discreet.programs._product_likelihood import REACHES, ProductLikelihood, product_of
from discreet.programs._secret_number import product_of_secret_number
from discreet.tables import (
    Categories,
    MeasuredCells,
    cell_measurements,
    no_product,
    published_number,
    secret_number_refusal,
    table_likelihoods,
)

_SUMS = 1e-9
PRODUCT = "all true tables were summed by Fourier transforms"
PRODUCT_OF_SECRET = "all true tables were summed for every number of records"
NUMBER_UNUSED = "; the noisy number of records was not used"
LISTED = "all true tables were listed"


class OfCells(Protocol):
    """A likelihood of log probabilities, or of log conditional probabilities."""

    @property
    def size(self) -> int:
        """Return the public number of records."""

    @property
    def method(self) -> str:
        """Say in words how it is computed."""

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return the log likelihood and the expected counts, for rows."""

    def values(self, log_probabilities: Floats) -> Floats:
        """Return the log likelihood alone, for rows."""


class CellFunction:
    """A likelihood in the order of a table's cells, with a check of what it is given."""

    def __init__(self, model: Categories, inner: OfCells) -> None:
        self.model, self._inner = model, inner

    @property
    def size(self) -> int:
        """Return the public number of records."""
        return self._inner.size

    @property
    def method(self) -> str:
        """Say in words how the true tables are summed out."""
        return self._inner.method

    def _sums(self, rows: Floats) -> Floats:
        """Return the sums that must be 1."""
        return np.asarray(np.exp(rows).sum(axis=-1, keepdims=True))

    def checked(self, log_probabilities: ArrayLike) -> Floats:
        """Return rows of log probabilities, or refuse anything else in words: the value depends on their sum."""
        rows = np.asarray(log_probabilities, dtype=float)
        cells = len(self.model.cells)
        if rows.shape[-1:] != (cells,):
            raise DeclarationError(
                f"A likelihood takes log probabilities of {cells} cells along the last axis; got an array of shape "
                f"{rows.shape}. Nothing was computed."
            )
        if np.isnan(rows).any() or (rows == np.inf).any():
            raise DeclarationError(
                "Log probabilities must be finite, or -inf for impossible cells; got not-a-number or +inf. Nothing "
                "was computed."
            )
        sums = self._sums(rows)
        worst = float(sums.flat[int(np.abs(sums - 1).argmax())])
        if abs(worst - 1) > _SUMS:
            raise DeclarationError(
                f"The probabilities must add up to 1; they add up to {worst:.12g}. Without normalisation the value "
                "would be off by size times the logarithm of that sum. Nothing was computed."
            )
        return rows

    def __call__(self, log_probabilities: ArrayLike) -> tuple[Floats, Floats]:
        """Return log P(release | p) and E[true counts | release, p], its gradient in log p; rows give rows."""
        return self._inner(self.checked(log_probabilities))

    def unchecked(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return the same for samplers, which try odd points: -inf and a gradient of 0 where a number is NaN."""
        rows = np.asarray(log_probabilities, dtype=float)
        odd = (np.isnan(rows) | (rows == np.inf)).any(axis=-1)
        if not odd.any():
            return self._inner(rows)
        even = np.full(rows.shape[-1], -np.log(rows.shape[-1]))
        values, expected = self._inner(np.where(odd[..., None], even, rows))
        return np.where(odd, -np.inf, values), np.where(odd[..., None], 0.0, expected)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(release | p) alone, unchecked: -inf where a number is NaN."""
        rows = np.asarray(log_probabilities, dtype=float)
        odd = (np.isnan(rows) | (rows == np.inf)).any(axis=-1)
        found = np.full(rows.shape[:-1], -np.inf)
        found[~odd] = self._inner.values(rows[~odd])
        return found


class Likelihood(CellFunction):
    """The likelihood of one release of a table, or of several of the same records, whose kernels multiply.

    For releases of different records use `Likelihoods`; which of the two is meant is never guessed. Far from the data,
    only windows of counts around the release are included (`_product_likelihood`), which does not affect a posterior.
    """

    def __init__(self, *releases: Published) -> None:
        found = in_order(releases)
        refuse_repeated(found)
        problem = Problem.of(found)
        model = _table_of(problem)  # refused before any table is listed
        self._table = inner_of(problem)
        super().__init__(model, self._table)
        self.releases = tuple(found)

    @classmethod
    def of_problem(cls, problem: Problem, reaches: float = REACHES) -> "Likelihood":
        """Return the likelihood of a problem that was checked already, through windows of some reaches."""
        made, model = cls.__new__(cls), _table_of(problem)
        made._table, made.releases = inner_of(problem, reaches), ()
        CellFunction.__init__(made, model, made._table)
        return made

    def covariance_times(self, log_probabilities: ArrayLike, vector: ArrayLike) -> Floats:
        """Return Cov[true counts | release, p] v, the second derivative in log p times a vector; one row."""
        row, along = self.checked(log_probabilities), np.asarray(vector, dtype=float)
        if row.ndim != 1 or along.shape != row.shape:
            raise DeclarationError(f"This takes one row of log probabilities and a vector of {len(self.model.cells)}.")
        return self._table.covariance_times(row, along)

    def draw_counts(self, log_probabilities: ArrayLike, count: int, seed: int | None = None) -> Counts:
        """Draw true tables of counts given the release and p, exactly and independently."""
        row = self.checked(log_probabilities)
        if row.ndim != 1:
            raise DeclarationError("True tables are drawn for one row of log probabilities at a time.")
        return self._table.draw_counts(row, whole(count, "count", most=10**7), np.random.default_rng(seed))

    @property
    def product(self) -> ProductLikelihood | None:
        """Return the likelihood as a product over cells, or None if all tables are listed."""
        return self._table.product

    def given(self, *columns: str, prior: float | Sequence[float] = 1.0) -> "Given":
        """Return the likelihood of all other columns given some: their shares, Dirichlet(prior), are integrated out."""
        return Given(self, columns, prior)


class Given(CellFunction):
    """The likelihood of conditional probabilities: `given(log_q)` for log P(cell | its levels of some columns)."""

    def __init__(self, of: Likelihood, columns: Sequence[str], prior: float | Sequence[float]) -> None:
        inner, model = of.product, of.model
        self.columns, self.group_index = tuple(columns), group_indices(model, columns)
        shares = np.broadcast_to(np.asarray(prior, dtype=float), (len(self.group_index),)).copy()
        if not (np.isfinite(shares).all() and (shares > 0).all()):
            raise DeclarationError(
                "The prior of the groups' shares must be above 0: one number, or one for each group."
            )
        if inner is None:
            raise DeclarationError(
                f"Shares can be integrated out where the likelihood factors over cells; for this one {of.method}. "
                "Give the shares parameters of their own."
            )
        made = GivenLikelihood.of(inner, self.group_index, shares)
        if made.steps > MOST_STEPS:
            raise DeclarationError(
                f"Integrating out the shares of {len(self.group_index)} groups takes about {made.steps:.0e} products "
                f"for one value, and at most {MOST_STEPS:.0e} are allowed. Use a larger epsilon or fewer cells."
            )
        super().__init__(model, made)

    def _sums(self, rows: Floats) -> Floats:
        return np.asarray(np.exp(rows)[..., self.group_index].sum(axis=-1))


class Likelihoods:
    """Releases of different populations, by name: their log likelihoods add up.

    The model decides which parameters the populations share.
    """

    def __init__(self, releases: "Mapping[str, Published | Likelihood | Given]") -> None:
        if not releases:
            raise DeclarationError(
                "Likelihoods takes releases by the names of their populations: Likelihoods({'north': r1, 'south': r2})."
            )
        self._by_name = {
            name: each if isinstance(each, CellFunction) else Likelihood(each) for name, each in releases.items()
        }
        published = [release for each in self._by_name.values() for release in getattr(each, "releases", ())]
        refuse_repeated(published)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the populations."""
        return tuple(self._by_name)

    def __getitem__(self, name: str) -> CellFunction:
        if name not in self._by_name:
            raise DeclarationError(f"There is no population {name!r}. The populations are {', '.join(self._by_name)}.")
        return self._by_name[name]

    def __call__(self, log_probabilities: Mapping[str, ArrayLike]) -> tuple[Floats, dict[str, Floats]]:
        """Return the sum of all log likelihoods, and the expected counts of every population by its name."""
        if set(log_probabilities) != set(self._by_name):
            raise DeclarationError(
                f"Log probabilities are needed for {', '.join(self._by_name)}; got {', '.join(log_probabilities)}."
            )
        found = {name: each(log_probabilities[name]) for name, each in self._by_name.items()}
        return np.asarray(sum(value for value, _ in found.values())), {
            n: expected for n, (_, expected) in found.items()
        }


def group_indices(model: Categories, columns: Sequence[str]) -> Counts:
    """Return the cells of every combination of levels of some columns, one row for each."""
    names = [column.name for column in model.columns]
    if not columns or len(set(columns)) < len(columns) or not set(columns) < set(names):
        raise DeclarationError(
            f"The given columns must be some, but not all, of {', '.join(names)}, each named once; got "
            f"{', '.join(columns) or 'none'}."
        )
    shape = [len(column.levels) for column in model.columns]
    axes = [names.index(name) for name in columns]
    others = [axis for axis in range(len(names)) if axis not in axes]
    cells = np.arange(prod(shape)).reshape(shape).transpose([*axes, *others])
    return cells.reshape(prod(shape[axis] for axis in axes), -1)


def _table_of(problem: Problem) -> Categories:
    if (why := why_no_likelihood(problem)) is not None:
        raise DeclarationError(
            f"{problem.label!r} has no likelihood of cell probabilities: {why}. Nothing was computed."
        )
    model: Categories = problem.model
    return model


def why_no_likelihood(problem: Problem) -> str | None:
    """Return why releases are not a likelihood of cell probabilities, or None if they are. Outputs are not used."""
    if not isinstance(problem.model, Categories):
        return (
            f"it is about a {type(problem.model).__name__}, which is not a single table. Publish the cross table of "
            "its columns and read that"
        )
    if any(each.is_margin for each in problem.observed):
        return (
            "these releases are of different tables of the same records, so their likelihood does not factor over cells"
        )
    reasons = [why for each in problem.observed if (why := no_product(each)) is not None]
    if isinstance(problem.number, SecretNumber):
        return next((why for each in problem.observed if (why := secret_number_refusal(each)) is not None), None)
    if not reasons:
        return None
    cells, most = len(problem.model.cells), most_tables(len(problem.model.cells))
    if number_of_tables(problem.size, cells, most) > most:
        return f"{reasons[0]}, and there are more than {most} tables of {problem.size} records in {cells} cells to list"
    return next((why for each in problem.observed if (why := each.likelihood_refusal) is not None), None)


def inner_of(problem: Problem, reaches: float = REACHES) -> ProductLikelihood | ListedLikelihood:
    """Return the likelihood of a problem: a product over cells, or a sum over all tables."""
    cells = len(problem.model.cells)
    if isinstance(problem.number, SecretNumber):
        noisy = [MeasuredCells(each, cells, 0) for each in cell_measurements(problem)]
        method = PRODUCT_OF_SECRET + (NUMBER_UNUSED if len(noisy) < len(problem.measurements) else "")
        return product_of_secret_number(noisy, published_number(problem), method, reaches)
    size = problem.size
    if any(no_product(each) is not None for each in problem.observed):
        tables = all_tables(size, cells)
        logs = np.sum([table_likelihoods(each, tables) for each in problem.observed], axis=0)
        return ListedLikelihood.of(tables, logs, LISTED)
    drawn = [_drawn(each, size) for each in problem.observed if each.draw is not None]
    noisy = [MeasuredCells(measurement, cells, size) for measurement in problem.measurements]
    return product_of(noisy, drawn, size, PRODUCT, reaches)


def _drawn(observed: Observed, size: int) -> DrawnCells:
    """Return the kernel of a draw; where a grid's outermost cells were linearised, around the drawn shares."""
    assert observed.draw is not None
    (rows,) = observed.draw.rows
    found = DrawnCells(rows, size, None)
    return DrawnCells(rows, size, found.low.astype(float)) if found.is_linear else found


def refuse_repeated(releases: Sequence[Published]) -> None:
    """Refuse a release that was given twice."""
    for index, one in enumerate(releases):
        if any(one is two or one == two for two in releases[index + 1 :]):
            raise DeclarationError(
                f"{one.label!r} was given twice, and would count as two independent releases. Nothing was computed. "
                "Simulated releases that happen to be equal need different labels."
            )
