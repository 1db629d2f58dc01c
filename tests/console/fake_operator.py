"""A fake at a boundary: an `Operator` with scripted snapshots and answers, in the place of a runtime."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.operator import OnProgress, refuse_if_readonly
from evatui.control.snapshot import ConsoleSnapshot, Cursor

Answer = Mapping[str, Any] | CommandFailed


class FakeOperator:
    """Gives the snapshot it was last told, and notes every command; `answers` may hold a failure to raise."""

    def __init__(self, snapshot: ConsoleSnapshot, answers: Mapping[str, Answer] | None = None) -> None:
        self.readonly = False
        self.current = snapshot
        self.answers = dict(answers or {})
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.request_ids: list[str] = []
        self.finished: list[str] = []
        self.pulls: list[Cursor] = []
        self.closed = 0
        self.cuts = 0
        self.gate: asyncio.Event | None = None
        """Commands wait for it, where there is one."""
        self.on_progress: OnProgress | None = None
        """Of the newest command."""
        self._notify: Callable[[], None] = lambda: None

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        self.on_progress = on_progress
        refuse_if_readonly(self, command)
        self.request_ids.append(params.pop("request_id", ""))
        self.commands.append((command, params))
        if self.gate is not None:
            await self.gate.wait()
        answer = self.answers.get(command, {})
        if isinstance(answer, Exception):
            raise answer
        self.finished.append(command)
        return dict(answer)

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        self.pulls.append(since)
        fresh = tuple(row for row in self.current.audit if row.seq > since.audit)
        last = self.current.audit[-1].seq if self.current.audit else 0
        events = tuple(event for event in self.current.events if event.seq > since.events)
        newest = events[-1].seq if events else since.events
        return replace(self.current, audit=fresh, events=events, cursor=Cursor(newest, max(last, since.audit)))

    def on_change(self, notify: Callable[[], None]) -> None:
        self._notify = notify

    def change(self, snapshot: ConsoleSnapshot) -> None:
        """From any thread, as a kernel would."""
        self.current = snapshot
        self._notify()

    def cut(self) -> None:
        self.cuts += 1

    async def close(self) -> None:
        self.closed += 1

    def sent(self, command: str) -> list[dict[str, Any]]:
        return [params for name, params in self.commands if name == command]
