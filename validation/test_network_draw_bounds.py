"""What one draw of sixteen features costs under strong priors, whose curves take long to integrate."""

import pytest

import discreet as dc
from discreet.draws import NetworkSampling


@pytest.mark.parametrize(("prior", "most"), [(100, 2.69), (500, 1.13)])  # 1 and 10 in tests/
def test_one_draw_of_naive_bayes_with_sixteen_features(prior: float, most: float) -> None:
    names = [f"x{number}" for number in range(16)]
    net = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), prior=prior, outside=0)
    mechanism = NetworkSampling.plain(net, size=50, delta="1e-6")
    print(f"\nprior {prior}: epsilon {float(mechanism.epsilon):.4f}")
    assert 0.98 * most < mechanism.epsilon <= most
    assert mechanism.privacy_loss().delta_at(mechanism.epsilon) <= 1e-6
    assert dc.verify(mechanism).guarantee == mechanism.guarantee
