"""`plan`: how accurate questions will be, before any budget is spent. One table, one document and one chart for all.

The epsilons that a plan compares, and how they are shown: under a metric, every number is given with its unit.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import exact, exact_text
from discreet.cli._ledger import show_totals
from discreet.cli._screen import (
    as_json,
    helpful,
    patient,
    require_folder,
    say,
    show_json,
    show_table,
    study_file,
    working,
)
from discreet.inference import PROBABILITY, percent_text
from discreet.mathematics.distributions import tails
from discreet.mechanism import HasMissingValue, Sized, both_promises, sized, with_fields
from discreet.planning import (
    Accuracy,
    Curve,
    Simulations,
    accuracy_curve,
    check_width,
    epsilons_that_fit,
    largest_size,
    require_quick,
    studies_for,
)
from discreet.privacy import Accountant
from discreet.report import charts
from discreet.study import Question, Study

_TIMES = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


class Epsilons:
    """Values of epsilon for one question, as it declares them: for any change of a record, or per unit of a metric.

    Computations use epsilon for any change. The two are proportional, so one ratio converts between them.
    """

    def __init__(self, question: Question) -> None:
        self._mechanism, promised = question.mechanism, question.mechanism.guarantee
        self._metric = promised.metric if question.is_per_unit else None
        self._any_change = promised.epsilon
        self._ratio = Fraction(1) if self._metric is None else self._metric.epsilon / self._any_change

    def values(self, written: str | None) -> list[Fraction]:
        """Return the epsilons to compare, for any change: as given; by default a quarter to four times the declared."""
        if written is None:
            return [value for times in _TIMES if self._is_possible(value := times * self._any_change)]
        return [exact(text, "--epsilon") / self._ratio for text in written.split(",")]

    def _is_possible(self, value: Fraction) -> bool:
        try:
            with_fields(self._mechanism, epsilon=value)
        except DeclarationError:
            return False
        return True

    @property
    def unit(self) -> str:
        """Return what epsilon is counted in: 'epsilon', or 'epsilon per 1 of age'."""
        return "epsilon" if self._metric is None else f"epsilon per {self._short}"

    @property
    def _short(self) -> str:
        """Return the unit without the remark on rounding, which `sentence` makes once."""
        assert self._metric is not None
        return self._metric.known_metric.unit.partition(", ")[0]

    @property
    def sentence(self) -> list[str]:
        """Say in full what the question declares under a metric, if it does."""
        return [] if self._metric is None else [f"Declared: {self._metric.words}"]

    def head(self, epsilon: float) -> str:
        """Return one value for the head of a column, as it is declared."""
        return f"{self.declared(epsilon):.4g}"

    def declared(self, epsilon: float) -> float:
        """Return an epsilon for any change as the question would declare it."""
        return epsilon * float(self._ratio)

    def words(self, epsilon: float, digits: str = ".2g") -> str:
        """Return one value in words."""
        if self._metric is None:
            return f"epsilon = {epsilon:{digits}}"
        per = f"epsilon = {self.declared(epsilon):{digits}} per {self._short}"
        return f"{per} (for any change whatever: {epsilon:{digits}})"

    def facts(self, epsilon: float) -> dict[str, object]:
        """Return what a document says beside `epsilon`: nothing, or epsilon per unit and the unit."""
        if self._metric is None:
            return {}
        return {"epsilon_per_unit": self.declared(epsilon), "of": self._metric.known_metric.unit}


_MOST_ROWS = 12  # rows of a table; a document has all


@click.command()
@study_file
@click.option("--ask", "name", help="The question to plan; by default all of them, each at its own epsilon.")
@click.option("--epsilon", "epsilons", help="Values to compare, by default around the declared one; of --ask.")
@click.option("--sizes", default="", help="Sample sizes to compare at the declared epsilon, such as 500,5000.")
@click.option(
    "--width", type=float, help="The interval width you want: says which epsilon, or how many records, would give it."
)
@click.option("--level", type=float, default=0.9, show_default=True, help="The credible level of the intervals.")
@click.option(
    "--studies", type=click.IntRange(min=2), help="How many studies to simulate; by default about a second's worth."
)
@click.option("--compare", is_flag=True, help="Rank all mechanisms at the question's guarantee by what readers learn.")
@click.option("--batch", is_flag=True, help="Show what all questions cost together if they are fixed in advance.")
@patient
@click.option("--plot", type=click.Path(path_type=Path), help="Write a picture: .png, .svg or .json.")
@as_json
@helpful
def plan(
    study: Path,
    name: str | None,
    epsilons: str | None,
    sizes: str,
    width: float | None,
    level: float,
    studies: int | None,
    compare: bool,
    batch: bool,
    patience: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Show how accurate questions will be, before any budget is spent. The data are not touched.

    Studies are simulated from the model's prior, published and read as a release will be, and read again from their
    exact statistics: the difference is what privacy costs. With --ask: one question at several epsilons or sizes. With
    --compare: all mechanisms that could publish it under its guarantee, the most informative first. With --batch: the
    total cost of all questions of the study when they are published with `publish --batch`.

    \b
    Example:  discreet plan study.toml
              discreet plan study.toml --ask smoking-2026 --width 0.05 --plot plan.png
              discreet plan study.toml --ask smoking-2026 --compare --plot ranking.png
              discreet plan study.toml --batch
    """
    require_folder(plot)
    charts.require_ending(plot)
    tails(level)
    records = _sizes(sizes)
    declared = Study(study)
    if batch:
        return _show_batch(declared, plot, as_json)
    if not declared.questions:
        raise DeclarationError(f"{str(study)!r} declares no questions.")
    if name is None and len(declared.questions) > 1:
        if epsilons or records or compare or plot is not None or width is not None:
            raise DeclarationError(
                "--epsilon, --sizes, --width, --compare and --plot are about one question; name it with --ask: "
                f"{', '.join(declared.questions)}. Nothing was planned."
            )
        return _plan_all(declared, level, studies, patience, as_json)
    question = declared.question(name if name is not None else next(iter(declared.questions)))
    if question.only_claimed is not None:
        raise DeclarationError(f"Cannot plan {question.name!r}: {question.only_claimed}.")
    if question.no_posterior is not None:
        return _plan_without_posterior(question, as_json)
    if compare:
        from discreet.cli._compare import compare_mechanisms  # which few plans need

        return compare_mechanisms(question, level, studies, plot, as_json)
    return _plan_one(question, epsilons, records, level, studies, width, patience, plot, as_json)


