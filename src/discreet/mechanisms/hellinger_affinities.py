"""How much the posteriors of two tables overlap, enclosed by balls, for all tables of one total in turn.

BC(k, r) is a product over cells of Gamma((a + b)/2) / sqrt(Gamma(a) Gamma(b)), up to what totals share; a table differs
from the one before it in its last cells only, so that most of the product is kept.
"""

from collections.abc import Iterator

from flint import arb

from discreet.arrays import Counts, Floats
from discreet.certificates import compositions


def affinity_balls(alpha: Floats, table: Counts) -> Iterator[arb]:
    """Yield enclosures of BC(k, r) for all tables r of the same total, in the order of `compositions`."""
    size = int(table.sum())
    cells = [_cell_affinities(float(prior), int(count), size) for prior, count in zip(alpha, table, strict=True)]
    before: tuple[int, ...] = ()
    products = [arb(1)]
    for counts in compositions(size, len(table)):
        same = next((i for i, (x, y) in enumerate(zip(before, counts, strict=False)) if x != y), 0)
        del products[same + 1 :]
        for cell in range(same, len(counts)):
            products.append(products[-1] * cells[cell][counts[cell]])
        before = counts
        yield products[-1]


def _cell_affinities(prior: float, count: int, size: int) -> list[arb]:
    """Return Gamma((a + b)/2) / sqrt(Gamma(a) Gamma(b)), a = prior + count, b = prior + r, for r = 0, ..., n.

    One step multiplies by q(a + b)/sqrt(b), q(s) = Gamma((s + 1)/2)/Gamma(s/2), and q(s) q(s + 1) = s/2.
    """
    alpha = arb(prior)
    total = 2 * alpha + count
    ratio = (((total + 1) / 2).lgamma() - (total / 2).lgamma()).exp()
    found = [((total / 2).lgamma() - ((alpha + count).lgamma() + alpha.lgamma()) / 2).exp()]
    for r in range(size):
        found.append(found[-1] * ratio / (alpha + r).sqrt())
        ratio = (total + r) / 2 / ratio
    return found
