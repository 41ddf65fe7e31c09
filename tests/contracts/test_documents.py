"""The suite that the document of every mechanism must pass: one text, strict reading, nothing lost."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import discreet as dc
from discreet._core.documents import canonical_json
from discreet.mechanism import with_fields
from discreet.tables import NoisyCounts
from every_pair import made

MODELS = [
    dc.Categories("x", levels=("a", "b"), outside="a"),
    dc.Categories("x", levels=(0, 1, 2), prior=(0.1, 2, 3.5), outside=2),
    dc.Categories(
        [dc.Column.banded("age", (0, 18.5, 65)), dc.Column("smoker", (False, True), outside=False)], prior=0.3
    ),
    dc.Categories('größe, "é"', levels=("ja = nein", "<b>", "日本", ">5"), outside="ja = nein"),
]


def releases() -> Iterator[Any]:
    """Yield a release of every mechanism for tables, of each model that it accepts."""
    for name, kind in dc.Mechanism.registered().items():
        for number, model in enumerate(MODELS if issubclass(kind, NoisyCounts) else ()):
            if (mechanism := made(name, model, 7)) is not None:
                changed = with_fields(mechanism, epsilon="1/3")
                counts = (7, *[0] * (len(model.cells) - 1))
                release = dc.simulate(changed, counts, dc.SeededBits(2), f"label {number}")
                yield pytest.param(release, id=f"{name}-{number}")


RELEASES = list(releases())


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
