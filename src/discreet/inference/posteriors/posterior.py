"""What every posterior is: named rows with intervals, named draws, and words about how it was read.

Screens, files, pictures, statements, data frames and notebooks are written once, on these (`report`, `discreet.show`).
What only some posteriors can do is a protocol (`protocols`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic

from discreet.arrays import Floats
from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.inference.posteriors.arviz_export import arviz_export, data_tree, write_netcdf
from discreet.inference.posteriors.report import ReportText, notebook, screen
from discreet.inference.posteriors.row import SHOWN_LEVEL, Row, frame_of
from discreet.kinds import POSTERIORS
from discreet.models.model import ModelT
from discreet.notebook import NotebookRepr
from discreet.releases.release import Release

_DRAWS = 4_000
_LITTLE = 0.2  # nats; below this, an interval mostly reflects the prior


def posterior_of(reading: type) -> Callable[..., Any]:
    """Return the posterior that shows readings of a kind."""
    for kind in reading.__mro__:
        if kind not in Posterior.registered and (home := POSTERIORS.get(f"{kind.__module__}.{kind.__name__}")):
            import_module(home)
        if kind in Posterior.registered:
            return Posterior.registered[kind]
    raise DeclarationError(f"No posterior shows a {reading.__name__}. Nothing was read.")


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
    """Which posterior shows readings of a kind; one registers by `class NewPosterior(Posterior[NewModel], shows=...)`.

    It is made of the model, the releases, and one reading for each strength of the prior. Its type is the one that the
    model names.
    """

    model: ModelT
    releases: tuple[Release[ModelT], ...]
    size: int
    own_records = 0

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
        """Return about how many nats the releases tell: the divergence of the posterior from the prior, if known."""

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

    def to_frame(self, backend: str | None = None, level: float = SHOWN_LEVEL) -> Any:
        """Return the rows as a data frame: 'pandas', 'polars' or 'pyarrow', by default the first that is installed."""
        return frame_of(self.rows(level), backend)

    def to_arviz(self, draws: int = _DRAWS, seed: int = 0) -> Any:
        """Return a data tree for ArviZ: draws by chain or independent, log likelihoods, predictive outputs, the prior.

        Groups that are not known are left out, and the attribute `left_out` of the tree says why.
        """
        return data_tree(arviz_export(self, draws, seed))

    def to_netcdf(self, path: str | Path, draws: int = _DRAWS, seed: int = 0) -> None:
        """Write that tree as a netCDF file, which ArviZ reads."""
        write_netcdf(arviz_export(self, draws, seed), Path(path))

    def __repr__(self) -> str:
        return f"<posterior of {self.text.subject} given {self.releases[0].label!r}>"

    def __str__(self) -> str:
        return screen(self)

    def _repr_html_(self) -> str:
        return notebook(self)
