"""PyMC: the likelihood of a release as one operation with a gradient, and a potential for models.

There is no random variable of records to draw from, so a release enters as a potential, not as observed data.
"""

from typing import Any

import numpy as np
import pymc  # type: ignore[import-not-found, unused-ignore]
import pytensor.tensor as pt  # type: ignore[import-not-found, unused-ignore]
from pytensor.graph.basic import Apply  # type: ignore[import-not-found, unused-ignore]
from pytensor.graph.op import Op  # type: ignore[import-not-found, unused-ignore]

from discreet.programs._likelihood import CellFunction


class ReleaseOp(Op):  # type: ignore[misc, unused-ignore]
    """log P(release | p) and its gradient, E[true counts | release, p], for one row of log p."""

    def __init__(self, likelihood: CellFunction) -> None:
        self.likelihood = likelihood

    def make_node(self, log_probabilities: Any) -> Any:
        """Return the node: one vector in, a number and a vector out."""
        given = pt.as_tensor_variable(log_probabilities).astype("float64")
        return Apply(self, [given], [pt.dscalar(), pt.dvector()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """Compute both; impossible points get -inf and a gradient of 0."""
        value, expected = self.likelihood.unchecked(np.asarray(inputs[0], dtype=float))
        outputs[0][0], outputs[1][0] = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)

    def grad(self, inputs: Any, output_gradients: Any) -> list[Any]:
        """Return the gradient of the value: the expected counts."""
        return [output_gradients[0] * self(*inputs)[1]]


def release_potential(name: str, likelihood: CellFunction, log_probabilities: Any) -> Any:
    """Add a release to the model under construction; `log_probabilities` are those of all cells, normalised."""
    return pymc.Potential(name, ReleaseOp(likelihood)(log_probabilities)[0])
