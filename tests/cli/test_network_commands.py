"""Networks by the command line: the whole road of naive Bayes and of a chain, and what is refused."""

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli._main import main
from discreet.cli._posterior import MOST_SHOWN

STUDY = """
[data]
path = "clinic.csv"
size = 80
unit = "one row per patient"
[columns.cancer]
levels = ["no", "yes"]
outside = "no"
[columns.smoker]
levels = ["no", "yes"]
outside = "no"
[columns.cough]
levels = ["never", "often"]
[budget]
epsilon = "9"
ledger = "study.db"
[questions.signs]
model = "naive-bayes"
target = "cancer"
features = ["smoker"]
epsilon = "2"
label = "Signs of cancer"
[questions.chain]
model = "network"
edges = ["smoker -> cancer -> cough"]
epsilon = "2"
[questions.coughs]
columns = ["cough"]
epsilon = "1"
[questions.several]
model = "network"
edges = ["smoker -> cough", "cancer -> cough"]
epsilon = "1"
"""
CANARY = "canary-91c2"
ROWS = ["no,no,never"] * 40 + ["no,yes,often"] * 15 + ["yes,yes,often"] * 15 + ["yes,no,never"] * 9 + [f"no,{CANARY},"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "clinic.csv").write_text("cancer,smoker,cough\n" + "\n".join(ROWS) + "\n")
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert "unforeseen" not in result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code).stdout)


def posterior(path: str) -> Any:
    return dc.infer(dc.Release.from_json(Path(path).read_text()))


def test_the_whole_road_of_naive_bayes(folder: Path) -> None:
    assert "80 records, as declared" in run("check", "study.toml").output
    published = run("publish", "study.toml", "--ask", "signs").output
    assert "Mechanism: CubeCounts, chosen because all variables are yes/no" in published
    assert "The guarantee holds" in run("verify", "signs.release.json", "--ledger", "study.db").output
    files = ("--csv", "a.csv", "--arviz", "a.nc", "--bif", "a.bif", "--plot", "a.png", "--statement", "a.html")
    made = ("--synthesize", "25", "--out", "made.csv")
    shown = run("infer", "signs.release.json", *files, *made).output
    for words in ("cancer=yes", "smoker=yes", "cancer=no", *(f"Wrote {files[n]}" for n in (1, 3, 5, 7, 9)), "made.csv"):
        assert words in shown
    rows = list(csv.DictReader((folder / "a.csv").read_text("utf-8-sig").splitlines()))
    assert [(row["quantity"], row["given"]) for row in rows] == [
        ("cancer=no", ""),
        ("cancer=yes", ""),
        *((f"smoker={b}", f"cancer={a}") for a in ("no", "yes") for b in ("no", "yes")),
    ]
    read = posterior("signs.release.json")
    assert float(rows[1]["mean"]) == pytest.approx(read.mean_tables()["cancer"][1])
    law = read.conditional("smoker=yes", "cancer=no")
    assert [float(rows[3][end]) for end in ("low", "high")] == pytest.approx(list(law.interval(0.9)), abs=0.01)
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "a.nc").stat().st_size > 10_000
    assert dc.read_bif((folder / "a.bif").read_text())[1]["cancer"] == pytest.approx(read.mean_tables()["cancer"])
    made_up = list(csv.DictReader((folder / "made.csv").read_text().splitlines()))
    assert len(made_up) == 25
    assert set(made_up[0]) == {"cancer", "smoker"}
    assert "Bayesian network of 2 variables" in (folder / "a.html").read_text()


def test_one_probability_is_asked_for_by_event_and_condition() -> None:
    run("publish", "study.toml", "--ask", "chain")
    (found,) = as_json("infer", "chain.release.json", "--event", "cough=often", "--given", "smoker=yes")["event"]
    assert found["mean"] == posterior("chain.release.json").conditional("cough=often", "smoker=yes").mean
    assert found["low"] < found["mean"] < found["high"]
    assert "Probability of cough=often: 0." in run("infer", "chain.release.json", "--event", "cough=often").output
    groups = as_json("infer", "chain.release.json", "--event", "cough=often", "--by", "smoker")["groups"]
    assert {row["given"]: row["mean"] for row in groups}["smoker=yes"] == found["mean"]


