"""A case is what a reader has, checked once; the first engine that does not refuse it reads it.

Engines see nothing but a case: which numbers were published about which tables, with which noise. Before anything is
published, the same questions are asked of a case without outputs, so whatever decides about a charge is public by
construction. The answer is the same on every machine: work is counted from sizes, levels and noise rates, never in
time. One operation is about the addition of a product to an array, some nanoseconds; without long arrays, more.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import inf
from typing import ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.kinds import SOLVERS
from discreet.mechanisms import Mechanism, Sized, sized
from discreet.mechanisms.evidence import Draw, Evidence
from discreet.mechanisms.parts import Cost
from discreet.mechanisms.quantities import Measurement
from discreet.models.model import ModelT
from discreet.on_demand import ANNOUNCED, load_announced
from discreet.reading.published import Exactness, Published, Reading

MOST_OPERATIONS = 2e11
"""A reading with more operations is refused or left to the next engine; docs/reading-a-release.md quotes this."""

MOST_NUMBERS = 2e8
"""A reading that holds more numbers at a time (1.6 GB) is refused; docs/reading-a-release.md quotes this, too."""


@dataclass(frozen=True, eq=False)
class Observed(ABC):
    """One output as engines see it, with the mechanism's own likelihood; `output` is None before it is drawn."""

    mechanism: Mechanism
    output: Counts | None
    label: str
    is_margin: bool = field(default=False, kw_only=True)
    """Whether it is about margins of the case's tables rather than the tables themselves."""

    @classmethod
    def before(cls, mechanism: Mechanism) -> "Observed":
        """Return an output of a mechanism before it is drawn."""
        return cls(mechanism, None, type(mechanism).__name__)

    @cached_property
    def evidence(self) -> Evidence:
        """Return what the output says about the counts; what kind of evidence it is, is known before it is drawn."""
        return self.mechanism.evidence(np.zeros(0, dtype=np.int64) if self.output is None else self.output)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return what was measured; nothing if it is a choice or a draw."""
        return self.evidence if isinstance(self.evidence, tuple) else ()

    @property
    def draw(self) -> Draw | None:
        """Return the draw, if it is one."""
        return self.evidence if isinstance(self.evidence, Draw) else None

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Return what the likelihood of one row of counts costs, part by part."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return tuple(part.cost for part in parts)

    @property
    def likelihood_refusal(self) -> str | None:
        """Tell why the likelihood cannot be computed numerically, or nothing if it can."""
        return next((cost.refusal for cost in self.costs if cost.refusal is not None), None)

    def log_likelihood(self, counts: Counts) -> NDArray[np.float64]:
        """Return log P(output | counts) for rows of counts."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return np.asarray(sum(part.log_likelihood(counts) for part in parts))


@dataclass(frozen=True, eq=False)
class Case(Generic[ModelT]):
    """What is to be read: outputs about the same `size` records, under a model with the reader's prior.

    `prior` is the reader's where it is not part of the model: the law of a family's parameter. `seed` makes sampled
    readings repeatable; no secret is involved. `patience` is how many times the usual work is allowed.
    """

    model: ModelT
    size: int
    observed: tuple[Observed, ...]
    prior: object = None
    seed: int = 0
    patience: float = 1.0

    @classmethod
    def of(cls, releases: Sequence[Published], prior: object = None, patience: float = 1.0) -> "Case":
        """Check releases that are to be read together, under the declared prior or the reader's own."""
        releases = in_order(releases)
        first = releases[0]
        if not isinstance(patience, int | float) or not 0 < patience < inf:
            raise DeclarationError(f"patience must be above 0, such as 10; got {patience!r}. Nothing was read.")
        observed = tuple(
            Observed(r.mechanism, np.array(r.output, dtype=np.int64), r.label, is_margin=not are_same(r, first))
            for r in releases
        )
        if prior is None or not hasattr(first.model, "with_prior"):
            return Case(first.model, sized(first.mechanism).size, observed, prior, patience=patience)
        from discreet.reading.strengths import model_under  # it imports this module

        return Case(model_under(first, prior), sized(first.mechanism).size, observed, patience=patience)

    @classmethod
    def before(cls, mechanism: Sized) -> "Case":
        """Return the case of a reader who will have one output of a mechanism, before it is drawn."""
        return Case(mechanism.model, mechanism.size, (Observed.before(mechanism),))

    @property
    def label(self) -> str:
        """Return the name of the first release."""
        return self.observed[0].label

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return everything that was measured."""
        return tuple(measurement for each in self.observed for measurement in each.measurements)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Return everything that was drawn."""
        return tuple(each.draw for each in self.observed if each.draw is not None)

    @property
    def is_measured(self) -> bool:
        """Tell whether all outputs are measurements."""
        return all(isinstance(each.evidence, tuple) for each in self.observed)


