"""How far apart neighbours are under a mechanism, and how many releases tell them apart: against sums over outputs."""

import json
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import quad
from scipy.stats import beta, gamma, norm

import discreet as dc
from discreet.cli._main import main
from discreet.draws._privacy_curves import divergence_of
from discreet.mathematics.distributions._certified import CertifiedBeta, CertifiedGamma, CertifiedNormal
from discreet_papers.distinguish import distinguish, draws_needed

F = Fraction
COIN = dc.Categories("x", levels=("a", "b"), outside="a", prior=2)


def slow_divergence(one: Any, two: Any, low: float, high: float) -> float:
    return float(quad(lambda x: one.pdf(x) * (one.logpdf(x) - two.logpdf(x)), low, high, limit=200)[0])


def both_ways(one: Any, two: Any, low: float, high: float) -> float:
    return max(slow_divergence(one, two, low, high), slow_divergence(two, one, low, high))


def test_divergences_of_laws_are_their_integrals() -> None:
    for one, two in (((3, 2), (4.5, 2)), ((3, 2), (3, 5)), ((7, 2), (5, 1))):
        laws = [CertifiedGamma(F(str(a)), F(str(b))) for a, b in (one, two)]
        twins = [gamma(a, scale=1 / b) for a, b in (one, two)]
        assert divergence_of(laws[0], laws[1]) == pytest.approx(both_ways(twins[0], twins[1], 0, 60), rel=1e-6)
    normal = CertifiedNormal(F(0), F(4)), CertifiedNormal(F(1), F(4))
    assert divergence_of(*normal) == pytest.approx(slow_divergence(norm(0, 2), norm(1, 2), -30, 30), rel=1e-6)
    with pytest.raises(dc.DeclarationError, match="is known for"):
        divergence_of(CertifiedBeta(F(1), F(1)), CertifiedBeta(F(1), F(2)))


def test_the_divergence_of_draws_is_that_of_the_worst_neighbours() -> None:
    """All totals of the other records of a binomial family, by integrals."""
    model = dc.programs.families.BinomialProbability("x", trials=2, alpha=3, beta=2, outside=0)
    mechanism = dc.PosteriorSampling(model, 3, 5, "0.5", power="0.5")
    slow = 0.0
    for rest in range(5):
        s, t = 3 + 0.5 * rest, 2 + 0.5 * (4 - rest)
        slow = max(slow, both_ways(beta(s, t + 1), beta(s + 1, t), 0, 1))
    found = distinguish(mechanism, 0.1)
    assert found.exact
    assert found.divergence == pytest.approx(slow, rel=1e-6)
    assert found.releases == draws_needed(found.divergence, 0.1) == np.ceil(0.8 * log(9) / slow)
    assert 0 < found.total_variation < 1


def test_noisy_counts_are_judged_by_their_privacy_loss() -> None:
    """Two-sided geometric noise on one count: the divergence is a sum over all outputs."""
    found = distinguish(dc.GeometricHistogram(COIN, 20, 1))
    noise = np.arange(-80, 81)
    law = np.exp(-abs(noise)) * (1 - np.exp(-1)) / (1 + np.exp(-1))
    slow = float(law @ (abs(noise - 1) - abs(noise)))
    assert found.divergence == pytest.approx(slow, rel=1e-9)
    assert found.total_variation == pytest.approx(float(np.maximum(law[1:] - law[:-1], 0).sum()), rel=1e-6)
    assert found.releases == int(np.ceil(0.9 * log(19) / slow))
    assert not found.exact


def test_events_beyond_leave_fewer_releases_never_more() -> None:
    assert draws_needed(1e-3, 0.05, 1e-6) < draws_needed(1e-3, 0.05)
    assert draws_needed(1e-9, 0.05, 1e-3) == 450  # the events beyond alone may tell: 0.05 + n / 1000 >= 1/2
    gaussian = distinguish(dc.tables.DiscreteGaussianHistogram(COIN, 20, 1, "1e-6"))
    assert 1 <= gaussian.releases < 10_000


def test_nonsense_is_refused_in_words() -> None:
    for error in (0, 0.5, -1, "a"):
        with pytest.raises(dc.DeclarationError, match="between 0 and 1/2"):
            distinguish(dc.GeometricHistogram(COIN, 20, 1), error)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="takes a release or a mechanism"):
        distinguish(COIN)  # type: ignore[arg-type]


def test_the_command_says_how_many_releases_an_adversary_needs(tmp_path: Path) -> None:
    file = tmp_path / "draw.release.json"
    file.write_text(dc.simulate(dc.draws.PosteriorSampling(COIN, 20, 1, "0.1"), [12, 8], dc.SeededBits(1)).to_json())
    found = CliRunner().invoke(main, ["distinguish", str(file)])
    assert found.exit_code == 0, found.output
    assert "with both error probabilities at most 0.05, takes at least" in " ".join(found.output.split())
    one, two = (
        json.loads(CliRunner().invoke(main, ["distinguish", str(file), "--error", error, "--json"]).output)
        for error in ("0.01", "0.05")
    )
    assert one["error"] == 0.01
    assert one["exact"] is True
    assert one["releases_needed"] > two["releases_needed"]
