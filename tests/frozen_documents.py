"""The documents that earlier versions wrote, kept to be read, and what is said of a document.

Each folder in `documents`, such as `before-house`, was written once by `make_corpus.py` with the code of that version,
together with what these functions said of its contents. The tests ask them again.
"""

import json
import shutil
import tomllib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, field, fields, make_dataclass, replace
from inspect import Parameter, Signature, signature
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet._core.errors import PriorOutweighsWarning
from discreet._core.exact import exact_text
from discreet.inference import Posterior
from discreet.mechanism import Additive, Model
from discreet.networks import NetworkPosterior
from discreet.noise import has_density
from discreet.privacy import Metric
from discreet.programs import Program
from discreet.release import mechanism_document
from discreet.release._release import model_document

HERE = Path(__file__).parent / "documents"
KEY = "office.pub"
LEVEL = 0.9
VERSIONS = sorted(path.parent.name for path in HERE.glob("*/expected.json"))
EXPECTED = {version: json.loads((HERE / version / "expected.json").read_text("utf-8")) for version in VERSIONS}


def each(part: str, about: str = "") -> list[Any]:
    """Return one case for every document of a part, such as releases, in every version's folder.

    Where a folder has several documents of one form, only of the first all is said; `about` is what must be said.
    """
    return [
        pytest.param(version, name, said, id=f"{version}-{name}")
        for version in VERSIONS
        for name, said in EXPECTED[version].get(part, {}).items()
        if not about or about in said
    ]


def rows_of(posterior: Posterior) -> list[list[float]]:
    """Return mean, low and high of every quantity that was read, in their order."""
    return [[row.mean, row.low, row.high] for row in posterior.rows(LEVEL)]


def errors_of(posterior: Posterior) -> list[float | None]:
    """Return how far each row may be off, as it states itself."""
    return [row.numerical_error for row in posterior.rows(LEVEL)]


def inferred(release: dc.Release, prior: float | None = None) -> dict[str, Any]:
    """Return what `infer` says of a release under the declared prior, or the kind of its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        warnings.simplefilter("ignore", PriorOutweighsWarning)
        try:
            posterior = dc.infer(release, prior=prior)
            rows, errors = rows_of(posterior), errors_of(posterior)
        except dc.DiscreetError as refusal:
            return {"refused": type(refusal).__name__}
    evidence = posterior.log_evidence
    sampled = (
        isinstance(posterior, NetworkPosterior | dc.regression.RegressionPosterior) or " draws" in posterior.method
    )
    known = evidence is not None and not isnan(evidence)
    found = {"rows": rows, "log_evidence": evidence if known else None, "method": posterior.method}
    return found | {"sampled": sampled, "errors": errors}


def verified(release: dc.Release) -> float | str:
    """Return the epsilon that `verify` finds, or the kind of its refusal: what is only claimed may be false."""
    try:
        return dc.verify(release).epsilon
    except dc.VerificationError as refusal:
        return type(refusal).__name__


def promised(release: dc.Release, tables: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return what is promised and charged, and how likely the output was given some made-up tables.

    Where noise states no density, how far it reaches is all that can be compared.
    """
    mechanism, guarantee = release.mechanism, release.guarantee
    stated = mechanism.noise if isinstance(mechanism, Additive) else None
    if stated is None or has_density(stated.structure):
        laws = [float(np.ravel(mechanism.log_prob(release.counts, np.array(table)))[0]) for table in tables]
    else:
        laws = stated.decay_length.tolist()
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
    kinds, created = [entry.kind for entry in ledger.entries()], ledger.created
    carried = ledger.head.carried
    return (
        {part: created.get(part) for part in ("allowance", "metric")}
        | {"ledger": carried["ledger"], "rows": carried["rows"], "period": carried["period"]}
        | {
            "accountant": ledger.accountant.value,
            "declared": ledger.declared_limit.document(),
            "limit": ledger.limit.document(),
            "spent": ledger.spent.document(),
            "shares": ledger.head.body["shares"],
            "entries": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "head": ledger.head.digest,
        }
    )


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


def text_of(version: str, name: str) -> str:
    return (HERE / version / "releases" / f"{name}.json").read_text("utf-8")


def opened(version: str, name: str, folder: Path) -> dc.Ledger:
    """Return a copy of a ledger: what is kept is never written to."""
    return dc.Ledger.open(shutil.copyfile(HERE / version / name, folder / name))


def counted(version: str, name: str) -> Any:
    """Return the made-up statistics behind a release."""
    said = EXPECTED[version]["releases"][name]
    return np.array(said["counts"] if "counts" in said else said["promised"]["tables"][0])


EXTRA = fields(make_dataclass("Extra", [("colour", str, field(default="plain"))]))[0]


def reworded(guarantee: dc.Guarantee) -> dc.Guarantee:
    return replace(guarantee, reason="in other words: " + guarantee.reason.replace("/", " / "))


def in_other_words(stated: Callable[[Any], dc.Guarantee]) -> property:
    return property(lambda self: reworded(stated(self)))


