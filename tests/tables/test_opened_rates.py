"""Rates in groups are opened to 0 and 1 by the rule of shares, wherever they are shown.

How often they cover is measured in validation/test_skewed_truths.py, on more settings and many more releases.
"""

import warnings

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics.distributions._counts import CountDistribution
from discreet.mathematics.distributions._dirichlet import BetaMixture, Share, reaches_end
from discreet.mathematics.distributions._sampled import Sampled
from discreet.report.charts._posterior import comparison_chart
from discreet.report.page._contents import contents_of

WARDS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)


def read(output: tuple[int, ...], epsilon: str = "0.5") -> dc.tables.CategoriesPosterior:
    """Read a release: the noisy counts of A without and with a fall, and of B."""
    mechanism = dc.GeometricHistogram(WARDS, size=sum(output), epsilon=epsilon)
    return dc.infer(dc.Release(mechanism, output, "wards", simulated=True))


def test_a_ward_without_a_fall_may_have_a_rate_of_zero() -> None:
    posterior = read((228, 12, 59, 1))
    law = posterior.conditional("fall=yes", given="ward=B")
    row = posterior.rates("fall=yes", by="ward")[1]
    assert law.interval(0.9).low == 0
    assert (row.low, row.high) == law.interval(0.9)
    assert posterior.chance("fall=yes", given="ward=B").low == 0
    assert posterior.margin("fall", "ward").conditional("fall=yes", given="ward=B").interval(0.9).low == 0
    assert posterior.conditional("fall=no", given="ward=B").interval(0.9).high == 1
    assert 0.02 < row.mean < row.high < 0.3


def test_ratios_are_opened_where_the_share_of_both_is() -> None:
    posterior = read((228, 12, 59, 1))
    assert posterior.ratio("ward=B, fall=yes", "ward=B, fall=no").interval(0.9).low == 0
    assert posterior.ratio("ward=B, fall=no", "ward=B, fall=yes").interval(0.9).high == np.inf
    low, high = posterior.ratio("ward=A, fall=no", "ward=B, fall=no").interval(0.9)
    assert 0 < low < high < np.inf


