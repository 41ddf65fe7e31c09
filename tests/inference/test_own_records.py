"""Own records beside a release, against twins that list every data set or integrate by hand."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.cli._main import main
from discreet.inference import Problem
from discreet.mechanism import Sized, sized
from discreet.networks._chains_solver import CountsSolver
from discreet.networks._own_records import InformedNetwork
from discreet.privacy import compositions
from discreet.regression._likelihood import eliminated
from discreet_papers import as_published

LEVELS = dict.fromkeys(("c", "f"), (0, 1))


def log_beta(alpha: np.ndarray) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def table_twin(mechanism: Sized, output: tuple[int, ...], own: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Sum over all tables k, weighed by n!/prod k! B(alpha + k + own) P(output | k)."""
    tables = np.array(list(compositions(mechanism.size, len(alpha))))
    logs = mechanism.log_prob(np.array(output), tables) - gammaln(tables + 1.0).sum(axis=1)
    logs = logs + np.array([log_beta(alpha + table + own) for table in tables])
    means = (alpha + tables + own) / (alpha.sum() + mechanism.size + own.sum())
    return np.asarray(np.exp(logs - logsumexp(logs)) @ means)


@pytest.mark.parametrize("kind", [dc.GeometricHistogram, dc.choices.HellingerGlobal])
def test_own_counts_of_a_table_are_read_as_further_records(kind: type) -> None:
    model = dc.Categories("x", levels=("a", "b", "c"), prior=(0.5, 1, 2), outside="a")
    release = dc.simulate(kind(model, 7, 1), [4, 2, 1], dc.SeededBits(3))
    own = np.array([1, 5, 0])
    posterior = dc.infer(release, own=own)
    twin = table_twin(sized(release.mechanism), release.output, own, np.array(model.prior))
    assert list(posterior.mean.values()) == pytest.approx(twin, abs=1e-10)
    assert posterior.own_records == 6
    records = {"x": ["a", "b", "b", "b", "b", "b"]}
    assert dc.infer(release, own=records).mean == posterior.mean
    assert "6 records of the reader's own" in str(posterior)
    assert list(dc.infer(release).mean.values()) != pytest.approx(twin, abs=1e-3)


def test_without_a_declared_prior_its_strength_is_learnt_from_own_records_too() -> None:
    model = dc.Categories("x", levels=tuple("abcdef"), outside="a")
    release = dc.simulate(dc.GeometricHistogram(model, 5, 1), [5, 0, 0, 0, 0, 0], dc.SeededBits(4))
    own = np.array([40, 0, 0, 0, 0, 0])
    posterior = dc.infer(release, own=own)
    assert len(posterior.strength_probabilities) > 1
    logs = []
    for each in model.proposals(is_evidence_known=True):
        tables = np.array(list(compositions(5, 6)))
        alpha = each.concentration
        seen = release.mechanism.log_prob(np.array(release.output), tables) - gammaln(tables + 1.0).sum(axis=1)
        logs.append(logsumexp(seen + [log_beta(alpha + k + own) for k in tables]) - log_beta(alpha))
    assert posterior.strength_probabilities == pytest.approx(np.exp(logs - logsumexp(logs)), abs=1e-9)


def network_twin(release: dc.Release, own: np.ndarray) -> np.ndarray:
    """P(f = 1 | c) for both c: sum over all tables (c, f) with one prior of 1 for every parameter of every row."""
    mechanism, own = sized(release.mechanism), own.reshape(2, 2)
    tables = np.array(list(compositions(mechanism.size, 4)))
    logs = mechanism.log_prob(np.array(release.output), tables) - gammaln(tables + 1.0).sum(axis=1)
    rows = 1.0 + tables.reshape(-1, 2, 2) + own
    for place, table in enumerate(rows):
        logs[place] += log_beta(table.sum(axis=1) - 1) + log_beta(table[0]) + log_beta(table[1])
    chances = rows[..., 1] / rows.sum(axis=-1)
    return np.asarray(np.exp(logs - logsumexp(logs)) @ chances)


OWN = np.array([6, 1, 0, 4])


def test_own_counts_of_a_naive_bayes_network_are_read_exactly() -> None:
    model = dc.Network.naive_bayes("c", ["f"], levels=LEVELS, prior=1, outside=0)
    release = dc.simulate(dc.networks.FamilyHistograms(model, 6, 1), [2, 1, 1, 2], dc.SeededBits(5))
    posterior = dc.infer(release, own=OWN)
    assert posterior.method == "read exactly"
    assert posterior.mean_tables()["f"][:, 1] == pytest.approx(network_twin(release, OWN), abs=1e-9)
    records = {"c": [0] * 7 + [1] * 4, "f": [0] * 6 + [1] * 5}
    assert dc.infer(release, own=records).mean_tables()["f"] == pytest.approx(posterior.mean_tables()["f"], abs=1e-12)
    assert posterior.probability("f=1").mean == pytest.approx(
        float(posterior.mean_tables()["c"] @ posterior.mean_tables()["f"][:, 1]), abs=0.01
    )


def test_own_counts_of_a_graph_are_read_by_chains() -> None:
    model = dc.Network.from_edges("c -> f", levels=LEVELS, prior=1, outside=0)
    release = dc.simulate(as_published.LaplaceUpdates(model, 6, 2), [2, 1, 1, 2], dc.SeededBits(6))
    problem = Problem.of([release])
    (informed,) = model.informed_by(OWN).models
    assert isinstance(informed, InformedNetwork)
    reading = CountsSolver().solve(Problem(informed, problem.size, problem.observed))
    means = reading.counts.means()
    assert means is not None
    errors = reading.counts.diagnostics.errors  # type: ignore[union-attr]  # chains say
    assert np.abs(means[1][:, 1] - network_twin(release, OWN)).max() < 6 * errors[1].max()


