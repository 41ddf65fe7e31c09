"""Mechanisms over posteriors and the published Laplace variants, at priors and sizes beside those of the table."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.choices import (
    HellingerCalibrated,
    HellingerGlobal,
    HellingerReciprocal,
    HellingerSmooth,
    HellingerSmoothProved,
    PermuteAndFlip,
)
from discreet.privacy import compositions, enumerate_neighbours
from discreet_papers.as_published import HellingerLocal
from discreet_papers.as_published.hellinger_table import HellingerTable
from discreet_papers.as_published.published_laplace import (
    ClampedLaplace,
    FlooredLaplace,
    RoundedLaplace,
    TruncatedLaplace,
)

OVER_POSTERIORS: tuple[Any, ...] = (
    HellingerGlobal,
    HellingerSmooth,
    HellingerSmoothProved,
    HellingerReciprocal,
    HellingerCalibrated,
    HellingerLocal,
    HellingerTable,
    PermuteAndFlip,
)

LAPLACE: tuple[Any, ...] = (RoundedLaplace, FlooredLaplace, TruncatedLaplace, ClampedLaplace)
SETTINGS = [((1, 1), 1, "0.3"), ((1, 1), 6, "1"), ((0.1, 7), 9, "2.5"), ((1, 1, 1), 4, "1/3"), ((7, 4, 5, 4), 3, "1")]


def mechanism_of(kind: Any, prior: tuple[float, ...], size: int, epsilon: str) -> Any:
    model = dc.Categories("x", levels=tuple("abcd"[: len(prior)]), prior=prior, outside="a")
    if kind in LAPLACE:
        return kind(model, size, epsilon, 2, len(prior) - 1)
    delta = {"delta": "1e-3"} if kind in (HellingerSmooth, HellingerSmoothProved, HellingerCalibrated) else {}
    return kind(model, size, epsilon, **delta)


def cases(kinds: tuple[Any, ...]) -> list[Any]:
    return [pytest.param(mechanism_of(k, *s), id=f"{k.__name__}-{s}") for k in kinds for s in SETTINGS]


def outputs_of(mechanism: Any, margin: int = 0) -> NDArray[np.int64]:
    """Return all candidates, or for noise all outputs whose noisy counts lie near the possible ones."""
    cells = len(mechanism.model.cells)
    if type(mechanism) not in LAPLACE:
        return np.array(list(compositions(mechanism.size, cells)))
    margin = 0 if isinstance(mechanism, ClampedLaplace) else margin
    axis = np.arange(-margin, mechanism.size + margin + 1)
    free = np.stack(np.meshgrid(*[axis] * (cells - 1)), axis=-1).reshape(-1, cells - 1)
    return np.column_stack([free, mechanism.size - free.sum(axis=1)])


@pytest.mark.parametrize("mechanism", cases(OVER_POSTERIORS))
def test_probabilities_sum_to_one_for_every_data_set(mechanism: Any) -> None:
    outputs = outputs_of(mechanism)
    for table in outputs:
        assert np.exp(mechanism.log_prob(outputs, table)).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("mechanism", cases(OVER_POSTERIORS + LAPLACE))
def test_no_output_reveals_more_than_is_promised(mechanism: Any) -> None:
    cells = len(mechanism.model.cells)
    found = enumerate_neighbours(mechanism.log_prob, mechanism.size, cells, outputs_of(mechanism, 3))
    assert found.epsilon <= float(mechanism.pure_epsilon) * (1 + 1e-12)
    guarantee = mechanism.guarantee
    if guarantee.evidence is dc.privacy.Evidence.CLAIMED:
        return
    if guarantee.delta == 0:
        assert found.epsilon <= float(guarantee.epsilon) * (1 + 1e-12)
    else:
        assert found.delta_at(float(guarantee.epsilon)) <= float(guarantee.delta) + 1e-14


@pytest.mark.parametrize("mechanism", cases(OVER_POSTERIORS))
def test_the_weights_that_are_drawn_from_are_the_likelihood(mechanism: Any) -> None:
    outputs = outputs_of(mechanism)
    for table in outputs[:: max(1, len(outputs) // 4)]:
        weights = mechanism.weights(table)
        if isinstance(mechanism, PermuteAndFlip):
            wanted = np.exp(-mechanism.scales(table[None])[0] * mechanism.tables.distances(table[None])[0])
            assert [float(weight) for weight in weights] == pytest.approx(wanted, rel=1e-12)
        else:
            law = np.exp(mechanism.log_prob(outputs, table))
            assert [float(weight / sum(weights)) for weight in weights] == pytest.approx(law, rel=1e-12)


@pytest.mark.parametrize("kind", OVER_POSTERIORS + LAPLACE)
def test_every_mechanism_says_what_was_claimed_and_shows_its_fields(kind: Any) -> None:
    mechanism = mechanism_of(kind, (1, 1), 6, "1")
    assert mechanism.claim.evidence is dc.privacy.Evidence.CLAIMED
    assert mechanism.claim.epsilon == Fraction(1)
    assert repr(mechanism).startswith(f"{kind.__name__}(Categories('x'")
    assert isinstance(mechanism, dc.Mechanism)


@pytest.mark.parametrize("kind", [HellingerLocal, HellingerTable])
def test_what_is_only_claimed_is_not_published(kind: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dc.Mechanism.kinds.newest, kind.__name__, kind)
    mechanism = mechanism_of(kind, (1, 1), 6, "1")
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=5, population="six people")
    with pytest.raises(dc.PublishError, match="only claimed"):
        dc.publish(mechanism, mechanism.model.statistics({"x": list("aabbab")}), ledger, "nothing")


@pytest.mark.parametrize(
    "kind", [HellingerGlobal, HellingerSmooth, HellingerReciprocal, HellingerCalibrated, PermuteAndFlip]
)
def test_a_release_is_published_and_read_back(kind: Any, tmp_path: Any) -> None:
    mechanism = mechanism_of(kind, (1, 1), 6, "1")
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=5, delta="0.01", population="six people")
    release = dc.publish(mechanism, mechanism.model.statistics({"x": list("aabbab")}), ledger, "six people")
    assert dc.Release.from_json(release.to_json()) == release
    assert sum(release.output) == 6
