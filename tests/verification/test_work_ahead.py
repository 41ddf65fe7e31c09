"""Documents of a kilobyte that describe more work than anybody meant are refused before it begins, in words."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from counted_work import calls_of
from discreet.cli._main import main
from discreet.inference import MOST_NUMBERS, MOST_OPERATIONS, CostEstimate, Problem, solver_for
from discreet.inference._problem import patience_for
from discreet.mechanism import Sized, with_fields
from discreet.planning import accuracy
from discreet.verification import audit, drawing, planning, verify
from discreet.verification._work import auditing, verifying
from discreet_papers import as_published

PAIR = dc.Network.from_edges("a -> c", "b -> c", levels=dict.fromkeys("abc", (0, 1, 2)), outside=0)
CHAIN = dc.Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", (0, 1)), outside=0)
NAIVE = dc.Network.naive_bayes("y", ["a", "b"], dict.fromkeys("yab", (0, 1, 2)), outside=0)


def categories(columns: int, levels: int) -> dc.Categories:
    names = tuple(f"c{place}" for place in range(columns))
    return dc.Categories(names, levels=dict.fromkeys(names, tuple(range(levels))), outside=0)


def patience_in(text: str) -> float:
    """Return the patience that a refusal says is enough."""
    found = re.search(r"patience=([\d.e+-]+) ", text)
    assert found is not None
    return float(found[1])


OVERSIZED: dict[str, tuple[Callable[[], Sized], Callable[[Sized], object], str]] = {
    "an audit of 300 cells at epsilon .001": (
        lambda: dc.GeometricHistogram(categories(1, 300), 10**6, "0.001"),
        audit,
        "Nothing was drawn",
    ),
    "an audit of a million cells": (
        lambda: dc.GeometricHistogram(categories(6, 10), 10**6, 1),
        audit,
        "Nothing was drawn",
    ),
    "checking a million cells": (
        lambda: dc.GeometricHistogram(categories(6, 10), 10**6, 1),
        verify,
        "Nothing was checked",
    ),
    "a plan of FamilyGaussians for a million million records": (
        lambda: dc.networks.FamilyGaussians(PAIR, 10**12, 1, "1e-6"),
        accuracy,
        "Nothing was simulated",
    ),
    "a plan of LaplaceUpdates for a million million records": (
        lambda: as_published.LaplaceUpdates(NAIVE, 10**12, 1),
        accuracy,
        "Nothing was simulated",
    ),
}


@pytest.mark.parametrize("name", OVERSIZED)
def test_an_oversized_document_is_refused_in_words_and_by_little_work(name: str) -> None:
    make, verb, undone = OVERSIZED[name]
    mechanism, told = make(), []
    assert len(dc.release._release.mechanism_document(mechanism).__repr__()) < 5_000 or "300" in name

    def refuse() -> None:
        with pytest.raises(dc.DeclarationError, match=undone) as refusal:
            verb(mechanism)
        told.append(str(refusal.value))

    refuse()  # what is imported and cached for the first time
    assert calls_of(refuse) < 20_000
    assert re.search(r"(takes|holds) about \de\+\d\d (operations|numbers), and at most \de\+\d\d are allowed", told[0])
    assert re.search(r"patience=([\d.e+]+) \(on the command line --patience \1\) allows it", told[0])


@pytest.mark.parametrize("size", [10**6, 10**12])
@pytest.mark.parametrize("network", [NAIVE, CHAIN])
def test_what_once_took_an_array_of_all_counts_is_read_at_any_size(network: dc.Network, size: int) -> None:
    """FamilyGaussians and LaplaceUpdates of a million million records, in a kilobyte: windows hold a few counts."""
    for mechanism in (
        dc.networks.FamilyGaussians(network, size, 1, "1e-6"),
        as_published.LaplaceUpdates(network, size, 1),
    ):
        problem = Problem.before(mechanism)
        solver = solver_for(problem)
        assert solver is not None
        work = solver.cost(problem)
        assert work.operations < 1e10
        assert work.numbers < 2e7
        assert work.operations == solver.cost(Problem.before(with_fields(mechanism, size=10**9))).operations


def test_patience_allows_what_it_says_it_allows() -> None:
    work = CostEstimate("counting", operations=7 * MOST_OPERATIONS, numbers=3 * MOST_NUMBERS)
    needed = patience_in(patience_for(work))
    assert work.rejection_for(6.9) is not None
    assert work.rejection_for(needed) is None
    assert work.rejection == "counting takes about 1e+12 operations, and at most 2e+11 are allowed"


def test_infer_refuses_by_its_own_limit_and_reads_with_more_patience() -> None:
    mechanism = dc.FamilyHistograms(NAIVE, 500, 1)
    counts = NAIVE.simulate(500, np.random.default_rng(1)).statistics
    release = dc.simulate(mechanism, counts, dc.SeededBits(1), "a problem")
    words = r"'a problem' cannot be read: .* Nothing was read\. patience="
    with pytest.raises(dc.DeclarationError, match=words) as refusal:
        dc.infer(release, patience=1e-7)
    needed = patience_in(str(refusal.value))
    assert dc.infer(release, patience=needed).log_evidence is None  # the last solver that fits: row by row
    assert dc.infer(release).method == "read exactly"
    for wrong in (0, -1, float("nan"), "much"):
        with pytest.raises(dc.DeclarationError, match="patience must be above 0"):
            dc.infer(release, patience=wrong)  # type: ignore[arg-type]


def test_the_command_line_has_the_same_limit_and_the_same_option(tmp_path: Path) -> None:
    mechanism = dc.FamilyHistograms(NAIVE, 500, 1)
    counts = NAIVE.simulate(500, np.random.default_rng(1)).statistics
    file = tmp_path / "a.release.json"
    file.write_text(dc.simulate(mechanism, counts, dc.SeededBits(1), "a problem").to_json())
    for command in (["infer", str(file)], ["verify", str(file)], ["verify", "--mechanism", str(file)]):
        refused = CliRunner().invoke(main, [*command, "--patience", "1e-7"])
        assert refused.exit_code != 0
        assert "--patience" in refused.output
    read = CliRunner().invoke(main, ["infer", str(file), "--patience", "2"])
    assert read.exit_code == 0, read.output


def test_work_grows_with_draws_cells_and_made_up_records() -> None:
    small, large = (dc.GeometricHistogram(categories(1, cells), 10**4, 1) for cells in (10, 100))
    assert drawing(large, 1, 1) > 10 * drawing(small, 1, 1)
    assert auditing(small, small.model, 2_000).operations == 2 * auditing(small, small.model, 1_000).operations
    assert verifying(large).operations > verifying(small).operations
    few, many = (planning([dc.FamilyHistograms(PAIR, size, 1)], 4) for size in (10**3, 10**5))
    assert many.operations > few.operations
    assert many.numbers > few.numbers
