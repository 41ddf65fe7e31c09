"""A proposal for densities whose shape changes with one parameter, such as the logarithm of a spread.

Where effects shrink with their spread there is no good peak of all parameters together (a funnel). At any one value s
of the logarithm of the spread there is: the others have a peak with a location m(s) and a factor L(s) of its
covariance, and by Laplace's method that slice has a mass of about e^height det L(s). The proposal draws s by these
masses, and the others given s from a multivariate t distribution at m(s) with the factor L(s). All of them are found at
some values of s, and interpolated between: masses on the scale of logarithms; factors are triangular with positive
diagonals, and stay so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.mathematics._densities import LogDensity, Peak, peak_of, t_log_density, t_units

ALONG = np.array([-10.0, -8.2, -6.7, -5.5, *np.linspace(-4.5, 2.5, 15)])
"""Logarithms of a spread, up to 12. Below .01 effects no longer change with it, but half-normal priors reach there."""
_LEAST = -9.0  # log density of s, below its peak: a little of everything, as the masses are approximate
_FLAT = 1e-9
_BLOCK = 4_000_000  # numbers of the factors that are held at a time


@dataclass(frozen=True, eq=False)
class Ridge:
    """`peaks[k]` is that of all other parameters where the one at `index` is `values[k]`, `logs[k]` the mass there."""

    index: int
    values: Floats
    logs: Floats
    peaks: tuple[Peak, ...]

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw the one parameter, and all others given it."""
        along = self._drawn(count, generator)
        others = t_units(count, len(self.peaks[0].location), self.peaks[0].degrees, generator)
        for rows, locations, factors in self._between(along):
            others[rows] = locations + np.einsum("nij,nj->ni", factors, others[rows])
        return np.insert(others, self.index, along, axis=1)

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of the proposal."""
        along, others = points[:, self.index], np.delete(points, self.index, axis=1)
        beyond = np.maximum(self.values[0] - along, 0) + np.maximum(along - self.values[-1], 0)
        found = np.interp(along, self.values, self.logs) - beyond - np.log(self._masses.sum())
        for rows, locations, factors in self._between(along):
            units = np.asarray(
                np.linalg.solve(factors, (others[rows] - locations)[..., None])[..., 0], dtype=np.float64
            )
            scales = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
            found[rows] += t_log_density(units, self.peaks[0].degrees) - scales
        return np.asarray(found)

    @property
    def _masses(self) -> Floats:
        """Return the mass before the first value, between each two, and after the last; tails fall off as e^-|s|."""
        steps, rises = np.diff(self.values), np.diff(self.logs)
        is_flat = np.abs(rises) < _FLAT
        means = np.where(is_flat, 1.0, np.expm1(rises) / np.where(is_flat, 1.0, rises))
        return np.exp([self.logs[0], *(self.logs[:-1] + np.log(steps * means)), self.logs[-1]])

    def _drawn(self, count: int, generator: np.random.Generator) -> Floats:
        masses, last = self._masses, len(self.values)
        parts, chances = generator.choice(last + 1, size=count, p=masses / masses.sum()), generator.random(count)
        inner = np.clip(parts - 1, 0, last - 2)
        rises, steps = np.diff(self.logs)[inner], np.diff(self.values)[inner]
        is_flat = np.abs(rises) < _FLAT
        some = np.where(is_flat, 1.0, rises)
        shares = np.where(is_flat, chances, np.log1p(chances * np.expm1(some)) / some)
        tails = -np.log1p(-chances)
        found = self.values[inner] + steps * shares
        found = np.where(parts == 0, self.values[0] - tails, found)
        return np.where(parts == last, self.values[-1] + tails, found)

    def _between(self, along: Floats) -> Iterator[tuple[Counts, Floats, Floats]]:
        """Yield some rows at a time, with their locations and factors; beyond the ends, those at the end."""
        locations, factors = (np.array([getattr(p, name) for p in self.peaks]) for name in ("location", "factor"))
        for rows in np.array_split(np.arange(len(along)), 1 + len(along) * factors[0].size // _BLOCK):
            left = np.clip(np.searchsorted(self.values, along[rows]) - 1, 0, len(self.values) - 2)
            part = (along[rows] - self.values[left]) / (self.values[left + 1] - self.values[left])
            part = np.clip(part, 0, 1)[:, None]
            middle = locations[left] + part * (locations[left + 1] - locations[left])
            yield rows, middle, factors[left] + part[..., None] * (factors[left + 1] - factors[left])


def along(target: LogDensity, index: int, start: Floats) -> Ridge:
    """Return a proposal along one parameter, such as the logarithm of a spread."""
    others, peaks, masses = np.delete(start, index), [], []
    for value in ALONG:
        peaks.append(peak_of(_Held(target, index, float(value)), [others]))
        others = peaks[-1].location
        height = float(target.values(np.insert(others, index, value)[None])[0])
        masses.append(height + float(np.log(np.diag(peaks[-1].factor)).sum()))
    logs = np.maximum(np.array(masses) - max(masses), _LEAST)
    return Ridge(index, ALONG, logs, tuple(peaks))


@dataclass(frozen=True, eq=False)
class _Held:
    """A target with one parameter held at a value."""

    target: LogDensity
    index: int
    value: float

    def _whole(self, theta: Floats) -> Floats:
        return np.insert(theta, self.index, self.value, axis=1)

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""
        return self.target.values(self._whole(theta))

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities and their derivatives."""
        value, slope = self.target(self._whole(theta))
        return value, np.delete(slope, self.index, axis=1)
