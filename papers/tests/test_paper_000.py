"""The reproductions of the draft have the digits that are written about them."""

import numpy as np
import pytest

from discreet.choices._posterior_distances import Tables
from discreet_papers import reproduction_named
from discreet_papers.paper_000.proposition_1 import edges


def test_propositions_fail_where_the_register_says() -> None:
    rows = reproduction_named("000-proposition-1").run(False).rows
    assert sum(row["first_half"] for row in rows) == 0
    assert sum(row["second_half"] for row in rows) == 396
    assert sum(row["second_half_mirrored"] for row in rows) == 0
    assert all(row["exceptions"] == 0 for row in reproduction_named("000-proposition-2").run(True).rows)
    third = reproduction_named("000-proposition-3").run(True).rows
    assert [row["size"] for row in third if not row["strict"]] == [2, 3]


def test_for_five_records_the_edges_beside_the_middle_differ() -> None:
    assert edges(5)[1:3] == pytest.approx([0.29809713, 0.28215515], abs=5e-9)


def test_the_base_case_is_an_identity_that_needs_four_records() -> None:
    for n in range(0, 100, 2):
        assert (n - 1) ** 2 * (n + 2) * (n + 4) - (n + 3) ** 2 * n * (n - 2) == 8 * n + 8
        assert (n // 2 + 2 <= n) == (n >= 4)


def test_the_best_candidate_is_not_the_worst_of_a_neighbour_from_three_records_on() -> None:
    for size in range(3, 40):
        tables = Tables(np.ones(2), size)
        distances = tables.distances(tables.all)
        for x in range(size):
            assert distances[x, x] == 0
            assert distances[x + 1, x] < distances[x + 1].max()


def test_the_local_mechanism_loses_what_the_register_says() -> None:
    rows = reproduction_named("000-local-sensitivity").run(True).rows
    ratios = {row["prior"]: row["ratio"] for row in rows}
    assert ratios["(1.0, 1.0)"] == pytest.approx(0.746941, abs=5e-7)
    assert ratios["(0.0001, 1.0)"] == pytest.approx(1.00028731405, abs=1e-11)
    assert ratios["(20.0, 20.0, 20.0)"] == pytest.approx(1.2386, abs=5e-5)