def add_a_field(kind: type[Any], patch: pytest.MonkeyPatch) -> None:
    """Give a class one more field with a default, as an edit of its source would."""
    made = kind.__init__

    def __init__(self: Any, *values: Any, colour: str = "plain", **others: Any) -> None:  # noqa: N807
        made(self, *values, **others)
        object.__setattr__(self, "colour", colour)

    asked = dict(signature(made).parameters)
    asked["colour"] = Parameter("colour", Parameter.KEYWORD_ONLY, default="plain", annotation=str)
    __init__.__signature__ = Signature(list(asked.values()))  # type: ignore[attr-defined]
    patch.setattr(kind, "__init__", __init__)
    patch.setattr(kind, "colour", "plain", raising=False)
    patch.setattr(kind, "__dataclass_fields__", {**kind.__dataclass_fields__, "colour": EXTRA})
    patch.setitem(kind.__annotations__, "colour", str)


def become_later(patch: pytest.MonkeyPatch) -> None:
    """Turn the library into a later version: every reason is reworded, every version of a kind has one more field."""
    mechanisms = [*dc.Mechanism.registered().values(), *dc.Mechanism.kinds.earlier.values()]
    for kind in (*mechanisms, *Model.registered().values()):
        add_a_field(kind, patch)
    for owner in {next(c for c in kind.__mro__ if "guarantee" in vars(c)) for kind in mechanisms}:
        patch.setattr(owner, "guarantee", in_other_words(vars(owner)["guarantee"].fget))


def held(version: str) -> set[tuple[str, str, int]]:
    """Return what a version's folder holds: the sort of every document inside a release, its kind and its version."""
    releases = [json.loads(text_of(version, name)) for name in EXPECTED[version]["releases"]]
    metrics = [said["totals"].get("metric") for said in EXPECTED[version]["ledgers"].values()]
    found: list[tuple[str, Any]] = [("metric", each) for each in metrics]
    for release in releases:
        mechanism, promise = release["mechanism"], release["guarantee"].get("metric", {})
        found += [("mechanism", mechanism), ("model", mechanism["model"]), ("metric", promise.get("metric"))]
        found += [("program", mechanism["model"].get("program"))]
    return {(sort, each["kind"], each.get("version", 1)) for sort, each in found if isinstance(each, dict)}


def is_own(made: Any) -> bool:
    """Tell whether something is of this library, and not of a test or an example that registered it."""
    return str(made.__module__).startswith(("discreet.", "discreet_papers."))


def known() -> set[tuple[str, str, int]]:
    """Return what this version can write and read. No mechanism and no ledger has the metric of whole records."""
    assert dc.Mechanism.registered()
    assert Model.registered()  # which loads all of them
    found = {("metric", name, 1) for name, made in Metric.kinds.items() if is_own(made) and name != "Records"}
    for sort, registry in (("mechanism", dc.Mechanism), ("model", Model), ("program", Program)):
        classes = (*registry.kinds.newest.values(), *registry.kinds.earlier.values())
        found |= {(sort, made.document_kind, made.document_version) for made in classes if is_own(made)}
    return found


MADE_OF = (
    "accountant",
    "adjacency",
    "allowance",
    "declared",
    "groups",
    "limit",
    "metric",
    "population",
    "rows",
    "unit",
)
"""What the first entry of a study's ledger says of the study."""


def declared(study: dc.Study) -> dict[str, Any]:
    """Return what a study declares beside its questions, what its ledger begins with, and what is counted for it."""
    created: Any = study.ledger().created
    serving = study.serving
    return {
        "ledger": {part: created.get(part) for part in MADE_OF},
        "serve": [
            serving.is_automatic, exact_text(serving.allowance), serving.time_limit, serving.visible_after
        ],
        "questions": {name: [each.reading, each.is_per_unit] for name, each in study.questions.items()},
        "counts": {
            name: np.asarray(study.statistics(each).open_for_publishing()).tolist()
            for name, each in study.questions.items()
        },
        "queries": {
            name: [each.label, each.question, type(each.query).__name__, asdict(each.query)]
            for name, each in study.queries.items()
        },
    }  # fmt: skip


def answers(study: dc.Study, elsewhere: dict[str, Any]) -> dict[str, Any]:
    """Return the releases of a study by every name under which they are asked: what was paid for is given again."""
    asked = study.asked(elsewhere)
    return {
        "publish": {name: study.publish(name).digest for name in study.questions},
        "publish_all": [] if study.queries else [release.digest for release in study.publish_all()],
        "ask": {name: plain(study.ask(name, draw=1)) for name in study.queries},
        "elsewhere": [elsewhere, study.publish_question(asked, study.asked_request(asked)).digest],
        "head": study.ledger().head.digest,
    }


def plain(answer: Any) -> list[float]:
    """Return the numbers of an answer: one, one for each cell, or the probability of every count."""
    numbers = list(answer.values()) if isinstance(answer, dict) else getattr(answer, "probabilities", answer)
    return [float(number) for number in np.ravel(numbers)]


def models_asked(folder: Path) -> set[str]:
    """Return the names of all models that the studies of a folder ask for."""
    studies = [tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("studies/*.toml"))]
    return {question.get("model", "categories") for study in studies for question in study["questions"].values()}
