"""One median from a table, and in two steps, at the same epsilon: errors, widths and how often intervals hold it.

Run `python benchmarks/two_step_median.py`. Records are drawn anew for every release, with literal seeds; errors and
widths are in percent of the range between the bounds. The population's median is that of the law of the records.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import discreet as dc

RELEASES, SIZE, EPSILON, CELLS = 100, 1000, 1, 64


def income(generator: np.random.Generator, size: int) -> Any:
    """Return lognormal incomes."""
    return np.clip(generator.lognormal(10.4, 0.7, size), 0, 200_000)


def age(generator: np.random.Generator, size: int) -> Any:
    """Return ages of children and adults."""
    young = generator.random(size) < 0.3
    return np.clip(np.where(young, generator.normal(12, 8, size), generator.normal(50, 18, size)), 0, 99.9)


def compare(name: str, draw: Callable[[np.random.Generator, int], Any], high: int) -> None:
    """Print a line for each way."""
    truth = float(np.median(draw(np.random.default_rng(22), 2_000_000)))
    model = dc.NumberTable("x", (0, high), CELLS, quantiles=("0.5",), missing=0)
    for kind in (dc.TreeTable, dc.numbers.TwoStepMedian):
        mechanism = kind(model, SIZE, EPSILON)
        errors, widths, holds = [], [], []
        for number in range(RELEASES):
            values = draw(np.random.default_rng([22, number]), SIZE)
            middle = float(np.sort(values)[SIZE // 2 - 1])
            drawn = dc.simulate(mechanism, model.rehearse({"x": values.tolist()}), dc.SeededBits(number))
            own, law = dc.infer(drawn).rows()
            errors.append(own.mean - middle)
            widths.append((own.high - own.low, law.high - law.low))
            holds.append((own.low <= middle <= own.high, law.low <= truth <= law.high))
        rmse, wide = np.sqrt(np.mean(np.square(errors))), np.mean(widths, axis=0)
        figures = " ".join(f"{100 * each / high:.2f}" for each in (rmse, *wide))
        held = " ".join(f"{each:.2f}" for each in np.mean(holds, axis=0))
        print(f"{name:8} {kind.__name__:14} {figures}   {held}")


if __name__ == "__main__":
    print(f"{RELEASES} releases of {SIZE} records, epsilon = {EPSILON}, {CELLS} cells")
    print("column   mechanism      rmse, width of the records, of the population (% of range); held by each at 90 %")
    compare("income", income, 200_000)
    compare("age", age, 100)
