"""What Zhang, Rubinstein and Dimitrakakis (2016) claim about noise in the Fourier domain and about smooth networks."""

from discreet_papers.claims.claim import Claim
from discreet_papers.evidence import fourier_004

_BOUNDS = "papers/tests/test_fourier_bounds_004.py::"
_RESULTS = "papers/tests/test_paper_004.py::"
_MECHANISMS = "tests/networks/test_fourier.py::"
_NETWORKS = "tests/contracts/test_network_mechanisms.py::"

FOURIER_CLAIMS = (
    Claim(
        "Table 1, Fourier",
        "Algorithm 2 is epsilon-differentially private, and its tables are as close as theorem 3 says.",
        fourier_004.table_errors,
        (_BOUNDS + "test_theorem_3_holds_and_a_smaller_bound_does_too", "reproduction 004-theorem-3"),
        "`FourierUpdates`, whose true epsilon is smaller; a Gamma quantile is a smaller bound on the error.",
    ),
    Claim(
        "Equation (1)",
        "A marginal sums the cells eta with <eta, j> = gamma.",
        fourier_004.marginal,
        (_BOUNDS + "test_a_marginal_sums_the_cells_that_agree_with_it",),
        "The product of eta and j is taken variable by variable: it is a cell, not a number.",
    ),
    Claim(
        "Theorem 2",
        "A marginal table is a combination of the projections of the basis vectors inside it.",
        fourier_004.theorem_2,
        (
            _BOUNDS + "test_a_marginal_lies_in_the_span_of_its_own_coefficients",
            _MECHANISMS + "test_noisy_tables_of_yes_no_variables_agree_to_the_last_bit",
        ),
        "`ContrastBasis`, for any number of levels and without a table over all variables.",
    ),
    Claim(
        "Corollary 2",
        "Laplace noise of scale 2 |N| / (epsilon 2^(|I|/2)) on every normalised coefficient is epsilon-differentially "
        "private.",
        fourier_004.corollary_2,
        (
            _NETWORKS + "test_no_output_reveals_more_than_the_promised_epsilon",
            _BOUNDS + "test_one_record_moves_fewer_coefficients_than_corollary_2_counts",
            "reproduction 004-algorithm-2",
        ),
        "It is more noise than needed. `FourierUpdates` states what the published noise really gives, at most "
        "{true:.3f} of the stated in our networks; `FourierCounts` uses the exact worst change of one record.",
    ),
    Claim(
        "Remark 1",
        "|N| is at most |I| 2^(1 + largest number of parents).",
        fourier_004.number_of_coefficients,
        (_BOUNDS + "test_the_number_of_coefficients_is_bounded_as_remark_1_says",),
        "The exact number: `len(mechanism.basis.blocks) + 1`.",
    ),
    Claim(
        "Remark 1",
        "The Fourier noise compares favourably with that of algorithm 1, the more so the denser the graph.",
        fourier_004.comparison_of_noise,
        (_BOUNDS + "test_variances_of_cells_have_their_digits", "reproduction 004-remark-1"),
        "Normalised coefficients are compared with counts. In the released cells algorithm 2 has a variance of "
        "{two:.0f} in a complete graph of five variables, algorithm 1 has {one:.0f}. `cell_variances` compares before "
        "anything is spent.",
    ),
    Claim(
        "Algorithm 2",
        "Noisy Fourier coefficients, an increment of the first one, and tables made of them, which agree with each "
        "other.",
        fourier_004.algorithm_2,
        (
            _MECHANISMS + "test_noisy_tables_of_yes_no_variables_agree_to_the_last_bit",
            _MECHANISMS + "test_the_published_increment_goes_to_every_cell",
            "reproduction 004-algorithm-2",
        ),
        "`FourierUpdates`, with integer noise; the increment is the reader's: `published_tables`.",
    ),
    Claim(
        "Section 3.2, time",
        "Making the release look like counts takes O(|N|) time.",
        fourier_004.linear_time,
        (),
        "Noise and increment do. Coefficients are counted in O(n |N|), and tables of a complete graph of 24 variables "
        "take {last:.0f} |N| additions, of four variables {first:.1f} |N|.",
    ),
    Claim(
        "Corollary 3",
        "For t > 0, adding 4 t |N|^2 / epsilon to the first coefficient leaves no negative cell with probability at "
        "least 1 - e^-t.",
        fourier_004.corollary_3,
        (_BOUNDS + "test_corollary_3_holds_from_one_on_and_fails_below", "reproduction 004-corollary-3"),
        "True for t >= 1; at t = 0.2 the table over 17 variables has none with probability {share:.3f} instead of "
        "{stated:.2f}. "
        "`stealth_bound` holds for every t.",
    ),
    Claim(
        "Section 3.2, running again",
        "Running again costs another epsilon, and successful runs may be shown.",
        fourier_004.running_again,
        (_BOUNDS + "test_keeping_successful_runs_is_not_private_as_claimed", "reproduction 004-running-again"),
        "Every run counts, those that fail too. A run that is shown because it succeeded costs up to 2 epsilon: one "
        "count at epsilon = 1 realises {cost:.5f}. The library publishes the first draw and never draws again.",
    ),
    Claim(
        "Theorem 3",
        "With probability 1 - delta the l1 error of a table is at most (4 |N| / epsilon)(2^parents log(|N| / delta) + "
        "t |N|).",
        fourier_004.table_errors,
        (_BOUNDS + "test_theorem_3_holds_and_a_smaller_bound_does_too", "reproduction 004-theorem-3"),
        "A Gamma quantile, `table_error`: {gamma:.0f} instead of {printed:.0f} for 16 features; 95 of 100 errors are "
        "below some {drawn:.0f}.",
    ),
    Claim(
        "Assumption 1",
        "Log-likelihoods that are Lipschitz in the data; exponential laws are, coins are not.",
        fourier_004.assumption_1,
        (
            "tests/draws/test_lipschitz.py::test_simple_constants",
            "papers/tests/test_paper_002.py::test_a_coin_without_bounds_has_no_lipschitz_constant",
        ),
        "`Lipschitz`; exponential laws need a bound on the rate: the slope is the rate, {slope:g} for a rate of "
        "{slope:g}.",
    ),
    Claim(
        "Lemma 2",
        "If each variable given its parents is L_i-smooth in its own value, the network is max L_i-smooth under the "
        "sum of the distances.",
        fourier_004.lemma_2,
        (_BOUNDS + "test_lemma_2_holds_for_families_and_not_for_variables", "reproduction 004-lemma-2"),
        "The hypothesis fails wherever a variable depends on its parents. With distances between families it holds: "
        "`network_lipschitz`.",
    ),
    Claim(
        "Assumption 2",
        "A relaxation: from some L0 on, the prior gives at least 1 - e^(-c L) to the parameters that are L-smooth.",
        fourier_004.assumption_2,
        (_BOUNDS + "test_assumption_2_follows_from_assumption_1_and_holds_for_coins",),
        "`StochasticLipschitz`. With L0 it does follow from assumption 1.",
    ),
    Claim(
        "Lemma 3",
        "The network has the constant c' = min c_i - ln|I| / L0 if |I| <= e^(L0 min c).",
        fourier_004.lemma_3,
        (_BOUNDS + "test_lemma_3_is_right_as_stated_and_wrong_in_its_proof", "reproduction 004-lemma-3"),
        "`network_rate`.",
    ),
    Claim(
        "Section 5.1, sizes",
        "Naive Bayes with d features has |I| = d + 1 variables and |N| = 2 d + 2 coefficients.",
        fourier_004.sizes,
        (_BOUNDS + "test_sizes_of_naive_bayes_are_those_of_section_5_1",),
        "The same: {variables} and {coefficients} for 16 features, and {rows} rows.",
    ),
    Claim(
        "Section 5.1, noise",
        "The noise of both mechanisms is independent of the records and similar in scale.",
        fourier_004.noise_of_both,
        ("reproduction 004-remark-1",),
        "A cell has a standard deviation of {one:.2f} and {two:.2f}; maximal families and weights make it smaller.",
    ),
    Claim(
        "Figure 1, Fourier",
        "Accuracy with noise in the Fourier domain, successful runs only, rises with epsilon towards that without "
        "privacy.",
        fourier_004.figure_1,
        (_RESULTS + "test_figure_1_agrees_with_an_independent_computation", "reproduction 004-figure-1"),
        "On records of our own the shape comes out at the claimed epsilon, but such runs are not private at it. "
        "`FourierCounts` is private as stated and more accurate, {counts:.3f} against {fourier:.3f} at epsilon = 1.",
    ),
    Claim(
        "Appendix A.3",
        "The proof of theorem 3: no noise is large, and 2^(parents + 1) coefficients make a table.",
        fourier_004.table_errors,
        (_BOUNDS + "test_theorem_3_holds_and_a_smaller_bound_does_too",),
        "The sum of these noises has a known law, so its quantile is used.",
    ),
    Claim(
        "Appendix B.1",
        "The proof of lemma 2: logarithms of factors add.",
        fourier_004.lemma_2_proof,
        (_BOUNDS + "test_lemma_2_holds_for_families_and_not_for_variables",),
        "The same steps, with distances between families.",
    ),
    Claim(
        "Appendix B.2",
        "The proof of lemma 3 ends with c' = ln|I| min c_i.",
        fourier_004.lemma_3_proof,
        (_BOUNDS + "test_lemma_3_is_right_as_stated_and_wrong_in_its_proof", "reproduction 004-lemma-3"),
        "The constant of the statement. For three variables with c = 1 and L = 2 the proof's constant allows "
        "{allowed:.3f} outside; there may be {found:.3f}.",
    ),
)
