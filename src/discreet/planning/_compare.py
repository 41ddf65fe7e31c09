"""Which mechanism to use: all that can publish a model under one guarantee, ranked by what a reader will learn.

Mechanisms compete at the same stated (epsilon, delta), on the same simulated studies (`plan`). Those with a parameter
that their guarantee leaves open get the best one of a few; those whose own guarantee is better than what is asked keep
it. Tables are ranked by the expected log score, which rewards narrow intervals and coverage together; where densities
are not known, the mean width of intervals decides. A mechanism under a metric competes at its ordinary epsilon; what it
promises for each unit is listed beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import Exact, exact_text, positive, probability
from discreet._core.notebook import NotebookRepr, html_table, with_picture
from discreet._core.progress import shown
from discreet.inference import percent_text
from discreet.mechanism import Mechanism, Model
from discreet.planning._accuracy import POINT, Accuracy, accuracy, work_of_study
from discreet.planning._candidates import free_parameter, kinds_for, rivals_of, size_or_guess
from discreet.privacy import Evidence
from discreet.programs import ModelledTable
from discreet.programs.families import ReadableFamily

_FEW = 8  # studies by which a free parameter is chosen, and of tables that are read by a family


@dataclass(frozen=True)
class Ranked:
    """A mechanism of a ranking by its name, what to expect of it, and what else it promises."""

    name: str
    mechanism: Mechanism
    accuracy: Accuracy
    besides: str = ""

    def document(self) -> dict[str, object]:
        """Return name, guarantee and figures."""
        guarantee = self.mechanism.guarantee
        stated = {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}
        return {"name": self.name, "guarantee": stated, "besides": self.besides, **self.accuracy.document()}


@dataclass(frozen=True)
class Ranking(NotebookRepr):
    """Mechanisms for one model, size and guarantee, the best one first. `left_out` says why others are not here.

    Where the number of records is secret (`is_secret`), `size` is a guess of it.
    """

    size: int
    epsilon: Fraction
    delta: Fraction
    entries: tuple[Ranked, ...]
    left_out: dict[str, str]
    is_secret: bool = False

    @property
    def best(self) -> Ranked:
        """Return the first of the ranking."""
        if not self.entries:
            raise DeclarationError(
                f"No mechanism can publish this under this guarantee: {'; '.join(self.left_out.values())}"
            )
        return self.entries[0]

    def named(self, name: str) -> Ranked:
        """Return the entry of a mechanism by its name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise DeclarationError(f"{name!r} is not in this ranking, which holds {[e.name for e in self.entries]}.")

    @property
    def records(self) -> str:
        """Return how many records there are in words."""
        return f"about {self.size:,} records, a secret number" if self.is_secret else f"{self.size:,} records"

    @property
    def stated(self) -> str:
        """Return the guarantee under which all compete."""
        number = self.records if self.is_secret else f"{self.size} records"
        return f"{number}, epsilon = {exact_text(self.epsilon)}, delta = {exact_text(self.delta)}"

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of `rows`."""
        known = self.best.accuracy
        score = () if known.log_score is None else ("log score",)
        return "mechanism", *score, f"{percent_text(known.level, '')} width", "error"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: name, log score where it is known, mean width and error, with Monte Carlo errors."""
        return [_row(entry) for entry in self.entries]

    def remarks(self) -> list[str]:
        """Say what exact statistics would tell, what else is promised, and who is left out."""
        known = self.best.accuracy
        score = "" if known.exact_log_score is None else f"log score {known.exact_log_score:.4f}, "
        words = [
            f"Exact statistics: {score}width {known.exact_width:.4g} ({known.unit}), error {known.exact_error:.3g}.",
            known.method,
        ]
        words += [f"{entry.name} also promises: {entry.besides}" for entry in self.entries if entry.besides]
        return words + [f"Left out: {name}: {why}" for name, why in self.left_out.items()]

    def document(self) -> dict[str, object]:
        """Return the whole ranking as a document."""
        stated = {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta)}
        entries = [entry.document() for entry in self.entries]
        return {
            "about" if self.is_secret else "size": self.size,
            **stated,
            "entries": entries,
            "left_out": dict(self.left_out),
        }

    def _repr_html_(self) -> str:
        """Return picture and table for a notebook."""
        page = html_table(self.stated, self.headings, self.rows(), words=1, notes=self.remarks())
        return with_picture(page, "ranking_chart", self)

    def __str__(self) -> str:
        return "\n".join([self.stated, *_aligned([self.headings, *self.rows()]), *self.remarks()])


