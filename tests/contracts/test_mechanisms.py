"""The suite that every mechanism must pass. A new mechanism joins by being added to MECHANISMS."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet as dc
from discreet.certificates import compositions, enumerate_neighbours
from discreet.mechanisms import NoisyCounts
from discreet.releases.document import MECHANISMS as DOCUMENTED
from discreet.releases.document import mechanism_document, read_mechanism

PURE: tuple[type[NoisyCounts], ...] = (dc.GeometricHistogram, dc.DiscreteLaplaceCounts)
GAUSSIAN: tuple[type[NoisyCounts], ...] = (dc.DiscreteGaussianHistogram, dc.DiscreteGaussianCounts)
KINDS = PURE + GAUSSIAN
IN_OTHER_SUITES = {kind for kind in DOCUMENTED if not issubclass(DOCUMENTED[kind], NoisyCounts)}
SETTINGS = [(2, 1, "0.3"), (2, 6, "1"), (2, 6, "2.5"), (3, 3, "0.7"), (3, 4, "1/3"), (4, 2, "1")]


def mechanism_of(kind: type[NoisyCounts], levels: int, size: int, epsilon: str) -> NoisyCounts:
    made: Any = kind
    extra = {"delta": "0.01"} if kind in GAUSSIAN else {}
    mechanism: NoisyCounts = made(
        dc.Categories("x", levels=tuple("abcd"[:levels])), size=size, epsilon=epsilon, **extra
    )
    return mechanism


def settings_of(kinds: tuple[type[NoisyCounts], ...]) -> list[Any]:
    return [
        pytest.param(mechanism_of(kind, *setting), id=f"{kind.__name__}-{setting}")
        for kind in kinds
        for setting in SETTINGS
    ]


MECHANISMS = settings_of(KINDS)


def test_every_mechanism_that_a_document_may_name_is_in_this_suite() -> None:
    assert {kind.__name__ for kind in KINDS} | IN_OTHER_SUITES == set(DOCUMENTED)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_probabilities_sum_to_one_for_every_data_set(mechanism: NoisyCounts) -> None:
    margin = int(np.ceil(40 / float(mechanism.epsilon))) if len(mechanism.model.cells) == 2 else 12
    outputs = mechanism.outputs_near(margin)
    far = np.arange(margin + 1, margin + 4000)
    missing = 4 * len(mechanism.model.cells) * np.exp(mechanism.log_kernel(far)).sum()
    for table in list(compositions(mechanism.size, len(mechanism.model.cells)))[::3]:
        total = np.exp(mechanism.log_likelihood(outputs, np.array(table))).sum()
        assert 1 - missing - 1e-12 <= total <= 1 + 1e-12


@pytest.mark.parametrize("mechanism", settings_of(PURE))
def test_no_output_reveals_more_than_the_promised_epsilon(mechanism: NoisyCounts) -> None:
    found = enumerate_neighbours(
        mechanism.log_likelihood, mechanism.size, len(mechanism.model.cells), mechanism.outputs_near(3)
    )
    assert found.epsilon <= float(mechanism.guarantee.epsilon) * (1 + 1e-12)
    assert found.epsilon >= float(mechanism.guarantee.epsilon) * (1 - 1e-12)  # no noise is wasted


@pytest.mark.parametrize("mechanism", [*settings_of(GAUSSIAN[:1])[:-1], *settings_of(GAUSSIAN[1:])[:-1]])
def test_the_delta_found_by_enumeration_is_at_most_the_stated_one_and_hardly_less(mechanism: NoisyCounts) -> None:
    margin = int(np.ceil(40 * mechanism.reach))
    found = enumerate_neighbours(
        mechanism.log_likelihood, mechanism.size, len(mechanism.model.cells), mechanism.outputs_near(margin)
    )
    delta = float(mechanism.guarantee.delta)
    assert found.delta_at(float(mechanism.guarantee.epsilon)) <= delta * (1 + 1e-9)
    assert found.delta_at(float(mechanism.guarantee.epsilon)) >= delta * (1 - 1e-4)  # no noise is wasted


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_order_of_the_renyi_divergence_exceeds_the_stated_rho(mechanism: NoisyCounts) -> None:
    loss = mechanism.privacy_loss()
    values, chances = np.array([float(each) for each in loss.losses]), np.array(loss.probabilities)
    kept, chances = chances > 1e-30, chances / chances.sum()
    for order in (1.001, 1.5, 2.0, 4.0, 16.0):
        divergence = np.log(np.exp((order - 1) * values[kept]) @ chances[kept]) / (order - 1)
        assert divergence <= order * float(mechanism.rho) * (1 + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("levels", "size", "epsilon", "margin"), [(2, 1, "0.3", 130), (2, 5, "2", 30), (3, 2, "4", 14)]
)
@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 1.0])
def test_the_exact_delta_is_what_enumeration_finds(
    kind: type[NoisyCounts], levels: int, size: int, epsilon: str, margin: int, share: float
) -> None:
    mechanism = mechanism_of(kind, levels, size, epsilon)
    found = enumerate_neighbours(mechanism.log_likelihood, size, levels, mechanism.outputs_near(margin))
    allowed = share * float(mechanism.epsilon)
    assert mechanism.privacy_loss().delta_at(allowed) == pytest.approx(found.delta_at(allowed), abs=1e-7)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_losses_of_samples_follow_the_exact_privacy_loss(mechanism: NoisyCounts) -> None:
    cells, draws = len(mechanism.model.cells), 40_000
    first, second = np.zeros((2, cells), dtype=np.int64)
    first[0] = mechanism.size
    second[:2] = mechanism.size - 1, 1
    outputs = mechanism.sample(np.tile(first, (draws, 1)), dc.SeededBits(11))
    losses = mechanism.log_likelihood(outputs, first) - mechanism.log_likelihood(outputs, second)
    exact = mechanism.privacy_loss()
    observed = np.array([int(np.isclose(losses, float(loss)).sum()) for loss in exact.losses])
    assert observed.sum() == draws
    expected = np.array(exact.probabilities) * draws
    used = expected > (8 if exact.beyond else 0)
    rest = [observed[~used].sum()] if exact.beyond else []
    bins, wanted = np.append(observed[used], rest), np.append(expected[used], [expected[~used].sum()] if rest else [])
    assert chisquare(bins, wanted * (draws / wanted.sum())).pvalue > 1e-4


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_samples_follow_the_stated_likelihood(mechanism: NoisyCounts) -> None:
    cells, draws = len(mechanism.model.cells), 60_000
    table = np.array([mechanism.size - 1, 1] + [0] * (cells - 2))
    drawn = mechanism.sample(np.tile(table, (draws, 1)), dc.SeededBits(7))
    seen, observed = np.unique(drawn, axis=0, return_counts=True)
    expected = np.exp(mechanism.log_likelihood(seen, table)) * draws
    common = expected >= 10
    assert common.sum() >= 2
    bins = np.append(observed[common], draws - observed[common].sum())
    wanted = np.append(expected[common], draws - expected[common].sum())
    assert chisquare(bins, wanted).pvalue > 1e-4


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_survives_the_way_through_its_document(mechanism: NoisyCounts) -> None:
    assert read_mechanism(mechanism_document(mechanism)) == mechanism


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_secret_statistics_are_not_sampled_outside_publish(mechanism: NoisyCounts) -> None:
    secret = mechanism.model.statistics({"x": ["a"] * mechanism.size})
    with pytest.raises(dc.SecretError):
        mechanism.sample(secret, dc.SeededBits(1))  # type: ignore[arg-type]
    with pytest.raises(dc.SecretError):
        dc.simulate(mechanism, secret, dc.SeededBits(1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("size", "epsilon"),
    [
        (0, "1"),
        (-3, "1"),
        (2.5, "1"),
        (True, "1"),
        (10, "0"),
        (10, "-1"),
        (10, "nan"),
        (10, "inf"),
        (10, "x"),
        (10, None),
    ],
)
def test_nonsense_is_refused_with_words(kind: type[NoisyCounts], size: object, epsilon: object) -> None:
    model = dc.Categories("x", levels=("a", "b"))
    made: Any = kind
    with pytest.raises(dc.DeclarationError, match=r"size|epsilon"):
        made(model, size=size, epsilon=epsilon, **({"delta": "1e-6"} if kind in GAUSSIAN else {}))


@pytest.mark.parametrize("kind", KINDS)
def test_made_up_counts_must_fit_the_declaration(kind: type[NoisyCounts]) -> None:
    mechanism = mechanism_of(kind, 2, 6, "1")
    for counts in [(3, 2), (3, 2, 1), (-1, 7), (3.0, 3.0)]:
        with pytest.raises(dc.DeclarationError):
            dc.simulate(mechanism, counts, dc.SeededBits(1))
