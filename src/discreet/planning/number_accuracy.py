"""How wide the intervals of a number will be, among the records and in their population, before any budget is spent.

Made-up records are spread between the bounds as Beta distributions are; nothing here touches data. Noise is
proportional to the distance of the bounds, so what a bound costs is said with the widths.
"""

from dataclasses import asdict, dataclass
from math import log, sqrt

import numpy as np

from discreet.errors import DeclarationError
from discreet.exact import exact
from discreet.inference.infer import infer
from discreet.inference.posteriors.row import DAYS
from discreet.mechanisms import Mechanism, with_fields
from discreet.models.numbers import POPULATION
from discreet.planning.work_ahead import planning, require
from discreet.randomness import SeededBits
from discreet.releases import simulate

STUDIES = 8
_STEPS = 12


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
    require(planning([mechanism], studies), patience, "Nothing was made up.")
    found, unit = [], ""
    for number in range(studies):
        made = mechanism.model.made_up(mechanism.size, np.random.default_rng([22, number]))
        posterior = infer(simulate(mechanism, made.statistics, SeededBits(22_000 + number), "planned"))
        rows = posterior.by_draws.rows(level)
        unit = rows[0].unit
        known = mechanism.model.known_rows(made.statistics, mechanism.size, level)
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


def epsilon_for_records(mechanism: Mechanism, width: float, level: float = 0.9) -> float | None:
    """Return about the smallest epsilon at which intervals for the records have a wished mean width; None beyond 100.

    Widths fall nearly as 1/epsilon until cells limit them.
    """
    if not width > 0:
        raise DeclarationError(f"A width of an interval is above 0; got {width}.")
    low, high = 0.01, 100.0

    def excess(epsilon: float) -> float:
        other = with_fields(mechanism, epsilon=exact(f"{epsilon:.4g}", "epsilon"))
        return log(max(expected_widths(other, level, 2).records, 1e-300) / width)

    if excess(high) > 0:
        return None
    if excess(low) <= 0:
        return low
    for _ in range(_STEPS):
        middle = sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def epsilon_for_population(mechanism: Mechanism, stated: NumberWidths, width: float) -> float | None:
    """Return about the epsilon for a wished mean width of intervals for the population; None if sampling forbids it.

    What privacy and what sampling leave open add up as squares, nearly.
    """
    left = width**2 - stated.exact_population**2
    return epsilon_for_records(mechanism, sqrt(left), stated.level) if left > 0 else None
