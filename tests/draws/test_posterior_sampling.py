"""PosteriorSampling: pinned calibrations, all neighbours compared, exact laws, documents, refusals."""

from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet as dc
from counted_work import calls_of
from discreet._core.exact import exact
from discreet.draws import PosteriorSampling, gaussian_delta
from discreet.draws._loss import two_cell_delta
from discreet.mechanism import Mechanism, with_fields
from discreet.planning import accuracy_curve, solve_for_width
from discreet.privacy import enumerate_neighbours
from discreet.programs.families import ExponentialRate, NormalMean, PoissonRate
from discreet.release import mechanism_document, read_mechanism

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
DIE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 2, 1.5), outside="a")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dc.Mechanism.kinds.newest, "PosteriorSampling", PosteriorSampling)


@pytest.mark.parametrize(
    ("levels", "size", "epsilon", "delta", "digits"),
    [
        (2, 100, "1", "1e-6", 26.9545),
        (2, 1000, "1", "1e-6", 24.4570),
        (3, 100, "1", "1e-6", 37.0541),
        (2, 100, "0.5", "1e-6", 104.399),
        (2, 1000, "0.5", "1e-6", 80.198),
        (5, 10, "0.5", "1e-6", 131.109),
        (2, 100, "2", "1e-5", 7.0058),
        (2, 1000, "2", "1e-5", 6.8659),
        (3, 1000, "2", "1e-5", 9.0444),
    ],
)
def test_the_weakest_prior_for_a_guarantee(levels: int, size: int, epsilon: str, delta: str, digits: float) -> None:
    mechanism = PosteriorSampling.concentrated(
        levels=tuple(range(levels)), outside=0, size=size, epsilon=epsilon, delta=delta
    )
    assert mechanism.concentration == pytest.approx(digits, rel=1e-5)
    assert isinstance(mechanism.model, dc.Categories)
    weaker = mechanism.model.with_prior(mechanism.concentration * (1 - 1e-6))
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        PosteriorSampling(weaker, size, epsilon, delta)


