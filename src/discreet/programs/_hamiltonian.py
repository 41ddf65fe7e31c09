"""Chains of a Hamiltonian sampler (nutpie) for programs that weighted draws cannot read: a thin, optional layer.

nutpie asks for the log density and its derivative of one point; both come from `Target`. It needs neither PyMC nor a
compiler.
"""

from importlib.util import find_spec
from math import nan
from typing import Any

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.mathematics import BY_DRAWS, WeightedPoints
from discreet.programs._inference import ModelSolution
from discreet.programs._model import ModelledTable
from discreet.programs._target import Populations, ProgramTarget

CHAINS, TUNE, KEPT = 4, 500, 1_000


def is_installed() -> bool:
    """Return whether the sampler is installed."""
    return find_spec("nutpie") is not None


def compiled(target: ProgramTarget | Populations) -> Any:
    """Return a target as nutpie's own model, for those who sample themselves: `nutpie.sample(compiled(target))`."""
    if not is_installed():
        raise DeclarationError("Inference by chains needs nutpie: pip install 'discreet[nutpie]'. Nothing was read.")
    from nutpie.compiled_pyfunc import from_pyfunc  # type: ignore[import-not-found, unused-ignore]

    dimension = target.cells.dimension

    def make_log_density() -> Any:
        def log_density(point: Floats) -> tuple[float, Floats]:
            (value,), (slope,) = target(np.asarray(point, dtype=float)[None])
            return float(value), np.ascontiguousarray(slope)

        return log_density

    def make_expand(*_: object) -> Any:
        return lambda index: {"theta": np.asarray(index, dtype=np.float64)}

    return from_pyfunc(dimension, make_log_density, make_expand, [np.dtype("float64")], [(dimension,)], ["theta"])


def sample_by_chains(
    model: ModelledTable,
    target: ProgramTarget | Populations,
    how: str,
    seed: int = 0,
    kept: int = KEPT,
    tune: int = TUNE,
) -> ModelSolution:
    """Return draws of four chains, each after as many steps of tuning."""
    import nutpie  # type: ignore[import-not-found, unused-ignore]

    trace = nutpie.sample(
        compiled(target), draws=kept, tune=tune, chains=CHAINS, cores=1, seed=seed + 1, progress_bar=False
    )
    points = np.asarray(trace.posterior["theta"].values).reshape(CHAINS * kept, -1)
    logs = target.values(points)
    equal = np.full(len(points), 1 / len(points))
    found = WeightedPoints(points, equal, logs, BY_DRAWS, nan, nan, nan)
    return ModelSolution(model, target, found, how, chains=CHAINS)
