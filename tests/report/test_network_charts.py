"""Pictures of networks show the true numbers, and boxes and arrows stand where one can read them."""

import itertools
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

import discreet as dc
from discreet.report import charts
from discreet.report.charts._graph_layout import layout

YES_NO = ("no", "yes")
LEVELS: dict[str, tuple[str, ...]] = {"cancer": YES_NO, "smoker": ("never", "former", "current"), "cough": YES_NO}
NAIVE = dc.Network.naive_bayes(
    "cancer", ["smoker", "cough"], LEVELS, outside={name: each[0] for name, each in LEVELS.items()}
)
COUNTS = [60, 20, 10, 10, 10, 20, 50, 40, 10, 30]
READ = dc.infer(dc.simulate(dc.FamilyHistograms(NAIVE, 130, 2), COUNTS, dc.SeededBits(7), label="Signs"))
LONG = "a name of very many words that no box could hold in one line, nor in two, <b>whatever</b> one tries"


def tree(size: int) -> dc.Network:
    names = [f"n{number}" for number in range(size)]
    edges = [names[0], *(f"n{(number - 1) // 2} -> n{number}" for number in range(1, size))]
    return dc.Network.from_edges(*edges, levels=dict.fromkeys(names, YES_NO), outside=YES_NO[0])


def chain(size: int) -> dc.Network:
    names = [f"month {number}" for number in range(size)]
    return dc.Network.from_edges(" -> ".join(names), levels=dict.fromkeys(names, YES_NO), outside=YES_NO[0])


def long_names() -> dc.Network:
    edges = f"{LONG} -> {LONG} two -> x"
    return dc.Network.from_edges(
        edges,
        levels={LONG: (LONG, "b"), f"{LONG} two": YES_NO, "x": ("a", "b")},
        outside={LONG: LONG, f"{LONG} two": YES_NO[0], "x": "a"},
    )


SUBJECTS: dict[str, Any] = {
    "naive Bayes": READ,
    "graph": NAIVE,
    "tree": tree(37),
    "chain": chain(20),
    "long names": long_names(),
    "several parents": dc.Network.from_edges(
        "a -> c", "b -> c", "a -> b", levels=dict.fromkeys("abc", YES_NO), outside=YES_NO[0]
    ),
    "one": dc.Network.from_edges("a", levels={"a": YES_NO}, outside=YES_NO[0]),
}


