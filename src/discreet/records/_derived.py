"""Derived columns: made of the stored ones by a declared expression, record by record, the same on every backend.

Nothing of an expression is handed to a backend. It gives the stored columns as numbers, days, and codes of the texts
that the study names, as for any other count, and one evaluator does the rest over batches. So what a record means
depends on that record alone, and no value can make a run fail.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import Document, canonical_json
from discreet._core.errors import DeclarationError, DocumentError, SourceError
from discreet.records._bands import day_text
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column, is_text
from discreet.records._expression_syntax import Call, Name, Node, parse, written
from discreet.records._expressions import MOST_TEXTS, Compiler, Kind, Lookup, Operation, Raw, Records
from discreet.records._matches import ColumnMatch, shown
from discreet.records._moments import Base, Indicator, Measure, MomentPlan, Wholes
from discreet.records._source import Batch, Source, as_source, require_columns, whole_rows
from discreet.records._statistics import Codes, Statistics, code_dtype
from discreet.records._typed_arrays import Kind as Stored
from discreet.records._typed_arrays import Values, codes_of, numbers_of_values
from discreet.records._weights import WeightPlan, sum_weights

if TYPE_CHECKING:
    from discreet.records._grouped_sums import GroupPlan
    from discreet.records._persons import IdPlan, IdRows, Keys
    from discreet.records._where import _Counted


Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Definition:
    """One derived column, ready to be evaluated."""

    operation: Operation
    texts: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """Return what the column holds."""
        return self.operation.kind

    def values(self, records: Records) -> Values:
        """Return the value of every record; of texts, their indices."""
        found = self.operation.found(records)
        if self.kind in (Kind.NUMBER, Kind.DAY):
            known = ~np.isnan(found)
            return Values(Stored.NUMBER if self.kind is Kind.NUMBER else Stored.DAY, np.where(known, found, 0), known)
        return Values(Stored.TRUTH, np.asarray(found) == 1, np.asarray(found) != -1)

    def codes(self, records: Records, column: Column) -> Codes:
        """Return the index of every record's level."""
        if self.kind is not Kind.TEXT:
            return codes_of(self.values(records), column)
        homes = [column.codes.get(text, column.home) for text in self.texts] + [column.home]
        return np.asarray(np.array(homes, dtype=code_dtype(column))[self.operation.found(records)])

    def plain(self, records: Records) -> list[object]:
        """Return the value of every record as Python holds it: for the data holder's eyes only."""
        if self.kind is Kind.TEXT:
            named = (*self.texts, None)
            return [named[index] for index in self.operation.found(records).tolist()]
        values = self.values(records)
        known = np.ones(len(records), dtype=bool) if values.known is None else values.known
        pairs = zip(values.array.tolist(), known.tolist(), strict=True)
        found = [value if is_known else None for value, is_known in pairs]
        return found if self.kind is not Kind.DAY else [None if each is None else day_text(each) for each in found]


