"""A study whose number of records is secret: what it declares, what it refuses, and the whole road of a table."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet import BlockTable, CubeSums, LaplaceSums
from discreet.cli import main
from discreet.mechanism import both_promises
from discreet.privacy import Adjacency
from discreet.report.statement import statement
from discreet.tables import DiscreteGaussianCounts, GaussianTable, GeometricHistogram, LaplaceTable

STUDY = """
[data]
path = "d.csv"
neighbours = "add or remove"
about = 300
[budget]
epsilon = "2"
ledger = "l.db"
[columns.ward]
levels = ["A", "B"]
[columns.age]
bounds = [0, 100]
[questions.wards]
columns = ["ward"]
epsilon = "1"
"""


def written(folder: Path, text: str = STUDY, records: int = 200) -> Path:
    rows = "".join(f"{'AB'[number % 4 == 0]},{number % 90}\n" for number in range(records))
    (folder / "d.csv").write_text(f"ward,age\n{rows}", "utf-8")
    (folder / "s.toml").write_text(text, "utf-8")
    return folder / "s.toml"


def run(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("words", ["add or remove", "add or remove one record", "add or remove one person"])
def test_neighbours_are_declared_in_these_words(tmp_path: Path, words: str) -> None:
    study = dc.Study(written(tmp_path, STUDY.replace("add or remove", words)))
    assert (study.neighbours, study.size, study.about) == (Adjacency.ADD_OR_REMOVE, None, 300)
    question = study.question("wards")
    ward = dc.Categories("ward", levels=("A", "B"), outside="other")
    assert question.mechanism == LaplaceTable(ward, 1)
    assert question.reason == "the number of records is secret"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("about = 300", "size = 200", "data.size must be left out"),
        ('neighbours = "add or remove"\nabout = 300', "", "data.size is missing"),
        ('neighbours = "add or remove"', "size = 200", "data.about is a guess"),
        ('"add or remove"', '"swap"', "data.neighbours must be"),
        ("about = 300", 'about = 300\nunit_column = "id"', "counts rows"),
        ('epsilon = "1"', 'epsilon = "1"\nmechanism = "GeometricHistogram"', "takes the number of records as public"),
        ('epsilon = "1"', 'epsilon = "1"\nmechanism = "PosteriorSampling"', "width of its draws"),
        ('epsilon = "1"', 'epsilon = "1"\nmechanism = "HellingerCalibrated"', "among its candidates"),
        ('epsilon = "1"', 'epsilon_per_unit = "1"', "at no stated distance"),
        (
            'columns = ["ward"]',
            'model = "number"\ncolumn = "age"\nask = "mean"\nmechanism = "GeometricSums"',
            "takes the number of records as public",
        ),
        (
            'columns = ["ward"]',
            'model = "number"\ncolumn = "age"\nask = "mean"\nmechanism = "MetricSums"',
            "takes the number of records as public",
        ),
        ('columns = ["ward"]', 'model = "network"\nedges = ["ward"]', "has 3 levels"),
        ('columns = ["ward"]', 'model = "regression"\nformula = "age ~ ward"', "'regression' cannot be asked"),
        ('columns = ["ward"]', 'model = "poisson"\ncolumn = "age"\nmost = 9', "'poisson' cannot be asked"),
        ('epsilon = "2"', 'epsilon_per_unit = "2"', "at no stated distance"),
    ],
)
def test_what_a_secret_number_does_not_allow_is_refused_in_words(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = written(tmp_path, STUDY.replace(old, new, 1))
    with pytest.raises(dc.DeclarationError, match=words):
        dc.Study(path)
    assert not (tmp_path / "l.db").exists()


def test_a_table_of_a_secret_number_needs_that_declared(tmp_path: Path) -> None:
    text = STUDY.replace('neighbours = "add or remove"\nabout = 300', "size = 200")
    with pytest.raises(dc.DeclarationError, match="LaplaceTable keeps the number of records secret"):
        dc.Study(written(tmp_path, text + 'mechanism = "LaplaceTable"\n'))


def test_the_whole_road(tmp_path: Path) -> None:
    path = written(tmp_path)
    study = dc.Study(path)
    assert study.plan("wards").size == 300
    release = study.publish("wards")
    assert study.publish("wards") == release  # and charges nothing
    ledger = study.ledger()
    assert ledger.spent.epsilon == 1
    assert ledger.created["adjacency"] == "add or remove one record"
    certificate = dc.verify(release, ledger=ledger)
    assert "whether you are in the data: epsilon 1; what your record says: epsilon 2 (computed)" in str(certificate)
    assert any("0 to" in check and "neighbours" in check for check in certificate.checks)
    posterior = study.infer("wards")
    assert posterior.number_of_records.first > 100
    assert dc.Release.from_json(release.to_json()) == release
    said = statement(release, posterior)
    assert "How many records there are is secret too" in said
    assert str(both_promises(release.mechanism)) in said
    assert "the number of records, the columns" not in said


def test_the_commands_of_the_road(tmp_path: Path) -> None:
    path = written(tmp_path)
    checked = run("check", str(path))
    assert (checked.exit_code, "200 records: secret" in checked.output) == (0, True)
    planned = run("plan", str(path))
    assert "Whether you are in the data: epsilon 1; what your record says: epsilon 2 (computed)." in planned.output
    assert "--sizes needs a public number" in run("plan", str(path), "--ask", "wards", "--sizes", "10,20").output
    assert "about" in run("rehearse", str(path)).output
    assert run("publish", str(path), "--ask", "wards").exit_code == 0
    released = str(tmp_path / "wards.release.json")
    assert "whether you are in the data" in run("verify", released, "--ledger", str(tmp_path / "l.db")).output
    found = json.loads(run("infer", released, "--json").output)
    assert found["size"] is None
    assert found["number_of_records"]["low"] <= found["number_of_records"]["mean"]
    assert "add or remove one record" in run("ledger", str(tmp_path / "l.db")).output


NUMBERS = """
[questions.pay]
model = "number"
column = "age"
ask = ["mean", "sum", "variance"]
by = "ward"
epsilon = "1"
[questions.west]
model = "number"
column = "age"
ask = "mean"
where = "ward = A"
about = 75
epsilon = "0.5"
[questions.median]
model = "number"
column = "age"
ask = ["quantiles", "distribution"]
epsilon = "1"
"""


@pytest.mark.parametrize(("name", "mechanism"), [("pay", CubeSums), ("west", CubeSums), ("median", BlockTable)])
def test_the_whole_road_of_numbers(tmp_path: Path, name: str, mechanism: type) -> None:
    path = written(tmp_path, STUDY.replace('epsilon = "2"', 'epsilon = "9"', 1) + NUMBERS)
    study = dc.Study(path)
    question = study.question(name)
    assert (type(question.mechanism), question.reason) == (mechanism, "the number of records is secret")
    planned = study.plan(name, studies=3)
    assert planned.size == (75 if name == "west" else 300)
    assert run("rehearse", str(path), "--ask", name).exit_code == 0
    release = study.publish(name)
    assert study.publish(name) == release
    ledger = study.ledger()
    certificate = dc.verify(release, ledger=ledger)
    assert "whether you are in the data: epsilon" in str(certificate)
    posterior = study.infer(name)
    low, high = posterior.number_of_records.interval(0.99999)
    assert low <= (150 if name == "west" else 200) <= high
    said = statement(release, posterior, certificate)
    assert "How many records there are is secret too" in said
    shown = run("infer", str(tmp_path / f"{name}.release.json"))
    assert "about" in shown.output.splitlines()[0], shown.output
    found = json.loads(run("infer", str(tmp_path / f"{name}.release.json"), "--json").output)
    assert found["size"] is None
    assert found["number_of_records"]["probability_of_none"] < 1e-6
    page = run("infer", str(tmp_path / f"{name}.release.json"), "--html", str(tmp_path / "p.html"))
    assert page.exit_code == 0, page.output
    assert "secret" in (tmp_path / "p.html").read_text("utf-8")


NETWORK = """
[columns.fell]
levels = ["no", "yes"]
outside = "no"
[columns.frail]
levels = ["no", "yes"]
outside = "no"
[questions.falls]
model = "naive-bayes"
target = "fell"
features = ["frail"]
epsilon = "1"
"""


def test_the_whole_road_of_naive_bayes(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.split("[questions")[0] + NETWORK, "utf-8")
    rows = "".join(f"{('no', 'yes')[n % 3 == 0]},{('no', 'yes')[n % 5 < 2]}\n" for n in range(200))
    (tmp_path / "d.csv").write_text(f"fell,frail\n{rows}", "utf-8")
    study = dc.Study(tmp_path / "s.toml")
    assert study.question("falls").mechanism == dc.CubeTables(study.question("falls").model, 1)
    assert study.plan("falls", studies=2).size == 300
    release = study.publish("falls")
    assert study.publish("falls") == release
    assert "what your record says: epsilon 2" in str(dc.verify(release, ledger=study.ledger()))
    posterior = study.infer("falls")
    low, high = posterior.number_of_records.interval(0.99999)
    assert low <= 200 <= high
    assert "How many records there are is secret too" in statement(release, posterior)
    found = json.loads(run("infer", str(tmp_path / "falls.release.json"), "--json").output)
    assert found["size"] is None
    assert found["number_of_records"]["low"] > 100
    refused = run("criticise", str(tmp_path / "falls.release.json"))
    assert refused.exit_code != 0
    assert "cannot be criticised" in refused.output
    predicted = tmp_path / "new.csv"
    predicted.write_text("frail\nyes\nno\n", "utf-8")
    assert run("predict", str(tmp_path / "falls.release.json"), str(predicted)).exit_code == 0


PERSONS = """
[questions.pay]
model = "number"
column = "age"
ask = ["mean", "sum"]
by = "ward"
per_person = "{rule}"
epsilon = "2"
"""


@pytest.mark.parametrize("rule", ["largest", "rows"])
def test_the_whole_road_of_persons(tmp_path: Path, rule: str) -> None:
    more = "rows_per_person = 3\n" if rule == "rows" else ""
    text = STUDY.replace("about = 300", 'about = 300\nunit_column = "id"').split("[questions")[0]
    (tmp_path / "s.toml").write_text(text + PERSONS.format(rule=rule) + more, "utf-8")
    rows = "".join(f"{n // 2 if n % 9 else ''},{'AB'[n % 4 < 2]},{n % 90}\n" for n in range(400))
    (tmp_path / "d.csv").write_text(f"id,ward,age\n{rows}", "utf-8")
    study = dc.Study(tmp_path / "s.toml")
    assert type(study.question("pay").mechanism) is (LaplaceSums if rule == "rows" else CubeSums)
    checked = run("check", str(study.path))
    assert "45 values have no id and are left out" in checked.output.replace("\n", " "), checked.output
    assert study.plan("pay", studies=3).size == 300
    release = study.publish("pay")
    assert release.unit.description == "one person"
    assert "one person" in str(dc.verify(release, ledger=study.ledger()))
    posterior = study.infer("pay")
    low, high = posterior.number_of_records.interval(0.99999)
    assert low <= 200 <= high
    said = statement(release, posterior)
    assert "How many persons there are is secret too" in said
    assert "The number of persons is secret" in " ".join(posterior.remarks())


def test_rows_without_an_id_are_no_id_with_many_values(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("id,age\na,30\na,40\nb,50\n" + ",60\n" * 7, "utf-8")
    text = (
        '[data]\npath = "d.csv"\nneighbours = "add or remove one person"\nunit_column = "id"\n[budget]\nepsilon = "2"\n'
        'ledger = "l.db"\n[columns.age]\nbounds = [0, 100]\n[questions.age]\nmodel = "number"\ncolumn = "age"\n'
        'ask = "mean"\nper_person = "largest"\nepsilon = "1"\n'
    )
    (tmp_path / "s.toml").write_text(text, "utf-8")
    said = " ".join(run("check", str(tmp_path / "s.toml")).output.split())
    assert "2 ids: secret, too. 7 values have no id and are left out" in said
    assert "no id has more than 2 values" in said


def test_what_cannot_be_said_of_a_secret_number_of_persons_is_refused(tmp_path: Path) -> None:
    text = STUDY.replace("about = 300", 'about = 300\nunit_column = "id"').split("[questions")[0]
    some = PERSONS.format(rule="largest").replace('by = "ward"', 'where = "ward = A"')
    with pytest.raises(dc.DeclarationError, match="decided by a record alone"):
        dc.Study(written(tmp_path, text + some))
    median = PERSONS.format(rule="largest").replace('["mean", "sum"]', '"quantiles"').replace('by = "ward"', "")
    assert type(dc.Study(written(tmp_path, text + median)).question("pay").mechanism) is BlockTable
    with pytest.raises(dc.DeclarationError, match="cells = 64"):
        dc.Study(written(tmp_path, text.replace("about = 300", "") + median))
    stated = dc.Study(written(tmp_path, text.replace("about = 300", "") + median + "cells = 8\n"))
    assert stated.question("pay").model.count == 8


@pytest.mark.parametrize("records", [0, 1])
def test_nothing_but_the_output_tells_how_many_have_a_number(tmp_path: Path, records: int) -> None:
    said = []
    for count in (records, 3000):
        folder = tmp_path / str(count)
        folder.mkdir()
        path = written(folder, STUDY.replace('epsilon = "2"', 'epsilon = "9"', 1) + NUMBERS, count)
        found = [run("publish", str(path), "--ask", name) for name in ("pay", "west", "median")]
        assert [each.exit_code for each in found] == [0, 0, 0], found
        said.append([each.output.replace(str(folder), "") for each in found])
    assert said[0] == said[1]


def test_a_plan_without_a_guess_is_refused_and_publishing_is_not(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path, STUDY.replace("about = 300\n", "")))
    with pytest.raises(dc.DeclarationError, match="about = 5000"):
        study.plan("wards")
    assert study.publish("wards").guarantee.epsilon == 1


@pytest.mark.parametrize("records", [0, 1, 7])
def test_nothing_but_the_output_tells_how_many_records_there_are(tmp_path: Path, records: int) -> None:
    path = written(tmp_path, records=records)
    said = run("publish", str(path), "--ask", "wards")
    assert said.exit_code == 0, said.output
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, count in ((few, records), (many, 3000)):
        folder.mkdir()
        written(folder, records=count)
    outputs = [run("publish", str(folder / "s.toml"), "--ask", "wards").output for folder in (few, many)]
    assert outputs[0].replace(str(few), "") == outputs[1].replace(str(many), "")
    releases = [json.loads((folder / "wards.release.json").read_text("utf-8")) for folder in (few, many)]
    for each in releases:
        del each["output"], each["receipt"]
    assert releases[0] == releases[1]


def empty_file(folder: Path, name: str) -> Any:
    path = folder / name
    path.write_text("ward,age\n", "utf-8")
    return dc.read(path)


def empty_parquet(folder: Path) -> Any:
    pa.parquet.write_table(pa.table({"ward": pa.array([], pa.string())}), folder / "e.parquet")
    return dc.read(folder / "e.parquet")


EMPTY: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: empty_file(folder, "e.csv"),
    "parquet": empty_parquet,
    "lists": lambda _: {"ward": []},
    "pandas": lambda _: pd.DataFrame({"ward": []}),
    "pandas of objects": lambda _: pd.DataFrame({"ward": pd.Series([], dtype=object)}),
    "polars": lambda _: pl.DataFrame({"ward": []}),
    "lazy polars": lambda _: pl.LazyFrame({"ward": pl.Series([], dtype=pl.String)}),
    "arrow": lambda _: pa.table({"ward": pa.array([], pa.string())}),
    "arrow of nulls": lambda _: pa.table({"ward": pa.array([], pa.null())}),
    "duckdb": lambda _: duckdb.sql("SELECT 'A' AS ward WHERE false"),
}


@pytest.mark.parametrize("source", EMPTY)
def test_a_source_without_records_counts_nobody(tmp_path: Path, source: str) -> None:
    """That nobody is there must be a release like any other: an error would tell."""
    ward = dc.Categories("ward", levels=("A", "B"), outside="A")
    ledger = dc.Ledger.create(tmp_path / "l.db", 2, adjacency=Adjacency.ADD_OR_REMOVE)
    secret = ward.statistics(EMPTY[source](tmp_path))
    assert not secret.open_for_publishing().any()
    release = dc.publish(LaplaceTable(ward, 1), secret, ledger, "nobody")
    assert np.abs(release.counts).max() < 60


NOBODY: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: empty_file(folder, "e.csv"),
    "lists": lambda _: {"age": [], "id": []},
    "pandas": lambda _: pd.DataFrame({"age": [], "id": []}),
    "pandas of objects": lambda _: pd.DataFrame(
        {"age": pd.Series([], dtype=object), "id": pd.Series([], dtype=object)}
    ),
    "polars": lambda _: pl.DataFrame({"age": [], "id": []}),
    "lazy polars": lambda _: pl.LazyFrame(
        {"age": pl.Series([], dtype=pl.Float64), "id": pl.Series([], dtype=pl.Int64)}
    ),
    "arrow": lambda _: pa.table({"age": pa.array([], pa.float64()), "id": pa.array([], pa.string())}),
    "arrow of nulls": lambda _: pa.table({"age": pa.array([], pa.null()), "id": pa.array([], pa.null())}),
    "duckdb": lambda _: duckdb.sql("SELECT 1.5 AS age, 'a' AS id WHERE false"),
}


@pytest.mark.parametrize("source", NOBODY)
@pytest.mark.parametrize("kind", ["sums", "table", "persons", "rows"])
def test_a_source_without_records_has_no_sums(tmp_path: Path, source: str, kind: str) -> None:
    name = "ward" if source == "csv" else "id"
    model: Any = {
        "sums": dc.NumberSums("age", (0, 100)),
        "table": dc.NumberTable("age", (0, 100), 8),
        "persons": dc.NumberSums("age", (0, 100), persons=dc.Persons(name, rule="largest")),
        "rows": dc.WeightedSums("age", (0, 100), rows=dc.numbers.PersonRows(name, None, 3)),
    }[kind]
    mechanism = {"sums": CubeSums, "table": BlockTable, "persons": CubeSums, "rows": LaplaceSums}[kind](model, 1)
    secret = model.statistics(NOBODY[source](tmp_path))
    assert not secret.open_for_publishing().any()
    who = model.protects
    ledger = dc.Ledger.create(tmp_path / "l.db", 2, unit=who, adjacency=Adjacency.ADD_OR_REMOVE)
    number = dc.infer(dc.publish(mechanism, secret, ledger, "nobody")).number_of_records
    assert number.interval(0.999999).low == 0


def test_a_delta_asks_for_gaussian_noise_and_goes_the_whole_road(tmp_path: Path) -> None:
    text = STUDY.replace('epsilon = "2"', 'epsilon = "2"\ndelta = "1e-5"\naccountant = "zcdp"')
    study = dc.Study(written(tmp_path, text + 'delta = "1e-6"\n'))
    question = study.question("wards")
    assert question.mechanism == GaussianTable(question.model, 1, "1e-6")
    assert study.plan("wards", studies=2).size == 300
    release = study.publish("wards")
    ledger = study.ledger()
    assert ledger.spent.numbers[0] == question.mechanism.rho
    assert "at most: one record removed, another added" in str(dc.verify(release, ledger=ledger))
    low, high = study.infer("wards").number_of_records.interval(0.999999)
    assert low < 200 < high
    assert run("rehearse", str(tmp_path / "s.toml")).exit_code == 0


def test_gaussian_noise_of_a_secret_number_costs_half_the_rho_of_a_public_one() -> None:
    coin = dc.Categories("x", levels=("a", "b"), outside="a")
    hidden = GaussianTable(coin, 1, "1e-6")
    public = DiscreteGaussianCounts(coin, 10, 1, "1e-6", variance=2 * hidden.variance)
    assert float(hidden.rho) == pytest.approx(float(public.rho), rel=1e-6)  # at half the variance
    many = GaussianTable(dc.Categories("x", levels=tuple(range(30)), outside=0), 1, "1e-6")
    assert many.total == Fraction(1, 5)
    assert many.noise.variances == (many.variance, 4 * many.variance)
    wrongs: list[dict[str, Any]] = [{"variance": "17"}, {"delta": 0}, {"total": 1}, {"variance": "1e9"}]
    for wrong in wrongs:
        with pytest.raises(dc.DeclarationError):
            GaussianTable(coin, 1, **({"delta": "1e-6"} | wrong))


def test_too_little_gaussian_noise_is_found() -> None:
    class Quieter(GaussianTable):
        def log_prob(self, output: Any, counts: Any) -> Any:
            variance = float(self.variance) / 2
            return -((np.asarray(output) - self.measured(counts)) ** 2).sum(axis=-1) / (2 * variance) - np.log(
                2 * np.pi * variance
            )

    with pytest.raises(dc.VerificationError):
        dc.verify(Quieter(dc.Categories("x", levels=("a", "b"), outside="a"), 2, "1e-2"))


def test_ledgers_of_different_neighbours_never_mix(tmp_path: Path) -> None:
    ward = dc.Categories("ward", levels=("A", "B"), outside="A")
    secret = ward.statistics({"ward": ["A", "B", "B"]})
    hides = dc.Ledger.create(tmp_path / "a.db", 2, adjacency=Adjacency.ADD_OR_REMOVE)
    public = dc.Ledger.create(tmp_path / "r.db", 2)
    for size in (3, 4):  # the words are the same whatever the number of records is
        with pytest.raises(dc.PublishError, match="takes the number of records as public"):
            dc.publish(GeometricHistogram(ward, size, 1), secret, hides, "sized")
    with pytest.raises(dc.PublishError, match="hides whether someone is in the data"):
        dc.publish(LaplaceTable(ward, 1), secret, public, "open")
    assert hides.spent.epsilon == public.spent.epsilon == 0
    dc.publish(LaplaceTable(ward, 1), secret, hides, "open")
    dc.publish(GeometricHistogram(ward, 3, 1), secret, public, "sized")
    assert hides.spent.epsilon == public.spent.epsilon == 1


def test_a_study_refuses_a_ledger_of_other_neighbours(tmp_path: Path) -> None:
    path = written(tmp_path)
    dc.Ledger.create(tmp_path / "l.db", 2, unit="one record")
    with pytest.raises(dc.PublishError, match="never mixed"):
        dc.Study(path).publish("wards")


def test_groups_of_secret_size_are_charged_by_the_largest(tmp_path: Path) -> None:
    """Parallel composition: a record that is added touches what is about everyone and its own group, and no other."""
    fall = dc.Categories("fall", levels=("no", "yes"), outside="no")
    wards = ("west", "east", "north")
    ledger = dc.Ledger.create(tmp_path / "l.db", 2, groups=wards, adjacency=Adjacency.ADD_OR_REMOVE)
    secret = fall.statistics({"fall": ["no", "yes"]})
    dc.publish(LaplaceTable(fall, "0.5"), secret, ledger, "everyone")
    for ward, epsilon in zip(wards, ("1", "1.5", "0.25"), strict=True):
        release = dc.publish(LaplaceTable(fall, epsilon), secret, ledger, ward, group=ward)
        assert release.guarantee.adjacency is Adjacency.ADD_OR_REMOVE
        assert dc.verify(release, ledger=ledger).guarantee.epsilon == Fraction(epsilon)
    assert ledger.spent.epsilon == 2
    with pytest.raises(dc.BudgetError):
        dc.publish(LaplaceTable(fall, "0.1"), secret, ledger, "too much", group="east")
    dc.publish(LaplaceTable(fall, "0.5"), secret, ledger, "more", group="west")
    assert ledger.spent.epsilon == 2


@pytest.mark.parametrize("rate", [2, 4])
def test_noise_of_too_high_a_rate_is_found(rate: int) -> None:
    class Louder(LaplaceTable):
        def log_prob(self, output: Any, counts: Any) -> Any:
            return LaplaceTable(self.model, rate * self.epsilon, self.total).log_prob(output, counts)

    with pytest.raises(dc.VerificationError, match="adding one record"):
        dc.verify(Louder(dc.Categories("x", levels=("a", "b"), outside="a"), 1))


class OneSided(LaplaceTable):
    """Wrong on purpose: noise never takes a record away, so that an empty cell may be told from one that is not."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        rate = float(self.epsilon)
        logs = np.where(noise >= 0, np.log(-np.expm1(-rate)) - rate * noise, -np.inf)
        return logs.sum(axis=-1)


