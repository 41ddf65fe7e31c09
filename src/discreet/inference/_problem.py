"""Problems of inference, checked once, and solvers: the first that does not refuse a problem solves it.

Solvers see nothing but a problem: which numbers were published about which tables, with which noise. Before anything is
published, the same questions are asked of a problem without outputs, so whatever decides about a charge is public by
construction. The answer is the same on every machine: work is counted from sizes, levels and noise rates, never in
time. One operation is one vectorised multiply-add, a few nanoseconds. A refusal of too much work names the limit that
would admit it.

Releases that are read together: of the same counts, or of a table or graph and margins of its tables.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from importlib import import_module
from itertools import chain
from math import ceil, floor, inf, log10
from typing import ClassVar, Generic, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet._core.on_demand import ANNOUNCED, load_announced
from discreet.inference._number_prior import SecretNumber
from discreet.inference._solvers import SOLVERS
from discreet.mechanism import (
    Cost,
    Draw,
    Evidence,
    HasOwnRows,
    HasProgram,
    Measurement,
    Mechanism,
    Model,
    ModelT,
    Sized,
    TakesPrior,
    tables_of,
)


class Exactness(Enum):
    """How well a problem is read, the best way first."""

    EXACT = "exact"
    SAMPLED = "sampled"
    APPROXIMATE = "approximate"


class Published(Protocol):
    """What a problem needs to know of a release."""

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism that drew it."""

    @property
    def model(self) -> Model:
        """Return the model under which it is read."""

    @property
    def output(self) -> tuple[int, ...]:
        """Return what was drawn."""

    @property
    def label(self) -> str:
        """Return its name."""

    @property
    def receipt(self) -> object:
        """Return the receipt of its charge, None for a simulation."""

    @property
    def simulated(self) -> bool:
        """Return whether it is a simulation."""


