"""Every mechanism of the registry, asked from a study file: planned, rehearsed, published, verified, read and shown.

Each step works or refuses in words; a raw exception fails the test.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.mechanism import Model, Sized, forced_prior
from discreet.study import Maker, ways_of
from discreet_papers import as_published

STUDY = """
[data]
path = "records.csv"
size = 8
[columns.a]
levels = ["no", "yes"]
outside = "no"
[columns.b]
levels = ["no", "yes"]
outside = "no"
[columns.x]
bounds = [0, 1]
missing = "middle"
[columns.y]
bounds = [0, 1]
missing = "middle"
[columns.z]
bounds = [0, 3]
whole = true
missing = 0
[budget]
epsilon = "1000"
delta = "0.5"
ledger = "study.db"
[questions.q]
epsilon = "2"
"""
RECORDS = "a,b,x,y,z\n" + "no,no,0.1,0.2,0\nyes,no,0.5,0.4,2\nno,yes,0.9,0.8,1\nyes,yes,0.3,,0\n" * 2
TABLE, GRAPH = 'columns = ["a"]', 'model = "network"\nedges = ["a -> b"]'
NODE, NO_READING = 'model = "network"\nedges = ["a"]', 'reading = "none"'
LINE = 'model = "regression"\nformula = "y ~ x"\nnoise = "0.2"'
EVENTS = 'model = "poisson"\ncolumn = "z"\nmost = 3\noutside = 3\nshape = 3\nrate = "2.5"'
SUMS = 'model = "number"\ncolumn = "y"\nask = ["mean", "sum", "variance"]'
CELLS = 'model = "number"\ncolumn = "y"\nask = ["quantiles", "distribution", "mean"]'
WHOLE = 'model = "number"\ncolumn = "z"\nquantiles = [0.5]'
ALL_AT_ONCE = 'model = "synthesis"\ncolumns = ["a", "b"]'
CUT = "sensitivity = 2\nnoisy_cells = 1"
DELTA, LESS = 'delta = "1e-3"', 'delta = "1e-6"'

ASKED: dict[str, list[tuple[str, ...]]] = {
    "GeometricHistogram": [(TABLE,)],
    "DiscreteLaplaceCounts": [(TABLE,)],
    "DiscreteGaussianHistogram": [(TABLE, DELTA), (TABLE, DELTA, 'variance = "40"')],
    "DiscreteGaussianCounts": [(TABLE, DELTA)],
    "RoundedLaplace": [(TABLE, CUT)],
    "FlooredLaplace": [(TABLE, CUT)],
    "TruncatedLaplace": [(TABLE, CUT)],
    "ClampedLaplace": [(TABLE, CUT)],
    "HellingerGlobal": [(TABLE,)],
    "HellingerSmooth": [(TABLE, DELTA)],
    "HellingerSmoothProved": [(TABLE, DELTA)],
    "PublishedHellingerGlobal": [(TABLE,)],
    "PublishedHellingerSmooth": [(TABLE, DELTA)],
    "HellingerReciprocal": [(TABLE, 'lipschitz = "0.5"')],
    "HellingerCalibrated": [(TABLE,), (TABLE, DELTA, 'smoothing = "0.1"')],
    "HellingerLocal": [(TABLE,)],
    "HellingerTable": [(TABLE,)],
    "PermuteAndFlip": [(TABLE,)],
    "MaximumPosterior": [(TABLE, "resolution = 10")],
    "TotalVariationChoice": [(TABLE,)],
    "PosteriorSampling": [(TABLE, DELTA, 'power = "0.05"', "grid_bits = 16"), (TABLE, 'least = "0.3"', "draws = 1")],
    "PosteriorSampling.tempered": [(TABLE, LESS, "draws = 2"), (EVENTS, DELTA)],
    "PosteriorSampling.truncated": [(TABLE, 'least = "0.1"', "grid_bits = 20")],
    "PosteriorSampling.concentrated": [(TABLE, LESS), (EVENTS, DELTA)],
    "RateTruncation": [(EVENTS, 'lowest = "0.8"', 'highest = "1.2"')],
    "RateTruncation.tempered": [(EVENTS, 'lowest = "0.5"', "highest = 2", "draws = 2")],
    "RateTruncation.at_rate": [(EVENTS, "grid_bits = 20")],
    "CubeCounts": [(GRAPH, 'class_share = "1/5"')],
    "JointHistograms": [(GRAPH,)],
    "FamilyHistograms": [('model = "network"\nedges = ["a", "b"]', "shares = [1, 2]")],
    "FamilyGaussians": [(GRAPH, DELTA)],
    "LaplaceUpdates": [(GRAPH,)],
    "FourierUpdates": [(NODE,)],
    "FourierCounts": [(NODE, "shares = [1]")],
    "ContrastGaussians": [(NODE, DELTA)],
    "PairGaussians": [(ALL_AT_ONCE, DELTA, "rounds = 1", "cells = 100", 'check = "1/20"')],
    "NetworkMaximum": [(NODE, "resolution = 4")],
    "NetworkSampling": [(GRAPH, 'power = "0.05"', 'least = "0.2"', NO_READING)],
    "NetworkSampling.tempered": [(GRAPH, DELTA)],
    "NetworkSampling.truncated": [(GRAPH, "draws = 2", NO_READING)],
    "NetworkSampling.concentrated": [(GRAPH, DELTA)],
    "BallMoments": [(LINE,), (LINE, "rounds = 2", "cutoff = 3")],
    "GaussianBallMoments": [(LINE, DELTA), (LINE, DELTA, "rounds = 2", "cutoff = 3")],
    "BoxMoments": [(LINE,)],
    "ConeMoments": [(LINE,)],
    "LaplaceMoments": [(LINE,)],
    "GaussianMoments": [(LINE, DELTA)],
    "GeometricSums": [(SUMS,), (SUMS, 'by = "a"', 'squares = "1/2"')],
    "TreeTable": [(CELLS, "cells = 4"), (CELLS, "cells = 4", 'share = "0.3"', "blocks = 2", 'by = "a"')],
    "PathTable": [(WHOLE,)],
    "GroupPaths": [(WHOLE, 'by = "a"', "between = 3")],
    "ChosenCounts": [(WHOLE,)],
    "ChosenTable": [(WHOLE,), (WHOLE, 'by = "a"')],
    "MetricSums": [('model = "number"\ncolumn = "z"\nask = ["mean", "sum"]',)],
    "TreeLevels": [(TABLE, "parents = [1]", "lengths = [2]")],
    "BallDraw": [(LINE, "norm_bound = 1", "steps = 16", NO_READING)],
}
CASES = [(kind, keys) for kind, several in ASKED.items() for keys in several]
CLAIMED = ("HellingerLocal", "HellingerTable")


def study_of(folder: Path, *keys: str, mechanism: str | None = None) -> Path:
    (folder / "records.csv").write_text(RECORDS)
    named = [] if mechanism is None else [f'mechanism = "{mechanism}"']
    path = folder / "study.toml"
    path.write_text(STUDY + "\n".join([*keys, *named]))
    return path


def run(*words: object) -> tuple[int, str]:
    """Call the command line, which calls an error of its own code unforeseen: there must be none."""
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert "unforeseen" not in result.output, result.output
    return result.exit_code, result.output


def test_every_registered_mechanism_is_asked_here() -> None:
    """Those of a secret number of records are asked in tests/study/test_secret_size.py: their studies have no size."""
    assert {name.partition(".")[0] for name in ASKED} == set(Sized.registered())


@pytest.fixture
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the same keys make a mechanism once, not again for every command: it never changes, and some search long."""
    made, known = Maker.made, dict[str, Any]()

    def once(maker: Maker[Any], given: Mapping[str, object], others: Iterable[str] = ()) -> Any:
        key = repr((maker.name, maker.fixed, given))
        if key not in known:
            known[key] = made(maker, given, others)
        return known[key]

    monkeypatch.setattr(Maker, "made", once)


