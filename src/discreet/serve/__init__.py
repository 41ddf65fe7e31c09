"""`discreet serve`: analysts ask, stewards decide, everybody sees the budget, and nobody who asks is near the records.

Two processes share a queue, which is a database of its own:

    analyst -> front (HTTP) -> queue <- publisher -> records, ledger

The *front* knows the study's public declarations, which the publisher writes into the queue. It has no record, no
connection to them and no right on the ledger; on Linux it takes these rights away from itself before it listens. The
*publisher* speaks to nobody. It takes questions from the queue one after the other, reads them by the parser of study
files, and goes through `publish`, which charges first. What became of a question is written into the queue a fixed time
after it was begun, whatever the records.
"""