class Solution(Protocol):
    """The result of a solver, from which a posterior is made."""

    @property
    def model(self) -> Model:
        """Return the model with the reader's prior."""

    @property
    def method(self) -> str:
        """Say in words how it was read."""

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior), NaN where it is not known."""


def widest_first(releases: Sequence[Published]) -> list[Published]:
    """Return releases of the same records, one whose tables hold those of all others first; refuse any others."""
    for index, release in enumerate(releases):
        if all(are_same(other, release) or _are_margins(other.model, release.model) for other in releases):
            found = [release, *releases[:index], *releases[index + 1 :]]
            break
    else:
        found = list(releases)
    first = found[0]
    for other in releases:
        facts = [(number_of_records(r.mechanism), r.simulated) for r in (first, other)]
        if facts[0] != facts[1] or not (are_same(other, first) or _are_margins(other.model, first.model)):
            raise DeclarationError(
                f"{first.label!r} and {other.label!r} do not publish the same counts, moments of the same records, or "
                "a table and its margins: their columns, levels, graphs or sizes differ, or only one of them is "
                "simulated. Nothing was read. If they are about different people, combine them with a model: "
                "infer(populations={'north': a, 'south': b}, model=...); see docs/programs.md."
            )
    return found


def _are_margins(model: Model, around: Model) -> bool:
    """Return whether every table of a model is a margin of a table of another one."""
    wide, own = [set(table) for table in tables_of(around)], tables_of(model)
    return bool(own) and all(any(set(table) <= each for each in wide) for table in own)


MOST_OPERATIONS = 2e11
"""Inference with more operations is refused or left to the next solver; docs/reading-a-release.md quotes this."""

MOST_NUMBERS = 2e8
"""Inference that holds more numbers at a time (1.6 GB) is refused; docs/reading-a-release.md quotes this, too."""


@dataclass(frozen=True, eq=False)
class Observed(ABC):
    """One output as solvers see it, with the mechanism's own likelihood; `output` is None before it is drawn."""

    mechanism: Mechanism
    output: Counts | None
    label: str
    is_margin: bool = field(default=False, kw_only=True)
    """Whether it is about margins of the problem's tables rather than the tables themselves."""

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
        """Return what was measured; None if it is a choice or a draw."""
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
        """Return why the likelihood cannot be computed numerically, or None if it can."""
        return next((cost.refusal for cost in self.costs if cost.refusal is not None), None)

    def log_likelihood(self, counts: Counts) -> NDArray[np.float64]:
        """Return log P(output | counts) for rows of counts."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return np.asarray(sum(part.log_likelihood(counts) for part in parts))


def number_of_records(mechanism: Mechanism) -> int | SecretNumber:
    """Return the public number of records behind a mechanism, or that it is secret."""
    return mechanism.size if isinstance(mechanism, Sized) else SecretNumber()


def _number_behind(release: Published) -> int | SecretNumber:
    """Return the public number of records behind a release, or what its reader knows of a secret one."""
    known: SecretNumber | None = getattr(release, "reader_number", None)
    return number_of_records(release.mechanism) if known is None else known


class Feature(Enum):
    """What a problem may have that a solver must be made for."""

    SECRET_NUMBER = "a secret number of records"
    NUMBER_PRIOR = "a reader's prior of that number"
    MARGINS = "releases of margins of the problem's tables"
    OWN_ROWS = "rows of one table with different priors"
    PROGRAM = "a program that says how the cells of a table come about"


@dataclass(frozen=True, eq=False)
class Problem(Generic[ModelT]):
    """What is to be read: outputs about the same records, under a model with the reader's prior.

    `number` is how many records there are, or that this is secret.
    `prior` is the reader's where it is not part of the model: the distribution of a family's parameter. `seed` makes
    sampled solutions repeatable; no secret is involved. `work_limit` is how many times the usual work is allowed.
    """

    model: ModelT
    number: int | SecretNumber
    observed: tuple[Observed, ...]
    prior: object = None
    seed: int = 0
    work_limit: float = 1.0

    @classmethod
    def of(cls, releases: Sequence[Published], prior: object = None, work_limit: float = 1.0) -> "Problem":
        """Check releases that are to be read together, under the declared prior or the reader's own."""
        releases = in_order(releases)
        first = releases[0]
        if not isinstance(work_limit, int | float) or not 0 < work_limit < inf:
            raise DeclarationError(f"patience must be above 0, such as 10; got {work_limit!r}. Nothing was read.")
        observed = tuple(
            Observed(r.mechanism, np.array(r.output, dtype=np.int64), r.label, is_margin=not are_same(r, first))
            for r in releases
        )
        if prior is None or not isinstance(first.model, TakesPrior):
            return Problem(first.model, _number_behind(first), observed, prior, work_limit=work_limit)
        from discreet.inference._prior_strengths import model_under  # it imports this module

        return Problem(model_under(first, prior), _number_behind(first), observed, work_limit=work_limit)

    @classmethod
    def before(cls, mechanism: Mechanism) -> "Problem":
        """Return the problem of a reader who will have one output of a mechanism, before it is drawn."""
        return Problem(mechanism.model, number_of_records(mechanism), (Observed.before(mechanism),))

    @property
    def size(self) -> int:
        """Return the number of records, which must be public."""
        if isinstance(self.number, SecretNumber):
            raise DeclarationError(
                f"{self.label!r} keeps the number of records secret, and this solver needs a public one. Nothing was "
                "read."
            )
        return self.number

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
    def features(self) -> frozenset[Feature]:
        """Return what only some solvers handle."""
        found = {
            Feature.SECRET_NUMBER: isinstance(self.number, SecretNumber),
            Feature.NUMBER_PRIOR: isinstance(self.number, SecretNumber) and not self.number.is_open,
            Feature.MARGINS: any(each.is_margin for each in self.observed),
            Feature.OWN_ROWS: isinstance(self.model, HasOwnRows),
            Feature.PROGRAM: isinstance(self.model, HasProgram),
        }
        return frozenset(feature for feature, is_there in found.items() if is_there)

    @property
    def is_measured(self) -> bool:
        """Return whether all outputs are measurements."""
        return all(isinstance(each.evidence, tuple) for each in self.observed)