def compare(
    model: Model,
    size: int | None = None,
    epsilon: Exact | None = None,
    delta: Exact = 0,
    level: float = 0.9,
    studies: int | None = None,
    seed: int = 1,
    about: int | None = None,
) -> Ranking:
    """Rank all mechanisms that may publish a model under (epsilon, delta), on the same simulated studies.

    >>> import discreet as dc
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> ranking = dc.compare(coin, size=100, epsilon=1, studies=2)
    >>> "GeometricHistogram" in str(ranking)
    True

    Args:
        model: what is to be learnt.
        size: the public number of records; left out where that is secret.
        epsilon: the guarantee that all of them give.
        delta: the guarantee that all of them give.
        level: the level of the intervals whose widths are compared.
        studies: how many studies are simulated; left out, as many as take about a second.
        seed: the seed of the simulation.
        about: where the number of records is secret, a guess of it that does not come from the data.

    Returns:
        the mechanisms, best first, with what each is expected to achieve. `charts.ranking_chart` draws it.

    Raises:
        DeclarationError: if no mechanism can publish the model under this guarantee.
    """
    if not isinstance(model, Model):
        raise DeclarationError(
            f"compare ranks mechanisms for a model, such as Categories; got a {type(model).__name__}."
        )
    number, stated = size_or_guess(size, about, epsilon)
    asked = positive(stated, "epsilon"), probability(delta, "delta")
    entries, left_out, public = list[Ranked](), dict[str, str](), None if size is None else number
    known = kinds_for(is_secret=size is None)
    tables = model.tables_too() if isinstance(model, ModelledTable | ReadableFamily) else {}
    offers = [
        (f"{kind}{suffix}", made, table)
        for suffix, table in {"": model, **tables}.items()
        for kind, made in known.items()
    ]
    for name, made, table in shown(offers, "Comparing mechanisms", len(offers)):
        if not made.accepts_model(table):
            continue
        try:
            rivals = list(rivals_of(made, table, public, *asked))
            for rival in rivals:
                _check_publishable(rival, *asked)
            if rivals:  # else it needs more settings than these
                best = _best(rivals, level, seed, about) if table is model else rivals[0]
                entries.append(_ranked(name, best, None if table is model else model, level, studies, seed, about))
        except DiscreetError as problem:
            left_out[name] = str(problem)
    scores = [entry.accuracy.log_score for entry in entries]
    is_scored = None not in scores
    entries.sort(key=lambda each: (-(each.accuracy.log_score or 0.0) if is_scored else each.accuracy.width, each.name))
    return Ranking(number, *asked, tuple(entries), left_out, is_secret=size is None)


def _best(rivals: Sequence[Mechanism], level: float, seed: int, about: int | None) -> Mechanism:
    """Return the mechanism of one kind whose release is most informative, where a parameter is free and quickly found.

    Else it is the first.
    """
    if free_parameter(rivals[0]) is None or _FEW * sum(map(work_of_study, rivals)) > POINT:
        return rivals[0]
    found = [(accuracy(rival, level, _FEW, seed, about=about), rival) for rival in rivals]
    return min(found, key=lambda each: each[0].width if each[0].log_score is None else -each[0].log_score)[1]


def _ranked(
    name: str,
    mechanism: Mechanism,
    read_as: Model | None,
    level: float,
    studies: int | None,
    seed: int,
    about: int | None,
) -> Ranked:
    free, metric = free_parameter(mechanism), mechanism.guarantee.metric
    shown_name = name if free is None else f"{name}({free}={float(getattr(mechanism, free)):.4g})"
    besides = "" if metric is None else metric.words
    count = studies or (None if read_as is None else _FEW)
    return Ranked(shown_name, mechanism, accuracy(mechanism, level, count, seed, model=read_as, about=about), besides)


def _check_publishable(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> None:
    """Refuse what is merely claimed, or promises less than is asked."""
    guarantee = mechanism.guarantee
    if guarantee.evidence is Evidence.CLAIMED or guarantee.epsilon > epsilon or guarantee.delta > delta:
        raise DeclarationError(f"Its guarantee is not sufficient: {guarantee!r}.")


def _row(entry: Ranked) -> tuple[str, ...]:
    found = entry.accuracy
    score = () if found.log_score is None else (f"{found.log_score:.3f} +- {found.log_score_error:.2g}",)
    return entry.name, *score, f"{found.width:.4g} +- {found.mc_error:.2g}", f"{found.error:.3g}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: names to the left, figures to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        row[0].ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
