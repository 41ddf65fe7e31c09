"""The data holder's commands: init, check, rehearse, publish; `plan` has a file of its own."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape

from discreet._core.errors import ConvergenceWarning, DeclarationError, LittleInformationWarning
from discreet._core.exact import exact_text
from discreet.cli._check import matches_of, show_levels, show_numbers, sizes_of
from discreet.cli._plan import announced, chosen_by, missing_value_of, no_posterior
from discreet.cli._posterior import show_posterior
from discreet.cli._screen import as_json, console, helpful, require_folder, say, show_json, study_file, working
from discreet.inference import Posterior
from discreet.ledger import Ledger, SigningKey
from discreet.planning import rehearsal
from discreet.privacy import Amount, left_text, spent_text
from discreet.records import other_separator, read
from discreet.release import Release
from discreet.report import document_of
from discreet.study import Question, Study, template

_MADE_UP = "[bold yellow]A rehearsal on simulated data. The truth is shown because it is simulated.[/]"
EYES = "For the data holder's eyes only: what follows describes the records, and no noise protects it."


@click.command()
@click.argument("data")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("study.toml"), show_default=True, help="The file to write."
)
@click.option("--table", help="The table to read, on a server, or if a DuckDB file holds several.")
@click.option("--separator", help="What separates the values of a CSV file, if not a comma.")
@as_json
@helpful
def init(data: str, out: Path, table: str | None, separator: str | None, as_json: bool) -> None:
    """Write a commented study file from a table's column names alone. No value is read.

    \b
    Example:  discreet init survey.csv
              discreet init postgresql://reader@db/hospital --table visits
    """
    if out.exists():
        raise DeclarationError(f"{str(out)!r} already exists. Nothing was written. Choose another name with --out.")
    require_folder(out)
    names = read(data, table, separator).names()
    out.write_text(template(data, out, names, table, separator), encoding="utf-8")
    if as_json:
        return show_json({"study": str(out), "columns": len(names)})
    if hint := other_separator(names):
        say(f"Check the separator.{hint} For this command: --separator.")
    return say(
        f"Wrote {out} for a table of {len(names)} column{'s' * (len(names) != 1)}. Now declare the size, the levels "
        "and a question in it.",
        "Make sure that the column names in it really are names: without a header, they would be the first record.",
        f"Then run: discreet check {out}",
    )


@click.command()
@study_file
@click.option("--strict", is_flag=True, help="End with exit code 1 if anything looks like a mistake.")
@as_json
@helpful
def check(study: Path, strict: bool, as_json: bool) -> None:
    """Compare the data with the declarations, for the data holder's eyes only. Nothing is published or charged.

    What is almost certainly a mistake is printed in red: a column whose values are all undeclared, levels that never
    occur, values that differ from a level by case or blanks, more than 5 % replaced or left out, a wrong size.

    \b
    Example:  discreet check study.toml --strict
    """
    declared = Study(study)
    questions = list(declared.questions.values())
    if not any((*question.columns, *question.bounds) for question in questions):
        raise DeclarationError(
            f"{str(study)!r} asks no question yet, so there is nothing to check. Add [questions.NAME]."
        )
    source = declared.source()
    with working("counting", as_json):
        levels, numbers = matches_of(source, questions, declared.columns)
        records = int((levels or numbers)[0].match.counts.sum())
        size = sizes_of(source, questions, records, declared.number)
    problems = [problem for column in levels for problem in column.problems()]
    problems += [problem for number in numbers for problem in number.problems()]
    declared.note_check()
    if as_json:
        columns = {each.column.name: each.facts() for each in levels}
        facts = {"note": EYES, **size.facts, "fits": size.fits, "problems": problems, "columns": columns}
        show_json(facts | ({"numbers": {each.name: each.facts() for each in numbers}} if numbers else {}))
    else:
        console.print(f"[bold yellow]{EYES}[/]")
        console.print("\n".join(map(escape, size.words)), style="" if size.fits else "bold red", soft_wrap=True)
        if levels:
            show_levels(levels)
        if numbers:
            show_numbers(numbers)
        for problem in problems:
            console.print(f"[bold red]Check this:[/] {escape(problem)}", soft_wrap=True)
    if not size.fits or (strict and problems):
        sys.exit(1)


@click.command()
@study_file
@click.option("--ask", "name", help="The question to rehearse; by default the first one.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The seed of simulated data.")
@as_json
@helpful
def rehearse(study: Path, name: str | None, seed: int, as_json: bool) -> None:
    """Try out a question on simulated data, with the same sampler and the same inference. Nothing is charged.

    \b
    Example:  discreet rehearse study.toml --ask smoking-2026
    """
    question = _question(Study(study), name)
    if (why := question.only_claimed or question.refusal or question.no_posterior) is not None:
        raise DeclarationError(
            f"Cannot rehearse {question.name!r}: no inference method supports it: {why}. Nothing was drawn."
        )
    with working("inferring from a simulated study", as_json), warnings.catch_warnings():
        for category in (LittleInformationWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        posterior, truth = rehearsal(question.mechanism, f"rehearsal of {question.label}", seed, question.guess)
    return _show_rehearsal(posterior, truth, chosen_by(question) if question.reason else (), as_json)


def _show_rehearsal(posterior: Posterior, truth: Sequence[float], words: Sequence[str], as_json: bool) -> None:
    if as_json:
        return show_json(document_of(posterior, 0.9, truth))
    console.print(_MADE_UP)
    say(*words)
    return show_posterior(posterior, 0.9, truth)


@click.command()
@study_file
@click.option("--ask", "name", help="The question to publish.")
@click.option("--batch", is_flag=True, help="Publish all questions as one plan, charged once for all of them together.")
@click.option("--out", type=click.Path(path_type=Path), help="The release's file; by default QUESTION.release.json.")
@click.option("--key", type=click.Path(path_type=Path), help="Your private key, to sign what is published.")
@as_json
@helpful
def publish(study: Path, name: str | None, batch: bool, out: Path | None, key: Path | None, as_json: bool) -> None:
    """Publish a question: charge the ledger, draw the noise, write the release. Repeating it costs nothing.

    With --batch, all questions are charged and published together, or none of them. `plan --batch` shows the cost.

    \b
    Example:  discreet publish study.toml --ask smoking-2026
              discreet publish study.toml --batch
    """
    declared = Study(study)
    if batch == (name is not None) or (batch and out is not None):
        raise DeclarationError("Publish one question with --ask NAME, or all of them with --batch (without --out).")
    signer = None if key is None else SigningKey.open(key)
    if name is None:
        return _publish_batch(declared, signer, as_json)
    question = declared.question(name)
    target = out or study.parent / f"{name}.release.json"
    require_folder(target)
    if out is None:
        declared.refuse_other_file(name)
    before = declared.ledger().head.sequence if declared.has_ledger else 0
    _remind_of_check(declared, as_json)
    with working("counting and publishing", as_json):
        release = declared.release_of(name)
    target.write_text((release.signed(signer) if signer else release).to_json() + "\n", encoding="utf-8")
    ledger = declared.ledger()
    again = release.receipt is not None and release.receipt.sequence <= before
    if as_json:
        left = ledger.remaining.document()
        epsilon = exact_text(release.guarantee.epsilon)
        facts = {"release": str(target), "mechanism": type(release.mechanism).__name__, "reason": question.reason}
        facts |= {} if question.announcement is None else {"inference": question.announcement}
        return show_json(facts | {"epsilon": epsilon, "remaining": left, "already_published": again})
    stated = ledger.declared_limit
    if stated.numbers[0] != declared.epsilon:
        say(f"Note: the ledger's limit is {_first(stated)}; it overrides what the study declares.")
    published = f"Published {release.label!r} as {target}."
    whose = "" if release.change.endswith(release.unit.description) else f", {release.unit.description}"
    return say(
        f"{release.label!r} was published before; nothing was charged. Wrote {target} again." if again else published,
        *(chosen_by(question) if question.reason else []),
        *missing_value_of(question),
        *no_posterior(question),
        *announced(question),
        f"Guarantee: epsilon = {spent_text(release.guarantee.epsilon)}, delta = {spent_text(release.guarantee.delta)}, "
        f"{release.change}{whose} ({release.guarantee.evidence.value}).",
        *([] if release.guarantee.metric is None else [f"In addition: {release.guarantee.metric.words}"]),
        *_charged_to(ledger, release),
        f"Of the budget, {_first(ledger.remaining)} remains ({ledger.place}).",
        *(
            [f"The whole table was published; rows of {question.given!r} answer the question."]
            if question.given
            else []
        ),
        f"Read it with: discreet infer {target}"
        if question.no_posterior is None
        else f"Check it with: discreet verify {target}",
    )


def _charged_to(ledger: Ledger, release: Release) -> list[str]:
    """Say to which group of the ledger a release was charged, and what is left for that group."""
    if release.group is None:
        return []
    _, left = ledger.by_group()[release.group]
    rest = "" if left is None else f": {_first(left)} remains for it"
    return [f"It was charged to the group {release.group!r}{rest}."]


def _remind_of_check(declared: Study, as_json: bool) -> None:
    """Say it if nobody has compared the data with these declarations: publishing itself may not look."""
    if not as_json and not declared.is_checked:
        say(
            f"Note: `discreet check {declared.path}` was never run with these declarations. It shows values that no "
            "level declares before they are paid for."
        )


def _first(amount: Amount) -> str:
    """Return the first figure of an amount that is left or allowed, with its name."""
    name, value = next(iter(amount.texts(left_text).items()))
    return f"{name} = {value}"


def _publish_batch(declared: Study, signer: SigningKey | None, as_json: bool) -> None:
    for name in declared.questions:
        declared.refuse_other_file(name)
    before = declared.ledger().head.sequence if declared.has_ledger else 0
    _remind_of_check(declared, as_json)
    with working("counting and publishing", as_json):
        releases = declared.publish_all()
    paths = [declared.path.parent / f"{name}.release.json" for name in declared.questions]
    for path, release in zip(paths, releases, strict=True):
        path.write_text((release.signed(signer) if signer else release).to_json() + "\n", encoding="utf-8")
    ledger, charged = declared.ledger(), declared.batch().guarantee_for(declared.unit.rows)
    again = any(release.receipt is not None and release.receipt.sequence <= before for release in releases)
    if as_json:
        kinds = {name: type(question.mechanism).__name__ for name, question in declared.questions.items()}
        facts = {"releases": [str(path) for path in paths], "mechanisms": kinds, "already_published": again}
        spent = {"epsilon": exact_text(charged.epsilon), "delta": exact_text(charged.delta)}
        return show_json(facts | spent | {"remaining": ledger.remaining.document()})
    first = "was published before; nothing was charged. Wrote" if again else "is published as"
    return say(
        f"The plan of {len(releases)} questions {first} {', '.join(map(str, paths))}.",
        *(f"{q.name}. {line}" for q in declared.questions.values() if q.reason for line in chosen_by(q)),
        *(f"{q.name}. {line}" for q in declared.questions.values() for line in announced(q)),
        f"Together: epsilon = {spent_text(charged.epsilon)}, delta = {spent_text(charged.delta)} ({charged.reason}).",
        f"Of the budget, {_first(ledger.remaining)} remains ({ledger.place}).",
    )


def _question(study: Study, name: str | None) -> Question:
    if name is None and not study.questions:
        raise DeclarationError(f"{str(study.path)!r} declares no questions.")
    return study.question(name if name is not None else next(iter(study.questions)))
