"""A graph with loops read by Markov chains, run until they agree.

Chains start far apart and run twice as long again and again, until the second half of them all says the same: R-hat
below 1.01 for every probability, with an effective size of 400 or more. What they have reached is part of the reading.
"""

import warnings

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import ConvergenceWarning
from discreet.mathematics.convergence import effective_size, split_r_hat
from discreet.models.network import Network
from discreet.reading.counts.latent_tables import Chains, Families, Fit
from discreet.reading.counts.table_counts import TableCounts

CHAINS = 8
_WARM_UP = 250  # sweeps
LONGEST = 8_000
"""So many sweeps at most."""

_WANTED_R_HAT, _WANTED_SIZE = 1.01, 400
_KEPT = 8_000  # draws of the tables, of all chains together
_CHECKED = 1_000  # draws of each chain from which agreement is judged
_SEED = 0


class SampledCounts(TableCounts):
    """Draws of the true tables by chains that agree; `r_hat` and `effective_size` are the worst of all probabilities.

    The evidence is not known.
    """

    log_evidence = float("nan")

    def __init__(self, model: Network, size: int, fit: Fit, shapes: Floats, longest: int = LONGEST) -> None:
        chains = Chains(model, size, fit, shapes, CHAINS, _SEED)
        self._families = Families(model)
        for number in range(_WARM_UP):
            chains.sweep(gain=1.0 / (1 + number / 25))
        self.sweeps, self.r_hat, self.effective_size, length = _WARM_UP, np.inf, 0.0, _WARM_UP
        while self.r_hat > _WANTED_R_HAT or self.effective_size < _WANTED_SIZE:
            if self.sweeps + 2 * length > longest:
                break
            length *= 2
            self._run(chains, length)
        if self.r_hat > _WANTED_R_HAT:
            warnings.warn(
                f"After {self.sweeps} sweeps the chains do not yet agree as they should: R-hat is {self.r_hat:.3f}, "
                f"and {_WANTED_R_HAT} is wanted. Take intervals for rough ones.",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _run(self, chains: Chains, length: int) -> None:
        """Run on for `length` sweeps; these are what is kept, as everything before is at most as much."""
        every = max(1, length // _CHECKED)
        kept = []
        for number in range(length):
            chains.sweep()
            if number % every == every - 1:
                kept.append(chains.tables.copy())
        self.sweeps += length
        draws = np.stack(kept, axis=1)
        means = self._families.means(draws)
        self.r_hat = float(split_r_hat(means).max())
        self.effective_size = float(effective_size(means).min())
        pool = draws.reshape(-1, draws.shape[-1])
        self._pool = pool[:: -(-len(pool) // _KEPT)]

    @property
    def method(self) -> str:
        """Say how long the chains ran, and how well they agree."""
        r_hat, size = f"R-hat {self.r_hat:.3f}", f"effective size {self.effective_size:,.0f}"
        return f"read by Markov chains ({self.sweeps:,} sweeps, {r_hat}, {size})"

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: any of those kept, none twice before all were once."""
        rounds = [generator.permutation(len(self._pool)) for _ in range(-(-count // len(self._pool)) or 1)]
        drawn = self._pool[np.concatenate(rounds)[:count]]
        parts = [drawn[:, self._families.part(v)] for v in range(len(self._families.shape))]
        return [part.reshape(count, -1, levels) for part, levels in zip(parts, self._families.shape, strict=True)]
