"""Small twins: the same mechanism with the same parameters, on so few records that everything can be listed.

A referee wants all data sets, all neighbours and all outputs. At the real size that is seldom possible. A twin has the
class and the parameters of the mechanism (epsilon, delta, scales, powers, shares) and a smaller size; if that is not
small enough, a part of the model (few cells, a variable with its ancestors, one feature on the coarsest grid), and a
coarser grid of its draws. All decisions rest on public facts and on counted comparisons, never on time or data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.certificates import DataSets, Enumeration, compare, neighbouring
from discreet.certificates.data_sets import number_of_pairs, number_of_tables
from discreet.errors import DeclarationError
from discreet.mechanisms import Mechanism, Sized, with_fields
from discreet.models.model import Model

MOST_COMPARISONS = 1_000_000
"""The most pairs of neighbours times outputs that are compared."""
MOST_TABLES = 300
"""So many data sets are listed at most to compare neighbours, of a law that is quickly written down."""
MOST_RECORDS = 64
"""How many kinds of records a twin may have; with more, a part of the model is taken."""
WIDE = 1e-3
"""If a window of outputs leaves out more than this probability, a smaller twin with a wider one is compared too."""
_SIZES = (100, 60, 40, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 1)


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism whose outputs can be listed."""

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return all outputs of non-negligible probability for these data sets; None if there are more than `most`."""


@runtime_checkable
class HasTwinFields(Protocol):
    """A mechanism whose small twins need other fields than size and model."""

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give, best first, the fields that a small twin on this model may have instead of this mechanism's."""


@runtime_checkable
class SlowToList(Protocol):
    """A mechanism whose law takes long to write down."""

    most_tables: ClassVar[int]
    """So many data sets are listed at most to compare neighbours."""


@runtime_checkable
class ListsLaws(Protocol):
    """A mechanism that writes down many laws faster than one by one."""

    def log_laws(self, outputs: Counts, tables: Counts) -> Floats:
        """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""


def outputs_for(mechanism: Mechanism, counts: Counts, most: int) -> Counts | None:
    """Return all outputs of non-negligible probability for these data sets; None if unknown or more than `most`."""
    return mechanism.outputs_for(counts, most) if isinstance(mechanism, Enumerable) else None


def twin_fields(mechanism: Mechanism, model: Model) -> Iterator[Mapping[str, object]]:
    """Give, best first, the fields that a small twin on this model may have instead of this mechanism's."""
    return mechanism.twin_fields(model) if isinstance(mechanism, HasTwinFields) else iter([{}])


def log_laws(mechanism: Mechanism, outputs: Counts, tables: Counts) -> Floats:
    """Return log P(output | counts) for all rows of counts (rows) and all outputs (columns)."""
    if isinstance(mechanism, ListsLaws):
        return mechanism.log_laws(outputs, tables)
    return np.stack([mechanism.log_prob(outputs, table) for table in tables])


@runtime_checkable
class HasParts(Protocol):
    """A model that has smaller models of the same kind, for twins in which everything can be listed."""

    @property
    def part_in_words(self) -> str:
        """Say how large this model is, of a part of another one."""

    def parts(self) -> Iterator[Model]:
        """Yield the smaller models."""


def parts_of(model: Model) -> Iterator[Model]:
    """Yield smaller models of the same kind, if there are any."""
    return model.parts() if isinstance(model, HasParts) else iter(())


@dataclass(frozen=True, eq=False)
class Twin:
    """A mechanism with data sets, neighbours and the outputs on which they are compared."""

    mechanism: Sized
    original: Sized
    data_sets: DataSets
    outputs: Counts

    @cached_property
    def compared(self) -> Enumeration:
        """Return the result, by the stated likelihood alone."""
        return compare(self.mechanism.log_prob, self.data_sets, self.outputs)

    @cached_property
    def missing(self) -> float:
        """Return about the probability that the listed outputs leave out, from one data set."""
        law = np.exp(self.mechanism.log_prob(self.outputs, self.data_sets.tables[0]))
        return max(0.0, 1 - float(law.sum()))

    @property
    def is_original(self) -> bool:
        """Tell whether this is the mechanism itself, which was small enough."""
        return bool(self.mechanism == self.original)

    def __str__(self) -> str:
        size = self.mechanism.size
        records = f"{size:,} record{'' if size == 1 else 's'}"
        if self.is_original:
            return f"the mechanism itself, {records}"
        part = self.mechanism.model
        model = f" of {part.part_in_words}" if part != self.original.model and isinstance(part, HasParts) else ""
        names = [field.name for field in dataclass_fields(self.mechanism)]
        changed = [n for n in names if getattr(self.mechanism, n) != getattr(self.original, n)]
        other = [name.replace("_", " ") for name in changed if name not in ("model", "size")]
        return f"a small twin, {records}{model}" + (f", with other {' and '.join(other)}" if other else "")


def small_twins(mechanism: Sized) -> tuple[Twin, ...]:
    """Return the largest twin that can be listed, and a smaller one if only that lists nearly all of its outputs.

    Fewer records come first, then parts of the model. Where noise has too many numbers, or the law of an output is
    not known in a form that can be listed, there is none.
    """
    found: list[Twin] = []
    for twin in _twins(mechanism):
        if not found or twin.missing < found[-1].missing / 2:
            found.append(twin)
        if found[-1].missing <= WIDE:
            break
    return tuple(found[:1] if len(found) < 2 else (found[0], found[-1]))


def _twins(mechanism: Sized) -> Iterator[Twin]:
    """Yield all twins that can be listed, the largest first."""
    sizes = [mechanism.size, *(size for size in _SIZES if size < mechanism.size)]
    for model in (mechanism.model, *parts_of(mechanism.model)):
        rows, _ = model.contributions(MOST_RECORDS + 1)
        for size in sizes if len(rows) <= MOST_RECORDS else ():
            if (twin := _listed(mechanism, model, size, rows)) is not None:
                yield twin


def _listed(mechanism: Sized, model: Model, size: int, rows: Counts) -> Twin | None:
    """Return a twin of this model and size with everything listed, or nothing if there is too much."""
    fewest = mechanism.most_tables if isinstance(mechanism, SlowToList) else MOST_TABLES
    tables = number_of_tables(size, len(rows), fewest)
    most = MOST_COMPARISONS // max(number_of_pairs(len(rows), size, MOST_COMPARISONS), tables)
    if tables > fewest or most < 2:
        return None
    sets = neighbouring(rows, size, MOST_COMPARISONS)
    for fields in twin_fields(mechanism, model):
        made = _made(mechanism, {"model": model, "size": size, **fields})
        outputs = None if made is None else outputs_for(made, sets.tables, most)
        if made is not None and outputs is not None:
            return Twin(made, mechanism, sets, outputs)
    return None


def _made(mechanism: Sized, changed: dict[str, object]) -> Sized | None:
    """Return the mechanism with some fields changed: the others kept if its constructor allows, else recalibrated."""
    kind: Any = type(mechanism)
    kept = {field.name: getattr(mechanism, field.name) for field in dataclass_fields(kind)}
    if all(kept[name] == value for name, value in changed.items()):
        return mechanism
    for make in (lambda: kind(**kept | changed), lambda: with_fields(mechanism, **changed)):
        try:
            made: Sized = make()
        except (DeclarationError, OverflowError):
            continue
        return made
    return None
