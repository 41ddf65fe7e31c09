"""The study file is the Python interface written down, and is read strictly."""

from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dc
from discreet.mechanism import sized
from discreet.study import template
from survey import STUDY, SURVEY, survey_in


@pytest.fixture
def study(tmp_path: Path) -> dc.Study:
    return survey_in(tmp_path)


def test_a_study_gives_the_same_objects_as_python(study: dc.Study) -> None:
    question = study.question("smoking-2026")
    smoking = dc.Categories("smoking", levels=("never", "former", "current"), outside="other", prior=1)
    assert question.mechanism == dc.GeometricHistogram(smoking, size=6, epsilon="0.5")
    assert question.label == "smoking-2026"
    crossed = study.question("crossed")
    ages, falls = dc.Column.banded("age", (0, 18, 40, 65, 120)), dc.Column("fall", (False, True), outside=False)
    assert crossed.mechanism == dc.tables.DiscreteLaplaceCounts(dc.Categories([ages, falls]), size=6, epsilon="0.1")
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
    monkeypatch.setattr("discreet.publishing._refused.why_unreadable", lambda mechanism: "too much work")
    assert dc.Study(study.path).publish("smoking-2026") == release
    study.ledger_path.unlink()
    study.release_path("smoking-2026").unlink()
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
    ("size = 6", "", "data.size is missing"),
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
    assert sized(dc.Study(tmp_path / "study.toml").question("first-question").mechanism).size == 9


def test_next_quarter_charges_the_same_ledger_under_its_own_name(study: dc.Study, tmp_path: Path) -> None:
    first = study.publish("smoking-2026")
    (tmp_path / "second.csv").write_text(SURVEY)
    (tmp_path / "second.toml").write_text(STUDY.replace("survey.csv", "second.csv"))
    with pytest.raises(dc.PublishError, match="holds another release"):
        dc.Study(tmp_path / "second.toml").publish("smoking-2026")
    second = dc.Study(tmp_path / "second.toml").release_of("smoking-2026")
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
    assert study.ledger().spent == dc.Budget(study.batch().guarantee.epsilon, study.batch().guarantee.delta)


def test_a_plan_is_charged_once_in_whichever_order_it_is_written(study: dc.Study) -> None:
    releases = study.publish_all()
    head, first, second = (part.strip() for part in STUDY.split("[questions."))
    turned = second.replace('["age", "fall"]', '["fall", "age"]').replace("Falls by age", "Age and falls")
    study.path.write_text(f"{head}\n[questions.{turned}\n[questions.{first}\n")
    again = dc.Study(study.path)
    assert [question.label for question in again.questions.values()] == ["Age and falls", "smoking-2026"]
    assert again.publish_all() == releases[::-1]  # as they were recorded, in the order of the file
    assert again.ledger().spent == dc.Budget(study.batch().guarantee.epsilon, study.batch().guarantee.delta)
    study.path.write_text(STUDY.replace("epsilon = 0.1", "epsilon = 0.2"))
    assert dc.Study(study.path).publish_all() != releases  # another plan, with a charge of its own


PERMUTED = [
    ("categories", "columns", '["age", "fall"]', '["fall", "age"]'),
    ("logistic", "formula", '"fall ~ age*smoking"', '"fall ~ smoking + age + smoking:age"'),
    ("multinomial", "formula", '"smoking ~ age + fall"', '"smoking ~ fall + age"'),
    ("log-linear", "formula", '"~ age*fall + smoking"', '"~ smoking + fall*age"'),
    ("network", "edges", '["age -> fall", "smoking -> fall"]', '["smoking -> fall", "age -> fall"]'),
]


@pytest.mark.parametrize(("model", "key", "first", "second"), PERMUTED)
def test_the_same_question_has_one_canonical_text_however_it_is_written(
    study: dc.Study, model: str, key: str, first: str, second: str
) -> None:
    head, keys = STUDY[: STUDY.index("[questions.")], 'epsilon = "0.5"\n'
    one, other = (f'model = "{model}"\n{key} = {written}' for written in (first, second))
    study.path.write_text(f'{head}[questions.one]\n{one}\n{keys}[questions.other]\n{other}\n{keys}label = "x"\n')
    found = [question.canonical for question in dc.Study(study.path).questions.values()]
    assert found[0] == found[1]
    study.path.write_text(f"{head}[questions.one]\n{one}\n{keys}[questions.other]\n{one}\nepsilon = 0.4\n")
    found = [question.canonical for question in dc.Study(study.path).questions.values()]
    assert found[0] != found[1]


