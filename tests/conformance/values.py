"""A corpus of values each of which has broken some program that reads tables, by the type of the column."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

_EAST = timezone(timedelta(hours=14))
_WEST = timezone(timedelta(hours=-12))

TEXTS: tuple[str, ...] = (
    "a", "A", "á", "a\u0301", "Á", "à", "ß", "ss", "SS", "ı", "I", "i", "İ", "Σ", "ς", "σ", "ﬁ", "fi", "Å", "A\u030a",
    "city7", "CITY7", "cíty7", "city7 ", " city7", "city7\u00a0", "city7\u200b", "city7\t", "city07", "city77",
    "", " ", ".", "-", "+", "1", "1.0", "+1", "01", "1.", "-7", "-7.0", "0", "-0", "-0.0", "0.5", ".5", "5e-1", "1e",
    "e1", "1e1", "1E1", "1e400", "1e-400", "1e-1000", "1e-100", "-1e-100", "1E+100",
    "2.2250738585072014e-308", "5e-324", "17.999999999999999", "18", "18.0", "64.99999999999999", "120",
    "120.0", "120.00000000000001", "12345678901234567890", "9007199254740991", "9007199254740992", "9007199254740993",
    "-9007199254740993", "1,5", "1_000", "0x1", "١", "１", "1 ", " 1", "1\n", "\n1", "nan", "NaN", "inf", "-Infinity",
    "true", "True", "TRUE", "tRUE", "false", "NULL", "null", "None", "NA", "N/A", "<NA>", "#N/A", "\\N", "-99",
    "\x00", "a\x00", "a\x00b", "\r", "a\r", "a\rb", "a\r\nb", "\r\n", "\n", "a\nb", '"', '""', 'a"b', "'", "a,b", ",",
    "\t", "a\tb", ";", "\\", "#a", "\ufeffa", "\ufeff", "\u2028", "\x85", "\x0b", "\x1a", "日本", "😀", "a😀", "%s",
    "{x}", "$1", "z\ra\ra\ra", "a" * 300, "a" * 1_000, "a" * 70_000, "'; DROP TABLE records; --", "2026-01-01",
    "2026-01-01 00:00:00",
    "2026-01-01T23:59:59.999", "2026-06-30", "2026-07-01", "2026-12-31 23:59", "2026-02-30", "2026-13-01", "2026-1-1",
    "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2026-01-01Z", "2026-01-01 00:00:00+00:00", "01/02/2026",
    "20260101", "2026-01-01\n", "٢٠٢٦-01-01",
)  # fmt: skip
BAD_BYTES: tuple[bytes, ...] = (
    b"\xff",
    b"a\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf8\x88\x80\x80\x80",
    b"city7\x80",
    b"\xc0\x80",
)
FLOATS: tuple[float, ...] = (
    0.0, -0.0, 1.0, -7.0, 0.5, 0.1, 0.30000000000000004, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, 1e16,
    float("nan"), float("inf"), float("-inf"), 17.999999999999996, 18.0, 64.99999999999999, 65.0, 120.0,
    120.00000000000001, -1e-9, 2.0**53, 2.0**53 - 1, 2.0**53 + 2, -(2.0**53), 1.0 - 2.0**53, 2.0**63, 1e300,
)  # fmt: skip
WHOLES: tuple[int, ...] = (
    0, 1, -1, -7, 17, 18, 64, 65, 120, 121, 127, -128, 255, 32767, 2**31 - 1, -(2**31), 2**53 - 2, 2**53 - 1, 2**53,
    2**53 + 1, -(2**53) + 1, -(2**53), -(2**53) - 1, 2**62, 2**63 - 1, -(2**63),
)  # fmt: skip
DECIMALS: tuple[Decimal, ...] = tuple(
    map(Decimal, ("0", "-0.00", "1", "1.00", "-7", "0.5", "0.10", "17.999999", "18", "65.0", "120", "120.000001",
                  "-99.5", "9007199254740991", "9007199254740991.5", "9007199254740992",
                  "99999999999999999999999999.999999"))
)  # fmt: skip
DATES: tuple[date, ...] = tuple(
    map(date.fromisoformat, ("2026-01-01", "2025-12-31", "2026-06-30", "2026-07-01", "2026-12-31", "2027-01-01",
                             "1970-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "2024-02-29", "1582-10-10"))
)  # fmt: skip
TIMES: tuple[datetime, ...] = tuple(
    map(datetime.fromisoformat, ("2026-01-01 00:00:00", "2025-12-31 23:59:59.999999", "2026-06-30 23:59:59",
                                 "2026-07-01 00:00:00", "2026-12-31 12:00:00", "2027-01-01 00:00:00",
                                 "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1900-01-01 00:00:01"))
)  # fmt: skip
ZONED: tuple[datetime, ...] = (
    datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, tzinfo=_EAST), datetime(2025, 12, 31, 23, tzinfo=_WEST),
    datetime(2026, 6, 30, 23, 59, tzinfo=_WEST), datetime(2026, 7, 1, 5, tzinfo=_EAST),
    datetime(1969, 12, 31, tzinfo=UTC),
)  # fmt: skip
TRUTHS = (True, False)

CORPUS: dict[str, tuple[Any, ...]] = {
    "text": TEXTS,
    "raw text": (*TEXTS, *BAD_BYTES),
    "whole": WHOLES,
    "number": FLOATS,
    "truth": TRUTHS,
    "decimal": DECIMALS,
    "date": DATES,
    "time": TIMES,
    "zoned": ZONED,
    "mixed": (*TEXTS, *FLOATS, *WHOLES, *TRUTHS, *DECIMALS, *DATES, *TIMES, *ZONED, *BAD_BYTES, 2**70, 1j, (1, 2)),
}
"""The values that a column of each type may hold; every type may hold gaps as well."""
