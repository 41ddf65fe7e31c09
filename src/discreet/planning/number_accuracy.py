"""How wide the intervals of a number will be, among the records and in their population, before any budget is spent.

Made-up records are spread between the bounds as Beta distributions are; nothing here touches data. Noise is
proportional to the distance of the bounds, so what a bound costs is said with the widths.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt

import numpy as np

from discreet.errors import DeclarationError
from discreet.exact import exact
from discreet.guarantees import Unit
from discreet.inference._infer import infer
from discreet.inference.posteriors.row import DAYS
from discreet.mechanisms import Mechanism, with_fields
from discreet.models.numbers import POPULATION
from discreet.planning.work_ahead import planning
from discreet.randomness import SeededBits
from discreet.reading.patience import require
from discreet.releases import Release

STUDIES = 8
_FEW = 2  # studies for each epsilon of a search
_STEPS = 7
_LEAST, _MOST = 0.01, 100.0
_CLOSE = 1.06  # epsilons closer than this count as equal


@dataclass(frozen=True)
class NumberWidths:
    """Mean widths over made-up studies: of rows about the records, about the population, and with exact statistics.

    `unit` is that of the column, or 'probability' where shares are asked alone.
    """

    epsilon: float
    size: int
    level: float
    records: float
    population: float
    exact_population: float
    unit: str

    def document(self) -> dict[str, object]:
        """Return all figures by name."""
        return asdict(self)


def expected_widths(
    mechanism: Mechanism, level: float = 0.9, studies: int = STUDIES, patience: float = 1.0
) -> NumberWidths:
    """Return how wide the intervals of a number will be on average over what is asked."""
    require(planning([mechanism], studies), patience, "Nothing was simulated.")
    model, (found, unit) = mechanism.model, ([], "")
    tables = [model.made_up(mechanism.size, np.random.default_rng([22, each])).statistics for each in range(studies)]
    outputs = mechanism.sample(np.array(tables), SeededBits(22_000))
    for table, output in zip(tables, outputs.tolist(), strict=True):
        release = Release(mechanism, tuple(output), "planned", Unit(model.protects), simulated=True)
        rows = infer(release).roughly.rows(level)
        unit = rows[0].unit
        known = model.known_rows(table, mechanism.size, level)
        pairs = zip(rows, known, strict=True)
        is_sum = all(row.quantity.startswith("sum") for row in rows)
        own = [(r, wide) for r, (_, wide) in pairs if r.unit == unit and r.quantity.startswith("sum") == is_sum]
        of_all = [(row.high - row.low, width) for row, width in own if row.quantity.endswith(f"({POPULATION})")]
        records = [row.high - row.low for row, _ in own if not row.quantity.endswith(f"({POPULATION})")]
        widths, exactly = np.array(of_all).T if of_all else (np.zeros(1), np.zeros(1))
        found.append((np.mean(records), np.mean(widths), np.mean(exactly)))
    records_width, wide, exactly_wide = np.mean(found, axis=0).tolist()
    epsilon = float(mechanism.guarantee.epsilon)
    unit = "days" if unit == DAYS else unit
    return NumberWidths(epsilon, mechanism.size, level, records_width, wide, exactly_wide, unit)


@dataclass
class WishedWidth:
    """Which epsilon gives intervals of a desired mean width, for the records or for the population.

    Widths fall nearly as 1/epsilon until cells or sampling limit them, so each epsilon to try follows from the widths
    at the previous ones. Every trial serves both rows.
    """

    mechanism: Mechanism
    width: float
    level: float = 0.9

    def __post_init__(self) -> None:
        if not self.width > 0:
            raise DeclarationError(f"The width of an interval must be above 0; got {self.width}.")
        self._tried: dict[float, NumberWidths] = {}

    def _widths(self, epsilon: float) -> NumberWidths:
        if epsilon not in self._tried:
            other = with_fields(self.mechanism, epsilon=exact(f"{epsilon:.3g}", "epsilon"))
            self._tried[epsilon] = expected_widths(other, self.level, _FEW)
        return self._tried[epsilon]

    def for_records(self) -> float | None:
        """Return about the smallest epsilon for the records; None if none up to 100 gives it."""
        return self._search(lambda found: found.records)

    def for_population(self) -> float | None:
        """Return about the smallest epsilon for the population; None if sampling alone, or cells, forbid it."""
        return self._search(lambda found: found.population)

    def _search(self, of: Callable[[NumberWidths], float]) -> float | None:
        low, high, tried = 0.0, 0.0, min(max(float(self.mechanism.guarantee.epsilon), _LEAST), _MOST)
        for _ in range(_STEPS):
            tried = float(f"{tried:.3g}")
            found = self._widths(tried)
            ratio = of(found) / self.width
            low, high = (low, tried) if ratio <= 1 else (tried, high)
            if (high and (high <= _LEAST or high <= _CLOSE * low)) or low >= _MOST:
                break
            guess = (
                tried * min(max(ratio, 1e-3), 1e3) * (1.02 if ratio > 1 else 1.0)
            )  # just narrow enough, if it can be
            inside = (low or _LEAST / 2) < guess < (high or 2 * _MOST) and guess != tried
            guess = guess if inside else sqrt((low or _LEAST) * (high or _MOST))
            tried = min(max(guess, _LEAST), _MOST)
        return high or None
