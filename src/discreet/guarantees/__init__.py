"""What is promised: guarantees, and the ledger that keeps their sum within a limit."""

from discreet.guarantees.guarantee import Adjacency, Evidence, Guarantee
from discreet.guarantees.ledger import Budget, Charge, Entry, Ledger

__all__ = ["Adjacency", "Budget", "Charge", "Entry", "Evidence", "Guarantee", "Ledger"]
