"""Do 90 % intervals of a family's parameter cover 90 %, when all that was published is a draw? The naive ones beside.

The naive reader takes the draw for what the records say: the posterior of the exact total that the draw would be the
estimate of, or the family's own posterior spread around the draw.
"""

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc


@pytest.fixture(autouse=True)
def _little_information_is_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        yield


def implied_total(model: Any, drawn: float, size: int) -> Fraction:
    """Return the total of records that would have this parameter as their mean rate or mean."""
    return Fraction(size / drawn if isinstance(model, dc.Exponential) else size * drawn)


@pytest.mark.parametrize(
    ("model", "size", "draws"),
    [
        (dc.Poisson("falls", most=6, shape=4, rate=3), 200, 1),
        (dc.Poisson("falls", most=6, shape=4, rate=3), 200, 3),
        (dc.Exponential("wait", high=8, bands=16, shape=4, rate=4), 200, 1),
        (dc.NormalMean("height", low=0, high=20, variance=4, bands=20, prior_records=2), 100, 1),
    ],
    ids=("Poisson", "Poisson, three draws", "Exponential", "NormalMean"),
)
def test_a_parameter_read_from_a_draw_is_covered(model: Any, size: int, draws: int) -> None:
    """Parameters from the prior, records, a draw, a reading: 300 times. Within 85 % and 95 %: 2.9 standard errors."""
    repeats = 300
    mechanism = dc.PosteriorSampling.tempered(model, size=size, epsilon=2, delta="1e-4", draws=draws)
    generator, bits = np.random.default_rng(20261116), dc.SeededBits(20261116)
    prior = model.posterior_given_total(Fraction(0), 0)
    truths = np.array([prior.guess(float(u)) for u in generator.random(repeats)])
    tables = np.array([generator.multinomial(size, row) for row in model.level_probabilities(truths)])
    outputs = mechanism.sample(tables, bits)
    aware, naive = np.empty((2, repeats), dtype=bool)
    for number, (truth, output) in enumerate(zip(truths, outputs, strict=True)):
        release = dc.Release(mechanism, tuple(int(value) for value in output), "simulated", simulated=True)
        low, high = dc.infer(release).interval(0.9)
        aware[number] = low <= truth <= high
        drawn = float(mechanism.parameters(output).mean())
        taken = model.posterior_given_total(implied_total(model, drawn, size), size)
        naive[number] = taken.guess(0.05) <= truth <= taken.guess(0.95)
    print(f"\n{type(model).__name__}, n = {size}, {draws} drawn: aware {aware.mean():.3f}, naive {naive.mean():.3f}")
    assert 0.85 <= aware.mean() <= 0.95
    assert naive.mean() < 0.8
