"""A reader's own model: any function from parameters to the log probabilities of the cells.

It is not private, and need not be: it only ever sees a release. It stands in no document, as functions do not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.programs._priors import ParameterPrior, prior_of
from discreet.programs._program import Cells, Program
from discreet.records import Column

_SUMS = 1e-9


class CellModel(Program):
    """A model of your own: parameters by name, each with a prior, and `cells`, a function for log P(cell).

    `cells` takes a mapping from names to numbers and returns the log probability of each cell of the table, in order;
    the probabilities must add up to 1. `jacobian`, if given, takes the same mapping and returns their derivatives with
    respect to the parameters, one row for each cell and one column for each parameter; otherwise finite differences are
    used. Parameters that are `exchangeable` vary between populations that are read together, around a common mean.

    >>> fair = CellModel(lambda given: np.log([given["heads"], 1 - given["heads"]]), {"heads": "Beta(2, 2)"})
    >>> fair
    CellModel(heads=Beta(2, 2))
    """

    subject: ClassVar[str] = "a model of the reader's own"

    def __init__(
        self,
        cells: Callable[[Mapping[str, float]], Any],
        parameters: Mapping[str, str | ParameterPrior],
        *,
        jacobian: Callable[[Mapping[str, float]], Any] | None = None,
        exchangeable: Sequence[str] = (),
        columns: Sequence[Column] | None = None,
    ) -> None:
        if not parameters or not callable(cells):
            raise DeclarationError("A CellModel needs a function and its parameters by name: {'rate': 'Gamma(4, 3)'}.")
        self.priors = {name: prior_of(prior, name) for name, prior in parameters.items()}
        if strange := [name for name in exchangeable if name not in self.priors]:
            raise DeclarationError(f"exchangeable names {strange[0]!r}; parameters are {', '.join(self.priors)}.")
        self.exchangeable = tuple(exchangeable)
        self._cells, self._jacobian = cells, jacobian
        if columns is not None:
            self.columns = tuple(columns)

    def __repr__(self) -> str:
        return f"CellModel({', '.join(f'{name}={prior!r}' for name, prior in self.priors.items())})"

    def on(self, columns: Sequence[Column]) -> Cells:
        """Return it on any table; what it gives is checked where it is asked for."""
        cells = int(np.prod([len(column.levels) for column in columns]))
        names, priors = tuple(self.priors), tuple(self.priors.values())

        def naturals(row: Floats) -> dict[str, float]:
            values = [float(prior.natural(row[[index]])[0]) for index, prior in enumerate(priors)]
            return dict(zip(names, values, strict=True))

        def one(row: Floats) -> Floats:
            with np.errstate(all="ignore"):  # samplers look far out
                found = np.asarray(self._cells(naturals(row)), dtype=float)
            if found.shape != (cells,):
                raise DeclarationError(
                    f"The model must return {cells} log probabilities; it returned an array of shape {found.shape}. "
                    "Nothing was read."
                )
            if np.isnan(found).any() or abs(float(np.exp(found).sum()) - 1) > _SUMS:
                raise DeclarationError(
                    f"The model's probabilities must add up to 1; they add up to {float(np.exp(found).sum()):.12g} "
                    f"at {naturals(row)}. Nothing was read."
                )
            return found

        def log_of(theta: Floats) -> Floats:
            return np.array([one(row) for row in theta])

        def pull(theta: Floats, expected: Floats) -> Floats:
            assert self._jacobian is not None
            with np.errstate(all="ignore"):
                rows = [np.asarray(self._jacobian(naturals(row)), dtype=float) for row in theta]
            stretches = np.stack([prior.stretch(theta[:, i]) for i, prior in enumerate(priors)], axis=1)
            return np.asarray(np.einsum("bm,bmd->bd", expected, np.array(rows)) * stretches)

        return Cells(tuple(columns), names, priors, log_of, None if self._jacobian is None else pull)

    def in_words(self) -> str:
        return f"The prior is {'; '.join(f'{name} {prior!r}' for name, prior in self.priors.items())}."
