"""Times as a person says them."""

from __future__ import annotations

import datetime as dt

__all__ = ["ago"]

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def ago(at: str | None, now: str) -> str:
    """How long before ``now`` (both RFC 3339): ``3 minutes ago``; what is no time is shown as it is."""
    try:
        seconds = (dt.datetime.fromisoformat(now) - dt.datetime.fromisoformat(at or "")).total_seconds()
    except ValueError:
        return at or "at a time that is not known"
    for size, name in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now" if seconds > -1 else at or ""
