"""Are families read right on average over the prior, when all that was published is a draw? The naive reading beside.

The naive reader takes the draw for what the records say: the posterior of the exact total that the draw would be the
estimate of.
"""

import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from kept_results import repeats
from rank_tests import DRAWS, Places, Setting, judge, rank

import discreet as dc


@pytest.fixture(autouse=True)
def _little_information_is_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        yield


def implied_total(model: Any, drawn: float, size: int) -> Fraction:
    """Return the total of records that would have this parameter as their mean rate or mean."""
    return Fraction(size / drawn if isinstance(model, dc.ExponentialRate) else size * drawn)


def read(mechanism: Any, generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    model, size = mechanism.model, mechanism.size
    truth = float(model.posterior_given_total(Fraction(0), 0).guess(float(generator.random())))
    counts = generator.multinomial(size, model.level_probabilities(np.array([truth]))[0])
    output = mechanism.sample(counts, bits)
    release = dc.Release(mechanism, tuple(int(value) for value in output), "simulated", simulated=True)
    drawn = float(mechanism.parameters(output).mean())
    taken = model.posterior_given_total(implied_total(model, drawn, size), size)
    naive = np.array([taken.guess(float(place)) for place in generator.random(DRAWS)])
    return [dc.infer(release).cdf(truth)], [rank(truth, naive)]


def drawn(model: Any, size: int, draws: int = 1) -> Any:
    return dc.PosteriorSampling.tempered(model, size=size, epsilon=2, delta="1e-4", draws=draws)


COUNTED = dc.PoissonRate("falls", most=6, shape=4, rate=3, outside=6)
FAMILIES = [
    ("Poisson, one draw", drawn(COUNTED, 200)),
    ("Poisson, three draws", drawn(COUNTED, 200, draws=3)),
    (
        "Exponential, one draw",
        drawn(dc.ExponentialRate("wait", high=8, bands=16, shape=4, rate=4, outside="usual"), 200),
    ),
    (
        "NormalMean, one draw",
        drawn(dc.NormalMean("height", low=0, high=20, variance=4, bands=20, prior_records=2, outside="usual"), 100),
    ),
]
SETTINGS = [
    Setting(name, seed, partial(read, mechanism), batches=repeats(4, 6))
    for seed, (name, mechanism) in enumerate(FAMILIES, start=361)
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_true_parameter_ranks_uniformly(setting: Setting) -> None:
    judge("ranks", setting)
