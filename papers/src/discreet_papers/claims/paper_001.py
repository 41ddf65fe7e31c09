"""What the poster of Bun, Farina, Gaboardi and Liu claims, item by item."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.evidence import hellinger
from discreet_papers.evidence import paper_001 as evidence
from discreet_papers.paper_001 import PAPER_001

_HELLINGER = "tests/choices/test_hellinger.py::"
_SENSITIVITY = "tests/choices/test_hellinger_sensitivity.py::"
_LAPLACE = "papers/tests/test_published_laplace.py::"
_RESULTS = "papers/tests/test_paper_001.py::"

CLAIMS = (
    Claim(
        "Objectives, K-divergence",
        "Accuracy is measured by a metric over distributions: the Hellinger distance, and in brackets a K-divergence.",
        evidence.k_divergence,
        (
            "tests/choices/test_total_variation.py::"
            "test_one_record_changes_no_distance_by_more_than_neighbours_are_apart",
        ),
        "The Hellinger distance, and `TotalVariationChoice` as a second score: both are metrics and at most 1. Lin's "
        "K-divergence is at most ln 2 and no metric: one record changes it by {change:.4f} where neighbours are "
        "{apart:.4f} apart. Kullback-Leibler has no bound: {ten:.2f} for 10 records, {thousand:.2f} for 1,000.",
    ),
    Claim(
        "Beta-binomial model",
        "The posterior of beta(alpha, beta) after n records with so many ones is beta(alpha + ones, beta + n - ones).",
        evidence.beta_binomial,
        ("tests/tables/test_categories.py::test_the_posterior_of_known_counts_is_conjugate",),
        "`Categories`, with any number of levels.",
    ),
    Claim(
        "Baseline, noise",
        "Laplace noise of scale 1/epsilon on the number of ones is private.",
        evidence.baseline_noise,
        (_LAPLACE + "test_the_guarantee_is_what_the_scale_gives",),
        "`RoundedLaplace` reproduces it. `GeometricHistogram` is integer noise with the same epsilon and less error.",
    ),
    Claim(
        "Baseline, growth",
        "The noise is proportional to the l1 norm, which grows linearly with the dimension.",
        evidence.baseline_growth,
        (_LAPLACE + "test_the_guarantee_is_what_the_scale_gives",),
        "One record changes two counts by one each in any dimension, as the poster says itself: the scale is 2/epsilon "
        "for m >= 3. Only the number of noisy counts grows.",
    ),
    Claim(
        "Figure 1",
        "The sensitivity of H is largest at the edge and very low away from it.",
        evidence.figure_1,
        (
            _SENSITIVITY + "test_proposition_three_the_ends_are_the_most_sensitive_from_four_records_on",
            "reproduction 001-figure-1",
        ),
        "Closed forms; {middle:.6f} in the middle and {edge:.6f} at the edge for 100 records.",
    ),
    Claim(
        "Smooth against global",
        "Smooth sensitivity in place of the global one improves accuracy.",
        hellinger.smooth_beats_global,
        ("reproduction 003-figure-3",),
        "{smooth:.4f} against {global_:.4f} at 100 balanced records. The promise is weaker, (epsilon, delta) and not "
        "epsilon.",
    ),
    Claim(
        "Mechanism",
        "A posterior r is chosen with probability proportional to exp(-epsilon H(BI(x), r) / (2 S(x))).",
        hellinger.mechanism_is_defined,
        (_HELLINGER + "test_eight_records_to_all_digits",),
        "`PublishedHellingerSmooth`, drawn exactly with integers.",
    ),
    Claim(
        "Smooth sensitivity",
        "S(x) is the largest LS(x') exp(-gamma d(x, x')).",
        hellinger.smooth_is_largest,
        (
            _SENSITIVITY + "test_draining_finds_what_the_definitions_say",
            _SENSITIVITY + "test_smooth_sensitivity_of_balanced_data",
        ),
        "Found by draining cells, in milliseconds for a thousand cells and a million records.",
    ),
    Claim(
        "Local sensitivity",
        "LS(x') is the largest |H(BI(x), r) - H(BI(x'), r)| over x'' next to x and x', and over r.",
        evidence.local_sensitivity_as_printed,
        (_SENSITIVITY + "test_local_and_smooth_sensitivities_of_eight_records",),
        "The names of the data sets are mixed up in print: it is x' and its neighbours x'' that are compared.",
    ),
    Claim(
        "Gamma and privacy",
        "gamma = ln(1 - epsilon / (2 ln(delta / (2 (n + 1))))) ensures (epsilon, delta)-differential privacy.",
        hellinger.smooth_is_private,
        (
            _HELLINGER + "test_what_is_proved_about_smooth_sensitivity_holds_by_enumeration",
            _HELLINGER + "test_published_smooth_constants_are_below_three_halves",
        ),
        "With |R| for n + 1 we prove (1.5 epsilon, delta). "
        "`PublishedHellingerSmooth` states the exact loss where it can be enumerated, {loss_400:.4f} for n = 400, and "
        "`HellingerSmoothProved` has constants that make (epsilon, delta) a theorem.",
    ),
    Claim(
        "Sensitivity of a histogram",
        "Noise with sensitivity 1 is enough in two dimensions and 2 in more, because neighbours differ in two counts.",
        evidence.histogram_sensitivity,
        (_LAPLACE + "test_the_guarantee_is_what_the_scale_gives",),
        "The same; `GeometricHistogram` uses the shape of that change and is quieter.",
    ),
    Claim(
        "Figure 2(a)",
        "Average accuracy in two dimensions, 100 to 500 records.",
        evidence.no_sentence_about_figure_2,
        (_RESULTS + "test_the_lines_of_figure_2_cross_where_the_register_says", "reproduction 001-figure-2a"),
        "Exact means: the mechanism overtakes noise with sensitivity 2 from n = {cross_2} on.",
    ),
    Claim(
        "Figure 2(b)",
        "Average accuracy in three dimensions, 100 to 500 records.",
        evidence.no_sentence_about_figure_2,
        (_RESULTS + "test_the_lines_of_figure_2_cross_where_the_register_says", "reproduction 001-figure-2b"),
        "Exact means: the mechanism overtakes noise with sensitivity 3 from n = {cross_3} on.",
    ),
    Claim(
        "Figure 2(c)",
        "Average accuracy in four dimensions, 100 to 600 records.",
        evidence.no_sentence_about_figure_2,
        (_RESULTS + "test_four_dimensions_have_not_crossed_at_six_hundred", "reproduction 001-figure-2c"),
        "Exact means: {mechanism_600:.4f} against {laplace_600:.4f} at n = 600; they cross between 1,000 and 1,020.",
    ),
    Claim(
        "Figure 3(a)",
        "Quartiles of the three mechanisms under different priors, 100 records.",
        evidence.priors_of_figure_3a,
        ("reproduction 001-figure-3a",),
        "Exact quartiles for beta(a, a): the mechanism comes level with Laplace(2/epsilon) at a = 100 "
        "({exponential:.4f} and {laplace:.4f}).",
    ),
    Claim(
        "Figure 3(b)",
        "Probabilities against the distance, two dimensions.",
        evidence.records_of_figure_3,
        ("reproduction 001-figure-3b",),
        "Exact probabilities for n = 600.",
    ),
    Claim(
        "Figure 3(c)",
        "Probabilities against the distance, three dimensions.",
        evidence.records_of_figure_3,
        ("reproduction 001-figure-3c",),
        "Exact probabilities for n = 600.",
    ),
    Claim(
        "Conclusion, asymptotics",
        "The mechanism outperforms Laplace noise whose sensitivity is proportional to the dimension as n grows.",
        evidence.asymptotics,
        (_RESULTS + "test_the_lines_of_figure_2_cross_where_the_register_says", "reproduction 001-figure-2c"),
        "Such noise costs 2 epsilon/m only, {cost:g} in four dimensions, so this is a comparison with noise that is "
        "larger than it has to be; at the right scale the mechanism loses {never}.",
    ),
    Claim(
        "Conclusion, 400 records",
        "The mechanism outperforms it when there are more than 400 records.",
        evidence.four_hundred,
        (
            _RESULTS + "test_the_lines_of_figure_2_cross_where_the_register_says",
            _RESULTS + "test_four_dimensions_have_not_crossed_at_six_hundred",
        ),
        "From {cross_2} records in two dimensions, {cross_3} in three, and between 1,000 and 1,020 in four.",
    ),
)

REGISTER = Register(PAPER_001, CLAIMS)
