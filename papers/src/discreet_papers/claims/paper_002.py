"""What Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) claim, item by item."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.evidence import paper_002 as evidence
from discreet_papers.evidence import paper_002_examples as examples
from discreet_papers.paper_002 import PAPER_002

_HERE = "papers/tests/test_paper_002.py::"
_LIPSCHITZ = "tests/draws/test_lipschitz.py::"
_DISTINGUISHING = "papers/tests/test_distinguishing.py::"
_METRIC = "tests/privacy/test_pseudo_metric.py::"
_SESSION = "tests/publishing/test_session.py::"

CLAIMS = (
    Claim(
        "Equations (1)-(3)",
        "The posterior is prior times likelihood, divided by the marginal density of the data.",
        evidence.bayes_rule,
        ("tests/programs/test_bounded_family.py::test_the_poisson_posterior_is_prior_times_likelihood",),
        "The same, in closed form for each family.",
    ),
    Claim(
        "Definition 1",
        "(epsilon, delta)-differential privacy of a conditional distribution, between data sets of the same size that "
        "differ in at most one record.",
        evidence.privacy,
        ("tests/verification/test_verify.py::test_small_mechanisms_are_enumerated_and_large_ones_proved",),
        "The same definition; a mechanism is a conditional distribution here too.",
    ),
    Claim(
        "Definition 2",
        "Privacy under a pseudo-metric: epsilon rho and delta rho for data sets at distance rho.",
        evidence.metric_privacy,
        (_METRIC + "test_geometric_noise_keeps_its_promise_at_every_distance", "reproduction 002-definition-2"),
        "`MetricGuarantee`, with any distance that is named in words.",
    ),
    Claim(
        "Remark 1",
        "With the number of records that differ as distance, definition 2 is analogous to definition 1, and "
        "equivalent to it if epsilon or delta is zero.",
        evidence.remark_1,
        (_METRIC + "test_remark_one_fails_when_both_are_above_zero", "reproduction 002-definition-2"),
        "The same; with both above zero they differ, as the footnote says, and `MetricGuarantee.of_records` refuses.",
    ),
    Claim(
        "Assumption 1",
        "The log likelihood is Lipschitz in the data for all parameters; for coins with any theta it is not.",
        evidence.assumption_1,
        (_HERE + "test_a_coin_without_bounds_has_no_lipschitz_constant",),
        "`Lipschitz`; a least probability makes coins and dice satisfy it.",
    ),
    Claim(
        "Assumption 2",
        "A relaxation: for every L >= 0 the prior gives at least 1 - e^(-c L) to the parameters with constant L.",
        evidence.assumption_2,
        (_HERE + "test_assumption_1_does_not_imply_assumption_2", "reproduction 002-lemma-4"),
        "`StochasticLipschitz`. As stated it does not follow from assumption 1: a family whose constants are all 1/2 "
        "gives no mass to L below 1/2. It follows if (6) is asked from some L on.",
    ),
    Claim(
        "Equation (7)",
        "The absolute log ratio is a metric on the non-negative numbers.",
        evidence.log_ratio,
        (_HERE + "test_the_log_ratio_is_a_metric_with_infinite_values",),
        "The same; between zero and a positive number it is infinite.",
    ),
    Claim(
        "Lemma 1",
        "n independent records have the constants n L and c / n under the sum of the distances; k L and c / k if k "
        "records differ.",
        evidence.lemma_1,
        (_LIPSCHITZ + "test_products_keep_their_constant", "reproduction 002-lemma-1"),
        "L and c unchanged, which is more: the sum of the distances grows with the records already.",
    ),
    Claim(
        "Equation (8)",
        "The Kullback-Leibler divergence, the mean of ln dP/dQ under P.",
        evidence.divergence,
        (_DISTINGUISHING + "test_divergence_is_that_of_the_two_betas",),
        "`kullback_leibler`, in closed form.",
    ),
    Claim(
        "Theorem 1(i)",
        "Under assumption 1 the posteriors of x and y diverge by at most 2 L rho(x, y).",
        evidence.theorem_1i,
        (
            _LIPSCHITZ + "test_theorems_one_and_two_part_one_hold_on_a_truncated_coin",
            "reproduction 002-theorem-1-lipschitz",
        ),
        "`Lipschitz.divergence`: with R = 2 L rho at most R^2 / 8, and the largest value exactly.",
    ),
    Claim(
        "Theorem 1(ii)",
        "Under assumption 2 they diverge by at most kappa rho(x, y) / c.",
        evidence.theorem_1ii,
        (_LIPSCHITZ + "test_theorem_one_part_two_is_false", "reproduction 002-theorem-1-stochastic"),
        "Ten waiting times of 0, against one of 100, theta ~ Exp(1): {divergence:.2f} where {stated:.2f} is stated. "
        "The library computes the exact curve of a draw instead.",
    ),
    Claim(
        "Theorem 2(i)",
        "Under assumption 1 the posterior is (2 L, 0)-private under rho.",
        evidence.theorem_2i,
        (
            _LIPSCHITZ + "test_theorems_one_and_two_part_one_hold_on_a_truncated_coin",
            "reproduction 002-theorem-2-lipschitz",
        ),
        "The range of the log ratio of two likelihoods, at most 2 L: `PosteriorSampling.truncated`.",
    ),
    Claim(
        "Theorem 2(ii)",
        "Under assumption 2 it is (0, sqrt(kappa / (2 c)))-private under sqrt(rho).",
        evidence.theorem_2ii,
        (_LIPSCHITZ + "test_theorem_two_part_two_is_false", "reproduction 002-theorem-2-stochastic"),
        "A thousand waiting times of 0, against one of 0.1: total variation {variation:.6f} where {stated:.6f} is "
        "stated. The exact delta of one draw: `certificates.posterior_draw`.",
    ),
    Claim(
        "Algorithm 1",
        "Answer every query from a fresh draw of the posterior, without end.",
        evidence.algorithm_1,
        (_SESSION + "test_every_draw_is_charged_and_the_last_one_is_refused", "reproduction 002-algorithm-1"),
        "`QuerySession`: the same loop with a ledger that is charged before each draw and ends it; 100 answers cost "
        "{hundred:.1f} where one costs {one:.2f}.",
    ),
    Claim(
        "Section 4.2, all queries",
        "What is private for the drawn parameter is private for every function of it.",
        evidence.all_queries,
        (_SESSION + "test_answers_about_a_draw_are_free_and_agree_with_each_other",),
        "The same: any number of questions about one draw cost one draw.",
    ),
    Claim(
        "Example 1",
        "Conditional expectations E(y | z) are queries.",
        evidence.conditional_expectation,
        (_SESSION + "test_answers_about_a_draw_are_free_and_agree_with_each_other",),
        "`ConditionalExpectation`, beside four other kinds of declared questions.",
    ),
    Claim(
        "Lemma 2",
        "On at most log2(1 / sqrt(delta)) parts the empirical law of n draws is within sqrt(3 ln(1/delta) / n) of the "
        "true one, with probability 1 - delta.",
        examples.empirical_law,
        (_DISTINGUISHING + "test_lemma_two_holds_for_two_parts", "reproduction 002-lemma-2"),
        "Not needed: the divergence bounds every test, whatever its partition.",
    ),
    Claim(
        "Section 4.3, lower bounds",
        "Le Cam's method gives lower bounds of a matching rate; the details are in a technical report.",
        examples.lower_bounds,
        (),
        "A lower bound on the number of draws, with its proof: `draws_needed`.",
    ),
    Claim(
        "Theorem 3, equation (13)",
        "After n draws data at distance 3 ln(1/delta) / (4 L n) can be told apart with probability 1 - delta.",
        examples.equation_13,
        (_DISTINGUISHING + "test_theorem_three_runs_the_wrong_way", "reproduction 002-theorem-3"),
        "At a distance far above {enough:.4f} the best test is right with probability {right:.3f}. The inequalities "
        "give a condition that the paper's method needs, not one that is enough. What holds is a lower bound on the "
        "number of draws: `draws_needed`.",
    ),
    Claim(
        "Theorem 3, equation (14)",
        "The same under assumption 2 at distance 3 c ln(1/delta) / (2 kappa n).",
        examples.equation_14,
        (_HERE + "test_equation_14_runs_the_wrong_way_too",),
        "The same lower bound, which needs no assumption on the prior.",
    ),
    Claim(
        "Section 4.3, effort",
        "Smoother likelihoods, or a prior that is more concentrated on them, increase the adversary's effort.",
        examples.effort,
        (_HERE + "test_smoother_likelihoods_need_more_draws",),
        "Shown for smoother likelihoods by the lower bound, with the divergence at most (2 L rho)^2 / 8; for more "
        "concentrated priors it is read off the exact divergence of each family.",
    ),
    Claim(
        "Section 5, exponential families",
        "With a constant base measure and one statistic T the condition is |T(x) - T(y)| / rho(x, y) <= L / eta.",
        examples.exponential_families,
        (_HERE + "test_the_natural_parameter_enters_by_its_size",),
        "L / |eta|: the natural parameter of a coin, its logit, may be negative.",
    ),
    Claim(
        "Lemma 3",
        "Exponential waiting times with theta ~ Exp(lambda) satisfy assumption 2 with c = lambda.",
        examples.exponential,
        (_HERE + "test_lemma_3_holds_with_equality", "reproduction 002-lemma-3"),
        "`exponential_rate`; it is an equality.",
    ),
    Claim(
        "Lemma 4",
        "The Laplace law with a prior Laplace(mu, s, lambda) satisfies assumption 2 with c = lambda.",
        examples.laplace,
        (_HERE + "test_lemma_4_holds_in_one_reading", "reproduction 002-lemma-4"),
        "The prior is not defined. Unknown centre, scale s: assumption 1 with L = 1/s (`laplace_location`). Unknown "
        "inverse scale ~ Exp(lambda): assumption 2 with c = lambda (`laplace_rate`).",
    ),
    Claim(
        "Lemma 5",
        "The Binomial law with a prior Beta(a, a), a > 1, satisfies assumption 2 with c = O(a).",
        examples.binomial,
        (
            _LIPSCHITZ + "test_the_bernoulli_constant_grows_like_a_square_root",
            _HERE + "test_lemma_5_fails_for_binomial_numbers",
            "reproduction 002-lemma-5",
        ),
        "For yes/no records, with c = Gamma(a + 1/2) / (sqrt(pi) Gamma(a)), which grows like sqrt(a / pi), "
        "{c_100:.3f} at a = 100: `bernoulli_rate`. For numbers of successes in two or more trials the assumption "
        "fails.",
    ),
    Claim(
        "Lemma 6",
        "The normal law with variance ~ Exp(lambda) satisfies assumption 2 with c = lambda.",
        examples.normal,
        (
            _LIPSCHITZ + "test_lemma_six_fails_for_a_prior_on_the_variance_and_holds_for_one_on_the_precision",
            "reproduction 002-lemma-6",
        ),
        "For lambda = 1 and L = 10 the mass is {mass:.5f} where {needed:.5f} is needed. With the precision ~ "
        "Exp(lambda) and |mu| <= 1 it {precision}, with c = 2 lambda: `normal_rate`.",
    ),
    Claim(
        "Lemma 7",
        "A discrete network satisfies assumption 1 with L = ln(1/epsilon), epsilon the smallest probability of a "
        "sub-event, for each variable that differs.",
        examples.networks,
        (_LIPSCHITZ + "test_lemma_seven_fails_when_a_parent_changes", "reproduction 002-lemma-7"),
        "True for the smallest probability of a whole record; for the smallest entry of a table it fails, {slope:.3f} "
        "against {entry:.3f}. `network_range` gives what one record can do.",
    ),
    Claim(
        "Section 6, prior",
        "A larger c improves privacy and concentrates the prior so that less is learnt.",
        evidence.prior_concentration,
        (),
        "For coins delta at epsilon = 1 falls from {first:.3g} to {last:.3g} between Beta(1, 1) and Beta(100, 100), "
        "and 100 records keep a weight of {weight:.2f}. A plan finds the least concentrated prior for a stated pair.",
    ),
    Claim(
        "Section 6, guide",
        "The bound on the effort of an attacker guides how much access can be granted.",
        evidence.guide_to_access,
        ("reproduction 002-theorem-3",),
        "The bound says when an attacker may succeed, not when none does; at least {needed:,} draws are needed where "
        "it speaks of 100. `draws_needed` is the guide.",
    ),
    Claim(
        "Appendix A, lemma 1",
        "The distance of two sequences is n times the sum of the distances of their records.",
        examples.sequences,
        (_HERE + "test_the_distance_of_sequences_is_at_most_the_sum",),
        "At most the sum, without the factor n.",
    ),
    Claim(
        "Equation (15)",
        "The divergence of the posteriors is the mean of their log ratio under the prior.",
        evidence.mean_under_prior,
        (_HERE + "test_the_mean_under_the_prior_is_no_divergence", "reproduction 002-theorem-1-stochastic"),
        "Under the posterior: {posterior:.2f} and not {prior:.2f} in the example of theorem 1(ii). Under assumption 1 "
        "the bound that follows stays true.",
    ),
    Claim(
        "Equation (16)",
        "Under assumption 1 the marginal densities of x and y have a ratio of at most e^(L rho).",
        evidence.marginal_densities,
        (_HERE + "test_marginal_densities_are_close_under_assumption_1",),
        "The same.",
    ),
    Claim(
        "Equation (17)",
        "Summed over pieces of the parameters, both terms are at most 2 rho a / (1 - e^(-c a))^2.",
        examples.pieces,
        (_HERE + "test_the_sum_over_pieces_bounds_neither_mean", "reproduction 002-theorem-1-stochastic"),
        "Not used. The masses of the pieces are those of the prior, and the ratio of the marginal densities is not "
        "bounded by the constant of a single piece.",
    ),
    Claim(
        "Appendix A, constants",
        "omega = 1.25643 solves e^omega = 2 omega + 1, and kappa = 2 omega / (1 - e^-omega)^2 = 4.91081 is the least "
        "bound.",
        examples.constants,
        (_HERE + "test_omega_and_kappa_have_fourteen_digits", "reproduction 002-constants"),
        "omega = {omega} and kappa = {kappa}, kept for comparison.",
    ),
    Claim(
        "Equation (18)",
        "Pinsker's inequality: the divergence is at least half the squared l1 distance.",
        examples.pinsker,
        (_HERE + "test_pinsker_and_data_processing_hold",),
        "Used where a divergence bounds a test.",
    ),
    Claim(
        "Equation (19)",
        "With at most log2(1 / sqrt(delta)) parts, the inequality of Weissman and others gives lemma 2.",
        examples.last_step,
        (_HERE + "test_the_last_step_of_lemma_2",),
        "Not needed.",
    ),
    Claim(
        "Equation (20)",
        "On a coarser algebra the l1 distance of two laws can only shrink.",
        examples.data_processing,
        (_HERE + "test_pinsker_and_data_processing_hold",),
        "The same argument, for divergences and for privacy curves.",
    ),
    Claim(
        "Equation (21)",
        "2 L rho is at least the divergence and half the squared l1 distance, from which theorem 3 is concluded.",
        examples.equation_21,
        (_DISTINGUISHING + "test_theorem_three_runs_the_wrong_way",),
        "The inequalities hold (without the epsilon in the middle, which is not defined). They bound from above how "
        "different the posteriors are, so they cannot show that an adversary succeeds.",
    ),
)

REGISTER = Register(PAPER_002, CLAIMS)
