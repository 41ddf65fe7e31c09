"""Expected accuracy as exact sums: the papers' and the specification's digits, and slow twins that sum by hand."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, digamma, gammaln
from scipy.stats import binom

import discreet as dc
from discreet.choices import HellingerCalibrated, PermuteAndFlip
from discreet.draws import PosteriorSampling
from discreet.mathematics import kullback_leibler
from discreet.mathematics._divergences import hellinger
from discreet.mathematics.distributions._dirichlet import BetaMixture
from discreet.mechanism import with_fields
from discreet.privacy import compositions
from discreet.records import Statistics
from discreet.tables._plug_in import plain_counts
from discreet_papers import as_published
from discreet_papers.as_published.published_laplace import ClampedLaplace, RoundedLaplace
from discreet_papers.exact_sums.accuracy import accuracy
from discreet_papers.exact_sums.beta_quantiles import mixture_quantiles
from discreet_papers.exact_sums.exact_accuracy import (
    possible_outputs,
)
from discreet_papers.exact_sums.simulated_accuracy import simulated_accuracy
from uncalibrated_hellinger import HellingerGlobal, HellingerSmooth

COIN, DIE = (dc.Categories("x", levels=levels, outside=levels[0]) for levels in (("no", "yes"), ("a", "b", "c")))


@pytest.fixture(autouse=True)
def _little_information_is_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        yield


def smooth_calibrated(size: int) -> HellingerCalibrated:
    gamma = float(HellingerSmooth(COIN, size, 1, "1e-8").gamma().mid())
    return HellingerCalibrated(COIN, size, 1, "1e-8", smoothing=f"{gamma:.9g}")


@pytest.mark.parametrize(
    ("size", "centre", "mean", "worst"),
    [
        (10, 0.17313528347150, 0.17460644957183, 0.19647812053624),
        (20, 0.12746147705278, 0.14766441936085, None),
        (100, 0.05941652441310, 0.08170678141647, 0.18317402234701),
    ],
)
def test_the_clamped_geometric_has_the_golden_distances(
    size: int, centre: float, mean: float, worst: float | None
) -> None:
    found = accuracy(dc.GeometricHistogram(COIN, size, 1))
    assert found.hellinger_at((size // 2, size // 2)) == pytest.approx(centre, abs=1e-13)
    assert found.hellinger == pytest.approx(mean, abs=1e-13)
    assert worst is None or found.worst_hellinger == pytest.approx(worst, abs=1e-13)
    assert found.remapped_hellinger is not None
    assert found.remapped_hellinger <= found.hellinger + 1e-14


@pytest.mark.parametrize(
    ("kind", "size", "centre", "mean", "worst"),
    [
        ("smooth", 10, 0.3946, 0.4605, 0.5780), ("smooth", 50, 0.4804, 0.6108, 0.8580),
        ("smooth", 100, 0.3481, 0.5992, 0.9222), ("smooth", 400, 0.0690, 0.3074, 0.9790),
        ("calibrated", 10, 0.3197, 0.3672, 0.4468), ("calibrated", 50, 0.2856, 0.4340, 0.7262),
        ("calibrated", 100, 0.1425, 0.3713, 0.8219),
        ("local", 10, 0.2328, 0.3190, 0.4468), ("local", 50, 0.1264, 0.2414, 0.7720),
        ("local", 100, 0.1079, 0.2198, 0.8962),
        ("global", 10, 0.4059, 0.4648, 0.5780), ("global", 50, 0.6022, 0.6638, 0.8580),
        ("global", 100, 0.6816, 0.7359, 0.9222), ("global", 400, 0.8112, 0.8473, 0.9790),
        ("geometric", 50, 0.0831, 0.1080, 0.1846), ("geometric", 400, 0.0300, 0.0441, 0.1821),
        ("flip", 10, 0.3923, None, None), ("flip", 50, 0.5975, None, None), ("flip", 100, 0.6791, None, None),
        ("Laplace 1", 10, 0.1952, 0.1969, None), ("Laplace 1", 50, 0.0937, 0.1218, None),
        ("Laplace 1", 100, 0.0670, 0.0921, None), ("Laplace 1", 400, 0.0338, 0.0497, None),
        ("Laplace 2", 10, 0.3558, 0.3302, None), ("Laplace 2", 50, 0.1864, 0.2291, None),
        ("Laplace 2", 100, 0.1355, 0.1783, None), ("Laplace 2", 400, 0.0694, 0.0995, None),
    ],
)  # fmt: skip
def test_the_table_of_distances_is_reproduced(
    kind: str, size: int, centre: float, mean: float | None, worst: float | None
) -> None:
    """Prior (1, 1), epsilon = 1, delta = 1e-8, four digits; smoothing 100 leaves the local sensitivity alone."""
    makers: dict[str, Any] = {
        "smooth": lambda: HellingerSmooth(COIN, size, 1, "1e-8"),
        "calibrated": lambda: smooth_calibrated(size),
        "local": lambda: HellingerCalibrated(COIN, size, 1, "1e-8", smoothing=100),
        "global": lambda: HellingerGlobal(COIN, size, 1),
        "geometric": lambda: dc.GeometricHistogram(COIN, size, 1),
        "flip": lambda: PermuteAndFlip(COIN, size, 1, "0.5"),
        "Laplace 1": lambda: RoundedLaplace(COIN, size, 1, 1, 1),
        "Laplace 2": lambda: RoundedLaplace(COIN, size, 1, 2, 1),
    }
    found = accuracy(makers[kind]())
    assert found.hellinger_at((size // 2, size // 2)) == pytest.approx(centre, abs=6e-5)
    assert mean is None or found.hellinger == pytest.approx(mean, abs=6e-5)
    assert worst is None or found.worst_hellinger == pytest.approx(worst, abs=6e-5)


@pytest.mark.parametrize(
    ("size", "epsilon", "covered", "widths", "scores"),
    [
        (20, "0.1", 0.347, (0.220, 0.839, 0.277), (-6.12, 0.108, 1.147)),
        (20, "0.5", 0.710, (0.271, 0.444, 0.277), (0.236, 0.688, 1.147)),
        (20, "1", 0.827, (0.275, 0.333, 0.277), (0.886, 0.953, 1.147)),
        (100, "0.1", 0.450, (0.122, 0.399, 0.128), (-3.37, 0.811, 1.900)),
        (100, "0.5", 0.817, (0.128, 0.155, 0.128), (1.582, 1.682, 1.900)),
        (100, "1", 0.875, (0.128, 0.135, 0.128), (1.816, 1.829, 1.900)),
        (1000, "0.5", 0.885, (0.041, 0.042, 0.041), (2.987, 2.996, 3.037)),
    ],
)
def test_coverage_width_and_log_score_are_those_of_exact_summation(
    size: int, epsilon: str, covered: float, widths: tuple[float, ...], scores: tuple[float, ...]
) -> None:
    found = accuracy(dc.GeometricHistogram(COIN.with_prior(1), size, epsilon))
    assert found.plain_coverage == pytest.approx(covered, abs=6e-4)
    assert (found.plain_width, found.width, found.non_private_width) == pytest.approx(widths, abs=6e-4)
    reached = (found.plain_log_score, found.log_score, found.non_private_log_score)
    assert reached == pytest.approx(scores, abs=6e-3 if scores[0] < 0 else 6e-4)


@pytest.mark.parametrize(
    ("size", "epsilon", "covered", "widths", "scores"),
    [
        (20, 1, 0.435, (0.282, 0.880), (-5.69, 0.079)),
        (100, 1, 0.258, (0.130, 0.891), (-38.2, 0.079)),
        (1000, 1, 0.100, (0.041, 0.898), (-459.088, 0.041)),
        (1000, "0.1", 0.045, (0.041, 0.900), (-494.347, 0.000)),
    ],
)
def test_the_global_hellinger_mechanism_tells_almost_nothing(
    size: int, epsilon: Any, covered: float, widths: tuple[float, ...], scores: tuple[float, ...]
) -> None:
    """A density floored at 1e-300 would give -283 and -309 for the plain log scores of 1000 records."""
    mechanism: Any = HellingerGlobal(COIN.with_prior(1), size, epsilon)
    found = accuracy(mechanism)
    assert found.plain_coverage == pytest.approx(covered, abs=6e-4)
    assert (found.plain_width, found.width) == pytest.approx(widths, abs=6e-4)
    assert (found.plain_log_score, found.log_score) == pytest.approx(scores, abs=5e-2)


def test_three_cells_have_the_golden_remapped_distance() -> None:
    found = accuracy(dc.GeometricHistogram(DIE, 10, 1))
    assert found.remapped_hellinger == pytest.approx(0.358341, abs=1e-6)
    assert found.log_score < found.non_private_log_score
    assert found.errors == {}


@pytest.mark.parametrize(
    "mechanism",
    [
        dc.GeometricHistogram(COIN, 4, 1),
        dc.tables.DiscreteLaplaceCounts(dc.Categories("x", levels=(0, 1), prior=(0.5, 2), outside=0), 3, 2),
        RoundedLaplace(DIE, 3, 2, 2, 2),
        ClampedLaplace(DIE, 3, 2, 2, 3),
        HellingerSmooth(DIE, 4, 1, "0.01"),
        PermuteAndFlip(COIN, 5, 1),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_distances_and_divergences_are_plain_sums(mechanism: Any) -> None:
    """The slow twin: every table, every output, every distance one by one."""
    model, size = mechanism.model, mechanism.size
    outputs = possible_outputs(mechanism)
    assert outputs is not None
    sums = np.zeros(2)
    for table in map(np.array, compositions(size, len(model.cells))):
        laws = np.exp(mechanism.log_prob(outputs, table))
        assert laws.sum() == pytest.approx(1, abs=1e-12)
        likely = laws > 1e-7  # what is left out is below 1e-3 in all
        for output, chance in zip(outputs[likely], laws[likely], strict=True):
            release = dc.Release(mechanism, tuple(int(value) for value in output), "twin", simulated=True)
            plain, true = as_published.plug_in(release), model.posterior(table)
            each = np.array(
                [
                    hellinger(true, plain),
                    kullback_leibler(true, plain),
                ]
            )
            sums += float(np.exp(model.log_evidence(table))) * chance * each
    found = accuracy(mechanism)
    assert (found.hellinger, found.divergence) == pytest.approx(tuple(sums), rel=2e-3)


def test_the_log_score_is_the_mutual_information_by_quadrature() -> None:
    """The slow twin: adaptive integration over theta of sum_z P(z | theta) ln P(z | theta)/P(z), prior (0.5, 2)."""
    model = dc.Categories("x", levels=(0, 1), prior=(0.5, 2), outside=0)
    mechanism = dc.GeometricHistogram(model, 6, 1)
    outputs, counts = possible_outputs(mechanism), np.arange(7)
    assert outputs is not None
    tables = np.column_stack([counts, 6 - counts])
    laws = np.exp(np.stack([mechanism.log_prob(outputs, table) for table in tables]))
    evidence = np.exp(model.log_evidence(tables)) @ laws
    prior = model.posterior(np.zeros(2, dtype=np.int64)).marginal(0)

    def integrand(root: float) -> float:
        theta = root**2  # takes the singularity of the prior at 0 away
        given = binom.pmf(counts, 6, theta) @ laws
        return float(given @ np.log(given / evidence) * np.exp(prior.log_density(theta)) * 2 * root)

    assert accuracy(mechanism).log_score == pytest.approx(quad(integrand, 0, 1, epsabs=1e-11)[0], abs=1e-9)


@pytest.mark.parametrize(("model", "size"), [(COIN, 12), (DIE, 3)])
def test_widths_and_coverage_are_those_of_the_readings(model: dc.Categories, size: int) -> None:
    """The slow twin: `infer` and `plug_in` for every output that is not improbable."""
    model = model.with_prior(1)
    mechanism = dc.GeometricHistogram(model, size, 6)
    outputs, cells = possible_outputs(mechanism), len(model.cells)
    assert outputs is not None
    tables = np.array(list(compositions(size, cells)))
    joint = np.exp(np.stack([mechanism.log_prob(outputs, t) for t in tables]) + model.log_evidence(tables)[:, None])
    plain = aware = covered = honest = 0.0
    for place in np.flatnonzero(joint.sum(axis=0) > 1e-7):
        release = dc.Release(mechanism, tuple(int(value) for value in outputs[place]), "twin", simulated=True)
        posterior, naive = dc.infer(release), as_published.plug_in(release)
        for cell in range(cells):
            a, b = 1.0 + tables[:, cell], cells - 1.0 + size - tables[:, cell]
            one, two = posterior.probability(model.cells[cell]).interval(0.9), naive.marginal(cell).interval(0.9)
            chance = joint[:, place].sum() / cells
            plain, aware = plain + chance * two.width, aware + chance * one.width
            honest += float(joint[:, place] @ (betainc(a, b, one.high) - betainc(a, b, one.low))) / cells
            covered += float(joint[:, place] @ (betainc(a, b, two.high) - betainc(a, b, two.low))) / cells
    found = accuracy(mechanism)
    assert (found.plain_width, found.width) == pytest.approx((plain, aware), abs=1e-5)
    assert found.plain_coverage == pytest.approx(covered, abs=1e-5)
    assert honest == pytest.approx(0.9, abs=1e-5)


@pytest.mark.parametrize(("smallest", "total"), [(1.0, 40), (0.05, 11), (3.0, 900)])
def test_quantiles_of_many_mixtures_are_those_of_each(smallest: float, total: int) -> None:
    generator = np.random.default_rng(4)
    a = smallest + np.arange(total + 1.0)
    b = smallest + total - np.arange(total + 1.0)
    weights = generator.dirichlet(np.full(total + 1, 0.05), size=25)
    found = mixture_quantiles(weights, a, b, (0.05, 0.95))
    for row, quantiles in zip(weights, found, strict=True):
        law = BetaMixture(row, a, b)
        inside = (quantiles > 1e-15) & (quantiles < 1 - 1e-15)  # beyond, quantiles are 0 or 1 to all digits
        assert law.cdf(quantiles[inside]) == pytest.approx(np.array([0.05, 0.95])[inside], abs=1e-5)
        assert quantiles == pytest.approx(law.quantile([0.05, 0.95]), abs=1e-5)


@pytest.mark.parametrize(
    "mechanism",
    [dc.GeometricHistogram(COIN, 60, "0.5"), dc.GeometricHistogram(DIE, 8, 1), HellingerSmooth(COIN, 50, 1, "1e-8")],
    ids=["two cells", "three cells", "by enumeration"],
)
def test_simulation_agrees_with_exact_sums_within_its_stated_error(mechanism: Any) -> None:
    """For figures with light tails; the plain reading's divergence and coverage are tested with many studies below."""
    exact, simulated = accuracy(mechanism), simulated_accuracy(mechanism, 0.9, repeats=100, seed=7)
    for name in ("hellinger", "log_score", "non_private_log_score", "width", "plain_width", "non_private_width"):
        wanted, error = getattr(exact, name), simulated.errors[name]
        assert getattr(simulated, name) == pytest.approx(wanted, abs=4 * error + 1e-4), name
    assert simulated.worst_hellinger is None
    with pytest.raises(dc.DeclarationError, match="for 0 tables"):
        simulated.hellinger_at((1, 2))


