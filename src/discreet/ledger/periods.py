"""Allowances over time: at most a share of the limit in one year, quarter or month.

The limit itself never refills: data that grow year after year are about the same people. An allowance keeps the first
quarter from spending what the later ones need.
"""

from fractions import Fraction
from typing import Any

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive

PERIODS = ("year", "quarter", "month")


def allowance(per: str | None, share: Exact | None) -> dict[str, str] | None:
    """Return an allowance as it is written into a ledger; refuse half of one."""
    if per is None and share is None:
        return None
    if per not in PERIODS or share is None:
        raise DeclarationError(
            f"An allowance has a period, one of {', '.join(PERIODS)}, and a share of the limit, such as '1/4'; "
            f"got {per!r} and {share!r}."
        )
    part = positive(share, "share")
    if part > 1:
        raise DeclarationError(f"An allowance is a share of the limit, at most 1; got {exact_text(part)}.")
    return {"period": per, "share": exact_text(part)}


def period_of(time: str, per: str) -> str:
    """Return the name of the period that a moment lies in; later periods have names that sort behind.

    >>> [period_of("2026-11-16T09:00:00Z", per) for per in PERIODS]
    ['2026', '2026-Q4', '2026-11']
    """
    year, month = time[:4], int(time[5:7])
    return {"year": year, "quarter": f"{year}-Q{(month + 2) // 3}", "month": time[:7]}[per]


def at_time(period: dict[str, Any] | None, spent: dict[str, str], time: str, per: dict[str, str] | None) -> Any:
    """Return the present period: its name, and what had been spent when it began. A clock that goes back is ignored."""
    if per is None:
        return None
    name = period_of(time, per["period"])
    return period if period is not None and name <= period["name"] else {"name": name, "before": spent}


def allowed(limit: Any, per: dict[str, str]) -> Any:
    """Return how much may be spent in one period."""
    return limit * Fraction(per["share"])