@dataclass(frozen=True)
class Derived:
    """Columns that are derived from others, by name; `holds` says what declared columns hold, `levels` their texts.

    >>> bmi = Derived({"bmi": "weight / (height * height)"})
    >>> bmi
    Derived({'bmi': 'weight / (height * height)'})
    """

    expressions: Mapping[str, str]
    lookups: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict)
    holds: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.expressions, Mapping) or not self.expressions:
            raise DeclarationError("Derived columns are a mapping from names to expressions.")
        for name, table in self.lookups.items():
            _check_lookup(name, table)
        for name in self.expressions:
            _ = self.definitions[name]

    def __repr__(self) -> str:
        return f"Derived({dict(self.texts)!r})"

    @cached_property
    def _trees(self) -> dict[str, Node]:
        return {name: _told(name, partial(parse, text)) for name, text in self.expressions.items()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return each expression in its canonical spelling."""
        return {name: written(tree) for name, tree in self._trees.items()}

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Return the columns, ready to be evaluated."""
        kinds = {name: Kind[word.upper()] for name, word in self.holds.items()}
        tables = {name: Lookup(table) for name, table in self.lookups.items()}

        def made(name: str, tree: Node) -> Definition:
            compiler = Compiler(kinds, self._trees, tables, tuple(self.levels.get(name, ())))
            operation = compiler.compiled(tree, kinds.get(name))
            return Definition(operation, tuple(compiler.texts))

        return {name: _told(name, partial(made, name, tree)) for name, tree in self._trees.items()}

    def of(self, names: Iterable[str]) -> "Derived | None":
        """Return those that these columns need, with all that they are made of; nothing if none is derived."""
        found: dict[str, None] = {}
        waiting = [name for name in names if name in self._trees]
        while waiting:
            if (name := waiting.pop()) not in found:
                found[name] = None
                named = [each.name for each in _parts(self._trees[name]) if isinstance(each, Name)]
                waiting += [each for each in named if each in self._trees]
        if not found:
            return None
        tables = {
            str(call.arguments[1].value)  # type: ignore[attr-defined]
            for name in found
            for call in _parts(self._trees[name])
            if isinstance(call, Call) and call.function == "lookup"
        }
        return Derived(
            {name: self.expressions[name] for name in sorted(found)},
            {name: self.lookups[name] for name in sorted(tables)},
            self.holds,
            self.levels,
        )

    @property
    def derivation(self) -> "Derivation":
        """Return how the columns are derived, as a release says it."""
        tables = {name: dict(sorted(table.items())) for name, table in self.lookups.items()}
        return Derivation(canonical_json({"expressions": dict(self.texts), **({"lookups": tables} if tables else {})}))

    def batch(self, batch: Batch) -> Batch:
        """Return some records with the derived columns beside the stored ones."""
        return DerivedBatch(batch, self)

    def source(self, data: object) -> Source:
        """Return records with the derived columns beside the stored ones."""
        return derived_source(as_source(data), self)

    def statistics(self, model: "_Counted", data: object) -> Statistics:
        """Count what a model needs of these columns. The result is secret, and says how they were derived."""
        found = model.statistics(self.source(data))
        found.derived = self.derivation
        return found


@dataclass(frozen=True)
class Derivation:
    """How columns were derived, as a release says it: canonical text of expressions, and of the tables they look up.

    >>> Derived({"bmi": "weight/(height*height)"}).derivation.in_words
    ('bmi = weight / (height * height)',)
    """

    written: str

    @property
    def document(self) -> Document:
        """Return it as a document."""
        return cast(Document, json.loads(self.written))

    @property
    def in_words(self) -> tuple[str, ...]:
        """Return each derived column with its expression."""
        expressions = cast(Mapping[str, str], self.document["expressions"])
        return tuple(f"{name} = {text}" for name, text in expressions.items())

    @classmethod
    def from_document(cls, document: object) -> "Derivation":
        """Return what a document says, in its one form."""
        if not isinstance(document, Mapping) or not {"expressions"} <= set(document) <= {"expressions", "lookups"}:
            raise DocumentError("Derived columns must have expressions, and perhaps lookups.")
        expressions, lookups = document["expressions"], document.get("lookups", {"-": {"-": 0}})
        if not isinstance(expressions, Mapping) or not expressions or not isinstance(lookups, Mapping) or not lookups:
            raise DocumentError("Derived columns must be expressions by name.")
        try:
            for name, text in expressions.items():
                if not isinstance(text, str) or written(parse(text)) != text:
                    raise DocumentError(f"The expression of {name!r} is not written in its canonical form.")
            for name, table in lookups.items():
                _check_lookup(str(name), table)
        except DeclarationError as problem:
            raise DocumentError(str(problem)) from None
        return cls(canonical_json(document))


def _check_lookup(name: str, table: object) -> None:
    if not isinstance(table, Mapping) or not 0 < len(table) <= MOST_TEXTS:
        raise DeclarationError(f"The look-up table {name!r} must have 1 to {MOST_TEXTS:,} entries.")
    kinds = {isinstance(value, str) for value in table.values()}
    numbers = [value for value in table.values() if not isinstance(value, str)]
    fine = all(isinstance(key, str) and is_text(key) for key in table) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53 for value in numbers
    )
    if not fine or len(kinds) != 1:
        raise DeclarationError(f"The look-up table {name!r} must lead from texts to texts alone, or to numbers alone.")


def _told(name: str, work: Callable[[], Found]) -> Found:
    """Do something for a column, and name that in a refusal."""
    try:
        return work()
    except DeclarationError as problem:
        raise DeclarationError(f"columns.{name}.expression: {problem}") from None


def _parts(tree: Node) -> Iterator[Node]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.parts()


class DerivedBatch(Batch):
    """Some records, with the derived columns beside the stored ones."""

    def __init__(self, batch: Batch, derived: Derived) -> None:
        self._batch, self._derived = batch, derived.definitions

    def __len__(self) -> int:
        return len(self._batch)

    def codes(self, column: Column) -> Codes:
        own = self._derived.get(column.name)
        return self._batch.codes(column) if own is None else own.codes(self._batch, column)

    def numbers(self, name: str, dates: bool) -> Floats:
        own = self._derived.get(name)
        return self._batch.numbers(name, dates) if own is None else numbers_of_values(own.values(self._batch), dates)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        if name not in self._derived:
            return self._batch.values(name, indices)
        found = self._derived[name].plain(self._batch)
        return [found[index] for index in indices.tolist()]

    def frequencies(self, name: str, indices: NDArray[np.intp]) -> Counter[str]:
        return Counter(map(shown, self.values(name, indices)))

    def keys(self, name: str) -> "Keys":
        return self._batch.keys(name)


