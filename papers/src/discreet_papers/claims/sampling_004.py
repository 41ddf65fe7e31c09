"""What Zhang, Rubinstein and Dimitrakakis (2016) claim about draws from posteriors and about their maximum."""

from discreet_papers.claims.claim import Claim, Verdict

TRUE, CORRECTED, FALSE, NOT_CHECKABLE = Verdict

_SAMPLER = "papers/tests/test_sampler_004.py::"
_DRAWS = "tests/contracts/test_network_draws.py::"
_PURE = _DRAWS + "test_no_output_of_a_truncated_draw_reveals_more_than_the_promised_epsilon"

SAMPLING = (
    Claim(
        "Table 1, sampler",
        "A draw is (2L, 0)-private under a Lipschitz condition, or (0, sqrt(M/2))-private under a stochastic one.",
        CORRECTED,
        (_PURE, "reproduction 004-appendix-c2", "reproduction 004-theorem-4"),
        "At record level 2 L is 2 sum_i L_i over all nodes: `NetworkSampling.truncated`. Without a bound on "
        "probabilities, the exact pair of laws of every node, composed: `NetworkSampling.plain`.",
    ),
    Claim(
        "Table 1, MAP",
        "The maximum is (epsilon, 0)-private, and lands more than 2 t below it with a chance of at most "
        "exp(-epsilon t) / xi(S_t).",
        CORRECTED,
        (_SAMPLER + "test_the_published_delta_is_no_bound", "reproduction 004-lemma-4"),
        "`NetworkMaximum`: finitely many parameters, posterior probabilities, Delta = tanh(R/4); exponent "
        "epsilon t / (2 Delta).",
    ),
    Claim(
        "Theorem 4",
        "Under the conditions of lemma 2 a draw is (2 L, 0)-private for each unit of rho.",
        CORRECTED,
        (_PURE, _DRAWS + "test_the_range_of_a_truncated_posterior_is_attained_by_many_records_and_a_fine_grid"),
        "True for that rho. A replaced record changes the family of every node, so at record level it costs "
        "2 sum_i ln((1 - (K_i - 1) w) / w), which is attained in the limit of many records.",
    ),
    Claim(
        "Theorem 4",
        "Under the conditions of lemma 3 probabilities under neighbouring posteriors differ by at most sqrt(M/2).",
        TRUE,
        (_SAMPLER + "test_part_2_of_theorem_4_says_nothing", "reproduction 004-theorem-4"),
        "We saw no violation, and have no proof. It says nothing: at least 0.83 whatever the prior, 2.71 for one toss "
        "under Beta(5, 5), where the exact difference is 0.246. The exact curve of a draw is used.",
    ),
    Claim(
        "Algorithm 3",
        "Draw theta in proportion to exp(epsilon xi(theta|D) / (2 Delta)) xi(theta), with Delta = sqrt(L r).",
        FALSE,
        (
            "tests/mechanisms/test_network_maximum.py::test_the_published_mechanism_is_worse_on_networks",
            "reproduction 004-algorithm-3",
        ),
        "`NetworkMaximum`, `tempered_network_maximum` or `maximum_of_noisy_tables`; the true epsilon of the published "
        "form is `published_epsilon`.",
    ),
    Claim(
        "Corollary 4",
        "Algorithm 3 is epsilon-differentially private up to distance r.",
        FALSE,
        (_SAMPLER + "test_the_published_delta_is_no_bound", "reproduction 004-algorithm-3"),
        "sqrt(L r) bounds probabilities of sets, not densities: claimed epsilon = 1 is 4.99967 for one yes/no record "
        "and theta within 0.5 +- 0.01. With posterior probabilities Delta = tanh(R/4) is exact.",
    ),
    Claim(
        "Lemma 4",
        "The chance of a density more than 2 t below the maximum is at most exp(-epsilon t) / xi(S_t).",
        CORRECTED,
        (
            _SAMPLER + "test_lemma_4_is_exceeded_as_printed_and_not_as_corrected",
            _SAMPLER + "test_the_corrected_lemma_4_holds_in_simulation",
            "reproduction 004-lemma-4",
        ),
        "The exponent is epsilon t / (2 Delta): `utility_bound`. As printed, 0.0195 where the chance is 0.0483.",
    ),
    Claim(
        "Figure 1, sampler",
        "For small epsilon the sampler is poor; past a threshold it outperforms the other private mechanisms.",
        CORRECTED,
        (
            _SAMPLER + "test_the_sampler_overtakes_noise_with_its_claimed_epsilon_only",
            "reproduction 004-figure-1-sampler",
        ),
        "True for the claimed epsilon. At record level one draw is below Laplace noise on the counts at every epsilon "
        "from 0.5 to 20. The plotted values, the data and the number of draws are not given.",
    ),
    Claim(
        "Appendix C.2",
        "If every probability is at least omega, a draw is private with epsilon = 2 ln(1/omega).",
        FALSE,
        (
            _SAMPLER + "test_a_pair_of_neighbours_attains_what_appendix_c2_denies",
            _DRAWS + "test_the_published_rule_has_its_true_epsilon_and_its_empty_set",
            "reproduction 004-appendix-c2",
        ),
        "2 sum_i ln((1 - (K_i - 1) omega) / omega) for each draw: 47.1 instead of 3.2 for 17 nodes and omega = 0.2. "
        "Below epsilon = 2 ln 2 the published set is empty. `NetworkSampling.published` states what the rule costs.",
    ),
)