ASIA = dc.Network.from_edges(
    *("asia -> tub", "smoke -> lung", "smoke -> bronc", "tub -> either", "lung -> either", "either -> xray"),
    *("either -> dysp", "bronc -> dysp"),
    levels=dict.fromkeys(("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"), ("no", "yes")),
    outside="no",
)
BIF_STUDY = """
[data]
path = "records.csv"
size = 500
unit = "one row per patient"
[budget]
epsilon = "4"
ledger = "study.db"
[questions.graph]
model = "network"
bif = "graph.bif"
epsilon = "4"
mechanism = "FamilyHistograms"
"""


def write_graph(folder: Path, network: dc.Network) -> None:
    """Write a BIF file, a study that names it, and records that are drawn from its expected probabilities."""
    (folder / "graph.bif").write_text(network.to_bif())
    (folder / "graph.toml").write_text(BIF_STUDY)
    generator = np.random.default_rng(1)
    columns = {v.name: generator.choice(np.array(v.levels), 500).tolist() for v in network.variables}
    rows = [",".join(row) for row in zip(*columns.values(), strict=True)]
    (folder / "records.csv").write_text(",".join(columns) + "\n" + "\n".join(rows) + "\n")


def test_asia_goes_from_a_bif_file_to_a_picture(folder: Path) -> None:
    write_graph(folder, ASIA)
    run("publish", "graph.toml", "--ask", "graph")
    shown = run(
        "infer", "graph.release.json", "--plot", "asia.png", "--event", "lung=yes", "--given", "dysp=yes"
    ).output
    assert "read by 256 Markov chains of" in " ".join(shown.split())
    assert "Probability of lung=yes given dysp=yes: 0." in shown
    assert (folder / "asia.png").read_bytes().startswith(b"\x89PNG")


