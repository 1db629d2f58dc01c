"""Calls under way: how far each one is, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence

from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.words import Look, clock
from evatui.control.snapshot import CallRow
from evatui.kernel.model.progress import Progress

__all__ = ["furthest", "progress_line", "under_way"]

_BAR = 8
_MOST = 5


def progress_line(progress: Progress) -> Line:
    """``━━━───── 40 %  4 of 10  reading src``; without a bar where the total is not known."""
    if progress.fraction is None:
        return line(progress.in_words())
    full = int(progress.fraction * _BAR)
    return line(("━" * full, Ink.INFO), ("─" * (_BAR - full), Ink.DIM), f" {progress.in_words()}")


def under_way(calls: Sequence[CallRow], look: Look) -> list[Line]:
    """Those that have something to tell, the oldest first, with how many there are besides."""
    telling = [call for call in calls if call.progress is not None or call.host_call]
    lines = [_call(call, look) for call in telling[:_MOST]]
    if len(telling) > _MOST:
        lines.append(line((f"and {len(telling) - _MOST} more", Ink.DIM)))
    return lines


def furthest(calls: Sequence[CallRow]) -> Line:
    """The progress of the oldest call that reports any."""
    return next((progress_line(call.progress) for call in calls if call.progress is not None), EMPTY)


def _call(call: CallRow, look: Look) -> Line:
    who = line((f"{clock(call.started_at, look)} {call.number} {call.caller}", Ink.DIM))
    told = progress_line(call.progress) if call.progress is not None else EMPTY
    asks = line(("in ", Ink.DIM), call.host_call) if call.host_call else EMPTY
    return join((told, asks, who))
