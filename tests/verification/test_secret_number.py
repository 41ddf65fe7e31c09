"""Mechanisms of a secret number of records that are wrong on purpose: the audit finds them by draws alone."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mechanism import Mechanism, Sized
from discreet.tables import GaussianTable

COIN = dc.Categories("x", levels=("a", "b"), outside="a")
AGE = dc.NumberSums("age", (0, 8), ("mean", "sum", "variance"))
CELLS = dc.NumberTable("age", (0, 8), 4)
CLASSES = dc.Network.naive_bayes("y", ["f"], {"y": (0, 1), "f": (0, 1)}, outside=0, prior=1)

OPEN: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "LaplaceTable": (lambda e: dc.LaplaceTable(COIN, e), "1", (1, 1)),
    "LaplaceTable with a total": (lambda e: dc.LaplaceTable(COIN, e, total="1/2"), "1", (0, 0, 1)),
    "GaussianTable": (lambda e: GaussianTable(COIN, e, "1e-3"), "1", (1, 1)),
    "CubeSums": (lambda e: dc.CubeSums(AGE, e), "1", (1, 0, 0, 1)),
    "LaplaceSums": (lambda e: dc.LaplaceSums(dc.NumberSums("age", (0, 8)), e), "1", (1, 1, 0, 0, 0, 0)),
    "BlockTable": (lambda e: dc.BlockTable(CELLS, e), "1", (1, 1, 1, 1, 1)),
    "CubeTables": (lambda e: dc.CubeTables(CLASSES, e), "1", (1, 0, 1, 0)),
}
"""How each kind is made, its epsilon, and which of its numbers add up to the records (that have a value)."""
DRAWS = 20_000


def planted(mechanism: Any, sample: Any) -> Any:
    """Return a mechanism that claims what it claimed, and draws otherwise."""
    kind = type(mechanism)
    wrong = type(f"Wrong{kind.__name__}", (kind,), {"sample": sample})
    found: Any = object.__new__(wrong)
    for name, value in vars(mechanism).items():
        object.__setattr__(found, name, value)
    return found


def louder(make: Any, epsilon: str, number: Any) -> Any:
    """Draw at twice the rate, or at four times under a delta, where half of the noise shows in rare events only."""
    right = make(epsilon)
    loud = make((4 if right.guarantee.delta else 2) * Fraction(epsilon))
    return planted(right, lambda _, counts, bits: loud.sample(counts, bits))


def changed(make: Any, epsilon: str, change: Any) -> Any:
    """Draw what is drawn rightly, with its noise changed."""
    right = make(epsilon)

    def sample(_: Any, counts: Any, bits: Any) -> Any:
        exact = right.measured(counts)
        return exact + change(right.sample(counts, bits) - exact, getattr(right.model, "unit", 1))

    return planted(right, sample)


def one_sided(make: Any, epsilon: str, number: Any) -> Any:
    """Never take a record away."""
    return changed(make, epsilon, lambda noise, unit: np.abs(noise))


def keeps_total(make: Any, epsilon: str, number: Any) -> Any:
    """Publish the number of records without noise."""
    return changed(make, epsilon, lambda noise, unit: _without(noise, number, noise @ np.array(number)))


def only_parity(make: Any, epsilon: str, number: Any) -> Any:
    """Hide everything but whether the number of records is even."""
    return changed(make, epsilon, lambda noise, unit: _without(noise, number, noise @ np.array(number) % (2 * unit)))


def _without(noise: Any, number: Any, by: Any) -> Any:
    found = noise.copy()
    found[..., number.index(1)] -= by
    return found


def test_every_kind_is_here() -> None:
    """Pairs of synthesis draw what they choose, and have plants of their own."""
    known = {name for name, kind in Mechanism.registered().items() if not issubclass(kind, Sized)}
    assert known - {"GaussianPairTables"} == {name.split()[0] for name in OPEN}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_drawn_honestly_is_not_accused(name: str) -> None:
    make, epsilon, _ = OPEN[name]
    assert not dc.audit(make(epsilon), draws=DRAWS).violates


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("plant", [louder, one_sided, keeps_total, only_parity])
def test_what_is_drawn_wrongly_is_found(name: str, plant: Any) -> None:
    assert dc.audit(plant(*OPEN[name]), draws=DRAWS).violates
