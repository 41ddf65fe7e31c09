"""Made-up studies read at once, against one study after the other, and the search for a width."""

import sys
import warnings
from math import log

import numpy as np
import pytest
from discreet.planning.many_studies import MadeUpTables, ManyStudies, are_read_together, joint_means

import discreet as dc
import discreet.planning
from discreet.releases import Release

MODULE = sys.modules["discreet.planning.expected_accuracy"]


def mechanism(cells: int, size: int, epsilon: str, prior: object = 1, kind: str = "GeometricHistogram") -> dc.Mechanism:
    model = dc.Categories("x", levels=tuple(range(cells)), prior=prior, outside=0)  # type: ignore[arg-type]
    extra = {} if kind in ("GeometricHistogram", "DiscreteLaplaceCounts") else {"delta": "1e-6"}
    found: dc.Mechanism = getattr(dc, kind)(model, size=size, epsilon=epsilon, **extra)
    return found


@pytest.mark.parametrize(
    ("cells", "size", "epsilon", "width"),
    [(6, 500, "0.2", 0.0840686953772), (12, 2000, "0.1", 0.0413417081952), (12, 2000, "1", 0.0183485414235)],
)
def test_mean_widths_are_those_that_were_found_one_by_one(cells: int, size: int, epsilon: str, width: float) -> None:
    assert MODULE._mean_width(mechanism(cells, size, epsilon), 0.9, 60, 1) == pytest.approx(width, rel=3e-12)


@pytest.mark.parametrize("kind", ["GeometricHistogram", "DiscreteLaplaceCounts", "DiscreteGaussianHistogram"])
@pytest.mark.parametrize(("cells", "prior"), [(2, None), (2, 0.5), (5, None), (5, 3), (5, 0.2)])
def test_studies_read_at_once_are_those_read_one_by_one(kind: str, cells: int, prior: object) -> None:
    one = mechanism(cells, 150, "0.3", prior, kind)
    assert are_read_together(one)
    drawn = MadeUpTables.of(one.model, one.size, 6, 3, 24)
    outputs = drawn.outputs(one, 3)
    together = ManyStudies.read(one, outputs, drawn.places)
    widths, densities = together.widths(0.9), together.log_densities(drawn.chosen(drawn.truths))
    means = joint_means(one, outputs, drawn.places)
    for number, (output, places) in enumerate(zip(outputs, drawn.places, strict=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posterior = dc.infer(Release(one, tuple(int(value) for value in output), "planned", simulated=True))
        rows = posterior.some_rows(places.tolist(), 0.9)
        assert widths[number] == pytest.approx([row.high - row.low for row in rows], rel=1e-9)
        assert means[number] == pytest.approx([row.mean for row in rows], rel=1e-9)
        for place, found in zip(places, densities[number], strict=True):
            law = posterior.laws.share(np.array([place]))
            assert found == pytest.approx(
                float(law.log_density(np.clip(drawn.truths[number, place], 1e-12, 1))), abs=1e-7
            )


def test_tables_that_windows_do_not_hold_are_read_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.reading.counts import many_tables

    one = mechanism(4, 150, "0.5")
    drawn = MadeUpTables.of(one.model, one.size, 5, 3, 24)
    outputs = drawn.outputs(one, 3)
    usual = ManyStudies.read(one, outputs, drawn.places).widths(0.9)
    monkeypatch.setattr(many_tables, "_MARGIN", 4.0)
    assert ManyStudies.read(one, outputs, drawn.places).widths(0.9) == pytest.approx(usual, rel=1e-10)


def test_draws_and_large_tables_are_read_one_by_one() -> None:
    assert not are_read_together(mechanism(65, 100, "1"))
    model = dc.Categories("x", levels=("a", "b", "c"), outside="a")
    assert not are_read_together(dc.PosteriorSampling.tempered(model, size=50, epsilon=1, delta="1e-6"))


def test_search_ends_at_the_crossing_after_few_steps() -> None:
    for slope, root, start in ((0.5, 3.0, 1.0), (1.0, 0.02, 1.0), (0.2, 20.0, 0.5), (1.0, 1.0, 1.0)):
        asked: list[float] = []

        def excess(x: float, slope: float = slope, root: float = root, asked: list[float] = asked) -> float:
            asked.append(x)
            return slope * log(root / x) + 0.02 * log(root / x) ** 3

        found = MODULE._crossing(excess, 1e-4, 100.0, start=start)
        assert root <= found <= 1.031 * root
        assert len(asked) <= 9


def test_search_says_when_there_is_no_crossing() -> None:
    assert MODULE._crossing(lambda _: 1.0, 1e-4, 100.0, start=1.0) is None
    assert MODULE._crossing(lambda _: -1.0, 1e-4, 100.0, start=1.0) == 1e-4
