"""The questions of a study: from what is declared to a model and a mechanism.

Every model has keys of its own, and a key of another model is refused. A network or a regression whose mechanism is not
declared gets the one that suits it, chosen by declarations alone, and the reason is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.guarantees import Unit
from discreet.mechanisms import (
    BallDraw,
    FamilyGaussians,
    FamilyHistograms,
    JointHistograms,
    Mechanism,
    NetworkCounts,
    default_mechanism,
)
from discreet.mechanisms.box_moments import NoisyMoments
from discreet.models import Categories, EquivalentSize, LinearRegression, Network
from discreet.models.moments import Bounds
from discreet.reading import Exactness, exactness_of, why_not_exact, why_unreadable
from discreet.records.columns import Column
from discreet.records.nearest import meant
from discreet.releases.document import MECHANISMS
from discreet.releases.release import NO_READING
from discreet.study.file import DeclaredQuestion, Prior
from discreet.study.regressions import Numbers, default_moments, regression_model

_KEYS = {
    "categories": ("columns",),
    "naive-bayes": ("target", "features"),
    "network": ("edges", "bif"),
    "regression": ("formula", "noise"),
}
_OPTIONAL = ("edges", "bif", "noise")
_EQUIVALENT_SIZE = "equivalent_size"
_NO_PRIOR = "none"


@dataclass(frozen=True)
class Question:
    """One question of a study: what to publish, by which mechanism, under which label.

    `reason` says why the mechanism was chosen, if the study did not declare one. `reading` is 'none' if it was declared
    that nobody will read a posterior from the release.
    """

    name: str
    label: str
    mechanism: Mechanism
    unit: Unit
    reason: str = ""
    reading: str | None = None

    @property
    def model(self) -> Any:
        """Return what the question asks about: `Categories`, a `Network` or a `LinearRegression`."""
        return self.mechanism.model

    @property
    def families(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table that is counted; a regression counts none, it sums."""
        if isinstance(self.model, LinearRegression):
            return ()
        if not isinstance(self.model, Network):
            return (tuple(self.model.columns),)
        columns = {column.name: column for column in self.model.variables}
        return tuple(tuple(columns[name] for name in family) for family in self.model.maximal_families)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return every column of categories."""
        if isinstance(self.model, LinearRegression):
            return tuple(feature for feature in self.model.features if isinstance(feature, Column))
        return tuple(dict.fromkeys(column for family in self.families for column in family))

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """Return the bounds of every column of numbers."""
        return self.model.bounds if isinstance(self.model, LinearRegression) else ()

    @property
    def refusal(self) -> str | None:
        """Tell why nobody could read the release, or nothing if it can be read or if that was declared."""
        return None if self.reading == NO_READING else self._unreadable

    @property
    def no_posterior(self) -> str | None:
        """Tell why there will be no posterior, if that was declared; nothing if it can be read nevertheless."""
        return self._unreadable if self.reading == NO_READING else None

    @cached_property
    def _unreadable(self) -> str | None:
        return why_unreadable(self.mechanism)


def read_question(
    name: str,
    declared: DeclaredQuestion,
    columns: Mapping[str, Column],
    numbers: Mapping[str, Numbers],
    size: int,
    unit: Unit,
    folder: Path,
) -> Question:
    """Return the question that is declared; a BIF file is looked for from the study's folder."""
    _check_keys(name, declared)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise DeclarationError(f"The question {name!r} needs a plain name: letters, digits, '-', '_' and '.'.")
    try:
        model = _regression(declared, columns, numbers) or _model(name, declared, columns, folder)
        mechanism, reason = _mechanism(name, declared, model, size)
    except DeclarationError as problem:
        place = f"questions.{name}"
        words = str(problem)
        raise DeclarationError(words if words.startswith(place) else f"{place}: {words}") from None
    if declared.reading not in (None, NO_READING):
        raise DeclarationError(
            f"questions.{name}.reading is {declared.reading!r}; it may be {NO_READING!r}, for a release that nobody "
            "will read a posterior from, or be left out."
        )
    return Question(name, declared.label or name, mechanism, unit, reason, declared.reading)


def _check_keys(name: str, declared: DeclaredQuestion) -> None:
    """Refuse a model that is not known, keys of other models, and a model without its keys."""
    if declared.model not in _KEYS:
        known = ", ".join(map(repr, _KEYS))
        raise DeclarationError(f"questions.{name}.model is {declared.model!r}; known models are {known}.")
    own = _KEYS[declared.model]
    every = [key for keys in _KEYS.values() for key in keys]
    if strange := [key for key in every if key not in own and getattr(declared, key) is not None]:
        raise DeclarationError(
            f"questions.{name}.{strange[0]} does not belong to the model {declared.model!r}, which takes "
            f"{' or '.join(own) if declared.model == 'network' else ' and '.join(own)}."
        )
    given = [key for key in own if getattr(declared, key) is not None]
    if declared.model == "network" and len(given) != 1:
        raise DeclarationError(
            f"questions.{name}: a network takes either edges, such as ['smoker -> cancer'], or bif, the name of a file."
        )
    if missing := [key for key in own if key not in given and key not in _OPTIONAL]:
        raise DeclarationError(f"questions.{name}: the model {declared.model!r} needs {' and '.join(missing)}.")


