"""The Hellinger exponential mechanisms: the papers' digits, the true guarantees, and what is proved about them."""

from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

import discreet as dc
from discreet.choices import HellingerMechanism
from discreet.choices._adjacent_pairs import compare_neighbours
from discreet.choices._hellinger_mechanism import promised_loss
from discreet.choices._hellinger_sensitivity import normaliser_bound
from discreet.choices._pair_bound import rounded_up
from discreet.privacy import pure_rho
from discreet_papers.as_published import HellingerLocal
from discreet_papers.as_published.hellinger_table import HellingerTable
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth, HellingerSmoothProved


def model_of(*prior: float) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abcdef"[: len(prior)]), prior=prior, outside="a")


COIN = model_of(1, 1)


def expected_distance(mechanism: HellingerMechanism, *counts: int) -> float:
    table = np.array(counts)
    law = np.exp(mechanism.log_prob(mechanism.tables.all, table))
    return float(law @ mechanism.tables.distances(table[None])[0])


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(90, 0.425352581839), (100, 0.423095735235), (120, 0.422087625504), (150, 0.419255524050), (180, 0.417985117395)],
)
def test_the_exact_epsilons_of_figure_11(size: int, wanted: float) -> None:
    mechanism = HellingerSmooth(COIN, size, "0.8", "5e-4")
    found = mechanism.neighbours()
    assert found.losses.max() == pytest.approx(wanted, abs=6e-13)
    assert wanted <= found.epsilon <= wanted + 1e-10
    assert mechanism.guarantee.epsilon == rounded_up(wanted)
    assert mechanism.guarantee.delta == 0
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.ENUMERATED


def test_the_global_mechanism_gives_about_half_of_what_it_costs() -> None:
    mechanism = HellingerGlobal(COIN, 100, "0.8")
    assert float(mechanism.guarantee.epsilon) == pytest.approx(0.423096, abs=1e-9)
    assert mechanism.claim.epsilon == Fraction("0.8")
    assert mechanism.claim.evidence is dc.privacy.Evidence.CLAIMED


def test_eight_records_to_all_digits() -> None:
    mechanism = HellingerSmooth(COIN, 8, 1, "1e-8")
    law = np.exp(mechanism.log_prob(mechanism.tables.all, np.array([4, 4])))
    wanted = [0.060227933604864145, 0.0783459768540012846, 0.106503425805398286, 0.149074147094715712]
    assert law == pytest.approx([*wanted, 0.211697033282041144, *wanted[::-1]], rel=1e-13)
    normalisers = np.exp(mechanism.log_normalisers(np.array([[4, 4], [0, 8]])))
    assert normalisers == pytest.approx([4.72373176183207673, 3.76462066580138905], rel=1e-13)
    assert expected_distance(mechanism, 4, 4) == pytest.approx(0.37175964608589376, rel=1e-13)
    found = mechanism.neighbours()
    assert found.losses.max() == pytest.approx(0.639111544372349494, rel=1e-13)
    assert found.worst_pair == ((0, 8), (1, 7))


