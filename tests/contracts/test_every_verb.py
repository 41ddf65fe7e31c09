"""Every mechanism with every model that it accepts, and every verb: it works, or it refuses in words.

Nothing else may come out: no AttributeError, no KeyError, no TypeError. What comes out right is tested elsewhere.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import why_unreadable
from discreet.mechanism import Sized
from discreet.planning import accuracy_curve, cell_variances
from discreet.report._documents import document_of, write_csv
from discreet.report.charts._posterior import posterior_chart
from discreet.report.statement._page import statement_html
from discreet.report.statement._statement import statement
from every_pair import ACCEPTED, MODELS, counts_of, in_words, made

SIZE = 4
PAIRS = [(kind, place) for kind, places in ACCEPTED.items() for place in places]


def before(mechanism: Any, folder: Path) -> dict[str, Callable[[], object]]:
    """Return the verbs that need no release."""
    return {
        "verify": lambda: dc.verify(mechanism),
        "audit": lambda: dc.audit(mechanism, draws=100),
        "accuracy": lambda: dc.accuracy(mechanism, studies=2),
        "variances": lambda: cell_variances(mechanism),
        "curve": lambda: accuracy_curve([mechanism], studies=2),
        "plan": lambda: dc.Plan([mechanism, mechanism], "1e-2").guarantee,
        "study question": lambda: asked(mechanism, folder),
    }


def after(release: Any, posterior: Any, folder: Path) -> dict[str, Callable[[], object]]:
    """Return the verbs of a release that was read."""
    return {
        "document": lambda: dc.Release.from_json(release.to_json()),
        "rows": lambda: posterior.rows(0.5),
        "draws": lambda: posterior.draws(4, seed=1),
        "screen": lambda: str(posterior),
        "notebook": posterior._repr_html_,
        "JSON": lambda: document_of(posterior),
        "CSV": lambda: write_csv(posterior, folder / "rows.csv"),
        "chart": lambda: posterior_chart(posterior),
        "statement": lambda: statement(release, posterior),
        "statement for a board": lambda: statement_html(statement(release, posterior)),
        "ArviZ": lambda: posterior.to_arviz(draws=4),
        "data frame": lambda: posterior.to_frame("pandas"),
        "evidence": lambda: (posterior.information, posterior.log_evidence, posterior.method),
    }


def asked(mechanism: Any, folder: Path) -> object:
    """Return what a study makes of a question about this model that names this mechanism."""
    path = folder / "study.toml"
    keys = "".join(f"{name} = {value}\n" for name, value in declared(mechanism))
    number = f"size = {SIZE}" if isinstance(mechanism, Sized) else 'neighbours = "add or remove"'
    path.write_text(
        f'[data]\npath = "x.csv"\n{number}\n[budget]\nepsilon = "9"\ndelta = "0.1"\nledger = "x.db"\n'
        f"{''.join(columns(mechanism.model))}[questions.q]\n{keys}",
        "utf-8",
    )
    return dc.Study(path).question("q").mechanism


def columns(model: Any) -> Iterator[str]:
    """Give the tables of a study file that declare a model's columns."""
    for column in getattr(model, "variables", model.columns if isinstance(model, dc.Categories) else ()):
        levels = [str(level) for level in column.levels]
        yield f'[columns.{column.name}]\nlevels = {levels}\noutside = "{levels[0]}"\n'
    if isinstance(model, dc.NumberQuantiles):
        yield "[columns.x]\nbounds = [0, 9]\nmissing = 0\nwhole = true\n"
        return
    if isinstance(model, dc.NumberSums | dc.NumberTable):
        yield f"[columns.x]\nbounds = [0, 1]\n{'' if model.leaves_gaps_out else 'missing = 0'}\n"
        yield "[columns.w]\nlevels = [0, 1]\noutside = 0\n" if model.by else ""
        return
    for name in getattr(model, "bounds", ()):
        yield f"[columns.{name}]\nbounds = [0, 1]\nmissing = 'middle'\n"


def declared(mechanism: Any) -> Iterator[tuple[str, object]]:
    """Give the keys of a question about a model, with the mechanism's name and, if it has one, its delta."""
    model = mechanism.model
    yield "epsilon", 1
    yield "mechanism", f'"{type(mechanism).__name__}"'
    if mechanism.guarantee.delta:
        yield "delta", '"1e-3"'
    match model:
        case dc.Categories():
            yield "columns", [column.name for column in model.columns]
        case dc.Network():
            yield "model", '"network"'
            pairs = [(p, v.name) for v, parents in zip(model.variables, model.parents, strict=True) for p in parents]
            yield "edges", [f"{parent} -> {child}" for parent, child in pairs] + [v.name for v in model.variables]
        case dc.LinearRegression():
            yield "model", '"regression"'
            yield "formula", '"y ~ x"'
        case dc.NumberSums() | dc.NumberTable():
            yield "model", '"number"'
            yield "column", '"x"'
            yield "ask", list(model.asks)
            yield from [("by", '"w"')] if model.by else []
        case _:
            yield "model", f'"{type(model).__name__.lower()}"'
            yield "column", '"z"'


def test_what_a_mechanism_is_not_for_is_refused_in_words() -> None:
    found = {
        kind: tuple(place for place, model in enumerate(MODELS) if made(kind, model, SIZE) is not None)
        for kind in dc.Mechanism.registered()
    }
    assert found == ACCEPTED


@pytest.mark.usefixtures("short_runs", "little_work")
@pytest.mark.parametrize(
    ("kind", "place"), PAIRS, ids=[f"{kind}-{type(MODELS[place]).__name__}-{place}" for kind, place in PAIRS]
)
def test_every_verb_works_or_refuses_in_words(kind: str, place: int, tmp_path: Path) -> None:
    mechanism = made(kind, MODELS[place], SIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for verb, ask in before(mechanism, tmp_path).items():
            assert works_or_refuses(ask), verb
        counts = counts_of(mechanism.model, getattr(mechanism, "size", SIZE), np.random.default_rng(20261117))
        release = dc.simulate(mechanism, counts, dc.SeededBits(8))
        if why_unreadable(mechanism) is not None:
            assert in_words(str(why_unreadable(mechanism)))
            return
        posterior = dc.infer(release)
        for verb, ask in after(release, posterior, tmp_path).items():
            assert works_or_refuses(ask), verb


def works_or_refuses(ask: Callable[[], object]) -> bool:
    """Tell whether there is an answer or a refusal in words; any other exception goes through."""
    try:
        ask()
    except dc.DiscreetError as refusal:
        return in_words(str(refusal))
    return True