def test_a_ratio_of_two_shares_that_may_both_be_0_warns() -> None:
    posterior = read((228, 1, 70, 1))
    with pytest.warns(dc.LittleInformationWarning, match=r"'ward=B, fall=yes' and of 'ward=A, fall=yes' may both be 0"):
        posterior.ratio("ward=B, fall=yes", "ward=A, fall=yes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior.ratio("ward=B, fall=yes", "ward=B, fall=no")


def test_ratios_of_rates_are_opened_where_a_rate_is() -> None:
    posterior = read((228, 12, 59, 1))
    for ratio in (posterior.risk_ratio, posterior.odds_ratio):
        assert ratio("fall=yes", "ward=B", "ward=A").interval(0.9).low == 0
        assert ratio("fall=yes", "ward=A", "ward=B").interval(0.9).high == np.inf
    assert posterior.odds_ratio("fall=no", "ward=B", "ward=A").interval(0.9).high == np.inf
    assert posterior.risk_ratio("fall=no", "ward=B", "ward=A").interval(0.9).high < 2


def test_differences_reach_what_follows_where_a_rate_may_be_zero_or_one() -> None:
    """If a rate may be 0, its difference from another may be minus every rate that the other may have."""
    posterior = read((228, 12, 59, 1))
    some = posterior.conditional("fall=yes", "ward=A").interval(0.9)
    law = posterior.risk_difference("fall=yes", "ward=B", "ward=A")
    plain = Sampled(law.draws).interval(0.9)
    assert law.interval(0.9) == (-some.high, plain.high)
    assert -some.high < plain.low
    for turned in (
        posterior.risk_difference("fall=yes", "ward=A", "ward=B").interval(0.9),
        posterior.risk_difference("fall=no", "ward=B", "ward=A").interval(0.9),
    ):
        assert turned.high == pytest.approx(some.high)
        assert turned.low == pytest.approx(-plain.high, abs=0.006)  # four standard errors of both quantiles


def test_differences_of_shares_reach_what_follows_too() -> None:
    posterior = read((228, 12, 59, 1))
    other = posterior.probability("ward=A, fall=yes").interval(0.9)
    assert posterior.difference_distribution("ward=B, fall=yes", "ward=A, fall=yes").interval(0.9).low == -other.high
    assert posterior.difference_distribution("ward=B", "ward=B, fall=no").interval(0.9).low == 0  # P(ward=B, fall=yes)
    assert (
        read((298, 1, 1, 0)).difference_distribution("fall=yes", "fall=no").interval(0.9).low == -1
    )  # one rate and its complement


def test_differences_of_the_same_are_certain_and_ordinary_ones_are_not_extended() -> None:
    posterior = read((150, 90, 20, 40))
    for law in (
        posterior.difference_distribution("ward=B", "ward=B"),
        read((228, 12, 59, 1)).risk_difference("fall=yes", "ward=B", "ward=B"),
    ):
        assert law.interval(0.9) == pytest.approx((0, 0), abs=1e-12)
    for law in (
        posterior.risk_difference("fall=yes", "ward=B", "ward=A"),
        posterior.difference_distribution("ward=B, fall=yes", "ward=A, fall=yes"),
    ):
        for level in (0.5, 0.9, 0.95):
            assert law.interval(level) == Sampled(law.draws).interval(level)


def test_differences_from_a_rate_of_zero_are_held_as_often_as_stated() -> None:
    """Of 40 releases, more than nine miss with probability .005 if each does with .1."""
    mechanism = dc.GeometricHistogram(WARDS, size=300, epsilon="0.5")
    outputs = mechanism.sample(np.tile([228, 12, 60, 0], (40, 1)), dc.SeededBits(602))
    posteriors = [read(tuple(map(int, output))) for output in outputs]
    ends = [each.risk_difference("fall=yes", "ward=B", "ward=A", draws=2_000).interval(0.9) for each in posteriors]
    assert np.mean([low <= -0.05 <= high for low, high in ends]) >= 0.775


def test_counts_of_zero_and_of_all_are_held_as_often_as_stated() -> None:
    """Little budget spreads a count over many: each has a small probability, and equal tails leave out 0 and n."""
    for counts, event, truth, seed in (
        ((228, 12, 60, 0), "ward=B, fall=yes", 0.0, 603),
        ((300, 0, 0, 0), "ward=A, fall=no", 300.0, 604),
    ):
        mechanism = dc.GeometricHistogram(WARDS, size=300, epsilon="0.1")
        outputs = mechanism.sample(np.tile(counts, (40, 1)), dc.SeededBits(seed))
        laws = [read(tuple(map(int, output)), "0.1").true_count(event) for output in outputs]
        assert np.mean([low <= truth <= high for low, high in (law.interval(0.9) for law in laws)]) >= 0.775


def test_counts_are_opened_by_the_rule_of_shares_and_only_where_it_is_asked() -> None:
    falling = np.exp(-0.1 * np.arange(101.0))
    falling = np.asarray(falling / falling.sum(), dtype=np.float64)
    assert CountDistribution(0, falling).interval(0.5).low > 0
    assert CountDistribution(0, falling, 100).interval(0.5).low == 0
    assert CountDistribution(0, falling, 100).interval(0.5).high == CountDistribution(0, falling).interval(0.5).high
    assert CountDistribution(0, falling[::-1], 100).interval(0.5).high == 100
    assert CountDistribution(5, falling, 200).interval(0.5) == CountDistribution(5, falling).interval(0.5)
    prior = dc.infer(read((228, 12, 59, 1), "0.1").releases[0], prior=1)
    assert prior.true_count("ward=B, fall=yes").most is None


def test_charts_and_pages_show_the_intervals_of_the_rows() -> None:
    posterior = read((228, 12, 59, 1))
    (page,) = [each for each in contents_of(posterior)["groups"] if (each["event"], each["by"]) == ("fall=yes", "ward")]
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        rows = posterior.rates("fall=yes", by="ward", level=level)
        for row, shown in zip(rows, page["intervals"][f"{level:g}"], strict=True):
            assert (shown["low"] == 0) == (row.low == 0)
            assert [shown["low"], shown["high"]] == pytest.approx([row.low, row.high], abs=0.05 * row.sd)
    assert page["intervals"]["0.9"][1]["low"] == 0
    drawn = comparison_chart(posterior, "fall=yes", "ward")["data"]["values"]
    assert [line["low"] for line in drawn] == [row.low for row in posterior.rates("fall=yes", by="ward")]
    assert drawn[1]["low"] == 0


def test_rates_of_zero_are_held_as_often_as_stated() -> None:
    """Of 20 releases, more than four miss with probability .003 if each does with .05."""
    mechanism = dc.GeometricHistogram(WARDS, size=300, epsilon="0.5")
    outputs = mechanism.sample(np.tile([228, 12, 60, 0], (20, 1)), dc.SeededBits(601))
    lows = [read(tuple(map(int, output))).conditional("fall=yes", "ward=B").interval(0.9).low for output in outputs]
    assert np.mean(np.array(lows) == 0) >= 0.8


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_further_records_may_all_be_none_of_an_event_that_may_have_no_share(level: float) -> None:
    """Of many further records, intervals are opened where the share is, but for a count at which the rule is tied."""
    coin = dc.GeometricHistogram(dc.Categories("x", ("no", "yes"), outside="no"), size=100, epsilon="0.5")
    opened = 0
    for yes in (0, 2, 3, 5, 8):
        posterior = dc.infer(dc.Release(coin, (100 - yes, yes), "yes", simulated=True))
        law, turned = posterior.predictive("yes", 1_000), posterior.predictive("no", 1_000)
        plain = CountDistribution(0, law.probabilities).interval(level)
        reaches = posterior.probability("yes").interval(level).low == 0
        assert plain.low > 0
        assert law.interval(level) == (0 if reaches else plain.low, plain.high)
        assert turned.interval(level).high == 1_000 - law.interval(level).low
        opened += reaches
    assert 0 < opened < 5
    declared = dc.infer(posterior.releases[0], prior=1).predictive("yes", 1_000)
    assert declared.most is None  # a declared prior is taken at its word


def test_a_declared_prior_is_taken_at_its_word() -> None:
    release = read((228, 12, 59, 1)).releases[0]
    law = dc.infer(release, prior=1).conditional("fall=yes", given="ward=B")
    assert type(law) is BetaMixture
    assert law.interval(0.9).low > 0


def test_the_rule_is_that_of_the_shortest_interval() -> None:
    """None and one of ten: [0, q] is shortest where the density at q is no higher than at 0; flat laws are tied."""
    for successes, reaches in ((0, True), (1, False)):
        law = Share(np.ones(1), np.array([1.0 + successes]), np.array([11.0 - successes]))
        assert (law.interval(0.9).low == 0) == reaches == (law.highest_density(0.9).low < 1e-9)
        at_zero = np.exp(law.log_density(1e-300))
        assert reaches_end(at_zero, law.log_density(law.quantile(0.9)), 0.9) == reaches
    assert Share(np.ones(1), np.ones(1), np.ones(1)).interval(0.9) == (0, 1)
