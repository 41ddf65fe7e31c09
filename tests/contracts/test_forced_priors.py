"""No reader is told to believe a prior that privacy forced on a draw.

A drawing mechanism may have to draw under a stronger prior than the declared one. That prior is part of the likelihood,
like noise. Every constructor of every kind that draws must therefore keep the model as it was declared, and where the
drawn prior is another one, the posterior's mean must follow the records and not that prior.
"""

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mechanism import Draw, Sized, forced_prior, with_fields
from discreet.study._mechanisms import constructors_of

SIZE = 2_000
COIN = dc.Categories("x", ("no", "yes"), outside="no")
THREE = dc.Categories("x", ("a", "b", "c"), outside="a", prior=(0.5, 1, 2))
GRAPH = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=dict.fromkeys("ab", 0))
ITEMS, EVENTS = (
    dc.programs.families.BinomialProbability("x", trials=2, alpha=2, beta=2, outside=0),
    dc.PoissonRate("x", most=4, shape=2, rate=1, outside=4),
)
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", intercept=False, norm_bound=1,
                           prior_precision=1, missing="middle")  # fmt: skip
RECORDS: dict[Any, list[int]] = {
    COIN: [1_900, 100],
    THREE: [40, 160, 1_800],
    GRAPH: [1_710, 90, 20, 180],
    ITEMS: [1_620, 360, 20],
    EVENTS: [1_900, 80, 20, 0, 0],
}
"""Skewed records of each model: none of them is what an even prior would expect."""

FACTS = {"epsilon": "0.4", "delta": "1e-6", "lowest": "0.01", "highest": "0.99", "size": SIZE, "claimed": 3}
"""What constructors may ask for besides a model."""


def drawing_kinds(table: Any) -> dict[str, type[Sized]]:
    """Return the registered kinds whose outputs are draws, whatever the table of contracts lists of them."""
    made = {kind: table[kind][0].make(cls) for kind, cls in Sized.registered().items()}
    return {kind: type(m) for kind, m in made.items() if isinstance(m.evidence(np.zeros(0, dtype=np.int64)), Draw)}


def ways(kind: type[Sized], model: Any) -> dict[str, Callable[[], Any]]:
    """Return every way to make a draw of this kind about a model from the facts above."""
    found: dict[str, Callable[[], Any]] = {}
    for name, make in constructors_of(kind).items():
        asked = {n: p for n, p in signature(make).parameters.items() if n != "model"}
        known = {n: FACTS[n] for n, p in asked.items() if n in FACTS and (p.default is Parameter.empty or n == "delta")}
        if name == "truncated":
            known.pop("delta", None)
        found[name] = partial(make, model, **known)
    return found


def follows_the_records(mechanism: Any, model: Any) -> None:
    """Fail if what is read goes by the prior that was drawn under: the mean must lie with the records."""
    release = dc.simulate(mechanism, RECORDS[model], dc.SeededBits(20))
    found = dc.infer(release).rows()
    declared = [row.mean for row in found]
    records = [mean for mean, _ in model.exact(np.array(RECORDS[model]), SIZE, 0.9)]
    forced = [mean for mean, _ in mechanism.drawn_under.exact(np.array(RECORDS[model]), SIZE, 0.9)]
    misled = [row for row, a, b in zip(found, records, forced, strict=True) if abs(a - b) > 4 * row.sd]
    assert misled, "the forced prior is too weak to tell who follows it"
    for row, mean, truth, drawn in zip(found, declared, records, forced, strict=True):
        if row in misled:
            assert abs(mean - truth) < abs(mean - drawn), (row.quantity, mean, truth, drawn)
            assert abs(mean - truth) < 3 * row.sd, (row.quantity, mean, truth, row.sd)


def test_every_constructor_of_every_drawing_kind_keeps_the_declared_model(contracts: SimpleNamespace) -> None:
    kinds, forced = drawing_kinds(contracts.TABLE), set()
    assert {"PosteriorSampling", "NetworkSampling", "RateTruncation", "BallDraw"} <= set(kinds)
    for kind, made in kinds.items():
        models = [model for model in (*RECORDS, LINE) if made.accepts_model(model)]
        assert models, f"{kind} draws for none of these models: add one"
        for model in models:
            tried = 0
            for name, make in ways(made, model).items():
                try:
                    mechanism = make()
                except dc.DeclarationError:
                    continue  # this way is not for such a model, or needs more to be said
                tried += 1
                assert mechanism.model == model, (kind, name)
                if forced_prior(mechanism):
                    forced.add((kind, model))
                    follows_the_records(mechanism, model)
            assert tried, (kind, model)
    assert {model for _, model in forced} == set(RECORDS)


@pytest.mark.filterwarnings("ignore::discreet._core.errors.MisfitWarning")
@pytest.mark.parametrize("model", [ITEMS, THREE], ids=["family", "table"])
def test_a_draw_that_passes_its_forced_prior_for_the_declared_one_is_found(model: Any) -> None:
    right: Any = dc.PosteriorSampling.concentrated(model, size=SIZE, epsilon="0.2", delta="1e-6")
    follows_the_records(right, model)
    planted = with_fields(right, model=right.drawn_under, strength=None, power=1, least=0)
    with pytest.raises(AssertionError):
        follows_the_records(planted, model)
