"""The outputs that a mechanism can give: how many whole numbers, and what else is known of them in advance."""

from collections.abc import Callable
from dataclasses import dataclass

from discreet._core.arrays import Counts
from discreet._core.errors import DocumentError


@dataclass(frozen=True, eq=False)
class OutputSpace:
    """`length` whole numbers; `refusal` says in words why some of them are no output, or nothing if they are one."""

    length: int
    refusal: Callable[[Counts], str | None]
    noun: str = "numbers"

    def check(self, output: Counts) -> None:
        """Refuse an output that the mechanism cannot have given."""
        if output.shape != (self.length,):
            raise DocumentError(f"The output must hold {self.length} {self.noun}; it holds {output.size}.")
        if (words := self.refusal(output)) is not None:
            raise DocumentError(words)
