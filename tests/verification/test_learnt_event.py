"""Learnt regions: thresholds are found where they are, every output has a region, and fresh draws have the say."""

import numpy as np

import discreet as dc
from discreet.networks import CubeCounts
from discreet.noise.randomness._samplers import RandomBits
from discreet.verification import audit
from discreet.verification._audit import _learnt_words, learnt_regions

GENERATOR = np.random.default_rng(9)


def test_a_corner_of_two_numbers_is_found() -> None:
    """P and Q agree on each number alone, and differ in which signs go together."""
    signs = GENERATOR.integers(0, 2, size=8000) * 2 - 1
    sizes = GENERATOR.integers(1, 9, size=(8000, 2))
    same, other = np.column_stack([signs, signs]) * sizes, np.column_stack([signs, -signs]) * sizes
    noise = GENERATOR.integers(-50, 50, size=(8000, 3))
    first, second = np.column_stack([noise, same]), np.column_stack([noise, other])
    regions = learnt_regions(first[:4000], second[:4000], np.array([3, 4]))
    one, two = (np.bincount(regions(side[4000:]), minlength=len(regions.splits) + 1) for side in (first, second))
    chosen = one > two
    assert one[chosen].sum() > 5 * two[chosen].sum()


def test_every_output_has_a_region_even_far_away() -> None:
    draws = GENERATOR.integers(-20, 20, size=(2000, 4))
    regions = learnt_regions(draws, draws + np.array([1, 0, 0, -1]), np.array([0, 3]))
    far = GENERATOR.integers(-(10**9), 10**9, size=(1000, 4))
    places = regions(far)
    assert places.min() >= 0
    assert places.max() <= len(regions.splits)
    assert len(np.unique(regions(draws))) == len(regions.splits) + 1


def test_draws_that_do_not_differ_leave_few_regions_and_no_alarm() -> None:
    constant = np.ones((500, 3), dtype=np.int64)
    regions = learnt_regions(constant, constant, np.array([0]))
    assert regions.splits == ()
    assert (regions(constant) == 0).all()


def test_a_radius_that_is_too_small_by_a_fifth_is_found_by_its_region() -> None:
    """Seed 3; validation/test_audit_power.py measures how often: no single number of a cube tells this much."""
    items = dc.Network.from_edges("a", "b", levels={"a": (0, 1), "b": (0, 1)}, outside=0)

    class Planted:
        model, size = items, 6
        guarantee = dc.Guarantee(1)

        def sample(self, counts: np.ndarray, bits: RandomBits) -> np.ndarray:
            return CubeCounts(items, 6, "1.4").sample(counts, bits)

    found = audit(Planted(), 60_000, seed=3)
    assert found.violates, str(found)
    assert "learnt" in found.event


def test_regions_are_counted_without_the_empty_bin_below_them() -> None:
    assert _learnt_words(np.array([True, True, False])) == "the output lies in 1 of 2 learnt regions"
