"""The version that is tried out, in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.ink import Ink, Line, line
from evatui.console.view.words import duration, seconds

if TYPE_CHECKING:
    from evatui.control.snapshot import CanaryRow, CapabilityRow, ConsoleSnapshot, Side

__all__ = ["canary_brief", "canary_lines", "canary_of", "live_canary"]

_VERDICTS = {
    "pass": ("pass", Ink.OK),
    "fail": ("fail", Ink.BAD),
    "inconclusive": ("inconclusive", Ink.WARN),
    "insufficient_data": ("too few calls", Ink.INFO),
}


def canary_of(row: CapabilityRow) -> CanaryRow | None:
    return next((item.canary for item in row.beside if item.canary is not None), None)


def live_canary(snapshot: ConsoleSnapshot | None, generation: str) -> CanaryRow | None:
    """The one with that generation, as long as it is tried out."""
    rows = snapshot.capabilities if snapshot is not None and generation else ()
    known = (canary_of(row) for row in rows if row.beside)
    return next((one for one in known if one is not None and one.generation == generation), None)


def canary_brief(canary: CanaryRow, elapsed: float) -> Line:
    """``◇ g42 takes 10 %: too few calls, 540 s left``."""
    word, ink = _VERDICTS[canary.verdict]
    return line((f"◇ {canary.number} takes {canary.takes}: ", Ink.INFO), (f"{word}, {_time(canary, elapsed)}", ink))


def canary_lines(canary: CanaryRow, elapsed: float = 0.0) -> tuple[Line, ...]:
    """Both sides with their numbers, what decides, and what happens next and when."""
    word, ink = _VERDICTS[canary.verdict]
    limit = f"{canary.max_error_rate:.0%}"
    return (
        line(f"takes {canary.takes}; ", (word, ink), f", {_time(canary, elapsed)}"),
        line((f"{canary.number}: ", Ink.DIM), _side(canary.canary, canary.min_samples)),
        line(("beside it: ", Ink.DIM), _side(canary.baseline)),
        line((f"passes with {canary.min_samples} calls in {canary.window_s} s when surely below {limit};", Ink.DIM)),
        line((f"is taken back as soon as it is surely above {limit} and worse than beside it;", Ink.DIM)),
        line((f"at the end of its time: {_AT_DEADLINE.get(canary.at_deadline, canary.at_deadline)}", Ink.DIM)),
    )


_AT_DEADLINE = {"hold": "held, for a person to decide", "promote": "promoted", "abort": "taken back"}


def _time(canary: CanaryRow, elapsed: float) -> str:
    if canary.phase == "held":
        return "its time is over: promote or abort (a)"
    if canary.seconds_left is None or canary.phase == "paused":
        return "paused"
    return f"{seconds(canary.seconds_left, elapsed)} left"


def _side(side: Side, wanted: int = 0) -> str:
    """``1 of 7 failed, 14 % (surely 0 to 52 %), p95 12 ms``."""
    told = f"{side.faults:,} of {side.samples:,} failed"
    if side.samples < wanted:
        told += f", {wanted:,} needed"
    if side.samples:
        told += f", {side.faults / side.samples:.0%} (surely {side.lower:.0%} to {side.upper:.0%})"
    return told + (f", p95 {duration(side.p95_ms)}" if side.p95_ms is not None else "")