@pytest.mark.usefixtures("short_runs", "little_work", "made_once")
@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.filterwarnings("ignore::discreet.MisfitWarning")
@pytest.mark.parametrize(("kind", "keys"), CASES, ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(CASES)])
def test_every_mechanism_goes_the_whole_road_from_a_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, keys: tuple[str, ...]
) -> None:
    for name, few in (("MOST_STUDIES", 3), ("LEAST_STUDIES", 2)):  # how accurate plans are is tested elsewhere
        monkeypatch.setattr(f"discreet.planning._accuracy.{name}", few)
    path = study_of(tmp_path, *keys, mechanism=kind)
    question = dc.Study(path).question("q")
    assert type(question.mechanism).__name__ == kind.partition(".")[0]
    assert run("check", path)[0] == 0
    code, words = run("publish", path, "--ask", "q")
    if kind in CLAIMED:
        assert code == 1
        assert "only claimed" in " ".join(words.split())
        assert run("plan", path)[0] == 1
        assert not (tmp_path / "study.db").exists()
        return
    assert code == 0, words
    release = tmp_path / "q.release.json"
    assert dc.Release.from_json(release.read_text()).mechanism == question.mechanism
    assert run("verify", release, "--ledger", tmp_path / "study.db")[0] == 0
    code, words = run("plan", path, "--epsilon", "2")
    assert code == 0, words
    without = question.no_posterior is not None
    shown = ("--csv", tmp_path / "rows.csv", "--plot", tmp_path / "rows.json", "--statement", tmp_path / "statement.md")
    for read in (run("infer", release, *shown), run("rehearse", path)):
        assert read[0] == (1 if without else 0), read[1]


