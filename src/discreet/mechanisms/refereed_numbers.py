"""What a referee asks of noisy numbers: which outputs to list, which twins to try, and which outputs cannot be."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from math import ceil

from numpy.typing import ArrayLike

from discreet.arrays import Counts
from discreet.certificates.listing import window
from discreet.errors import DocumentError
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.quantities import Quantities
from discreet.models.model import Model, ModelT
from discreet.noise import NoiseLaw
from discreet.noise.laplace_kernel import by_block

_FARTHEST = 10**6  # outputs this many reaches beyond the possible numbers are not read: their probability is e^-1000000


class RefereedNumbers(Mechanism[ModelT]):
    """Measured numbers plus noise, as a referee sees them."""

    @property
    @abstractmethod
    def quantities(self) -> Quantities:
        """Return what is measured."""

    @property
    @abstractmethod
    def noise(self) -> NoiseLaw:
        """Return the law of the noise."""

    @abstractmethod
    def measured(self, counts: ArrayLike) -> Counts:
        """Return A k, what would be published without noise, for one or many rows of counts."""

    @property
    def reach(self) -> float:
        """Return how far the noise of the noisiest number reaches, for the width of windows."""
        return float(self.noise.reach.max())

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return outputs near these data sets, at most so many, until what lies beyond is about e^-40."""
        ends = list(accumulate((0, *self.noise.blocks)))
        blocks = [slice(start, end) for start, end in pairwise(ends)]
        tied = [block for block, keeps in zip(blocks, self.noise.keeps_totals, strict=True) if keeps]
        return window(self.measured(counts), ceil(45 * self.reach) + 2, most, tied)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give what a twin on another model has instead: shares belong to the tables of a network."""
        yield {"shares": None} if hasattr(self, "shares") and model != self.model else {}

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        if output.shape != (self.length,):
            raise DocumentError(f"The output must have {self.length} numbers; it has {output.size}.")
        possible = self.size * self.quantities.per_record
        farthest = possible + _FARTHEST * (1 + self.noise.reach)
        if any(abs(int(value)) > most for value, most in zip(output, farthest.tolist(), strict=True)):
            raise DocumentError("The output holds numbers beyond any that can be read.")
        for keeps, block in zip(self.noise.keeps_totals, by_block(output, self.noise.blocks), strict=True):
            if keeps and (total := sum(int(value) for value in block)) != self.size:
                raise DocumentError(f"The output must sum to the size {self.size}; it sums to {total}.")
