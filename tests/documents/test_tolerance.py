"""Words may change and fields may be added; what is promised, and what is not known, is still refused."""

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet._core.documents import MECHANISMS, Documented, Kinds, canonical_json, digest_of
from discreet.choices import HellingerGlobal, MaximumPosterior, NetworkMaximum
from discreet.draws import BallDraw, NetworkSampling
from discreet.ledger import Signature
from discreet.privacy import MetricGuarantee
from discreet.records import Statistics
from discreet.release import mechanism_document, read_mechanism
from discreet.release._release import model_document, read_model

WARDS = dc.Categories("ward", levels=("A", "B", "C"), prior=0.5, outside="A")
MECHANISM = dc.GeometricHistogram(WARDS, size=6, epsilon="1/2")
NAMES = dict.fromkeys(("smoker", "cough"), ("no", "yes"))
OTHER_WORDS = "noise of norm ||u||_1 / 2 on a histogram of known size (triangle inequality)"


def secret() -> Statistics:
    return WARDS.statistics({"ward": ["A", "A", "B", "C", "A", "B"]})


def simulated() -> dc.Release:
    return dc.simulate(MECHANISM, (3, 2, 1), dc.SeededBits(3))


def reword(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in other words why the noise protects, as a later version may."""
    stated: Any = dc.GeometricHistogram.guarantee.fget  # type: ignore[attr-defined]
    later = property(lambda self: replace(stated(self), reason=OTHER_WORDS))
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", later)


def published(folder: Path) -> tuple[dc.Release, dc.Ledger]:
    ledger = dc.Ledger.create(folder / "a.ledger", epsilon=1)
    return dc.publish(MECHANISM, secret(), ledger, "wards", request="wards"), ledger


def test_a_release_whose_reason_was_reworded_since_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = simulated().to_json()
    reword(monkeypatch)
    release = dc.Release.from_json(text)
    assert MECHANISM.guarantee.reason == OTHER_WORDS
    assert release.guarantee.reason == OTHER_WORDS  # what is shown are the words of the one who checked
    assert release.to_json() == text


def test_a_paid_request_whose_reason_was_reworded_since_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, ledger = published(tmp_path)
    reword(monkeypatch)
    again = dc.publish(MECHANISM, secret(), ledger, "wards", request="wards")
    assert again == release
    assert again.to_json() == ledger.releases(2)[0]
    assert float(ledger.spent.epsilon) == 0.5


def test_a_release_whose_reason_was_reworded_since_is_found_in_its_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, ledger = published(tmp_path)[0].to_json(), dc.Ledger.open(tmp_path / "a.ledger")
    reword(monkeypatch)
    assert dc.verify(dc.Release.from_json(text), ledger).guarantee == MECHANISM.guarantee


def test_a_release_with_words_that_the_ledger_never_held_is_not_the_recorded_one(tmp_path: Path) -> None:
    release, ledger = published(tmp_path)
    document = json.loads(release.to_json())
    document["guarantee"]["reason"] = "trust me"
    forged = dc.Release.from_json(json.dumps(document))
    assert forged == release
    assert forged.guarantee.reason == MECHANISM.guarantee.reason
    with pytest.raises(dc.VerificationError, match="not the release that the ledger recorded"):
        dc.verify(forged, ledger)


def test_words_are_not_part_of_equality() -> None:
    release = simulated()
    assert replace(release, software="discreet 9.9.9") == release
    assert dc.Guarantee(1, reason="one") == dc.Guarantee(1, reason="another")
    assert hash(dc.Guarantee(1, reason="one")) == hash(dc.Guarantee(1, reason="another"))
    assert dc.Guarantee(1) != dc.Guarantee(1, metric=MetricGuarantee(1, metric="years"))


@pytest.mark.parametrize("reason", ["a line\nand another", "x" * 5001, 3, None])
def test_a_reason_that_is_no_proper_text_is_refused(reason: Any) -> None:
    document = json.loads(simulated().to_json())
    document["guarantee"]["reason"] = reason
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(json.dumps(document))


def changed(where: str, **parts: Any) -> str:
    document = json.loads(simulated().to_json())
    place = {"release": document, "mechanism": document["mechanism"], "model": document["mechanism"]["model"]}[where]
    place |= parts
    return json.dumps(document)


@pytest.mark.parametrize("where", ["mechanism", "model"])
def test_a_version_that_is_not_known_yet_is_refused_in_words(where: str) -> None:
    with pytest.raises(dc.DocumentError, match=r"version 2 of \w+, made by a later version of discreet"):
        dc.Release.from_json(changed(where, version=2))


@pytest.mark.parametrize("where", ["mechanism", "model"])
@pytest.mark.parametrize("version", [0, -1, 1.5, "1", True, None, [1]])
def test_a_version_is_a_whole_number_from_one_on(where: str, version: Any) -> None:
    with pytest.raises(dc.DocumentError, match="whole number from 1 on"):
        dc.Release.from_json(changed(where, version=version))


@pytest.mark.parametrize("where", ["mechanism", "model"])
def test_a_first_version_has_one_text(where: str) -> None:
    with pytest.raises(dc.DocumentError, match="canonical form"):
        dc.Release.from_json(changed(where, version=1))


@pytest.mark.parametrize("where", ["mechanism", "model"])
def test_an_unknown_kind_and_an_unknown_field_are_refused_in_words(where: str) -> None:
    with pytest.raises(dc.DocumentError, match=rf"Unknown {where} 'Tomorrow'.*later version of discreet"):
        dc.Release.from_json(changed(where, kind="Tomorrow"))
    with pytest.raises(dc.DocumentError, match=r"has the fields .*'colour'.*later version of discreet"):
        dc.Release.from_json(changed(where, colour="red"))


@pytest.mark.parametrize("day", [3e6, -1e9, 1e30])
def test_a_day_outside_of_the_calendar_is_refused_in_words(day: float) -> None:
    days = ("2025-01-01", "2026-01-01")
    table = dc.Categories([dc.Column.banded("day", days, names=("one",))])
    sums = dc.NumberSums("day", days, missing=days[0], unit=8)
    for mechanism in (dc.GeometricHistogram(table, 6, 1), dc.GeometricSums(sums, 6, 1)):
        document: Any = json.loads(canonical_json(mechanism_document(mechanism)))
        assert read_mechanism(document) == mechanism
        if isinstance(mechanism, dc.GeometricSums):
            document["model"]["bounds"]["high"] = f"{day:.0f}"
        else:
            document["model"]["columns"][0]["edges"][1] = day
        with pytest.raises(dc.DocumentError, match="calendar"):
            read_mechanism(document)


def test_a_later_schema_is_refused_in_words() -> None:
    with pytest.raises(dc.DocumentError, match=r"schema 2.*later version of discreet"):
        dc.Release.from_json(changed("release", schema=2))


def test_a_second_version_leaves_documents_of_the_first_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, old = MECHANISMS, simulated()
    monkeypatch.setattr(kinds, "newest", dict(dc.Mechanism.registered()))
    monkeypatch.setattr(kinds, "earlier", dict(kinds.earlier))

    @dataclass(frozen=True, init=False, repr=False)
    class Sharper(dc.GeometricHistogram, kind="GeometricHistogram", version=2):
        """Promises another number for the same fields."""

        @property
        def guarantee(self) -> dc.Guarantee:
            return dc.Guarantee(self.epsilon / 2, reason="made up")

    new = Sharper(WARDS, size=6, epsilon="1/2")
    assert mechanism_document(new) == mechanism_document(MECHANISM) | {"version": 2}
    assert read_mechanism(mechanism_document(new)) == new
    read = dc.Release.from_json(old.to_json())
    assert type(read.mechanism) is dc.GeometricHistogram
    assert read.guarantee.epsilon == MECHANISM.epsilon
    assert read.to_json() == old.to_json()
    assert kinds.newest["GeometricHistogram"] is Sharper
    with pytest.raises(dc.DocumentError, match="Do not trust it"):  # one version may not borrow another's promise
        dc.Release.from_json(changed("mechanism", version=2))


def test_a_version_is_registered_once_and_older_ones_may_come_later() -> None:
    class Thing(Documented):
        kinds = Kinds("thing")

    def made(version: int) -> Any:
        return type(f"Thing{version}", (Thing,), {}, kind="Thing", version=version)

    made(3), made(1)
    kinds = Thing.kinds
    assert kinds.newest["Thing"].document_version == 3
    assert kinds.named({"kind": "Thing"}).document_version == 1
    with pytest.raises(dc.DocumentError, match="never was a version 2"):
        kinds.named({"kind": "Thing", "version": 2})
    for twice in (1, 3):
        with pytest.raises(TypeError, match="registered twice"):
            made(twice)


def test_a_class_that_only_inherits_from_a_registered_one_is_not_published(tmp_path: Path) -> None:
    class Quiet(dc.GeometricHistogram):
        """Adds no noise."""

    ledger = dc.Ledger.create(tmp_path / "a.ledger", epsilon=1)
    with pytest.raises(dc.PublishError, match="could not be read back"):
        dc.publish(Quiet(WARDS, size=6, epsilon="1/2"), secret(), ledger, "quiet")
    assert not ledger.spent.epsilon


NO_PRIOR: list[Any] = [
    dc.Categories("ward", levels=("A", "B", "C"), prior=None, outside="A"),
    dc.Network.from_edges(
        "smoker -> cough", levels=NAMES, prior=None, outside={name: each[0] for name, each in NAMES.items()}
    ),
    dc.LinearRegression(
        "y", ["x"], {"y": (0, 1), "x": (0, 1)}, prior_precision=None, norm_bound=1, noise="0.5", missing="middle"
    ),
]


@pytest.mark.parametrize("model", NO_PRIOR, ids=lambda model: type(model).__name__)
def test_that_no_prior_was_declared_is_kept_and_is_not_a_prior_of_ones(model: Any) -> None:
    document = model_document(model)
    key = "prior_precision" if "prior_precision" in document else "prior"
    assert document[key] is None
    assert read_model(json.loads(canonical_json(document))) == model
    assert not model.is_prior_declared
    ones = {"prior_precision": "1", "prior": [1.0, 1.0, 1.0] if isinstance(model, dc.Categories) else [[1.0, 1.0]] * 2}
    declared: Any = read_model(document | {key: ones[key]})
    assert declared.is_prior_declared
    assert declared != model
    assert getattr(declared, key) == getattr(model, key)  # until readers ask for another


def test_a_release_without_a_declared_prior_is_read_and_a_reader_may_bring_one() -> None:
    none, ones = NO_PRIOR[0], dc.Categories("ward", levels=("A", "B", "C"), prior=1, outside="A")
    release = dc.simulate(dc.GeometricHistogram(none, 600, 1), (300, 200, 100), dc.SeededBits(1))
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert not read.model.is_prior_declared
    other = dc.simulate(dc.GeometricHistogram(ones, 600, 1), (300, 200, 100), dc.SeededBits(1))
    assert dc.infer(read, prior=1).mean == dc.infer(other).mean
    assert dc.infer(read).strength_probabilities != dc.infer(other).strength_probabilities
    assert dc.infer(read, prior=2).model.is_prior_declared
    assert "prior=None" in repr(none)
    assert none.with_prior(1) == ones
    assert ones.with_prior(None) == none


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        (HellingerGlobal, NO_PRIOR[0]),
        (MaximumPosterior, NO_PRIOR[0]),
        (partial(dc.PosteriorSampling.tempered, delta="1e-3"), NO_PRIOR[0]),
        (NetworkMaximum, NO_PRIOR[1]),
        (partial(NetworkSampling.tempered, delta="1e-3"), NO_PRIOR[1]),
    ],
)
def test_what_is_made_with_a_prior_takes_one_for_every_parameter_if_none_is_declared(kind: Any, model: Any) -> None:
    ones, none = (kind(each, size=6, epsilon=2) for each in (model.with_prior(1), model))
    assert none.guarantee == ones.guarantee
    assert not none.model.is_prior_declared  # readers bring their own


def test_a_draw_of_coefficients_needs_a_declared_prior() -> None:
    with pytest.raises(dc.DeclarationError, match="this model declares none"):
        BallDraw(NO_PRIOR[2], 6, 2)


def test_a_study_may_declare_that_there_is_no_prior(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "x.csv"\nsize = 6\n[columns.ward]\nlevels = ["A", "B"]\n[columns.y]\nbounds = [0, 1]\n'
        "missing = 0\n"
        '[budget]\nepsilon = 9\nledger = "a.ledger"\n'
        '[questions.one]\ncolumns = ["ward"]\nepsilon = 1\nprior = "none"\n'
        '[questions.two]\nmodel = "network"\nedges = ["ward"]\nepsilon = 1\nprior = "none"\n'
        '[questions.three]\nmodel = "regression"\nformula = "y ~ ward"\nepsilon = 1\nprior = "none"\n'
    )
    for question in dc.Study(tmp_path / "study.toml").questions.values():
        assert not question.model.is_prior_declared


def test_signatures_stand_outside_of_what_is_signed() -> None:
    release = simulated()
    signed = replace(release, signatures=(Signature("Ed25519", "a" * 64, "b" * 128),))
    assert signed.digest == release.digest == digest_of(signed.unsigned())
    assert signed == release
    read = dc.Release.from_json(signed.to_json())
    assert read.signatures == signed.signatures
    assert read.to_json() == signed.to_json() != release.to_json()


SIGNATURE = {"algorithm": "Ed25519", "key": "a" * 64, "value": "b" * 128}


@pytest.mark.parametrize(
    "signatures",
    [
        None,
        [],
        {},
        [SIGNATURE, SIGNATURE],
        [SIGNATURE | {"algorithm": "none"}],
        [SIGNATURE | {"key": "A" * 64}],
        [SIGNATURE | {"value": "b" * 127}],
        [SIGNATURE | {"by": "me"}],
    ],
)
def test_what_is_no_list_of_signatures_is_refused(signatures: Any) -> None:
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(changed("release", signatures=signatures))


def test_that_there_will_be_no_reading_is_kept() -> None:
    release = dc.Release.from_json(changed("release", reading="none"))
    assert release.reading == "none"
    assert json.loads(release.to_json())["reading"] == "none"
    assert release != simulated()
    for other in (None, "some", True, ""):
        with pytest.raises(dc.DocumentError):
            dc.Release.from_json(changed("release", reading=other))


def test_a_guarantee_under_a_metric_is_read_and_must_be_what_the_mechanism_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = json.loads(simulated().to_json())
    document["guarantee"]["metric"] = {"epsilon": "0.1", "delta": "0", "metric": "years of age"}
    text = json.dumps(document)
    with pytest.raises(dc.DocumentError, match="Do not trust it"):
        dc.Release.from_json(text)
    stated: Any = dc.GeometricHistogram.guarantee.fget  # type: ignore[attr-defined]
    metric = MetricGuarantee("1/10", metric="years of age")
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: replace(stated(self), metric=metric)))
    assert dc.Release.from_json(text).guarantee.metric == metric
    assert json.loads(dc.Release.from_json(text).to_json()) == document
    with pytest.raises(dc.DocumentError, match="Do not trust it"):
        dc.Release.from_json(text.replace('"0.1"', '"0.01"'))
    with pytest.raises(dc.DocumentError, match="schema"):
        dc.Release.from_json(text.replace("years of age", 'years", "unit": "'))


def test_an_entry_of_a_later_version_is_refused_in_words(tmp_path: Path) -> None:
    from discreet.ledger._chain import append, newest

    _, ledger = published(tmp_path)
    with ledger._chain.write_transaction() as connection:
        head = newest(connection)
        later: Any = {part: value for part, value in head.body.items() if part != "charge"} | {"colour": "red"}
        append(connection, head, later)
    with pytest.raises(dc.LedgerError, match="later version of discreet"):
        ledger.entries()


def test_todays_documents_hold_none_of_what_is_optional() -> None:
    document = json.loads(simulated().to_json())
    assert not {"signatures", "reading", "group"} & set(document)
    assert "metric" not in document["guarantee"]
    assert "version" not in document["mechanism"]
    assert np.array(document["output"]).sum() == 6
