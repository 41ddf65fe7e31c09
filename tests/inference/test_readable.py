"""What is charged can be read: what is refused before a charge is what infer refuses, for every mechanism and model."""

import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

import discreet as dc
from discreet.inference import Problem, solver_for, why_unreadable
from discreet.mechanism import Sized
from discreet.noise import HasPrefixSums
from discreet.numbers._edge_tests import BinomialSums
from discreet.privacy import compositions
from every_pair import COIN, DIE, MODELS, counts_of, in_words, made

MECHANISMS = dc.Mechanism.registered()

PAIRS = [(kind, place) for kind in sorted(MECHANISMS) for place in range(len(MODELS))]


@pytest.mark.usefixtures("short_runs")
@pytest.mark.parametrize("kind", sorted(MECHANISMS))
def test_what_is_refused_before_a_charge_is_what_infer_refuses_and_nothing_else(kind: str) -> None:
    """One line of the table: every model that a mechanism accepts, an output, and what infer says to it."""
    accepted = [mechanism for model in MODELS if (mechanism := made(kind, model)) is not None]
    assert accepted, f"{kind} accepts none of the models of this table: add one"
    for mechanism in accepted:
        generator = np.random.default_rng(20261116)
        counts = counts_of(mechanism.model, getattr(mechanism, "size", 4), generator)
        release = dc.simulate(mechanism, counts, dc.SeededBits(7))
        why = why_unreadable(mechanism)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if why is None:
                assert dc.infer(release).releases == (release,)
            else:
                assert in_words(why)
                with pytest.raises(dc.DeclarationError, match="cannot be read"):
                    dc.infer(release)


@pytest.mark.usefixtures("short_runs")
@pytest.mark.parametrize("kind", sorted(MECHANISMS))
def test_accuracy_and_variances_are_known_or_refused_in_words_for_every_mechanism(kind: str) -> None:
    for mechanism in [each for model in MODELS if (each := made(kind, model)) is not None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = known_or_refused(lambda: dc.accuracy(mechanism, studies=2))  # noqa: B023
            variances = known_or_refused(lambda: dc.planning.cell_variances(mechanism))  # noqa: B023
        if not isinstance(mechanism, Sized):  # a plan for a secret number of records needs a guess of it
            assert found is None
            continue
        assert (found is None) == (why_unreadable(mechanism) is not None)
        if found is not None:
            assert 0 < found.width < np.inf
            assert 0 < found.exact_width < np.inf
            assert 0 <= found.error < np.inf
        assert all(0 < variance < np.inf for variance in (variances or {}).values())
        assert (
            variances
            or not Problem.before(mechanism).is_measured
            or isinstance(mechanism.model, dc.LinearRegression | dc.Synthesis)
            or (Problem.before(mechanism).measurements[0].of.parts is None)
        )


def known_or_refused(ask: Callable[[], Any]) -> Any:
    """Return an answer, or nothing if it is refused in words; any other exception goes through."""
    refusal = ""
    try:
        return ask()
    except dc.DeclarationError as words:
        refusal = str(words)
    assert in_words(refusal)
    return None


def test_what_decides_about_a_charge_looks_at_no_output() -> None:
    """Solvers are asked with no output at all, so a refusal cannot depend on one."""
    for kind, place in PAIRS:
        mechanism = made(kind, MODELS[place])
        if mechanism is not None:
            assert Problem.before(mechanism).observed[0].output is None


def hellinger_question() -> dc.choices.HellingerReciprocal:
    """600 records in 16 levels: more candidates than anybody lists, which can be drawn from and not be read."""
    return dc.choices.HellingerReciprocal(
        dc.Categories("x", levels=tuple("abcdefghijklmnop"), outside="a"), size=600, epsilon=6
    )


def test_a_hellinger_question_that_nobody_could_read_is_refused_before_the_charge(tmp_path: Path) -> None:
    mechanism = hellinger_question()
    secret = mechanism.model.statistics({"x": ["a"] * 300 + ["b"] * 300})
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 10)
    before = ledger.head
    with pytest.raises(dc.PublishError, match="Nothing was published and nothing was charged") as refusal:
        dc.publish(mechanism, secret, ledger, "opinions")
    assert "fewer cells or records" in str(refusal.value)
    assert "reading = 'none'" in str(refusal.value)
    with pytest.raises(dc.PublishError, match="no inference method supports it"):
        dc.publish_plan(dc.Plan([mechanism]), [secret], ledger, ["opinions"])
    assert ledger.head == before


def test_what_was_declared_to_have_no_reading_is_published_and_says_so(tmp_path: Path) -> None:
    mechanism = hellinger_question()
    secret = mechanism.model.statistics({"x": ["a"] * 300 + ["b"] * 300})
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 20)
    release = dc.publish(mechanism, secret, ledger, "opinions", reading="none")
    (planned,) = dc.publish_plan(dc.Plan([mechanism]), [secret], ledger, ["again"], reading="none")
    with pytest.raises(dc.PublishError, match="reading must be 'none' or left out"):
        dc.publish(mechanism, secret, ledger, "x", reading="never")
    with pytest.raises(dc.PublishError, match="one value of reading for all"):
        dc.publish_plan(dc.Plan([mechanism]), [secret], ledger, ["x"], reading=["none", "none"])
    assert release.reading == planned.reading == "none"
    again = dc.Release.from_json(release.to_json())
    assert again == release
    with pytest.raises(dc.DeclarationError, match="has no posterior, as its holder declared"):
        dc.infer(again)


