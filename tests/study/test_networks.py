"""A study asks for networks by edges, by a file or by a target, and knows beforehand how they will be read."""

import re
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.inference import Exactness, exactness_of, why_not_exact
from survey import STUDY, SURVEY, survey_in


@pytest.fixture
def study(tmp_path: Path) -> dc.Study:
    return survey_in(tmp_path)


NETWORKS = (
    STUDY
    + """
[questions.signs]
model = "naive-bayes"
target = "fall"
features = ["smoking", "age"]
epsilon = "0.5"
mechanism = "FamilyHistograms"
[questions.arrows]
model = "network"
edges = ["smoking -> fall", "age"]
epsilon = "0.5"
prior = { equivalent_size = 4 }
[questions.file]
model = "network"
bif = "graph.bif"
epsilon = "0.2"
delta = "1e-7"
prior = { wet = 2, fall = [1, 3] }
"""
)
GRAPH = """
variable wet { type discrete [2] { no, yes }; }
variable fall { type discrete [2] { no, yes }; }
probability (wet) { table 0.5, 0.5; }
probability (fall | wet) { (no) 0.9, 0.1; (yes) 0.5, 0.5; }
"""


@pytest.fixture
def networks(study: dc.Study, tmp_path: Path) -> dc.Study:
    wet = iter(("wet", "no", "yes", "no", "no", "", "yes"))
    (tmp_path / "survey.csv").write_text("".join(f"{line},{next(wet)}\n" for line in SURVEY.splitlines()))
    (tmp_path / "graph.bif").write_text(GRAPH)
    study.path.write_text(NETWORKS)
    return dc.Study(study.path)


def test_network_questions_give_the_same_objects_as_python(networks: dc.Study) -> None:
    columns = networks.columns
    signs = dc.Network.naive_bayes(
        "fall",
        ["smoking", "age"],
        {n: columns[n] for n in ("fall", "smoking", "age")},
    )
    assert networks.question("signs").mechanism == dc.FamilyHistograms(signs, 6, "0.5")
    levels = {name: columns[name] for name in ("smoking", "fall", "age")}
    arrows = dc.Network.from_edges(
        "smoking -> fall",
        "age",
        levels=levels,
        prior=dc.EquivalentSize(4),
    )
    assert networks.question("arrows").model == arrows
    file = networks.question("file")
    suggested = dc.suggest(file.model, 6, "0.2", "1e-7")
    assert (file.mechanism, file.reason) == (suggested.mechanism, suggested.reason)
    assert networks.question("signs").reason == ""


def test_a_graph_from_a_file_keeps_its_levels_unless_the_study_declares_them(networks: dc.Study) -> None:
    network = networks.question("file").model
    wet, fall = network.variables
    assert (wet.levels, wet.outside) == (("no", "yes"), "no")
    assert fall == networks.columns["fall"]
    assert network.parents == ((), ("wet",))
    assert network.prior == ((2, 2), (1, 3))


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_a_default_that_nobody_could_read_is_not_taken(networks: dc.Study) -> None:
    chain = 'edges = ["smoking -> fall -> age"]'
    networks.path.write_text(NETWORKS.replace('edges = ["smoking -> fall", "age"]', chain))
    question = dc.Study(networks.path).question("arrows")
    assert isinstance(question.mechanism, dc.FamilyHistograms)
    assert "JointHistograms, could not be read" in question.reason
    assert question.refusal is None
    dc.infer(dc.Study(networks.path).publish("arrows"))


