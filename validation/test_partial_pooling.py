"""Does pooling help, and do its intervals cover? Forty strata of thirty records, epsilon = 0.3, one crossed release."""

import warnings

import numpy as np

import discreet as dc

REPEATS, STRATA, EACH = 30, 40, 30
WARDS = tuple(f"w{number:02}" for number in range(STRATA))


def test_pooling_lowers_the_error_by_a_quarter_and_its_intervals_cover() -> None:
    """Rates ~ Beta(6, 12), as alike as the rates of wards: mean 1/3, standard deviation 0.11."""
    model = dc.Categories([dc.Column("ward", WARDS, outside=WARDS[0]), dc.Column("fall", ("no", "yes"), outside="no")])
    mechanism = dc.GeometricHistogram(model, size=STRATA * EACH, epsilon="0.3")
    generator, bits = np.random.default_rng(20261115), dc.SeededBits(20261115)
    errors, covered = np.empty((REPEATS, 3)), np.empty(REPEATS)
    for repeat in range(REPEATS):
        rates = generator.beta(6, 12, size=STRATA)
        hits = generator.binomial(EACH, rates)
        release = dc.simulate(mechanism, np.column_stack([EACH - hits, hits]).ravel(), bits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dc.LittleInformationWarning)
            posterior = dc.infer(release)
        flat = [posterior.conditional("fall=yes", given=f"ward={ward}").mean for ward in WARDS]
        pooled = posterior.pooled("fall=yes", "ward")
        known = (hits + 1) / (EACH + 2)
        for column, estimate in enumerate((flat, list(pooled.mean.values()), known)):
            errors[repeat, column] = np.mean((np.asarray(estimate) - rates) ** 2)
        covered[repeat] = np.mean(
            [low <= rate <= high for (low, high), rate in zip(map(pooled.interval, pooled.keys()), rates, strict=True)]
        )
    flat_error, pooled_error, known_error = np.sqrt(errors.mean(axis=0))
    spread = covered.std(ddof=1) / np.sqrt(REPEATS)
    print(f"\nrmse flat {flat_error:.4f}, pooled {pooled_error:.4f} (ratio {pooled_error / flat_error:.3f}), ", end="")
    print(
        f"non-private flat {known_error:.4f}; 90 % intervals of pooled rates cover {covered.mean():.4f} +- {spread:.4f}"
    )
    assert pooled_error <= 0.75 * flat_error
    assert abs(covered.mean() - 0.9) <= 3.5 * spread + 0.005  # 4,000 draws give intervals an error of this size
