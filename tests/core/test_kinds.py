"""Kinds are listed in kinds.py, written by a command; a document loads what it names, and little else."""

import subprocess
import sys
import warnings
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from discreet._core import kinds
from discreet._core.documents import MECHANISMS
from discreet._core.errors import DocumentError
from discreet._core.on_demand import ENTRY_POINTS, load_kind

PROJECT = Path(__file__).parents[2]
RELEASES = PROJECT / "tests" / "documents" / "before-house" / "releases"
SHARE = """
import sys, tempfile, pathlib, discreet as dc
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "x.csv").write_text("fall\\n" + "yes\\nno\\n" * 50)
model = dc.Categories("fall", levels=("no", "yes"), outside="no")
ledger = dc.Ledger.create(folder / "ledger.db", epsilon=10)
mechanism = dc.GeometricHistogram(model, size=100, epsilon=1)
release = dc.publish(mechanism, model.statistics(dc.read(folder / "x.csv")), ledger, "falls")
dc.infer(dc.Release.from_json(release.to_json())).rows()
print(sum(name.startswith("discreet") for name in sys.modules))
"""


def output_of(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def announced(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    """Pretend that these kinds are announced by other distributions, and no others."""
    found = EntryPoints(EntryPoint(name, place, ENTRY_POINTS) for name, place in places.items())
    monkeypatch.setattr(metadata, "entry_points", lambda group: found.select(group=group))


def test_the_list_is_what_the_command_would_write() -> None:
    written = output_of(
        f"import sys; sys.path.append({str(PROJECT / 'release')!r}); import write_kinds as w; print(w.text(), end='')"
    )
    assert written == Path(kinds.__file__).read_text("utf-8"), "run `make kinds`"


def test_a_share_from_a_file_to_its_interval_loads_less_than_two_hundred_modules() -> None:
    assert int(output_of(SHARE)) < 200


@pytest.mark.parametrize("kind", ["geometric-one", "cone-moments", "cube", "ball-draw"])
def test_a_release_loads_the_module_of_its_mechanism_and_no_other_mechanism(kind: str) -> None:
    code = (
        f"import sys, discreet as dc; dc.Release.from_json(open({str(RELEASES / kind)!r} + '.json').read()); "
        "from discreet._core.kinds import KINDS; homes = set(KINDS['mechanism'].values()) & set(sys.modules); "
        "print(len(homes))"
    )
    assert int(output_of(code)) <= 3  # its own, and those that it inherits from


def test_an_announced_kind_is_loaded_by_its_name_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("wanted", "unwanted"):
        (tmp_path / f"{name}_kind_for_a_test.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    announced(monkeypatch, Wanted="wanted_kind_for_a_test", Unwanted="unwanted_kind_for_a_test")
    load_kind("mechanism", "Wanted")
    assert "wanted_kind_for_a_test" in sys.modules
    assert "unwanted_kind_for_a_test" not in sys.modules


def test_a_kind_of_the_library_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    announced(monkeypatch, GeometricHistogram="no_such_module")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_kind("mechanism", "GeometricHistogram")
    with pytest.raises(
        DocumentError, match=r"Unknown mechanism 'GeometricHistograms'; known are .*GeometricHistogram,"
    ):
        MECHANISMS.named({"kind": "GeometricHistograms"})


def test_nobody_takes_the_name_of_a_kind_that_is_not_loaded_yet() -> None:
    """In a process of its own: here everything may be loaded already."""
    code = """
from discreet._core.documents import MECHANISMS
from discreet.privacy._metric import Records
from discreet.mechanism import Additive
assert "TreeTable" not in MECHANISMS.newest
try:
    class TreeTable(Additive, kind="TreeTable", version=1): pass
except TypeError as refused:
    print(refused)
print(MECHANISMS.named({"kind": "TreeTable"}).__module__)
try:
    class GroupSteps(Records): pass
except TypeError as refused:
    print(refused)
"""
    assert output_of(code).splitlines() == [
        "Version 1 of the mechanism 'TreeTable' is registered twice.",
        "discreet.numbers._table_mechanisms",
        "'GroupSteps' is a metric of discreet itself; choose another name.",
    ]


def test_a_solver_of_another_distribution_reads_its_own_kinds_only(tmp_path: Path) -> None:
    """Else what is loaded by chance between a charge and a reading would decide who reads."""
    (tmp_path / "greedy_for_a_test.py").write_text(
        "import discreet as dc\nfrom discreet.tables import DiscreteLaplaceCounts\n"
        "from discreet.inference import Solver, CostEstimate\n"
        "class Greedy(Solver):\n    models = (dc.Categories,)\n"
        "    def unsupported_reason(self, problem): return None\n"
        "    def cost(self, problem): return CostEstimate('nothing', 1.0)\n"
        "    def solve(self, problem): raise AssertionError\n"
        "class Mine(DiscreteLaplaceCounts, kind='Mine'): pass\n"
    )
    described = tmp_path / "greedy-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[discreet.kinds]\nMine = greedy_for_a_test\n")
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import discreet as dc
from discreet.inference import Problem, solver_for
model = dc.Categories("fall", levels=("no", "yes"), outside="no")
problem = Problem.before(dc.GeometricHistogram(model, 9, 1))
before = type(solver_for(problem)).__name__
mine = dc.Mechanism.registered()["Mine"](model, 9, 1)
print(before, type(solver_for(problem)).__name__, type(solver_for(Problem.before(mine))).__name__)
"""
    assert output_of(code).split() == ["TablesSolver", "TablesSolver", "Greedy"]
