"""What a type checker knows of a reading: the model says which posterior it is. The checker is mypy."""

from pathlib import Path
from typing import assert_type

import pytest

import discreet as dc
from discreet.ledger._chain import append, newest
from discreet.networks import NetworkPosterior
from discreet.tables import CategoriesPosterior

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
PAIR = dc.Network.from_edges("a -> b", levels={"a": (0, 1), "b": (0, 1)}, outside=0)


def test_a_release_knows_its_model_and_its_reading_the_posterior() -> None:
    release = dc.simulate(dc.GeometricHistogram(COIN, size=40, epsilon=1), (30, 10), dc.SeededBits(1))
    assert_type(release, dc.Release[dc.Categories])
    assert isinstance(assert_type(dc.infer(release), CategoriesPosterior), CategoriesPosterior)
    tables = dc.simulate(dc.FamilyHistograms(PAIR, size=40, epsilon=1), (10, 10, 10, 10), dc.SeededBits(1))
    assert_type(tables.model, dc.Network)
    assert isinstance(assert_type(dc.infer(tables), NetworkPosterior), NetworkPosterior)


def test_mechanisms_show_all_their_facts_in_one_way() -> None:
    model = "Categories('coin', levels=('heads', 'tails'), outside='heads', prior=None)"
    shown = f"DiscreteGaussianCounts({model}, size=40, epsilon='1', delta='1e-6', "
    assert repr(dc.tables.DiscreteGaussianCounts(COIN, 40, 1, "1e-6")).startswith(shown)
    assert repr(dc.FamilyHistograms(PAIR, 40, 1)) == "FamilyHistograms(Network('a', 'a -> b'), size=40, epsilon='1')"
    assert repr(dc.networks.FourierCounts(PAIR, 40, 1, shares=(2, 1, 1))).endswith("epsilon='1', shares=(2, 1, 1))")


def test_an_amount_says_what_it_counts(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=1)
    assert ledger.limit.epsilon == 1
    with pytest.raises(AttributeError, match="This amount has epsilon and delta, no rho"):
        ledger.limit.rho  # noqa: B018 - refused


def test_an_entry_whose_parts_have_other_types_is_refused_in_words(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon=1)
    with ledger._chain.write_transaction() as connection:
        head = newest(connection)
        append(connection, head, {**head.body, "unit": 3})  # type: ignore[typeddict-item]
    with pytest.raises(dc.LedgerError, match=r"Entry 2 .* cannot be read: it was edited"):
        ledger.check()
