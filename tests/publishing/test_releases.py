"""The one door and what leaves through it."""

import json
import pickle
import traceback
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.noise.randomness._samplers import RandomBits

SMOKING = dc.Categories("smoking", levels=("never", "former", "current"), prior=1, outside="never")
MECHANISM = dc.GeometricHistogram(SMOKING, size=12, epsilon="0.5")
DATA = {"smoking": ["never"] * 6 + ["former"] * 4 + ["current"] * 2}


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.create(tmp_path / "study.db", epsilon="2", delta="1e-6")


def test_a_release_survives_the_way_through_json(ledger: dc.Ledger) -> None:
    release = dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="smoking 2026")
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert read.to_json() == release.to_json()
    assert read.digest == release.digest
    assert sum(read.output) == 12
    assert read.receipt is not None
    assert read.receipt.sequence == 2
    assert dc.verify(read, ledger=ledger).epsilon == 0.5
    assert dc.Release.from_json(json.dumps(json.loads(release.to_json()), indent=2)).digest == release.digest


def test_publish_charges_before_it_draws(ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Fraction] = []

    def sample(self: Any, counts: Any, bits: RandomBits) -> Any:
        seen.append(ledger.spent.epsilon)
        return np.zeros(3, dtype=np.int64)

    monkeypatch.setattr(dc.GeometricHistogram, "sample", sample)
    dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    assert seen == [Fraction(1, 2)]


def test_publish_accepts_only_the_systems_bits(ledger: dc.Ledger) -> None:
    class Tame(dc.SystemBits):
        pass

    for bits in (dc.SeededBits(1), Tame()):
        with pytest.raises(dc.PublishError, match="secure bits"):
            dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x", bits=bits)  # type: ignore[arg-type]
    assert ledger.spent.epsilon == 0


def test_wrong_calls_are_refused_and_not_charged(ledger: dc.Ledger) -> None:
    secret = SMOKING.statistics(DATA)
    other = dc.Categories("smoking", levels=("never", "former", "current"), prior=2, outside="never")
    calls: list[tuple[Any, Any, Any, Any, str]] = [
        (MECHANISM, secret, ledger, " ", "label"),
        (MECHANISM, secret, ledger, "\ud83d", "label"),
        (MECHANISM, secret, ledger, "x" * 501, "label"),
        (MECHANISM, secret, ledger, None, "label"),
        (MECHANISM, (6, 4, 2), ledger, "x", "model.statistics"),
        ("mechanism", secret, ledger, "x", "not a mechanism"),
        (MECHANISM, secret, None, "x", "Ledger is needed"),
        (MECHANISM, other.statistics(DATA), ledger, "x", "a model other"),
        (dc.GeometricHistogram(SMOKING, size=13, epsilon=1), secret, ledger, "x", "13 records"),
    ]
    for mechanism, statistics, book, label, words in calls:
        with pytest.raises(dc.PublishError, match=words):
            dc.publish(mechanism, statistics, ledger=book, label=label)
    assert ledger.spent.epsilon == 0


