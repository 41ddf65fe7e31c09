"""Charts show the true numbers, name what they show, and become pictures without a network."""

import json
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import vl_convert
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.report import charts
from discreet.report._theme import DARK, in_the_dark
from discreet_papers import as_published

SMOKING = dc.Categories("smoking", levels=("never", "former", "current"), outside="never")
FALLS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)
ODD = dc.Categories(
    ("<b>group</b>", "ok"),
    levels={
        "<b>group</b>": ("<script>", "a\u00a0b", "a b", '"x\\", y', "a name of many words " * 9),
        "ok": (True, False),
    },
    outside={"<b>group</b>": "<script>", "ok": True},
)
WIDTHS = [
    {"epsilon": epsilon, "width": 0.03 + 0.01 / epsilon, "exact_width": 0.03, "mc_error": 1e-3}
    for epsilon in (1, 0.1, 0.3)
]


def release(model: dc.Categories, counts: list[int], epsilon: str, label: str = "Survey", seed: int = 60) -> dc.Release:
    mechanism = dc.GeometricHistogram(model, size=sum(counts), epsilon=epsilon)
    return dc.simulate(mechanism, counts, dc.SeededBits(seed), label=label)


SURVEY = release(SMOKING, [640, 330, 230], "0.5")
CROSSED = release(FALLS, [270, 30, 240, 60], "0.3")
STRANGE = release(ODD, [20, 30] * 5, "1", label="<script>alert('x')</script> &")


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.create(tmp_path / "study.db", epsilon="2", delta="1e-6", population="county <patients>")


def spend(ledger: dc.Ledger, *epsilons: str) -> None:
    for number, epsilon in enumerate(epsilons):
        ledger.charge(dc.Guarantee(epsilon), f"question {number}", {})


def specifications(ledger: dc.Ledger) -> dict[str, dict[str, Any]]:
    spend(ledger, "0.5", "1/3")
    return {
        "one column": charts.posterior_chart(dc.infer(SURVEY)),
        "crossed": charts.posterior_chart(dc.infer(CROSSED)),
        "strange": charts.posterior_chart(dc.infer(STRANGE)),
        "two releases": charts.posterior_chart(dc.infer(SURVEY, release(SMOKING, [640, 330, 230], "0.2", seed=61))),
        "comparison": charts.comparison_chart(dc.infer(CROSSED), "fall=yes", "ward"),
        "strange comparison": charts.comparison_chart(dc.infer(STRANGE), "ok=true", "<b>group</b>"),
        "width": charts.width_chart(WIDTHS, "Widths"),
        "many widths": charts.width_chart([row | {"epsilon": e / 9} for e, row in enumerate(WIDTHS * 9, 1)], "Widths"),
        "budget": charts.budget_chart(ledger),
    }