@pytest.mark.parametrize("noise", ["0.3", None])
def test_own_records_of_a_regression_count_like_those_behind_hardly_any_noise(noise: str | None) -> None:
    known = {} if noise is None else {"noise": noise}
    model = dc.LinearRegression("y", ["x"], {"x": (-1, 1), "y": (-1, 1)}, missing="middle", **known)  # type: ignore[arg-type]
    generator = np.random.default_rng(7)
    x = generator.uniform(-1, 1, 90)
    y = np.clip(0.2 + 0.5 * x + 0.2 * generator.standard_normal(90), -1, 1)
    behind, own = ({"x": x[part], "y": y[part]} for part in (slice(0, 50), slice(50, 90)))
    release = dc.simulate(dc.regression.BoxMoments(model, 50, 900), model.rehearse(behind), dc.SeededBits(8))
    posterior = dc.infer(release, own=own)
    moments = model.layout.unpack(model.rehearse({"x": x, "y": y}), 90)
    variances = np.array([float(noise) ** 2]) if noise else np.exp(np.linspace(-6, 0, 4_000))
    firm = moments.squares + variances[:, None, None] * float(model.prior_precision) * np.eye(2)
    centres = np.linalg.solve(firm, np.broadcast_to(moments.products, (len(variances), 2))[..., None])[..., 0]
    logs = np.zeros(1)
    if (prior := model.noise_prior) is not None:
        log_firm, shrunk = eliminated(firm.copy(), np.broadcast_to(moments.products, (len(variances), 2)))
        shape, scale = float(prior.shape), float(prior.scale)
        logs = -(shape + 45) * np.log(variances) - (scale + moments.total / 2) / variances
        logs += np.log(variances) - (log_firm - shrunk / variances) / 2
    weights = np.exp(logs - logsumexp(logs))
    for name, wanted in zip(model.names, model.in_units(weights @ centres), strict=True):
        assert abs(posterior.mean[name] - wanted) < 0.12 * posterior.sd[name]
        assert abs(dc.infer(release).mean[name] - wanted) > 0.12 * posterior.sd[name]
    if noise is None:
        assert posterior.noise.mean == pytest.approx(float(weights @ np.sqrt(variances)), rel=0.01)


def test_own_records_that_cannot_be_read_are_refused_in_words() -> None:
    model = dc.Categories("x", levels=("a", "b"), prior=1, outside="a")
    release = dc.simulate(dc.GeometricHistogram(model, 7, 1), [4, 3], dc.SeededBits(3))
    with pytest.raises(dc.SecretError, match=r"go to discreet\.publish"):
        dc.infer(release, own=model.statistics({"x": ["a"]}))
    with pytest.raises(dc.DeclarationError, match="one for each of the 2 cells"):
        dc.infer(release, own=[1, 2, 3])
    with pytest.raises(dc.DeclarationError, match="Leave strengths out"):
        dc.infer(release, own=[1, 2], strengths=(1, 2))
    with pytest.raises(dc.DiscreetError, match="x"):
        dc.infer(release, own={"z": ["a"]})
    net = dc.Network.from_edges("c -> f", "g", levels=dict.fromkeys("cfg", (0, 1)), prior=1, outside=0)
    told = dc.simulate(as_published.LaplaceUpdates(net, 6, 2), [2, 1, 1, 2, 3, 3], dc.SeededBits(6))
    with pytest.raises(dc.DeclarationError, match="every table must count the same records"):
        dc.infer(told, own=[1, 0, 0, 0, 2, 0])
    family = dc.PoissonRate("z", most=3, shape=3, rate="2.5", outside=3)
    drawn = dc.simulate(
        dc.PosteriorSampling.tempered(family, size=8, epsilon=1, delta="1e-3"), [2, 3, 2, 1], dc.SeededBits(1)
    )
    with pytest.raises(dc.DeclarationError, match="Pass a prior that expresses what they say"):
        dc.infer(drawn, own=[3])


def test_own_records_are_named_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = dc.Categories("x", levels=("a", "b"), prior=1, outside="a")
    release = dc.simulate(dc.GeometricHistogram(model, 7, 1), [4, 3], dc.SeededBits(3))
    (tmp_path / "r.json").write_text(release.to_json())
    (tmp_path / "own.csv").write_text("x\n" + "b\n" * 30)
    told = CliRunner().invoke(main, ["infer", "r.json", "--own", "own.csv", "--statement", "s.md"])
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert "Read with 30 records of the reader's own" in words
    assert "as confidential as they are" in " ".join((tmp_path / "s.md").read_text().split())
    mean = dc.infer(release, own=[0, 30]).mean["b"]
    assert f"{mean:.4f}" in words
    gone = CliRunner().invoke(main, ["infer", "r.json", "--own", "nowhere.csv"])
    assert gone.exit_code != 0
    assert "nowhere.csv" in gone.output


def test_rows_of_one_table_share_their_prior_unless_there_are_own_records() -> None:
    model = dc.Network.from_edges("c -> f", levels=LEVELS, prior={"c": 1, "f": (1, 2)}, outside=0)
    assert [rows.tolist() for rows in model.row_priors] == [[[1, 1]], [[1, 2], [1, 2]]]
    (informed,) = model.informed_by(OWN).models
    assert isinstance(informed, InformedNetwork)
    assert [rows.tolist() for rows in informed.row_priors] == [[[8, 5]], [[7, 3], [1, 6]]]
    assert informed != model
