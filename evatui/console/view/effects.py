"""What an action will do to calls that run, in numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from evatui.console.view.ink import Ink, Line, line
from evatui.console.view.words import Look, clock
from evatui.control.snapshot import CapabilityRow, ConsoleSnapshot

__all__ = ["cut_at_once", "many", "waited_for"]


def many(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}" + ("" if number == 1 else "s")


def waited_for(row: CapabilityRow, snapshot: ConsoleSnapshot, look: Look) -> Line:
    """``2 calls are waited for, the longest until 14:03:20``: its deadline, or the end of the drain before it."""
    said = f"{many(row.in_flight, 'call')} {'is' if row.in_flight == 1 else 'are'} waited for"
    if not row.in_flight:
        return line(said)
    until = _last_until(row, snapshot)
    whose = "" if row.in_flight == 1 else ", the longest"
    return line((f"{said}{whose}{' at most' if row.in_flight == 1 else ''} until {clock(until, look)}", Ink.WARN))


def cut_at_once(rows: Sequence[CapabilityRow]) -> Line:
    calls = sum(row.in_flight for row in rows)
    said = f"{many(calls, 'call')} {'is' if calls == 1 else 'are'} cut at once"
    return line((said, Ink.BAD if calls else Ink.PLAIN))


def _last_until(row: CapabilityRow, snapshot: ConsoleSnapshot) -> str:
    end = _moment(snapshot.at, row.drain_timeout_ms)
    ends = [_moment(call.started_at, call.deadline_ms) for call in snapshot.calls if call.capability_id == row.id]
    return min(max(ends, default=end), end).isoformat()


def _moment(at: str, more_ms: float) -> dt.datetime:
    return dt.datetime.fromisoformat(at) + dt.timedelta(milliseconds=more_ms)
