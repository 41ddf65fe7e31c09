"""The study file is the Python interface written down, and is read strictly."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.reading import Exactness, exactness_of, why_not_exact
from discreet.study.template import template

STUDY = """
[data]
path = "survey.csv"
size = 6
unit = "one row per patient"
[columns.smoking]
levels = ["never", "former", "current"]
outside = "other"
[columns.age]
bands = [0, 18, 40, 65, 120]
[columns.fall]
levels = [false, true]
outside = false
[budget]
epsilon = "2"
delta = "1e-6"
ledger = "study.db"
population = "patients of 2026"
[questions.smoking-2026]
model = "categories"
columns = ["smoking"]
prior = 1
mechanism = "GeometricHistogram"
epsilon = "0.5"
[questions.crossed]
columns = ["age", "fall"]
mechanism = "DiscreteLaplaceCounts"
epsilon = 0.1
label = "Falls by age"
"""
SURVEY = "smoking,age,fall\nnever,30,true\nformer,17,false\ncurrent,70,\nnever,,True\nzz,x,false\n,130,true\n"


@pytest.fixture
def study(tmp_path: Path) -> dc.Study:
    (tmp_path / "survey.csv").write_text(SURVEY)
    (tmp_path / "study.toml").write_text(STUDY)
    return dc.Study(tmp_path / "study.toml")


def test_a_study_gives_the_same_objects_as_python(study: dc.Study) -> None:
    question = study.question("smoking-2026")
    smoking = dc.Categories("smoking", levels=("never", "former", "current"), outside="other", prior=1)
    assert question.mechanism == dc.GeometricHistogram(smoking, size=6, epsilon="0.5")
    assert question.label == "smoking-2026"
    crossed = study.question("crossed")
    ages, falls = dc.Column.banded("age", (0, 18, 40, 65, 120)), dc.Column("fall", (False, True), outside=False)
    assert crossed.mechanism == dc.DiscreteLaplaceCounts(dc.Categories([ages, falls]), size=6, epsilon="0.1")
    assert crossed.label == "Falls by age"


def test_a_study_publishes_once_and_answers_again_for_free(study: dc.Study) -> None:
    release = study.publish("smoking-2026")
    assert release.unit == dc.Unit("one row per patient")
    assert study.publish("smoking-2026") == release
    ledger = study.ledger()
    assert ledger.spent.epsilon == Fraction(1, 2)
    assert ledger.entries()[0].body["population"] == "patients of 2026"
    assert dc.verify(release, ledger=ledger).epsilon == 0.5


def test_what_was_paid_for_is_given_again_even_if_nobody_could_read_it_today(
    study: dc.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = study.publish("smoking-2026")
    monkeypatch.setattr("discreet.study.questions.why_unreadable", lambda mechanism: "too much work")
    assert dc.Study(study.path).publish("smoking-2026") == release
    study.ledger_path.unlink()
    with pytest.raises(dc.PublishError, match="too much work"):
        dc.Study(study.path).publish("smoking-2026")
    assert not study.ledger_path.exists()


def test_several_rows_for_a_person_multiply_the_charge(study: dc.Study) -> None:
    path = study.path
    path.write_text(STUDY.replace('unit = "one row per patient"', 'unit = "one patient"\nrows_per_unit = 3'))
    several = dc.Study(path)
    assert several.publish("smoking-2026").guarantee.epsilon == Fraction(3, 2)
    assert several.ledger().spent.epsilon == Fraction(3, 2)


def test_a_size_that_disagrees_with_the_data_is_refused_and_not_charged(study: dc.Study) -> None:
    study.path.write_text(STUDY.replace("size = 6", "size = 7"))
    wrong = dc.Study(study.path)
    with pytest.raises(dc.PublishError, match="7 records") as failure:
        wrong.publish("smoking-2026")
    assert "6" not in str(failure.value).replace("2026", "")
    assert wrong.ledger().spent.epsilon == 0


MISTAKES = [
    ("size = 6", "size = 0", "size"),
    ("size = 6", 'size = "six"', "Expected `int`"),
    ("size = 6", "sise = 6", "sise"),
    ("size = 6", "", "missing required field `size`"),
    ("[budget]", "[budgett]", "budgett"),
    ('epsilon = "2"', 'epsilon = "-2"', "budget.epsilon"),
    ('epsilon = "0.5"', 'epsilon = "nan"', "epsilon"),
    ('epsilon = "0.5"', "", "epsilon"),
    ('mechanism = "GeometricHistogram"', 'mechanism = "os.system"', "mechanism"),
    ('model = "categories"', 'model = "guess"', "model"),
    ('columns = ["smoking"]', 'columns = ["smokin"]', "smokin"),
    ('columns = ["smoking"]', "columns = []", "columns"),
    ("bands = [0, 18, 40, 65, 120]", "bands = [0]", "bands"),
    ("bands = [0, 18, 40, 65, 120]", "", "levels or bands"),
    ('levels = ["never", "former", "current"]', 'levels = ["never", "never"]', "smoking"),
    ("prior = 1", "prior = 0", "prior"),
    ("prior = 1", 'prior = "weak"', "prior"),
    ("[data]", "[data", "line"),
    ('path = "survey.csv"', "path = survey.csv", "line"),
]


MISSPELT = [
    ("size = 6", "sise = 6", "Did you mean 'size'"),
    ("[budget]", "[bugdet]", "Did you mean 'budget'"),
    ('epsilon = "2"', 'epsilom = "2"', "Did you mean 'epsilon'"),
    ('levels = ["never", "former", "current"]', 'levls = ["never", "former", "current"]', "Did you mean 'levels'"),
    ("bands = [0, 18, 40, 65, 120]", 'bands = [0, 18]\noutsde = "?"', "Did you mean 'outside'"),
]


@pytest.mark.parametrize(("right", "wrong", "words"), MISTAKES + MISSPELT)
def test_mistakes_in_a_study_are_told_in_words(study: dc.Study, right: str, wrong: str, words: str) -> None:
    assert right in STUDY
    study.path.write_text(STUDY.replace(right, wrong))
    with pytest.raises(dc.DeclarationError, match=words.replace("[", r"\[")):
        dc.Study(study.path)


def test_missing_files_and_questions_are_named(study: dc.Study, tmp_path: Path) -> None:
    with pytest.raises(dc.DeclarationError, match="no study file"):
        dc.Study(tmp_path / "none.toml")
    with pytest.raises(dc.DeclarationError, match="no question 'x'"):
        study.question("x")
    (tmp_path / "survey.csv").unlink()
    with pytest.raises(dc.SourceError, match="no file"):
        study.publish("smoking-2026")
    assert not study.ledger_path.exists()


def test_an_unwritable_ledger_publishes_nothing(study: dc.Study) -> None:
    study.path.write_text(STUDY.replace('ledger = "study.db"', 'ledger = "nowhere/study.db"'))
    with pytest.raises(dc.LedgerError, match="Cannot create"):
        dc.Study(study.path).publish("smoking-2026")


def test_the_template_is_a_study_once_it_is_filled_in(tmp_path: Path) -> None:
    text = template(tmp_path / "a b.csv", tmp_path / "study.toml", ["smoking", "größe", 'odd "name"'])
    assert '[columns."größe"]' in text
    assert "[columns.smoking]" in text
    (tmp_path / "study.toml").write_text(text.replace("size = 0 ", "size = 10 "))
    assert dc.Study(tmp_path / "study.toml").questions == {}
    uncommented = text.replace("# [", "[").replace("# levels", "levels").replace("# outside", "outside")
    for key in ("model", "columns = [", "prior", "mechanism", "epsilon", "label"):
        uncommented = uncommented.replace(f"# {key}", key)
    uncommented = (
        uncommented.replace("\n[columns]\n", "\n").replace("\n[questions]\n", "\n").replace("size = 0 ", "size = 9 ")
    )
    (tmp_path / "study.toml").write_text(uncommented)
    assert dc.Study(tmp_path / "study.toml").question("first-question").mechanism.size == 9


def test_next_quarter_charges_the_same_ledger_under_its_own_name(study: dc.Study, tmp_path: Path) -> None:
    first = study.publish("smoking-2026")
    (tmp_path / "second.csv").write_text(SURVEY)
    (tmp_path / "second.toml").write_text(STUDY.replace("survey.csv", "second.csv"))
    second = dc.Study(tmp_path / "second.toml").publish("smoking-2026")
    assert second.receipt != first.receipt
    charges = [entry.body for entry in study.ledger().entries() if entry.kind == "charge"]
    assert [body["data"] for body in charges] == ["survey.csv", "second.csv"]
    assert study.ledger().spent.epsilon == 1


def test_another_population_may_not_use_the_ledger(study: dc.Study, tmp_path: Path) -> None:
    study.publish("smoking-2026")
    for name in ('population = "visitors"', ""):
        (tmp_path / "other.toml").write_text(STUDY.replace('population = "patients of 2026"', name))
        with pytest.raises(dc.PublishError, match="ledger of the population 'patients of 2026'"):
            dc.Study(tmp_path / "other.toml").publish("smoking-2026")
    assert study.ledger().spent.epsilon == Fraction(1, 2)


def test_a_study_publishes_all_its_questions_as_one_plan(study: dc.Study) -> None:
    releases = study.publish_all()
    assert [release.label for release in releases] == ["smoking-2026", "Falls by age"]
    assert study.publish_all() == releases
    assert study.ledger().spent == dc.Budget(study.plan().guarantee.epsilon, study.plan().guarantee.delta)


def test_gaussian_questions_and_accountants_are_declared_in_the_file(study: dc.Study) -> None:
    gaussian = STUDY.replace(
        'mechanism = "GeometricHistogram"', 'mechanism = "DiscreteGaussianHistogram"\ndelta = "1e-7"'
    )
    study.path.write_text(gaussian.replace('ledger = "study.db"', 'ledger = "study.db"\naccountant = "zcdp"'))
    changed = dc.Study(study.path)
    release = changed.publish("smoking-2026")
    assert isinstance(release.mechanism, dc.DiscreteGaussianHistogram)
    assert changed.ledger().spent.rho == release.mechanism.rho
    for wrong, words in (
        (gaussian.replace('delta = "1e-7"', ""), "needs a delta"),
        (STUDY.replace('"GeometricHistogram"', '"GeometricHistogram"\ndelta = "1e-7"'), "takes no delta"),
        (STUDY.replace('ledger = "study.db"', 'ledger = "study.db"\naccountant = "pld"'), "'basic' or 'zcdp'"),
    ):
        study.path.write_text(wrong)
        with pytest.raises(dc.DeclarationError, match=words):
            dc.Study(study.path)
    study.path.write_text(STUDY.replace('mechanism = "GeometricHistogram"', 'delta = "1e-7"'))
    assert "no delta is needed" in dc.Study(study.path).question("smoking-2026").reason


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
    monkeypatch.setattr("discreet.study.questions.why_unreadable", lambda _: "nobody knows how")
    for publish in (lambda: networks.publish("arrows"), networks.publish_all):
        with pytest.raises(dc.PublishError, match="nobody knows how"):
            publish()
    assert not networks.ledger_path.exists()


OPINIONS = """
[data]
path = "opinions.csv"
size = 600
[columns.opinion]
levels = ["a", "b", "c", "d"]
outside = "d"
[budget]
epsilon = "10"
ledger = "budget.ledger"
[questions.opinions]
columns = ["opinion"]
mechanism = "HellingerGlobal"
epsilon = "6"
"""


def test_a_question_that_nobody_could_read_is_charged_only_if_that_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    (tmp_path / "opinions.csv").write_text("opinion\n" + "a\nb\n" * 300)
    path.write_text(OPINIONS)
    study = dc.Study(path)
    assert "at most 200000 can be listed" in str(study.question("opinions").refusal)
    for publish in (lambda: study.publish("opinions"), study.publish_all):
        with pytest.raises(dc.PublishError, match="declare reading = 'none' in"):
            publish()
    assert not study.ledger_path.exists()
    path.write_text(OPINIONS + 'reading = "later"\n')
    with pytest.raises(dc.DeclarationError, match="it may be 'none'"):
        dc.Study(path)
    path.write_text(OPINIONS + 'reading = "none"\n')
    declared = dc.Study(path)
    assert declared.question("opinions").refusal is None
    assert "listed" in str(declared.question("opinions").no_posterior)
    assert declared.publish("opinions").reading == "none"


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_a_variable_with_several_parents_is_published_and_read(networks: dc.Study) -> None:
    edges = 'edges = ["smoking -> fall", "age -> fall"]'
    networks.path.write_text(NETWORKS.replace('edges = ["smoking -> fall", "age"]', edges))
    posterior = dc.infer(dc.Study(networks.path).publish("arrows"))
    assert "Markov chains" in posterior.method
    assert posterior.mean_tables()["fall"].ndim == 3


READINGS = [
    (dc.JointHistograms, "a -> b -> c", 20, 2, Exactness.SAMPLED),
    (dc.JointHistograms, "a -> b", 10**5, 3, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 10**5, 2, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 300, 3, Exactness.SAMPLED),
    (dc.FamilyHistograms, "a -> b -> c", 300, 12, Exactness.APPROXIMATE),
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
        ('bif = "graph.bif"', 'bif = "none.bif"', "questions.file: There is no BIF file"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> "]', "An edge is written"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> fall -> smoking"]', "circle"),
        ('edges = ["smoking -> fall", "age"]', 'edges = ["smoking -> ages"]', "'ages'"),
        ("{ equivalent_size = 4 }", "{ equivalent_size = -4 }", "equivalent size"),
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
