"""Every later version reads, verifies and infers the documents that an earlier version made.

Each folder beside this file, such as `0.1`, was written once by `make_corpus.py` with the code of that version: texts of
releases, ledgers, study files, and what that version said of them. A folder is never made again.
"""

import json
import shutil
import warnings
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.command_line.categories import posterior_rows
from discreet.command_line.networks import network_rows
from discreet.command_line.regressions import regression_rows
from discreet.exact import exact_text
from discreet.inference import CategoriesPosterior, FamilyPosterior, NetworkPosterior
from discreet.models import Statistics
from discreet.releases.document import mechanism_document
from discreet.releases.model_documents import model_document, read_model

HERE = Path(__file__).parent
LEVEL = 0.9
CLOSE = 1e-6  # exact readings: searches for quantiles end at about nine digits
ROUGH = 0.1  # readings that are shown by 1,000 to 20,000 draws: of the width of the interval


def rows_of(posterior: Any) -> dict[str, list[float]]:
    """Return mean, low and high of every quantity that was read, by name."""
    if isinstance(posterior, FamilyPosterior):
        low, high = posterior.interval(LEVEL)
        return {posterior.model.column.name: [float(posterior.mean), float(low), float(high)]}
    if isinstance(posterior, CategoriesPosterior):
        rows = [(row["cell"], row) for row in posterior_rows(posterior, LEVEL)]
    elif isinstance(posterior, NetworkPosterior):
        written = network_rows(posterior, LEVEL)
        rows = [(f"{row['variable']}={row['level']} | {row['given']}", row) for row in written]
    else:
        rows = [(str(next(iter(row.values()))), row) for row in regression_rows(posterior, LEVEL)]
    return {name: [float(row[part]) for part in ("mean", "low", "high")] for name, row in rows}


def inferred(release: dc.Release, prior: float | None = None) -> dict[str, Any]:
    """Return what `infer` says of a release, or the kind of its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        try:
            posterior = dc.infer(release, prior=prior)
            rows = rows_of(posterior)
        except dc.DiscreetError as refusal:
            return {"refused": type(refusal).__name__}
    evidence = float(getattr(posterior, "log_evidence", np.nan))
    method = getattr(posterior, "method", "")
    sampled = isinstance(posterior, NetworkPosterior | dc.RegressionPosterior)
    found = {"rows": rows, "log_evidence": None if isnan(evidence) else evidence, "method": method}
    return found | {"sampled": sampled}


def verified(release: dc.Release) -> float | str:
    """Return the epsilon that `verify` finds, or the kind of its refusal: what is only claimed may be false."""
    try:
        return dc.verify(release).epsilon
    except dc.VerificationError as refusal:
        return type(refusal).__name__


def promised(release: dc.Release, tables: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return what is promised and charged, and how likely the output was given some made-up tables."""
    mechanism, guarantee = release.mechanism, release.guarantee
    laws = [float(np.ravel(mechanism.log_likelihood(release.counts, np.array(table)))[0]) for table in tables]
    half = mechanism.guarantee.epsilon / 2
    return {
        "guarantee": {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}
        | {"adjacency": guarantee.adjacency.value, "evidence": guarantee.evidence.value},
        "rho": float(mechanism.rho),
        "delta_at_half": mechanism.privacy_loss().delta_at(half),
        "verified": verified(release),
        "tables": [list(map(int, table)) for table in tables],
        "log_likelihoods": laws,
    }


def totals(ledger: dc.Ledger) -> dict[str, Any]:
    """Return what a ledger says of itself."""
    kinds = [entry.kind for entry in ledger.entries()]
    return {
        "accountant": ledger.accountant.value,
        "declared": ledger.declared_limit.document(),
        "limit": ledger.limit.document(),
        "spent": ledger.spent.document(),
        "shares": ledger.head.body["shares"],
        "entries": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "head": ledger.head.digest,
    }


def asked(question: Any) -> dict[str, Any]:
    """Return what a question of a study asks for."""
    mechanism = question.mechanism
    guarantee = mechanism.guarantee
    return {
        "label": question.label,
        "kind": mechanism_document(mechanism)["kind"],
        "size": mechanism.size,
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "model": model_document(mechanism.model),
        "unit": [question.unit.description, question.unit.rows],
    }


VERSIONS = sorted(path.parent.name for path in HERE.glob("*/expected.json"))
EXPECTED = {version: json.loads((HERE / version / "expected.json").read_text("utf-8")) for version in VERSIONS}


def each(part: str) -> list[Any]:
    """Return one case for every document of a part, such as releases, in every version's folder."""
    return [
        pytest.param(version, name, said, id=f"{version}-{name}")
        for version in VERSIONS
        for name, said in EXPECTED[version][part].items()
    ]


def text_of(version: str, name: str) -> str:
    return (HERE / version / "releases" / f"{name}.json").read_text("utf-8")


