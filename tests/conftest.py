"""What tests of several rooms share."""

import pytest


@pytest.fixture
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is sampled run for a few steps only: how well it mixes is not what is tested here."""
    for name, few in (("FEW", 8), ("MANY", 8), ("WARM", 4), ("BLOCK", 4), ("_WANTED_R_HAT", 1e9), ("_WANTED_SIZE", 0)):
        monkeypatch.setattr(f"discreet.reading.counts.sampled.{name}", few)
    monkeypatch.setattr("discreet.reading.counts.sampled._WANTED_TAIL", 0)
    monkeypatch.setattr("discreet.reading.counts.tempered.EACH", 4)
    for name in ("_TRIALS", "_DRAWS", "_AROUND"):
        monkeypatch.setattr(f"discreet.reading.engines.weighted_tables.{name}", 60)
    for name in ("_MOST_BLOCKS", "_LEAST_ROUNDS", "_MOST_ROUNDS"):
        monkeypatch.setattr(f"discreet.reading.engines.weighted_tables.{name}", 1)
    monkeypatch.setattr("discreet.reading.engines.moments.LOOKS", (1,))
    monkeypatch.setattr("discreet.reading.engines.moments.LEAST_WORTH", 1e-3)
    for name in ("MOST_SHAPE", "GOOD_R_HAT", "BAD_R_HAT"):
        monkeypatch.setattr(f"discreet.reading.engines.moments.{name}", 1e9)
