"""Enumeration: what a mechanism promises, compared with its stated likelihood. A contradiction raises.

Three things are done, each as far as it can be, and each in a line that says what was done:

- at the real size, for noise on measured numbers: one record is replaced by another and nothing else changes, or,
  where the number of records is secret, one is added to none. On the outputs without noise the likelihood then drops by
  the norm of the change, in the units of the noise: that is at most epsilon for pure noise. For Gaussian noise it is
  the zCDP parameter of the pair, at most rho;
- on a small instance: all neighbours are compared on all listed outputs. The largest loss, the delta at the stated
epsilon,
  the Renyi divergences and the whole privacy curve have to stay within what is stated;
- on the small instance, some draws with a fixed seed: do they follow the stated likelihood at all?

Noise without a likelihood in closed form holds by proof alone. What the proof asks of every single record is checked
exactly, on records at their bounds and between them, and draws are held against the generator that readers use.

Small instances: the same mechanism with the same parameters, on so few records that everything can be listed.

An enumeration needs all data sets, all neighbours and all outputs. At the real size that is seldom possible. A small
instance has the class and the parameters of the mechanism (epsilon, delta, scales, powers, shares) and a smaller size;
if that is not small enough, a part of the model (few cells, a variable with its ancestors, one feature on the coarsest
grid), and a coarser grid of its draws. All decisions rest on public facts and on counted comparisons, never on time or
data. Where the number of records is secret, the data sets are those of 0, 1, ... up to so many records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, VerificationError
from discreet._core.exact import exact_text
from discreet.inference import Problem
from discreet.mechanism import HasProofAssumption, Mechanism, Model, ProofAssumption, Sized, Trial, sized, with_fields
from discreet.noise import has_density, simulated_noise
from discreet.noise.randomness import SeededBits
from discreet.privacy import (
    DataSets,
    Enumeration,
    Pair,
    PrivacyLoss,
    compare,
    neighbouring,
    number_of_pairs,
    number_of_tables,
    rho_delta,
    with_one_more,
    zcdp_epsilon,
)

MOST_COMPARISONS = 1_000_000
"""The most pairs of neighbours times outputs that are compared."""
MOST_TABLES = 300
"""Most data sets that are listed to compare neighbours, of a distribution that is quickly computed."""
MOST_RECORDS = 64
"""How many different records a small instance may have; with more, a part of the model is taken."""
WIDE = 1e-3
"""If a window of outputs leaves out more than this probability, a smaller instance with a wider one is compared too."""
_SIZES = (100, 60, 40, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1)


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism whose outputs can be listed."""

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs of non-negligible probability for these data sets; None if there are more than `most`."""


@runtime_checkable
class HasSmallInstances(Protocol):
    """A mechanism whose small instances need other fields than size and model."""

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give, best first, the fields that a small instance on this model may have instead of this mechanism's."""


@runtime_checkable
class SlowToList(Protocol):
    """A mechanism whose distribution takes long to compute."""

    most_tables: ClassVar[int]
    """Most data sets that are listed to compare neighbours."""


@runtime_checkable
class ListsLogProbs(Protocol):
    """A mechanism that computes many distributions faster than one by one."""

    def log_probs(self, outputs: Counts, tables: Counts) -> Floats:
        """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""


def outputs_for(mechanism: Mechanism, counts: Counts, most: int) -> Counts | None:
    """Return all outputs of non-negligible probability for these data sets; None if unknown or more than `most`."""
    return mechanism.outputs_for(counts, most) if isinstance(mechanism, Enumerable) else None


def small_instance_fields(mechanism: Mechanism, model: Model) -> Iterator[Mapping[str, object]]:
    """Give, best first, the fields that a small instance on this model may have instead of this mechanism's."""
    return mechanism.small_instance_fields(model) if isinstance(mechanism, HasSmallInstances) else iter([{}])