def test_a_graph_that_is_too_large_for_chains_is_read_row_by_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for solver in ("_chains_solver", "_moves_solver"):
        monkeypatch.setattr(f"discreet.networks.{solver}.MOST_CELLS", 50)
    names = [f"v{number}" for number in range(12)]
    edges = [f"v{p} -> v{c}" for c in range(2, 12) for p in (c - 1, c - 2)]
    write_graph(folder, dc.Network.from_edges(*edges, levels=dict.fromkeys(names, ("no", "yes")), outside="no"))
    run("publish", "graph.toml", "--ask", "graph")
    read = as_json("infer", "graph.release.json", "--plot", "graph.png")
    assert "row by row" in read["method"]
    assert read["log_evidence"] is None
    assert len(read["rows"]) == 2 * (1 + 1 + 10 * 4)
    assert (folder / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_plan_and_publish_announce_inference_that_may_take_long(folder: Path) -> None:
    """A rare event with three parents: what is said depends on the declarations alone."""
    columns = "".join(
        f"[columns.{name}]\nlevels = {list(range(count))}\noutside = 0\n"
        for name, count in (("sex", 2), ("age", 6), ("flc", 10), ("death", 2))
    )
    edges = ["sex -> death", "age -> death", "flc -> death"]
    (folder / "deaths.csv").write_text("sex,age,flc,death\n" + "1,2,3,0\n" * 500)
    (folder / "deaths.toml").write_text(
        f'[data]\npath = "deaths.csv"\nsize = 500\nunit = "one row per patient"\n{columns}'
        f'[budget]\nepsilon = "2"\nledger = "deaths.db"\n'
        f'[questions.death]\nmodel = "network"\nedges = {edges}\nepsilon = "1"\nmechanism = "FamilyHistograms"\n'
    )
    said = "A release will be inferred by Markov chains, which usually takes about 2 seconds, at most 90 seconds."
    assert said in " ".join(run("publish", "deaths.toml", "--ask", "death").output.split())
    assert as_json("publish", "deaths.toml", "--ask", "death")["inference"] == said
    planned = as_json("plan", "deaths.toml", "--ask", "death", "--epsilon", "1", "--studies", "2")
    assert planned["inference"] == said
    assert "inference" not in as_json("plan", "study.toml", "--ask", "chain", "--studies", "2")


def test_every_command_speaks_json_about_networks() -> None:
    checked = as_json("check", "study.toml")
    assert set(checked["columns"]) == {"cancer", "smoker", "cough"}
    planned = as_json("plan", "study.toml", "--ask", "signs", "--epsilon", "0.5,2", "--sizes", "500")
    assert [(row["epsilon"], row["size"]) for row in planned["points"]] == [(0.5, 80), (2.0, 80), (2.0, 500)]
    assert planned["mechanism"] == "CubeCounts"
    for point in planned["points"]:
        assert 0 < point["exact_width"] < point["width"] < 1
        assert point["facts"]["classified"] > 0.5
    rehearsed = as_json("rehearse", "study.toml", "--ask", "signs")
    assert rehearsed["simulated"] is True
    assert sum(row["truth"] for row in rehearsed["rows"]) == pytest.approx(3)
    published = as_json("publish", "study.toml", "--ask", "signs")
    assert published["mechanism"] == "CubeCounts"
    assert published["reason"]
    assert as_json("verify", "signs.release.json")["epsilon"] == 2
    read = as_json("infer", "signs.release.json")
    assert (read["target"], len(read["rows"])) == ("cancer", 6)


def test_the_plan_says_what_noise_to_expect_and_why(folder: Path) -> None:
    (folder / "clinic.csv").unlink()
    chain = run("plan", "study.toml", "--ask", "chain", "--studies", "2", "--plot", "widths.png").output
    assert "could not be read exactly here" in chain
    assert "The noise of a count has the standard deviation" in " ".join(chain.split())
    assert (folder / "widths.png").exists()
    signs = run("plan", "study.toml", "--ask", "signs").output
    assert "New records will be classified correctly" in " ".join(signs.split())
    assert not (folder / "study.db").exists()


def test_the_noise_in_a_plan_is_that_of_the_mechanism() -> None:
    words = ("plan", "study.toml", "--ask", "chain", "--studies", "2", "--epsilon", "0.25")
    row = as_json(*words)["points"][0]["facts"]
    mechanism = dc.Study("study.toml").question("chain").mechanism
    other = dc.FamilyHistograms(mechanism.model, 80, "0.25")
    assert row["count_sd"] == other.count_sd()
    assert "class_sd" not in row
    cube = as_json("plan", "study.toml", "--ask", "signs", "--epsilon", "2")["points"][0]["facts"]
    planned = dc.Study("study.toml").question("signs").mechanism
    as_json("publish", "study.toml", "--ask", "signs")
    assert dc.Release.from_json(Path("signs.release.json").read_text()).mechanism == planned
    assert isinstance(planned, dc.CubeCounts)
    assert planned.class_epsilon == Fraction("0.772")  # 193/500 of epsilon, by the rule for one feature
    classes = dc.GeometricHistogram(dc.Categories("x", levels=("a", "b"), outside="a"), 80, "0.772")
    noise = classes.noise.sample(20_000, dc.SeededBits(1))[:, 0]
    assert cube["class_sd"] == pytest.approx(noise.std(), rel=0.03)
    assert "That of a class itself is" in run("plan", "study.toml", "--ask", "signs").output


def test_a_rehearsal_shows_the_truth_beside_the_tables() -> None:
    shown = run("rehearse", "study.toml", "--ask", "chain", "--seed", "3").output
    assert "truth" in shown
    assert "A rehearsal on simulated data" in shown
    assert run("rehearse", "study.toml", "--ask", "chain", "--seed", "3").output == shown


def test_a_batch_of_tables_and_networks_is_published_together(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.split("[questions.several]")[0])
    assert "3 questions together" in run("plan", "study.toml", "--batch").output
    published = as_json("publish", "study.toml", "--batch")
    assert published["mechanisms"] == {
        "signs": "CubeCounts",
        "chain": "FamilyHistograms",
        "coughs": "GeometricHistogram",
    }
    assert as_json("publish", "study.toml", "--batch")["already_published"]
    assert len(as_json("infer", "chain.release.json")["rows"]) == 2 + 4 + 6


def test_a_large_network_shows_its_first_lines_and_says_how_to_get_all(folder: Path) -> None:
    names = [f"item {number}" for number in range(40)]
    network = dc.Network.from_edges(*names, levels=dict.fromkeys(names, ("no", "yes")), outside="no")
    mechanism = dc.FamilyHistograms(network, size=30, epsilon=40)
    release = dc.simulate(mechanism, [20, 10] * 40, dc.SeededBits(5), label="Forty items")
    (folder / "r.json").write_text(release.to_json())
    shown = run("infer", "r.json", "--csv", "all.csv").output
    assert f"first {MOST_SHOWN} of 80 rows" in shown
    assert "item 39=yes" not in shown
    assert len((folder / "all.csv").read_text().splitlines()) == 81


BROKEN: list[tuple[tuple[str, ...], int, str]] = [
    (("infer", "signs.release.json", "--that", "yes > 0.2"), 1, "Write a comparison of quantities and numbers"),
    (
        ("infer", "signs.release.json", "--event", "smoker=yes", "--by", "cancer", "--pool"),
        1,
        "--pool is not available for a network",
    ),
    (("infer", "signs.release.json", "--event", "smoker=perhaps"), 1, "smoker=perhaps"),
    (("infer", "signs.release.json", "--event", "smoker=yes", "--given", "smoker=no"), 1, "about a variable that is"),
    (("infer", "signs.release.json", "--event", "smoker=yes", "--by", "age"), 1, "no column 'age'"),
    (("infer", "signs.release.json", "--given", "smoker=no"), 1, "need --event"),
    (("infer", "signs.release.json", "--synthesize", "5"), 1, "need each other"),
    (("infer", "signs.release.json", "--out", "x.csv"), 1, "need each other"),
    (("infer", "signs.release.json", "--synthesize", "0", "--out", "x.csv"), 2, "--synthesize"),
    (("infer", "signs.release.json", "--synthesize", "5", "--out", "no/x.csv"), 1, "no folder"),
    (("infer", "signs.release.json", "--bif", "no/x.bif"), 1, "no folder"),
    (("infer", "signs.release.json", "--level", "2"), 1, "between 0 and 1"),
    (("infer", "coughs.release.json", "--bif", "x.bif"), 1, "--bif is not available for a table of categories"),
    (("infer", "signs.release.json", "coughs.release.json"), 1, ""),
    (("plan", "study.toml", "--ask", "signs", "--width", "-1"), 1, "must be above 0"),
    (("plan", "study.toml", "--ask", "signs", "--level", "7"), 1, "between 0 and 1"),
]


def test_what_does_not_fit_a_network_is_refused_in_words() -> None:
    run("publish", "study.toml", "--ask", "signs")
    run("publish", "study.toml", "--ask", "coughs")
    spent = dc.Ledger.open("study.db").spent
    for words, code, said in BROKEN:
        result = run(*words, code=code)
        assert said in result.stderr, words
        assert CANARY not in result.output
    assert dc.Ledger.open("study.db").spent == spent


def test_a_slash_in_a_name_is_refused_where_the_file_could_not_hold_it(folder: Path) -> None:
    network = dc.Network.from_edges("a/b", "c", levels={"a/b": (0, 1), "c": (0, 1)}, outside=0)
    release = dc.simulate(dc.CubeCounts(network, 20, 2), [10, 10, 5, 15], dc.SeededBits(1))
    (folder / "r.json").write_text(release.to_json())
    assert "the name contains a slash" in run("infer", "r.json", "--arviz", "x.nc", code=1).stderr


@pytest.fixture
def collider(folder: Path) -> str:
    """Write a release of a graph without the arrow from b to c that its records have."""
    network = dc.Network.from_edges("b -> d", "c -> d", levels=dict.fromkeys("bcd", ("no", "yes")), outside="no")
    counts = [588, 252, 252, 108, 308, 132, 72, 288]
    release = dc.simulate(dc.networks.FamilyHistograms(network, 2_000, 1), counts, dc.SeededBits(1), "Collider")
    (folder / "collider.json").write_text(release.to_json())
    return "collider.json"


@pytest.fixture
def naive(folder: Path) -> str:
    """Write a release that is read exactly, in no time."""
    network = dc.Network.naive_bayes("c", ["b", "d"], dict.fromkeys("bcd", ("no", "yes")), outside="no")
    counts = [50, 30, 10, 40, 40, 40, 20, 30]
    release = dc.simulate(dc.networks.FamilyHistograms(network, 130, 1), counts, dc.SeededBits(1), "Naive")
    (folder / "naive.json").write_text(release.to_json())
    return "naive.json"


def test_criticise_gives_a_verdict_a_picture_and_json(collider: str, folder: Path) -> None:
    shown = run("criticise", collider, "--replicates", "200", "--plot", "fit.svg").stdout
    assert "The released tables do not fit the graph. b and c are not associated" in " ".join(shown.split())
    assert "b and c, no arrow" in shown
    assert "Simulated" in shown
    assert "does not fit" in (folder / "fit.svg").read_text()
    found = json.loads(run("criticise", collider, "--replicates", "200", "--json").stdout)
    assert found["fits"] is False
    assert {check["name"] for check in found["checks"]} == {"table of b, c, d", "b and c, no arrow"}
    assert found["unseen"] == []
    assert found["method"].startswith("read by")


def test_criticise_refuses_in_words(folder: Path, collider: str) -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    release = dc.simulate(dc.GeometricHistogram(coin, 50, 1), [20, 30], dc.SeededBits(1), "coin")
    (folder / "coin.json").write_text(release.to_json())
    assert "a table of categories has no graph" in " ".join(run("criticise", "coin.json", code=1).stderr.split())
    assert "charts are .png, .svg or .json" in run("criticise", collider, "--plot", "fit.pdf", code=1).stderr
    assert "no variable that the others predict" in run("predict", "coin.json", "clinic.csv", code=1).stderr


def test_predict_takes_partial_records(naive: str, folder: Path) -> None:
    (folder / "new.csv").write_text("b,d\nyes,?\nno,yes\n?,?\n")
    run("predict", naive, "new.csv", "--target", "c", "--unknown", "?", "--out", "found.csv")
    with (folder / "found.csv").open() as file:
        rows = list(csv.DictReader(file))
    posterior: Any = dc.infer(dc.Release.from_json((folder / "naive.json").read_bytes()))
    wanted = posterior.predict_proba([{"b": "yes"}, {"b": "no", "d": "yes"}, {}], target="c")
    np.testing.assert_allclose([float(row["P(c=yes)"]) for row in rows], wanted[:, 1], atol=1e-12)
    assert [row["c"] for row in rows] == posterior.predict([{"b": "yes"}, {"b": "no", "d": "yes"}, {}], target="c")
    shown = json.loads(run("predict", naive, "new.csv", "--target", "c", "--unknown", "?", "--json").stdout)
    assert shown["records"] == 3
    assert list(shown["predictions"]) == ["c", "P(c=no)", "P(c=yes)"]


def test_predict_refuses_what_is_no_table_of_records(naive: str, folder: Path) -> None:
    assert "Name the variable to predict" in run("predict", naive, "clinic.csv", "--target", "x", code=1).stderr
    assert "There is no file" in run("predict", naive, "none.csv", "--target", "c", code=4).stderr
    for name, text, words in (
        ("odd", "b,d\nyes\n", "must have 2 values"),
        ("twice", "b,b\nyes,no\n", "a different name"),
        ("empty", "", "needs a header"),
        ("other", "B,d\nyes,no\n", "which the network does not know"),
    ):
        (folder / f"{name}.csv").write_text(text)
        assert words in " ".join(run("predict", naive, f"{name}.csv", "--target", "c", code=4).stderr.split())
