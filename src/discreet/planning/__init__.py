"""Choose before you spend, and check before you trust."""

from discreet.planning.accuracy import Accuracy, accuracy_curve, epsilon_for, expected_accuracy, size_for
from discreet.planning.spending import ledger_totals
from discreet.planning.verify import Certificate, verify

__all__ = [
    "Accuracy",
    "Certificate",
    "accuracy_curve",
    "epsilon_for",
    "expected_accuracy",
    "ledger_totals",
    "size_for",
    "verify",
]
