"""Certificates: the closed forms against the specification's digits, and planted errors that must be found."""

import contextlib
import io
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.draws import BallDraw
from discreet.noise import ZeroSumLaplace
from discreet.noise._zero_sum_laplace import normaliser
from discreet.privacy import PrivacyLoss, enumerate_neighbours
from discreet.verification._work import verifying

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
DONE = ("- recomputed", "- not recomputed", "- compared", "- drawn", "- looked up", "- by proof", "- by computation")
PAGE = Path(__file__).parents[2] / "docs" / "checking.md"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(2, 2.16395341373865), (3, 6.52404156524675), (4, 22.08690108498853), (6, 289.06410807350102)],
)
def test_the_normaliser_has_the_specified_digits(cells: int, expected: float) -> None:
    assert float(normaliser(Fraction(1), cells)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("cells", "expected"), [(2, 0.850918128239), (3, 1.832264323150), (4, 2.802859256560)])
def test_the_mean_distance_has_the_specified_digits(cells: int, expected: float) -> None:
    """E d = -d log Z / d epsilon."""
    step = Fraction(1, 10**5)
    above, below = (float(normaliser(1 + sign * step, cells).log()) for sign in (1, -1))
    assert (below - above) / (2 * float(step)) == pytest.approx(expected, abs=1e-8)


def test_small_mechanisms_are_enumerated_and_large_ones_proved() -> None:
    small = dc.verify(dc.GeometricHistogram(COIN, size=10, epsilon="0.8"))
    assert small.evidence is dc.privacy.Evidence.ENUMERATED
    assert small.epsilon == 0.8
    assert sum(abs(a - b) for a, b in zip(*small.worst_pair, strict=True)) == 2
    large = dc.verify(dc.GeometricHistogram(COIN, size=10**6, epsilon="0.8"))
    assert large.evidence is dc.privacy.Evidence.PROVED
    assert large.delta_at(0) == pytest.approx(np.tanh(0.4), rel=1e-12)
    assert large.delta_at(0) >= np.tanh(0.4)
    assert large.delta_at("0.8") == 0


def test_two_levels_and_many_levels_lose_less_than_everything() -> None:
    deltas = [
        dc.verify(
            dc.GeometricHistogram(dc.Categories("x", levels=tuple(range(m)), outside=0), size=10**6, epsilon=1)
        ).delta_at(0)
        for m in (2, 3, 10, 200)
    ]
    assert deltas == sorted(deltas, reverse=True)


def test_a_mechanism_with_half_the_noise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ZeroSumLaplace, "log_kernel", lambda self, noise: -2 * float(self.rates[0]) * np.abs(noise).sum(axis=-1)
    )
    with pytest.raises(dc.VerificationError, match="Comparing neighbours by the stated likelihood found"):
        dc.verify(dc.GeometricHistogram(COIN, size=5, epsilon="0.5"))


def test_a_guarantee_below_the_exact_loss_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: dc.Guarantee("0.1")))
    with pytest.raises(dc.VerificationError, match="exceeds"):
        dc.verify(dc.GeometricHistogram(COIN, size=5, epsilon="0.5"))


def test_delta_is_rounded_up_and_never_beyond_one() -> None:
    loss = PrivacyLoss((Fraction(50), Fraction(-50)), (1.0, 1e-20))
    assert loss.delta_at(0) == 1.0
    assert loss.delta_at(50) == 0.0
    with pytest.raises(dc.DeclarationError):
        loss.delta_at("x")


def test_epsilon_is_never_rounded_in_our_favour() -> None:
    for epsilon in ("1/3", "0.1", "2/7", "0.30000000000000004"):
        mechanism = dc.GeometricHistogram(COIN, size=10**6, epsilon=epsilon)
        assert Fraction(dc.verify(mechanism).epsilon) >= mechanism.epsilon


def test_a_giant_document_is_verified_at_once() -> None:
    model = dc.Categories("x", levels=tuple(range(20_000)), outside=0)
    assert dc.verify(dc.GeometricHistogram(model, size=10**12, epsilon=1)).evidence is dc.privacy.Evidence.PROVED


@pytest.mark.parametrize("subject", ["x", None, 3])
def test_what_is_neither_release_nor_mechanism_is_refused(subject: object) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.verify(subject)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError):
        dc.simulate(subject, (1, 2), dc.SeededBits(1))  # type: ignore[arg-type]


def test_an_epsilon_is_called_exact_only_where_it_was_computed() -> None:
    large = dc.verify(dc.choices.MaximumPosterior(dc.Categories("x", levels=tuple("abc"), outside="a"), 1000, 1))
    assert not large.exact
    assert large.epsilon == 1
    assert "an upper bound; the true value may be smaller" in str(large)
    small = dc.verify(dc.choices.MaximumPosterior(COIN, 20, 1))
    assert small.exact
    assert 1 - 1e-5 < small.epsilon < 1  # its scale is the largest that epsilon allows, but for rounding
    proved = dc.choices.MaximumPosterior(COIN, 20, 1).proved_scale
    timid = dc.verify(dc.choices.MaximumPosterior(COIN, 20, 1, scale=proved))
    assert timid.exact
    assert timid.epsilon < 0.2
    group = dc.Release(dc.GeometricHistogram(COIN, 10, 1), (5, 5), "x", dc.Unit("one row", 3), simulated=True)
    assert not dc.verify(group).exact
    assert dc.verify(group).epsilon == 3


