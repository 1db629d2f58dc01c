"""How a runtime stands while it is built anew: what it says of itself, and what commands hear meanwhile."""

from __future__ import annotations

from evatui.control.failing import CommandFailed
from evatui.control.snapshot import Indicator
from evatui.kernel.model.errors import ErrorKind

__all__ = ["SERVING", "down", "refused", "restarting"]

SERVING = Indicator(ok=True)
_RESTARTING = "restarting"


def restarting(since: str) -> Indicator:
    return Indicator(ok=False, word=_RESTARTING, detail="the runtime restarts", since=since)


def down(cause: str, since: str) -> Indicator:
    """It was closed and could not be built again, and nothing serves."""
    return Indicator(ok=False, word="down", detail=f"the runtime could not be built anew: {cause}", since=since)


def refused(standing: Indicator) -> CommandFailed:
    """What commands hear where no runtime serves: one that restarts may be asked again in a moment."""
    passes = standing.word == _RESTARTING
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        standing.detail,
        retryable=passes,
        suggestion="the same again in a moment" if passes else "mend that, then: eva runtime restart",
    )
