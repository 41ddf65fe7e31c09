"""Draws of a family's parameter, read for what they are: against sums over all tables of counts, and refusals."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy.special import gammaln

import discreet as dc
from discreet.cli._main import main
from discreet.mathematics.distributions._certified import CertifiedBeta, CertifiedGamma, CertifiedNormal
from discreet.mechanism import sized
from discreet.privacy import compositions
from discreet.programs.families import BoundedFamily, FamilyPosterior
from discreet.programs.families import _record_totals as record_totals
from discreet.programs.families._record_totals import RecordTotals
from discreet.report import charts

Floats = NDArray[np.float64]
FALLS = dc.PoissonRate("falls", most=3, shape=3, rate=2, outside=3)
WAITS = dc.ExponentialRate("wait", high=4, bands=3, shape=3, rate=2, outside="usual")
HEIGHTS = dc.NormalMean("height", low=0, high=10, variance=4, bands=3, prior_records=Fraction(1, 3), outside="usual")
ITEMS = dc.programs.families.BinomialProbability("right", trials=3, alpha=3, beta=2, outside=0)
ERRORS = dc.programs.families.LaplaceScale("error", reach=4, centre=1, bands=2, shape=3, rate=2, outside="usual")
SPREAD = dc.programs.families.NormalPrecision("error", reach=4, mean=1, bands=2, shape=3, rate=2, outside="usual")
MODELS = [FALLS, dc.PoissonRate("falls", most=3, shape=3, rate=2, outside=0), WAITS, HEIGHTS, ITEMS, ERRORS, SPREAD]
GRIDS = {"NormalMean": (-25.0, 35.0), "Binomial": (1e-9, 1 - 1e-9)}


def release_of(model: Any, counts: list[int], draws: int = 1, grid_bits: int = 20, seed: int = 4) -> dc.Release:
    mechanism = dc.PosteriorSampling(model, sum(counts), 20, "0.5", power="0.5", draws=draws, grid_bits=grid_bits)
    return dc.simulate(mechanism, counts, dc.SeededBits(seed))


def slow_reading(releases: list[dc.Release], prior: Any, cells: int = 20_000) -> tuple[Floats, Floats, float]:
    """Sum over all tables of counts, each with its multinomial probability, at many parameters. Nothing clever."""
    model: Any = releases[0].model
    low, high = GRIDS.get(type(model).__name__, (1e-6, 15.0))
    edges = np.linspace(low, high, cells + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    size = sized(releases[0].mechanism).size
    tables = np.array(list(compositions(size, len(model.cells))))
    chances = np.log(np.maximum(model.level_probabilities(middles), 1e-300))
    weights = gammaln(size + 1) - gammaln(tables + 1).sum(axis=1)
    told = np.zeros(len(middles))
    kernel = sum(release.mechanism.log_prob(release.counts, tables) for release in releases)
    for table, weight, drawn in zip(tables, weights, np.asarray(kernel), strict=True):
        told += np.exp(weight + chances @ table + drawn)
    masses = told * np.exp(prior.log_mass(edges[:-1], edges[1:]))
    return middles, masses / masses.sum(), float(np.log(masses.sum()))


@pytest.mark.parametrize("model", MODELS, ids=[f"{type(model).__name__}-{n}" for n, model in enumerate(MODELS)])
@pytest.mark.parametrize(("draws", "grid_bits"), [(1, 20), (1, 3), (3, 20)])
def test_reading_is_the_sum_over_all_tables(model: Any, draws: int, grid_bits: int) -> None:
    release = release_of(model, [2, 1, 2, 1] if len(model.cells) == 4 else [1, 1, 2, 0, 1], draws, grid_bits)
    posterior = dc.infer(release)
    middles, weights, evidence = slow_reading([release], model.posterior_given_total(Fraction(0), 0))
    mean = float(weights @ middles)
    sd = float(np.sqrt(weights @ (middles - mean) ** 2))
    assert posterior.mean["parameter"] == pytest.approx(mean, abs=2e-4 * sd)
    assert posterior.sd["parameter"] == pytest.approx(sd, rel=1e-3)
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-4)
    for place in (0.05, 0.5, 0.95):
        slow = np.interp(place, np.cumsum(weights), middles)
        assert posterior.quantile(place) == pytest.approx(slow, abs=3e-3 * sd)
    values = np.array([float(value) for value in model.values])
    predicted = weights @ (model.level_probabilities(middles) @ values)
    assert posterior.predictive_mean == pytest.approx(float(predicted), rel=1e-4)


def test_several_releases_and_another_prior() -> None:
    releases = [release_of(FALLS, [2, 1, 2, 1], seed=seed) for seed in (4, 5)]
    prior = CertifiedGamma(Fraction(6), Fraction(3))
    middles, weights, evidence = slow_reading(releases, prior)
    posterior = dc.infer(*releases, prior=prior)
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-4)
    assert posterior.mean["parameter"] == pytest.approx(float(weights @ middles), rel=1e-4)


def test_level_probabilities_are_what_records_do() -> None:
    """A hundred thousand made-up records, counted as the model counts: within five standard errors."""
    generator = np.random.default_rng(12)
    made: list[tuple[Any, float, Any]] = [
        (FALLS, 1.7, generator.poisson(1.7, 100_000)),
        (MODELS[1], 1.7, generator.poisson(1.7, 100_000)),
        (dc.ExponentialRate("wait", high=4, low=1, bands=3, outside="usual"), 0.4, generator.exponential(2.5, 100_000)),
        (HEIGHTS, 6.5, generator.normal(6.5, 2, 100_000)),
        (ITEMS, 0.3, generator.binomial(3, 0.3, 100_000)),
        (ERRORS, 0.4, generator.laplace(1, 2.5, 100_000)),
        (SPREAD, 0.16, generator.normal(1, 2.5, 100_000)),
    ]
    for model, parameter, records in made:
        counted = model.statistics({model.column.name: records.tolist()}).open_for_publishing() / 100_000
        told = model.level_probabilities(np.array([parameter]))[0]
        assert told.sum() == pytest.approx(1, abs=1e-12)
        assert (abs(counted - told) <= 5 * np.sqrt(told * (1 - told) / 100_000) + 1e-12).all()


@pytest.mark.parametrize(
    "model",
    [
        dc.PoissonRate("falls", most=6, shape=3, rate=2, outside=6),
        dc.ExponentialRate("wait", high=6, bands=12, shape=3, rate=2, outside="usual"),
        dc.NormalMean("height", low=0, high=10, variance=4, bands=20, outside="usual"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_long_totals_are_approximated_well(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parameter = 6.0 if isinstance(model, dc.NormalMean) else 0.8
    counts = np.random.default_rng(3).multinomial(600, model.level_probabilities(np.array([parameter]))[0]).tolist()
    mechanism = dc.PosteriorSampling(model, 600, 50, "0.5", power="0.5")
    release = dc.simulate(mechanism, counts, dc.SeededBits(1))
    exact = dc.infer(release)
    monkeypatch.setattr(record_totals, "_LONGEST", 256)
    about = dc.infer(release)
    assert about.mean["parameter"] == pytest.approx(exact.mean["parameter"], abs=1e-3 * exact.sd["parameter"])
    assert list(about.interval("parameter", 0.9)) == pytest.approx(
        list(exact.interval("parameter", 0.9)), abs=5e-3 * exact.sd["parameter"]
    )


def test_windows_and_whole_laws_of_totals_agree() -> None:
    model = dc.PoissonRate("falls", most=50, outside=50)
    totals = RecordTotals(model, 4_000)  # 200,001 totals, of which a window of 24 deviations is looked at
    found = totals.log_expectations(np.array([0.3, 2.0]), lambda s: np.zeros(len(s)))
    assert found.logs == pytest.approx([0, 0], abs=1e-9)
    assert found.totals == pytest.approx([1200, 8000], rel=1e-9)


def slow_log_law(places: Any, chances: Floats, size: int) -> Floats:
    """Add records one by one, in logarithms: nothing is rounded away, however small."""
    law = np.zeros(1)
    for _ in range(size):
        longer = np.full(len(law) + int(places.max()), -np.inf)
        for place, chance in zip(places, chances, strict=True):
            if chance > 0:
                reached = slice(int(place), int(place) + len(law))
                longer[reached] = np.logaddexp(longer[reached], law + np.log(chance))
        law = longer
    return law


MEASURED = dc.NormalMean("height", low=0, high=20, variance=4, bands=20, prior_records=2, outside="usual")
SADDLES = [
    (MEASURED, [-1.2, 0.0, 4.0, 7.7, 12.0, 16.0, 19.0, 20.0, 21.2], 387.0),
    (dc.PoissonRate("falls", most=6, shape=4, rate=3, outside=6), [0.001, 0.05, 0.6, 3.0, 12.0, 40.0], 70.0),
    (
        dc.ExponentialRate("wait", high=8, bands=16, shape=4, rate=4, outside="usual"),
        [0.001, 0.1, 0.5, 3.0, 20.0],
        70.0,
    ),
]


@pytest.mark.parametrize(("model", "parameters", "near"), SADDLES, ids=lambda value: getattr(value, "name", None))
def test_totals_far_from_what_they_should_be_keep_their_digits(
    model: Any, parameters: list[float], near: float
) -> None:
    """Records outside the range stand for one value, so the law of the total is far from normal for most of these."""
    totals, size, width = RecordTotals(model, 50), 50, 12.0
    places, unit = record_totals._lattice(model)
    found = totals.log_expectations(
        np.array(parameters), lambda s: -(((s - near) / width) ** 2) / 2, lambda s: (near - s) / width**2
    )
    for row, chances in enumerate(model.level_probabilities(np.array(parameters))):
        law = slow_log_law(places, chances, size)
        numbers = totals.ends[0] + float(unit) * np.arange(len(law))
        products = law - ((numbers - near) / width) ** 2 / 2
        told = float(np.logaddexp.reduce(products))
        assert found.logs[row] == pytest.approx(told, abs=1e-9 * (1 + abs(told)))
        assert found.totals[row] == pytest.approx(float(np.exp(products - told) @ numbers), rel=1e-8)


@pytest.mark.parametrize(("middle", "seed"), [(6.5, 1), (7.5, 2), (10.5, 3), (12.5, 4), (13.5, 5)])
def test_a_draw_of_a_mean_is_read_around_itself(middle: float, seed: int) -> None:
    """A draw of 7.8 was read as 21.2 once: where next to nothing was likely, rounding was taken for a likelihood."""
    chances = MEASURED.level_probabilities(np.array([middle]))[0]
    counts = np.random.default_rng(seed).multinomial(100, chances)
    mechanism = dc.PosteriorSampling.tempered(MEASURED, size=100, epsilon=2, delta="1e-4")
    release = dc.simulate(mechanism, counts, dc.SeededBits(seed))
    drawn = float(mechanism.parameters(np.array(release.counts)).mean())
    posterior = dc.infer(release)
    assert posterior.mean["parameter"] == pytest.approx(drawn, abs=0.5)
    assert 0.2 < posterior.sd["parameter"] < 0.6


def test_records_that_say_nothing_leave_the_prior() -> None:
    """One band, whose middle is the prior mean: every record stands for the same number, and so all totals are one."""
    model = dc.NormalMean("height", low=0, high=20, variance=4, bands=1, outside="usual")
    posterior = dc.infer(release_of(model, [90, 10]))
    assert (posterior.mean["parameter"], posterior.sd["parameter"]) == (
        pytest.approx(10, abs=1e-3),
        pytest.approx(2, rel=1e-3),
    )


def test_what_is_due_to_privacy_is_told() -> None:
    counts = [60, 90, 40, 10]
    weak, strong = (
        dc.infer(dc.simulate(dc.PosteriorSampling(FALLS, 200, e, "0.5", power=p, draws=q), counts, dc.SeededBits(1)))
        for e, p, q in ((5, "0.05", 1), (500, "1", 100))
    )
    assert weak.privacy_share(0.9) > 0.5 > 0.1 > strong.privacy_share(0.9) >= 0
    assert "due to privacy" in str(weak)
    assert weak.information < strong.information
    draws = weak.draws(20_000, seed=1)["parameter"]
    assert draws.mean() == pytest.approx(weak.mean["parameter"], abs=4 * weak.sd["parameter"] / 140)
    assert weak.cdf(weak.quantile(0.3)) == pytest.approx(0.3)
    low, high = weak.interval("parameter", 0.999999)
    grid = np.linspace(low, high, 2001)
    assert float(weak.density(grid).sum() * (grid[1] - grid[0])) == pytest.approx(1, abs=1e-3)


COLUMN = dc.Column("x", (0, 1), outside=0)


@dataclass(frozen=True)
class Silent(BoundedFamily):
    """A family that says no more than its privacy needs."""

    column: Any = COLUMN
    values: tuple[Fraction, ...] = (Fraction(0), Fraction(1))

    def posterior(self, counts: Any, power: Fraction = Fraction(1)) -> CertifiedBeta:
        return CertifiedBeta(30 + power * int(counts[0]), 30 + power * int(counts[1]))

    def neighbours(self, size: int, power: Fraction) -> Any:
        yield CertifiedBeta(Fraction(30), 30 + power), CertifiedBeta(30 + power, Fraction(30))


def test_what_cannot_be_read_is_refused_in_words() -> None:
    release = release_of(FALLS, [2, 1, 2, 1])
    other = release_of(dc.PoissonRate("falls", most=4, shape=3, rate=2, outside=4), [2, 1, 2, 1, 0])
    silent = dc.simulate(dc.PosteriorSampling(Silent(), 4, 1, "0.5"), [2, 2], dc.SeededBits(1))
    refused: list[tuple[tuple[dc.Release, ...], dict[str, Any], str]] = [
        ((release, other), {}, "same records"),
        ((silent,), {}, "level_probabilities"),
        ((release,), {"prior": 3}, "such as CertifiedGamma"),
        ((release,), {"strengths": (1, 2)}, "Dirichlet priors"),
    ]
    for releases, options, words in refused:
        with pytest.raises(dc.DeclarationError, match=words):
            dc.infer(*releases, **options)
    posterior = dc.infer(release)
    with pytest.raises(dc.DeclarationError, match="has no events"):
        charts.comparison_chart(posterior, "falls=1", "falls")
    with pytest.raises(dc.DeclarationError, match="between 0 and 1"):
        posterior.quantile(2)
    many = dc.PosteriorSampling(
        dc.ExponentialRate("wait", high=1, bands=25_000, shape=9, outside="usual"), 300, 5, "0.5", power="0.1"
    )
    with pytest.raises(dc.DeclarationError, match="declare fewer levels"):
        dc.infer(dc.Release(many, (1,), "many", simulated=True))


def test_records_that_contradict_their_family_are_read_with_a_warning() -> None:
    """What was charged can be read: half the records at either end is no normal mean, and readers are told so."""
    model = dc.NormalMean("height", low=0, high=10, variance=Fraction(1, 100), bands=20, outside="usual")
    torn = dc.simulate(dc.PosteriorSampling(model, 600, 5000, "0.5"), [300, *[0] * 18, 0, 300], dc.SeededBits(1))
    with pytest.warns(dc.MisfitWarning, match="contradicts the family"):
        posterior = dc.infer(torn)
    assert np.isfinite(posterior.log_evidence)
    assert 4 < posterior.mean["parameter"] < 6


def test_a_normal_prior_on_the_whole_line() -> None:
    release = release_of(HEIGHTS, [2, 1, 2, 1])
    assert dc.infer(release, prior=CertifiedNormal(Fraction(5), Fraction(1, 1000))).mean["parameter"] == pytest.approx(
        5, abs=0.01
    )


def test_the_command_line_reads_a_family(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(release_of(FALLS, [20, 10, 20, 10]).to_json())
    told = json.loads(CliRunner().invoke(main, ["infer", str(path), "--json"], catch_exceptions=False).output)
    posterior: FamilyPosterior = dc.infer(dc.Release.from_json(path.read_text()))
    assert told["rows"][0]["mean"] == pytest.approx(posterior.mean["parameter"])
    shown = CliRunner().invoke(main, ["infer", str(path)])
    assert "Poisson falls" in shown.output
    refused = CliRunner().invoke(main, ["infer", str(path), "--event", "falls=1"])
    assert refused.exit_code != 0
    assert "--event is not available for a family" in refused.output
