"""Arrays of the two types that everything here is made of: whole numbers that are counted, and floats."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
