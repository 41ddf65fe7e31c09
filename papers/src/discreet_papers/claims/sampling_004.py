"""What Zhang, Rubinstein and Dimitrakakis (2016) claim about draws from posteriors and about their maximum."""

from discreet_papers.claims.claim import Claim
from discreet_papers.evidence import sampling_004

_SAMPLER = "papers/tests/test_sampler_004.py::"
_DRAWS = "tests/contracts/test_network_draws.py::"
_PURE = _DRAWS + "test_no_output_of_a_truncated_draw_reveals_more_than_the_promised_epsilon"

SAMPLING = (
    Claim(
        "Table 1, sampler",
        "A draw is (2L, 0)-private under a Lipschitz condition, or (0, sqrt(M/2))-private under a stochastic one.",
        sampling_004.draw_is_private,
        (_PURE, "reproduction 004-appendix-c2", "reproduction 004-theorem-4"),
        "At record level 2 L is 2 sum_i L_i over all nodes: `NetworkSampling.truncated`. Without a bound on "
        "probabilities, the exact pair of laws of every node, composed: `NetworkSampling.plain`.",
    ),
    Claim(
        "Table 1, MAP",
        "The maximum is (epsilon, 0)-private, and lands more than 2 t below it with a chance of at most "
        "exp(-epsilon t) / xi(S_t).",
        sampling_004.maximum_in_table,
        (_SAMPLER + "test_the_published_delta_is_no_bound", "reproduction 004-lemma-4"),
        "`NetworkMaximum`: finitely many parameters, posterior probabilities, Delta = tanh(R/4); exponent "
        "epsilon t / (2 Delta).",
    ),
    Claim(
        "Theorem 4",
        "Under the conditions of lemma 2 a draw is (2 L, 0)-private for each unit of rho.",
        sampling_004.draw_is_private,
        (_PURE, _DRAWS + "test_the_range_of_a_truncated_posterior_is_attained_by_many_records_and_a_fine_grid"),
        "True for that rho. A replaced record changes the family of every node, so at record level it costs "
        "2 sum_i ln((1 - (K_i - 1) w) / w), which is attained in the limit of many records.",
    ),
    Claim(
        "Theorem 4",
        "Under the conditions of lemma 3 probabilities under neighbouring posteriors differ by at most sqrt(M/2).",
        sampling_004.stochastic_bound,
        (_SAMPLER + "test_part_2_of_theorem_4_says_nothing", "reproduction 004-theorem-4"),
        "It says nothing: at least {least:.2f} whatever the prior, {bound:.2f} for one toss "
        "under Beta(5, 5), where the exact difference is {exact:.3f}. The exact curve of a draw is used.",
    ),
    Claim(
        "Algorithm 3",
        "Draw theta in proportion to exp(epsilon xi(theta|D) / (2 Delta)) xi(theta), with Delta = sqrt(L r).",
        sampling_004.algorithm_3,
        (
            "tests/choices/test_network_maximum.py::test_the_published_mechanism_is_worse_on_networks",
            "reproduction 004-algorithm-3",
        ),
        "`NetworkMaximum`, `tempered_network_maximum` or `maximum_of_noisy_tables`; the true epsilon of the published "
        "form is `published_epsilon`.",
    ),
    Claim(
        "Corollary 4",
        "Algorithm 3 is epsilon-differentially private up to distance r.",
        sampling_004.corollary_4,
        (_SAMPLER + "test_the_published_delta_is_no_bound", "reproduction 004-algorithm-3"),
        "sqrt(L r) bounds probabilities of sets, not densities: claimed epsilon = 1 is {true:.5f} for one yes/no "
        "record and theta within a hundredth of 0.5. With posterior probabilities Delta = tanh(R/4) is exact.",
    ),
    Claim(
        "Footnote 4",
        "With the prior as base measure and a utility bounded by M, the normalising constant is at most exp(M "
        "epsilon).",
        sampling_004.footnote_4,
        (),
        "The same. With the exponent of algorithm 3, epsilon / (2 Delta) takes the place of epsilon.",
    ),
    Claim(
        "Lemma 4",
        "The chance of a density more than 2 t below the maximum is at most exp(-epsilon t) / xi(S_t).",
        sampling_004.lemma_4,
        (
            _SAMPLER + "test_lemma_4_is_exceeded_as_printed_and_not_as_corrected",
            _SAMPLER + "test_the_corrected_lemma_4_holds_in_simulation",
            "reproduction 004-lemma-4",
        ),
        "The exponent is epsilon t / (2 Delta): `utility_bound`. As printed, {printed:.4f} where the chance is "
        "{far:.4f}.",
    ),
    Claim(
        "Figure 1, sampler",
        "For small epsilon the sampler is poor; past a threshold it outperforms the other private mechanisms.",
        sampling_004.figure_1,
        (
            _SAMPLER + "test_the_sampler_overtakes_noise_with_its_claimed_epsilon_only",
            "reproduction 004-figure-1-sampler",
        ),
        "On records of our own it is so for the claimed epsilon, {claimed:.3f} against {laplace:.3f} of Laplace noise "
        "at epsilon = 3. At record level one draw has {record:.3f}.",
    ),
    Claim(
        "Appendix C.2",
        "If every probability is at least omega, a draw is private with epsilon = 2 ln(1/omega).",
        sampling_004.appendix_c2,
        (
            _SAMPLER + "test_a_pair_of_neighbours_attains_what_appendix_c2_denies",
            _DRAWS + "test_the_published_rule_has_its_true_epsilon_and_its_empty_set",
            "reproduction 004-appendix-c2",
        ),
        "2 sum_i ln((1 - (K_i - 1) omega) / omega) for each draw: {record:.1f} instead of {claimed:.1f} for {nodes} "
        "nodes and omega = 0.2; one pair of neighbours among 50 records attains {attained:.1f}. Below epsilon = 2 ln "
        "2 the published set is empty. `NetworkSampling.published` states what the rule costs.",
    ),
)
