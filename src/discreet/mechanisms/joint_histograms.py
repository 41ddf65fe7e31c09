"""JointHistograms: one shared radius for the tables of all maximal families.

Replacing one record moves at most one unit in every table at once, so with d(u) = ||u||_1 / 2 on tables that sum to
zero the largest of the distances is at most 1, and

    P(u) ~ e^(-epsilon max_f d(u_f)),   every u_f of sum zero,

is pure epsilon-differentially private by the triangle inequality, and tight. All tables share one budget instead of
splitting it. That is good where they have similar sizes; a small table beside a large one gets the noise of the large.
The loss has three values, epsilon, 0 and -epsilon, with known probabilities (`noise.shared_radius`).
"""

from dataclasses import dataclass
from functools import cached_property

from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.models.network import Network
from discreet.noise import SharedRadiusLaplace
from discreet.noise.radius import RadiusLaw

MOST_FREE_CELLS = 5000  # the law of the radius takes about the cube of this many steps


@dataclass(frozen=True, init=False, repr=False)
class JointHistograms(NetworkCounts, kind="JointHistograms", version=2):
    """All maximal family tables of a network, with one noise radius: pure epsilon-DP under replacement of one record.

    >>> chain = Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", ("no", "yes")), outside="no")
    >>> JointHistograms(chain, size=100, epsilon=1).space.length
    8
    """

    reason = "noise of norm max_f ||u_f||_1/2 on family tables (triangle inequality)"

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        if (why := joint_refusal(model)) is not None:
            raise DeclarationError(f"JointHistograms cannot publish this network: {why}. Use FamilyHistograms.")

    @cached_property
    def noise(self) -> SharedRadiusLaplace:
        return SharedRadiusLaplace(self.epsilon, self.quantities.blocks)

    @property
    def tables(self) -> tuple[int, ...]:
        """Return the number of cells of each maximal family."""
        return self.quantities.blocks

    @property
    def radius(self) -> RadiusLaw:
        """Return the law of the shared radius: P(r) ~ e^(-epsilon r) prod_f V_f(r)."""
        return self.noise.radius

    def cell_variance(self, cells: int) -> float:
        """Return the variance of a cell of a table of so many cells."""
        return self.noise.cell_variance(cells)


def joint_refusal(network: Network) -> str | None:
    """Tell why JointHistograms does not fit a network, or nothing if it does."""
    free = network.cells - len(network.maximal_families)
    if free > MOST_FREE_CELLS:
        return f"its tables have {free} free cells, more than the {MOST_FREE_CELLS} allowed"
    return None
