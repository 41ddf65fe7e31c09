"""Families with one parameter and bounded records: what counts, what is clipped, which posterior."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import beta, binom, gamma, laplace, norm

import discreet as dc
from discreet._core.documents import document_of, read_document
from discreet._core.exact import ball
from discreet.mathematics.distributions._certified import (
    CertifiedBeta,
    CertifiedDistribution,
    CertifiedGamma,
    CertifiedNormal,
    incomplete_beta,
)
from discreet.mechanism import Model
from discreet.programs.families import BoundedFamily, ExponentialRate, NormalMean, PoissonRate

F = Fraction
FALLS = PoissonRate("falls", most=3, shape=2, rate=1, outside=3)
WAITS = ExponentialRate("wait", high=10, bands=5, shape=2, rate=3, outside="usual")
HEIGHT = NormalMean("height", low=100, high=200, variance=25, bands=10, prior_records=2, outside="usual")


@pytest.mark.parametrize(
    ("law", "twin"),
    [
        (CertifiedBeta(F(5, 2), F(7)), beta(2.5, 7)),
        (CertifiedBeta(F(1, 10), F(30)), beta(0.1, 30)),
        (CertifiedBeta(F(4000), F(3000)), beta(4000, 3000)),
        (CertifiedGamma(F(1, 2), F(3)), gamma(0.5, scale=1 / 3)),
        (CertifiedGamma(F(4000), F(2)), gamma(4000, scale=0.5)),
        (CertifiedNormal(F(3), F(4)), norm(3, 2)),
    ],
)
def test_laws_agree_with_their_twins_in_scipy(law: CertifiedDistribution, twin: Any) -> None:
    for probability in (1e-6, 0.02, 0.5, 0.9, 1 - 1e-6):
        x = float(twin.ppf(probability))
        with ctx.workprec(128):
            below, above, density = law.below(arb(x)), law.above(arb(x)), law.log_density(arb(x))
            assert (below + above).overlaps(arb(1))
            assert below.rel_accuracy_bits() > 60
        assert float(below) == pytest.approx(twin.cdf(x), rel=1e-8)
        assert float(above) == pytest.approx(twin.sf(x), rel=1e-8)
        assert float(density) == pytest.approx(twin.logpdf(x), abs=1e-8)
        assert law.guess(probability) == pytest.approx(x, rel=1e-6)


@pytest.mark.parametrize("shapes", [("61", "62"), ("100.5", "61.25"), ("500", "700"), ("2000", "61")])
@pytest.mark.parametrize("share", ["0.3", "0.9", "0.999"])
def test_the_series_of_large_parameters_encloses_what_the_library_of_balls_finds(
    shapes: tuple[str, str], share: str
) -> None:
    a, b = (Fraction(shape) for shape in shapes)
    with ctx.workprec(128):
        x = arb(share) * ball(a / (a + b))
        found = incomplete_beta(a, b, x)
        assert found.overlaps(x.beta_lower(ball(a), ball(b), regularized=True))
        assert found.rel_accuracy_bits() > 90


@pytest.mark.parametrize("model", [FALLS, WAITS, HEIGHT], ids=lambda m: type(m).__name__)
def test_families_follow_the_protocol(model: Any) -> None:
    assert isinstance(model, BoundedFamily)
    assert len(model.values) == len(model.cells)
    assert not isinstance(dc.Categories("x", levels=("a", "b"), outside="a"), BoundedFamily)
    with pytest.raises(dc.SecretError):
        model.posterior(model.statistics({model.column.name: [1, 2]}))
    for counts in ([1, 2], [-1] + [0] * (len(model.cells) - 1), [0.5] * len(model.cells)):
        with pytest.raises(dc.DeclarationError, match="whole numbers"):
            model.counts(counts)


def opened(model: Any, values: list[Any]) -> list[int]:
    return [int(count) for count in model.statistics({model.name: values}).open_for_publishing()]


def test_poisson_clips_what_is_large_and_what_is_missing() -> None:
    assert opened(FALLS, [0, 1, 1, 3, 4, 900, None, "many", -2, 1.5]) == [1, 2, 0, 7]
    gentle = PoissonRate("falls", most=3, outside=0)
    assert opened(gentle, [4, None, 2]) == [2, 0, 1, 0]


def test_bands_stand_for_their_middle_and_what_is_in_none_for_a_declared_number() -> None:
    assert opened(WAITS, [0, 1.9, 2, 10, 10.5, None, "x", -1]) == [2, 1, 0, 0, 1, 4]
    assert [int(value) for value in WAITS.values] == [1, 3, 5, 7, 9, 10]
    assert HEIGHT.values[-1] == 150
    assert opened(HEIGHT, [99, 100, 200, 250])[-1] == 2


def test_posteriors() -> None:
    assert FALLS.posterior((1, 2, 0, 3)) == CertifiedGamma(F(2 + 2 + 9), F(1 + 6))
    assert FALLS.posterior((1, 2, 0, 3), F(1, 2)) == CertifiedGamma(F(2) + F(11, 2), F(4))
    assert WAITS.posterior((2, 1, 0, 0, 0, 1)) == CertifiedGamma(F(6), F(3 + 2 + 3 + 10))
    row = [0] * 11
    row[0], row[9] = 1, 2  # 105 and twice 195
    assert HEIGHT.posterior(row) == CertifiedNormal(F(2 * 150 + 105 + 390, 5), F(5))


@pytest.mark.parametrize("power", [1, F(1, 3)])
def test_posteriors_of_chances_scales_and_precisions_are_prior_times_likelihood(power: Fraction) -> None:
    """On a grid of parameters, from densities of scipy at the middles that records stand for."""
    places = np.linspace(1e-4, 1 - 1e-4, 20_001)
    chance = dc.programs.families.BinomialProbability("x", trials=3, alpha=2, beta=4, outside=0)
    logs = beta(2, 4).logpdf(places) + float(power) * sum(
        times * binom.logpmf(x, 3, places) for x, times in enumerate((2, 0, 1, 4))
    )
    assert_same_law(chance.posterior((2, 0, 1, 4), F(power)), places, logs)
    rates, counts = np.linspace(1e-3, 12, 20_001), (1, 2, 0, 1, 0)
    laws: list[tuple[Any, Any]] = [
        (
            dc.programs.families.LaplaceScale("x", reach=4, centre=1, bands=2, shape=2, rate=3, outside="usual"),
            laplace(1, 1 / rates),
        ),
        (
            dc.programs.families.NormalPrecision("x", reach=4, mean=1, bands=2, shape=2, rate=3, outside="usual"),
            norm(1, rates**-0.5),
        ),
    ]
    for model, law in laws:
        logs = gamma(2, scale=1 / 3).logpdf(rates)
        for middle, times in zip((-2, 0, 2, 4), counts, strict=False):
            logs = logs + float(power) * times * law.logpdf(middle)
        assert_same_law(model.posterior(counts, F(power)), rates, logs)


def assert_same_law(found: CertifiedDistribution, places: Any, logs: Any) -> None:
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for cut in (0.2, 0.5, 0.8):
        place = int(np.searchsorted(np.cumsum(weights), cut))
        with ctx.workprec(64):
            assert float(found.below(arb(places[place]))) == pytest.approx(cut, abs=1e-3)


def test_the_poisson_posterior_is_prior_times_likelihood() -> None:
    """On a grid of rates, without any conjugacy."""
    rates = np.linspace(0.001, 12, 20_001)
    logs = np.log(rates) * (2 - 1) - rates  # Gamma(2, 1)
    for number, count in enumerate((1, 2, 0, 3)):
        logs += count * (number * np.log(rates) - rates)
    weights = np.exp(logs - logs.max())
    law = FALLS.posterior_given_total(Fraction(2 + 9), 6)
    assert law == FALLS.posterior((1, 2, 0, 3))
    assert rates @ weights / weights.sum() == pytest.approx(float(law.shape / law.rate), rel=1e-6)


def test_gaussian_privacy_of_the_normal_mean() -> None:
    fine = NormalMean("x", low=0, high=1, variance=1, bands=1000, prior_records=1, outside="usual")
    assert fine.gaussian_privacy(99) == pytest.approx(0.999 / 10, rel=1e-12)
    (pair,) = fine.neighbours(99, F(1))
    assert float(pair[1].mean) / np.sqrt(float(pair[1].variance)) == pytest.approx(fine.gaussian_privacy(99))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PoissonRate("x", most=0, outside=0),
        lambda: PoissonRate("", most=3, outside=3),
        lambda: PoissonRate("x", most=3, shape=0, outside=3),
        lambda: PoissonRate("x", most=3, outside=4),
        lambda: ExponentialRate("x", high=0, outside="usual"),
        lambda: ExponentialRate("x", high=1, low=1, outside="usual"),
        lambda: ExponentialRate("x", high=1, bands=0, outside="usual"),
        lambda: NormalMean("x", low=1, high=0, variance=1, outside="usual"),
        lambda: NormalMean("x", low=0, high=1, variance=0, outside="usual"),
        lambda: NormalMean("x", low=0, high=1, variance=1, prior_mean=2, outside="usual"),
        lambda: dc.programs.families.BinomialProbability("x", trials=0, outside=0),
        lambda: dc.programs.families.BinomialProbability("x", trials=3, outside=4),
        lambda: dc.programs.families.BinomialProbability("", trials=3, outside=0),
        lambda: dc.programs.families.LaplaceScale("x", reach=0, outside="usual"),
        lambda: dc.programs.families.LaplaceScale("x", reach=1, bands=0, outside="usual"),
        lambda: dc.programs.families.NormalPrecision("x", reach=1, shape=0, outside="usual"),
    ],
)
def test_nonsense_is_refused(make: Any) -> None:
    with pytest.raises(dc.DeclarationError):
        make()


@pytest.mark.parametrize(
    "make", [lambda: PoissonRate("falls", 5), lambda: dc.programs.families.BinomialProbability("falls", 5)]
)
def test_a_family_of_counts_declares_what_missing_values_count_as(make: Callable[[], object]) -> None:
    with pytest.raises(dc.DeclarationError, match=r"'falls' must declare .* nothing was charged") as refusal:
        make()
    assert "outside = 5 in the question of a study" in str(refusal.value)


BANDED: list[tuple[Any, dict[str, Any], Fraction]] = [
    (dc.ExponentialRate, {"high": 10, "bands": 5}, Fraction(4)),
    (dc.NormalMean, {"low": 0, "high": 10, "variance": 4, "bands": 5}, Fraction(4)),
    (dc.programs.families.LaplaceScale, {"reach": 10, "centre": 1, "bands": 5}, Fraction(3)),
    (dc.programs.families.NormalPrecision, {"reach": 10, "mean": 1, "bands": 5}, Fraction(9, 2)),
]


@pytest.mark.parametrize(("kind", "facts", "value"), BANDED)
def test_a_family_over_bands_declares_what_missing_values_count_as(
    kind: Any, facts: dict[str, Any], value: Fraction
) -> None:
    with pytest.raises(dc.DeclarationError, match=r"'x' must declare .* nothing was charged") as refusal:
        kind("x", **facts)
    assert 'outside = "usual" for' in str(refusal.value)
    with pytest.raises(dc.DeclarationError, match=r'outside must be a number from .*, or "usual"; got 12'):
        kind("x", **facts, outside=12)
    model = kind("x", **facts, outside=4)
    counts = model.statistics({"x": [None, "?", 99.0]}).open_for_publishing()
    assert counts.tolist() == [*[0] * (len(model.values) - 1), 3]
    assert model.values[-1] == value


@pytest.mark.parametrize(("kind", "facts", "value"), BANDED)
def test_a_document_says_what_missing_values_count_as_unless_it_is_usual(
    kind: Any, facts: dict[str, Any], value: Fraction
) -> None:
    usual, other = (kind("x", **facts, outside=each) for each in ("usual", "1/3"))
    assert "outside" not in document_of(usual)
    same = {"Exponential": 10, "NormalMean": 5, "LaplaceScale": -9, "NormalPrecision": 10}[kind.__name__]
    assert kind("x", **facts, outside=same) == usual
    assert document_of(other)["outside"] == "1/3"
    for model in (usual, other):
        assert read_document(document_of(model), Model.kinds) == model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (PoissonRate("falls", 5, outside=2), "count as 2 in falls."),
        (dc.ExponentialRate("wait", high=10, bands=20, outside="usual"), "count as 10 in wait."),
        (
            dc.programs.families.LaplaceScale("error", reach=10, bands=10, outside="usual"),
            "count as 10 away from the centre in error.",
        ),
        (
            dc.programs.families.NormalPrecision("error", reach=10, bands=10, outside="usual"),
            "count as 9.5 away from the mean in error.",
        ),
        (dc.ExponentialRate("wait", high=10, bands=20, outside=2), "count as 2 in wait."),
        (dc.NormalMean("height", low=0, high=10, variance=4, bands=20, outside="2.5"), "count as 2.5 in height."),
        (dc.programs.families.LaplaceScale("error", reach=10, centre=1, bands=10, outside=-3), "count as -3 in error."),
        (dc.programs.families.NormalPrecision("error", reach=10, mean=1, bands=10, outside=5), "count as 5 in error."),
    ],
)
def test_what_missing_values_count_as_is_said_where_a_draw_is_read(model: Any, words: str) -> None:
    mechanism = dc.PosteriorSampling.tempered(model, size=50, epsilon=2, delta="1e-2", grid_bits=20)
    counts = np.bincount(np.arange(50) % 3, minlength=len(model.column.levels))
    assert words in model.missing_in_words
    assert model.missing_in_words in str(dc.infer(dc.simulate(mechanism, counts, dc.SeededBits(4))))
