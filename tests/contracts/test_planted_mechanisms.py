"""False mechanisms, planted one by one: the referee of `verify` and the contract table must both refuse them."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from flint import arb

import discreet as dc
from discreet.choices import HellingerGlobal
from discreet.mechanism import Mechanism
from discreet.regression._mechanisms import RecordCoordinates
from discreet.verification._enumerate import Measuring

MECHANISMS = dc.Mechanism.registered()

GENERATED = (
    "ConeMoments",
    "BallMoments",
    "GaussianBallMoments",
)  # by proof, with plants of their own in tests/regression and below
ADDITIVE = [
    name for name, kind in Mechanism.registered().items() if issubclass(kind, Measuring) and name not in GENERATED
]
DRAWS = ("PosteriorSampling", "NetworkSampling", "BallDraw")
CHOICES = sorted(set(MECHANISMS) - set(ADDITIVE) - set(DRAWS) - set(GENERATED))
TWO = dc.LinearRegression("y", ["x", "z"], {"x": (0, 1), "z": (0, 9), "y": (0, 1)}, noise="0.5", missing="middle")
REGRESSIONS: dict[str, Callable[[Any], Any]] = {
    "BoxMoments": lambda kind: kind(TWO, 20, 1),
    "ConeMoments": lambda kind: kind(TWO, 20, 1),
    "LaplaceMoments": lambda kind: kind(TWO, 20, 1),
    "GaussianMoments": lambda kind: kind(TWO, 20, 1, "0.01"),
}
"""As users have them; those of the table are on a grid so coarse that all is listed."""
CLAIMED = {"HellingerLocal", "HellingerTable"}  # their claim is false, and verify refuses them as they are


def planted(kind: type[Any], **parts: Any) -> type[Any]:
    """Return a subclass with false parts, under the name of the honest class."""
    return type(kind.__name__, (kind,), parts)


def without_noise(kind: type[Any]) -> type[Any]:
    return planted(kind, sample=lambda self, counts, bits: self.measured(np.asarray(counts)))


def exponent_times_ten(kind: type[Any]) -> type[Any]:
    """P^10, normalised: a choice whose exponent, or noise whose log-likelihood, is ten times as large."""

    def log_prob(self: Any, output: Any, counts: Any) -> Any:
        honest = copy(self)
        object.__setattr__(honest, "__class__", kind)  # outputs may be chosen by their probability
        outputs = honest.outputs_for(np.asarray(counts)[None], 20_000)  # none where there are too many: not normalised
        total = 0.0 if outputs is None else np.logaddexp.reduce(10 * kind.log_prob(self, outputs, counts))
        return 10 * kind.log_prob(self, output, counts) - total

    return planted(kind, log_prob=log_prob)


def power_times_ten(kind: type[Any]) -> type[Any]:
    if kind.__name__ == "BallDraw":
        return planted(kind, power=property(lambda self: 10 * kind.power.fget(self)))

    name = "_row_distributions" if hasattr(kind, "_row_distributions") else "distributions"

    def laws(self: Any, *counts: Any) -> Any:
        shadow = copy(self)
        object.__setattr__(shadow, "power", 10 * self.power)
        return getattr(kind, name)(shadow, *counts)

    return planted(kind, **{name: laws})


def rho_over_ten(kind: type[Any]) -> type[Any]:
    honest: Any = kind.rho
    computed = getattr(honest, "func", None) or honest.fget  # a property, computed once or each time
    return planted(kind, rho=property(lambda self: computed(self) / 10))


def refused_by_the_table(contracts: Any, kind: str, false: type[Any], check: str) -> bool:
    """Tell whether a false mechanism fails a check of the table, in the first setting of its kind."""
    setting = contracts.TABLE[kind][0]
    checks = {each.__name__: each for each in contracts.CHECKS}
    try:
        checks[check](contracts.Listed(setting.make(false)), setting)
    except (AssertionError, dc.DiscreetError):
        return True
    return False


def assert_refused(contracts: Any, kind: str, plant: Callable[[type[Any]], type[Any]], check: str) -> None:
    false = plant(MECHANISMS[kind])
    make = REGRESSIONS.get(kind, contracts.TABLE[kind][0].make)
    with pytest.raises(dc.VerificationError):
        dc.verify(make(false))
    assert refused_by_the_table(contracts, kind, false, check)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in CLAIMED])
def test_honest_mechanisms_are_not_refused(contracts: Any, name: str) -> None:
    for setting in contracts.TABLE[name][:2]:
        mechanism = setting.make(MECHANISMS[name])
        certificate = dc.verify(mechanism)
        assert certificate.guarantee == mechanism.guarantee
        done = ("checked, exactly", "drawn, at") if name in GENERATED else ("compared, on", "drawn, on")
        for words in (*done, *(["by proof alone"] if name in GENERATED else [])):
            assert any(check.startswith(words) for check in certificate.checks)


@pytest.mark.parametrize("name", sorted(CLAIMED))
def test_false_claims_are_refused(contracts: Any, name: str) -> None:
    claimed: Any = MECHANISMS[name]
    mechanism = claimed(dc.Categories("x", levels=("a", "b", "c"), prior=20, outside="a"), 40, 1)
    with pytest.raises(dc.VerificationError):
        dc.verify(mechanism)


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_sampler_without_noise_is_refused(contracts: Any, name: str) -> None:
    assert_refused(contracts, name, without_noise, "samples_follow_the_likelihood")


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_tenth_of_the_noise_is_refused(contracts: Any, name: str) -> None:
    assert_refused(contracts, name, exponent_times_ten, "the_promise_holds")


@pytest.mark.parametrize("name", [name for name in CHOICES if name not in CLAIMED])
def test_an_exponent_times_ten_is_refused(contracts: Any, name: str) -> None:
    assert_refused(contracts, name, exponent_times_ten, "the_promise_holds")


@pytest.mark.parametrize("name", DRAWS)
def test_a_power_times_ten_is_refused(contracts: Any, name: str) -> None:
    assert_refused(contracts, name, power_times_ten, "the_promise_holds")


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in {*CLAIMED, *GENERATED}])
def test_a_tenth_of_rho_is_refused(contracts: Any, name: str) -> None:
    assert_refused(contracts, name, rho_over_ten, "rho_holds")


def test_an_enumeration_above_what_is_proved_is_a_contradiction_and_not_the_smaller_of_both() -> None:
    class Strong(HellingerGlobal):
        """Ten times the exponent, with the promise of the honest one."""

        def strength(self) -> arb:
            return 10 * super().strength()

    mechanism = Strong(dc.Categories("x", levels=("a", "b"), outside="a"), 8, 1)
    for ask in (lambda: mechanism.rho, mechanism.privacy_loss, lambda: dc.verify(mechanism)):
        with pytest.raises(dc.VerificationError, match="contradicts its proof"):
            ask()


def test_noise_that_is_stated_to_be_none_is_refused() -> None:
    honest = dc.GeometricHistogram

    def log_prob(self: Any, output: Any, counts: Any) -> Any:
        return np.where((np.asarray(output) == np.asarray(counts)).all(axis=-1), 0.0, -np.inf)

    false = planted(honest, log_prob=log_prob, sample=lambda self, counts, bits: counts)
    with pytest.raises(dc.VerificationError, match="inf"):
        dc.verify(false(dc.Categories("x", levels=("a", "b"), outside="a"), 10**6, Fraction(1)))


def cut_off(kind: type[Any]) -> type[Any]:
    """State a privacy loss that leaves out its infinite part, as if every single output had a bound."""
    return planted(kind, privacy_loss=lambda self: replace(kind.privacy_loss(self), beyond=0.0))


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in CLAIMED])
def test_a_privacy_loss_that_leaves_out_what_lies_beyond_is_refused(contracts: Any, name: str) -> None:
    make = contracts.TABLE[name][0].make
    if make(MECHANISMS[name]).privacy_loss().beyond == 0:
        assert dc.verify(make(MECHANISMS[name])).epsilon < inf
        return
    with pytest.raises(dc.VerificationError, match="Losses beyond it are left out"):
        dc.verify(make(cut_off(MECHANISMS[name])))


def test_a_bound_for_every_output_is_not_shown_beside_a_delta_because_a_thin_tail_was_not_found() -> None:
    coin = dc.Categories("x", levels=("a", "b"), outside="a", prior=1)
    false = cut_off(MECHANISMS["PosteriorSampling"]).tempered(coin, size=100, epsilon=1, delta="1e-6")
    with pytest.raises(dc.VerificationError, match="promises a delta because no such bound is proved"):
        dc.verify(false)


@pytest.mark.parametrize("name", ["GeometricHistogram", "DiscreteLaplaceCounts", "DiscreteGaussianCounts"])
def test_noise_that_looks_at_the_records_is_refused(contracts: Any, name: str) -> None:
    honest: Any = MECHANISMS[name]

    def sample(self: Any, counts: Any, bits: Any) -> Any:
        return np.where(np.asarray(counts)[..., :1] == 0, counts, honest.sample(self, counts, bits))

    setting = contracts.TABLE[name][2]
    with pytest.raises(dc.VerificationError, match="sampler"):
        dc.verify(setting.make(planted(honest, sample=sample)))


@pytest.mark.parametrize("name", sorted(REGRESSIONS))
def test_one_number_without_noise_is_refused(name: str) -> None:
    honest: Any = MECHANISMS[name]

    def sample(self: Any, counts: Any, bits: Any) -> Any:
        drawn = honest.sample(self, counts, bits)
        drawn[..., -1] = self.measured(np.asarray(counts))[..., -1]
        return drawn

    with pytest.raises(dc.VerificationError, match="sampler"):
        dc.verify(REGRESSIONS[name](planted(honest, sample=sample)))


@pytest.mark.parametrize("share", [0, 0.1])
def test_cone_noise_that_is_too_small_is_refused(share: float) -> None:
    honest = dc.regression.ConeMoments

    def sample(self: Any, counts: Any, bits: Any) -> Any:
        exact = self.measured(np.asarray(counts))
        return exact + np.round(share * (honest.sample(self, counts, bits) - exact)).astype(np.int64)

    with pytest.raises(dc.VerificationError, match="sampler"):
        dc.verify(REGRESSIONS["ConeMoments"](planted(honest, sample=sample)))


def test_a_body_without_0_is_refused_where_records_may_be_left_out() -> None:
    """Wrong on purpose: the noise of a regression in which every record counts, so that their number has none."""
    honest: Any = dc.regression.ConeMoments
    model = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5")
    assert dc.verify(honest(model, 20, 1)).guarantee.delta == 0

    class Closed(RecordCoordinates):
        body = property(lambda self: replace(RecordCoordinates(self.model).body, holds_zero=False))

    with pytest.raises(dc.VerificationError, match="positive semidefinite"):
        dc.verify(planted(honest, coding=property(lambda self: Closed(self.model)))(model, 20, 1))


def test_rounding_a_product_leaves_the_cone_and_is_refused() -> None:
    """Each value must be a whole number before it is multiplied: the proof needs every record inside the body."""

    class RoundedProducts(dc.LinearRegression):
        """Wrong on purpose: products of real numbers are rounded to the grid, as if that did not matter."""

        def rehearse(self, made_up: Any) -> Any:
            units = [
                (2 * np.array(made_up[b.name]) - float(b.low) - float(b.high)) / (2 * b.half) for b in self.bounds[1:]
            ]
            values = [*units, (2 * np.array(made_up["y"]) - 1), np.ones(len(units[0]))]
            pairs = zip(self.layout.products, self.layout.weights, strict=True)
            sums = [np.rint(self.grid**2 * values[i] * values[j]).sum() * weight for (i, j), weight in pairs]
            return np.array(sums).astype(np.int64)

    bounds = {"x": (0, 1), "z": (0, 9), "y": (0, 1)}
    facts: dict[str, Any] = {"features": ["x", "z"], "bounds": bounds, "noise": "0.5", "missing": "middle"}
    assert dc.verify(dc.regression.ConeMoments(dc.LinearRegression("y", **facts), 20, 1)).guarantee.delta == 0
    with pytest.raises(dc.VerificationError, match="positive semidefinite"):
        dc.verify(dc.regression.ConeMoments(RoundedProducts("y", **facts), 20, 1))