def test_a_claimed_guarantee_is_not_published(ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = property(lambda self: dc.Guarantee("0.5", evidence=dc.privacy.Evidence.CLAIMED))
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", claimed)
    with pytest.raises(dc.PublishError, match="only claimed"):
        dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    assert ledger.spent.epsilon == 0


def test_a_failure_after_the_charge_says_nothing_about_the_records(
    ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, counts: Any, bits: RandomBits) -> Any:
        raise ValueError(f"the canary sings: {counts}")

    monkeypatch.setattr(dc.GeometricHistogram, "sample", broken)
    with pytest.raises(dc.PublishError) as failure:
        dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    words = "".join(traceback.format_exception(failure.value))
    assert "canary" not in words
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None
    assert "charge stands" in str(failure.value)
    assert ledger.spent.epsilon == Fraction(1, 2)


def test_a_release_that_cannot_be_recorded_is_withheld(ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, charge: Any, release: str) -> None:
        raise dc.LedgerError("disk full")

    monkeypatch.setattr(dc.Ledger, "record", full)
    with pytest.raises(dc.PublishError, match=r"withheld. The charge stands. disk full") as failure:
        dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    assert failure.value.__context__ is None
    assert ledger.spent.epsilon == Fraction(1, 2)


def test_a_mechanism_that_no_document_can_name_is_not_charged(ledger: dc.Ledger) -> None:
    class Homemade(dc.GeometricHistogram):
        pass

    with pytest.raises(dc.PublishError, match="could not be read back"):
        dc.publish(Homemade(SMOKING, size=12, epsilon=1), SMOKING.statistics(DATA), ledger=ledger, label="x")
    assert ledger.spent.epsilon == 0


def test_several_rows_for_each_person_multiply_what_is_stated_and_charged(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="2", unit="one patient")
    patient = dc.Unit("one patient", rows=3)
    release = dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x", unit=patient)
    assert release.guarantee.epsilon == Fraction(3, 2) == ledger.spent.epsilon
    certificate = dc.verify(dc.Release.from_json(release.to_json()), ledger=ledger)
    assert certificate.epsilon == 1.5
    assert certificate.guarantee == release.guarantee
    assert certificate.delta_at("1.5") == 0
    assert certificate.delta_at(0) >= dc.verify(MECHANISM).delta_at(0)
    with pytest.raises(dc.PublishError, match="protects 'one patient'"):
        dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="y")


def test_group_privacy_of_an_approximate_guarantee_is_rounded_up() -> None:
    grown = dc.Guarantee("1", "1e-6").for_rows(3)
    exact = 1e-6 * (1 + np.e + np.e**2)
    assert grown.epsilon == 3
    assert exact <= grown.delta <= exact * (1 + 1e-11)
    with pytest.raises(dc.DeclarationError):
        dc.Guarantee("5", "0.1").for_rows(10)


def test_simulations_are_marked_and_repeatable() -> None:
    first = dc.simulate(MECHANISM, counts=(6, 4, 2), bits=dc.SeededBits(1))
    assert first.simulated
    assert first == dc.simulate(MECHANISM, counts=(6, 4, 2), bits=dc.SeededBits(1))
    assert dc.Release.from_json(first.to_json()) == first


def test_a_simulation_does_not_pass_for_a_release(ledger: dc.Ledger) -> None:
    with pytest.raises(dc.VerificationError, match="simulation"):
        dc.verify(dc.simulate(MECHANISM, counts=(6, 4, 2), bits=dc.SeededBits(1)), ledger=ledger)


def _changed(release: dc.Release, *path: Any, to: Any) -> str:
    document = json.loads(release.to_json())
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(document)


EDITS: list[tuple[tuple[Any, ...], Any]] = [
    (("schema",), 2),
    (("schema",), "1"),
    (("output",), [1, 2]),
    (("output",), [6, 4, 3]),
    (("output",), [6.0, 4, 2]),
    (("output",), [10**30, 12 - 10**30, 0]),
    (("output", 0), None),
    (("surprise",), 1),
    (("mechanism", "epsilon"), "0.1"),
    (("mechanism", "epsilon"), 0.5),
    (("mechanism", "epsilon"), "-1"),
    (("mechanism", "kind"), "os.system"),
    (("mechanism", "surprise"), 1),
    (("mechanism", "size"), 0),
    (("mechanism", "model", "kind"), "Secrets"),
    (("mechanism", "model", "prior"), [1, 1]),
    (("mechanism", "model", "prior"), [1, 1, 0]),
    (("mechanism", "model", "columns", 0, "levels"), ["a", "a", "b"]),
    (("mechanism", "model", "columns", 0, "outside"), "elsewhere"),
    (("guarantee", "epsilon"), "0.1"),
    (("guarantee", "evidence"), "sworn"),
    (("guarantee", "reason"), 3),
    (("guarantee", "epsilon"), "0.50"),
    (("mechanism", "epsilon"), " 0.5"),
    (("label",), ""),
    (("label",), "x" * 501),
    (("label",), "\ud800"),
    (("mechanism",), "\ud800"),
    (("mechanism", "model", "columns", 0), "\ud800"),
    (("unit", "description"), "\ud800"),
    (("reading",), "later"),
    (("reading",), None),
    (("mechanism", "model", "columns", 0, "name"), "\ud800"),
    (("receipt",), {"sequence": 2}),
    (("receipt",), {"sequence": 2, "head": "0" * 64}),
    (("receipt",), {"sequence": -5, "head": "0" * 64}),
    (("unit", "rows"), 0),
    (("unit", "rows"), 3),
    (("unit", "description"), " "),
    (("simulated",), 0),
]


