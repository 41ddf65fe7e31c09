"""The ledger: what has been spent on a population, written down before it is spent, for years and by many machines."""

from discreet.ledger.entries import Entry, Receipt, digest_of
from discreet.ledger.ledger import Ledger

__all__ = ["Entry", "Ledger", "Receipt", "digest_of"]
