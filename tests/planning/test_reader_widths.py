"""Planned widths are those that a reader sees by default: own sums, opened to 0 and 1; or the joint under a prior."""

import warnings
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from discreet.planning.exact_accuracy import possible_outputs

import discreet as dc
from discreet.certificates.enumeration import compositions
from discreet.command_line.holding import plan
from discreet.mechanisms import HellingerGlobal, PermuteAndFlip
from discreet.planning import accuracy, expected_accuracy
from discreet.reading.strengths import read_learnt


def model(cells: int, prior: object = None) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)  # type: ignore[arg-type]


def read_one_by_one(mechanism: Any, level: float) -> float:
    """Return sum_z P(z) of the mean width of the cells' intervals that `infer` gives."""
    outputs = possible_outputs(mechanism)
    assert outputs is not None
    cells = len(mechanism.model.cells)
    tables = np.array(list(compositions(mechanism.size, cells)))
    likelihoods = np.stack([mechanism.log_likelihood(outputs, table) for table in tables])
    chances = np.exp(likelihoods + mechanism.model.log_evidence(tables)[:, None]).sum(axis=0)
    found = 0.0
    for place in np.flatnonzero(chances > 1e-9):
        release = dc.Release(mechanism, tuple(int(value) for value in outputs[place]), "twin", simulated=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            widths = [interval.width for interval in dc.infer(release).interval(level).values()]
        found += chances[place] * float(np.mean(widths))
    return found


@pytest.mark.parametrize(
    ("kind", "cells", "size", "epsilon", "prior"),
    [
        (dc.GeometricHistogram, 2, 8, 1, None),
        (dc.GeometricHistogram, 3, 4, 6, None),
        (dc.GeometricHistogram, 3, 4, 6, 0.5),
        (dc.DiscreteLaplaceCounts, 2, 4, 6, None),
        (HellingerGlobal, 2, 8, 3, None),
        (HellingerGlobal, 3, 5, 3, None),
        (PermuteAndFlip, 3, 5, 3, None),
    ],
)
def test_exact_widths_are_those_of_all_outputs_read_one_by_one(
    kind: Any, cells: int, size: int, epsilon: int, prior: object
) -> None:
    mechanism = kind(model(cells, prior), size=size, epsilon=epsilon)
    assert accuracy(mechanism, 0.8).width == pytest.approx(read_one_by_one(mechanism, 0.8), rel=3e-5)


def test_simulated_widths_are_those_of_own_sums_and_not_of_the_joint() -> None:
    by_default = accuracy(dc.GeometricHistogram(model(40), 2000, "0.3"), repeats=40)
    together = accuracy(dc.GeometricHistogram(model(40, 1), 2000, "0.3"), repeats=40)
    assert by_default.width != together.width
    assert by_default.log_score == pytest.approx(together.log_score, rel=1e-9)  # what the release tells is the same
    planned = expected_accuracy(dc.GeometricHistogram(model(40), 2000, "0.3"), repeats=40)
    assert by_default.width == pytest.approx(planned.width, rel=0.1)


def test_large_tables_are_planned_by_own_sums_without_reading_each_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 12 made-up studies of 100 cells three are read whole, for the error of means; widths are as `infer` says."""
    import discreet.planning.many_studies as module
    from discreet.planning.many_studies import MadeUpTables, ManyStudies

    mechanism = dc.GeometricHistogram(model(100), 3000, "0.5")
    calls: list[Any] = []
    drawn = MadeUpTables.of(mechanism.model, mechanism.size, 2, 1, 24)
    outputs = drawn.outputs(mechanism, 1)
    widths = ManyStudies.read(mechanism, outputs, drawn.places).widths(0.9)
    means = module.joint_means(mechanism, outputs, drawn.places)
    for number, places in enumerate(drawn.places):
        release = dc.Release(mechanism, tuple(int(value) for value in outputs[number]), "planned", simulated=True)
        rows = dc.infer(release).some_rows(places.tolist(), 0.9)
        assert widths[number] == pytest.approx([row.high - row.low for row in rows], rel=1e-9)
        assert means[number] == pytest.approx([row.mean for row in rows], rel=1e-9)
    usual = read_learnt

    def counted(case: Any) -> Any:
        calls.append(case)
        return usual(case)

    monkeypatch.setattr(module, "read_learnt", counted)
    expected_accuracy(mechanism, repeats=12)
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("", "Planned for the default reading: each interval from its own noisy sum"),
        ("prior = 2\n", "Planned for the default reading: all cells together, under the declared prior"),
    ],
)
def test_the_plan_says_which_reading_it_planned(tmp_path: Any, prior: str, words: str) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        '[data]\npath = "x.csv"\nsize = 12\nunit = "one row per patient"\n[columns.x]\nlevels = ["a", "b", "c"]\n'
        '[budget]\nepsilon = "1"\nledger = "l.db"\npopulation = "p"\n[questions.q]\ncolumns = ["x"]\nepsilon = "1"\n'
        + prior
    )
    shown = CliRunner().invoke(plan, [str(study), "--epsilon", "1"])
    assert shown.exit_code == 0, shown.output
    assert words in " ".join(shown.output.split())
    told = CliRunner().invoke(plan, [str(study), "--epsilon", "1", "--json"])
    assert "Planned for the default reading" in told.stdout