def layers(spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield what each mark encodes, and the rows that it is drawn from."""
    common = spec["data"]["values"]
    yield spec.get("facet", {}), common
    for layer in spec.get("spec", spec)["layer"]:
        yield layer["encoding"], layer.get("data", {"values": common})["values"]


def fields(encoding: Any) -> set[str]:
    """Return every field that an encoding names, also within its conditions."""
    if isinstance(encoding, list):
        return set().union(*map(fields, encoding))
    if not isinstance(encoding, dict):
        return set()
    named = {encoding["field"]} if "field" in encoding else set()
    tested = set(re.findall(r"datum\.(\w+)", encoding.get("test", ""))) - {"value", "label"}
    return named | tested | set().union(*map(fields, encoding.values()))


def test_every_field_that_is_drawn_is_in_the_data(ledger: dc.Ledger) -> None:
    for name, spec in specifications(ledger).items():
        for encoding, rows in layers(spec):
            for row in rows:
                assert fields(encoding) <= set(row), name


def test_vega_lite_has_nothing_to_complain_about(ledger: dc.Ledger, capfd: pytest.CaptureFixture[str]) -> None:
    for name, spec in specifications(ledger).items():
        vl_convert.vegalite_to_svg(spec, show_warnings=True)
        assert "WARN" not in "".join(capfd.readouterr()), name


def test_the_complaints_would_be_seen(capfd: pytest.CaptureFixture[str]) -> None:
    spec = charts.width_chart(WIDTHS, "Widths")
    spec["layer"][0]["encoding"]["size"] = {"field": "width", "type": "nominal", "legend": None}
    vl_convert.vegalite_to_svg(spec, show_warnings=True)
    assert "WARN" in "".join(capfd.readouterr())


def test_the_posterior_chart_shows_the_posteriors_own_numbers() -> None:
    posterior = dc.infer(SURVEY)
    rows = charts.posterior_chart(posterior, level=0.8)["data"]["values"]
    naive = as_published.plug_in(SURVEY)
    for place, cell in enumerate(SMOKING.cells):
        aware, plugged = (row for row in rows if row["index"] == place)
        low, high = posterior.interval(cell, 0.8)
        assert aware | {"cell": cell, "inference": "noise-aware", "mean": posterior.mean[cell]} == aware
        assert (aware["low"], aware["high"]) == (low, high)
        assert plugged | {"cell": cell, "inference": "plug-in", "mean": naive.mean[place]} == plugged
        assert (plugged["low"], plugged["high"]) == naive.marginal(place).interval(0.8)
    assert len(rows) == 6


def test_crossed_cells_keep_their_numbers_in_their_groups() -> None:
    posterior = dc.infer(CROSSED)
    rows = [row for row in charts.posterior_chart(posterior)["data"]["values"] if row["inference"] == charts.AWARE]
    assert {(row["group"], row["cell"]): row["mean"] for row in rows} == {
        (f"ward {ward}", fall): posterior.mean[ward, fall] for ward in "AB" for fall in ("no", "yes")
    }
    assert [(row["group_index"], row["index"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_each_place_carries_its_own_name() -> None:
    spec = charts.posterior_chart(dc.infer(CROSSED))
    rows = spec["spec"]["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    groups = spec["facet"]["row"]["header"]["labelExpr"]
    assert json.loads(rows.removesuffix("[datum.value]")) == [["no"], ["yes"]]
    assert json.loads(groups.removesuffix("[datum.value]")) == [["ward A"], ["ward B"]]


def test_levels_that_look_alike_stay_rows_of_their_own() -> None:
    rows = charts.comparison_chart(dc.infer(STRANGE), "ok=true", "<b>group</b>")["data"]["values"]
    assert [row["cell"] for row in rows[1:3]] == ["a\u00a0b", "a b"]
    assert [row["index"] for row in rows] == [0, 1, 2, 3, 4]


def test_the_plug_in_reading_uses_the_readers_prior() -> None:
    rows = charts.posterior_chart(dc.infer(SURVEY, prior=50))["data"]["values"]
    expected = as_published.plug_in(SURVEY.with_prior(50)).mean
    assert [row["mean"] for row in rows if row["inference"] == charts.PLUG_IN] == list(expected)


def test_several_releases_have_no_plug_in_reading_to_compare_with() -> None:
    spec = charts.posterior_chart(dc.infer(SURVEY, release(SMOKING, [640, 330, 230], "0.2", seed=61)))
    assert {row["inference"] for row in spec["data"]["values"]} == {charts.AWARE}
    assert "epsilon = 0.5 + 0.2" in spec["title"]["subtitle"][0]
    assert spec["title"]["text"] == ["SIMULATED: Survey and 1 more"]


def test_the_title_says_what_was_published_and_under_which_promise() -> None:
    real = replace(SURVEY, simulated=False, receipt=dc.ledger.Receipt(2, "ab" * 32, "cd" * 16), label="Smoking 2026")
    title = charts.posterior_chart(dc.infer(real))["title"]
    assert title["text"] == ["Smoking 2026"]
    assert title["subtitle"] == ["1,200 records · epsilon = 0.5 · neighbours: replace one record"]
    assert charts.posterior_chart(dc.infer(SURVEY))["title"]["text"] == ["SIMULATED: Survey"]


def test_the_title_names_a_unit_of_several_records() -> None:
    patients = replace(SURVEY, unit=dc.Unit("one patient", rows=3))
    first, second = charts.posterior_chart(dc.infer(patients))["title"]["subtitle"]
    assert "epsilon = 1.5" in first
    assert second == "for one patient with up to 3 records"


def test_the_comparison_chart_shows_conditional_probabilities() -> None:
    posterior = dc.infer(CROSSED)
    spec = charts.comparison_chart(posterior, "fall=yes", "ward", level=0.95)
    for row, ward in zip(spec["data"]["values"], "AB", strict=True):
        law = posterior.conditional("fall=yes", given=f"ward={ward}")
        assert row["cell"] == ward
        assert row["mean"] == law.mean
        assert (row["low"], row["high"]) == law.interval(0.95)
        assert row["text"].startswith(f"{100 * law.mean:.1f} %")
    overall = spec["layer"][0]["data"]["values"][0]["overall"]
    assert overall == posterior.probability("fall=yes").mean


def test_a_comparison_needs_another_column_of_a_crossed_table() -> None:
    with pytest.raises(dc.DeclarationError, match="'floor' is not one of"):
        charts.comparison_chart(dc.infer(CROSSED), "fall=yes", "floor")
    with pytest.raises(dc.DeclarationError, match="several crossed columns"):
        charts.comparison_chart(dc.infer(SURVEY), "never", "smoking")
    with pytest.raises(dc.DeclarationError, match="impossible or certain"):
        charts.comparison_chart(dc.infer(CROSSED), "ward=A", "ward")


def test_the_axis_of_probabilities_starts_at_zero_unless_that_wastes_half_of_it() -> None:
    large = release(dc.Categories("x", levels=("a", "b"), outside="a"), [52_000, 48_000], "0.5")
    assert charts.posterior_chart(dc.infer(SURVEY))["layer"][0]["encoding"]["x"]["scale"]["zero"]
    assert not charts.posterior_chart(dc.infer(large))["layer"][0]["encoding"]["x"]["scale"]["zero"]


def test_the_width_chart_is_sorted_and_keeps_its_numbers() -> None:
    drawn = [{key: row[key] for key in WIDTHS[0]} for row in charts.width_chart(WIDTHS, "Widths")["data"]["values"]]
    assert drawn == [WIDTHS[1], WIDTHS[2], WIDTHS[0]]


@pytest.mark.parametrize("rows", [[], [{"epsilon": 0, "width": 1, "exact_width": 1, "mc_error": 0}]])
def test_a_width_chart_needs_rows_with_an_epsilon_above_zero(rows: list[dict[str, float]]) -> None:
    with pytest.raises(dc.DeclarationError, match="epsilon above 0"):
        charts.width_chart(rows, "Widths")


def test_the_bars_of_a_budget_join_up_and_end_at_what_is_spent(ledger: dc.Ledger) -> None:
    spend(ledger, "0.5", "1/3", "0.2")
    ledger.change_limit("3", reason="the board agreed")
    spend(ledger, "1.5")
    *charges, left = charts.budget_chart(ledger)["data"]["values"]
    assert [row["start"] for row in charges] == [0, *(row["end"] for row in charges[:-1])]
    assert [row["cost"] for row in charges] == ["0.5", "1/3", "0.2", "1.5"]
    assert [row["limit"] for row in charges] == [2, 2, 2, 3]
    assert charges[-1]["end"] == left["start"] == float(ledger.spent.epsilon)
    assert (left["end"], left["cost"]) == (3, "7/15")


def test_a_budget_that_nobody_touched_is_all_left(ledger: dc.Ledger) -> None:
    (left,) = charts.budget_chart(ledger)["data"]["values"]
    assert left | {"label": "left to spend", "start": 0, "end": 2, "cost": "2"} == left


def test_a_limit_below_what_is_spent_leaves_nothing(ledger: dc.Ledger) -> None:
    spend(ledger, "1.5")
    ledger.change_limit("1", reason="a mistake")
    spec = charts.budget_chart(ledger)
    left = spec["data"]["values"][-1]
    assert left | {"start": 1.5, "end": 1.5, "limit": 1, "cost": "0"} == left
    assert "epsilon: 1.5 of 1 spent; the limit was later lowered below this" in spec["title"]["subtitle"]


def test_an_amount_of_many_digits_is_shown_as_a_short_decimal_that_is_not_too_favourable(ledger: dc.Ledger) -> None:
    spend(ledger, "1/1234567", "1/7654321")
    spec = charts.budget_chart(ledger)
    costs = [row["cost"] for row in spec["data"]["values"]]
    assert costs == ["0.00000081001 (rounded up)", "0.00000013065 (rounded up)", "1.9999 (rounded down)"]
    assert spec["title"]["subtitle"][0] == "epsilon: 0.00000094065 (rounded up) of 2 spent"


def test_many_charges_are_shown_with_the_early_ones_together(ledger: dc.Ledger) -> None:
    spend(ledger, *["0.02"] * 50)
    rows = charts.budget_chart(ledger)["data"]["values"]
    assert len(rows) == charts.MOST_CHARGES + 1
    assert rows[0] | {"label": "the first 11 charges", "start": 0, "cost": "0.22"} == rows[0]
    assert rows[1]["label"] == "question 11"
    assert sum(Fraction(row["cost"]) for row in rows) == 2


def test_a_title_of_a_budget_names_population_unit_and_both_numbers(ledger: dc.Ledger) -> None:
    spend(ledger, "0.5")
    title = charts.budget_chart(ledger)["title"]
    assert title["text"] == ["Privacy budget: county <patients>"]
    assert title["subtitle"] == [
        "epsilon: 0.5 of 2 spent",
        "delta: 0 of 1e-6 spent",
        "protects one record (neighbours: replace one record)",
    ]


def test_pictures_and_specifications_are_written_by_the_ending(ledger: dc.Ledger, tmp_path: Path) -> None:
    for name, spec in specifications(ledger).items():
        for ending in (".png", ".SVG", ".json"):
            charts.render(spec, tmp_path / f"{name}{ending}")
        picture = (tmp_path / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(picture) > 5_000
        assert ElementTree.fromstring((tmp_path / f"{name}.SVG").read_bytes()).tag == "{http://www.w3.org/2000/svg}svg"
        assert json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")) == spec


def test_a_picture_carries_its_names_as_text(tmp_path: Path) -> None:
    charts.render(charts.posterior_chart(dc.infer(STRANGE)), str(tmp_path / "strange.svg"))
    drawing = ElementTree.fromstring((tmp_path / "strange.svg").read_bytes())
    texts = [text.strip() for text in drawing.itertext()]
    assert "SIMULATED: <script>alert('x')</script> &" in texts
    assert {"true", "false", "<b>group</b> <script>", "<b>group</b> a b"} <= set(texts)
    assert not list(drawing.iter("{http://www.w3.org/2000/svg}script"))


def test_more_cells_make_a_taller_picture(tmp_path: Path) -> None:
    heights = []
    for cells in (5, 60):
        model = dc.Categories(
            "commune", levels=tuple(f"commune {number}" for number in range(cells)), outside="commune 0"
        )
        charts.render(charts.posterior_chart(dc.infer(release(model, [9] * cells, "1"))), tmp_path / "x.png")
        heights.append(struct.unpack(">II", (tmp_path / "x.png").read_bytes()[16:24])[1])
    assert 55 * 2 * 20 < heights[1] - heights[0] < 55 * 2 * 36  # two pixels to a unit, 20 to 36 units to a row


def test_of_more_intervals_than_can_be_read_the_largest_are_drawn_and_a_note_says_so(tmp_path: Path) -> None:
    wards, falls = tuple(range(charts.MOST_INTERVALS // 2 + 1)), ("no", "yes")
    model = dc.Categories(("ward", "fall"), levels={"ward": wards, "fall": falls}, outside={"ward": 0, "fall": "no"})
    counts = [3 + 20 * (place % 5 == 0) for place in range(2 * len(wards))]
    found = release(model, counts, "2")
    posterior = dc.infer(found)
    spec = charts.posterior_chart(posterior)
    assert spec["title"]["subtitle"][-1] == "the 40 largest of 302 intervals; tables and files have all of them"
    drawn = spec["data"]["values"]
    assert {row["inference"] for row in drawn} == {charts.AWARE}
    largest = sorted((row.mean for row in posterior.rows()), reverse=True)[:40]
    assert [row["mean"] for row in drawn] == pytest.approx(largest)
    assert drawn[0]["text"].startswith(f"{100 * largest[0]:.3g} %  (")
    cells = dict(
        zip((f"ward {ward}, {fall}" for ward in wards for fall in falls), posterior.mean.values(), strict=True)
    )
    assert all(cells[row["cell"]] == row["mean"] for row in drawn)  # whose name says of which ward it is
    (tmp_path / "r.json").write_text(found.to_json())
    ran = CliRunner().invoke(main, ["infer", str(tmp_path / "r.json"), "--plot", str(tmp_path / "p.json")])
    assert ran.exit_code == 0, ran.output
    assert json.loads((tmp_path / "p.json").read_text()) == json.loads(json.dumps(spec))


@pytest.mark.parametrize("name", ["chart.html", "chart.pdf", "chart", "chart.png.txt"])
def test_other_endings_are_refused_with_words(name: str, tmp_path: Path) -> None:
    with pytest.raises(dc.DiscreetError, match=r"charts are \.png, \.svg or \.json files\. Nothing was written"):
        charts.render(charts.width_chart(WIDTHS, "Widths"), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_reported_with_words(tmp_path: Path) -> None:
    with pytest.raises(dc.DiscreetError, match="Cannot write the chart"):
        charts.render(charts.width_chart(WIDTHS, "Widths"), tmp_path / "nowhere" / "x.json")


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_without_the_package_the_message_says_what_to_install(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    spec = charts.width_chart(WIDTHS, "Widths")
    with pytest.raises(dc.DiscreetError, match=r'pip install "discreet\[plots\]"'):
        charts.render(spec, tmp_path / f"x{ending}")
    charts.render(spec, tmp_path / "x.json")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_editing_one_chart_leaves_the_next_one_alone() -> None:
    charts.width_chart(WIDTHS, "Widths")["config"]["axis"]["labelFontSize"] = 1
    assert charts.width_chart(WIDTHS, "Widths")["config"]["axis"]["labelFontSize"] == 13


def test_a_group_that_may_be_empty_is_named_and_not_drawn() -> None:
    wards = dc.Categories(
        ("ward", "fall"), levels={"ward": ("A", "B", "C"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
    )
    posterior = dc.infer(release(wards, [220, 30, 240, 60, 0, 0], "0.3", seed=4))
    with pytest.warns(dc.LittleInformationWarning):
        spec = charts.comparison_chart(posterior, "fall=yes", "ward")
    first, second, empty = spec["data"]["values"]
    assert (empty["mean"], empty["low"], empty["high"]) == (None, None, None)
    assert empty["text"].startswith("nothing known  ·  0 to ")
    assert None not in (first["mean"], second["low"])
    assert "250" not in first["text"]  # the size is an interval, never the secret count
    assert re.search(r"  ·  \d+ to \d+$", first["text"])


def test_the_chosen_epsilon_is_marked_on_a_plan() -> None:
    spec = charts.width_chart(WIDTHS, "Widths", chosen=0.3)
    named = [layer["encoding"].get("text", {}).get("value") for layer in spec["layer"]]
    assert "chosen: 0.3" in named
    assert spec["layer"][0]["data"]["values"] == [{"epsilon": 0.3}]


def test_a_dark_chart_has_every_colour_exchanged() -> None:
    spec = charts.comparison_chart(dc.infer(CROSSED), "fall=yes", "ward")
    light, dark = json.dumps(spec), json.dumps(in_the_dark(spec))
    assert set(re.findall(r"#[0-9A-F]{6}", light)) <= set(DARK)
    assert not set(re.findall(r"#[0-9A-F]{6}", dark)) & set(DARK)


def test_an_svg_has_room_for_text_in_a_wider_font_and_nothing_else_moves(tmp_path: Path) -> None:
    model = dc.Categories("x", levels=("common reasons, some unknown", "b"), outside="b")
    spec = charts.posterior_chart(dc.infer(release(model, [9, 9], "1")))
    charts.render(spec, tmp_path / "x.svg")
    plain, found = vl_convert.vegalite_to_svg(spec), (tmp_path / "x.svg").read_text()
    width = float(ElementTree.fromstring(plain).attrib["width"])
    left, top, total, _ = map(float, ElementTree.fromstring(found).attrib["viewBox"].split())
    assert -60 < left < -5  # 28 letters, which were measured in a narrow font
    assert top == 0
    assert total == float(ElementTree.fromstring(found).attrib["width"]) >= width - left
    assert found[found.index("<g ") :] == plain[plain.index("<g ") :]
    paper = ElementTree.fromstring(found)[0].attrib
    assert (float(paper["x"]), float(paper["width"])) == (left, total)