@pytest.mark.parametrize(
    ("prior", "size", "distance", "pure"),
    [
        ((1, 1), 20, 0.456819278799609426, 0.600686291934086887),
        ((7, 4), 20, 0.300639327168648446, 0.677251946565793917),
        ((0.5, 0.5), 20, None, 0.580842583254867182),
        ((1, 1), 100, 0.348103779044, 0.531410968153),
        ((1, 1), 400, 0.068972100053, 0.512064233252),
        ((1, 1), 1000, 0.043161881564, 0.528096939114),
    ],
)
def test_accuracy_and_exact_epsilon_of_the_published_mechanism(
    prior: tuple[float, float], size: int, distance: float | None, pure: float
) -> None:
    mechanism = HellingerSmooth(model_of(*prior), size, 1, "1e-8")
    assert mechanism.neighbours().losses.max() == pytest.approx(pure, abs=6e-13)
    if distance is not None:
        assert expected_distance(mechanism, size // 2, size // 2) == pytest.approx(distance, abs=6e-13)


def test_table_one_of_the_later_notes() -> None:
    table = HellingerTable(COIN, 8, "0.8")
    law = np.exp(table.log_prob(table.tables.all, np.array([4, 4])))
    by_steps = [law[4], *(law[4 - k] + law[4 + k] for k in range(1, 5))]
    wanted = [0.37924298484, 0.340809715054, 0.158265808563, 0.0785621424847, 0.0431193490585]
    assert by_steps == pytest.approx(wanted, abs=6e-12)


def test_the_exponent_of_the_tables_breaks_its_promise() -> None:
    for size in (5, 10, 50):
        assert HellingerTable(COIN, size, 1).neighbours().losses.max() > 1
    assert HellingerTable(COIN, 10, 1).guarantee.evidence is dc.privacy.Evidence.CLAIMED


def test_smooth_sensitivity_without_the_half_is_not_private_either() -> None:
    smooth = HellingerSmooth(COIN, 8, 1, "1e-8")
    found = compare_neighbours(smooth.model.concentration, 8, lambda t: 2 * smooth.scales(t), 1e-13, (1.0,))
    assert found.losses.max() == pytest.approx(1.21855524597214473, rel=1e-13)
    assert found.delta(0) == pytest.approx(0.0951655956031669024, abs=1e-10)


@pytest.mark.parametrize(
    ("prior", "size", "epsilon", "wanted", "digits"),
    [
        ((1e-4, 1), 60, "1", 1.00028731405000, 1e-13),
        ((1e-3, 1000), 100, "0.1", 0.108589040156915, 1e-13),
        ((0.5, 0.5), 20, "1", 0.648220245561411386, 1e-13),
        ((20, 20, 20), 80, "0.1", 0.166, 2e-3),
        ((7, 4, 5), 80, "0.1", 0.1044181503750, 1e-12),
    ],
)
def test_the_local_sensitivity_keeps_no_promise(
    prior: tuple[float, ...], size: int, epsilon: str, wanted: float, digits: float
) -> None:
    mechanism = HellingerLocal(model_of(*prior), size, epsilon)
    found = mechanism.neighbours()
    assert found.losses.max() == pytest.approx(wanted, abs=digits)
    assert mechanism.guarantee.evidence is dc.privacy.Evidence.CLAIMED
    assert found.losses.max() <= mechanism.proved_pure_epsilon()


def random_model(generator: np.random.Generator) -> tuple[dc.Categories, int, str]:
    cells = int(generator.integers(2, 4))
    prior = 10 ** generator.uniform(-2, 2.5, cells)
    if generator.random() < 0.5:
        prior[:] = prior[0]
    return (
        model_of(*prior),
        int(generator.integers(1, 40 if cells == 2 else 9)),
        f"{10 ** generator.uniform(-1.5, 1):.3f}",
    )


def test_what_is_proved_about_smooth_sensitivity_holds_by_enumeration() -> None:
    """(epsilon0 + (e^gamma - 1) ln(|R|/delta), delta) for every delta, and the pure bound beside it."""
    generator = np.random.default_rng(13)
    for number in range(60):
        model, size, epsilon = random_model(generator)
        delta = f"{10 ** generator.uniform(-9, -0.5):.3g}"
        kind = (HellingerSmooth, HellingerSmoothProved)[number % 2]
        mechanism = kind(model, size, epsilon, delta)
        found = mechanism.neighbours((float(mechanism.proved_epsilon()),))
        assert found.delta(0) <= float(mechanism.delta)
        assert found.losses.max() <= float(mechanism.proved_pure_epsilon())
        assert mechanism.guarantee.delta in (0, mechanism.delta)


def test_the_reciprocal_mechanism_is_pure_by_enumeration() -> None:
    generator = np.random.default_rng(14)
    for _ in range(60):
        model, size, epsilon = random_model(generator)
        mechanism = HellingerReciprocal(model, size, epsilon, f"{10 ** generator.uniform(-2, 1):.3g}")
        assert mechanism.neighbours().losses.max() <= float(epsilon)
        inverses = 1 / mechanism.sensitivities(mechanism.tables.all)
        neighbours = mechanism.neighbours()
        first, second = (mechanism.tables.indices(rows) for rows in (neighbours.first, neighbours.second))
        assert np.abs(inverses[first] - inverses[second]).max() <= float(mechanism.lipschitz) * (1 + 1e-9) + 1e-9


def test_published_smooth_constants_are_below_three_halves() -> None:
    for size, epsilon, delta in ((10, "1", "1e-8"), (500, "0.1", "0.05"), (100, "2", "5e-4")):
        mechanism = HellingerSmooth(COIN, size, epsilon, delta)
        assert mechanism.epsilon < mechanism.proved_epsilon() < Fraction(3, 2) * mechanism.epsilon


def test_too_many_tables_to_enumerate_leave_what_is_proved() -> None:
    model = model_of(1, 1, 1, 1)
    smooth = HellingerSmooth(model, 60, 1, "1e-6")
    proved = HellingerSmoothProved(model, 60, 1, "1e-6")
    assert Fraction(1, 2) < HellingerGlobal(model, 60, 1).guarantee.epsilon < 1
    assert HellingerReciprocal(model, 60, 1).guarantee.epsilon == 1
    for mechanism in (smooth, proved):
        guarantee = mechanism.guarantee
        assert guarantee.evidence is dc.privacy.Evidence.PROVED
        assert mechanism.privacy_loss().delta_at(guarantee.epsilon) <= float(guarantee.delta) * (1 + 1e-9) + 1e-15
        assert mechanism.rho == pure_rho(mechanism.pure_epsilon)
    assert proved.guarantee.epsilon <= 1
    assert smooth.guarantee.epsilon <= Fraction(3, 2)


def test_a_promised_loss_holds_both_promises() -> None:
    loss = promised_loss(Fraction(2), Fraction(1), Fraction("1e-3"))
    assert 0 < loss.delta_at(1) <= 1e-3 * (1 + 1e-9)
    assert loss.delta_at(0) == pytest.approx((np.e - 1 + 2e-3) / (np.e + 1), rel=1e-12)
    assert loss.epsilon == 2
    assert promised_loss(Fraction(1), Fraction(1), Fraction(0)).delta_at(0) == pytest.approx(np.tanh(0.5), rel=1e-12)


@pytest.mark.parametrize(("prior", "size"), [((1, 1), 50), ((0.3, 5), 30), ((1, 1, 1), 12), ((7, 4, 5), 10)])
def test_no_normaliser_is_below_its_bound(prior: tuple[float, ...], size: int) -> None:
    mechanism = HellingerSmooth(model_of(*prior), size, 1, "1e-8")
    with ctx.workprec(64):
        gamma = float(mechanism.gamma())
    least = float(mechanism.sensitivities(mechanism.tables.all).min())
    found = np.exp(mechanism.log_normalisers(mechanism.tables.all))
    plain = normaliser_bound(1, gamma, size, len(prior))
    capped = normaliser_bound(1, gamma, size, len(prior), least)
    assert plain <= capped <= found.min()
    assert found.min() < 3 * capped


@pytest.mark.parametrize("kind", [HellingerSmooth, HellingerSmoothProved])
def test_smooth_mechanisms_need_a_delta(kind: type[HellingerSmooth]) -> None:
    with pytest.raises(dc.DeclarationError, match="delta above 0"):
        kind(COIN, 10, 1, 0)


def test_too_many_candidates_are_refused_before_anything_is_charged() -> None:
    for cells, size in ((4, 10**12), (101, 10), (1_000, 1_000)):
        model = dc.Categories("x", levels=tuple(range(cells)), outside=0)
        with pytest.raises(dc.DeclarationError, match="more candidate posteriors"):
            HellingerGlobal(model, size, 1)
    assert HellingerGlobal(model_of(1, 1, 1, 1), 100, 1).candidates == 176_851
    assert HellingerGlobal(model_of(1, 1, 1, 1), 600, 1).candidates == 36_361_101


def test_likelihoods_of_many_tables_are_those_of_one_at_a_time() -> None:
    for prior, size in (((1, 1), 60), ((2, 2, 2), 11), ((0.5, 3, 0.5, 1), 6)):
        mechanism = HellingerSmooth(model_of(*prior), size, 1, "1e-6")
        output = mechanism.tables.all[len(mechanism.tables.all) // 3]
        together = mechanism.log_prob(output, mechanism.tables.all)
        fresh = HellingerSmooth(model_of(*prior), size, 1, "1e-6")
        one_by_one = [float(fresh.log_prob(output, table)) for table in mechanism.tables.all[::5]]
        assert together[::5] == pytest.approx(one_by_one, abs=1e-12)
    assert mechanism.log_prob(output + 1, mechanism.tables.all[0]) == -np.inf


@pytest.mark.parametrize("counts", [(3, 8), (-1, 11)])
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int]) -> None:
    mechanism = HellingerGlobal(COIN, 10, 1)
    with pytest.raises(dc.DeclarationError, match=r"add up to the public size 10|>= 0"):
        mechanism.sample(np.array(counts), dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="add up to the public size 10"):
        mechanism.log_prob(np.array([3, 7]), np.array(counts))
