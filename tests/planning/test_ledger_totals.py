"""What a ledger's charges cost together is what the mechanisms behind them cost, whether a delta is left or not."""

from pathlib import Path

import pytest

import discreet as dc
from discreet.planning import ledger_totals
from discreet.privacy import compose

MODEL = dc.Categories("x", levels=("a", "b", "c"), outside="a")


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_charges_cost_what_their_mechanisms_cost(tmp_path: Path, delta: str) -> None:
    asked = [dc.GeometricHistogram(MODEL, 30, epsilon) for epsilon in ("0.5", "0.25", "0.5")]
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=3, delta=delta)
    for number, mechanism in enumerate(asked):
        dc.publish(mechanism, MODEL.statistics({"x": ["b"] * 30}), ledger=ledger, label=f"x{number}")
    found, together = ledger_totals(ledger), compose(asked, delta)
    assert found.document() == pytest.approx(together.document(), nan_ok=True)
    assert found.basic == together.basic
