"""The questions of a study: from what is declared to a model and a mechanism.

Every model has keys of its own, and a key of another model is refused. A question whose mechanism is not declared gets
the one that suits its model, chosen by declarations alone, and the reason is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.errors import DeclarationError
from discreet.guarantees import Evidence, Unit
from discreet.mechanisms import Mechanism, with_fields
from discreet.models import Categories, EquivalentSize, LinearRegression, Network
from discreet.models.model import Model
from discreet.models.moments import Bounds
from discreet.planning.suggest import suggest
from discreet.reading import why_unreadable
from discreet.records.columns import Column
from discreet.records.nearest import meant
from discreet.releases.release import MODELS, NO_READING
from discreet.study.file import QUESTION_KEYS, DeclaredQuestion, Prior
from discreet.study.keys import Maker
from discreet.study.mechanisms import named_mechanism
from discreet.study.regressions import Numbers, regression_model

_KEYS = {
    "categories": ("columns",),
    "naive-bayes": ("target", "features"),
    "network": ("edges", "bif"),
    "regression": ("formula", "noise", "norm_bound"),
}
_OPTIONAL = ("edges", "bif", "noise", "norm_bound")
_FAMILY_KEYS = ("column",)
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
        """Return what the question asks about: `Categories`, a `Network`, a `LinearRegression` or a family."""
        return self.mechanism.model

    @property
    def families(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of each table that is counted; a regression counts none, it sums."""
        tables: tuple[tuple[Column, ...], ...] = self.model.tables
        return tables

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return every column of categories."""
        columns: tuple[Column, ...] = self.model.declared_columns
        return columns

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """Return the bounds of every column of numbers."""
        bounds: tuple[Bounds, ...] = self.model.declared_bounds
        return bounds

    @property
    def refusal(self) -> str | None:
        """Tell why nobody could read the release, or nothing if it can be read or if that was declared."""
        return None if self.reading == NO_READING else self._unreadable

    @cached_property
    def only_claimed(self) -> str | None:
        """Tell why a study may not publish the question: its guarantee is a claim; nothing if it holds."""
        guarantee = self.mechanism.guarantee
        if guarantee.evidence is not Evidence.CLAIMED:
            return None
        return (
            f"the guarantee of {type(self.mechanism).__name__} is only claimed, neither proved nor computed "
            f"({guarantee.reason}). It is there to be examined; name another mechanism"
        )

    @property
    def no_posterior(self) -> str | None:
        """Tell why there will be no posterior, if that was declared; nothing if it can be read nevertheless."""
        return self._unreadable if self.reading == NO_READING else None

    @cached_property
    def _unreadable(self) -> str | None:
        return why_unreadable(self.mechanism)


def with_ones(question: Question) -> Question:
    """Return a question as version 0.1 asked it: there a prior that was not declared was 1 everywhere.

    What was paid for then is given again, not charged anew.
    """
    if question.model.is_prior_declared or not isinstance(question.model, Categories | Network):
        return question
    return replace(question, mechanism=with_fields(question.mechanism, model=question.model.with_prior(1)))


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
        family, further = _family(declared)
        model = family or _regression(declared, columns, numbers) or _model(name, declared, columns, folder)
        mechanism, reason = _mechanism(declared, model, size, further)
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
    known = _KEYS | dict.fromkeys(_families(), _FAMILY_KEYS)
    if declared.model not in known:
        raise DeclarationError(
            f"questions.{name}.model is {declared.model!r}; known models are {', '.join(map(repr, known))}."
            f"{meant(declared.model, known)}"
        )
    own = known[declared.model]
    every = [key for keys in known.values() for key in keys]
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


def _families() -> dict[str, type[Model]]:
    """Return the registered families with one parameter, by the names that they have in a study: 'normal-mean'."""
    found = {kind: made for kind, made in MODELS.items() if issubclass(made, Model) and made.is_of_one_column}
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower(): made for kind, made in sorted(found.items())}


def _family(declared: DeclaredQuestion) -> tuple[Model | None, dict[str, object]]:
    """Return the family that a question is about, if any, and the further keys that are left for its mechanism."""
    kind = _families().get(declared.model)
    if kind is None:
        return None, declared.further
    maker = Maker(kind.__name__, kind, kind, {"name": declared.column})
    own = {key: value for key, value in declared.further.items() if key in maker.keys}
    if declared.prior is not None:
        raise DeclarationError(f"The prior of a {maker.name} is part of its own keys: {', '.join(maker.keys)}.")
    return maker.made(own), {key: value for key, value in declared.further.items() if key not in own}


def _regression(
    declared: DeclaredQuestion, columns: Mapping[str, Column], numbers: Mapping[str, Numbers]
) -> LinearRegression | None:
    if declared.formula is None:
        return None
    if isinstance(declared.prior, list | dict):
        raise DeclarationError("The prior of a regression is one number, the precision of its coefficients.")
    precision = None if isinstance(declared.prior, str) else 1 if declared.prior is None else declared.prior
    return regression_model(declared.formula, columns, numbers, precision, declared.noise, declared.norm_bound)


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


def _prior(prior: Prior | None, levels: Mapping[str, Column]) -> Any:
    """Return the prior of a network: a number, a table by variable, an equivalent size, or none."""
    if prior is None or prior == _NO_PRIOR:
        return None
    if isinstance(prior, list):
        raise DeclarationError("The prior of a network is one number, a table by variable, or { equivalent_size = 1 }.")
    if not isinstance(prior, dict) or set(prior) != {_EQUIVALENT_SIZE} or _EQUIVALENT_SIZE in levels:
        return prior
    records: Any = prior[_EQUIVALENT_SIZE]
    return EquivalentSize(records)


def _mechanism(
    declared: DeclaredQuestion, model: Model, size: int, further: dict[str, object]
) -> tuple[Mechanism, str]:
    """Return the mechanism that is named, or the one that is suggested, with the reason."""
    delta: dict[str, object] = {} if declared.delta is None else {"delta": declared.delta}
    if (written := declared.mechanism) is not None:
        named = named_mechanism(written, declared.model, model, size, declared.epsilon, further | delta)
        return named, _chosen_prior(named, model, written, declared.prior)
    if further:
        key = next(iter(further))
        raise DeclarationError(
            f"{key!r} is no key of a question about {declared.model!r} that names no mechanism."
            f"{meant(key, QUESTION_KEYS)} The keys of a mechanism go with its name: mechanism = '...'."
        )
    found = suggest(model, size, declared.epsilon, declared.delta or 0)
    return found.mechanism, found.reason


def _chosen_prior(mechanism: Mechanism, model: Model, written: str, declared: Prior | None) -> str:
    """Say which prior a constructor chose; refuse a declared one that it would replace."""
    if mechanism.model == model:
        return ""
    if declared is not None:
        raise DeclarationError(f"{written} chooses the prior itself: leave prior out.")
    return "it chooses the weakest prior that its guarantee allows"
