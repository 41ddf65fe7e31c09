"""What every posterior is: named rows with intervals, named draws, and words about how it was read.

Screens, files, pictures, statements, data frames and notebooks are written once, on these (`_report`, and the folder
`report`). What only some posteriors can do is a protocol (`protocols`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError, LittleInformationWarning
from discreet._core.kinds import POSTERIORS
from discreet._core.notebook import NotebookRepr, Picture
from discreet.inference._comparisons import (
    ByKey,
    Comparison,
    PosteriorProbability,
    QuantityKey,
    Side,
    Statement,
    difference_unit,
    key_text,
    require_one_comparison,
    truths,
    unknown_key,
)
from discreet.inference._protocols import ANSWERS, HasEffectiveSize
from discreet.inference._report import ReportText, notebook, screen
from discreet.inference._row import SHOWN_LEVEL, Row, frame_of
from discreet.mathematics.distributions import Interval, Sampled
from discreet.mechanism import ModelT
from discreet.release import Release

_DRAWS = 4_000
_LITTLE = 0.2  # nats; below this, an interval mostly reflects the prior


def posterior_of(solution: type) -> Callable[..., Any]:
    """Return the posterior that shows solutions of a type."""
    for ancestor in solution.__mro__:
        if ancestor not in Posterior.registered and (
            home := POSTERIORS.get(f"{ancestor.__module__}.{ancestor.__name__}")
        ):
            import_module(home)
        if ancestor in Posterior.registered:
            return Posterior.registered[ancestor]
    raise DeclarationError(f"No posterior shows a {solution.__name__}. Nothing was read.")


def require_posterior(given: object, undone: str) -> None:
    """Refuse anything but a posterior, such as a release that has not been read yet."""
    if not isinstance(given, Posterior):
        raise DeclarationError(
            f"This takes a posterior, as discreet.infer returns for a release; got a {type(given).__name__}. {undone}."
        )


def little_information(posterior: "Posterior") -> tuple[Warning, ...]:
    """Return a warning if a posterior is mostly its prior."""
    if posterior.information is None or posterior.information >= _LITTLE:
        return ()
    words = (
        f"{posterior.releases[0].label!r} carries almost no information ({posterior.information:.2g} nats), so its "
        "posterior is mostly the prior. Use more records, fewer levels or a larger epsilon."
    )
    return (LittleInformationWarning(words),)


@dataclass(eq=False, repr=False)
class Posterior(NotebookRepr, ABC, Generic[ModelT]):
    """What a reader knows once the noise is accounted for: the interface that all posteriors share.

    `model` holds the reader's prior, `releases` are those that were read, `size` is their number of records, and
    `own_records` how many records of the reader's own the prior holds: with any, the posterior is as confidential as
    they are.
    """

    registered: ClassVar[dict[type, Callable[..., Any]]] = {}
    """Which posterior shows solutions of a type; one registers by `class NewPosterior(Posterior[NewModel], shows=...)`.

    It is made of the model, the releases, and one solution for each strength of the prior. Its type is the one that the
    model names.
    """

    model: ModelT
    releases: tuple[Release[ModelT], ...]
    size: int
    own_records = 0
    about = ""
    """'about ' where `size` is secret, and what is written there was read from what was published."""

    def __init_subclass__(cls, shows: type | None = None) -> None:
        super().__init_subclass__()
        if shows is not None:
            Posterior.registered[shows] = cls

    @abstractmethod
    def rows(self, level: float = SHOWN_LEVEL) -> tuple[Row, ...]:
        """Return one row for each quantity, with equal-tailed intervals of this probability."""

    @abstractmethod
    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Return named arrays of draws from the posterior; the first axis counts the draws, `dims` names the others."""

    @property
    @abstractmethod
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the axes of each array of draws, after the first."""

    @property
    @abstractmethod
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the entries along each axis of `dims`."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Say in words how the releases were read, to follow 'this release was': exactly, or with which error."""

    @property
    @abstractmethod
    def information(self) -> float | None:
        """Return the divergence of the posterior from the prior in nats, about, if known."""

    @property
    @abstractmethod
    def log_evidence(self) -> float | None:
        """Return log P(releases | model) if it is known. Differences are log Bayes factors."""

    @property
    @abstractmethod
    def text(self) -> ReportText:
        """Return what a report says about the question, the columns, the prior and the estimation."""

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """Return what the reader should be warned of, as `infer` does."""
        return ()

    def keys(self) -> tuple[QuantityKey, ...]:
        """Return the key of every quantity, in the order of `rows`: levels as declared, tuples of them, or names."""
        return tuple(map(_named, self.rows()))

    @property
    def mean(self) -> Mapping[Any, float]:
        """Return the posterior mean of every quantity, by its key."""
        return self._by_key(row.mean for row in self.rows())

    @property
    def sd(self) -> Mapping[Any, float]:
        """Return the posterior standard deviation of every quantity, by its key."""
        return self._by_key(row.sd for row in self.rows())

    def _by_key(self, values: Iterable[float]) -> ByKey:
        return ByKey(zip(self.keys(), values, strict=True))

    def interval(self, key: QuantityKey, level: float = SHOWN_LEVEL) -> Interval:
        """Return the equal-tailed interval of one quantity: sampling and privacy together."""
        row = self._row(key, level)
        return Interval(row.low, row.high)

    def _row(self, key: QuantityKey, level: float) -> Row:
        return self.rows(level)[self._index(key)]

    def _index(self, key: QuantityKey) -> int:
        """Return the position of a quantity; refuse an unknown key in words."""
        keys = self.keys()
        if key not in keys:
            raise unknown_key(key, keys)
        return keys.index(key)

    def draws_by_key(self, count: int, seed: int | None = None) -> dict[Any, Floats]:
        """Return joint draws of all quantities, by key."""
        keys, drawn = self.keys(), self.draws(count, seed).values()
        columns = np.concatenate([array.reshape(len(array), -1) for array in drawn], axis=1).T
        return dict(zip(keys, columns, strict=False))  # what is drawn besides, such as noise around a line, is last

    def _worth(self, count: int) -> float:
        """Return how many independent draws this number of draws is worth."""
        return min(float(count), self.effective_size) if isinstance(self, HasEffectiveSize) else float(count)

    def difference(
        self, first: Any, second: Any, level: float = SHOWN_LEVEL, draws: int = _DRAWS, seed: int = 0
    ) -> Comparison:
        """Return the first quantity minus the second: mean, interval, and the probability that it is above 0.

        It comes from joint draws, and `monte_carlo_error` is that of its mean.
        """
        rows = [self._row(key, level) for key in (first, second)]
        drawn = self.draws_by_key(draws, seed)
        minus = Sampled(np.asarray(drawn[first] - drawn[second]))
        count = len(minus.draws)
        return Comparison(
            f"{_named(rows[0])} minus {_named(rows[1])}",
            "",
            *minus.summary(level),
            difference_unit(rows[0].unit, rows[1].unit),
            minus.sd / sqrt(self._worth(count)),
            probability_above_zero=PosteriorProbability(float((minus.draws > 0).mean()), self._worth(count)),
        )

    def probability_that(
        self,
        what: Any,
        *,
        above: float | None = None,
        below: float | None = None,
        greater_than: Any = None,
        draws: int = _DRAWS,
        seed: int = 0,
    ) -> PosteriorProbability:
        """Return the probability that a quantity is above or below a number, or greater than another one.

        `what` is a key with one comparison, `probability_that(key, above=0.3)`; a statement in words, 'key > 2 *
        other'; or a function of joint draws, which takes arrays by key and returns True or False for each draw. Without
        an exact formula it is computed from draws, and has a `monte_carlo_error`.
        """
        drawn = self.draws_by_key(draws, seed)
        if callable(what):
            true = truths(what, drawn)
        else:
            larger, smaller = (_side(side, drawn) for side in self._sides(what, above, below, greater_than))
            true = np.asarray(larger > smaller, dtype=float)
        return PosteriorProbability(float(true.mean()), self._worth(len(next(iter(drawn.values())))))

    def _sides(
        self, what: Any, above: float | None, below: float | None, greater_than: Any
    ) -> tuple[Side[Any], Side[Any]]:
        """Return both sides of a comparison, the larger one first."""
        keys = self.keys()
        if above is below is greater_than is None and isinstance(what, str) and what not in keys:
            texts = {key_text(key): key for key in keys}
            example = f"quantities and numbers, such as '{key_text(keys[0])} > 0.3'"
            stated: Statement[Any] = Statement.read(what, texts.get, example)
        else:
            require_one_comparison(above, below, greater_than)
            for key in (what, *([] if greater_than is None else [greater_than])):
                self._index(key)
            stated = Statement.about(what, above, below, greater_than)
        return stated.larger, stated.smaller

    def plot(self, path: str | Path | None = None, level: float = SHOWN_LEVEL) -> Picture:
        """Return the posterior's picture, which a notebook shows; and write it to a .png, .svg or .json file."""
        charts = import_module("discreet.report.charts")  # which stands above: see `discreet._core.notebook`
        picture = Picture(charts.posterior_chart(self, level))
        if path is not None:
            charts.render(picture, path)
        return picture

    def to_frame(self, backend: str | None = None, level: float = SHOWN_LEVEL) -> Any:
        """Return the rows as a data frame: 'pandas', 'polars' or 'pyarrow', by default the first that is installed."""
        return frame_of(self.rows(level), backend)

    def to_arviz(self, draws: int = _DRAWS, seed: int = 0) -> Any:
        """Return a data tree for ArviZ: draws by chain or independent, log likelihoods, predictive outputs, the prior.

        Groups that are not known are left out, and the attribute `left_out` of the tree says why.
        """
        from discreet.inference._arviz import arviz_export, data_tree  # for readers who go on elsewhere

        return data_tree(arviz_export(self, draws, seed))

    def to_netcdf(self, path: str | Path, draws: int = _DRAWS, seed: int = 0) -> None:
        """Write that tree as a netCDF file, which ArviZ reads."""
        from discreet.inference._arviz import arviz_export, write_netcdf  # for readers who go on elsewhere

        write_netcdf(arviz_export(self, draws, seed), Path(path))

    if not TYPE_CHECKING:  # a type checker knows what each posterior has

        def __getattr__(self, name: str) -> Any:
            """Say in words what only other posteriors can answer."""
            if name in ANSWERS:
                needs = f"That is for posteriors of which this holds: {ANSWERS[name].__doc__}"
                raise AttributeError(f"{self.text.subject.capitalize()} has no `{name}`. {needs}")
            return object.__getattribute__(self, name)  # which raises again

    def __repr__(self) -> str:
        return f"<posterior of {self.text.subject} given {self.releases[0].label!r}>"

    def __str__(self) -> str:
        return screen(self)

    def _repr_html_(self) -> str:
        return notebook(self)


def _named(row: Row) -> str:
    return f"{row.quantity} | {row.given}" if row.given else row.quantity


def _side(side: Side[Any], drawn: Mapping[Any, Floats]) -> Floats | float:
    return side.factor if side.what is None else np.asarray(side.factor * drawn[side.what])