def log_probs(mechanism: Mechanism, outputs: Counts, tables: Counts) -> Floats:
    """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""
    if isinstance(mechanism, ListsLogProbs):
        return mechanism.log_probs(outputs, tables)
    return np.stack([mechanism.log_prob(outputs, table) for table in tables])


@runtime_checkable
class HasParts(Protocol):
    """A model that has smaller models of the same type, for small instances in which everything can be listed."""

    @property
    def part_in_words(self) -> str:
        """Say how large this model is, of a part of another one."""

    def parts(self) -> Iterator[Model]:
        """Yield the smaller models."""


def parts_of(model: Model) -> Iterator[Model]:
    """Yield smaller models of the same kind, if there are any."""
    return model.parts() if isinstance(model, HasParts) else iter(())


@dataclass(frozen=True, eq=False)
class SmallInstance:
    """A mechanism with data sets, neighbours and the outputs on which they are compared."""

    mechanism: Mechanism
    original: Mechanism
    data_sets: DataSets
    outputs: Counts
    records: int
    """How many records its data sets have; where their number is secret, the most."""

    @cached_property
    def compared(self) -> Enumeration:
        """Return the result, by the stated likelihood alone."""
        return compare(self.mechanism.log_prob, self.data_sets, self.outputs)

    @cached_property
    def missing(self) -> float:
        """Return about the probability that the listed outputs leave out, from one data set."""
        probs = np.exp(self.mechanism.log_prob(self.outputs, self.data_sets.tables[0]))
        return max(0.0, 1 - float(probs.sum()))

    @property
    def is_original(self) -> bool:
        """Return whether this is the mechanism itself, which was small enough."""
        return bool(self.mechanism == self.original)

    @property
    def is_whole(self) -> bool:
        """Return whether these are all data sets that there can be: a secret number of records has no end."""
        return self.is_original and isinstance(self.mechanism, Sized)

    def __str__(self) -> str:
        up_to = "" if isinstance(self.mechanism, Sized) else "0 to "
        records = f"{up_to}{self.records:,} record{'' if self.records == 1 else 's'}"
        if self.is_original:
            return f"the mechanism itself, {records}"
        part = self.mechanism.model
        model = f" of {part.part_in_words}" if part != self.original.model and isinstance(part, HasParts) else ""
        names = [field.name for field in dataclass_fields(self.mechanism)]
        changed = [n for n in names if getattr(self.mechanism, n) != getattr(self.original, n)]
        other = [name.replace("_", " ") for name in changed if name not in ("model", "size")]
        return f"a small instance, {records}{model}" + (f", with other {' and '.join(other)}" if other else "")


def small_instances(mechanism: Mechanism) -> tuple[SmallInstance, ...]:
    """Return the largest instance that can be listed, and a smaller one if only that lists nearly all of its outputs.

    Fewer records come first, then parts of the model. Where noise has too many numbers, or the distribution of an
    output is not known in a form that can be listed, there is none.
    """
    found: list[SmallInstance] = []
    for small in _instances(mechanism):
        if not found or small.missing < found[-1].missing / 2:
            found.append(small)
        if found[-1].missing <= WIDE:
            break
    return tuple(found[:1] if len(found) < 2 else (found[0], found[-1]))


def _instances(mechanism: Mechanism) -> Iterator[SmallInstance]:
    """Yield all instances that can be listed, the largest first."""
    largest = mechanism.size if isinstance(mechanism, Sized) else _SIZES[0]
    sizes = [largest, *(size for size in _SIZES if size < largest)]
    for model in (mechanism.model, *parts_of(mechanism.model)):
        rows, _ = model.contributions(MOST_RECORDS + 1)
        for size in sizes if len(rows) <= MOST_RECORDS else ():
            if (small := _listed(mechanism, model, size, rows)) is not None:
                yield small


def _listed(mechanism: Mechanism, model: Model, size: int, rows: Counts) -> SmallInstance | None:
    """Return a small instance of this model and size with everything listed, or nothing if there is too much."""
    fewest = mechanism.most_tables if isinstance(mechanism, SlowToList) else MOST_TABLES
    is_sized = isinstance(mechanism, Sized)
    kinds = len(rows) + (not is_sized)  # a record that is absent is a kind of record
    tables = number_of_tables(size, kinds, fewest)
    most = MOST_COMPARISONS // max(number_of_pairs(kinds, size, MOST_COMPARISONS), tables)
    if tables > fewest or most < 2:
        return None
    sets = (neighbouring if is_sized else with_one_more)(rows, size, MOST_COMPARISONS)
    for fields in small_instance_fields(mechanism, model):
        made = _made(mechanism, {"model": model, **({"size": size} if is_sized else {}), **fields})
        outputs = None if made is None else outputs_for(made, sets.tables, most)
        if made is not None and outputs is not None:
            return SmallInstance(made, mechanism, sets, outputs, size)
    return None


def _made(mechanism: Mechanism, changed: dict[str, object]) -> Mechanism | None:
    """Return the mechanism with some fields changed: the others kept if its constructor allows, else recalibrated."""
    kind: Any = type(mechanism)
    kept = {field.name: getattr(mechanism, field.name) for field in dataclass_fields(kind)}
    if all(kept[name] == value for name, value in changed.items()):
        return mechanism
    for make in (lambda: kind(**kept | changed), lambda: with_fields(mechanism, **changed)):
        try:
            made: Mechanism = make()
        except (DeclarationError, OverflowError):
            continue
        return made
    return None


ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0, 64.0)
"""Orders of the Renyi divergence at which rho is compared."""
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # multiples of epsilon at which the privacy curve is compared
_ROUNDING = 1e-9  # tolerated relative error of floats
_LEAST_DELTA = 1e-13  # sums of a million floats are no better
_ROWS, _NUMBERS = 64, 2_000_000  # kinds of records replaced at the real size; numbers of their statistics in all
_DRAWS, _SEED, _LEVEL = 400, 20161, 1e-9
_SIMULATED = 20_000  # rows of a generator; half of them is known to .004
_COLUMNS = 8  # published numbers that are considered one by one


@dataclass(frozen=True)
class Findings:
    """What was found. `epsilon` is the largest loss; `whole` says that nothing was left out, at the real size."""

    checks: tuple[str, ...]
    epsilon: float
    whole: bool
    worst_pair: Pair


@runtime_checkable
class Measuring(Protocol):
    """A mechanism that adds noise to measured numbers."""

    def measured(self, counts: Counts) -> Counts:
        """Return what would be published without noise, for rows of counts."""


@runtime_checkable
class HasWorstRecords(Protocol):
    """A mechanism that knows which two records are worth comparing, where any two that differ everywhere are not."""

    def worst_records(self) -> Counts:
        """Return two records whose exchange has the largest privacy loss, as rows of level numbers."""


def enumerate_and_compare(mechanism: Mechanism) -> Findings:
    """Compare all that can be compared, or raise VerificationError at the first contradiction."""
    checks, epsilon, whole = [], 0.0, False
    worst: Pair = ((), ())
    if isinstance(mechanism, HasProofAssumption):
        assumption = mechanism.proof_assumption()
        checks += [_assumed(mechanism, assumption), _generated(mechanism, assumption.trial)]
        checks += [_added(mechanism, assumption.trial)] if len(assumption.trial.parts) > 1 else []
    elif (measured := Problem.before(mechanism).measurements) and all(
        has_density(each.noise.structure) for each in measured
    ):
        words, epsilon, worst = _single_records(mechanism)
        checks.append(words)
    instances = small_instances(mechanism)
    for small in instances:
        checks.append(_compared(small))
        found = small.compared
        if small.is_original:
            whole = whole or (small.is_whole and (found.data_sets.complete and found.missing <= 1e-12))
            if found.epsilon >= epsilon * (1 - _ROUNDING):
                epsilon, worst = found.epsilon, found.worst_pair
    if instances:
        checks.append(_drawn(instances[-1]))
    return Findings(tuple(checks), epsilon, whole, worst)


def _measuring(mechanism: Mechanism) -> Measuring:
    """Return a mechanism that says what it measures; refuse one whose evidence are measurements, and that does not."""
    if not isinstance(mechanism, Measuring):
        raise VerificationError(
            f"{type(mechanism).__name__} gives measurements as evidence, but does not say what it would publish "
            "without noise: it has no `measured`. Nothing was compared."
        )
    return mechanism


def _assumed(mechanism: Mechanism, assumption: ProofAssumption) -> str:
    """Hold what single records contribute against what the proof asks of them."""
    rows = assumption.probes
    if broken := sum(not assumption.holds(row) for row in rows):
        raise VerificationError(
            f"The contributions of {broken} of {len(rows)} records break a condition of the proof of "
            f"{type(mechanism).__name__}, that each {assumption.text}. The promise does not hold."
        )
    return f"checked, exactly: the contribution of each of {_number(len(rows), 'record')} {assumption.text}"


def _generated(mechanism: Mechanism, trial: Trial) -> str:
    """Draw with a fixed seed; count for each number how much noise is low, and how much is small."""
    tried, table = trial.mechanism, trial.statistics
    drawn = np.asarray(tried.sample(np.tile(table, (_DRAWS // 2, 1)), SeededBits(_SEED)), dtype=np.int64)
    every = drawn - _measuring(tried).measured(table)
    found = []
    for part in trial.parts:
        noise = every[:, part.numbers]
        own = np.rint(simulated_noise(part.noise, _SIMULATED, np.random.default_rng(_SEED)))
        for observed, simulated in ((noise, own), (np.abs(noise), np.abs(own))):
            middle = np.median(simulated, axis=0)
            hits, chances = (observed <= middle).sum(axis=0), (simulated <= middle).mean(axis=0)
            if np.minimum(bdtr(hits, len(noise), chances), bdtrc(hits - 1, len(noise), chances)).min() < _LEVEL:
                raise VerificationError(
                    f"The sampler of {type(mechanism).__name__} does not follow the generator by which its noise is "
                    f"read: in {hits.min()} to {hits.max()} of {len(noise)} draws the noise of a number is at most the "
                    "generator's median. Do not publish with it."
                )
            found.append(hits)
    low, high = min(int(hits.min()) for hits in found), max(int(hits.max()) for hits in found)
    said = f"{low} to {high} of {len(drawn)} draws with a fixed seed"
    where = "at the real size" if tried == mechanism else f"with {_number(sized(tried).size, 'record')}"
    return f"drawn, {where}: in {said} the noise of a number is at most the generator's median"


def _added(mechanism: Mechanism, trial: Trial) -> str:
    """Add up what the parts of an output cost, each by its own noise, and compare it with what is promised."""
    guarantee, steps = mechanism.guarantee, len(trial.parts)
    epsilons = [part.epsilon for part in trial.parts if part.epsilon is not None]
    rho = sum((part.rho for part in trial.parts if part.rho is not None), Fraction(0))
    whole = sum(epsilons, Fraction(0)) + (zcdp_epsilon(rho, guarantee.delta) if rho else 0)
    if whole > guarantee.epsilon:
        raise VerificationError(
            f"The noise of all {steps} steps of {type(mechanism).__name__} costs epsilon = {float(whole):.9g} "
            f"together, more than the stated {exact_text(guarantee.epsilon)}. The promise does not hold."
        )
    return f"added: the noise of {_number(steps, 'step')} costs epsilon = {float(whole):.9g} together"


def _single_records(mechanism: Mechanism) -> tuple[str, float, Pair]:
    """Replace single records, or add one, and compare the likelihood of the outputs without noise.

    Noise that is added to sums does not look at them, so it does not matter how many other records there are.
    """
    model = mechanism.model
    numbers = model.contributions(2)[0].shape[1]
    rows, complete = model.contributions(max(2, min(_ROWS, _NUMBERS // numbers)))
    worst = mechanism.worst_records() if isinstance(mechanism, HasWorstRecords) else None
    if worst is not None:
        rows = np.unique(np.concatenate([rows, model.contributions_of(worst)]), axis=0)
    who = model.protects.removeprefix("one ")
    if isinstance(mechanism, Sized):
        sets = neighbouring(rows, mechanism.size, most=1)
        where, doing = f"at the real size of {_number(mechanism.size, who)}", f"replacing {model.protects}"
    else:
        sets = with_one_more(rows, 1, most=1)
        where = f"on the empty data set and {_number(len(rows), f'kind of {who}', f'kinds of {who}')}"
        doing = f"adding {model.protects}"
    found = compare(mechanism.log_prob, sets, _measuring(mechanism).measured(sets.tables))
    which = "all" if complete else "the worst and other" if worst is not None else "chosen"
    of = f"of different {who}s" if isinstance(mechanism, Sized) else f"of none and one {who}"
    said = f"compared, {where}: {_pairs(which, found.pairs)} {of}"
    guarantee = mechanism.guarantee
    if guarantee.delta == 0:
        _at_most(found.epsilon, float(guarantee.epsilon), f"privacy loss of {doing}", mechanism)
        words = f"loss at most {found.epsilon:.9g} (stated: {exact_text(guarantee.epsilon)})"
        return f"{said} on the outputs without noise: {words}", found.epsilon, found.worst_pair
    own = np.diagonal(found.log_probs)  # every data set on its own output
    first, second = sets.pairs.T
    drops = np.maximum(own[first] - found.log_probs[second, first], own[second] - found.log_probs[first, second])
    largest, rho = float(drops.max(initial=0.0)), float(mechanism.rho)
    _at_most(largest, rho, f"zCDP cost (rho) of {doing}", mechanism)
    return f"{said}, by distance in the noise's norm: rho at most {largest:.6g} (stated: {rho:.6g})", 0.0, ((), ())


def _compared(small: SmallInstance) -> str:
    """Compare a small instance with all that it states."""
    mechanism, found = small.mechanism, small.compared
    guarantee = mechanism.guarantee
    which = "all" if found.data_sets.complete else "some"
    said = f"compared, on {small}: {_pairs(which, found.pairs)} of neighbours on {found.outputs:,} outputs"
    if found.missing > 1e-9:
        said += f" that hold {_share(1 - found.missing)} of the probability"
    parts = []
    if guarantee.delta == 0:
        _at_most(found.epsilon, float(guarantee.epsilon), "privacy loss", mechanism)
        parts.append(f"loss at most {found.epsilon:.9g} (stated: {exact_text(guarantee.epsilon)})")
    else:
        delta, epsilon = found.delta_found(float(guarantee.epsilon)), exact_text(guarantee.epsilon)
        _at_most(delta, float(guarantee.delta), f"delta at epsilon = {epsilon}", mechanism, _LEAST_DELTA)
        parts.append(f"delta at most {delta:.6g} (stated: {exact_text(guarantee.delta)})")
    if not rho_delta(mechanism):
        rho = max(found.divergence(order) / order for order in ORDERS)
        _at_most(rho, float(mechanism.rho), "zCDP parameter rho", mechanism)
        parts.append(f"rho at most {rho:.6g} (stated: {float(mechanism.rho):.6g})")
    _curve(found, mechanism.privacy_loss(), mechanism)
    return f"{said}: {', '.join([*parts, 'and the privacy curve stays below the stated one'])}"


def _curve(found: Enumeration, loss: PrivacyLoss, mechanism: Mechanism) -> None:
    """Compare the distribution of the privacy loss, by which releases are composed, with what was found."""
    if loss.epsilon < inf:
        _at_most(found.epsilon, float(loss.epsilon), "privacy loss, by its stated distribution,", mechanism)
    top = float(loss.epsilon if loss.epsilon < inf else mechanism.guarantee.epsilon)
    for epsilon in (share * top for share in _SHARES):
        what = f"delta at epsilon = {epsilon:.6g}, by the stated privacy loss,"
        _at_most(found.delta_found(epsilon), loss.delta_at(epsilon), what, mechanism)


def _drawn(small: SmallInstance) -> str:
    """Draw from a small instance with a fixed seed, for three of its data sets, and count draws in some events.

    For each data set, the events are the likelier half of the outputs and, for every published number by itself, its
    likelier and its lower half. The first event, on the middle data set, is reported.
    """
    indices = {row.tobytes(): index for index, row in enumerate(small.outputs)}
    tables, found_text = small.data_sets.tables, ""
    for table, draws in ((tables[len(tables) // 2], _DRAWS), (tables[0], _DRAWS // 2), (tables[-1], _DRAWS // 2)):
        chances = np.exp(small.mechanism.log_prob(small.outputs, table))
        drawn = np.asarray(small.mechanism.sample(np.tile(table, (draws, 1)), SeededBits(_SEED)), dtype=np.int64)
        found = [indices[key] for row in drawn if (key := row.tobytes()) in indices]
        for event in _events(small.outputs, chances):
            hits, chance = int(event[found].sum()), min(1.0, float(chances[event].sum()))
            if min(bdtr(hits, draws, chance), bdtrc(hits - 1, draws, chance)) < _LEVEL:
                raise VerificationError(
                    f"The sampler of {type(small.mechanism).__name__} does not follow its stated likelihood: {hits} of "
                    f"{draws} draws fell where {draws * chance:.1f} were expected. Do not publish with it."
                )
            expected = f"{draws * chance:.1f} expected"
            found_text = (
                found_text or f"{hits} of {draws} draws with a fixed seed fell into the likelier half, {expected}"
            )
    return f"drawn, on {small}: {found_text}"


def _events(outputs: Counts, chances: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    """Yield sets of outputs of about half the probability: of whole outputs, then of each number by itself."""
    yield _first_half(np.argsort(-chances, kind="stable"), chances)
    for numbers in outputs.T[:_COLUMNS]:
        values, index = np.unique(numbers, return_inverse=True)
        sums = np.bincount(index.ravel(), chances).astype(np.float64)
        for order in (np.argsort(-sums, kind="stable"), np.arange(len(values))):
            yield _first_half(order, sums)[index.ravel()]


def _first_half(order: NDArray[np.int64], chances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the first of these, in this order, until they have half of the probability."""
    half = np.zeros(len(chances), dtype=bool)
    half[order[: int(np.searchsorted(np.cumsum(chances[order]), 0.5 * chances.sum())) + 1]] = True
    return half


def _at_most(found: float, stated: float, what: str, mechanism: Mechanism, slack: float = 1e-12) -> None:
    """Refuse if more was found than is stated; logarithms of probabilities are floats, good to 1e-13 or so."""
    if not found <= stated * (1 + _ROUNDING) + slack:
        raise VerificationError(
            f"Comparing neighbours by the stated likelihood found a {what} of {found:.9g}, above the {stated:.9g} that "
            f"follows from the stated {mechanism.guarantee!r}. The promise of {type(mechanism).__name__} does not hold."
        )


def _pairs(which: str, count: int) -> str:
    return "the only pair" if (which, count) == ("all", 1) else f"{which} {_number(count, 'pair')}"


def _number(count: int, what: str, several: str | None = None) -> str:
    return f"{count:,} {what if count == 1 else several or f'{what}s'}"


def _share(part: float) -> str:
    """Return a share in per cent, with enough digits to distinguish it from 100 %."""
    return f"{100 * part:.3g} %" if part < 0.999 else f"{100 * (part - 5e-7):.4f} %"
