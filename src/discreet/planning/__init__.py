"""Choose before you spend, and check before you trust."""

from discreet.planning.accuracy import Accuracy, accuracy_curve, epsilon_for, expected_accuracy, size_for
from discreet.planning.cell_variances import cell_variances, mean_cell_variance
from discreet.planning.spending import ledger_totals
from discreet.planning.verify import Certificate, verify

__all__ = [
    "Accuracy",
    "Certificate",
    "accuracy_curve",
    "cell_variances",
    "epsilon_for",
    "expected_accuracy",
    "ledger_totals",
    "mean_cell_variance",
    "size_for",
    "verify",
]
