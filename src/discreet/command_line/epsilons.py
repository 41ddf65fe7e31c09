"""The epsilons that a plan compares, and how they are shown: under a metric, every number is given with its unit."""

from fractions import Fraction

from discreet.errors import DeclarationError
from discreet.exact import exact
from discreet.mechanisms import with_fields
from discreet.study import Question

_TIMES = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


class Epsilons:
    """Values of epsilon for one question, as it declares them: for any change of a record, or per unit of a metric.

    Computations use epsilon for any change. The two are proportional, so one ratio converts between them.
    """

    def __init__(self, question: Question) -> None:
        self._mechanism, promised = question.mechanism, question.mechanism.guarantee
        self._metric = promised.metric if question.is_per_unit else None
        self._any_change = promised.epsilon
        self._ratio = Fraction(1) if self._metric is None else self._metric.epsilon / self._any_change

    def values(self, written: str | None) -> list[Fraction]:
        """Return the epsilons to compare, for any change: as given; by default a quarter to four times the declared."""
        if written is None:
            return [value for times in _TIMES if self._is_possible(value := times * self._any_change)]
        return [exact(text, "--epsilon") / self._ratio for text in written.split(",")]

    def _is_possible(self, value: Fraction) -> bool:
        try:
            with_fields(self._mechanism, epsilon=value)
        except DeclarationError:
            return False
        return True

    @property
    def unit(self) -> str:
        """Return what epsilon is counted in: 'epsilon', or 'epsilon per 1 of age'."""
        return "epsilon" if self._metric is None else f"epsilon per {self._short}"

    @property
    def _short(self) -> str:
        """Return the unit without the remark on rounding, which `sentence` makes once."""
        assert self._metric is not None
        return self._metric.known_metric.unit.partition(", ")[0]

    @property
    def sentence(self) -> list[str]:
        """Say in full what the question declares under a metric, if it does."""
        return [] if self._metric is None else [f"Declared: {self._metric.words}"]

    def head(self, epsilon: float) -> str:
        """Return one value for the head of a column, as it is declared."""
        return f"{self.declared(epsilon):.4g}"

    def declared(self, epsilon: float) -> float:
        """Return an epsilon for any change as the question would declare it."""
        return epsilon * float(self._ratio)

    def words(self, epsilon: float, digits: str = ".2g") -> str:
        """Return one value in words."""
        if self._metric is None:
            return f"epsilon = {epsilon:{digits}}"
        per = f"epsilon = {self.declared(epsilon):{digits}} per {self._short}"
        return f"{per} (for any change whatever: {epsilon:{digits}})"

    def facts(self, epsilon: float) -> dict[str, object]:
        """Return what a document says beside `epsilon`: nothing, or epsilon per unit and the unit."""
        if self._metric is None:
            return {}
        return {"epsilon_per_unit": self.declared(epsilon), "of": self._metric.known_metric.unit}
