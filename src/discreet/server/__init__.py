"""`discreet serve`: analysts ask, stewards decide, everybody sees the budget, and nobody who asks is near the records.

Two processes share a queue, which is a database of its own:

    analyst -> front (HTTP) -> queue <- publisher -> records, ledger

The *front* knows the study's public declarations, which the publisher writes into the queue. It holds no records, has
no connection to them and no access to the ledger; on Linux it gives up these rights (Landlock) before it starts
listening. The *publisher* speaks to nobody. It takes questions from the queue one after the other, reads them with the
parser of study files, and answers them through `publish`, which charges first. The outcome of a question is written to
the queue a fixed time after the question was started, whatever the records are.
"""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
