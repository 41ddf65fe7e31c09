"""What all models share, whatever they say about the records: they count them, and can be told apart.

The rest, a prior that can be replaced or the posterior itself, belongs to each kind of model.
"""

from typing import TYPE_CHECKING, Any, Protocol

from discreet.models.statistics import Statistics


class Model(Protocol):
    """What a mechanism, a release and an engine can ask of every model."""

    def __hash__(self) -> int:
        """Tell models apart: they are frozen data."""

    def statistics(self, data: object) -> Statistics:
        """Count the records of a frame or another source. The result is secret."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ModelT = TypeVar("ModelT", bound=Model, default=Any, covariant=True)  # a document may hold any model
else:
    from typing import TypeVar

    ModelT = TypeVar("ModelT", covariant=True)
