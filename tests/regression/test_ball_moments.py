"""Moments of weighted records in learnt units: the body, the sampler, the steps, the promise and what may go wrong."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

import discreet as dc
from cone_twin import trace_density
from discreet.noise import Cone, TraceBody, simulated_noise
from discreet.privacy import zcdp_epsilon
from discreet.regression import GaussianBallMoments
from discreet.regression._weighted_mechanisms import WeightedMoments, kept_by_normal

BOUNDS = {"x": (0, 10), "z": (-1, 1), "y": (0, 100)}
MODEL = dc.WeightedRegression("y", ["x", "z"], BOUNDS)


def rows_of(size: int, seed: int, model: dc.WeightedRegression = MODEL) -> Any:
    generator = np.random.default_rng(seed)
    x, z = generator.gamma(1.0, 1.0, size), 0.3 * generator.standard_normal(size)
    y = 20 + 4 * x - 6 * z + generator.standard_normal(size)
    return model.rehearse({"x": x.tolist(), "z": z.tolist(), "y": y.tolist()})


def entries(coordinates: int) -> tuple[Any, ...]:
    return tuple(((i, j, Fraction(1)),) for i in range(coordinates) for j in range(i + 1))


@pytest.mark.parametrize(
    ("coordinates", "off", "diagonal", "trace"),
    [(3, 6.5, 9.2857, 5.5714), (5, 10.9412, 17.7794, 6.8382), (10, 21.4211, 38.6344, 7.6504)],
)
def test_variances_are_those_of_the_closed_form(coordinates: int, off: float, diagonal: float, trace: float) -> None:
    terms = (*entries(coordinates), tuple((i, i, Fraction(1)) for i in range(coordinates)))
    law = Cone(Fraction(1), TraceBody(coordinates), terms)
    found = law.variance - 1 / 12
    assert (found[1], found[0], found[-1]) == pytest.approx((off, diagonal, trace), rel=2e-5)
    drawn = simulated_noise(law, 40_000, np.random.default_rng(8)).var(axis=0)
    assert np.abs(drawn / found - 1).max() < 0.06


def test_the_exact_sampler_draws_what_readers_simulate() -> None:
    law = Cone(Fraction(1, 2), TraceBody(3), tuple(((i, j, Fraction(1000)),) for i in range(3) for j in range(i + 1)))
    exact, simulated = law.sample(2000, dc.SeededBits(4)), simulated_noise(law, 20_000, np.random.default_rng(5))
    traces = [each[:, [0, 2, 5]].sum(axis=1) for each in (exact, simulated)]
    assert ks_2samp(*traces).pvalue > 1e-4
    for index in range(6):
        assert ks_2samp(exact[:, index], simulated[:, index]).pvalue > 1e-4


def test_traces_follow_the_density_that_is_integrated() -> None:
    """F over all of (u_11 - u_22, 2 u_21) is the density of the trace: that of R (V^(1/3) - W^(1/3))."""
    generator = np.random.default_rng(6)
    radius = generator.gamma(7, size=400_000)
    drawn = np.abs(radius * (generator.random(400_000) ** (1 / 3) - generator.random(400_000) ** (1 / 3)))
    points, across = np.linspace(0.02, 6, 60), np.linspace(0, 30, 3000)
    inside = trace_density(points[:, None], across[None, :])
    low = across[None, :] <= points[:, None]
    area = np.where(low, np.exp(-points)[:, None] * 2 * np.pi / (4 * (np.pi / 12) ** 2 * 720), inside)
    heights = (area * across).sum(axis=1) * (across[1] - across[0]) * 2 * np.pi / 4
    edges = np.append(points[::6], 2 * points[-1] - points[-2])
    counted = np.histogram(drawn, edges)[0] / len(drawn) / np.diff(edges) / 2
    ends = np.append(heights, heights[-1])
    between = ((ends[:-1] + ends[1:]) / 2).reshape(10, 6).mean(axis=1)
    assert counted[:-1] == pytest.approx(between[:-1], rel=0.03)


def test_what_rounds_take_from_normal_records_is_known() -> None:
    known = [kept_by_normal(c, m) for c, m in ((1, 5), (2, 5), (1, 10), (2, 10))]
    assert known == pytest.approx([0.755917, 0.961897, 0.824533, 0.991419], abs=1e-6)
    sizes = [dc.BallMoments(dc.WeightedRegression("y", list("abc"), dict.fromkeys("abcy", (-1, 1))), n, 1).cuts[-1]
             for n in (1000, 10_000, 100_000)]  # fmt: skip
    assert sizes == pytest.approx([2, 3.0232, 9.5602], abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_every_record_lies_in_the_body_in_any_units(seed: int) -> None:
    """B is whole, sum b^2 <= M^2 exactly, for records at their bounds and any map, however badly it is scaled."""
    generator, m = np.random.default_rng(seed), MODEL.coordinates
    transform = generator.standard_normal((m, m)) * 2.0 ** generator.integers(-20, 21, (m, m))
    units = WeightedMoments(MODEL, transform, float(2.0 ** generator.integers(-20, 21)))
    rows = np.concatenate([MODEL.contributions(27)[0], generator.integers(-MODEL.grid, MODEL.grid + 1, (2000, m))])
    wholes = units.wholes(rows.astype(float))
    exact = wholes.astype(np.int64)
    assert (exact == wholes).all()
    assert (np.square(exact).sum(axis=1) <= MODEL.grid**2).all()
    assert not units.wholes(np.zeros((1, m))).any()
    body = TraceBody(m)
    for row in exact[:20]:
        assert body.holds([[int(a) * int(b) for a in row] for b in row], MODEL.grid**2)


def test_weights_are_radius_over_distance_beyond_the_radius() -> None:
    units = replace(dc.BallMoments(MODEL, 500, 1).first_units, squared_radius=0.5)
    rows = rows_of(500, 3).reshape(500, -1)
    v = rows / MODEL.grid
    rho = np.minimum(1, 0.5 / np.square(v).sum(axis=1))
    moments = units.moments(units.apply(rows.ravel()), 500)
    assert float(moments.count) == pytest.approx(rho.sum(), rel=1e-3)
    assert float(moments.total) == pytest.approx((rho * v[:, 2] ** 2).sum(), rel=1e-3)
    x = v[:, [3, 0, 1]] / np.sqrt(3)  # the constant first
    assert moments.squares == pytest.approx((x.T * rho) @ x, rel=2e-3, abs=0.02)
    assert moments.products == pytest.approx((x.T * rho) @ v[:, 2], rel=2e-3, abs=0.02)


def test_sums_do_not_depend_on_blocks_or_order() -> None:
    rows = rows_of(70_000, 4).reshape(70_000, -1)
    units = dc.BallMoments(MODEL, 70_000, 1).first_units
    slow = np.zeros((4, 4), dtype=object)
    wholes = units.wholes(rows.astype(float)).astype(np.int64)
    for i in range(4):
        for j in range(i + 1):
            slow[i, j] = int(sum(int(a) * int(b) for a, b in wholes[:, [i, j]].tolist()))
    found = units.apply(rows[::-1].ravel())
    assert found.tolist() == [slow[i, j] for i in range(4) for j in range(i + 1)]


def test_units_follow_from_what_was_published_and_others_are_refused() -> None:
    mechanism = dc.BallMoments(MODEL, 2000, 2)
    output = mechanism.sample(rows_of(2000, 5), dc.SeededBits(3))
    mechanism.space.check(output)
    units = mechanism.units_of(output)
    assert units[0].squared_radius == 4
    again = mechanism.units_after(units[3], 3, output[30:40])
    assert again.transform == pytest.approx(units[4].transform, rel=1e-12)
    assert again.squared_radius == units[4].squared_radius
    for place in (-1, -2, -5):  # R^2 and two numbers of T
        forged = output.copy()
        forged[place] += 2**20
        with pytest.raises(dc.DocumentError, match="do not follow"):
            mechanism.space.check(forged)
    forged = output.copy()
    forged[0] *= 3  # of the first step: other units would have followed
    with pytest.raises(dc.DocumentError, match="do not follow"):
        mechanism.space.check(forged)


def test_records_with_gaps_count_as_nothing() -> None:
    data = {"x": [1.0, None, 3.0], "z": [0.1, 0.2, float("nan")], "y": [10.0, 20.0, 30.0]}
    rows = MODEL.rehearse(data).reshape(3, -1)
    assert rows[0, -1] == MODEL.grid
    assert not rows[1:].any()
    filled = dc.WeightedRegression("y", ["x", "z"], BOUNDS, missing={"x": 2, "z": 0})
    assert (filled.rehearse(data).reshape(3, -1)[:, -1] == filled.grid).all()
    assert "counts as" not in MODEL.missing_in_words
    assert "left out" in MODEL.missing_in_words


def test_intervals_of_one_release_hold_the_line_and_say_what_it_is() -> None:
    mechanism = dc.BallMoments(MODEL, 4000, 2)
    posterior: Any = dc.infer(dc.simulate(mechanism, rows_of(4000, 6), dc.SeededBits(7)))
    assert isinstance(posterior, dc.regression.WeightedRegressionPosterior)
    for name, truth in (("intercept", 20), ("x", 4), ("z", -6)):
        low, high = posterior.interval(name, 0.999)
        assert low < truth < high
    assert 0.5 < posterior.weight.mean < 1.02
    said = " ".join([*posterior.remarks(), posterior.text.meaning, posterior.text.estimation])
    assert "a record far from the bulk counts less" in said
    assert "not those of ordinary least squares" in said
    assert "left out" in posterior.text.estimation
    facts: Any = posterior.facts()
    assert facts["mean_weight"]["mean"] == posterior.weight.mean


def test_a_lower_cutoff_has_less_noise_and_more_weighting() -> None:
    """The choice between noise and weighting is the holder's, and is published with the rest."""
    rows, widths, weights = rows_of(4000, 6), [], []
    for cutoff in ("1", "8"):
        posterior: Any = dc.infer(dc.simulate(dc.BallMoments(MODEL, 4000, 2, cutoff=cutoff), rows, dc.SeededBits(7)))
        weights.append(posterior.weight.mean)
        widths.append(posterior.privacy_share()["x"])
    assert weights[0] < weights[1] - 0.05
    assert widths[0] < widths[1]


