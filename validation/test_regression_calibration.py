"""Are private regressions calibrated? Coefficients and sigma from the prior, known and unknown noise around the line.

For each data set the posterior probability below the truth is kept, of every coefficient and of sigma. If readings are
calibrated these are uniform: intervals of 50, 90 and 95 % cover as much, and a chi-square test of ten bins of them is
not rejected. `make validate` takes 40 data sets of each setting of 10,000 records, `make validate-full` 1,000.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from kept_results import IS_FULL, kept, repeats
from scipy.stats import chi2

import discreet as dc
from discreet.regression import BoxMoments, InverseGamma, LinearRegression

NAMES = ("a", "b", "c")
LEVELS = (0.5, 0.9, 0.95)


@dataclass(frozen=True)
class Setting:
    """So many data sets of a size, read at an epsilon with known or unknown sigma; each has a seed of its own."""

    name: str
    noise: str | InverseGamma
    size: int
    epsilon: str
    sets: int
    seed: int

    @property
    def model(self) -> LinearRegression:
        return LinearRegression(
            "y", NAMES, dict.fromkeys((*NAMES, "y"), (-1, 1)), prior_precision=12, noise=self.noise, missing="middle"
        )

    def one(self, number: int) -> list[float]:
        """Return the posterior probabilities below the truth, of every coefficient and of sigma if it is unknown."""
        generator, model = np.random.default_rng([self.seed, number]), self.model
        w = generator.standard_normal(4) / np.sqrt(12)
        prior = model.noise_prior
        sigma = 0.15 if prior is None else np.sqrt(float(prior.scale) / generator.standard_gamma(float(prior.shape)))
        u = generator.uniform(-1, 1, (self.size, 3))
        y = np.column_stack([np.ones(self.size), u]) @ w / 2 + generator.normal(0, sigma, self.size)
        moments = model.rehearse(pl.DataFrame(dict(zip((*NAMES, "y"), (*u.T, y), strict=True))))
        release = dc.simulate(
            BoxMoments(model, self.size, self.epsilon), moments, dc.SeededBits(self.seed * 10**6 + number)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = dc.infer(release)
        truth = model.in_units(w)
        found = [posterior.coefficient(name).below(value) for name, value in zip(model.names, truth, strict=True)]
        return found if prior is None else [*found, 1 - posterior.noise.probability_above(sigma)]


SETTINGS = (
    Setting("known sigma, n = 10,000, epsilon 1", "0.15", 10_000, "1", 1000, 701),
    Setting("unknown sigma, n = 10,000, epsilon 1", InverseGamma(8, "0.2"), 10_000, "1", 1000, 702),
    Setting("known sigma, n = 1,000, epsilon 0.5", "0.15", 1_000, "0.5", 200, 703),
    Setting("unknown sigma, n = 1,000, epsilon 0.5", InverseGamma(8, "0.2"), 1_000, "0.5", 200, 704),
)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_regressions_are_calibrated(setting: Setting) -> None:
    sets = repeats(setting.sets // 25, setting.sets)
    below = np.array(kept("regression-calibration", setting.name, setting.seed, sets, setting.one))
    names = [*setting.model.names, *(["sigma"] if below.shape[1] > 4 else [])]
    print(f"\n{setting.name}, {len(below)} data sets")
    worst = 1.0
    for name, column in zip(names, below.T, strict=True):
        cover = [float(np.mean(np.abs(column - 0.5) <= level / 2)) for level in LEVELS]
        counts = np.histogram(column, bins=10, range=(0, 1))[0]
        rank = float(chi2.sf(np.square(counts - len(below) / 10).sum() / (len(below) / 10), 9))
        worst = min(worst, rank)
        print(f"  {name:10s} cover {', '.join(f'{c:.3f}' for c in cover)} of {LEVELS}; ranks p = {rank:.3f}")
    slopes = below[:, :4].ravel()
    pooled = [float(np.mean(np.abs(slopes - 0.5) <= level / 2)) for level in LEVELS]
    print(f"  coefficients together: {', '.join(f'{c:.3f}' for c in pooled)}")
    if IS_FULL and setting.size == 10_000:
        assert all(abs(c - level) <= 0.02 for c, level in zip(pooled, LEVELS, strict=True))
    assert worst > 0.001 / len(names)
