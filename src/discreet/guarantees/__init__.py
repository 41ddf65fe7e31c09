"""What is promised: guarantees, and the ledger that keeps their sum within a limit."""

from discreet.guarantees.entries import Budget, Entry, Receipt
from discreet.guarantees.guarantee import Adjacency, Evidence, Guarantee
from discreet.guarantees.ledger import Ledger
from discreet.guarantees.unit import ONE_RECORD, Unit

__all__ = ["ONE_RECORD", "Adjacency", "Budget", "Entry", "Evidence", "Guarantee", "Ledger", "Receipt", "Unit"]