def test_a_network_that_nobody_could_read_is_not_published_or_charged(
    networks: dc.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.publishing._refused.why_unreadable", lambda _: "nobody knows how")
    for publish in (lambda: networks.publish("arrows"), networks.publish_all):
        with pytest.raises(dc.PublishError, match="nobody knows how"):
            publish()
    assert not networks.ledger_path.exists()


@pytest.mark.usefixtures("short_runs")
@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning", "ignore::discreet.ConvergenceWarning")
def test_a_variable_with_several_parents_is_published_and_read(networks: dc.Study) -> None:
    edges = 'edges = ["smoking -> fall", "age -> fall"]'
    networks.path.write_text(NETWORKS.replace('edges = ["smoking -> fall", "age"]', edges))
    posterior = dc.infer(dc.Study(networks.path).publish("arrows"))
    assert "Markov chains" in posterior.method
    assert posterior.mean_tables()["fall"].ndim == 3


READINGS = [
    (dc.networks.JointHistograms, "a -> b -> c", 20, 2, Exactness.SAMPLED),
    (dc.networks.JointHistograms, "a -> b", 10**5, 3, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 10**5, 2, Exactness.EXACT),
    (dc.FamilyHistograms, "a -> b -> c", 300, 3, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 300, 40, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 300, 150, Exactness.APPROXIMATE),  # more operations than a float can hold
    (dc.FamilyHistograms, "a -> b -> c", 300, 2, Exactness.EXACT),
]


@pytest.mark.parametrize(("kind", "edges", "size", "levels", "reading"), READINGS)
def test_how_a_release_is_read_is_known_beforehand(
    kind: Any, edges: str, size: int, levels: int, reading: Exactness
) -> None:
    network = dc.Network.from_edges(edges, levels=dict.fromkeys(edges.split(" -> "), tuple(range(levels))), outside=0)
    mechanism = kind(network, size, 1)
    assert exactness_of(mechanism) is reading
    assert (why_not_exact(mechanism) is None) == (reading is Exactness.EXACT)


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_networks_and_tables_are_counted_in_one_pass_and_published_as_one_plan(networks: dc.Study) -> None:
    releases = networks.publish_all()
    assert [type(release.model).__name__ for release in releases] == ["Categories", "Categories"] + ["Network"] * 3
    assert networks.publish_all() == releases
    posterior = dc.infer(releases[2])
    assert set(posterior.mean_tables()) == {"fall", "smoking", "age"}


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ('target = "fall"\n', "", "questions.signs: the model 'naive-bayes' needs target"),
        ('features = ["smoking", "age"]\n', "", "needs features"),
        ('features = ["smoking", "age"]', "features = []", "questions.signs: features names nothing"),
        ('features = ["smoking", "age"]', 'features = ["smokin"]', "smokin"),
        ('features = ["smoking", "age"]', 'features = ["fall"]', "questions.signs: Every variable"),
        ('target = "fall"', 'target = "fal"', "questions.signs: target names"),
        ('target = "fall"', 'target = "fall"\ncolumns = ["age"]', "columns does not belong to the model 'naive-bayes'"),
        ('target = "fall"', 'target = "fall"\nedges = ["age"]', "edges does not belong"),
        ('columns = ["smoking"]', 'columns = ["smoking"]\nbif = "graph.bif"', "bif does not belong"),
        ('columns = ["smoking"]', "", "the model 'categories' needs columns"),
        ('edges = ["smoking -> fall", "age"]', "", "either edges"),
        ('bif = "graph.bif"', 'bif = "graph.bif"\nedges = ["age"]', "either edges"),
        ('bif = "graph.bif"', 'bif = "none.bif"', "questions.file: There is no readable BIF file"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> "]', "An edge is written"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> fall -> smoking"]', "cycle"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> ages"]', "'ages'"),
        ("{ equivalent_size = 4 }", "{ equivalent_size = -4 }", "equivalent sample size"),
        ("{ equivalent_size = 4 }", "{ smoking = 1 }", "name every variable"),
        ("{ equivalent_size = 4 }", "[1, 2, 3]", "table by variable"),
        ("{ equivalent_size = 4 }", '"weak"', "prior"),
        (
            'mechanism = "FamilyHistograms"',
            'mechanism = "GeometricHistogram"',
            "'naive-bayes' it must be",
        ),
        ('mechanism = "FamilyHistograms"', 'mechanism = "CubeCounts"', "'smoking' has 4 levels"),
        ('mechanism = "FamilyHistograms"', 'mechanism = "FamilyGaussians"', "needs a delta"),
        ('mechanism = "GeometricHistogram"', 'mechanism = "CubeCounts"', "for the model 'categories'"),
        ("prior = 1", "prior = { never = [1], former = 1, current = 1, other = 1 }", "prior"),
    ],
)
def test_mistakes_in_network_questions_are_told_in_words(
    networks: dc.Study, right: str, wrong: str, words: str
) -> None:
    assert right in NETWORKS
    networks.path.write_text(NETWORKS.replace(right, wrong))
    with pytest.raises(dc.DeclarationError, match=re.escape(words)):
        dc.Study(networks.path)
