"""What became of a request: who asked, what answered, and what it caused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evatui.control.story.trace import CALL, Record, brief, event, is_order, logged, step
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.search import Filter, find
from evatui.kernel.registry.under_way import UnderWay
from evatui.runtime import Runtime

__all__ = ["of_request"]

_MOST = 50


async def of_request(runtime: Runtime, request_id: str) -> dict[str, Any] | None:
    """``{about, id, call, running, effects, host_calls, parent, children, orders, events, next}``; None where nothing
    is known of it.

    ``call`` is its end, None while it runs, or where it was an order and no call. ``children`` are calls that were
    made for it, ``parent`` the one that it was made for, ``orders`` what it changed.
    """
    flight = runtime.dispatch.find(request_id)
    read = await asyncio.to_thread(_read, logged(runtime), request_id)
    caused = _caused(runtime, request_id)
    if flight is None and not caused and not any(read.values()):
        return None
    call = read["call"]
    return {
        "about": "request",
        "id": request_id,
        **read,
        "running": _running(runtime, flight) if flight else None,
        "events": caused,
        "next": _next(request_id, call) if flight is None else [],
    }


def _read(directory: Path, request_id: str) -> dict[str, Any]:
    own: Sequence[Record] = ()
    family: Sequence[Record] = ()
    try:
        own = [record for record, _ in islice(find(directory, Filter(request=request_id)), _MOST)][::-1]
        end = next((record for record in own if record["code"].startswith(CALL)), None)
        trace = end.get("trace_id") if end else None
        if trace:
            found = find(directory, Filter(trace=trace, code="call"))
            family = [record for record, _ in islice(found, _MOST) if record["request_id"] != request_id][::-1]
    except OSError:
        end = None
    actor = (end or {}).get("actor") or {}
    parent = next((one for one in family if actor == {"type": "capability", "id": one["capability_id"]}), None)
    own_id = end["capability_id"] if end else None
    children = [one for one in family if one["actor"] == {"type": "capability", "id": own_id}]
    return {
        "call": _end(end) if end else None,
        "effects": [
            {"at": record["at"], "fn": call["fn"], "target": call["target"]}
            for record in own
            if record["code"] == Code.EFFECT_INTENT
            for call in record["host_calls"]
        ],
        "host_calls": list(end["host_calls"]) if end else [],
        "parent": brief(parent) if parent else None,
        "children": [{**brief(one), "capability": one["capability"]} for one in children],
        "orders": [brief(record) for record in own if is_order(record)],
    }


def _end(record: Record) -> dict[str, Any]:
    return {
        **brief(record),
        "capability": record["capability"],
        "trace_id": record["trace_id"],
        "duration_ms": round(record["duration_us"] / 1000, 3) if record["duration_us"] is not None else None,
    }


def _running(runtime: Runtime, flight: UnderWay) -> dict[str, Any]:
    return {
        "capability": clean_line(flight.request.capability, 128),
        "generation": flight.runs_on,
        "actor": flight.request.caller.to_json(),
        "elapsed_ms": round((runtime.clock.monotonic() - flight.started) * 1000, 3),
        "host_call": flight.doing or None,
    }


def _caused(runtime: Runtime, request_id: str) -> list[dict[str, Any]]:
    """Events that name it as their cause, or one that does."""
    causes, found = {request_id}, []
    for one in runtime.bus.since(0)[0]:
        if one.cause in causes:
            causes.add(one.event_id)
            found.append(event(one))
    return found[-_MOST:]


def _next(request_id: str, call: dict[str, Any] | None) -> list[dict[str, Any]]:
    steps = [step("records", f"eva audit query --request {request_id}")]
    if call is not None and call["trace_id"]:
        steps.append(step("trace", f"eva audit query --trace {call['trace_id']}"))
    if call is not None and call["outcome"] != Outcome.OK and call["capability_id"]:
        steps.append(step("capability", f"eva why {call['capability_id']}"))
    return steps