def test_two_releases_are_not_read_together() -> None:
    releases = [dc.simulate(dc.BallMoments(MODEL, 400, 2), rows_of(400, 6), dc.SeededBits(s), str(s)) for s in (1, 2)]
    with pytest.raises(dc.DeclarationError, match="other weights"):
        dc.infer(*releases)


def test_what_does_not_fit_is_refused_in_words() -> None:
    with pytest.raises(dc.DeclarationError, match="one pass"):
        dc.BallMoments(MODEL, 10**8, 1)
    with pytest.raises(dc.DeclarationError, match="more records"):
        dc.BallMoments(MODEL, 3, 1)
    with pytest.raises(dc.DeclarationError, match="rounds"):
        dc.BallMoments(MODEL, 300, 1, rounds=9)
    with pytest.raises(dc.DeclarationError, match="WeightedRegression"):
        dc.BallMoments(dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, missing="middle"), 300, 1)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="LinearRegression"):
        dc.ConeMoments(MODEL, 300, 1)  # type: ignore[arg-type]


def test_gaussian_steps_add_up_to_the_rho_of_the_promise() -> None:
    mechanism = GaussianBallMoments(MODEL, 2000, 1, "1e-6")
    assert zcdp_epsilon(mechanism.rho, "1e-6") <= 1 < zcdp_epsilon(mechanism.rho * Fraction(101, 100), "1e-6")
    assert mechanism.rho == sum(part.rho or 0 for part in mechanism.trial_parts())
    first, *_, last = mechanism.rhos
    assert last / first == 6
    variances = mechanism.noises[-1].variances
    assert variances[0] == 2 * variances[1] == MODEL.grid**4 / last
    assert mechanism.deviations[-1] == pytest.approx(float(variances[1]) ** 0.5 / MODEL.grid**2)


