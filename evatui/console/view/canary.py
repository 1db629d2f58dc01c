"""The version that is tried out, in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.ink import Ink, Line, line
from evatui.console.view.words import duration, seconds

if TYPE_CHECKING:
    from evatui.control.snapshot import CanaryRow, CapabilityRow, Side

__all__ = ["canary_brief", "canary_lines", "canary_of"]

_VERDICTS = {
    "pass": ("pass", Ink.OK),
    "fail": ("fail", Ink.BAD),
    "inconclusive": ("inconclusive", Ink.WARN),
    "insufficient_data": ("too few calls", Ink.INFO),
}


def canary_of(row: CapabilityRow) -> CanaryRow | None:
    return next((item.canary for item in row.beside if item.canary is not None), None)


def canary_brief(canary: CanaryRow, elapsed: float) -> Line:
    """``◇ g42 takes 10 %: too few calls, 540 s left``."""
    word, ink = _VERDICTS[canary.verdict]
    return line((f"◇ {canary.number} takes {canary.takes}: ", Ink.INFO), (f"{word}, {_time(canary, elapsed)}", ink))


def canary_lines(canary: CanaryRow, elapsed: float = 0.0) -> tuple[Line, ...]:
    """Both sides with their numbers."""
    word, ink = _VERDICTS[canary.verdict]
    return (
        line(f"takes {canary.takes}; ", (word, ink), f", {_time(canary, elapsed)}, then {canary.at_deadline}"),
        line((f"{canary.number}: ", Ink.DIM), _side(canary.canary)),
        line(("beside it: ", Ink.DIM), _side(canary.baseline)),
    )


def _time(canary: CanaryRow, elapsed: float) -> str:
    if canary.phase == "held":
        return "its time is over: promote or abort (a)"
    if canary.seconds_left is None or canary.phase == "paused":
        return "paused"
    return f"{seconds(canary.seconds_left, elapsed)} left"


def _side(side: Side) -> str:
    p95 = f", p95 {duration(side.p95_ms)}" if side.p95_ms is not None else ""
    return f"{side.faults:,} of {side.samples:,} failed{p95}"
