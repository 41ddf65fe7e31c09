"""Choose before you spend, and check before you trust: suggestions, expected accuracy, verification and audits."""

from discreet.planning.accuracy import accuracy
from discreet.planning.audit import Audit, audit, epsilon_lower_bound
from discreet.planning.cell_variances import cell_variances, mean_cell_variance
from discreet.planning.certificate import Certificate
from discreet.planning.compare import Ranked, Ranking, compare
from discreet.planning.distance_accuracy import DistanceAccuracy, distance_accuracy
from discreet.planning.exact_accuracy import ExactAccuracy
from discreet.planning.expected_accuracy import Accuracy, accuracy_curve, epsilon_for, expected_accuracy, size_for
from discreet.planning.optimum import Optimum, can_optimise, minimax_optimum, optimum
from discreet.planning.spending import ledger_totals
from discreet.planning.suggest import Suggestion, suggest
from discreet.planning.verify import verify

__all__ = [
    "Accuracy",
    "Audit",
    "Certificate",
    "DistanceAccuracy",
    "ExactAccuracy",
    "Optimum",
    "Ranked",
    "Ranking",
    "Suggestion",
    "accuracy",
    "accuracy_curve",
    "audit",
    "can_optimise",
    "cell_variances",
    "compare",
    "distance_accuracy",
    "epsilon_for",
    "epsilon_lower_bound",
    "expected_accuracy",
    "ledger_totals",
    "mean_cell_variance",
    "minimax_optimum",
    "optimum",
    "size_for",
    "suggest",
    "verify",
]
