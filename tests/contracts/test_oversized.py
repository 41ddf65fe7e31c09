"""Documents of a kilobyte that claim sizes which nobody meant: every registered kind, every verb, by counts of work.

A release of 30 records is edited to say that there were a million million, or almost no epsilon. Whoever reads it is
refused in words after little work, or reads it by windows that do not grow; nobody sees a raw error, and nothing is
allocated.
"""

import json
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import discreet as dc
from counted_work import calls_of
from discreet.inference import CostEstimate, Exactness, Problem, solver_for
from discreet.planning import accuracy, studies_for
from discreet.verification import audit, planning, verify
from discreet.verification._work import auditing, verifying
from every_pair import CHAIN, COIN, CROSSED, FAMILIES, LINE, LOOP, NAIVE, counts_of, made

MODELS = (CROSSED, COIN, NAIVE, CHAIN, LOOP, LINE, *FAMILIES)
FEW_CALLS = 60_000
EDITS: dict[str, tuple[str, object]] = {
    "a million million records": ("size", 10**12),
    "almost no epsilon": ("epsilon", "1e-9"),
}


@cache
def document_of(kind: str) -> str | None:
    """Return a release of 30 records by a mechanism of this kind, or nothing if it is for other models."""
    model = next((model for model in MODELS if made(kind, model) is not None), None)
    if model is None:
        return None
    mechanism = made(kind, model)
    counts = counts_of(model, getattr(mechanism, "size", 30), np.random.default_rng(1))
    return str(dc.simulate(mechanism, counts, dc.SeededBits(1), "edited").to_json())


def edited(text: str, key: str, value: object) -> Any:
    """Return a release whose document was edited, or nothing if it is refused in words when it is read."""
    document = json.loads(text)
    if key not in document["mechanism"]:
        return None
    document["mechanism"][key] = value
    if key in document.get("guarantee", {}):
        document["guarantee"][key] = value
    try:
        return dc.Release.from_json(json.dumps(document))
    except dc.DiscreetError:
        return None


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", sorted(dc.Mechanism.registered()))
def test_an_edited_document_is_refused_by_little_work_or_read_by_windows(kind: str, edit: str) -> None:
    text = document_of(kind)
    release = None if text is None else edited(text, *EDITS[edit])
    if release is None:  # for other models, or refused when it is read
        return
    mechanism = release.mechanism
    problem = Problem.before(mechanism)
    solver = solver_for(problem)
    if solver is None or solver.exactness is not Exactness.SAMPLED:  # chains take their counted time

        def read() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    dc.infer(release)
                except dc.DiscreetError as problem:
                    assert len(str(problem)) > 40  # words  # noqa: PT017

        if solver is None:
            assert calls_of(read) < FEW_CALLS
        else:
            read()
    verbs: list[tuple[CostEstimate, Any]] = [
        (verifying(mechanism), lambda: verify(mechanism)),
        (auditing(mechanism, mechanism.model, 200_000), lambda: audit(mechanism)),
    ]
    verbs += [] if solver is None else [(planning([mechanism], studies_for(mechanism)), lambda: accuracy(mechanism))]
    for work, verb in verbs:
        if work.rejection is None:
            continue

        def refuse(verb: Any = verb) -> None:
            with pytest.raises(dc.DiscreetError, match="patience="):
                verb()

        assert calls_of(refuse) < FEW_CALLS


@pytest.mark.parametrize("kind", ["LaplaceUpdates", "FamilyGaussians", "FamilyHistograms"])
@pytest.mark.parametrize("model", [NAIVE, CHAIN], ids=["naive Bayes", "chain"])
def test_tables_that_contradict_each_other_are_told_before_windows_are_widened(kind: str, model: Any) -> None:
    """Once a chain of a million million records took 3.6 terabytes, and one of a million minutes."""
    mechanism = made(kind, model)
    counts = counts_of(model, mechanism.size, np.random.default_rng(1))
    document = json.loads(dc.simulate(mechanism, counts, dc.SeededBits(1), "edited").to_json())
    document["mechanism"]["size"] = 10**12
    try:
        release = dc.Release.from_json(json.dumps(document))
    except dc.DiscreetError:
        return  # totals that are kept tell it when the document is read

    def read() -> None:
        with pytest.raises(dc.DiscreetError, match="contradict each other"):
            dc.infer(release)

    assert calls_of(read) < FEW_CALLS
