"""Which data sets count as neighbours, why a guarantee may be believed, and by which rule a ledger adds up."""

from enum import Enum


class Adjacency(Enum):
    """Which data sets count as neighbours (the neighbouring relation)."""

    REPLACE_ONE = "replace one record"
    REPLACE_WITHIN_GROUP = "replace one record within its public group"
    REPLACE_OR_EXCHANGE = "replace one record, or exchange two between groups of public size"
    METRIC = "move records by any distance of a metric"

    def words(self, protects: str) -> str:
        """Return the change for whom is protected: one record, or one person with all of their rows."""
        return self.value.replace("one record", protects)


class Evidence(Enum):
    """What a guarantee rests on: a proof, a computation, or a mere claim."""

    PROVED = "proved"
    ENUMERATED = "enumerated"
    CLAIMED = "claimed"


class Accountant(Enum):
    """The rule by which a ledger adds up what has been spent (composition)."""

    BASIC = "basic"
    ZCDP = "zcdp"
    METRIC = "per unit"