def _plan_all(study: Study, level: float, studies: int | None, patience: float, as_json: bool) -> None:
    """Show every question at its own epsilon, and what cannot be planned."""
    documents = []
    for question in study.questions.values():
        try:
            if (why := question.only_claimed or question.no_posterior or question.refusal) is not None:
                raise DeclarationError(f"it cannot be read: {why}")
            require_quick(question.mechanism, patience)
            with working(f"simulating {question.name}", as_json):
                curve = accuracy_curve([question.mechanism], level, studies, patience=patience, about=question.guess)
        except DiscreetError as problem:
            documents.append({**_facts(question), "not_planned": str(problem)})
            if not as_json:
                say(f"{question.name}: not planned, {problem}")
            continue
        documents.append({**_facts(question), **curve.document()})
        if not as_json:
            (found,) = curve.points
            _show_rows(f"{question.name}: {question.label}", found)
            say(
                f"{found.stated}: {found.sentence}.",
                *_noise_words(found),
                *_about_some(question),
                *_promises(question),
                *announced(question),
                "",
            )
    if as_json:
        return show_json({"questions": documents})
    return say("Other epsilons and sizes, and what a width needs: discreet plan STUDY --ask NAME")


def _plan_one(
    question: Question,
    written: str | None,
    sizes: Sequence[int],
    level: float,
    studies: int | None,
    width: float | None,
    patience: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Show one question at several epsilons or sizes, and what a desired width needs."""
    mechanism, named = question.mechanism, Epsilons(question)
    if question.refusal is not None:
        raise DeclarationError(
            f"{question.name!r} cannot be published as it is, as no inference method supports it: {question.refusal}. "
            "Nothing was planned."
        )
    if sizes and not isinstance(mechanism, Sized):
        raise DeclarationError(
            f"--sizes needs a public number of records, and {question.name!r} keeps it secret. Nothing was planned. "
            f"Write "
            "another guess as about = 5000 in [data]."
        )
    if width is not None:
        check_width(mechanism, width)
    require_quick(mechanism, patience)
    count = studies or studies_for(mechanism)
    epsilons = named.values(written)
    if written is None:
        epsilons = [exact(each, "epsilon") for each in epsilons_that_fit(mechanism, epsilons, count)]
    simulations = Simulations(level, patience=patience, about=question.guess)
    with working("simulating studies", as_json):
        curve = simulations.curve([with_fields(mechanism, epsilon=epsilon) for epsilon in epsilons], count)
        others = [with_fields(mechanism, size=size) for size in sizes]
        resized = simulations.curve(others, studies) if others else Curve(())
        wished = {} if width is None else _wished(question, width, simulations, count)
    if plot is not None:
        _draw(question, named, curve, plot)
    if as_json:
        points = [each.document() | named.facts(each.epsilon) for each in (*curve.points, *resized.points)]
        refused = [*curve.refused, *resized.refused]
        unreadable = [{"epsilon": each.epsilon, "size": each.size, "why": each.why} for each in refused]
        return show_json(_facts(question) | {"points": points, "unreadable": unreadable, "wished": wished})
    say(*missing_value_of(question))
    _show_curve(question, named, curve)
    if resized.points:
        _show_sizes(question, resized)
    stated = next((each for each in curve.points if each.epsilon == float(mechanism.guarantee.epsilon)), None)
    found = stated or curve.points[-1]
    say(*named.sentence, *(each.words for each in (*curve.refused, *resized.refused)))
    say(f"{found.stated}: {found.sentence}.", found.method, *_noise_words(found), *_bounds_words(question))
    say(*_about_some(question), *_promises(question))
    if wished:
        say(*_wishes(wished, named, question))
    return say(*chosen_by(question), *announced(question), *([] if plot is None else [f"Wrote {plot}."]))


def _facts(question: Question) -> dict[str, object]:
    mechanism = type(question.mechanism).__name__
    facts: dict[str, object] = {"question": question.name, "mechanism": mechanism, "reason": question.reason}
    return facts | ({} if question.announcement is None else {"inference": question.announcement})


def _show_rows(title: str, found: Accuracy) -> None:
    rows = found.table()
    heads = ("quantity", "unit", f"{percent_text(found.level, '')} width", "exact", "error (exact)")
    show_table(title, heads, rows[:_MOST_ROWS], words=2)
    _say_left_out(found)


def _say_left_out(found: Accuracy) -> None:
    if (more := found.rows_of_all - min(_MOST_ROWS, len(found.rows))) > 0:
        say(f"{more} of {found.rows_of_all} rows are not shown.")


def _show_curve(question: Question, named: Epsilons, curve: Curve) -> None:
    """Show the width of every row at each epsilon, beside what exact statistics give."""
    points, last = curve.points, curve.points[-1]
    show_table(
        f"{question.label}: expected {percent_text(last.level, '')} widths by {named.unit}, {last.size} records",
        ("quantity", *(named.head(each.epsilon) for each in points), "exact"),
        [
            (row.name, *(_figure(each.rows[index].width) for each in points), _figure(row.exact_width))
            for index, row in enumerate(last.rows[:_MOST_ROWS])
        ]
        + [
            ("mean", *(_figure(each.width) for each in points), _figure(last.exact_width)),
            ("Monte Carlo error", *(f"{each.mc_error:.1g}" for each in points), ""),
        ],
    )
    _say_left_out(last)


def _show_sizes(question: Question, curve: Curve) -> None:
    """Show mean widths at other sizes, with exact statistics in brackets."""
    level = percent_text(curve.points[0].level, "")
    show_table(
        f"{question.label}: mean {level} widths by number of records, exact in brackets",
        tuple(str(each.size) for each in curve.points),
        [tuple(f"{each.width:.4g} ({each.exact_width:.4g})" for each in curve.points)],
        words=0,
    )


def _figure(width: float) -> str:
    return f"{width:.3g}"


def _noise_words(found: Accuracy) -> list[str]:
    """Say what else is known: how noisy counts will be, and how well a classifier does."""
    facts, words = found.facts, list[str]()
    if "count_sd" in facts:
        sd = facts["count_sd"]
        words.append(
            f"The noise of a count has the standard deviation {sd:.4g} within a row whose total is known, "
            f"{sd / found.size:.2%} of all records."
        )
    if "class_sd" in facts:
        words.append(f"That of a class itself is {facts['class_sd']:.4g}.")
    if "classified" in facts:
        right, known = facts["classified"], facts["classified_exactly"]
        words.append(f"New records will be classified correctly in {right:.1%} ({known:.1%} from exact counts).")
    if "measured_pairs" in facts:
        words.append(
            f"Of {facts['pairs']:.0f} pairs of columns about {facts['measured_pairs']:.0f} will be measured; 90% "
            f"intervals of their cells will be {facts['pair_width']:.3g} wide on average. The model will be off by "
            f"{facts['model_distance']:.3g} in total variation for the table of a pair of columns, on average."
        )
    return words


def _about_some(question: Question) -> list[str]:
    """Say which records a question is about, if not all."""
    if question.where is not None:
        return [f"{question.name}: of the records where {question.where}, of which there are about {question.about}."]
    if question.given:
        return [f"The whole table is published; rows of {question.given!r} answer the question."]
    return []


def _promises(question: Question) -> list[str]:
    """Say what is promised about being in the data, and about what a record says, where the former is secret."""
    promises = both_promises(question.mechanism, question.unit.rows)
    return [] if promises is None else [f"{promises[0].upper()}{promises[1:]}."]


def _bounds_words(question: Question) -> list[str]:
    if not question.bounds:
        return []
    return [
        "Noise is proportional to the distance between declared bounds: bounds half as far apart would halve it, but "
        "cut off (clip) what lies beyond them."
    ]


def _wished(question: Question, width: float, simulations: Simulations, studies: int) -> dict[str, float | None]:
    """Return a desired width with the epsilon and the size that give it."""
    needed = simulations.solve_for_width(question.mechanism, width, "epsilon", studies)
    is_secret = question.about is not None
    size = None if is_secret else simulations.solve_for_width(question.mechanism, width, "size", studies)
    return {"width": width, "epsilon_needed": needed, "size_needed": None if size is None else int(size)}


def _wishes(wished: dict[str, float | None], named: Epsilons, question: Question) -> list[str]:
    width, needed, records = wished["width"], wished["epsilon_needed"], wished["size_needed"]
    first = f"about {named.words(needed)}" if needed else "no epsilon is enough; more records are needed"
    if question.about is not None:
        return [f"Mean width {width:g} with about {question.about} records: {first}."]
    own = sized(question.mechanism)
    most = f"even {largest_size(own):,.0f} records are not enough"
    second = f"about {records:.0f} records" if records else most
    stated = float(question.mechanism.guarantee.epsilon)
    return [
        f"Mean width {width:g} with {own.size} records: {first}.",
        f"Mean width {width:g} at {named.words(stated, '.6g')}: {second}.",
    ]


def _draw(question: Question, named: Epsilons, curve: Curve, plot: Path) -> None:
    """Draw the mean width at every epsilon that was computed."""
    points = [
        {
            "epsilon": named.declared(each.epsilon),
            "width": each.width,
            "exact_width": each.exact_width,
            "mc_error": each.mc_error,
        }
        for each in curve.points
    ]
    first = curve.points[0]
    unit = None if first.unit == PROBABILITY else first.unit
    title = f"{question.label}: mean over {len(first.rows)} rows, {first.size:,} records"
    chosen = named.declared(float(question.mechanism.guarantee.epsilon))
    charts.render(charts.width_chart(points, title, unit, chosen, named.unit), plot)


def _plan_without_posterior(question: Question, as_json: bool) -> None:
    """Show what a question costs that is declared to have no posterior, and so has no accuracy to predict."""
    cost = question.mechanism.guarantee.for_rows(question.unit.rows)
    if as_json:
        facts = {"epsilon": exact_text(cost.epsilon), "delta": exact_text(cost.delta)}
        return show_json({"question": question.name, "reading": question.reading, "why": question.no_posterior} | facts)
    return say(f"{question.label}: it costs {cost!r}.", *no_posterior(question))


def _sizes(text: str) -> list[int]:
    try:
        return [int(exact(part, "--sizes")) for part in text.split(",") if part.strip()]
    except DeclarationError:
        raise DeclarationError(f"--sizes takes whole numbers separated by commas; got {text!r}.") from None


def _show_batch(study: Study, plot: Path | None, as_json: bool) -> None:
    with working("composing privacy losses", as_json):
        totals = study.batch().totals(study.unit.rows)
    if plot is not None:
        charts.render(charts.composition_chart(totals, len(study.questions)), plot)
    rule, epsilon = totals.best if study.accountant is Accountant.BASIC else ("zcdp", totals.zcdp)
    if as_json:
        return show_json({"questions": len(study.questions), "totals": totals.document(), "charged": rule})
    show_totals(totals, f"{len(study.questions)} questions together", rule)
    saved = totals.basic - epsilon if totals.basic < float("inf") else 0
    if saved > 0:
        say(f"As one plan they cost epsilon = {float(epsilon):g} ({rule}) instead of {float(totals.basic):g}.")
    if not totals.delta:
        say("With delta = 0, epsilons simply add up. Declare a delta in [budget], such as 1e-6, to see what it saves.")
    say("A plan is charged once and published as a whole: discreet publish STUDY --batch")
    if plot is not None:
        say(f"Wrote {plot}.")
    return None


def no_posterior(question: Question) -> list[str]:
    """Say that there will be no posterior, if the study declares that and it is true."""
    if question.no_posterior is None:
        return []
    return [f"There will be no posterior, as the study declares (reading = 'none'): {question.no_posterior}."]


def announced(question: Question) -> list[str]:
    """Say how long inference from a release will take, if it may take long."""
    return [] if question.announcement is None else [question.announcement]


def missing_value_of(question: Question) -> list[str]:
    """Say what missing numbers count as, if they are not left out."""
    model = question.model
    return list(filter(None, [model.missing_in_words if isinstance(model, HasMissingValue) else ""]))


def chosen_by(question: Question) -> list[str]:
    """Say which mechanism publishes a question, and why if it was not declared."""
    why = f"chosen because {question.reason}" if question.reason else "as declared"
    return [f"Mechanism: {type(question.mechanism).__name__}, {why}."]