def opened(version: str, name: str, folder: Path) -> dc.Ledger:
    """Return a copy of a ledger: what is kept is never written to."""
    return dc.Ledger.open(shutil.copyfile(HERE / version / name, folder / name))


@pytest.mark.parametrize(("version", "name", "said"), each("releases"))
def test_a_release_is_read_and_written_to_the_letter(version: str, name: str, said: dict[str, Any]) -> None:
    text = text_of(version, name)
    release = dc.Release.from_json(text)
    assert release.to_json() == text
    assert release.digest == said["digest"]
    assert mechanism_document(release.mechanism)["kind"] == said["kind"]


@pytest.mark.parametrize(("version", "name", "said"), each("releases"))
def test_a_release_keeps_its_law_its_promise_and_its_charge(version: str, name: str, said: dict[str, Any]) -> None:
    found = promised(dc.Release.from_json(text_of(version, name)), said["promised"]["tables"])
    wanted = said["promised"]
    assert found["guarantee"] == wanted["guarantee"]
    for number in ("rho", "delta_at_half", "log_likelihoods"):
        assert found[number] == pytest.approx(wanted[number], rel=1e-9, abs=1e-12), number
    if isinstance(wanted["verified"], str):
        assert found["verified"] == wanted["verified"]
    else:  # it may be known better, never worse
        assert found["verified"] <= wanted["verified"] * (1 + 1e-9)


@pytest.mark.parametrize(("version", "name", "said"), each("releases"))
def test_a_release_is_inferred_as_it_was(version: str, name: str, said: dict[str, Any]) -> None:
    found, wanted = inferred(dc.Release.from_json(text_of(version, name)), said["prior"]), said["inferred"]
    if "refused" in wanted:  # a later version may read what an earlier one could not
        assert "refused" in found or found["rows"]
        return
    assert set(found["rows"]) == set(wanted["rows"])
    for quantity, numbers in wanted["rows"].items():
        width = numbers[2] - numbers[1]
        allowed = ROUGH * width if wanted["sampled"] else CLOSE * max(1.0, *map(abs, numbers))
        assert found["rows"][quantity] == pytest.approx(numbers, abs=allowed), quantity
    if wanted["log_evidence"] is not None and "chains" not in wanted["method"]:
        assert found["log_evidence"] == pytest.approx(wanted["log_evidence"], abs=1e-6)


@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_a_ledger_adds_up_to_what_it_did(version: str, name: str, said: dict[str, Any], tmp_path: Path) -> None:
    ledger = opened(version, name, tmp_path)
    ledger.check()
    assert totals(ledger) == said["totals"]


@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_every_release_of_a_ledger_is_found_in_it(
    version: str, name: str, said: dict[str, Any], tmp_path: Path
) -> None:
    ledger = opened(version, name, tmp_path)
    assert said["releases"]
    for release in said["releases"]:
        certificate = dc.verify(dc.Release.from_json(text_of(version, release)), ledger)
        assert any("digest matches" in check for check in certificate.checks), release


@pytest.mark.parametrize(("version", "name", "said"), each("ledgers"))
def test_a_paid_request_is_answered_again_for_free(
    version: str, name: str, said: dict[str, Any], tmp_path: Path
) -> None:
    ledger = opened(version, name, tmp_path)
    assert said["requests"]
    for request, (kept, data) in said["requests"].items():
        release = dc.Release.from_json(text_of(version, kept))
        tables = EXPECTED[version]["releases"][kept]["promised"]["tables"]
        secret = Statistics(release.mechanism.model, np.array(tables[0]), release.mechanism.size)
        again = dc.publish(
            release.mechanism, secret, ledger, release.label,
            unit=release.unit, request=request, group=release.group, data=data,
        )  # fmt: skip
        assert again.to_json() == release.to_json()
    assert totals(ledger) == said["totals"]


@pytest.mark.parametrize(("version", "name", "said"), each("studies"))
def test_a_study_asks_what_it_asked(version: str, name: str, said: dict[str, Any]) -> None:
    study = dc.Study(HERE / version / "studies" / name)
    assert list(study.questions) == list(said)
    for question, wanted in said.items():
        found = asked(study.question(question))
        assert read_model(found.pop("model")) == read_model(wanted["model"])
        assert found == {part: value for part, value in wanted.items() if part != "model"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_holds_every_kind_that_it_knew(version: str) -> None:
    kept = [json.loads(text_of(version, name)) for name in EXPECTED[version]["releases"]]
    mechanisms = {document["mechanism"]["kind"] for document in kept}
    models = {document["mechanism"]["model"]["kind"] for document in kept}
    assert mechanisms == set(EXPECTED[version]["mechanism_kinds"])
    assert models == set(EXPECTED[version]["model_kinds"])
    assert {document["simulated"] for document in kept} == {True, False}
