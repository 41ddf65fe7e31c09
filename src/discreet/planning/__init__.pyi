from discreet.planning._accuracy import Accuracy, Curve, PlannedRow, accuracy, accuracy_curve, solve_for_width
from discreet.planning._accuracy import Simulations as Simulations
from discreet.planning._accuracy import check_width as check_width
from discreet.planning._accuracy import epsilons_that_fit as epsilons_that_fit
from discreet.planning._accuracy import largest_size as largest_size
from discreet.planning._accuracy import rehearsal as rehearsal
from discreet.planning._accuracy import require_quick as require_quick
from discreet.planning._accuracy import studies_for as studies_for
from discreet.planning._candidates import HasCandidates as HasCandidates
from discreet.planning._cell_variances import cell_variances, mean_cell_variance
from discreet.planning._compare import Ranked, Ranking, compare
from discreet.planning._spending import ledger_totals
from discreet.planning._suggest import Suggestion, suggest
from discreet.planning._suggest import chosen_mechanism as chosen_mechanism
from discreet.planning._suggest import suggest_for_fitting as suggest_for_fitting
from discreet.planning._suggest import suggest_per_unit as suggest_per_unit

__all__ = [
    "Accuracy",
    "Curve",
    "PlannedRow",
    "Ranked",
    "Ranking",
    "Suggestion",
    "accuracy",
    "accuracy_curve",
    "cell_variances",
    "compare",
    "ledger_totals",
    "mean_cell_variance",
    "solve_for_width",
    "suggest",
]
