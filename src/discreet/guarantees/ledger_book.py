"""What a ledger says: its limit, what has been spent, all entries, and whether they are what was once written."""

from pathlib import Path

from discreet.guarantees.amounts import Accountant, Amount, Budget, read_amount, read_as
from discreet.guarantees.chain import Body, Chain, Entry, everything, newest, oldest
from discreet.guarantees.ledger_check import check_entries


class LedgerBook:
    """A ledger as its readers see it."""

    path: Path
    _chain: Chain

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @property
    def head(self) -> Entry:
        """Return the newest entry."""
        with self._chain.reading() as connection:
            return newest(connection)

    @property
    def created(self) -> Body:
        """Return what was declared when the ledger was created: accountant, adjacency, groups, population, unit."""
        with self._chain.reading() as connection:
            return oldest(connection).body

    @property
    def accountant(self) -> Accountant:
        """Return the rule by which this ledger adds up."""
        with self._chain.reading() as connection:
            return Accountant(oldest(connection).body["accountant"])

    @property
    def limit(self) -> Amount:
        """Return how much may be spent in all, in the accountant's currency."""
        return read_amount(self.head.body["limit"])

    @property
    def declared_limit(self) -> Budget:
        """Return the limit as it was stated, in epsilon and delta."""
        stated = [e.body["declared"] for e in self.entries() if "declared" in e.body]
        return read_as(Budget, stated[-1])

    @property
    def spent(self) -> Amount:
        """Return how much has been spent, in the accountant's currency."""
        return read_amount(self.head.body["spent"])

    @property
    def remaining(self) -> Amount:
        """Return how much may still be spent on everyone."""
        body = self.head.body
        return read_amount(body["limit"]) - read_amount(body["spent"])

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first, as they stand in the file."""
        with self._chain.reading() as connection:
            return everything(connection)

    def releases(self, sequence: int) -> list[str]:
        """Return the recorded releases that were paid for by the charge of this number; none if it was in vain."""
        found = (e for e in self.entries() if e.kind == "release" and e.body["charge"] == sequence)
        return next((list(map(str, entry.body["releases"])) for entry in found), [])

    def is_answered(self, request: str) -> bool:
        """Tell whether releases are on record for a request, so that asking again is free."""
        entries = self.entries()
        charges = {e.sequence for e in entries if e.kind == "charge" and e.body["request"] == request}
        return any(e.kind == "release" and e.body["charge"] in charges for e in entries)

    def check(self) -> None:
        """Recompute the whole chain and all sums; raise if any entry is not what was once written."""
        with self._chain.reading() as connection:
            check_entries(everything(connection), self.path)
