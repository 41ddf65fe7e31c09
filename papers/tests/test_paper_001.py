"""The reproductions of the poster have the digits that are written about them."""

from itertools import pairwise

import pytest

from discreet_papers import reproduction_named
from discreet_papers.paper_001.figure_2a import compare, exponential_mean
from discreet_papers.paper_003 import smooth_law


@pytest.mark.parametrize(("cells", "before", "after"), [(2, 338, 340), (3, 399, 402)])
def test_the_lines_of_figure_2_cross_where_the_register_says(cells: int, before: int, after: int) -> None:
    early, late = compare(cells, (before, after))
    assert early["exponential"] > early["dimension_laplace"]
    assert late["exponential"] < late["dimension_laplace"]
    assert late["exponential"] > late["histogram_laplace"]


def test_three_dimensions_have_their_digits() -> None:
    (row,) = compare(3, (402,))
    assert row["exponential"] == pytest.approx(0.200689, abs=5e-7)
    assert row["dimension_laplace"] == pytest.approx(0.200869, abs=5e-7)


def test_four_dimensions_have_not_crossed_at_six_hundred() -> None:
    (row,) = compare(4, (600,))
    assert row["exponential"] == pytest.approx(0.521404, abs=5e-7)
    assert row["dimension_laplace"] == pytest.approx(0.315529, abs=5e-7)


@pytest.mark.parametrize(("cells", "size"), [(2, 30), (3, 30), (4, 20)])
def test_candidates_that_are_permuted_are_counted_once_and_weighted(cells: int, size: int) -> None:
    plain = smooth_law((1.0,) * cells, (size // cells,) * cells, "1", "1e-8").mean
    assert exponential_mean(cells, size) == pytest.approx(plain, rel=1e-12)


def test_the_sensitivities_of_figure_1() -> None:
    rows = reproduction_named("001-figure-1").run(True).rows
    local = {row["count"]: row["local"] for row in rows if row["size"] == 100}
    assert (local[50], local[0]) == pytest.approx((0.070276, 0.338940), abs=5e-7)
    assert min(local.values()) == local[50]


def test_the_prior_of_figure_3a_brings_mechanisms_closer() -> None:
    rows = reproduction_named("001-figure-3a").run(True).rows
    first, last = ([row["mean"] for row in rows if row["prior"] == prior] for prior in (1, 100))
    assert first == pytest.approx([0.3481, 0.0670, 0.1355], abs=5e-5)
    assert last == pytest.approx([0.0804, 0.0391, 0.0801], abs=5e-5)


@pytest.mark.parametrize("name", ["001-figure-3b", "001-figure-3c"])
def test_probabilities_fall_with_the_distance(name: str) -> None:
    rows = reproduction_named(name).run(True).rows
    for mechanism in {row["mechanism"] for row in rows}:
        own = sorted((row for row in rows if row["mechanism"] == mechanism), key=lambda row: row["distance"])
        values = [row["probability"] for row in own if row["distance"] < 0.999]
        assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(values))