def test_a_question_gives_the_object_that_python_makes(tmp_path: Path) -> None:
    model = dc.Categories("a", levels=("no", "yes"), outside="no")
    asked = dc.Study(study_of(tmp_path, TABLE, CUT, mechanism="RoundedLaplace")).question("q")
    assert asked.mechanism == as_published.RoundedLaplace(model, 8, "2", sensitivity=2, noisy_cells=1)
    drawn = dc.Study(study_of(tmp_path, TABLE, LESS, "draws = 2", mechanism="PosteriorSampling.tempered"))
    tempered = dc.PosteriorSampling.tempered(model, size=8, epsilon="2", delta="1e-6", draws=2)
    assert drawn.question("q").mechanism == tempered


def test_a_constructor_that_chooses_the_prior_of_draws_says_so_and_keeps_the_declared_one(tmp_path: Path) -> None:
    chosen = dc.Study(study_of(tmp_path, TABLE, LESS, mechanism="PosteriorSampling.concentrated")).question("q")
    assert "weakest prior" in chosen.reason
    assert not chosen.model.is_prior_declared
    path = study_of(tmp_path, TABLE, LESS, "prior = 2", mechanism="PosteriorSampling.concentrated")
    declared = dc.Study(path).question("q")
    assert declared.model == chosen.model.with_prior(2)
    assert forced_prior(declared.mechanism) == forced_prior(chosen.mechanism) != ""


def test_only_what_makes_a_mechanism_can_be_named(tmp_path: Path) -> None:
    """Not, say, `candidates`, which yields several for a ranking."""
    coin = dc.Categories("x", ("a", "b"), outside="a")
    assert [name for name in ways_of(coin) if name.endswith("competitors")] == []
    with pytest.raises(dc.DeclarationError, match="has no such constructor; use PosteriorSampling, "):
        dc.Study(study_of(tmp_path, TABLE, LESS, mechanism="PosteriorSampling.competitors"))