def test_a_release_that_can_be_read_writes_nothing_about_its_reading() -> None:
    release = dc.simulate(dc.GeometricHistogram(COIN, 10, 1), [4, 6], dc.SeededBits(1))
    assert release.reading is None
    assert '"reading"' not in release.to_json()
    strange = release.to_json().replace('"receipt"', '"reading":"later","receipt"')
    with pytest.raises(dc.DocumentError, match="does not fit its schema"):
        dc.Release.from_json(strange)


def test_noisy_counts_and_draws_are_read_together() -> None:
    """Both are products over cells, so one transform reads them; the slow twin lists all tables."""
    draw = dc.PosteriorSampling.tempered(DIE, size=30, epsilon=2, delta="1e-3")
    noisy = dc.GeometricHistogram(DIE, 30, 1)
    releases = [dc.simulate(each, [15, 9, 6], dc.SeededBits(4)) for each in (draw, noisy)]
    tables = np.array(list(compositions(30, 3)))
    logs = DIE.log_evidence(tables) + sum(r.mechanism.log_prob(r.counts, tables) for r in releases)
    assert dc.infer(*releases).log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-9)


@pytest.mark.parametrize("kind", ["RoundedLaplace", "FlooredLaplace", "TruncatedLaplace", "ClampedLaplace"])
def test_published_laplaces_are_read_by_windows_as_enumeration_reads_them(kind: str) -> None:
    mechanism = made(kind, DIE)
    assert type(solver_for(Problem.before(mechanism))).__name__ == "TablesSolver"
    release = dc.simulate(mechanism, [16, 14, 0], dc.SeededBits(5))
    tables = np.array(list(compositions(30, 3)))
    logs = DIE.log_evidence(tables) + mechanism.log_prob(release.counts, tables)
    weights = np.exp(logs - logsumexp(logs))
    posterior = dc.infer(release)
    assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-9)
    means = weights @ (tables + DIE.concentration) / (30 + DIE.concentration.sum())
    assert list(posterior.mean.values()) == pytest.approx(list(means), rel=1e-8)


def test_many_candidates_of_a_maximum_are_read_some_tables_at_a_time() -> None:
    """19,900 candidates and 1,326 tables would be 80 million numbers at once; the answer is the same in parts."""
    mechanism = dc.choices.MaximumPosterior(DIE, size=50, epsilon=1, resolution=201)
    release = dc.simulate(mechanism, [25, 15, 10], dc.SeededBits(6))
    tables = np.array(list(compositions(50, 3)))[::100]
    counts: Any = dc.infer(release).solutions[0].counts
    found = counts.log_weights(tables)
    wanted = DIE.log_evidence(tables) + mechanism.log_prob(release.counts, tables)
    assert found == pytest.approx(wanted, rel=1e-9)


def quantiles_of(cells: int, shares: int, missing: int | None) -> dc.TreeTable:
    asked = [f"{place}/{shares + 1}" for place in range(1, shares + 1)]
    return dc.TreeTable(dc.NumberTable("x", (0, 1), cells, quantiles=asked, missing=missing), 1_000, 1)


@pytest.mark.parametrize("missing", [0, None], ids=["exact tests", "tests by draws"])
def test_more_quantiles_than_can_be_tested_are_refused_by_infer_and_before_a_charge(
    missing: int | None, tmp_path: Path
) -> None:
    mechanism = quantiles_of(512, 1_999, missing)
    release = dc.simulate(mechanism, np.bincount([0], minlength=mechanism.space.length) * 1_000, dc.SeededBits(3))
    words = r"for 1999 quantiles takes about .* operations, and at most 2e\+11 are allowed"
    with pytest.raises(dc.DeclarationError, match=words + r"\. Nothing was read\. patience="):
        dc.infer(release)
    secret = mechanism.model.statistics({"x": [0.5] * 1_000})
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 10)
    before = ledger.head
    with pytest.raises(dc.PublishError, match=words):
        dc.publish(mechanism, secret, ledger, "quantiles")
    assert ledger.head == before
    assert why_unreadable(quantiles_of(512, 9, missing)) is None
    assert why_unreadable(quantiles_of(100, 99, missing)) is None


def test_tests_of_a_quantile_share_the_sums_of_a_binomial_law() -> None:
    table = dc.TreeTable(dc.NumberTable("x", (0, 1), 8, missing=0), 30, 1).noise
    assert isinstance(table, HasPrefixSums)
    law = table.cut(3)
    assert law is not None
    noise = np.arange(-law.half, law.half + 1)
    low, high = BinomialSums(30, Fraction(1, 3), 10, 5 + law.half).tails(law, 14)
    assert low == pytest.approx(float(law.chances @ binom.cdf(14 - noise, 30, 1 / 3)), rel=1e-12)
    assert high == pytest.approx(float(law.chances @ binom.sf(13 - noise, 30, 1 / 3)), rel=1e-12)


def test_the_likelihood_of_a_choice_is_computed_once_for_all_strengths_of_a_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, plain = [], dc.choices.PermuteAndFlip.log_prob

    def counted(mechanism: dc.choices.PermuteAndFlip, output: Any, counts: Any) -> Any:
        asked.append(len(counts))
        return plain(mechanism, output, counts)

    release = dc.simulate(dc.choices.PermuteAndFlip(DIE, 6, 1), [2, 2, 2], dc.SeededBits(5))
    monkeypatch.setattr(dc.choices.PermuteAndFlip, "log_prob", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together = dc.infer(release, strengths=(0.3, 1, 3))
        apart = [dc.infer(release, prior=[value * times for value in (1, 0.7, 2)]) for times in (0.3, 1, 3)]
    assert len(asked) == 1 + len(apart)
    mean = np.logaddexp.reduce([each.log_evidence for each in apart]) - np.log(3)
    assert together.log_evidence == pytest.approx(mean, abs=1e-12)
