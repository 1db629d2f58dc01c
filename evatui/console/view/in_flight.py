"""Calls in flight as rows: how old, on which generation, in which host call, and who waits in line."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator

from evatui.console.view.ink import EMPTY, Ink, Line, join, line, wrap
from evatui.console.view.rows import folded
from evatui.console.view.table import Column, Row
from evatui.console.view.under_way import progress_line
from evatui.console.view.words import Look, clock, duration
from evatui.control.adapter_rows import AdapterRow
from evatui.control.snapshot import CallRow, CapabilityRow, ConsoleSnapshot
from evatui.kernel.model.ids import fold
from evatui.kernel.model.lifecycle import State

__all__ = ["CALL_COLUMNS", "age_bar", "call_preview", "call_rows", "cut_at", "effects_of", "places_in_line"]

CALL_COLUMNS = (
    Column(title="AGE OF DEADLINE", width=23),
    Column(title="CAPABILITY", width=15, flex=3),
    Column(title="GEN", width=7),
    Column(title="IN", width=16, flex=4),
    Column(title="CALLER", width=8, flex=1),
    Column(title="SINCE", width=8, need=92),
    Column(title="REQUEST", width=28, need=140),
)
_BAR = 8
_LATE, _LATEST = 0.5, 0.8


def call_rows(snapshot: ConsoleSnapshot, look: Look, elapsed: float = 0.0) -> list[Row]:
    """The oldest first; ``elapsed`` is the age of the snapshot in seconds."""
    line_up, draining = places_in_line(snapshot), _draining(snapshot)
    return [
        _call_row(call, line_up.get(call.request_id), call.number in draining, look, elapsed) for call in snapshot.calls
    ]


def _call_row(call: CallRow, place: tuple[int, int] | None, drains: bool, look: Look, elapsed: float) -> Row:
    age = call.elapsed_ms + elapsed * 1000
    return Row(
        key=call.request_id,
        cells=(
            age_bar(age, call.deadline_ms),
            line((call.capability_id, Ink.STRONG)),
            _generation(call, drains),
            _doing(call, place),
            line((call.caller, Ink.DIM)),
            line((clock(call.started_at, look), Ink.DIM)),
            line((call.request_id, Ink.DIM)),
        ),
        order=(
            age,
            fold(call.capability_id),
            call.number,
            call.host_call,
            call.caller,
            call.started_at,
            call.request_id,
        ),
        folded=folded(
            call.host_call,
            call.caller,
            "queued" if call.queued else "",
            "draining" if drains else "",
            cap=call.capability_id,
            gen=(call.number,),
            req=call.request_id,
        ),
        weight_ms=age,
    )


def age_bar(age_ms: float, deadline_ms: float) -> Line:
    """``━━━───── 1.2 s of 30 s``; past its deadline the bar is full."""
    share = min(1.0, age_ms / deadline_ms) if deadline_ms > 0 else 1.0
    ink = Ink.BAD if share >= _LATEST else Ink.WARN if share >= _LATE else Ink.OK
    full = min(_BAR, int(share * _BAR) + (share > 0))
    age = f"{age_ms / 1000:.1f} s" if age_ms < 60_000 else duration(age_ms)
    return line(("━" * full, ink), ("─" * (_BAR - full), Ink.DIM), f" {age}", (f" of {_span(deadline_ms)}", Ink.DIM))


def cut_at(call: CallRow) -> str:
    """The moment of its deadline."""
    return (dt.datetime.fromisoformat(call.started_at) + dt.timedelta(milliseconds=call.deadline_ms)).isoformat()


def _span(ms: float) -> str:
    return f"{ms / 1000:.0f} s" if 1000 <= ms < 120_000 else duration(ms)


def _generation(call: CallRow, drains: bool) -> Line:
    if call.queued or not call.number:
        return line(("–", Ink.DIM))
    return line(("◐ " if drains else "", Ink.WARN), (call.number, Ink.WARN if drains else Ink.PLAIN))


def _doing(call: CallRow, place: tuple[int, int] | None) -> Line:
    if call.queued:
        many = f", {place[0]} of {place[1]} in line" if place else ""
        return line((f"waits for a slot{many}", Ink.WARN))
    told = progress_line(call.progress) if call.progress is not None else EMPTY
    return join((line(call.host_call) if call.host_call else EMPTY, told)) or line(("its own code", Ink.DIM))


def places_in_line(snapshot: ConsoleSnapshot) -> dict[str, tuple[int, int]]:
    """By request: the place of each call that waits for a slot, and how many wait for one of the same capability."""
    waiting = [call for call in snapshot.calls if call.queued]
    many = Counter(call.capability_id for call in waiting)
    seen: Counter[str] = Counter()
    places = {}
    for call in waiting:
        seen[call.capability_id] += 1
        places[call.request_id] = (seen[call.capability_id], many[call.capability_id])
    return places


def _draining(snapshot: ConsoleSnapshot) -> frozenset[str]:
    return frozenset(
        item.number
        for row in snapshot.capabilities
        if row.beside or row.state is State.DRAINING
        for item in row.generations
        if item.state is State.DRAINING
    )


def effects_of(call: CallRow, snapshot: ConsoleSnapshot) -> str:
    """What it may have changed by now: the side effects of its capability, or of the adapter."""
    rows: Iterable[CapabilityRow | AdapterRow] = (*snapshot.capabilities, *snapshot.adapters)
    return next((row.side_effects for row in rows if row.id == call.capability_id), "mutating")


def call_preview(call: CallRow, snapshot: ConsoleSnapshot, width: int, look: Look, elapsed: float) -> list[Line]:
    return [part for told in _told(call, snapshot, look, elapsed) for part in wrap(told, width, " " * 9)]


def _told(call: CallRow, snapshot: ConsoleSnapshot, look: Look, elapsed: float) -> Iterator[Line]:
    age = call.elapsed_ms + elapsed * 1000
    yield line((call.capability_id, Ink.STRONG))
    yield age_bar(age, call.deadline_ms)
    left = max(0.0, call.deadline_ms - age)
    yield line(("since    ", Ink.DIM), clock(call.started_at, look), (f", cut in {_span(left)}", Ink.DIM))
    yield line(("is in    ", Ink.DIM), *_doing(call, places_in_line(snapshot).get(call.request_id)))
    yield line(("on       ", Ink.DIM), call.generation or ("no generation yet" if call.queued else "what is outside"))
    if call.number in _draining(snapshot):
        yield line(("         ", Ink.DIM), ("which drains: it takes no new calls", Ink.WARN))
    yield line(("caller   ", Ink.DIM), call.caller)
    yield line(("effects  ", Ink.DIM), effects_of(call, snapshot))
    yield line(("request  ", Ink.DIM), call.request_id)
