"""Three records of a coin, published on a ledger: what tests of ledgers share."""

from pathlib import Path

import discreet as dc

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
DATA = {"x": ["no", "yes", "yes"]}


def publish_once(path: Path, epsilon: str = "0.1", label: str = "one") -> dc.Release:
    mechanism = dc.GeometricHistogram(COIN, size=3, epsilon=epsilon)
    return dc.publish(mechanism, COIN.statistics(DATA), ledger=dc.Ledger.open(path), label=label)