def rows(spec: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the rows of the first layer that has a field."""
    found = [layer["data"]["values"] for layer in spec["layer"] if "data" in layer]
    return next(values for values in found if field in values[0])


def test_the_bars_are_the_posteriors_own_numbers() -> None:
    bars = rows(charts.network_chart(READ, level=0.8), "mean")
    entries = {(e.variable, e.row.given, e.level): e.row for e in READ.graph(0.8).entries()}
    for bar in bars:
        entry = entries[bar["variable"], bar["given"], bar["level"]]
        assert (bar["mean"], bar["low"], bar["high"]) == (entry.mean, entry.low, entry.high)
        assert bar["mean_x"] - bar["x"] == pytest.approx((bar["full"] - bar["x"]) * bar["mean"])
    assert len(bars) == 2 + 6 + 2  # of two levels given a parent, one is enough


def test_vega_lite_has_nothing_to_complain_about(capfd: pytest.CaptureFixture[str]) -> None:
    for name, subject in SUBJECTS.items():
        vl_convert.vegalite_to_svg(charts.network_chart(subject), show_warnings=True)
        assert "WARN" not in "".join(capfd.readouterr()), name


@pytest.mark.parametrize("name", SUBJECTS)
def test_boxes_do_not_overlap_and_lie_within_the_picture(name: str) -> None:
    spec = charts.network_chart(SUBJECTS[name])
    boxes = spec["data"]["values"]
    for one, two in combinations(boxes, 2):
        beside = one["x2"] <= two["x"] or two["x2"] <= one["x"]
        assert beside or one["y2"] <= two["y"] or two["y2"] <= one["y"]
    for box in boxes:
        assert 0 <= box["x"] < box["x2"] <= spec["width"] + 1e-9
        assert 0 <= box["y"] < box["y2"] <= spec["height"] + 1e-9


def test_children_stand_behind_their_parents_in_the_direction_of_reading() -> None:
    for network in (tree(37), chain(20)):
        parents = dict(zip((v.name for v in network.variables), network.parents, strict=True))
        placed = layout(parents, dict.fromkeys(parents, (90, 36)), between=40, apart=10, widest=1000)
        for child, above in parents.items():
            for parent in above:
                one, two = placed.boxes[parent], placed.boxes[child]
                assert one.left + one.width < two.left if placed.sideways else one.top + one.height < two.top


def asia() -> dc.Network:
    edges = ("a -> t", "s -> l", "s -> b", "t -> e", "l -> e", "e -> x", "e -> d", "b -> d")
    return dc.Network.from_edges(*edges, levels=dict.fromkeys("atslbexd", YES_NO), outside=YES_NO[0])


def tangle(size: int, seed: int) -> dc.Network:
    generator, names = np.random.default_rng(seed), [f"n{number}" for number in range(size)]
    edges = [f"n{p} -> n{c}" for c in range(1, size) for p in range(c) if generator.random() < 2 / c]
    return dc.Network.from_edges(*names, *edges, levels=dict.fromkeys(names, YES_NO), outside=YES_NO[0])


@pytest.mark.parametrize("network", [asia(), tangle(12, seed=1), tangle(30, seed=2)], ids=["asia", "12", "30"])
def test_arrows_of_a_graph_with_loops_pass_no_box(network: dc.Network) -> None:
    """Points along every arrow, from the parent's edge to the child's, lie in no other box."""
    parents = dict(zip((v.name for v in network.variables), network.parents, strict=True))
    placed = layout(parents, dict.fromkeys(parents, (90, 36)), between=40, apart=10, widest=1000)
    for child, above in parents.items():
        for parent in above:
            corners = placed.path(parent, child)
            for (x, y), (x2, y2) in itertools.pairwise(corners):
                for share in np.linspace(0.01, 0.99, 30):
                    at = (x + share * (x2 - x), y + share * (y2 - y))
                    for box in placed.boxes.values():
                        inside = 0 < at[0] - box.left < box.width and 0 < at[1] - box.top < box.height
                        assert not inside


def test_layers_are_ordered_so_that_arrows_do_not_cross_where_they_need_not() -> None:
    """Two ladders declared crosswise: every arrow can be straight."""
    edges = ("a -> y", "b -> x", "c -> z", "y -> p", "x -> q", "z -> r", "a -> p", "b -> q")
    network = dc.Network.from_edges(*edges, levels=dict.fromkeys("abcxyzpqr", YES_NO), outside=YES_NO[0])
    parents = dict(zip((v.name for v in network.variables), network.parents, strict=True))
    placed = layout(parents, dict.fromkeys(parents, (90, 36)), between=40, apart=10, widest=1000)
    lines = [placed.path(parent, child) for child, above in parents.items() for parent in above]
    steps = [step for line in lines for step in itertools.pairwise(line)]
    for ((x, y), (x2, y2)), ((u, v), (u2, v2)) in combinations(steps, 2):
        if (x, x2) == (u, u2) and y != v and y2 != v2:
            assert (y - v) * (y2 - v2) > 0


def test_a_long_chain_runs_downwards_so_that_the_picture_stays_narrow() -> None:
    spec = charts.network_chart(chain(20))
    assert spec["width"] < 200
    assert spec["height"] > 1000


def test_a_large_network_is_shown_by_its_names() -> None:
    spec = charts.network_chart(tree(37))
    assert len(spec["data"]["values"]) == 37
    assert [row["text"] for row in rows(spec, "text")] == [f"n{number}" for number in range(37)]
    assert not any("mean" in layer.get("data", {"values": [{}]})["values"][0] for layer in spec["layer"])


def test_a_large_table_shows_its_first_lines_and_says_how_many_more_there_are() -> None:
    levels = {"a": tuple(range(10)), "b": tuple(range(10))}
    network = dc.Network.naive_bayes("a", ["b"], levels, outside={name: each[0] for name, each in levels.items()})
    posterior = dc.infer(dc.simulate(dc.FamilyHistograms(network, 100, 5), [1] * 100, dc.SeededBits(3)))
    texts = [
        row["text"]
        for layer in charts.network_chart(posterior)["layer"]
        for row in layer.get("data", {}).get("values", [])
        if "text" in row
    ]
    assert "and 79 more lines; see the table" in texts


def test_the_title_says_what_was_published_and_what_bars_and_lines_are() -> None:
    title = charts.network_chart(READ, level=0.8)["title"]
    assert title["text"] == ["SIMULATED: Signs"]
    assert "130 records · epsilon = 2" in title["subtitle"][0]
    assert "80 % intervals" in title["subtitle"][1]
    assert charts.network_chart(NAIVE)["title"]["text"] == ["Network of 3 variables"]


def test_long_names_are_cut_to_their_boxes() -> None:
    for row in rows(charts.network_chart(long_names()), "text"):
        assert len(row["text"]) <= 40


def test_pictures_of_networks_are_written(tmp_path: Path) -> None:
    for name, subject in SUBJECTS.items():
        charts.render(charts.network_chart(subject), tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_what_nobody_could_read_or_is_no_network_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="Cannot draw 201 variables"):
        charts.network_chart(tree(charts.MOST_VARIABLES + 1))
    other: Any = "a network"
    with pytest.raises(dc.DeclarationError, match="needs a Network"):
        charts.network_chart(other)
