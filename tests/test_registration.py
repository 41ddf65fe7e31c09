"""Models, mechanisms, solvers and posteriors register by themselves: nothing lists them, and all are found."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import discreet as dc
from discreet.kinds import SOLVERS
from discreet.models import Model
from discreet.reading import CostEstimate, Exactness, Problem, Solver, solver_for
from discreet.reading.published import Reading

ROOT = Path(dc.__file__).parent
RELEASES = Path(__file__).parent / "documents" / "before-house" / "releases"
COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
CASE = Problem.before(dc.GeometricHistogram(COIN, size=5, epsilon=1))


@pytest.mark.parametrize(
    "asked", ["dc.Release.from_json(open(path).read())", "dc.Mechanism.registered()['RoundedLaplace']"]
)
def test_what_was_published_is_found_by_its_kind_when_nothing_else_is_loaded(asked: str) -> None:
    path = RELEASES / "laplace-rounded.json"
    code = (
        f"import sys, discreet as dc; path = {str(path)!r}; dc.Release; dc.Mechanism; "
        "assert not any(name.startswith('discreet_papers') for name in sys.modules); "
        f"assert 'RoundedLaplace' in str({asked})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_engines_of_a_model_state_different_places_and_the_exact_ones_come_first() -> None:
    best_first = list(Exactness)
    for module in {solver.rpartition(".")[0] for _, solver, _ in SOLVERS}:
        import_module(module)
    for model in Model.registered().values():
        places = {place: kind for kind, place in Solver.registered.items() if issubclass(model, kind.models)}
        assert len(places) == sum(issubclass(model, kind.models) for kind in Solver.registered) > 0, model
        order = [best_first.index(places[place].exactness) for place in sorted(places)]
        assert order == sorted(order), model


@pytest.mark.parametrize(("place", "is_asked"), [(5, True), (10**6, False)])
def test_an_engine_is_asked_at_the_place_that_it_states(
    place: int, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver_for(CASE)
    monkeypatch.setattr(Solver, "registered", dict(Solver.registered))

    class Eager(Solver, place=place):
        models = (dc.Categories,)

        def unsupported_reason(self, problem: Problem) -> None:
            return None

        def cost(self, problem: Problem) -> CostEstimate:
            return CostEstimate("nothing", 1.0)

        def solve(self, problem: Problem) -> Reading:
            raise AssertionError

    assert isinstance(solver_for(CASE), Eager) is is_asked


def test_outside_the_rooms_of_mechanisms_only_the_chooser_names_one() -> None:
    kinds = set(dc.Mechanism.registered())
    for path in ROOT.rglob("*.py"):
        where = path.relative_to(ROOT)
        if where.parts[0] == "mechanisms" or where.as_posix() == "planning/suggest.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & kinds
        named |= {
            each.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names
        } & kinds
        assert not named, f"{where} names {named}"