def are_same(one: Published, two: Published) -> bool:
    """Tell whether two releases are about the same counts, whatever their programs."""
    kinds = {type(each.model) for each in (one, two) if each.model.program is None}
    return one is two or (len(kinds) < 2 and one.model.counted == two.model.counted)


def in_order(releases: Sequence[Published]) -> list[Published]:
    """Return releases, the widest table first; refuse anything that is not a release or does not belong together."""
    if not releases or not all(hasattr(r, "mechanism") and hasattr(r, "receipt") for r in releases):
        raise DeclarationError("infer takes one or more releases, made by publish, simulate or Release.from_json.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published) or len(set(map(id, releases))) < len(releases):
        raise DeclarationError("A release was given twice and would count as two independent ones. Nothing was read.")
    if len(releases) == 1:
        return list(releases)
    from discreet.reading.together import widest_first  # which few readers need

    return widest_first(releases)


@dataclass(frozen=True)
class Work:
    """What a reading costs: operations, and numbers held at a time. `of` names what they are spent on, for refusals."""

    of: str
    operations: float
    numbers: float = 0.0

    @property
    def refusal(self) -> str | None:
        """Tell why this is too much, or nothing if it is not."""
        return self.refusal_for(1.0)

    def refusal_for(self, patience: float) -> str | None:
        """Tell why this is too much for a reader who allows that many times the usual work; nothing if it is not."""
        if self.operations > (most := patience * MOST_OPERATIONS):
            return f"{self.of} takes about {self.operations:.0e} operations, and at most {most:.0e} are allowed"
        if self.numbers > (most := patience * MOST_NUMBERS):
            return f"{self.of} holds about {self.numbers:.0e} numbers, and at most {most:.0e} are allowed"
        return None


class Engine(ABC):
    """Reads cases of some models; it registers by `class NewEngine(Engine, place=10)`, and lower places come first."""

    registered: ClassVar[dict[type["Engine"], int]] = {}  # every engine with its position
    models: ClassVar[tuple[type, ...]]  # the models whose cases it reads
    exactness: ClassVar[Exactness] = Exactness.EXACT
    reads_margins: ClassVar[bool] = False  # whether it also reads releases of margins of the case's tables
    reads_programs: ClassVar[bool] = False  # whether it reads only tables that have a program
    reads_own_rows: ClassVar[bool] = False  # whether rows of one table may have different priors
    share_of_many: ClassVar[float] = 1.0  # about which part of the work of `read` a case of `solve_many` takes
    shares_rows: ClassVar[bool] = False  # whether `reader` reads rows with the same prior in several cases only once

    def __init_subclass__(cls, place: int | None = None) -> None:
        super().__init_subclass__()
        if place is not None:
            Engine.registered[cls] = place

    @abstractmethod
    def misfit(self, case: Case) -> str | None:
        """Tell why this engine does not suit a case of any size; nothing if it does."""

    @abstractmethod
    def work(self, case: Case) -> Work:
        """Return how much work it is to read a suitable case."""

    @abstractmethod
    def read(self, case: Case) -> Reading:
        """Return what a case that is not refused tells about the true counts, moments or parameters."""

    def solve_many(self, cases: Sequence[Case]) -> Sequence[Reading]:
        """Return readings of many simulated releases, for a plan; sampled ones may be rougher than `read`."""
        return [self.read(case) for case in cases]

    def reader(self) -> Callable[[Case], Reading]:
        """Return a reader of several cases in turn: the same outputs under several priors."""
        return self.read

    def log_bounds(self, cases: Sequence[Case]) -> list[float]:
        """Return upper bounds on the log evidence of the same outputs under several priors; inf where none is known."""
        return [inf] * len(cases)

    def refusal(self, case: Case) -> str | None:
        """Tell why this engine does not read a case, or nothing if it does. Outputs are not used."""
        return self.misfit(case) or self.work(case).refusal_for(case.patience)


def engine_for(case: Case) -> Engine | None:
    """Return the first engine that does not refuse a case, or nothing if all do."""
    return next((engine for engine in engines_of(case) if engine.refusal(case) is None), None)


def refusal_of(case: Case) -> str | None:
    """Tell why no engine reads a case, or nothing if one does. Outputs are not used.

    The reason is that of the engine that reads the most: the last that would fit but for the work, else the last that
    does not only approximate.
    """
    misfits, too_much = [], []
    for engine in engines_of(case):
        if (misfit := engine.misfit(case)) is not None:
            misfits.append((engine.exactness is Exactness.APPROXIMATE, misfit))
        elif (work := engine.work(case).refusal_for(case.patience)) is not None:
            too_much.append(work)
        else:
            return None
    if not misfits and not too_much:
        return f"no reading is known for a {type(case.model).__name__}"
    return too_much[-1] if too_much else sorted(misfits, key=lambda each: not each[0])[-1][1]


def why_unreadable(mechanism: Mechanism) -> str | None:
    """Tell why a release by this mechanism could not be read, or nothing if it can; public facts alone decide."""
    if not isinstance(mechanism, Sized):
        return f"{type(mechanism).__name__} keeps the number of records secret, and readings need a public one"
    return refusal_of(Case.before(mechanism))


def read(case: Case) -> Reading:
    """Return what a case tells, by the first engine that does not refuse it."""
    if (engine := engine_for(case)) is None:
        from discreet.reading.patience import not_read  # it imports this module

        raise not_read(case)
    return engine.read(case)


def engines_of(case: Case) -> Iterator[Engine]:
    """Yield the engines that read cases of this model, in the order of the places that they state.

    Each is loaded only when those before it have been asked.
    """
    has_margins, has_rows = any(each.is_margin for each in case.observed), case.model.has_own_rows
    involved = [type(case.model), *(type(each.mechanism) for each in case.observed)]
    is_ours = all(each.__module__.startswith("discreet.") for each in involved)
    for kind in _engines_in_order(type(case.model), is_ours):
        is_able = (kind.reads_margins or not has_margins) and (kind.reads_own_rows or not has_rows)
        if is_able and kind.reads_programs == (case.model.program is not None):
            yield kind()


def _engines_in_order(model: type, is_ours: bool) -> Iterator[type[Engine]]:
    """Yield the engines of a model: the library's own, and those of the running program and of other distributions.

    Engines that were loaded because a distribution announces them read its own models and mechanisms only: else the
    choice would depend on what happens to be loaded, and could change between a charge and a reading.
    """
    names = {f"{kind.__module__}.{kind.__name__}" for kind in model.__mro__}
    built_in = [(place, engine) for place, engine, models in SOLVERS if names & set(models)]
    if not built_in:
        load_announced()
    listed = {engine for _, engine, _ in SOLVERS}
    places = {f"{kind.__module__}.{kind.__name__}": (place, kind) for kind, place in Engine.registered.items()}
    others = [
        (place, name)
        for name, (place, kind) in places.items()
        if name not in listed and issubclass(model, kind.models) and not (is_ours and kind.__module__ in ANNOUNCED)
    ]
    for _, name in sorted([*built_in, *others]):
        home, _, engine = name.rpartition(".")
        yield places[name][1] if name in places else getattr(import_module(home), engine)
