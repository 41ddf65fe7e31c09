"""Regressions from noisy moments: an ensemble of walkers samples the true ones."""

import warnings

import numpy as np

from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.models.linear_regression import LinearRegression
from discreet.reading.case import Case, Engine, Exactness, Work
from discreet.reading.ensemble import Ensemble
from discreet.reading.moments import FreshNoise, MomentDensity, MomentReading

WARM_UP, STEPS, ROUNDS = 100, 100, 5
_MOST_NUMBERS = 2**24  # of a chain, 128 MB; of longer ones every second, third, ... step is kept
_MOST_WORK = 25 * 10**7  # steps x walkers x dimension^2; about a minute
_EACH = 200.0  # operations for each of them
_GOOD_R_HAT, _GOOD_SIZE, _BAD_R_HAT = 1.02, 1000.0, 1.1


class MomentsEngine(Engine, place=10):
    """Runs until its R-hat is at most 1.02 and it is worth 1,000 draws, or to a fixed end."""

    models = (LinearRegression,)
    exactness = Exactness.SAMPLED

    def misfit(self, case: Case) -> str | None:
        """Refuse what is no measurement of the moments with a density."""
        if not case.is_measured:
            return (
                "a draw of the coefficients does not tell how far it lies from the truth: that depends on all moments "
                "of the records, which it does not tell. It comes without an interval; the mechanism's own "
                "`coefficients` gives it in the units of the table"
            )
        return None if all(m.noise.has_density for m in case.measurements) else "its noise has no density"

    def unsuited(self, case: Case) -> str | None:
        """Tell why this engine is not made for a case: for its model, or for its evidence; nothing if it is."""
        if not isinstance(case.model, self.models):
            return f"it is about a {type(case.model).__name__}"
        return self.misfit(case)

    def work(self, case: Case) -> Work:
        """Return the work of all rounds: they stop at a fixed amount."""
        return Work(f"sampling {len(case.model.cells)} moments", _EACH * _MOST_WORK, 4.0 * _MOST_NUMBERS)

    def read(self, case: Case) -> MomentReading:
        """Return the states of the walkers; the same case is always read alike."""
        if case.prior is not None:
            raise DeclarationError("The prior of a regression is part of its model; it is not replaced when reading.")
        density = MomentDensity(case.model, case.size, case.measurements)
        generator = np.random.default_rng(case.seed)
        dimension = len(case.model.cells) + (0 if density.is_noise_known else 1)
        start = density.start(2 * max(32, dimension + 1), generator)
        ensemble = Ensemble(density.log_density, start, FreshNoise(density), generator)
        ensemble.run(WARM_UP)
        for steps in rounds(len(start), case.model.dimension):
            reading = MomentReading(density, ensemble.run(steps, -(-steps * start.size // _MOST_NUMBERS)))
            if reading.r_hat <= _GOOD_R_HAT and reading.effective_size >= _GOOD_SIZE:
                break
        if reading.r_hat > _BAD_R_HAT:
            warnings.warn(
                f"The walkers that read {case.label!r} do not agree (R-hat {reading.r_hat:.2f}): its noise drowns "
                "the moments. Use more records, fewer features or a larger epsilon.",
                LittleInformationWarning,
                stacklevel=2,
            )
        return reading


def rounds(walkers: int, dimension: int) -> list[int]:
    """Return how many steps each round makes: twice those of the one before, while all stay within a fixed work."""
    steps = [STEPS * 2**number for number in range(ROUNDS)]
    work = np.cumsum(steps) * walkers * dimension**2
    return [step for step, done in zip(steps, work, strict=True) if done <= _MOST_WORK] or steps[:1]
