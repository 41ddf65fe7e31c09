"""Repeatable bits, for simulation alone; what is published takes those of the operating system."""

import numpy as np
from numpy.typing import NDArray


class SeededBits:
    """Repeatable bits for simulation. Never private: anyone who knows the seed can subtract the noise."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._generator = np.random.Philox(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def __repr__(self) -> str:
        return f"SeededBits({self.seed})"
