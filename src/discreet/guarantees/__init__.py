"""What is promised: guarantees, what they cost together, and amounts that add up."""

from discreet.guarantees.amounts import Accountant, Amount, Budget, Concentrated, read_amount
from discreet.guarantees.composition import Totals, across_groups, compose, zcdp_cost, zcdp_epsilon, zcdp_limit
from discreet.guarantees.guarantee import Adjacency, Evidence, Guarantee
from discreet.guarantees.unit import ONE_RECORD, Unit

__all__ = [
    "ONE_RECORD",
    "Accountant",
    "Adjacency",
    "Amount",
    "Budget",
    "Concentrated",
    "Evidence",
    "Guarantee",
    "Totals",
    "Unit",
    "across_groups",
    "compose",
    "read_amount",
    "zcdp_cost",
    "zcdp_epsilon",
    "zcdp_limit",
]
