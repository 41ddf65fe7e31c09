"""What tests of several rooms share."""

from importlib import import_module

import pytest
from hypothesis import settings

settings.register_profile("alike", derandomize=True, deadline=None, database=None)  # on every machine, however slow
settings.load_profile("alike")


@pytest.fixture
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is sampled run for a few steps only: how well it mixes is not what is tested here."""
    for name, few in (
        ("FEW", 8),
        ("MANY", 8),
        ("WARM", 4),
        ("BLOCK", 4),
        ("_WANTED_R_HAT", 1e9),
        ("_WANTED_SIZE", 0),
        ("_APART", 1e9),
    ):
        monkeypatch.setattr(f"discreet.inference._sampled_tables.{name}", few)
    monkeypatch.setattr("discreet.inference._sampled_tables._WANTED_TAIL", 0)
    monkeypatch.setattr("discreet.inference._tempered_evidence.EACH", 4)
    monkeypatch.setattr("discreet.networks._posterior.DRAWS", 200)
    for name in ("_TRIALS", "_DRAWS", "_AROUND"):
        monkeypatch.setattr(f"discreet.tables._importance_solver.{name}", 60)
    for name, few in (("_NARROWEST", 1), ("_PROBES", 4), ("_AT", 4), ("_CHECKED", 2)):
        monkeypatch.setattr(f"discreet.tables._importance_solver.{name}", few)
    for name in ("_MOST_BLOCKS", "_LEAST_ROUNDS", "_MOST_ROUNDS"):
        monkeypatch.setattr(f"discreet.tables._importance_solver.{name}", 1)
    monkeypatch.setattr("discreet.regression._solver.LOOKS", (1,))
    for name, little in (("DRAWS", 256), ("MOST_DRAWS", 1024), ("LEAST_WORTH", 1e-3), ("GOOD_WORTH", 100.0)):
        monkeypatch.setattr(f"discreet.regression._solver.{name}", little)
    for name in ("MOST_SHAPE", "GOOD_R_HAT", "BAD_R_HAT"):
        monkeypatch.setattr(f"discreet.regression._solver.{name}", 1e9)


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let audits draw and enumeration compare a little, and losses be added on a coarse grid.

    How well a violation is found, and how finely losses are added, is tested elsewhere.
    """
    for module, name, little in (
        ("verification._audit", "_SLOW_DRAWS", 2),
        ("verification._audit", "_LEAST", 4),
        ("verification._enumerate", "MOST_COMPARISONS", 20_000),
        ("planning._accuracy", "MOST_STUDIES", 4),
        ("privacy._composition", "_FINEST", 1e-2),
        ("networks._posterior", "DRAWS", 200),
    ):
        monkeypatch.setattr(import_module(f"discreet.{module}"), name, little)
