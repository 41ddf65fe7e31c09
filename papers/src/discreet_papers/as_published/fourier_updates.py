"""FourierUpdates: algorithm 2 of Zhang, Rubinstein and Dimitrakakis (2016), with integer noise.

All Fourier coefficients c_g of the families, the empty block with c_0 = n among them, get Laplace noise of scale
2 |N| / epsilon, where |N| is their number. Here e_g = (n + c_g) / 2 is published with discrete Laplace noise of rate
epsilon / |N|, so that c_g has noise of that scale on the even numbers: whether c_g is odd is public with n. One
record moves each e_g by one at most and never e_0. So the mechanism is private for epsilon M / |N|, less than epsilon,
where M is the largest number of coefficients that one record moves; that is what is stated and charged.

The published algorithm then adds 4 t |N|^2 / epsilon to c_0, so that the tables look like counts more often.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import Exact
from discreet.mechanism import within_bounds
from discreet.networks import Network, parity_changes
from discreet.networks._coefficients import Parities
from discreet.networks._fourier_counts import ParityCounts
from discreet.networks._record_changes import pattern_records


@dataclass(frozen=True, init=False, repr=False)
class FourierUpdates(ParityCounts, kind="FourierUpdates", version=2):
    """Every Fourier coefficient of every family, with noise of the published scale; the output begins with e_0.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
    >>> mechanism = FourierUpdates(net, size=100, epsilon=1)
    >>> mechanism.space.length, mechanism.guarantee.epsilon
    (4, Fraction(1, 2))
    """

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        within_bounds(self.rate, "epsilon over the number of coefficients")
        within_bounds(self.guarantee.epsilon, "the true epsilon")

    @property
    def rate(self) -> Fraction:
        """Return the rate of the noise of every number, epsilon / |N|."""
        return self.epsilon / (1 + len(self.basis.blocks))

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """Return the same rate for e_0 and every block."""
        return (self.rate,) * (1 + len(self.basis.blocks))

    @cached_property
    def quantities(self) -> Parities:
        """Return e_0 = n, then e_g of every block."""
        return Parities(self.model, with_total=True)

    @property
    def moved(self) -> int:
        """Return M, the largest number of coefficients that one replaced record moves."""
        return int(self.pure_epsilon / self.rate)

    @property
    def reason(self) -> str:
        """Say why the guarantee holds, with how many numbers one record moves."""
        return (
            f"discrete Laplace noise on {self.quantities.length} parity counts, of which one record moves {self.moved}"
        )

    def worst_records(self) -> Counts:
        """Return two records that differ in the worst pattern of variables, which is found exactly."""
        _, pattern = parity_changes(self.model).worst([1] * len(self.basis.blocks))
        return pattern_records(self.model, pattern)

    def totals(self, output: Counts) -> Floats:
        """Return the noisy c_0 = 2 e_0 - n."""
        return np.asarray(2 * np.asarray(output)[..., 0] - self.size, dtype=float)

    def increment(self, t: float) -> float:
        """Return what is added to c_0, 4 t |N|^2 / epsilon: a multiple 2^-|S| of it in every cell."""
        return 4 * t * self.quantities.length**2 / float(self.epsilon)

    def published_tables(self, output: Counts, t: float) -> dict[str, NDArray[np.float64]]:
        """Return the tables that algorithm 2 adds to the prior, with the increment of `t`."""
        return self.basis.tables(self.coefficients(output), self.totals(output) + self.increment(t))

    def looks_like_counts(self, output: Counts, t: float) -> NDArray[np.bool_]:
        """Tell, for one output or many, whether no cell of any table is negative: what the paper calls stealth."""
        tables = self.published_tables(output, t).values()
        lead = np.asarray(output).shape[:-1]
        return np.asarray(np.min([table.reshape(*lead, -1).min(axis=-1) for table in tables], axis=0) >= 0)
