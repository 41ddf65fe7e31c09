"""What tests of several rooms share."""

import pytest


@pytest.fixture
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is sampled run for a few steps only: how well it mixes is not what is tested here."""
    monkeypatch.setattr("discreet.reading.counts.chains._WARM_UP", 10)
    monkeypatch.setattr("discreet.reading.counts.chains._WANTED_R_HAT", 1e9)
    monkeypatch.setattr("discreet.reading.counts.chains._WANTED_SIZE", 0)
    monkeypatch.setattr("discreet.reading.engines.moments.LOOKS", (1,))
    monkeypatch.setattr("discreet.reading.engines.moments.LEAST_WORTH", 1e-3)
    for name in ("MOST_SHAPE", "GOOD_R_HAT", "BAD_R_HAT"):
        monkeypatch.setattr(f"discreet.reading.engines.moments.{name}", 1e9)