def test_gaussian_questions_and_accountants_are_declared_in_the_file(study: dc.Study) -> None:
    gaussian = STUDY.replace(
        'mechanism = "GeometricHistogram"', 'mechanism = "DiscreteGaussianHistogram"\ndelta = "1e-7"'
    )
    study.path.write_text(gaussian.replace('ledger = "study.db"', 'ledger = "study.db"\naccountant = "zcdp"'))
    changed = dc.Study(study.path)
    release = changed.publish("smoking-2026")
    assert isinstance(release.mechanism, dc.tables.DiscreteGaussianHistogram)
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


OPINIONS = """
[data]
path = "opinions.csv"
size = 600
[columns.opinion]
levels = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]
outside = "d"
[budget]
epsilon = "10"
ledger = "budget.ledger"
[questions.opinions]
columns = ["opinion"]
mechanism = "HellingerReciprocal"
epsilon = "6"
"""


def test_a_question_that_nobody_could_read_is_charged_only_if_that_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    (tmp_path / "opinions.csv").write_text("opinion\n" + "a\nb\n" * 300)
    path.write_text(OPINIONS)
    study = dc.Study(path)
    assert "a sum over all candidates of 600 records in 16 cells" in str(study.question("opinions").refusal)
    for publish in (lambda: study.publish("opinions"), study.publish_all):
        with pytest.raises(dc.PublishError, match="declare reading = 'none' in"):
            publish()
    assert not study.ledger_path.exists()
    path.write_text(OPINIONS + 'reading = "later"\n')
    with pytest.raises(dc.DeclarationError, match="it must be 'none'"):
        dc.Study(path)
    path.write_text(OPINIONS + 'reading = "none"\n')
    declared = dc.Study(path)
    assert declared.question("opinions").refusal is None
    assert "a sum over all candidates" in str(declared.question("opinions").no_posterior)
    assert declared.publish("opinions").reading == "none"


@pytest.mark.filterwarnings("ignore::discreet._core.errors.LittleInformationWarning")
def test_a_study_publishes_plans_and_infers_in_python(study: dc.Study) -> None:
    with pytest.raises(dc.DeclarationError, match=r"Publish the question first: study.publish\('smoking-2026'\)"):
        study.infer("smoking-2026")
    planned = study.plan("smoking-2026", studies=20)
    assert planned == dc.accuracy(study.question("smoking-2026").mechanism, studies=20)
    assert not study.has_ledger
    release = study.publish("smoking-2026")
    assert dc.Release.from_json(study.release_path("smoking-2026").read_bytes()) == release
    posterior = study.infer("smoking-2026")
    assert posterior.mean == dc.infer(release).mean
    assert study.infer("smoking-2026", prior=5).mean != posterior.mean
    for ask in (study.publish, study.plan, study.infer):
        with pytest.raises(dc.DeclarationError, match=r"has no question 'smoking-2027'.*Did you mean 'smoking-2026'"):
            ask("smoking-2027")


def test_records_in_a_frame_are_published_like_those_in_the_file(study: dc.Study) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(study.data_paths[0])
    study.data_paths[0].unlink()
    with pytest.raises(dc.PublishError, match=r"do not have the 6 records .* nothing was charged"):
        study.publish("smoking-2026", frame.head(5))
    assert not study.has_ledger
    assert not study.release_path("smoking-2026").exists()
    release = study.publish("smoking-2026", frame)
    assert study.ledger().spent.epsilon == Fraction(1, 2)
    assert study.publish("smoking-2026", frame) == release
    assert study.ledger().spent.epsilon == Fraction(1, 2)
    assert dc.verify(release, ledger=study.ledger()).epsilon == 0.5


def test_a_signed_release_is_not_written_over_by_the_same_one(study: dc.Study) -> None:
    release, path = study.publish("smoking-2026"), study.release_path("smoking-2026")
    path.write_text(release.to_json() + "\n\n")
    assert study.publish("smoking-2026") == release
    assert path.read_text().endswith("\n\n")
    path.write_text("spoilt")
    study.publish("smoking-2026")
    assert dc.Release.from_json(path.read_bytes()) == release


def test_a_release_that_cannot_be_written_can_be_published_again_for_free(study: dc.Study) -> None:
    path = study.release_path("smoking-2026")
    path.mkdir()
    with pytest.raises(dc.PublishError, match=r"was published and charged, but cannot be written .* charges nothing"):
        study.publish("smoking-2026")
    path.rmdir()
    study.publish("smoking-2026")
    assert study.ledger().spent.epsilon == Fraction(1, 2)
    assert path.exists()
