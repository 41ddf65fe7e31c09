"""The table of a ledger: entries that are appended and read, and never changed.

What a charge looks up is in columns of its own: totals by the number of the entry, the state of a request by its name,
what became of a charge by its number. Every one of them repeats what the hashed body says, and `check` compares them.
"""

TABLE = """CREATE TABLE entries (
    sequence {number} PRIMARY KEY, request TEXT, charge {number}, spent TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"""

INDEXES = (
    "CREATE INDEX entries_by_request ON entries (request) WHERE request IS NOT NULL",
    "CREATE UNIQUE INDEX entries_by_charge ON entries (charge) WHERE charge IS NOT NULL",
)
"""One outcome for one charge: the database itself refuses a second one."""

_FORBIDDEN = """CREATE TRIGGER entries_are_never_{done} BEFORE {event} ON entries
    BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never {done}'); END"""

IN_A_FILE = (
    TABLE.format(number="INTEGER"),
    *INDEXES,
    _FORBIDDEN.format(event="UPDATE", done="changed"),
    _FORBIDDEN.format(event="DELETE", done="deleted"),
)
"""How SQLite makes the table. The triggers stop mistakes; whoever may write the file can remove them."""

SELECT = "SELECT sequence, body, previous, digest FROM entries"
NEWEST = f"{SELECT} ORDER BY sequence DESC LIMIT 1"
COLUMNS = "sequence", "request", "charge", "spent", "previous", "digest", "body"
INSERT = f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES (:{', :'.join(COLUMNS)})"
