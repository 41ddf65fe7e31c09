"""Synthetic records as files and frames, the quality page, and the whole road from a study: three commands."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.report import Quality, quality_page
from discreet.synthesis import PairGaussians, Synthesis, several
from discreet.synthesis._numbers import numbers_inside

STUDY = """
[data]
path = "people.csv"
size = 600
unit = "one row per person"
[columns.sex]
levels = ["f", "m"]
outside = "m"
[columns.age]
bands = [0, 18, 65, 100]
outside = "18 to under 65"
[columns.weight]
bands = [0.5, 2.25, 4.75]
[columns."born <b>"]
bands = ["2026-01-01", "2026-02-01", "2026-12-31"]
[budget]
epsilon = "4"
delta = "1e-5"
accountant = "zcdp"
ledger = "people.db"
[questions.all]
model = "synthesis"
epsilon = "2"
delta = "1e-6"
label = "People & <all>"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    g = np.random.default_rng(1)
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "age", "weight", "born <b>"])
        for _ in range(600):
            age = int(g.integers(0, 99))
            writer.writerow(["fm"[int(age > 60 or g.random() < 0.5)], age, round(g.uniform(0.5, 4.7), 2), "2026-01-15"])
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(result.output)


def test_three_commands_from_a_file_to_synthetic_records_and_a_quality_page(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "all")
    said = run(
        "synthesize", "all.release.json", "--out", "made-up.csv", "--page", "quality.html", "--seed", 3,
        "--truth", "people.csv", "--truth-page", "own.html",
    )  # fmt: skip
    assert "One set of 600 synthetic records of 4 columns" in said
    assert "for the holder's eyes only" in said
    with (folder / "made-up.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600
    study = dc.Study(folder / "study.toml").question("all").model
    for column in study.columns:
        codes = [column.code(row[column.name]) for row in rows]
        assert set(codes) <= set(range(len(column.levels)))
    assert all(row["age"].isdigit() for row in rows)
    assert all(row["born <b>"] == "" or row["born <b>"].startswith("2026-") for row in rows)
    page, own = ((folder / name).read_text() for name in ("quality.html", "own.html"))
    for text in (page, own):
        assert "<script" not in text
        assert "People &amp; &lt;all&gt;" in text
        assert "born &lt;b&gt;" in text
        assert "Intervals come from the release, not from the records" in text
        assert "by the model only" in text
    assert "exact" not in page.lower()
    assert "holder's eyes only" in own.replace("&#x27;", "'")
    found = json.loads(run("synthesize", "all.release.json", "--page", "again.html", "--seed", 3, "--json"))
    assert found["records"] == 600
    assert (folder / "again.html").read_text() == page


def test_several_sets_and_parquet(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "all")
    run("synthesize", "all.release.json", "--out", "sets.parquet", "--sets", 3, "--rows", 40, "--numbers", "names")
    from pyarrow import parquet

    tables = [parquet.read_table(path) for path in several(folder / "sets.parquet", 3)]
    assert [table.num_rows for table in tables] == [40, 40, 40]
    assert tables[0] != tables[1]
    assert set(tables[0].column("age").to_pylist()) <= {"0 to under 18", "18 to under 65", "65 to 100"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "made-up.txt"], "written as .csv or .parquet"),
        ([], "Nothing to write"),
        (["--truth", "people.csv"], "need each other"),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder: Path, words: list[str], said: str) -> None:
    run("publish", "study.toml", "--ask", "all")
    result = CliRunner().invoke(main, ["synthesize", "all.release.json", *words])
    assert result.exit_code != 0
    assert said in " ".join(result.output.split())


def test_a_release_of_one_table_has_no_quality_page(folder: Path) -> None:
    coin = dc.Categories("sex", levels=("f", "m"), outside="m")
    release = dc.simulate(dc.GeometricHistogram(coin, 10, 1), [4, 6], dc.SeededBits(1))
    (folder / "coin.json").write_text(release.to_json())
    result = CliRunner().invoke(main, ["synthesize", "coin.json", "--page", "x.html"])
    assert result.exit_code != 0
    assert "has no quality page" in " ".join(result.output.split())


def test_a_question_without_delta_is_refused_with_the_reason(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY.replace('epsilon = "2"\ndelta = "1e-6"', 'epsilon = "2"'))
    with pytest.raises(dc.DeclarationError, match="costs add without squares"):
        dc.Study(folder / "study.toml").question("all")


def test_plans_say_how_good_margins_will_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in (("MOST_STUDIES", 2), ("LEAST_STUDIES", 2)):
        monkeypatch.setattr(f"discreet.planning._accuracy.{name}", few)
    said = " ".join(run("plan", "study.toml", "--ask", "all").split())
    assert "pairs of columns about" in said
    assert "intervals of their cells will be" in said
    assert not (folder / "people.db").exists()


def test_add_or_remove_goes_the_same_road(folder: Path) -> None:
    text = STUDY.replace("size = 600", 'neighbours = "add or remove"\nabout = 500')
    (folder / "study.toml").write_text(text)
    run("publish", "study.toml", "--ask", "all")
    assert "about" in run("infer", "all.release.json")
    run("synthesize", "all.release.json", "--out", "made-up.csv", "--seed", 1)
    with (folder / "made-up.csv").open() as file:
        assert 400 < len(list(csv.DictReader(file))) < 800


@pytest.mark.parametrize("rule", ["spread", "middle"])
def test_numbers_lie_inside_their_band_and_are_whole_where_its_edges_are(rule: str) -> None:
    columns: list[Any] = [
        dc.Column.banded("a", (0, 1, 2, 50), "other"),
        dc.Column.banded("b", (-1.5, 0.25, 1e6), "other"),
        dc.Column.banded("c", ("2026-02-27", "2026-03-01", "2026-03-04"), "other"),
    ]
    for column in columns:
        codes = np.repeat(np.arange(len(column.levels)), 400)
        values = numbers_inside(column, codes, rule, np.random.default_rng(2))
        assert [column.code(value) for value in values] == codes.tolist()
        assert values[-1] is None
    ages = numbers_inside(columns[0], np.full(2000, 2), rule, np.random.default_rng(3))
    assert set(ages) == (set(range(2, 51)) if rule == "spread" else {26})


def test_a_page_compares_what_it_says() -> None:
    model = Synthesis(list("abc"), levels=dict.fromkeys("abc", (0, 1, 2)), outside=0)
    counts = model.simulate(2000, np.random.default_rng(4)).statistics
    posterior: Any = dc.infer(dc.simulate(PairGaussians(model, 2000, 2, "1e-6"), counts, dc.SeededBits(5)))
    made = [posterior.records(3000, seed) for seed in (1, 2)]
    quality = Quality(posterior, made, counts)
    single, double = quality.inside(quality.made, quality.made_ones)
    hits = []
    for number, column in enumerate("abc"):
        shares = np.mean([np.bincount(each.codes[:, number], minlength=3) / 3000 for each in made], axis=0)
        for row, share in zip(posterior.counts(column), shares.tolist(), strict=True):
            hits.append(row.low / 2000 <= share <= row.high / 2000)
    assert single == pytest.approx(np.mean(hits))
    assert 0 <= double <= 1
    assert "2 sets of 3,000" in quality_page(quality)
