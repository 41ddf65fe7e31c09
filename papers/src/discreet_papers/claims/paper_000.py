"""What the draft Differentially Private Bayesian Inference claims, item by item."""

from discreet_papers.claims.claim import Claim, Register
from discreet_papers.evidence import hellinger
from discreet_papers.evidence import paper_000 as evidence
from discreet_papers.paper_000 import PAPER_000

_SENSITIVITY = "tests/choices/test_hellinger_sensitivity.py::"
_HELLINGER = "tests/choices/test_hellinger.py::"
_RESULTS = "papers/tests/test_paper_000.py::"
_CONTRACT = "tests/contracts/test_hellinger_mechanisms.py::"

CLAIMS = (
    Claim(
        "Section 1.1.1, candidates",
        "The candidates are the posteriors of all data sets of n records, scored by minus their Hellinger distance.",
        hellinger.candidates,
        (_CONTRACT + "test_probabilities_sum_to_one_for_every_data_set",),
        "The same candidates, C(n + m - 1, m - 1) of them, and H in a form that keeps its digits.",
    ),
    Claim(
        "Section 1.1.1, global sensitivity",
        "The global sensitivity is the largest change of the score over all neighbours and candidates.",
        hellinger.global_is_largest,
        (_SENSITIVITY + "test_global_sensitivity_has_all_digits",),
        "A closed form instead of a search: sqrt(1 - r(alpha_min) r(alpha_max + n - 1)) for two cells, {at_100:.6f} "
        "for beta(1, 1) and 100 records. The printed maximum stands behind the expression it belongs to.",
    ),
    Claim(
        "Section 1.1.2, privacy",
        "The exponential mechanism with global sensitivity is epsilon-differentially private.",
        hellinger.global_is_private,
        (
            _CONTRACT + "test_no_output_reveals_more_than_is_promised",
            _HELLINGER + "test_the_global_mechanism_gives_about_half_of_what_it_costs",
        ),
        "`PublishedHellingerGlobal`, which states the exact loss: {loss:.4f} for a nominal 0.8, beta(1, 1) and 100 "
        "records.",
    ),
    Claim(
        "Section 1.2.1, local sensitivity",
        "The local sensitivity is the largest change of the score over the neighbours of x and all candidates.",
        hellinger.local_is_largest,
        (_SENSITIVITY + "test_draining_finds_what_the_definitions_say",),
        "A closed form: the smallest occupied cell gives a record to the smallest other cell.",
    ),
    Claim(
        "Section 1.2.2, privacy",
        "With local sensitivity the mechanism is not differentially private.",
        hellinger.local_is_not_private,
        (_HELLINGER + "test_the_local_sensitivity_keeps_no_promise", "reproduction 000-local-sensitivity"),
        "`HellingerLocal` never publishes. It depends on the prior: {coin:.4f} epsilon for beta(1, 1) and 60 records, "
        "{tiny:.4f} for a first parameter of one in ten thousand, {die:.2f} for DL(20, 20, 20) and 30 records.",
    ),
    Claim(
        "Section 1.2.2, proof",
        "Some candidate is the best at x and the worst at its neighbour y, and the loss there exceeds epsilon.",
        evidence.best_is_worst,
        (_RESULTS + "test_the_best_candidate_is_not_the_worst_of_a_neighbour_from_three_records_on",),
        "The loss is computed on all candidates. The best candidate at x is x itself, which is not the worst at "
        "y with three records or more.",
    ),
    Claim(
        "Section 1.3, varying sensitivity",
        "The section has a title and no text.",
        evidence.no_text,
        (),
        "`HellingerReciprocal`: 1/S may change by L from one data set to the next, exponent epsilon/((2 + L) S), pure "
        "epsilon with a proof.",
    ),
    Claim(
        "Section 1.4, smooth sensitivity",
        "The section has a title and no text.",
        evidence.no_text,
        (),
        "`PublishedHellingerSmooth` as in the poster and the later notes, and `HellingerSmoothProved`.",
    ),
    Claim(
        "Proposition I",
        "H(BI(x), BI(x + 1)) < H(BI(x + 1), BI(x + 2)) for x >= x0, and the reverse for x <= x0.",
        evidence.proposition_1,
        (_SENSITIVITY + "test_proposition_one_edges_grow_away_from_the_middle", "reproduction 000-proposition-1"),
        "The first half holds. The second has {second} exceptions up to n = 200; its mirror image, "
        "H(BI(x), BI(x - 1)) < H(BI(x - 1), BI(x - 2)), has none.",
    ),
    Claim(
        "Proposition I, proof",
        "Induction from x0, with a base case that reduces to n > -1.",
        evidence.proposition_1_proof,
        (
            _RESULTS + "test_the_base_case_is_an_identity_that_needs_four_records",
            "tests/mathematics/test_divergences.py::test_log_r_has_all_digits",
        ),
        "The base case is right, (n - 1)^2 (n + 2)(n + 4) - (n + 3)^2 n (n - 2) = 8n + 8, but x0 + 2 <= n asks for "
        "n >= 4. The step drops a factor. Concavity of ln r proves it in one line, for any prior.",
    ),
    Claim(
        "Proposition II",
        "The local sensitivity is the edge from x away from the middle.",
        evidence.proposition_2,
        (
            _SENSITIVITY + "test_proposition_two_local_sensitivity_is_the_edge_away_from_the_middle",
            "reproduction 000-proposition-2",
        ),
        "True where that neighbour exists; at x = 0 and x = n it is the only edge.",
    ),
    Claim(
        "Proposition II, proof",
        "At x0 both edges are equal.",
        evidence.proposition_2_proof,
        (_RESULTS + "test_for_five_records_the_edges_beside_the_middle_differ",),
        "For even n only. For n = 5 and x0 = 2 they are {below:.8f} and {above:.8f}.",
    ),
    Claim(
        "Proposition III",
        "The local sensitivity at x0 is smaller than anywhere else.",
        evidence.proposition_3,
        (
            _SENSITIVITY + "test_proposition_three_the_ends_are_the_most_sensitive_from_four_records_on",
            "reproduction 000-proposition-3",
        ),
        "From four records on; with {failing} records all sensitivities are equal.",
    ),
    Claim(
        "Section 3",
        "The section announces experimental results and gives none.",
        evidence.no_results,
        (),
        "The figures of the poster and of the later notes are computed again.",
    ),
)

REGISTER = Register(PAPER_000, CLAIMS)
