"""Models, mechanisms, solvers and posteriors register by themselves: nothing lists them, and all are found."""

import ast
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import discreet as dc
from discreet.inference import CostEstimate, Exactness, Problem, Solver, solver_for
from discreet.inference._problem import Solution
from discreet.inference._solvers import SOLVERS
from discreet.mechanism import Model

QUESTIONS = {"tables", "numbers", "regression", "networks", "programs", "draws", "choices"}
ROOT = Path(dc.__file__).parent
RELEASES = Path(__file__).parents[1] / "documents" / "before-house" / "releases"
COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
PROBLEM = Problem.before(dc.GeometricHistogram(COIN, size=5, epsilon=1))


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


def test_every_solver_stands_in_the_list_of_its_models_and_the_exact_ones_come_first() -> None:
    for module in walk_packages(dc.__path__, "discreet."):
        if not module.name.startswith(
            ("discreet.programs.bridges", "discreet.sklearn", "discreet.server", "discreet.cli")
        ):
            import_module(module.name)
    best_first, listed = list(Exactness), [name for names in SOLVERS.values() for name in names]
    own = {name: kind for name, kind in Solver.registered.items() if name.startswith("discreet.") and kind.models}
    assert sorted(listed) == sorted(own)  # each once, and none is forgotten
    for model, names in SOLVERS.items():
        kinds = [own[name] for name in names]
        assert all(model in {f"{each.__module__}.{each.__name__}" for each in kind.models} for kind in kinds), model
        order = [best_first.index(kind.exactness) for kind in kinds]
        assert order == sorted(order), model
    for made in Model.registered().values():
        assert any(issubclass(made, kind.models) for kind in own.values()), made


@pytest.mark.parametrize(("reads", "is_asked"), [(Exactness.EXACT, True), (Exactness.APPROXIMATE, False)])
def test_a_solver_of_the_running_program_is_asked_before_those_that_read_no_better(
    reads: Exactness, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver_for(PROBLEM)
    monkeypatch.setattr(Solver, "registered", dict(Solver.registered))

    class Eager(Solver):
        models = (dc.Categories,)
        exactness = reads

        def unsupported_reason(self, problem: Problem) -> None:
            return None

        def cost(self, problem: Problem) -> CostEstimate:
            return CostEstimate("nothing", 1.0)

        def solve(self, problem: Problem) -> Solution:
            raise AssertionError

    assert isinstance(solver_for(PROBLEM), Eager) is is_asked
    with_margins = replace(PROBLEM, observed=(*PROBLEM.observed, replace(PROBLEM.observed[0], is_margin=True)))
    assert not isinstance(solver_for(with_margins), Eager)  # which it does not say that it handles


def test_outside_the_folders_of_questions_only_the_chooser_names_a_mechanism() -> None:
    kinds = set(dc.Mechanism.registered())
    for path in ROOT.rglob("*.py"):
        where = path.relative_to(ROOT)
        if where.parts[0] in QUESTIONS or where.as_posix() == "planning/_suggest.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & kinds
        named |= {
            each.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for each in node.names
        } & kinds
        assert not named, f"{where} names {named}"
