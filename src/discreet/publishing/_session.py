"""Questions and answers: every answer is computed from a fresh draw of the posterior, and every draw is paid for.

Algorithm 1 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014): a third party asks q_t, the statistician draws
theta_t from the posterior and answers q_t(theta_t). The published loop has no end; here each draw goes through
`publish`, so the ledger is charged first and refuses when the budget is gone. A draw is public once it is made: any
number of questions about the *same* draw cost nothing more.

Questions are declared, not programmed: they name events and numbers, and are checked before anything is charged. For
the holder's own use, a function of the parameters is accepted too; a server must accept declared questions only.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from discreet._core.errors import DeclarationError, DiscreetError, SecretError
from discreet._core.exact import whole
from discreet.inference import Observed, why_unreadable
from discreet.ledger import Ledger
from discreet.mathematics.distributions import CountDistribution
from discreet.mechanism import HasEventChances, HasExpectations, HasParameters, Mechanism, Model, Parameters
from discreet.privacy import Unit
from discreet.publishing._publish import publish
from discreet.records import Statistics
from discreet.release import NO_READING, Release


class QueryError(DiscreetError):
    """A question cannot be answered, for a reason that does not depend on any record."""


@dataclass(frozen=True)
class Mean:
    """The drawn parameters themselves: the probability of every cell, or the one parameter of a family."""

    def answer(self, model: Model, theta: Parameters) -> object:
        """Return q(theta) = theta, by cell; for a network, its tables by variable."""
        return _with_parameters(model).by_name(theta)


@dataclass(frozen=True)
class Probability:
    """The probability of an event: a cell, a list of cells, or text such as 'ward=A, fall=yes'; in a network, text."""

    event: object

    def answer(self, model: Model, theta: Parameters) -> float:
        """Return q(theta) = sum of theta over the event; in a network, by variable elimination."""
        return _with_events(model).chance(self.event, theta)


@dataclass(frozen=True)
class ConditionalProbability:
    """The probability of an event among the records in another one: 'cancer=yes' given 'smoker=yes'."""

    event: object
    given: object

    def answer(self, model: Model, theta: Parameters) -> float:
        """Return q(theta) = P(event and given) / P(given)."""
        return _with_events(model).chance(self.event, theta, self.given)


@dataclass(frozen=True)
class Expectation:
    """The expectation of a number that depends on the cell; `values` gives it for events that cover each cell once."""

    values: Mapping[Any, float]

    def answer(self, model: Model, theta: Parameters) -> float:
        """Return q(theta) = sum_i theta_i values_i."""
        return _with_expectations(model).expectation(self.values, theta)


@dataclass(frozen=True)
class ConditionalExpectation:
    """The expectation of a number among the records in an event: example 1 of the paper, E(y | z)."""

    values: Mapping[Any, float]
    given: object

    def answer(self, model: Model, theta: Parameters) -> float:
        """Return q(theta) = sum_(i in given) theta_i values_i / sum_(i in given) theta_i."""
        return _with_expectations(model).expectation(self.values, theta, self.given)


@dataclass(frozen=True)
class Predictive:
    """How many of some further records would fall into an event, if the drawn parameters were true."""

    event: object
    records: int

    def answer(self, model: Model, theta: Parameters) -> CountDistribution:
        """Return q(theta) = Binomial(records, probability of the event)."""
        from scipy.stats import binom

        count = whole(self.records, "records", most=10**6)
        chance = min(1.0, _with_events(model).chance(self.event, theta))
        return CountDistribution(0, np.asarray(binom.pmf(np.arange(count + 1), count, chance)))


Query = Mean | Probability | ConditionalProbability | Expectation | ConditionalExpectation | Predictive
"""The declared questions."""


@dataclass(frozen=True, repr=False)
class PublishedDraw:
    """One published draw. Public: whatever is computed from it costs nothing more."""

    release: Release

    def __repr__(self) -> str:
        return f"<draw {self.release.label!r}: {self.release.model!r}>"

    @property
    def parameters(self) -> Any:
        """Return the drawn parameters; for a network, its tables by variable."""
        draw = Observed(self.release.mechanism, self.release.counts, self.release.label).draw
        if draw is None:
            raise DeclarationError(f"{self.release.label!r} holds no draw from a posterior.")
        return draw.parameters

    def answer(self, query: Query | Callable[[Any], object]) -> Any:
        """Answer a question about this draw, free of charge."""
        return _answered(query, self.release.model, self.parameters)


class QuerySession:
    """A holder's session: secret statistics, a mechanism that draws, and the ledger that pays.

    `draw` pays for a fresh draw; `ask` checks a question, pays for a fresh draw, and answers from it.

    >>> import discreet as dc
    >>> from tempfile import mkdtemp
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads", prior=1)
    >>> secret = coin.statistics({"coin": ["heads"] * 60 + ["tails"] * 40})
    >>> ledger = dc.Ledger.create(f"{mkdtemp()}/study.db", epsilon=1)
    >>> mechanism = dc.PosteriorSampling.truncated(coin, size=100, epsilon="0.5")
    >>> session = dc.QuerySession(mechanism, secret, ledger)
    >>> draw = session.draw()
    >>> print(ledger.remaining)
    Budget(epsilon=0.5, delta=0)
    """

    def __init__(
        self,
        mechanism: Mechanism,
        secret: Statistics,
        ledger: Ledger,
        label: str = "posterior draw",
        *,
        unit: Unit | None = None,
    ) -> None:
        draw = Observed.before(mechanism).draw
        if draw is None or draw.number != 1:
            raise DeclarationError(
                "A session needs a mechanism that draws from a posterior, with draws=1: each draw is charged."
            )
        self.mechanism, self.ledger, self.label, self.unit = mechanism, ledger, label, unit
        self._secret = secret

    def __repr__(self) -> str:
        return f"QuerySession({self.mechanism!r}, ledger={self.ledger!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretError("A session holds secret statistics, so it cannot be stored or sent. Open a new one instead.")

    def draw(self, request: str | None = None) -> PublishedDraw:
        """Charge the ledger and return a fresh draw; refused, and not charged, when the budget is gone.

        With a `request`, a name of the caller's choice, a repeated call returns the same draw and charges once.
        """
        reading = None if why_unreadable(self.mechanism) is None else NO_READING  # answers come from the draw itself
        release = publish(
            self.mechanism, self._secret, self.ledger, self.label, unit=self.unit, request=request, reading=reading
        )
        return PublishedDraw(release)

    def ask(self, query: Query, request: str | None = None) -> Any:
        """Answer one declared question from a fresh draw. A question that makes no sense is refused and not charged."""
        if not isinstance(query, Query):
            raise QueryError("A fresh draw answers only declared questions, such as Probability('fall=yes').")
        check_query(query, self.mechanism.model)
        return self.draw(request).answer(query)


def check_query(query: Query, model: Model) -> None:
    """Refuse a question that makes no sense, by asking it of parameters that depend on no record."""
    _answered(query, model, _with_parameters(model).even_parameters())


def _with_parameters(model: Model) -> HasParameters:
    if not isinstance(model, HasParameters):
        raise QueryError(f"A {type(model).__name__} has no parameters that could be drawn, and asked about.")
    return model


def _with_events(model: Model) -> HasEventChances:
    if not isinstance(model, HasEventChances):
        raise _without_events(model)
    return model


def _with_expectations(model: Model) -> HasExpectations:
    if not isinstance(model, HasExpectations):
        raise _without_events(model)
    return model


def _without_events(model: Model) -> DeclarationError:
    return DeclarationError(
        f"this is asked of Categories; ask a {type(model).__name__} for its Mean(), a network for a Probability()"
    )


def _answered(query: object, model: Model, theta: Parameters) -> object:
    """Return the answer, or a refusal in words; no other exception is chained to it."""
    if not isinstance(query, Query) and not callable(query):
        raise QueryError(f"A {type(query).__name__} is not a question; ask Mean(), Probability(event) and the like.")
    problem = ""
    try:
        answer = query.answer(model, theta) if isinstance(query, Query) else query(deepcopy(theta))
        if _makes_sense(answer):
            return answer
        problem = "its answer is not made of finite numbers"
    except DeclarationError as refusal:
        problem = str(refusal)
    except Exception as failure:  # noqa: BLE001 - a question may fail in any way; only the kind of failure is shown
        problem = f"it failed with {type(failure).__name__}"
    raise QueryError(f"The question {_named(query)} cannot be answered: {problem.rstrip('.')}.")


def _makes_sense(answer: object) -> bool:
    """Return whether an answer consists of finite numbers."""
    if isinstance(answer, CountDistribution):
        return bool(np.isfinite(answer.probabilities).all())
    if isinstance(answer, Mapping):
        return all(_makes_sense(value) for value in answer.values())
    if isinstance(answer, np.ndarray):
        return answer.size > 0 and answer.dtype.kind in "biuf" and bool(np.isfinite(answer).all())
    if isinstance(answer, list | tuple):
        return len(answer) > 0 and all(_makes_sense(value) for value in answer)
    return isinstance(answer, int | float | np.integer | np.floating) and isfinite(answer)


def _named(query: object) -> str:
    return type(query).__name__ if isinstance(query, Query) else "that you wrote"
