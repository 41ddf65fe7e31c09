"""What the Notes of DP - Bayesian Inference claim, item by item."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.evidence import figures_003 as figures
from discreet_papers.evidence import hellinger
from discreet_papers.evidence import paper_003 as evidence
from discreet_papers.paper_003 import PAPER_003

_HELLINGER = "tests/choices/test_hellinger.py::"
_SENSITIVITY = "tests/choices/test_hellinger_sensitivity.py::"
_LAPLACE = "papers/tests/test_published_laplace.py::"
_CONTRACT = "tests/contracts/test_hellinger_mechanisms.py::"
_RESULTS = "papers/tests/test_paper_003.py::"

CLAIMS = (
    Claim(
        "Section 1",
        "A Dirichlet prior and counts give a Dirichlet posterior with the counts added.",
        hellinger.dirichlet_is_conjugate,
        ("tests/tables/test_categories.py::test_the_posterior_of_known_counts_is_conjugate",),
        "The same. In print the density has exponents alpha where alpha - 1 is meant.",
    ),
    Claim(
        "Section 2.1",
        "The exponential mechanism with global sensitivity is epsilon-differentially private.",
        hellinger.global_is_private,
        (_CONTRACT + "test_no_output_reveals_more_than_is_promised",),
        "`PublishedHellingerGlobal`, with the exact loss.",
    ),
    Claim(
        "Section 2.2",
        "With local sensitivity it is not differentially private.",
        hellinger.local_is_not_private,
        (_HELLINGER + "test_the_local_sensitivity_keeps_no_promise", "reproduction 000-local-sensitivity"),
        "`HellingerLocal` never publishes. Under beta(1, 1) the loss stays below epsilon; with three cells and larger "
        "priors it exceeds it, {die:.2f} epsilon for DL(20, 20, 20) and 30 records.",
    ),
    Claim(
        "Definition 2.1",
        "A candidate has probability proportional to exp(-epsilon H / (2 S)), S the smooth sensitivity, and there are "
        "n + 1 candidates.",
        evidence.definition,
        (_HELLINGER + "test_eight_records_to_all_digits",),
        "`PublishedHellingerSmooth`. There are C(n + m - 1, m - 1) candidates, n + 1 for two cells only, and their "
        "parameters "
        "are whole numbers only if the prior's are.",
    ),
    Claim(
        "Section 2.3.1, one half",
        "The probability of r is half of that of its distance, because distances come in pairs.",
        evidence.one_half,
        (_RESULTS + "test_distances_do_not_come_in_pairs_at_unbalanced_data",),
        "Each candidate is compared by itself. It holds for balanced data, two cells and r other than BI(x) only: at "
        "(2, 6) no two distances are equal.",
    ),
    Claim(
        "Lemma 2.1",
        "Sliding: P(u = s) <= exp(epsilon/2) P(u = s + D) + delta/2 for a shift D of at least -S.",
        evidence.shifted,
        (_RESULTS + "test_a_shifted_score_is_not_attained",),
        "There are finitely many scores, and a shifted one is in general no score at all, so its probability is 0.",
    ),
    Claim(
        "Lemma 2.2",
        "Dilation: P(u = c) <= exp(epsilon/2) P(u = e^lambda c) + delta/2 for |lambda| up to gamma.",
        evidence.shifted,
        (_RESULTS + "test_a_shifted_score_is_not_attained",),
        "The same objection; also, what holds for each score up to delta/2 cannot be summed over many. What is proved "
        "instead bounds the tail: P(c H > t) <= |R| e^(-t).",
    ),
    Claim(
        "Lemma 2.3",
        "The mechanism is (epsilon, delta)-differentially private.",
        hellinger.smooth_is_private,
        (_HELLINGER + "test_what_is_proved_about_smooth_sensitivity_holds_by_enumeration",),
        "We prove (1.5 epsilon, delta) with |R| for n + 1. `HellingerSmoothProved` has constants that make it a "
        "theorem.",
    ),
    Claim(
        "Lemma 2.3, proof",
        "Sliding, dilation and a bound on the ratio of normalisers give the lemma.",
        evidence.lemma_2_3_argument,
        (_RESULTS + "test_the_argument_of_lemma_2_3_would_prove_too_much",),
        "The argument uses nothing about H, and for another score it fails: delta(1) = {found:.4e} where {stated:g} is "
        "stated. It never bounds the ratio of the normalisers.",
    ),
    Claim(
        "Section 3.1",
        "The floor of Laplace noise of scale 2/epsilon has |u| = k with probability e^(-k epsilon/2) - "
        "e^(-(k+1) epsilon/2).",
        evidence.floor,
        (
            _LAPLACE + "test_the_laplace_column_of_table_one",
            _LAPLACE + "test_cutting_noise_towards_zero_costs_log_two_however_small_epsilon_is",
        ),
        "That is the law of noise cut towards zero, `TruncatedLaplace`; the floor has P(0) = {floor:.4f} instead of "
        "{cut:.4f} at epsilon = 0.8, `FlooredLaplace`. Cutting the noise is no post-processing: at a nominal 1/100 it "
        "costs {costs:.3f}.",
    ),
    Claim(
        "Section 3.2",
        "With global sensitivity P(H >= c) <= |R| exp(-epsilon c / (2 GS)).",
        evidence.tail_global,
        (_RESULTS + "test_the_tail_bounds_hold_with_the_half_in_the_exponent",),
        "The exact tail, summed over all candidates.",
    ),
    Claim(
        "Section 3.3, first bound",
        "P(H >= c) is the sum of exp(-epsilon H / S) / NL over candidates that far.",
        evidence.first_bound,
        (_RESULTS + "test_the_tail_bounds_hold_with_the_half_in_the_exponent",),
        "With exp(-epsilon H / (2 S)) it is exact. As printed it is {printed:.1e} instead of {exact:.5f} for n = 400, "
        "c = 0.5, epsilon = 1.",
    ),
    Claim(
        "Section 3.3, second bound",
        "P(H >= c) <= |R| exp(-epsilon c / S) / NL.",
        evidence.second_bound,
        (_RESULTS + "test_the_tail_bounds_hold_with_the_half_in_the_exponent",),
        "True with exp(-epsilon c / (2 S)): as printed {printed:.2g}, where the tail is {exact:.5f} and the bound "
        "with the half {half:.3f}.",
    ),
    Claim(
        "Section 3.3, third bound",
        "NL can be replaced by some N(n) that depends on the size only; its formula is left open.",
        evidence.third_bound,
        (
            _HELLINGER + "test_no_normaliser_is_below_its_bound",
            _SENSITIVITY + "test_the_normaliser_bound_has_all_digits",
        ),
        "`normaliser_bound` has a formula with a proof; it is {at_100:.4f} for n = 100, epsilon = 1, delta = 1e-08.",
    ),
    Claim(
        "Section 3.4.1, steps",
        "Candidates of as many steps have the same Hellinger distance.",
        evidence.steps,
        (_RESULTS + "test_two_steps_have_three_distances", "reproduction 003-table-2"),
        "Distances are computed one by one. Two steps from DL(21, 21, 21) there are {number}: {distances}. The six "
        "neighbours listed for DL(5, 5, 5) are not one step away: their totals differ.",
    ),
    Claim(
        "Section 3.4.1, exponential mechanism",
        "The probability of a distance has exp(-epsilon c / S) above and exp(-epsilon H / (2 S)) below the line.",
        evidence.two_exponents,
        (_HELLINGER + "test_smooth_sensitivity_without_the_half_is_not_private_either",),
        "They add up to {total:.3f}, not to one. Without the half the mechanism is not private: {loss:.4f} for a "
        "nominal 1 at n = 8.",
    ),
    Claim(
        "Section 3.4.1, good answers",
        "The probability of answers within three steps falls with the data, at the speed of n^(m - 1).",
        evidence.good_answers,
        ("reproduction 003-figure-6",),
        "In two dimensions it falls and rises again: {at_20:.3f}, {at_40:.3f}, {at_80:.3f} and {at_500:.3f} for 20, "
        "40, 80 and 500 balanced records, as the smooth sensitivity falls with the data too.",
    ),
    Claim(
        "Section 3.4.1, Laplace mechanism",
        "The probability of good answers hardly depends on the number of candidates.",
        evidence.laplace_answers,
        (_LAPLACE + "test_noise_is_that_of_a_continuous_laplace_number",),
        "It does not depend on it at all before cutting to [0, n]; the bound is missing in print.",
    ),
    Claim(
        "Table 1",
        "Around beta(5, 5) the exponential mechanism is clearly better than the Laplace mechanism.",
        evidence.table_1,
        (_RESULTS + "test_every_printed_digit_of_table_1", "reproduction 003-table-1"),
        "Every digit is reproduced, with exponent epsilon/LS and noise cut towards zero, which costs {costs:.4f} for a "
        "nominal 0.8. As defined the mechanism has {defined:.4f} at the truth; `GeometricHistogram`, really 0.8, has "
        "{geometric:.4f}.",
    ),
    Claim(
        "Table 2",
        "Around DL(21, 21, 21) the Laplace mechanism is significantly better.",
        evidence.table_2,
        (_RESULTS + "test_every_printed_digit_of_table_2", "reproduction 003-table-2"),
        "Every digit is reproduced, with the same departures. At one step the exponential mechanism has the larger "
        "chance, {one_e:.4f} against {one_l:.4f}; by its mean distance it loses, {exponential:.4f} against "
        "{laplace:.4f}. The row of two steps holds three of twelve candidates.",
    ),
    Claim(
        "Figure 1",
        "The local sensitivity falls as the parameters get closer and larger.",
        evidence.parameters_and_sensitivity,
        (
            _SENSITIVITY + "test_proposition_three_the_ends_are_the_most_sensitive_from_four_records_on",
            "reproduction 003-figure-1",
        ),
        "A closed form, for any prior.",
    ),
    Claim(
        "Section 3.4.2",
        "Accuracy improves when the sensitivity goes larger.",
        evidence.sensitivity_and_accuracy,
        (_RESULTS + "test_accuracy_improves_as_the_sensitivity_falls",),
        "Smaller, as the sentence after it has it.",
    ),
    Claim(
        "Section 3.4.3",
        "The mechanism is more accurate the more uniform the data are.",
        evidence.variance_and_accuracy,
        ("reproduction 003-figure-8",),
        "Because the smooth sensitivity falls towards balanced data.",
    ),
    Claim(
        "Figure 2",
        "The largest change of the score is at r = BI(x), so the search over r is not needed.",
        evidence.search_over_r,
        (_SENSITIVITY + "test_draining_finds_what_the_definitions_say", "reproduction 003-figure-2"),
        "The same; it is attained at the neighbour's posterior as well.",
    ),
    Claim(
        "Figure 3",
        "Under beta(7, 4) smooth sensitivity is slightly better than Laplace noise and much better than global "
        "sensitivity.",
        figures.figure_3,
        (_RESULTS + "test_figure_3_needs_the_missing_half", "reproduction 003-figure-3"),
        "At balanced data it is {smooth:.4f} against {global_:.4f}, and against {laplace:.4f} for Laplace noise. With "
        "the exponent epsilon/S it would be {without:.4f}, against {right:.4f} with scale 1/epsilon.",
    ),
    Claim(
        "Figure 4, captions",
        "gamma is 0.0699407108115 and 0.0677791100173, the global sensitivity 0.239992747797.",
        figures.captions_of_figure_4,
        (
            _RESULTS + "test_the_captions_of_figure_4",
            _SENSITIVITY + "test_the_off_lattice_figure_of_the_notes_is_understood",
        ),
        "gamma comes out with n for n + 1. The true global sensitivity is {true:.12f}; the printed one needs a "
        "parameter below the prior.",
    ),
    Claim(
        "Figure 4, accuracy",
        "Local sensitivities 0.08 and 0.0945, smooth ones 0.09 and 0.096, and the distances plotted for them.",
        figures.figure_4,
        ("reproduction 003-figure-4",),
        "At balanced data both sensitivities are equal, {at_100:.4f} and {at_120:.4f}.",
    ),
    Claim(
        "Figure 5",
        "By the l1 norm the results are very similar.",
        figures.figure_5,
        (_RESULTS + "test_both_measures_of_figure_5_rank_alike", "reproduction 003-figure-5"),
        "At balanced data the ranking is the same, with {first} first.",
    ),
    Claim(
        "Figure 5, caption",
        "gamma for 150 records is 0.0677791100173.",
        figures.caption_of_figure_5,
        ("reproduction 003-figure-5",),
        "It is that of 120 records; for 150 it is {true:.12f}, with n for n + 1.",
    ),
    Claim(
        "Section 4.2, conclusions",
        "Smooth is about as good as local sensitivity, both are better than global, and slightly better than Laplace.",
        figures.conclusions,
        (_RESULTS + "test_both_measures_of_figure_5_rank_alike", "reproduction 003-figure-4"),
        "At 120 balanced records the first two hold and the last does not: {smooth:.4f} against {laplace:.4f}.",
    ),
    Claim(
        "Section 4.3.1",
        "The mechanism becomes less accurate as the data grow.",
        figures.accuracy_and_size,
        ("reproduction 003-figure-6",),
        "The mean distance rises and falls again: {at_2:.3f}, {at_30:.3f} and {at_500:.3f} for 2, 30 and 500 balanced "
        "records in two dimensions.",
    ),
    Claim(
        "Figure 6(a)",
        "In two dimensions the exponential mechanism wins below 12 records and loses from 12 on.",
        figures.figure_6a,
        (_RESULTS + "test_figure_6_turns_at_the_printed_sizes", "reproduction 003-figure-6"),
        "Against noise of scale 2/epsilon it wins again from {again} records on. One count needs 1/epsilon, and with "
        "that it wins up to {small} records only.",
    ),
    Claim(
        "Figure 6(b)",
        "In three dimensions it wins below 15 records and loses from 15 on.",
        figures.figure_6b,
        (_RESULTS + "test_figure_6_turns_at_the_printed_sizes", "reproduction 003-figure-6"),
        "Searched up to {most} records; `GeometricHistogram` is the default.",
    ),
    Claim(
        "Figure 7",
        "Dimension hardly influences which mechanism wins.",
        figures.figure_7,
        (_RESULTS + "test_the_dimension_hardly_moves_the_turn", "reproduction 003-figure-7"),
        "It wins up to {turns} records in two, three and four dimensions.",
    ),
    Claim(
        "Figure 8",
        "The exponential mechanism wins at balanced data, the Laplace mechanism at unbalanced data.",
        figures.figure_8,
        (_RESULTS + "test_only_balanced_data_of_ten_records_win", "reproduction 003-figure-8"),
        "With ten records it wins with {won} ones; it does not carry over to 12 records and more.",
    ),
    Claim(
        "Figure 9",
        "With data [5, 5, 5] the exponential mechanism loses at prior 1 and wins as the prior grows.",
        figures.figure_9,
        (_RESULTS + "test_figure_9_ties_at_prior_four", "reproduction 003-figure-9"),
        "{one_e:.3f} against {one_l:.3f} at prior 1, {four_e:.4f} against {four_l:.4f} at 4.",
    ),
    Claim(
        "Figure 10",
        "A growing prior improves the exponential mechanism continuously, and the Laplace mechanism not.",
        figures.figure_10,
        (_RESULTS + "test_a_growing_prior_helps_both", "reproduction 003-figure-10"),
        "With five ones among ten it helps both, by {exponential:.0%} and {laplace:.0%} from prior 1 to 16.",
    ),
    Claim(
        "Figure 11",
        "The concrete epsilon is below the stated 0.8.",
        figures.figure_11,
        (_HELLINGER + "test_the_exact_epsilons_of_figure_11", "reproduction 003-figure-11"),
        "For all data sets: {at_90:.12f} for n = 90, {at_180:.12f} for n = 180, with delta = 0. "
        "`HellingerCalibrated` turns the rest into accuracy.",
    ),
)

REGISTER = Register(PAPER_003, CLAIMS)