@pytest.mark.parametrize(("path", "value"), EDITS)
def test_edited_documents_are_refused(path: tuple[Any, ...], value: Any) -> None:
    release = dc.simulate(MECHANISM, counts=(6, 4, 2), bits=dc.SeededBits(1))
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(_changed(release, *path, to=value))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema": 1}', '{"schema": 1, "schema": 1}', '{"a": NaN}', "9" * 5000]
)
def test_texts_that_are_no_releases_are_refused(text: str) -> None:
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(dc.DocumentError, match="UTF-8"):
        dc.Release.from_json(b"\xff")


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_json_is_read_or_refused_but_never_crashes(document: Any) -> None:
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(json.dumps(document))


@pytest.mark.parametrize("path", [("output",), ("label",), ("mechanism", "epsilon")])
def test_an_edited_release_is_noticed_by_its_ledger(ledger: dc.Ledger, path: tuple[str, ...]) -> None:
    release = dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    document = json.loads(release.to_json())
    if path == ("output",):
        document["output"] = [release.output[0] + 1, release.output[1] - 1, release.output[2]]
    elif path == ("label",):
        document["label"] = "y"
    else:
        document["mechanism"]["epsilon"] = document["guarantee"]["epsilon"] = "0.25"
    with pytest.raises(dc.VerificationError, match="changed afterwards"):
        dc.verify(dc.Release.from_json(json.dumps(document)), ledger=ledger)


def test_a_release_of_another_ledger_is_noticed(ledger: dc.Ledger, tmp_path: Path) -> None:
    other = dc.Ledger.create(tmp_path / "other.db", epsilon="2")
    release = dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=other, label="x")
    dc.publish(MECHANISM, SMOKING.statistics(DATA), ledger=ledger, label="x")
    with pytest.raises(dc.VerificationError, match="another ledger"):
        dc.verify(release, ledger=ledger)


SECRET = SMOKING.statistics({"smoking": ["never"] * 7919 + ["former"] * 104729})


def test_statistics_show_no_value() -> None:
    for shown in (repr(SECRET), str(SECRET), f"{SECRET}", f"{SECRET!r}", repr([SECRET]), repr({"s": SECRET})):
        assert "7919" not in shown
        assert "104729" not in shown
        assert "112648" not in shown


def test_statistics_cannot_be_stored_or_looked_into_by_accident() -> None:
    import copy

    attempts: list[Any] = [
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        msgspec.json.encode,
        list,
        len,
        bool,
        int,
    ]
    attempts += [float, np.asarray, hash, lambda s: s[0], lambda s: s == s, lambda s: s + s, vars, dict, sorted, iter]
    for attempt in attempts:
        with pytest.raises(Exception) as refusal:  # noqa: PT011 - json and vars have exceptions of their own
            attempt(SECRET)
        assert "7919" not in "".join(traceback.format_exception(refusal.value))


def test_only_publish_opens_statistics() -> None:
    root = Path(dc.__file__).parent
    users = [
        path.relative_to(root).as_posix() for path in root.rglob("*.py") if "open_for_publishing" in path.read_text()
    ]
    assert sorted(users) == ["publishing/_publish.py", "records/_statistics.py"]