@pytest.mark.parametrize(
    "model",
    [
        PoissonRate("x", 3, 2, 1, outside=3),
        NormalMean("x", 0, 10, 4, outside="usual"),
        ExponentialRate("x", 10, shape=5, rate=5, outside="usual"),
        dc.programs.families.BinomialProbability("x", 4, 2, 3, outside=0),
        dc.programs.families.LaplaceScale("x", 4, bands=4, outside="usual"),
        dc.programs.families.NormalPrecision("x", 4, bands=4, outside="usual"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_weakest_prior_of_a_family_keeps_its_mean_and_the_guarantee(model: Any) -> None:
    found = PosteriorSampling.concentrated(model, size=20, epsilon=1, delta="1e-3")
    assert found.power == 1
    assert found.model == model  # what readers believe is as it was
    ratios = {getattr(found.drawn_under, name) / getattr(model, name) for name in model.strength}
    assert ratios == {found.strength}
    assert 0.999e-3 < found.delta_at(Fraction(1)) <= 1e-3
    (times,) = ratios
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        PosteriorSampling(model.stronger(times * Fraction(999, 1000)), 20, 1, "1e-3")


def test_the_largest_power_for_a_guarantee() -> None:
    mechanism = PosteriorSampling.tempered(COIN, size=100, epsilon="1", delta="1e-6")
    assert float(mechanism.power) == pytest.approx(0.0918305151, abs=1e-10)
    assert two_cell_delta(1, 1, 1, 100, float(mechanism.power)) == pytest.approx(1e-6, rel=1e-8)
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        PosteriorSampling(COIN, 100, 1, "1e-6", power=mechanism.power * Fraction(1000001, 1000000))


def test_a_prior_that_is_concentrated_enough_needs_no_tempering() -> None:
    strong = COIN.with_prior(30)
    assert PosteriorSampling.tempered(strong, size=100, epsilon="1", delta="1e-6").power == 1


@pytest.mark.parametrize("power", ["1", "0.3"])
@pytest.mark.parametrize("prior", [(0.5, 0.5), (1, 3)])
def test_no_pair_of_neighbours_exceeds_the_exact_delta_and_fine_grids_attain_it(
    prior: tuple[float, float], power: str
) -> None:
    size, model = 5, COIN.with_prior(prior)
    exact = two_cell_delta(0.5, *prior, size, float(power))
    mechanism = PosteriorSampling(model, size, "0.5", Fraction(exact) * Fraction(1001, 1000), power=power, grid_bits=11)
    outputs = np.arange(2**11)[:, None]
    found = enumerate_neighbours(mechanism.log_prob, size, 2, outputs).delta_at(0.5)
    assert 0.99 * exact <= found <= exact * (1 + 1e-9)


def test_three_cells_are_as_private_as_their_two_smallest_priors() -> None:
    mechanism = PosteriorSampling(DIE, 3, "1", "0.24", grid_bits=5)
    outputs = np.array([(i, j) for i in range(32) for j in range(32)])
    found = enumerate_neighbours(mechanism.log_prob, 3, 3, outputs)
    exact = mechanism.delta_at(Fraction(1))
    assert 0.9 * exact <= found.delta_at(1) <= exact * (1 + 1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        PosteriorSampling(COIN, 5, 1, "0.5", grid_bits=8),
        PosteriorSampling(COIN, 3, 1, "0.5", draws=2, power="0.5", grid_bits=4),
        PosteriorSampling(DIE, 3, 1, "0.5", grid_bits=4),
        PosteriorSampling(PoissonRate("x", most=2, shape=3, outside=2), 3, 1, "0.5", grid_bits=5),
    ],
    ids=("two cells", "two draws", "three cells", "Poisson"),
)
def test_the_stated_loss_dominates_all_neighbours_at_every_epsilon(mechanism: PosteriorSampling) -> None:
    sticks, unit = mechanism.draws * mechanism.sticks, 2**mechanism.grid_bits
    most = unit if isinstance(mechanism.model, dc.Categories) else 16 * unit
    outputs = np.stack(np.meshgrid(*[np.arange(most)] * sticks), axis=-1).reshape(-1, sticks)
    found = enumerate_neighbours(mechanism.log_prob, mechanism.size, len(mechanism.model.cells), outputs)
    loss = mechanism.privacy_loss()
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        assert found.delta_at(epsilon) <= loss.delta_at(Fraction(epsilon)) + 1e-9


@pytest.mark.parametrize("levels", [2, 3])
def test_truncated_draws_are_pure(levels: int) -> None:
    model = dc.Categories("x", levels=tuple(range(levels)), outside=0)
    mechanism = PosteriorSampling.truncated(model, size=4, epsilon="1.5", least="0.05")
    mechanism = PosteriorSampling(model, 4, "1.5", power=mechanism.power, least="0.05", grid_bits=5)
    grid = np.stack(np.meshgrid(*[np.arange(32)] * (levels - 1)), axis=-1).reshape(-1, levels - 1)
    outputs = grid[mechanism._truncation(mechanism.sticks + 1).holds(grid)]
    found = enumerate_neighbours(mechanism.log_prob, 4, levels, outputs)
    assert found.epsilon <= 1.5 * (1 + 1e-9)
    assert np.exp(found.log_probs).sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_truncation_without_tempering() -> None:
    mechanism = PosteriorSampling.truncated(DIE, size=10, epsilon=1)
    assert mechanism.power == 1
    assert float(mechanism.least) == pytest.approx(1 / (2 + exp(0.5)), rel=1e-10)
    assert mechanism.rho == Fraction(1, 8)
    tempered = PosteriorSampling.truncated(DIE, size=10, epsilon=1, least="0.1", draws=2)
    assert float(tempered.power) == pytest.approx(0.5 / (2 * log(8)), rel=1e-10)
    assert tempered.rho == Fraction(1, 16)


@pytest.mark.parametrize(
    "model",
    [
        PoissonRate("x", most=3, shape=4, outside=3),
        ExponentialRate("x", high=2, bands=3, shape=3, rate=2, outside="usual"),
        NormalMean("x", low=0, high=1, variance=1, bands=3, prior_records=4, outside="usual"),
        dc.programs.families.BinomialProbability("x", trials=2, alpha=4, beta=3, outside=0),
        dc.programs.families.LaplaceScale("x", reach=2, bands=1, shape=3, rate=2, outside="usual"),
        dc.programs.families.NormalPrecision("x", reach=2, bands=2, shape=3, rate=2, outside="usual"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_neighbours_of_a_bounded_family_exceed_its_exact_delta(model: Any) -> None:
    size, bits = 2, 7
    exact = PosteriorSampling(model, size, "0.3", "0.9", grid_bits=bits).delta_at(Fraction(3, 10))
    mechanism = PosteriorSampling(model, size, "0.3", Fraction(exact) * Fraction(1001, 1000), grid_bits=bits)
    reach = np.arange(-6 * 2**bits, 14 * 2**bits)[:, None]
    outputs = reach[reach[:, 0] >= 0] if not isinstance(model, NormalMean) else reach
    outputs = (
        outputs[outputs[:, 0] < 2**bits] if isinstance(model, dc.programs.families.BinomialProbability) else outputs
    )
    found = enumerate_neighbours(mechanism.log_prob, size, len(model.cells), outputs)
    missing = (1 - np.exp(found.log_probs).sum(axis=1)).max()
    assert missing < 1e-4
    assert found.delta_at(0.3) <= exact + missing
    assert found.delta_at(0.3) >= 0.9 * exact


@pytest.mark.parametrize(
    "model", [COIN, DIE, PoissonRate("x", most=2, shape=3, outside=2)], ids=lambda m: type(m).__name__
)
def test_samples_follow_the_stated_likelihood(model: Any) -> None:
    mechanism = PosteriorSampling(model, 5, 1, "0.9", power="0.7", grid_bits=3)
    table = np.zeros(len(model.cells), dtype=np.int64)
    table[:2] = 4, 1
    drawn = mechanism.sample(np.tile(table, (20_000, 1)), dc.SeededBits(7))
    seen, observed = np.unique(drawn, axis=0, return_counts=True)
    expected = np.exp(mechanism.log_prob(seen, table)) * 20_000
    common = expected >= 10
    counts = np.append(observed[common], 20_000 - observed[common].sum())
    wanted = np.append(expected[common], 20_000 - expected[common].sum())
    assert chisquare(counts, wanted).pvalue > 1e-4


def test_drawn_probabilities_follow_the_dirichlet() -> None:
    mechanism, draws = PosteriorSampling(DIE, 10, 1, "0.5"), 500
    drawn = np.stack(
        [mechanism.parameters(z)[0] for z in mechanism.sample(np.tile([6, 3, 1], (draws, 1)), dc.SeededBits(2))]
    )
    assert drawn.sum(axis=1) == pytest.approx(1, abs=1e-12)
    shapes = np.array([7, 5, 2.5])
    mean, total = shapes / shapes.sum(), shapes.sum()
    error = np.sqrt(mean * (1 - mean) / (total + 1) / draws)
    assert (np.abs(drawn.mean(axis=0) - mean) < 4 * error).all()


def test_several_draws_are_composed_and_certified() -> None:
    mechanism = PosteriorSampling.tempered(COIN, size=100, epsilon="1", delta="1e-6", draws=5)
    one = PosteriorSampling.tempered(COIN, size=100, epsilon="1", delta="1e-6")
    assert 0.5 * one.power < mechanism.power < 0.7 * one.power  # about 1/sqrt(5), and some for the tails
    assert mechanism.privacy_loss().delta_at(1) <= 1e-6
    drawn = mechanism.sample(np.array([60, 40]), dc.SeededBits(1))
    assert drawn.shape == (5,)
    alone = PosteriorSampling(COIN, 100, 1, "1e-6", power=mechanism.power)
    logs = alone.log_prob(drawn[:, None], np.array([60, 40]))
    assert mechanism.log_prob(drawn, np.array([60, 40])) == pytest.approx(logs.sum(), rel=1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        PosteriorSampling.tempered(COIN, size=20, epsilon="1", delta="1e-6"),
        PosteriorSampling.concentrated("x", ("a", "b", "c"), size=20, epsilon="1", delta="1e-6"),
        PosteriorSampling.truncated(DIE, size=20, epsilon="1", least="0.1"),
    ],
    ids=("tempered", "concentrated", "truncated"),
)
def test_a_mechanism_survives_the_way_through_its_document(mechanism: PosteriorSampling) -> None:
    assert isinstance(mechanism, Mechanism)
    assert read_mechanism(mechanism_document(mechanism)) == mechanism
    assert mechanism.privacy_loss().delta_at(mechanism.epsilon) <= float(mechanism.delta) + 1e-18
    release = dc.simulate(mechanism, [20] + [0] * (len(mechanism.model.cells) - 1), dc.SeededBits(4))
    assert dc.Release.from_json(release.to_json()).output == release.output


def test_a_document_that_promises_too_much_is_refused() -> None:
    written = mechanism_document(PosteriorSampling.tempered(COIN, size=20, epsilon="1", delta="1e-6"))
    with pytest.raises(dc.DocumentError, match="above the stated"):
        read_mechanism(written | {"power": "0.9"})


def test_secret_statistics_are_not_sampled_outside_publish() -> None:
    mechanism = PosteriorSampling(COIN, 2, 1, "0.5")
    secret = COIN.statistics({"x": ["no", "yes"]})
    with pytest.raises(dc.SecretError):
        mechanism.sample(secret, dc.SeededBits(1))  # type: ignore[arg-type]
    family = PoissonRate("x", most=2, outside=2)
    with pytest.raises(dc.SecretError):
        PosteriorSampling(family, 2, 1, "0.9").sample(family.statistics({"x": [1, 2]}), dc.SeededBits(1))  # type: ignore[arg-type]


def test_nonsense_is_refused_with_words() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"model": "coin"}, "or of a family"),
        ({"size": 0}, "size"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "no pure epsilon"),
        ({"power": 2}, "at most 1"),
        ({"draws": 0}, "draws"),
        ({"grid_bits": 99}, "grid_bits"),
        ({"least": "0.6", "delta": 0}, "below one divided"),
        ({"least": "0.1"}, "leave delta out"),
        ({"least": "0.1", "delta": 0}, "cost epsilon"),
    ]
    right: dict[str, Any] = {"model": COIN, "size": 10, "epsilon": 1, "delta": "0.5"}
    PosteriorSampling(**right)
    for change, words in wrong:
        with pytest.raises(dc.DeclarationError, match=words):
            PosteriorSampling(**right | change)
    with pytest.raises(dc.DeclarationError, match="add up to the public size"):
        PosteriorSampling(**right).sample(np.array([3, 4]), dc.SeededBits(1))


def test_outputs_off_the_grid_are_refused() -> None:
    mechanism = PosteriorSampling(DIE, 10, 1, "0.5", grid_bits=4)
    for output in ([1], [1, 2, 3], [-1, 3], [16, 3]):
        with pytest.raises(dc.DocumentError):
            mechanism.space.check(np.array(output))
    truncated = PosteriorSampling.truncated(DIE, size=10, epsilon=1, least="0.1")
    with pytest.raises(dc.DocumentError, match="below the declared least"):
        truncated.space.check(np.array([0, 2**31]))


@pytest.mark.parametrize(
    ("epsilon", "delta", "draws"),
    [("0.1", "1e-9", 1), ("0.1", "1e-12", 1), ("1", "1e-9", 1), ("1", "1e-12", 1), ("1", "1e-9", 3), ("1", "1e-12", 4)],
)
def test_small_deltas_are_verified(epsilon: str, delta: str, draws: int) -> None:
    mechanism = PosteriorSampling.tempered(COIN, size=50, epsilon=epsilon, delta=delta, draws=draws)
    assert 0.999 * float(delta) < dc.verify(mechanism).delta_at(epsilon) <= Fraction(delta)


@pytest.mark.parametrize(
    "model",
    [
        DIE,
        PoissonRate("x", 3, 20, 20, outside=3),
        NormalMean("x", 0, 10, 4, outside="usual"),
        ExponentialRate("x", 10, shape=5, rate=5, outside="usual"),
        dc.programs.families.BinomialProbability("x", 4, 5, 5, outside=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("delta", ["1e-9", "1e-12"])
def test_small_deltas_are_verified_for_every_kind_of_model(model: Any, delta: str) -> None:
    mechanism = PosteriorSampling.tempered(model, size=50, epsilon="1", delta=delta)
    assert 0.999 * float(delta) < dc.verify(mechanism).delta_at("1") <= Fraction(delta)


@pytest.mark.parametrize(
    ("prior", "size", "draws"),
    [(1, 10**6, 1), ((1e6, 1e6), 100, 1), ((1e5, 1), 100, 1), (1, 100, 200)],
    ids=("a million records", "strong prior", "lopsided prior", "many draws"),
)
def test_large_settings_take_little_work(prior: Any, size: int, draws: int) -> None:
    model = COIN.with_prior(prior)

    def work() -> None:
        dc.verify(PosteriorSampling.tempered(model, size=size, epsilon=1, delta="1e-6", draws=draws))

    assert calls_of(work) < 2_000_000


def test_draws_of_a_normal_mean_are_composed_in_closed_form() -> None:
    model = NormalMean("x", 0, 10, 4, outside="usual")
    mechanism = PosteriorSampling.tempered(model, size=50, epsilon="1", delta="1e-9", draws=4)
    assert calls_of(lambda: dc.verify(mechanism)) < 400_000  # about 90,000 with the search for its power
    assert gaussian_delta(1, 2 * model.gaussian_privacy(50, mechanism.power)) == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("prior", [0.01, 0.002])
def test_weak_priors_can_be_tempered(prior: float) -> None:
    mechanism = PosteriorSampling.tempered(COIN.with_prior(prior), size=100, epsilon=1, delta="1e-6")
    assert two_cell_delta(1, prior, prior, 100, float(mechanism.power)) == pytest.approx(1e-6, rel=1e-8)


@pytest.mark.parametrize(
    ("changed", "digits"), [({"epsilon": 2}, 0.17400761798), ({"size": 50}, 0.0914702179959), ({}, 0.0918305151)]
)
def test_other_facts_mean_another_power(changed: dict[str, Any], digits: float) -> None:
    mechanism = PosteriorSampling.tempered(COIN, size=100, epsilon="1", delta="1e-6", grid_bits=20)
    other: Any = with_fields(mechanism, **changed)
    assert float(other.power) == pytest.approx(digits, rel=1e-8)
    assert other.grid_bits == 20
    assert with_fields(mechanism) == mechanism
    fixed: Any = with_fields(mechanism, epsilon=2, power="0.1", least=0)
    assert fixed.power == Fraction(1, 10)


def test_other_facts_mean_another_truncation() -> None:
    even: Any = with_fields(PosteriorSampling.truncated(COIN, size=10, epsilon=1), epsilon=2)
    assert float(even.least) == pytest.approx(1 / (1 + exp(1)), rel=1e-10)
    named: Any = with_fields(PosteriorSampling.truncated(COIN, size=10, epsilon=1, least="0.1"), epsilon=2)
    assert named.least == Fraction(1, 10)
    assert float(named.power) == pytest.approx(1 / log(9), rel=1e-10)


def test_planning_varies_epsilon_of_draws() -> None:
    mechanism = PosteriorSampling.tempered(COIN, size=100, epsilon="1", delta="1e-6")
    both = [with_fields(mechanism, epsilon=exact(each, "epsilon")) for each in (1, 4)]
    widths = [each.width for each in accuracy_curve(both, studies=10).points]
    assert widths[0] > widths[1] > 0
    found = solve_for_width(mechanism, 0.3)
    assert found is not None
    assert 0.5 < found < 8


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: PosteriorSampling.tempered("x", size=9, epsilon=1, delta="1e-6"), "got a str"),  # type: ignore[arg-type]
        (lambda: PosteriorSampling.truncated(None, size=9, epsilon=1), "got a NoneType"),  # type: ignore[arg-type]
        (
            lambda: PosteriorSampling.truncated(PoissonRate("x", 3, outside=3), size=9, epsilon=1),  # type: ignore[arg-type]
            "for a Categories model",
        ),
        (lambda: PosteriorSampling.truncated(COIN, size=9, epsilon="1e-12"), "so small"),
        (lambda: PosteriorSampling.truncated(COIN, size=9, epsilon=1, least="0.5"), "below one divided"),
        (lambda: PosteriorSampling.tempered(COIN, size=9, epsilon=1, delta=0), "no pure epsilon"),
        (lambda: PosteriorSampling.tempered(COIN, size=9, epsilon=1, delta="1e-6", draws=0), "draws must be"),
        (lambda: PosteriorSampling.tempered(COIN, size=9, epsilon="1e-9", delta="1e-12"), "Raise epsilon or delta"),
        (
            lambda: PosteriorSampling(
                PoissonRate("x", 20_000, 3_000, outside=20_000), 9, 1, "0.9", power="0.01", grid_bits=50
            ),
            "the grid ends at 4096",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(build: Any, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words) as refusal:
        build()
    assert "PosteriorSampling.tempered" not in str(refusal.value)


def test_a_large_epsilon_truncates_at_one_cell_of_the_grid() -> None:
    mechanism = PosteriorSampling.truncated(COIN, size=9, epsilon="2000")
    assert float(mechanism.least) == pytest.approx(2.0**-32, rel=1e-9)
    assert read_mechanism(mechanism_document(mechanism)) == mechanism


def test_a_chance_under_a_prior_too_strong_to_compute_with_is_refused_as_it_is_read() -> None:
    mechanism = PosteriorSampling(
        dc.programs.families.BinomialProbability("x", 5, 10**9, 10**9, outside=0), 100, 1, "1e-6"
    )
    document: dict[str, Any] = mechanism_document(mechanism)
    assert read_mechanism(document) == mechanism
    document["model"]["alpha"] = "100000000000"
    words = "at most 1e[+]09 successes.*alpha = 100000000000 and beta = 1000000000.*Nothing was computed or drawn"
    with pytest.raises(dc.DiscreetError, match=words):
        read_mechanism(document)
    with pytest.raises(dc.DeclarationError, match="Declare a weaker prior"):
        PosteriorSampling.tempered(
            dc.programs.families.BinomialProbability("x", 5, 10**11, 10**11, outside=0),
            size=100,
            epsilon=1,
            delta="1e-6",
        )
