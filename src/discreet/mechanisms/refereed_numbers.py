"""What `verify` needs to know of noisy numbers: which outputs to list, which twins to try, which are impossible."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise, product
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.certificates.listing import window
from discreet.errors import DocumentError
from discreet.mechanisms.mechanism import Sized
from discreet.mechanisms.quantities import Quantities
from discreet.models import Categories
from discreet.models.model import Model, ModelT
from discreet.noise import Noise
from discreet.noise.laplace_kernel import by_block
from discreet.noise.noise import MARGIN
from discreet.noise.structure import has_density, log_terms, preserved

_FARTHEST = 10**6  # outputs this many reaches beyond the possible numbers are not read: their probability is e^-1000000


class RefereedNumbers(Sized[ModelT]):
    """Measured numbers plus noise, as seen by `verify`."""

    @property
    @abstractmethod
    def quantities(self) -> Quantities:
        """Return what is measured."""

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """Return the law of the noise."""

    @abstractmethod
    def measured(self, counts: ArrayLike) -> Counts:
        """Return A k, what would be published without noise, for one or many rows of counts."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Say in a few words why the guarantee holds."""

    @abstractmethod
    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array, or refuse what cannot be those of `size` records."""

    @property
    def length(self) -> int:
        return self.quantities.length

    def log_likelihood(self, output: ArrayLike, counts: ArrayLike) -> Floats:
        return self.noise.log_prob(np.asarray(output) - self.measured(counts))

    @property
    def reach(self) -> float:
        """Return how far the noise of the noisiest number reaches, for the width of windows."""
        return float(self.noise.decay_length.max())

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return outputs near these data sets, at most `most`, until the probability beyond is about e^-40.

        None if the probability of an output is not known in closed form.
        """
        if not has_density(self.noise.structure):
            return None
        ends = list(accumulate((0, *self.noise.blocks)))
        blocks = [slice(start, end) for start, end in pairwise(ends)]
        tied = [block for block, keeps in zip(blocks, preserved(self.noise.structure), strict=True) if keeps]
        return window(self.measured(counts), ceil(MARGIN * self.reach) + 2, most, tied)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield the fields of a twin on another model; shares belong to the tables of a network."""
        yield {"shares": None} if hasattr(self, "shares") and model != self.model else {}

    def check_output(self, output: Counts) -> None:
        if output.shape != (self.length,):
            raise DocumentError(f"The output must hold {self.length} numbers; it holds {output.size}.")
        possible = self.size * self.quantities.per_record
        farthest = possible + _FARTHEST * (1 + self.noise.decay_length)
        if any(abs(int(value)) > most for value, most in zip(output, farthest.tolist(), strict=True)):
            raise DocumentError("The output holds numbers too large to be read.")
        for keeps, block in zip(preserved(self.noise.structure), by_block(output, self.noise.blocks), strict=True):
            if keeps and (total := sum(int(value) for value in block)) != possible:
                raise DocumentError(f"The output must add up to the size {possible}; it adds up to {total}.")


class RefereedCounts(RefereedNumbers[Categories]):
    """A noisy table of counts, as seen by `verify`."""

    @property
    def keeps_total(self) -> bool:
        """Tell whether every output adds up to the public size."""
        return preserved(self.noise.structure)[0]

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return log g(noise), cell by cell."""
        return log_terms(self.noise.structure, noise, 0)

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        return self.noise.log_normaliser

    def outputs_near(self, margin: int) -> Counts:
        """Return all outputs whose counts lie between -margin and size + margin: enough to meet every sign of noise."""
        values = range(-margin, self.size + margin + 1)
        cells = len(self.model.cells)
        if not self.keeps_total:
            return np.array(list(product(values, repeat=cells)))
        free = np.array(list(product(values, repeat=cells - 1)))
        return np.column_stack([free, self.size - free.sum(axis=1)])
