"""A rule stands in one place: whoever writes it a second time is found by its mark."""

import ast
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

import discreet as dc
from discreet.mathematics import log_prior, log_prior_constant, log_prior_windows

SOURCE = Path(dc.__file__).parent
MODULES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))
}  # fmt: skip


def modules_with(mark: Callable[[ast.AST], bool], *folders: str) -> set[str]:
    """Return the modules below some folders, or of the whole package, in which a mark is found."""
    inside = {name: tree for name, tree in MODULES.items() if not folders or name.startswith(folders)}
    return {name for name, tree in inside.items() if any(mark(node) for node in ast.walk(tree))}


def called(node: ast.AST) -> str:
    """Return the name of the function that is called, if one is."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def defined(*names: str) -> Iterator[tuple[str, str]]:
    """Give every module-level function of these names, with its module."""
    for module, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.strip("_") in names:
                yield module, node.name


def test_what_is_negligible_is_said_once() -> None:
    """Windows, kernels and densities end 45 nats below their peak: `noise.MARGIN`."""

    def is_mark(node: ast.AST) -> bool:
        return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 45

    hermite, digits = "programs/families/_record_totals.py", "draws/_network_loss.py"  # other numbers 45
    outside = {"report/", "server/", "cli/"}  # sizes of pictures, seconds
    found = {name for name in modules_with(is_mark) if not name.startswith(tuple(outside))}
    assert found == {"noise/_noise.py", hermite, digits}


def test_the_prior_of_counts_stands_in_one_module() -> None:
    home = "mathematics/_dirichlet_multinomial.py"
    assert {module for module, _ in defined("log_prior", "log_prior_constant", "log_prior_total", "log_ways")} == {home}


@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0), (0.3, 2.5, 1.0)])
def test_the_prior_of_counts_is_the_dirichlet_multinomial_law(alpha: tuple[float, ...]) -> None:
    size, shape = 6, np.array(alpha)
    tables = np.array([table for table in product(range(size + 1), repeat=3) if sum(table) == size])
    logs = log_prior(shape, tables).sum(axis=1) + log_prior_constant(float(shape.sum()), size)
    slow = dirichlet_multinomial(alpha, np.array(size)).logpmf(tables)
    assert logs == pytest.approx(slow, abs=1e-12)
    windows = log_prior_windows(shape, np.zeros(3, dtype=np.int64), size + 1)
    assert windows == pytest.approx(log_prior(shape[:, None], np.arange(size + 1)), abs=1e-12)
    assert dc.Categories("x", ("a", "b", "c"), prior=alpha, outside="a").log_evidence(tables) == pytest.approx(logs)


def test_what_is_refused_before_a_charge_is_decided_in_one_module() -> None:
    """Whoever publishes asks `publishing/_refused`; others only show why a release cannot be read."""
    home = "publishing/_refused.py"
    publishing = ("study/", "publishing/", "server/_publisher", "server/_questions", "server/_slot", "cli/_holder")
    session = "publishing/_session.py"  # answers come from the draw itself, so nothing need be read
    assert modules_with(lambda node: called(node) == "why_unreadable", *publishing) == {home, session}

    def decides(node: ast.AST) -> bool:
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        return any(isinstance(side, ast.Attribute) and side.attr == "CLAIMED" for side in sides)

    assert modules_with(decides, *publishing) == {home}


def test_the_canonical_text_of_a_question_is_made_in_one_module() -> None:
    assert modules_with(lambda node: called(node) == "canonical_mechanism") == {"study/_questions.py"}


def formatted(node: ast.AST) -> str:
    """Return the plain words of a formatted text, with * for every value."""
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(str(each.value) if isinstance(each, ast.Constant) else "*" for each in node.values)


def test_names_of_quantities_are_made_in_one_module_each() -> None:
    is_probability: Callable[[ast.AST], bool] = lambda node: formatted(node).startswith("P(*")  # noqa: E731
    assert modules_with(is_probability) == {"mechanism/_events.py"}
    numbers = modules_with(lambda node: formatted(node) == "* of *" and "'quantity'" in ast.dump(node), "numbers/")
    assert numbers == {"numbers/_bounded_number.py"}
    assert {module for module, _ in defined("event_name", "level_text")} == {
        "mechanism/_events.py",
        "records/_columns.py",
    }


def test_levels_of_intervals_are_put_in_words_in_one_module() -> None:
    """`f"{level:.0%}"` would call 99.5 % intervals 100 %."""

    def is_mark(node: ast.AST) -> bool:
        if not isinstance(node, ast.FormattedValue):
            return False
        names = {getattr(each, "id", "") or getattr(each, "attr", "") for each in ast.walk(node.value)}
        digits = "" if node.format_spec is None else ast.unparse(node.format_spec)
        is_scaled = any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult) for each in ast.walk(node.value))
        return "level" in names and (is_scaled or "%" in digits)

    assert modules_with(is_mark) == {"inference/_row.py"}
    plan = dc.accuracy(
        dc.GeometricHistogram(dc.Categories("x", ("a", "b"), outside="a"), 30, 1), level=0.995, studies=2
    )
    assert "99.5% intervals" in str(plan)


def test_intervals_are_opened_by_one_rule() -> None:
    """`reaches_end` decides, and of draws `draws_reach_ends`; rows and laws of networks ask the latter."""
    home, drawn = (f"mathematics/distributions/{name}.py" for name in ("_dirichlet", "_sampled"))
    assert {module for module, _ in defined("reaches_end")} == {home}
    assert {module for module, _ in defined("draws_reach_ends")} == {drawn}
    assert modules_with(lambda node: called(node) == "draws_reach_ends") == {drawn, "networks/_rows.py"}
    assert modules_with(lambda node: called(node) == "reaches_end") == {
        home,
        "mathematics/distributions/_counts.py",
        "mathematics/distributions/_mixture_batch.py",
    }
