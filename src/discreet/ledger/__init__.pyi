from discreet.ledger._allowances import allowance_in_words as allowance_in_words
from discreet.ledger._allowances import period_at as period_at
from discreet.ledger._allowances import stated_allowance as stated_allowance
from discreet.ledger._chain import POINTS, Entry
from discreet.ledger._chain import Chain as Chain
from discreet.ledger._chain import now as now
from discreet.ledger._chain import reached as reached
from discreet.ledger._check import read_as
from discreet.ledger._entries import Body, Receipt
from discreet.ledger._entries import account_of as account_of
from discreet.ledger._entries import paid as paid
from discreet.ledger._heads import Head, check_witness
from discreet.ledger._ledger import Ledger
from discreet.ledger._ledger import other_neighbours as other_neighbours
from discreet.ledger._ledger import shortfall as shortfall
from discreet.ledger._lines import PUBLISHED as PUBLISHED
from discreet.ledger._lines import Filter, LedgerLine, lines_of
from discreet.ledger._metric_budget import Decides as Decides
from discreet.ledger._metric_budget import metric_cost as metric_cost
from discreet.ledger._metric_budget import same_metric as same_metric
from discreet.ledger._postgresql import ServerChain as ServerChain
from discreet.ledger._requests import differences as differences
from discreet.ledger._signatures import PublicKey, Signature, SigningKey
from discreet.ledger._signatures import issuers as issuers

__all__ = [
    "POINTS",
    "Body",
    "Entry",
    "Filter",
    "Head",
    "Ledger",
    "LedgerLine",
    "PublicKey",
    "Receipt",
    "Signature",
    "SigningKey",
    "check_witness",
    "lines_of",
    "read_as",
]
