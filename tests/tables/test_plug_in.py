"""The naive reading, for comparison: counts as they are, drawn shares as counts n theta; and readers' own priors."""

from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.choices import HellingerCalibrated, MaximumPosterior
from discreet.mechanism import Mechanism
from discreet.report import charts
from discreet_papers import as_published

COIN = dc.Categories("answer", levels=("no", "yes"), outside="no")
DIE = dc.Categories("d", levels=("a", "b", "c"), outside="a")
WARDS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)
DRAW = dc.PosteriorSampling.tempered(COIN, size=100, epsilon=1, delta="1e-6")
DEPENDENT: list[tuple[Any, list[int]]] = [
    (DRAW, [90, 10]),
    (dc.PosteriorSampling.tempered(DIE, size=100, epsilon=5, delta="1e-3"), [80, 10, 10]),
    (dc.PosteriorSampling.truncated(COIN, size=100, epsilon=5), [80, 20]),
    (MaximumPosterior(COIN, 100, 5), [90, 10]),
    (HellingerCalibrated(COIN, size=20, epsilon=3), [15, 5]),
    (dc.choices.HellingerGlobal(COIN, size=20, epsilon=3), [15, 5]),
]


def test_a_draw_is_read_as_counts_in_its_proportions() -> None:
    release = dc.simulate(DRAW, [90, 10], dc.SeededBits(3))
    theta = DRAW.parameters(release.counts)[0]
    assert as_published.plug_in(release).concentration == pytest.approx(1 + 100 * theta)
    several = dc.simulate(dc.PosteriorSampling(COIN, 100, 30, "0.1", draws=3), [90, 10], dc.SeededBits(3))
    mean = several.mechanism.parameters(several.counts).mean(axis=0)  # type: ignore[attr-defined]
    assert as_published.plug_in(several).concentration == pytest.approx(1 + 100 * mean)


def test_a_maximum_is_read_as_counts_in_its_proportions() -> None:
    release = dc.simulate(MaximumPosterior(COIN, 100, 8, resolution=20), [90, 10], dc.SeededBits(1))
    assert as_published.plug_in(release).concentration == pytest.approx(1 + 5 * release.counts)


def test_a_family_has_no_counts_to_plug_in() -> None:
    falls = dc.PosteriorSampling(dc.PoissonRate("x", most=2, shape=3, outside=2), 3, 1, "0.5")
    with pytest.raises(dc.DeclarationError, match="about a Poisson"):
        as_published.plug_in(dc.simulate(falls, [1, 1, 1], dc.SeededBits(1)))


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.parametrize(("mechanism", "counts"), DEPENDENT, ids=lambda value: type(value).__name__)
def test_a_readers_prior_does_not_change_how_a_release_was_made(mechanism: Mechanism, counts: list[int]) -> None:
    release = dc.simulate(mechanism, counts, dc.SeededBits(5))
    for prior in (5, 0.2):
        other = release.with_prior(prior)
        assert other.mechanism == mechanism
        assert other.to_json() == release.to_json()
        assert set(other.model.prior) == {prior}
        mine, same = dc.infer(release, prior=prior), dc.infer(other)
        assert list(mine.mean.values()) == pytest.approx(list(same.mean.values()), rel=1e-12)
        assert charts.posterior_chart(mine)


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_groups_are_compared_from_a_draw() -> None:
    release = dc.simulate(
        dc.PosteriorSampling.tempered(WARDS, size=100, epsilon=5, delta="1e-3"), [40, 10, 30, 20], dc.SeededBits(2)
    )
    assert charts.comparison_chart(dc.infer(release, prior=0.5), "fall=yes", "ward")


def test_the_law_behind_the_naive_picture_has_the_readers_prior() -> None:
    release = dc.simulate(dc.GeometricHistogram(COIN, size=20, epsilon=2), [15, 5], dc.SeededBits(5))
    told = np.array(as_published.plug_in(release.with_prior(5)).concentration)
    assert told - np.array(as_published.plug_in(release).concentration) == pytest.approx(4)