@pytest.mark.parametrize(("model", "size", "epsilon"), [(COIN, 60, "0.5"), (DIE, 8, "1")])
def test_the_heavy_tailed_divergence_is_the_mean_of_many_studies(model: dc.Categories, size: int, epsilon: str) -> None:
    """30,000 studies, seed 11: E[KL] within 4 standard errors. A hundred studies have an error that is itself rough."""
    mechanism, studies = dc.GeometricHistogram(model, size, epsilon), 30_000
    generator = np.random.default_rng(11)
    tables = generator.multinomial(size, generator.dirichlet(model.concentration, size=studies))
    plain = 1 + plain_counts(mechanism, mechanism.sample(tables, dc.SeededBits(11)))
    true = 1.0 + tables
    found = (gammaln(plain) - gammaln(true) + (true - plain) * digamma(true)).sum(axis=1)
    error = found.std() / np.sqrt(studies)
    assert accuracy(mechanism).divergence == pytest.approx(found.mean(), abs=4 * error)


def test_large_tables_are_simulated() -> None:
    ten = dc.Categories("x", levels=tuple(range(10)), outside=0)
    found = accuracy(dc.GeometricHistogram(ten, 5000, 1), repeats=4)
    assert found.errors["log_score"] > 0
    assert 0.5 < found.share < 1.5
    assert found.width > found.non_private_width * 0.99


def test_a_drawn_proportion_is_read_too() -> None:
    """A coarse grid loses nothing that counts; pure truncated draws tell less than a histogram."""
    draw = PosteriorSampling.tempered(COIN, size=40, epsilon=1, delta="1e-6")
    fine, coarse = (accuracy(with_fields(draw, grid_bits=bits)) for bits in (9, 7))
    assert fine.log_score == pytest.approx(coarse.log_score, abs=2e-3)
    assert fine.log_score < accuracy(dc.GeometricHistogram(COIN, 40, 1)).log_score
    assert plain_counts(draw, np.array([[2**31]])) == pytest.approx(np.array([[20.0, 20.0]]))


def test_a_document_holds_all_figures() -> None:
    document = accuracy(dc.GeometricHistogram(COIN, 10, 1)).document()
    assert document["log_score"] == pytest.approx(0.598349, abs=1e-6)
    assert "by_table" not in document
    assert document["errors"] == {}


def test_nonsense_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="level"):
        accuracy(dc.GeometricHistogram(COIN, 10, 1), level=1.0)
    with pytest.raises(dc.DeclarationError, match="of a mechanism"):
        accuracy(type("Other", (), {"model": Statistics, "size": 3})())