def test_no_two_records_are_farther_apart_than_the_noise_allows() -> None:
    """|bb' - cc'|_F^2 <= 2 M^4 for whole b, c in any units, as entries of the lower triangle with their variances."""
    generator, m = np.random.default_rng(3), MODEL.coordinates
    rows = np.concatenate([MODEL.contributions(27)[0], np.zeros((1, m), dtype=np.int64)])
    weight = np.array([1 if i == j else 2 for i in range(m) for j in range(i + 1)])
    for _ in range(20):
        transform = generator.standard_normal((m, m)) * 2.0 ** generator.integers(-3, 9, (m, 1))
        units = WeightedMoments(MODEL, transform, float(2.0 ** generator.integers(-3, 6)))
        found = np.array([units.apply(row) for row in rows]).astype(object)
        apart = [int((weight * (one - two) ** 2).sum()) for one in found for two in found]
        assert max(apart) <= 2 * MODEL.grid**4


def test_gaussian_steps_have_the_likelihood_of_their_sum() -> None:
    mechanism = GaussianBallMoments(MODEL, 300, 2, "1e-3", rounds=1)
    rows = rows_of(300, 1)
    output = mechanism.sample(rows, dc.SeededBits(1))
    units = mechanism.units_of(output)
    steps = np.split(output[:20], 2)
    slow = 0.0
    for values, own, noise in zip(steps, units, mechanism.noises, strict=True):
        u, sd = values - own.apply(rows), np.sqrt([float(v) for v in noise.variances])
        slow += float(np.sum(norm.logpdf(u, scale=sd)))  # the cell is a billionth of a standard deviation wide
    assert float(mechanism.log_prob(output, rows)) == pytest.approx(slow, rel=1e-9)


def test_gaussian_steps_are_read_as_others() -> None:
    mechanism = GaussianBallMoments(MODEL, 4000, 2, "1e-6")
    posterior: Any = dc.infer(dc.simulate(mechanism, rows_of(4000, 6), dc.SeededBits(7)))
    for name, truth in (("intercept", 20), ("x", 4), ("z", -6)):
        low, high = posterior.interval(name, 0.999)
        assert low < truth < high