def test_the_page_on_checking_shows_what_is_printed() -> None:
    names: dict[str, object] = {}
    shown = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(shown) == 6
    for code, text in shown:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue().split() == text.split()


def test_a_certificate_reads_well() -> None:
    text = str(dc.verify(dc.GeometricHistogram(COIN, size=4, epsilon="0.5")))
    assert "promised: epsilon = 0.5, delta = 0, replace one record (proved)" in text
    assert "pure epsilon 0.5, exact: neighbouring data sets were found whose loss is this large" in text
    assert "compared, on the mechanism itself, 4 records: all 4 pairs of neighbours" in text
    for check in text.splitlines()[2:]:
        assert check.startswith(DONE), check


@pytest.mark.parametrize(("size", "epsilon"), [(4, "1"), (10, "5")])
def test_permute_and_flip_is_certified_by_its_own_law(size: int, epsilon: str) -> None:
    mechanism = dc.choices.PermuteAndFlip(
        dc.Categories("coin", levels=("heads", "tails"), outside="heads"), size, epsilon
    )
    found = enumerate_neighbours(mechanism.log_prob, size, 2, mechanism.tables.all)
    certificate = dc.verify(mechanism)
    assert found.epsilon <= certificate.epsilon <= found.epsilon * (1 + 1e-8)
    assert (1 - 1e-5) * float(epsilon) < found.epsilon <= float(epsilon)
    assert certificate.exact
    assert certificate.evidence is dc.privacy.Evidence.ENUMERATED
    assert f"{found.epsilon:.9g}" in str(certificate)


@pytest.mark.parametrize("delta", ["1e-3", "1e-5", "1e-9", "1e-12"])
@pytest.mark.parametrize(("size", "epsilon"), [(100, "3"), (50, "1"), (30, "0.1")])
def test_calibrated_scales_are_confirmed(size: int, epsilon: str, delta: str) -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    mechanism = dc.choices.HellingerCalibrated(coin, size, epsilon, delta)
    assert dc.verify(mechanism).guarantee.delta == Fraction(delta)
    assert mechanism.privacy_loss().delta_at(mechanism.epsilon) <= float(delta) * (1 + 1e-6) + 1e-13


def test_what_is_proved_of_a_regression_is_not_called_recomputed() -> None:
    model = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.5", norm_bound=1, missing="middle")
    certificate = dc.verify(BallDraw(model, 100, 1))
    assert certificate.evidence is dc.privacy.Evidence.PROVED
    assert certificate.checks[0].startswith("not recomputed")
    assert certificate.checks[-1].startswith("by proof alone, for all that was not compared")
    box = dc.verify(
        dc.regression.BoxMoments(model, 100, 1)
    )  # the law of its loss is finer than what any epsilon = 1 allows
    assert box.evidence is dc.privacy.Evidence.PROVED
    assert box.checks[0] == "recomputed from the parameters: privacy loss at most 1"
    assert box.loss.delta_at(Fraction(1, 2)) < 0.9 * PrivacyLoss.worst_case(Fraction(1)).delta_at(Fraction(1, 2))
    assert box.checks[-1].startswith("by proof alone, for all that was not compared")
    bell = dc.verify(
        dc.regression.GaussianMoments(model, 100, 1, "1e-6")
    )  # by its exact curve, which tells more than rho
    assert bell.checks[0].startswith("recomputed from the parameters: delta at epsilon = 1 at most 9.999")
    assert not bell.exact


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-4"])
def test_a_small_epsilon_is_not_taken_for_a_broken_promise(epsilon: str) -> None:
    model = dc.Categories("smoker", levels=("yes", "no"), outside="no")
    assert float(dc.verify(dc.GeometricHistogram(model, 60, epsilon)).epsilon) == pytest.approx(float(epsilon))


def _table(cells: int, epsilon: str) -> dc.TreeTable:
    return dc.TreeTable(dc.NumberTable("x", (0, cells), cells, missing=0), 1_000, epsilon)


@pytest.mark.parametrize(("cells", "epsilon"), [(64, "1e-5"), (64, "1e-4"), (4096, "0.001")])
def test_a_small_document_whose_noise_has_an_endless_law_is_refused_before_any_work(cells: int, epsilon: str) -> None:
    with pytest.raises(dc.DeclarationError, match=r"operations.*Nothing was checked.*patience"):
        dc.verify(_table(cells, epsilon))


@pytest.mark.parametrize(("cells", "epsilon"), [(64, "1"), (256, "0.01"), (256, "0.1"), (4096, "1")])
def test_what_holders_publish_every_day_is_not_too_much_to_verify(cells: int, epsilon: str) -> None:
    assert verifying(_table(cells, epsilon)).rejection_for(1.0) is None
