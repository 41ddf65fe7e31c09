from discreet.guarantees.chain import Entry
from discreet.guarantees.composition import Totals, across_groups, compose
from discreet.guarantees.entries import Body, Receipt
from discreet.guarantees.guarantee import (
    Accountant,
    Adjacency,
    Amount,
    Budget,
    Concentrated,
    Evidence,
    Guarantee,
    read_amount,
    zcdp_cost,
)
from discreet.guarantees.heads import Head, check_witness
from discreet.guarantees.ledger import Ledger
from discreet.guarantees.ledger_check import read_as
from discreet.guarantees.lines import Filter, Line, lines_of
from discreet.guarantees.signatures import PublicKey, Signature, SigningKey
from discreet.guarantees.unit import ONE_RECORD, Unit
from discreet.guarantees.zcdp import zcdp_epsilon, zcdp_limit

__all__ = [
    "ONE_RECORD",
    "Accountant",
    "Adjacency",
    "Amount",
    "Body",
    "Budget",
    "Concentrated",
    "Entry",
    "Evidence",
    "Filter",
    "Guarantee",
    "Head",
    "Ledger",
    "Line",
    "PublicKey",
    "Receipt",
    "Signature",
    "SigningKey",
    "Totals",
    "Unit",
    "across_groups",
    "check_witness",
    "compose",
    "lines_of",
    "read_amount",
    "read_as",
    "zcdp_cost",
    "zcdp_epsilon",
    "zcdp_limit",
]
