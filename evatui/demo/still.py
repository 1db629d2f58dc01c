"""For pictures: a clock that stands still within a step, and an operator whose answers have no chance in them."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evatui.control.operator import OnProgress, Operator
from evatui.control.snapshot import AuditRow, CallRow, ConsoleSnapshot, Cursor

__all__ = ["StepClock", "StillOperator"]

_BEGIN = dt.datetime(2026, 1, 1, 9, 30, tzinfo=dt.UTC)
_STEP = dt.timedelta(seconds=20)
_TOOK_US = 900
_AGE_MS = 1_200.0


class StepClock:
    """Its wall clock goes on by `step` only; deadlines are real."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self) -> None:
        self._now = _BEGIN

    def now(self) -> dt.datetime:
        return self._now

    def step(self) -> None:
        self._now += _STEP


class StillOperator:
    """As the one that it is given, but that durations are the same each time, ids of requests are counted, and only
    simulated devices are seen, without what went over their lines by the second."""

    def __init__(self, operator: Operator) -> None:
        self.readonly = operator.readonly
        self._operator = operator

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        answer = await self._operator.run(command, on_progress=on_progress, **params)
        return _still_devices(answer) if command == "hardware.list" else answer

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        found = await self._operator.snapshot(since)
        return replace(
            found,
            calls=tuple(map(_still_call, found.calls)),
            audit=tuple(map(_still_row, found.audit)),
            devices=_still_devices(found.devices),
        )

    def on_change(self, notify: Callable[[], None]) -> None:
        self._operator.on_change(notify)

    def cut(self) -> None:
        self._operator.cut()

    async def close(self) -> None:
        await self._operator.close()


def _still_devices(told: Mapping[str, Any]) -> dict[str, Any]:
    seen = [device for device in told.get("devices") or () if device["simulated"]]
    return {} if not told else {**told, "devices": [{**device, "traffic": []} for device in seen]}


def _still_call(call: CallRow) -> CallRow:
    return replace(call, request_id="req_0123456789abcdef01234567", elapsed_ms=_AGE_MS)


def _still_row(row: AuditRow) -> AuditRow:
    request = f"req_{row.seq:024x}" if row.request_id else ""
    record: Mapping[str, Any] = {**row.record, "duration_us": _TOOK_US, "request_id": request}
    return replace(row, duration_us=_TOOK_US if row.duration_us else 0, request_id=request, record=record)
