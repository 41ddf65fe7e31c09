from discreet.planning._audit import Audit, audit, epsilon_lower_bound
from discreet.planning._cell_variances import cell_variances, mean_cell_variance
from discreet.planning._compare import Ranked, Ranking, compare
from discreet.planning._suggest import Suggestion, suggest
from discreet.planning._verify import verify
from discreet.planning.certificate import Certificate
from discreet.planning.plan import Accuracy, Curve, PlannedRow, accuracy, accuracy_curve, solve_for_width
from discreet.planning.spending import ledger_totals

__all__ = [
    "Accuracy",
    "Audit",
    "Certificate",
    "Curve",
    "PlannedRow",
    "Ranked",
    "Ranking",
    "Suggestion",
    "accuracy",
    "accuracy_curve",
    "audit",
    "cell_variances",
    "compare",
    "epsilon_lower_bound",
    "ledger_totals",
    "mean_cell_variance",
    "solve_for_width",
    "suggest",
    "verify",
]