FAMILIES: dict[str, tuple[str, Any]] = {
    "poisson": (EVENTS, dc.PoissonRate("z", most=3, shape=3, rate="2.5", outside=3)),
    "exponential": (
        'high = 4\nbands = 8\nshape = 3\noutside = "usual"',
        dc.ExponentialRate("z", high=4, bands=8, shape=3, outside="usual"),
    ),
    "normal-mean": (
        'low = 0\nhigh = 4\nvariance = 1\noutside = "usual"',
        dc.NormalMean("z", low=0, high=4, variance=1, outside="usual"),
    ),
    "binomial": (
        "trials = 3\noutside = 0\nalpha = 2\nbeta = 4",
        dc.programs.families.BinomialProbability("z", trials=3, alpha=2, beta=4, outside=0),
    ),
    "laplace-scale": (
        'reach = 2\ncentre = 1\nbands = 4\noutside = "usual"',
        dc.programs.families.LaplaceScale("z", reach=2, centre=1, bands=4, outside="usual"),
    ),
    "normal-precision": (
        'reach = 2\nmean = 1\nbands = 4\noutside = "usual"',
        dc.programs.families.NormalPrecision("z", reach=2, mean=1, bands=4, outside="usual"),
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_asked_with_its_own_keys(tmp_path: Path, name: str) -> None:
    keys, model = FAMILIES[name]
    head = "" if "model" in keys else f'model = "{name}"\ncolumn = "z"\n'
    question = dc.Study(study_of(tmp_path, head + keys, DELTA)).question("q")
    assert question.model == model
    assert question.mechanism == dc.PosteriorSampling.tempered(model, size=8, epsilon="2", delta="1e-3")
    assert question.columns == (model.column,)
    assert question.reason


def test_every_registered_family_is_asked_here() -> None:
    assert {type(model).__name__ for _, model in FAMILIES.values()} == {
        kind for kind, made in Model.registered().items() if hasattr(made, "neighbours")
    }


@pytest.mark.parametrize(
    ("keys", "mechanism", "words"),
    [
        ((TABLE, "sensitivty = 2"), "RoundedLaplace", "is not a key of RoundedLaplace, which takes sensitivity"),
        ((TABLE, "sensitivty = 2"), "RoundedLaplace", "Did you mean 'sensitivity'?"),
        ((TABLE, "lable = 'x'"), "GeometricHistogram", "takes no further keys. Did you mean 'label'?"),
        ((TABLE, "further = {}"), "GeometricHistogram", "'further' is not a key"),
        ((TABLE, "size = 9"), "GeometricHistogram", "'size' is not a key"),
        ((TABLE, "sensitivity = 2"), "RoundedLaplace", "RoundedLaplace needs noisy_cells"),
        ((TABLE,), "RoundedLaplace", "needs sensitivity and noisy_cells"),
        ((TABLE, 'sensitivity = "2"\nnoisy_cells = 1'), "RoundedLaplace", "of RoundedLaplace must be a whole"),
        ((TABLE, "sensitivity = true\nnoisy_cells = 1"), "RoundedLaplace", "a whole number; got True"),
        ((TABLE, "lipschitz = [1]"), "HellingerReciprocal", "must be a number, or text for an exact one; got [1]"),
        ((TABLE, "lipschitz = 2020-01-01"), "HellingerReciprocal", "must be a number, or text"),
        ((GRAPH, "shares = 1"), "FamilyHistograms", "must be a list in which each entry is a number"),
        ((GRAPH, 'shares = ["a", {}]'), "FamilyHistograms", "must be a list in which each entry is a number"),
        ((GRAPH, "shares = [1.5]"), "FourierCounts", "must be a list in which each entry is a whole"),
        ((TABLE, DELTA), "GeometricHistogram", "GeometricHistogram takes no delta: its guarantee is pure"),
        ((TABLE,), "HellingerSmooth", "HellingerSmooth needs a delta, such as '1e-7'"),
        ((TABLE,), "GeometricHistgram", "Did you mean 'GeometricHistogram'?"),
        ((GRAPH,), "PosteriorSampling", "for the model 'network' it must be one of"),
        ((TABLE, DELTA), "PosteriorSampling.temperd", "Did you mean 'tempered'?"),
        ((GRAPH, DELTA), "NetworkSampling.plain", "has no such constructor; use NetworkSampling, Network"),
        ((TABLE,), "GeometricHistogram.restored", "use GeometricHistogram."),
        ((GRAPH, "class_share = 1"), None, "To use a mechanism's keys, name it too"),
        ((EVENTS,), None, "has no pure epsilon: state a delta"),
        ((EVENTS, DELTA, "prior = 1"), None, "prior of the model 'poisson' is declared by its own keys"),
        ((EVENTS, DELTA, "mots = 1"), None, "'mots' is not a key"),
        (('model = "poisson"\nmost = 3', DELTA), None, "the model 'poisson' needs column"),
        (('model = "poisson"\ncolumn = "z"', DELTA), None, "the model 'poisson' needs most"),
        (('model = "poison"\ncolumn = "z"', DELTA), None, "Did you mean 'poisson'?"),
        ((EVENTS, DELTA), "MaximumPosterior", "'poisson' it must be one of PosteriorSampling, RateTruncation."),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit_are_refused_in_words(
    tmp_path: Path, keys: tuple[str, ...], mechanism: str | None, words: str
) -> None:
    with pytest.raises(dc.DeclarationError, match=re.escape(words)) as refusal:
        dc.Study(study_of(tmp_path, *keys, mechanism=mechanism))
    assert str(refusal.value).startswith("questions.q")


def test_a_claim_is_not_published_even_without_a_reading_or_in_a_plan(tmp_path: Path) -> None:
    study = dc.Study(study_of(tmp_path, TABLE, NO_READING, mechanism="HellingerLocal"))
    for publish in (lambda: study.publish("q"), study.publish_all):
        with pytest.raises(dc.PublishError, match="only claimed"):
            publish()
    assert not study.ledger_path.exists()


def test_what_is_planned_without_a_log_score_is_valid_json(tmp_path: Path) -> None:
    code, words = run(
        "plan", study_of(tmp_path, NODE, DELTA, mechanism="NetworkSampling.tempered"), "--epsilon", "2", "--json"
    )
    assert code == 0
    assert json.loads(words, parse_constant=lambda name: pytest.fail(name))["points"][0]["log_score"] is None


def test_a_suggestion_has_its_reason() -> None:
    table = dc.Categories("a", levels=("no", "yes"), outside="no")
    assert dc.suggest(table, 100, 1).mechanism == dc.GeometricHistogram(table, 100, 1)
    assert "no delta is needed" in dc.suggest(table, 100, 1, "1e-6").reason
    line = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, missing="middle")
    assert dc.suggest(line, 100, 1).mechanism == dc.regression.ConeMoments(line, 100, 1)
    assert "narrowest" in dc.suggest(line, 100, 1, "1e-6").reason
    unsuited: Any = "a table"
    with pytest.raises(dc.DeclarationError, match="got a str"):
        dc.suggest(unsuited, 100, 1)
    with pytest.raises(dc.DeclarationError, match="delta"):
        dc.suggest(table, 100, 1, 2)
