"""The command `ask`: a declared query of a third party, answered from a draw of the posterior that was charged."""

from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from discreet._core.errors import DeclarationError
from discreet.cli._infer import read_document
from discreet.cli._screen import as_json, helpful, require_folder, say, show_json, study_file, working
from discreet.ledger import SigningKey
from discreet.mathematics.distributions import CountDistribution
from discreet.privacy import left_text, spent_text
from discreet.publishing import PublishedDraw
from discreet.study import Study

_LARGEST_SHOWN = 12


@click.command()
@study_file
@click.argument("query")
@click.option("--draw", "number", type=click.IntRange(min=1), help="Answer from this earlier draw, free of charge.")
@click.option(
    "--from", "released", type=click.Path(path_type=Path), help="Answer from this published draw; needs no data."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The draw's file; by default QUESTION.draw-N.release.json."
)
@click.option("--key", type=click.Path(path_type=Path), help="Your private key, to sign the draw.")
@as_json
@helpful
def ask(
    study: Path,
    query: str,
    number: int | None,
    released: Path | None,
    out: Path | None,
    key: Path | None,
    as_json: bool,
) -> None:
    """Answer a query that the study declares from a draw of the posterior. A new draw is charged first.

    The draw itself is written as a release: it is public, and any number of queries about the same draw are free, with
    --draw N for the data holder and --from FILE for anybody.

    \b
    Example:  discreet ask study.toml falls-in-A
              discreet ask study.toml costs --draw 1
              discreet ask study.toml costs --from falls.draw-1.release.json
    """
    declared = Study(study)
    asked = declared.query(query)
    if released is not None:
        if number is not None or out is not None or key is not None:
            raise DeclarationError("--from answers from a file: it cannot be combined with --draw, --out or --key.")
        document = read_document(released)
        if document.mechanism.model != declared.question(asked.question).model:
            raise DeclarationError(f"{str(released)!r} is not a draw of {asked.question!r}. Nothing was answered.")
        return _show(asked.label, PublishedDraw(document).answer(asked.query), {"release": str(released)}, [], as_json)
    draws = declared.draws(asked.question)
    signer = None if key is None else SigningKey.open(key)
    with working("counting and drawing", as_json):
        index, draw = draws.fresh() if number is None else (number, draws.known(number))
    target = out or study.parent / f"{asked.question}.draw-{index}.release.json"
    require_folder(target)
    release = draw.release
    target.write_text((release.signed(signer) if signer else release).to_json() + "\n", encoding="utf-8")
    ledger = declared.ledger()
    cost = f"epsilon = {spent_text(release.guarantee.epsilon)}, delta = {spent_text(release.guarantee.delta)}"
    words = [
        f"Draw {index} was charged: {cost}."
        if number is None
        else f"Draw {index} was made before: nothing was charged.",
        f"Wrote {target}. Further queries about this draw are free: --draw {index}, or --from {target} for others.",
        f"Of the budget, {ledger.remaining.words(left_text)} remains ({ledger.place}).",
        "This answer treats the drawn parameters as if they were true. For honest uncertainty, read the draw: "
        f"discreet infer {target}",
    ]
    facts = {"draw": index, "charged": number is None, "release": str(target), "remaining": ledger.remaining.document()}
    return _show(asked.label, draw.answer(asked.query), facts, words, as_json)


def _show(label: str, answer: object, facts: Mapping[str, object], words: list[str], as_json: bool) -> None:
    if as_json:
        return show_json({"query": label, "answer": _plain(answer), **facts})
    lines = _lines(answer)
    shown = lines[:_LARGEST_SHOWN] + (
        [f"... {len(lines) - _LARGEST_SHOWN} more; see --json"] if len(lines) > _LARGEST_SHOWN else []
    )
    return say(f"{label}: {shown[0]}" if len(shown) == 1 else f"{label}:", *(shown if len(shown) > 1 else []), *words)


def _plain(answer: object) -> object:
    """Return an answer as JSON can hold it."""
    if isinstance(answer, CountDistribution):
        return {"mean": answer.mean, "probabilities": answer.probabilities.tolist()}
    if isinstance(answer, Mapping):
        return {_name(key): _plain(value) for key, value in answer.items()}
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


def _name(cell: object) -> str:
    return ", ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell)


def _lines(answer: object) -> list[str]:
    """Return an answer in lines: one number, one line for each name, or how many further records are expected."""
    if isinstance(answer, CountDistribution):
        return [f"{answer.mean:.4g} expected"]
    if isinstance(answer, Mapping):
        return [f"  {_name(key)}: {_short(value)}" for key, value in answer.items()]
    return [_short(answer)]


def _short(value: object) -> str:
    return (
        f"{value:.4g}" if isinstance(value, int | float) else str(np.round(np.asarray(value, dtype=float), 4).tolist())
    )
