"""The suite that the document of every mechanism must pass: one text, strict reading, nothing lost."""

import json
from typing import Any

import pytest

import discreet as dc
from discreet._core.documents import canonical_json
from discreet.tables import NoisyCounts

MODELS = [
    dc.Categories("x", levels=("a", "b"), outside="a"),
    dc.Categories("x", levels=(0, 1, 2), prior=(0.1, 2, 3.5), outside=2),
    dc.Categories(
        [dc.Column.banded("age", (0, 18.5, 65)), dc.Column("smoker", (False, True), outside=False)], prior=0.3
    ),
    dc.Categories('größe, "é"', levels=("ja = nein", "<b>", "日本", ">5"), outside="ja = nein"),
]


def is_tree(kind: Any) -> bool:
    return "parents" in kind.__dataclass_fields__


def release_of(kind: Any, number: int) -> dc.Release:
    model = MODELS[number]
    counts = (7, *[0] * (len(model.cells) - 1))
    extra: dict[str, Any] = {"delta": "1e-5"} if "delta" in kind.__dataclass_fields__ else {}
    if is_tree(kind):
        extra = {"parents": range(1, len(model.cells)), "lengths": ["1/3"] * (len(model.cells) - 1)}
    return dc.simulate(kind(model, size=7, epsilon="1/3", **extra), counts, dc.SeededBits(2), f"label {number}")


RELEASES = [
    pytest.param(release_of(kind, number), id=f"{name}-{number}")
    for name, kind in dc.Mechanism.registered().items()
    if issubclass(kind, NoisyCounts)
    for number in range(len(MODELS))
    if not is_tree(kind) or len(MODELS[number].columns) == 1
]


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_has_one_text_and_is_read_back_whole(release: dc.Release) -> None:
    text = release.to_json()
    read = dc.Release.from_json(text)
    assert read == release
    assert read.to_json() == text
    assert canonical_json(json.loads(text)) == text
    assert dc.Release.from_json(text.encode()) == release


@pytest.mark.parametrize("release", RELEASES)
def test_no_part_may_be_missing_and_none_may_be_added(release: dc.Release) -> None:
    whole: dict[str, Any] = json.loads(release.to_json())
    for part in whole:
        with pytest.raises(dc.DocumentError):
            dc.Release.from_json(json.dumps({key: value for key, value in whole.items() if key != part}))
    for place in (whole, whole["mechanism"], whole["mechanism"]["model"], whole["guarantee"], whole["unit"]):
        place["surprise"] = 1
        with pytest.raises(dc.DocumentError):
            dc.Release.from_json(json.dumps(whole))
        del place["surprise"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_document_may_not_promise_more_than_its_mechanism_gives(release: dc.Release) -> None:
    other = "proved" if release.guarantee.evidence is dc.privacy.Evidence.ENUMERATED else "enumerated"
    for part, value in (("epsilon", "1/4"), ("delta", "1e-9"), ("evidence", other)):
        document = json.loads(release.to_json())
        document["guarantee"][part] = value
        with pytest.raises(dc.DocumentError, match="Do not trust it"):
            dc.Release.from_json(json.dumps(document))


@pytest.mark.parametrize("release", RELEASES)
def test_the_output_must_be_one_that_the_mechanism_can_give(release: dc.Release) -> None:
    for output in ([], [1], [10**15] * len(release.output), [0.5] * len(release.output), [*release.output, 0]):
        document = json.loads(release.to_json()) | {"output": output}
        with pytest.raises(dc.DocumentError):
            dc.Release.from_json(json.dumps(document))


@pytest.mark.parametrize("kind", [dc.tables.DiscreteGaussianHistogram, dc.tables.DiscreteGaussianCounts])
def test_a_variance_too_small_for_what_is_promised_is_refused(kind: Any) -> None:
    honest = kind(MODELS[0], size=7, epsilon="1", delta="1e-6")
    release = dc.simulate(honest, (3, 4), dc.SeededBits(1))
    document = json.loads(release.to_json())
    document["mechanism"]["variance"] = "30"
    with pytest.raises(dc.DocumentError, match="A variance of 30 gives delta"):
        dc.Release.from_json(json.dumps(document))
    assert kind(MODELS[0], size=7, epsilon="1", delta="1e-6", variance=honest.variance * 2).rho < honest.rho


@pytest.mark.parametrize("kind", [[], {}, 3, None, "Unknown"])
def test_a_model_of_no_kind_is_refused_in_words(kind: Any) -> None:
    release = dc.simulate(
        dc.GeometricHistogram(dc.Categories("x", levels=("a", "b"), outside="a"), 4, 1), (1, 3), dc.SeededBits(1)
    )
    document = json.loads(release.to_json())
    document["mechanism"]["model"]["kind"] = kind
    with pytest.raises(dc.DocumentError):
        dc.Release.from_json(json.dumps(document))