def test_suggest_takes_the_smaller_noise_and_says_where_little_is_learnt() -> None:
    eight = dc.WeightedRegression("y", list("abcdefgh"), dict.fromkeys("abcdefghy", (-1, 1)))
    found = dc.suggest(eight, 10_000, 1, "1e-6")
    assert type(found.mechanism) is GaussianBallMoments
    assert "standard deviation of a product is" in found.reason
    assert type(dc.suggest(MODEL, 10_000, 5, "1e-9").mechanism) is dc.BallMoments
    assert "LinearRegression suits them better" not in dc.suggest(eight, 10_000, 1).reason
    assert "2,300 records x epsilon; here it is 2,000" in dc.suggest(eight, 2000, 1).reason


class Planted:
    """False versions of the mechanism, each under the honest name."""

    @staticmethod
    def of(**parts: Any) -> Any:
        return type("BallMoments", (dc.BallMoments,), parts)(MODEL, 200, 1)


def a_round_is_not_charged() -> Any:
    honest = dc.BallMoments(MODEL, 200, 1)
    noises = (replace(honest.noises[0], epsilon=Fraction(1, 2)), *honest.noises[1:])
    return Planted.of(noises=property(lambda self: noises))


def the_sampler_has_twice_the_rate() -> Any:
    def sample(self: Any, counts: Any, bits: Any) -> Any:
        drawn = dc.BallMoments.sample(self, counts, bits)
        exact = self.measured(np.asarray(counts))
        steps = (self.rounds + 1) * self.length
        drawn[..., :steps] = exact[..., :steps] + (drawn - exact)[..., :steps] // 2
        return drawn

    return Planted.of(sample=sample)


def the_radius_is_not_enforced() -> Any:
    class Unbounded(WeightedMoments):
        def wholes(self, rows: Any) -> Any:
            return np.trunc(rows @ (self.transform.T / np.sqrt(self.squared_radius)))

    honest = dc.BallMoments(MODEL, 200, 1).first_units
    units = Unbounded(honest.model, honest.transform, honest.squared_radius)
    return Planted.of(first_units=property(lambda self: units))


def a_gaussian_round_is_not_charged() -> Any:
    honest = GaussianBallMoments(MODEL, 200, 1, "1e-6")
    return type("GaussianBallMoments", (GaussianBallMoments,), {"rhos": (honest.rhos[0] * 2, *honest.rhos[1:])})(
        MODEL, 200, 1, "1e-6"
    )


def a_gaussian_sampler_has_half_the_noise() -> Any:
    def sample(self: Any, counts: Any, bits: Any) -> Any:
        drawn = GaussianBallMoments.sample(self, counts, bits)
        exact = self.measured(np.asarray(counts))
        steps = (self.rounds + 1) * self.length
        drawn[..., :steps] = exact[..., :steps] + (drawn - exact)[..., :steps] // 2
        return drawn

    return type("GaussianBallMoments", (GaussianBallMoments,), {"sample": sample})(MODEL, 200, 1, "1e-6")


@pytest.mark.parametrize(
    ("plant", "words"),
    [(a_gaussian_round_is_not_charged, "steps"), (a_gaussian_sampler_has_half_the_noise, "sampler"),
     (a_round_is_not_charged, "steps"), (the_sampler_has_twice_the_rate, "sampler"),
     (the_radius_is_not_enforced, "positive semidefinite")],
)  # fmt: skip
def test_verify_finds_what_breaks_the_promise(plant: Any, words: str) -> None:
    assert dc.verify(dc.BallMoments(MODEL, 200, 1)).guarantee.epsilon == 1
    with pytest.raises(dc.VerificationError, match=words):
        dc.verify(plant())


def test_units_that_shrink_everything_cost_accuracy_and_no_privacy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lam above 1 is an error of accuracy alone: the promise is the same, the line is not found."""
    rows, widths = rows_of(2000, 9), []
    for factor in (0.1, 1e4):
        monkeypatch.setattr(dc.BallMoments, "part_of_edge", factor)
        if factor > 1:
            monkeypatch.setattr("discreet.regression._weighted_mechanisms.min", max, raising=False)
        mechanism = dc.BallMoments(MODEL, 2000, "0.5")
        assert mechanism.guarantee.epsilon == Fraction(1, 2)
        output = mechanism.sample(rows, dc.SeededBits(2))
        noise = np.sqrt(mechanism.noises[-1].variance[1])
        widths.append(noise / abs(int(output[(mechanism.rounds + 1) * mechanism.length - 1])))  # beside the last square
        units = mechanism.units_of(output)[-1]
        assert (np.square(units.wholes(rows.reshape(2000, -1).astype(float))).sum(axis=1) <= MODEL.grid**2).all()
    assert widths[1] > 2 * widths[0]
