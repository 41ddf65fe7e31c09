"""Secret statistics: all that a mechanism ever sees of the records.

They show no value when printed and cannot be pickled, copied, compared, iterated or written as JSON by accident. The
one place that opens them is `publish`.
"""

from typing import NoReturn, final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import SecretError


@final
class Statistics:
    """The secret sufficient statistics of a model: whole numbers, and how many records they were counted from.

    >>> import numpy as np
    >>> Statistics("a model", np.array([600, 400, 200]), records=1200)
    Statistics(<3 secret values>)
    """

    __slots__ = ("_records", "_values", "model")

    def __init__(self, model: object, values: NDArray[np.int64], records: int) -> None:
        self.model = model
        self._values = np.asarray(values, dtype=np.int64)
        self._records = int(records)

    def describes(self, model: object, size: int) -> bool:
        """Tell whether these are statistics of this model from `size` records. Both are public facts."""
        return bool(self.model == model) and self._records == size

    def open_for_publishing(self) -> NDArray[np.int64]:
        """Return the secret values. Only `publish` calls this; a test holds the whole library to it."""
        return self._values.copy()

    def __repr__(self) -> str:
        return f"Statistics(<{self._values.size} secret values>)"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise SecretError(
            "Statistics are secret: they are not compared, copied, stored or turned into something else. "
            "Publish them under a guarantee with discreet.publish(mechanism, statistics, ledger=..., label=...)."
        )

    __reduce_ex__ = __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __iter__ = __len__ = __getitem__ = __bool__ = __int__ = __float__ = __index__ = _refuse
    __array__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = _refuse
    __hash__ = None  # type: ignore[assignment]