class KeepsTotal(LaplaceTable):
    """Wrong on purpose: noise that moves records between cells, so that their number is published exactly."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        logs = -float(self.epsilon) * np.abs(noise).sum(axis=-1) / 2
        return np.where(noise.sum(axis=-1) == 0, logs, -np.inf)


class OnlyParity(LaplaceTable):
    """Wrong on purpose: the number of records is hidden but for whether it is even."""

    def log_prob(self, output: Any, counts: Any) -> Any:
        noise = np.asarray(output) - self.measured(counts)
        logs = super().log_prob(output, counts)
        return np.where(noise.sum(axis=-1) % 2 == 0, logs, -np.inf)


@pytest.mark.parametrize("wrong", [OneSided, KeepsTotal, OnlyParity])
def test_noise_that_does_not_hide_an_added_record_is_found(wrong: Any) -> None:
    with pytest.raises(dc.VerificationError):
        dc.verify(wrong(dc.Categories("x", levels=("a", "b"), outside="a"), 1))


def test_an_audit_compares_data_sets_with_and_without_a_record() -> None:
    table = LaplaceTable(dc.Categories("x", levels=("a", "b"), outside="a"), "0.5")
    found = dc.audit(table, draws=4000)
    first, second = (np.array(side) for side in found.pair)
    assert np.abs(first - second).sum() == 1
    assert not found.violates
    with pytest.raises(dc.DeclarationError, match="one added"):
        dc.audit(table, draws=1000, pairs=[((1, 0), (0, 1))])