def are_same(one: Published, two: Published) -> bool:
    """Return whether two releases are about the same counts, whatever their programs."""
    models = {type(each.model) for each in (one, two) if not isinstance(each.model, HasProgram)}
    return one is two or (len(models) < 2 and one.model.counted == two.model.counted)


def in_order(releases: Sequence[Published]) -> list[Published]:
    """Return releases, the widest table first; refuse anything that is not a release or does not belong together."""
    if not releases or not all(hasattr(r, "mechanism") and hasattr(r, "receipt") for r in releases):
        raise DeclarationError("infer takes one or more releases, made by publish, simulate or Release.from_json.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published) or len(set(map(id, releases))) < len(releases):
        raise DeclarationError("A release was given twice and would count as two independent ones. Nothing was read.")
    about = list(dict.fromkeys(getattr(release, "where", None) for release in releases))
    if len(about) > 1:
        words = " and one of ".join(
            "all records" if each is None else f"the records where {each}" for each in about[:2]
        )
        raise DeclarationError(
            f"These releases are about different records, one of {words}, so they are not read together. Nothing was "
            "read. Read each by itself."
        )
    derived: dict[str, str] = {}
    for release in releases:
        own = getattr(release, "derived", None)
        for name, text in ({} if own is None else own.document["expressions"]).items():
            if derived.setdefault(name, text) != text:
                raise DeclarationError(
                    f"These releases derive {name!r} differently, one as {derived[name]} and one as {text}, so they "
                    "are not read together. Nothing was read. Read each by itself."
                )
    if len(releases) == 1:
        return list(releases)

    return widest_first(releases)


@dataclass(frozen=True)
class CostEstimate:
    """What inference costs: operations, and numbers held at a time. `of` names what they are spent on, for refusals.

    `share_of_many` is the part of the operations that a problem takes among the many of a plan (`Solver.solve_many`),
    `many_read` says in words how these are read. `usual_share` is the part that usually suffices.
    """

    of: str
    operations: float
    numbers: float = 0.0
    share_of_many: float = 1.0
    many_read: str = "read as a release will be"
    usual_share: float = 1.0

    @property
    def rejection(self) -> str | None:
        """Return why this is too much, or None if it is not."""
        return self.rejection_for(1.0)

    def rejection_for(self, work_limit: float) -> str | None:
        """Return why this is too much for a reader who allows that many times the usual work; None if it is not."""
        if self.operations > (most := work_limit * MOST_OPERATIONS):
            return f"{self.of} takes about {self.operations:.0e} operations, and at most {most:.0e} are allowed"
        if self.numbers > (most := work_limit * MOST_NUMBERS):
            return f"{self.of} holds about {self.numbers:.0e} numbers, and at most {most:.0e} are allowed"
        return None


class Solver(ABC):
    """Solves problems of some models. SOLVERS lists those of the library, in the order in which they are asked.

    A class of the running program or of another distribution registers by being defined, and is asked before the
    library's own solvers that read no better (`exactness`). What a problem has besides tables of its own counts is read
    only by solvers that say that they handle it.
    """

    registered: ClassVar[dict[str, type["Solver"]]] = {}  # every solver that is loaded, by module and name
    models: ClassVar[tuple[type, ...]]  # the models whose problems it solves
    exactness: ClassVar[Exactness] = Exactness.EXACT
    runs_chains: ClassVar[bool] = False  # as readers are told beforehand
    handles: ClassVar[frozenset[Feature]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Solver.registered[f"{cls.__module__}.{cls.__qualname__}"] = cls

    @abstractmethod
    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return why this solver does not suit a problem of any size; None if it does. Outputs are not used."""

    @abstractmethod
    def cost(self, problem: Problem) -> CostEstimate:
        """Return how much work it is to solve a suitable problem. Outputs are not used."""

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """Return the posterior of the true counts, moments or parameters, for a problem that is not rejected."""

    def solve_many(self, problems: Sequence[Problem]) -> Sequence[Solution]:
        """Return solutions of many simulated releases, for a plan; sampled ones may be rougher than `solve`."""
        return [self.solve(problem) for problem in problems]

    @final
    def rejection(self, problem: Problem) -> str | None:
        """Return why this solver does not solve a problem: unsupported, or too much work; None if it does."""
        return self.unsupported_reason(problem) or self.cost(problem).rejection_for(problem.work_limit)


@runtime_checkable
class SolvesInTurn(Protocol):
    """A solver of the same outputs under several priors, some of whose work is done once for all of them."""

    shares_rows: ClassVar[bool]  # whether rows with the same prior in several problems are read only once

    def in_turn(self) -> Callable[[Problem], Solution]:
        """Return what solves problems that differ in their prior only."""


def in_turn(solver: Solver) -> Callable[[Problem], Solution]:
    """Return what solves the same outputs under several priors, one after the other."""
    return solver.in_turn() if isinstance(solver, SolvesInTurn) else solver.solve


@runtime_checkable
class BoundsEvidence(Protocol):
    """A solver that knows beforehand which priors have no share of the evidence."""

    def log_bounds(self, problems: Sequence[Problem]) -> list[float]:
        """Return upper bounds on the log evidence of the same outputs under several priors."""


def solver_for(problem: Problem) -> Solver | None:
    """Return the first solver that does not refuse a problem, or None if all do."""
    return next((solver for solver in solvers_of(problem) if solver.rejection(problem) is None), None)


def rejection_of(problem: Problem) -> str | None:
    """Return why no solver reads a problem, or None if one does. Outputs are not used.

    The reason is that of the solver that reads the most: the last that would fit but for the work, else the last that
    does not only approximate.
    """
    reasons, too_much = [], []
    for solver in solvers_of(problem):
        if (unsupported_reason := solver.unsupported_reason(problem)) is not None:
            reasons.append((solver.exactness is Exactness.APPROXIMATE, unsupported_reason))
        elif (work := solver.cost(problem).rejection_for(problem.work_limit)) is not None:
            too_much.append(work)
        else:
            return None
    if not reasons and not too_much:
        for unread, words in _UNREAD.items():
            if unread <= problem.features:
                return words
        features = " and ".join(sorted(feature.value for feature in problem.features))
        return f"no inference is known for a {type(problem.model).__name__}" + (f" with {features}" if features else "")
    return too_much[-1] if too_much else sorted(reasons, key=lambda each: not each[0])[-1][1]


_UNREAD = {
    frozenset({Feature.SECRET_NUMBER, Feature.MARGINS}): (
        "a table and margins of it are not read together where the number of records is secret; read each by itself"
    ),
    frozenset({Feature.NUMBER_PRIOR}): (
        "what is known of a secret number of records is taken into account in tables of shares only; leave number out"
    ),
}
"""What no solver handles yet, and the way out."""


def why_unreadable(mechanism: Mechanism) -> str | None:
    """Return why a release by this mechanism could not be read, or None if it can; public facts alone decide."""
    return rejection_of(Problem.before(mechanism))


def solve(problem: Problem) -> Solution:
    """Return the solution of a problem, by the first solver that does not refuse it."""
    if (solver := solver_for(problem)) is None:
        raise not_read(problem)
    return solver.solve(problem)


def solvers_of(problem: Problem) -> Iterator[Solver]:
    """Yield the solvers that read problems of this model, in the order in which they are asked.

    Each is loaded only when those before it have been asked.
    """
    involved = [type(problem.model), *(type(each.mechanism) for each in problem.observed)]
    is_ours = all(each.__module__.startswith("discreet.") for each in involved)
    for solver in _in_order(type(problem.model), is_ours):
        if problem.features <= solver.handles:
            yield solver()


def _in_order(model: type, is_ours: bool) -> Iterator[type[Solver]]:
    """Yield the solvers of a model: the library's own as listed, others before those that read no better.

    Solvers that were loaded because a distribution announces them read its own models and mechanisms only: else the
    choice would depend on what happens to be loaded, and could change between a charge and inference.
    """
    listed = [name for each in model.__mro__ for name in SOLVERS.get(f"{each.__module__}.{each.__name__}", ())]
    if not listed:
        load_announced()
    ranks, own = list(Exactness), set(chain.from_iterable(SOLVERS.values()))
    others = [
        solver
        for name, solver in Solver.registered.items()
        if name not in own and issubclass(model, solver.models) and not (is_ours and solver.__module__ in ANNOUNCED)
    ]
    others.sort(key=lambda solver: ranks.index(solver.exactness))
    for name in listed:
        home, _, called = name.rpartition(".")
        solver = Solver.registered.get(name) or getattr(import_module(home), called)
        while others and ranks.index(others[0].exactness) <= ranks.index(solver.exactness):
            yield others.pop(0)
        yield solver
    yield from others


def not_read(problem: Problem) -> DeclarationError:
    """Say why no solver reads a problem and, if it is merely too much work, what allows it."""
    works = [solver.cost(problem) for solver in solvers_of(problem) if solver.unsupported_reason(problem) is None]
    way_out = f" {patience_for(works[-1])}" if works else ""
    return DeclarationError(f"{problem.label!r} cannot be read: {rejection_of(problem)}. Nothing was read.{way_out}")


def require(work: CostEstimate, patience: float, undone: str) -> None:
    """Refuse work that is more than is allowed, and say what was not done and what allows it."""
    if not isinstance(patience, int | float) or not 0 < patience < inf:
        raise DeclarationError(f"patience must be a number above 0, such as 10; got {patience!r}. {undone}")
    if (why := work.rejection_for(patience)) is not None:
        raise DeclarationError(f"{why[0].upper()}{why[1:]}. {undone} {patience_for(work)}")


def patience_for(work: CostEstimate) -> str:
    """Say how a reader with enough time and memory can allow this work."""
    needed = max(work.operations / MOST_OPERATIONS, work.numbers / MOST_NUMBERS)
    last = 10.0 ** (floor(log10(needed)) - 1)
    needed = ceil(1.001 * needed / last) * last  # two digits, rounded up
    return f"patience={needed:.2g} (on the command line --patience {needed:.2g}) allows it."


def exactness_of(mechanism: Mechanism) -> Exactness | None:
    """Return how well a release by this mechanism will be read, or None if it cannot be."""
    solver = solver_for(Problem.before(mechanism))
    return None if solver is None else solver.exactness


OPERATION = 2.5e-9
"""About how many seconds one operation takes, on the machine of docs/performance.md."""
_WORTH_SAYING = 30.0  # seconds from which on readers are told beforehand


def announcement(mechanism: Mechanism) -> str | None:
    """Say beforehand how long inference from a release will take, if it may take long; by public facts alone."""
    if (solver := solver_for(problem := Problem.before(mechanism))) is None:
        return None
    cost = solver.cost(problem)
    if (most := cost.operations * OPERATION) < _WORTH_SAYING:
        return None
    how = " by Markov chains" if solver.runs_chains else ""
    usual = most * cost.usual_share
    if usual >= most / 2:
        return f"A release will be inferred{how}, which takes about {duration(most)}."
    return f"A release will be inferred{how}, which usually takes about {duration(usual)}, at most {duration(most)}."


def duration(seconds: float) -> str:
    """Return a rough time in words.

    >>> duration(0.3), duration(42), duration(200)
    ('1 second', '40 seconds', '3 minutes')
    """
    if seconds >= _MINUTES:
        return f"{seconds / 60:.0f} minutes"
    rough = max(1, round(seconds)) if seconds < 10 else 10 * round(seconds / 10)
    return f"{rough} second{'' if rough == 1 else 's'}"


_MINUTES = 100.0  # seconds from which on times are given in minutes


def why_not_exact(mechanism: Mechanism) -> str | None:
    """Return why a release by this mechanism will not be read exactly, or None if it will."""
    problem = Problem.before(mechanism)
    exact = [solver for solver in solvers_of(problem) if solver.exactness is Exactness.EXACT]
    reasons = [solver.rejection(problem) for solver in exact]
    return None if None in reasons or not reasons else reasons[-1]
