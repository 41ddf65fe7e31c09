"""What Zhang, Rubinstein and Dimitrakakis (2016) claim, item by item."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.claims.fourier_004 import FOURIER_CLAIMS
from discreet_papers.claims.sampling_004 import SAMPLING
from discreet_papers.evidence import laplace_004, sampling_004
from discreet_papers.papers import PAPER_004

_BOUNDS = "papers/tests/test_bounds_004.py::"
_RESULTS = "papers/tests/test_paper_004.py::"
_NETWORKS = "tests/contracts/test_network_mechanisms.py::"

CLAIMS = (
    Claim(
        "Example 1",
        "With independent Beta priors, each record adds one to alpha or beta of the row of its parents' state, for "
        "every variable.",
        laplace_004.example_1,
        (_RESULTS + "test_counting_is_the_bayes_update_of_example_1",),
        "The same, with any number of levels: Dirichlet rows in `Network`.",
    ),
    Claim(
        "Definition 1",
        "(epsilon, delta)-differential privacy between data sets of the same size that differ in at most one record.",
        laplace_004.privacy_of_updates,
        ("tests/verification/test_verify.py::test_small_mechanisms_are_enumerated_and_large_ones_proved",),
        "The same definition; every `Guarantee` names its neighbours.",
    ),
    Claim(
        "Algorithm 1",
        "Laplace noise of scale 2 |I| / epsilon on every count, then truncation to [0, n]. Truncation brings no count "
        "farther from the truth and costs no privacy.",
        laplace_004.algorithm_1,
        (_BOUNDS + "test_cutting_brings_no_count_farther_from_the_truth", "reproduction 004-algorithm-1"),
        "`LaplaceUpdates`, with integer noise and without truncation; `truncated_reading` cuts, on the reader's side. "
        "`CubeCounts` is quieter at the same epsilon.",
    ),
    Claim(
        "Lemma 1",
        "One replaced record moves the vector of updates by at most 2 |I| in the l1 norm.",
        laplace_004.lemma_1,
        (_NETWORKS + "test_a_replaced_record_moves_two_cells_of_each_family_at_most", "reproduction 004-lemma-1"),
        "The same; it is attained, and holds for any number of levels.",
    ),
    Claim(
        "Corollary 1",
        "Algorithm 1 is epsilon-differentially private.",
        laplace_004.corollary_1,
        (_NETWORKS + "test_no_output_reveals_more_than_the_promised_epsilon",),
        "The same, and the exact privacy loss for composition.",
    ),
    Claim(
        "Proposition 1",
        "With probability at least 1 - delta no count is moved by more than (2 |I| / epsilon) ln(2m / delta).",
        laplace_004.proposition_1,
        (_BOUNDS + "test_the_largest_noise_stays_within_proposition_1", "reproduction 004-proposition-1"),
        "The exact quantile, -b ln(1 - (1 - delta)^(1/2m)): {exact:.3f} instead of {bound:.3f} for 16 features, "
        "epsilon = 1, delta = 1/20.",
    ),
    Claim(
        "After proposition 1",
        "No update is perturbed beyond O(|I|^2 / epsilon), nor is it after truncation.",
        laplace_004.after_proposition_1,
        ("reproduction 004-proposition-1",),
        "The exact quantile. For 40 variables and delta = 1/20 the bound is {chain:.2f} |I|^2 in a chain and "
        "{complete:.2f} |I|^2 in a complete graph.",
    ),
    Claim(
        "Theorem 1",
        "The divergence exceeds its mean by sqrt(-(1/2) ln(delta) sum c) with probability at most delta.",
        laplace_004.theorem_1_deviation,
        (_BOUNDS + "test_the_printed_deviation_is_exceeded_too_often", "reproduction 004-theorem-1-deviation"),
        "As printed it is exceeded with probability {beyond:.3f} where 1/20 is stated. The sum of squares, with c the "
        "largest divergence at the corners of [0, n]^2: `deviation` in `bounds_004`.",
    ),
    Claim(
        "Theorem 1",
        "The mean divergence of a row is at most n ln((alpha + da)(beta + db)).",
        laplace_004.theorem_1_mean,
        (_BOUNDS + "test_the_first_bound_on_the_mean_holds_on_a_grid",),
        "The exact mean by quadrature. In {settings} settings even the largest divergence, at a corner, stays below "
        "this bound, whatever the noise; the printed proof rests on lemma A.3 and does not show it.",
    ),
    Claim(
        "Theorem 1",
        "For n >= 2 |I| / epsilon the mean is at most ln[(alpha + n + 1)(beta + n + 1)] (n/2) exp(-n epsilon / 2|I|).",
        laplace_004.theorem_1_refined,
        (_BOUNDS + "test_the_refined_bound_lies_below_the_mean", "reproduction 004-theorem-1-mean"),
        "The exact mean by quadrature, {mean:.4f} where {bound:.1e} is stated; it falls with the variance of the "
        "noise, not exponentially.",
    ),
    Claim(
        "After theorem 1",
        "Bounds are better for graphs with a smaller average number of parents.",
        laplace_004.after_theorem_1,
        (),
        "They depend on m, the sum of 2^parents: a graph of five variables with four arrows has m = {few}, one with "
        "five arrows {more}.",
    ),
    Claim(
        "Table 1, Laplace",
        "The loss is O(m n ln n)[1 - exp(-n epsilon / 2|I|)] and a deviation.",
        laplace_004.table_1,
        (_BOUNDS + "test_the_summary_grows_while_the_mean_falls", "reproduction 004-theorem-1-mean"),
        "The exact mean. The bracket grows with epsilon while the loss falls. For n >= 2 |I| / epsilon it lies "
        "between {least:.2f} and 1 and can be left out, O(m n ln n); without that condition it vanishes where the "
        "loss is largest.",
    ),
    Claim(
        "Figure 1, Laplace",
        "Accuracy of naive Bayes with noisy updates rises with epsilon towards that without privacy.",
        laplace_004.figure_1,
        (_RESULTS + "test_figure_1_has_the_shape_that_the_paper_describes", "reproduction 004-figure-1"),
        "On records of our own it rises from {low:.3f} to {high:.3f} between epsilon = 1 and 10; {plain:.3f} without "
        "privacy. The noise-aware reading and `CubeCounts` are far more accurate at the same epsilon.",
    ),
    Claim(
        "Figure 2",
        "A more concentrated prior makes the error of a regression worse; one draw from the truncated posterior is "
        "only slightly worse than regression without privacy, and more private the more concentrated the prior is.",
        sampling_004.figure_2,
        (_RESULTS + "test_figure_2_has_the_shape_that_the_paper_describes", "reproduction 004-figure-2"),
        "On made-up records the shape comes out. Where the bound cuts off the truth the draw is clearly worse, "
        "{draw:.4f} against {ridge:.4f} at b = 500. Its privacy is `loss_range`, not the printed expression. "
        "`BoxMoments` tells far more at the same epsilon.",
    ),
    Claim(
        "Appendix A.1",
        "For the union bound, z must be at most (2 |I| / epsilon) ln(2m / delta).",
        laplace_004.appendix_a1,
        (_BOUNDS + "test_the_union_bound_needs_z_to_be_at_least_the_stated_value",),
        "At least; the proposition itself is not affected.",
    ),
    Claim(
        "Lemma A.1",
        "McDiarmid's inequality: P(f - E f >= t) <= exp(-2 t^2 / sum c^2).",
        laplace_004.mcdiarmid,
        (_BOUNDS + "test_the_corrected_deviation_holds_for_the_library_mechanism",),
        "Used as stated, with squares.",
    ),
    Claim(
        "Lemma A.2",
        "(a + t) ln(a + t) - a ln a <= t ln(a + t) + t for t >= 0.",
        laplace_004.lemma_a2,
        (_BOUNDS + "test_lemma_a2_holds_on_a_grid",),
        "Not needed.",
    ),
    Claim(
        "Lemma A.3",
        "The divergence of a row is at most da ln(alpha + da) - Z1 ln(alpha + da - 1) and the same for beta.",
        laplace_004.lemma_a3,
        (_BOUNDS + "test_the_divergence_exceeds_the_bound_of_lemma_a3", "reproduction 004-lemma-a3"),
        "The closed form, `kullback_leibler`. The function in the proof is another one: {printed:.4f} where the "
        "divergence of Beta(12, 17) from Beta(14, 11) is {exact:.5f}.",
    ),
    Claim(
        "Lemma A.4",
        "Changing the noise of one row moves f by at most c, printed as three different expressions in the theorem, "
        "the lemma and its proof.",
        laplace_004.lemma_a4,
        (_BOUNDS + "test_all_three_printed_constants_bound_the_divergence",),
        "All three bound the divergence on our grid; the theorem's does not bound the function in the proof. The "
        "smallest constant is the largest divergence at a corner, {least:.2f} instead of {printed:.2f} for n = 50, "
        "counts (50, 0).",
    ),
    Claim(
        "Appendix A.2, mean of Z",
        "E[Z] = da + (b/2) exp(-da/b) + ((n - b)/2) exp((da - n)/b).",
        laplace_004.mean_of_z,
        (_BOUNDS + "test_the_mean_of_a_truncated_count_is_what_draws_show", "reproduction 004-mean-of-z"),
        "The last term is -(b/2) exp((da - n)/b): the atom at n was counted twice. {printed:.2f} instead of "
        "{exact:.4f} for a count of 45 among 50.",
    ),
    Claim(
        "Appendix C.1",
        "The predictive probability of naive Bayes is a product of alpha^x beta^(1-x) / (alpha + beta).",
        sampling_004.appendix_c1,
        (_RESULTS + "test_the_predictive_of_appendix_c1_is_an_integral",),
        "The same for true counts; under noise it is averaged over the posterior of the true counts.",
    ),
    Claim(
        "Appendix D, gradient",
        "The derivatives of a record's log-likelihood are (x_j w'w - y w_j)/(2 sigma^2) and (y - w'x)/(2 sigma^2), "
        "with a norm of at most n/(2 sigma^2) (1 + 2 ||w||_1 + d ||w||_2).",
        sampling_004.gradient,
        (_RESULTS + "test_the_printed_gradient_is_not_the_gradient", "reproduction 004-appendix-d-gradient"),
        "(y - x'w) w_j / sigma^2 and -(y - x'w) / sigma^2; the norm is at most (1 + B) sqrt(1 + B^2) / sigma^2 for one "
        "record and ||w|| <= B, and attains it: {norm:.1f} where {printed:.1f} is printed, B = 10.",
    ),
    Claim(
        "Lemma D.1",
        "A truncated Gaussian prior and the Gaussian likelihood are conjugate: the posterior is truncated Gaussian.",
        sampling_004.lemma_d1,
        (_RESULTS + "test_the_posterior_of_lemma_d1_is_bayes_rule", "reproduction 004-lemma-d1"),
        "The same law, `TruncatedGaussian`; `BallDraw` draws it exactly on a grid.",
    ),
    Claim(
        "Appendix D, privacy",
        "One draw is 2 L(w)-differentially private with L(w) = n/(2 sigma^2) (1 + 2 ||w||_1 + d ||w||_2).",
        sampling_004.privacy_of_regression,
        (
            _RESULTS + "test_the_printed_privacy_of_a_draw_is_too_small_and_too_large",
            "tests/draws/test_ball_draw.py::test_the_range_is_the_numerical_maximum",
            "reproduction 004-appendix-d-privacy",
        ),
        "4B/sigma^2 for B <= 1 and (1 + B)^2/sigma^2 for B >= 1, whatever n and the draw are: `loss_range`, the "
        "guarantee of `BallDraw`. The printed {printed:g} is exceeded: {loss:.1f}.",
    ),
)

_ALL = (*CLAIMS, *FOURIER_CLAIMS, *SAMPLING)

REGISTER = Register(PAPER_004, _ALL)