Asked = Column | Base


class DerivedSource:
    """Records of a source, with derived columns beside the stored ones. What needs none is left to the source."""

    def __init__(self, source: Source, derived: Derived) -> None:
        self._source, self._derived = source, derived

    def __repr__(self) -> str:
        return f"DerivedSource({self._source!r})"

    def names(self) -> list[str]:
        """Return the names of the stored and the derived columns."""
        return list(dict.fromkeys([*self._source.names(), *self._derived.definitions]))

    def _with(self, asked: Iterable[Asked], also: Sequence[str] = ()) -> Source:
        """Return what counts these columns: the source itself if none of them is derived."""
        columns = list(asked)
        names = [each.name if isinstance(each, Column) else each.column for each in columns]
        if not set(names) & set(self._derived.definitions):
            return self._source
        return _Asked(self._source, self._derived, [raw for each in columns for raw in self._raws(each)], also)

    def _raws(self, asked: Asked) -> list[Raw]:
        name = asked.name if isinstance(asked, Column) else asked.column
        if name in self._derived.definitions:
            return self._derived.definitions[name].operation.operands()
        if isinstance(asked, Measure):
            return [(asked.column, asked.dates)]
        return [asked.declared if isinstance(asked, Indicator) else asked]

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        return self._with(column for family in families for column in family).count_families(families)

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        return self._with(plan.bases).sum_moments(plan)

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Return the whole numbers of every record, the constant last."""
        return whole_rows(self._with(plan.bases), plan)

    def sum_groups(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        return self._with([plan.measure, *plan.groups]).sum_groups(plan)

    def count_places(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""
        return self._with([plan.measure, *plan.groups]).count_places(plan)

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        return sum_weights(self._with(plan.factors.bases), plan)

    def id_rows(self, plan: "IdPlan") -> "IdRows":
        """Return what the rows of each id add up to; ids are stored columns."""
        from discreet.records._persons import ids_in

        if plan.ids in self._derived.definitions:
            raise SourceError(
                f"The column of ids, {plan.ids!r}, is derived. Nothing was counted. Ids are compared byte by byte as "
                "they are stored: name a stored column."
            )
        return ids_in(self._with([plan.measure, *plan.groups], [plan.ids]), plan)

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column: for the data holder's eyes only."""
        own = [column for column in columns if column.name in self._derived.definitions]
        stored = [column for column in columns if column.name not in self._derived.definitions]
        found = dict(zip(stored, self._source.match(stored, most) if stored else [], strict=True))
        found |= dict(zip(own, self._with(own).match(own, most) if own else [], strict=True))
        return [found[column] for column in columns]

    def stored(self, raws: Sequence[Raw], also: Sequence[str]) -> Iterator[Batch]:
        """Yield all records with what further derived columns are made of, these derived ones among it."""
        known = self._derived.definitions
        names = [(raw.name if isinstance(raw, Column) else raw[0], raw) for raw in raws]
        own = [each for name, raw in names for each in (known[name].operation.operands() if name in known else [raw])]
        for batch in self._source.stored(list(dict.fromkeys(own)), also):
            yield DerivedBatch(batch, self._derived)

    def with_derived(self, derived: Derived) -> Source:
        """Return the same records with further derived columns beside these."""
        return DerivedSource(self, derived)

    def open_quote(self) -> str | None:
        """Say in which record of a file of text a quote is never closed, if there is one: for the data holder only."""
        return self._source.open_quote() if hasattr(self._source, "open_quote") else None


class _Asked(BatchSource):
    """Records of which these stored columns are needed, with the derived columns beside them."""

    def __init__(self, source: Source, derived: Derived, raws: Sequence[Raw], also: Sequence[str]) -> None:
        self._source, self._derived = source, derived
        self._raws, self._also = list(dict.fromkeys(raws)), also

    def names(self) -> list[str]:
        stored = {raw.name if isinstance(raw, Column) else raw[0] for raw in self._raws} | set(self._also)
        require_columns(stored, self._source.names())
        return [*stored, *self._derived.definitions]

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        for batch in self._source.stored(self._raws, self._also):
            yield DerivedBatch(batch, self._derived)


def derived_source(source: Source, derived: Derived) -> Source:
    """Return records with the derived columns beside the stored ones."""
    if not hasattr(source, "with_derived"):
        raise SourceError(
            f"A {type(source).__name__} cannot derive columns. Nothing was counted. Pass a frame, a file or lists."
        )
    return source.with_derived(derived)