def _regression(
    declared: DeclaredQuestion, columns: Mapping[str, Column], numbers: Mapping[str, Numbers]
) -> LinearRegression | None:
    if declared.formula is None:
        return None
    if isinstance(declared.prior, list | dict):
        raise DeclarationError("The prior of a regression is one number, the precision of its coefficients.")
    precision = None if isinstance(declared.prior, str) else declared.prior
    return regression_model(declared.formula, columns, numbers, precision, declared.noise)


def _model(name: str, declared: DeclaredQuestion, columns: Mapping[str, Column], folder: Path) -> Categories | Network:
    if declared.columns is not None:
        known = _declared(name, "columns", declared.columns, columns)
        prior: Any = None if declared.prior == _NO_PRIOR else declared.prior
        return Categories(list(known.values()), prior=prior)
    if declared.target is not None and declared.features is not None:
        levels = _declared(name, "target", [declared.target], columns)
        levels |= _declared(name, "features", declared.features, columns)
        return Network.naive_bayes(declared.target, declared.features, levels, _prior(declared.prior, levels))
    if declared.edges is not None:
        names = [part.strip() for edge in declared.edges for part in edge.split("->") if part.strip()]
        levels = _declared(name, "edges", names, columns)
        return Network.from_edges(*declared.edges, levels=levels, prior=_prior(declared.prior, levels))
    graph = Network.from_bif(folder / str(declared.bif))
    levels = {column.name: columns.get(column.name, column) for column in graph.variables}
    return Network(list(levels.values()), graph.parents, _prior(declared.prior, levels))


def _declared(name: str, key: str, wanted: list[str], columns: Mapping[str, Column]) -> dict[str, Column]:
    """Return the declared columns of these names."""
    missing = [column for column in wanted if column not in columns]
    if missing or not wanted:
        raise DeclarationError(
            f"questions.{name}.{key} names {missing or 'nothing'}; declare it as [columns.NAME], with levels or bands."
            f"{meant(missing[0], columns) if missing else ''}"
        )
    return {column: columns[column] for column in wanted}


def _prior(prior: Prior, levels: Mapping[str, Column]) -> Any:
    """Return the prior of a network: a number, a table by variable, an equivalent size, or none."""
    if prior == _NO_PRIOR:
        return None
    if isinstance(prior, list):
        raise DeclarationError("The prior of a network is one number, a table by variable, or { equivalent_size = 1 }.")
    if not isinstance(prior, dict) or set(prior) != {_EQUIVALENT_SIZE} or _EQUIVALENT_SIZE in levels:
        return prior
    records: Any = prior[_EQUIVALENT_SIZE]
    return EquivalentSize(records)


def _mechanism(
    name: str, declared: DeclaredQuestion, model: Categories | Network | LinearRegression, size: int
) -> tuple[Mechanism, str]:
    if declared.mechanism is None and isinstance(model, Network):
        return _readable_default(model, size, declared.epsilon, declared.delta or 0)
    if declared.mechanism is None and isinstance(model, LinearRegression):
        return default_moments(model, size, declared.epsilon, declared.delta or 0)
    written = declared.mechanism or "GeometricHistogram"
    kinds = {kind: made for kind, made in MECHANISMS.items() if _kind_of(made) is type(model)}
    if written not in kinds:
        raise DeclarationError(
            f"questions.{name}.mechanism is {written!r}; for the model {declared.model!r} it must be one of "
            f"{', '.join(sorted(kinds))}."
        )
    takes_delta = "delta" in kinds[written].__dataclass_fields__
    if takes_delta != (declared.delta is not None):
        wanted = "needs a delta, such as '1e-7'" if takes_delta else "takes no delta: its guarantee is pure"
        raise DeclarationError(f"questions.{name}: {written} {wanted}.")
    extra = {"delta": declared.delta} if takes_delta else {}
    mechanism: Mechanism = kinds[written](model, size=size, epsilon=declared.epsilon, **extra)
    return mechanism, ""


def _kind_of(mechanism: type[Any]) -> type[Any]:
    """Return the model whose questions may name a mechanism."""
    if issubclass(mechanism, NetworkCounts):
        return Network
    if issubclass(mechanism, NoisyMoments):
        return LinearRegression
    return BallDraw if mechanism is BallDraw else Categories  # no reader could read a single draw of coefficients


def _readable_default(network: Network, size: int, epsilon: Exact, delta: Exact) -> tuple[Mechanism, str]:
    """Return the default mechanism and why; where one shared radius is read less well, the best that is read better."""
    mechanism, why = default_mechanism(network, size, epsilon, delta)
    others: list[NetworkCounts] = [FamilyHistograms(network, size, epsilon)]
    others += [FamilyGaussians(network, size, epsilon, delta)] if delta else []
    chosen = min(others, key=lambda other: other.count_sd())
    if (
        not isinstance(mechanism, JointHistograms)
        or exactness_of(mechanism) is exactness_of(chosen) is not Exactness.APPROXIMATE
    ):
        return mechanism, why
    refusal = why_not_exact(mechanism)
    return chosen, f"the usual choice, {type(mechanism).__name__}, could not be read here exactly: {refusal}"
