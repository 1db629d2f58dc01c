"""Tools of plugins that run in the background: what is under way, how far it has come, and how it ended."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from evatui.extensions.plugins.offering import provider_of
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line, cut
from evatui.kernel.registry.cancelling import EndedTask

__all__ = ["PluginTask", "PluginTasks"]

_KEPT: Final = 100
_AT_ONCE: Final = 32
_SHOWN: Final = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginTask:
    """``state`` is ``running``, ``done``, ``failed`` or ``cancelled``; ``result`` is what the tool answered, ``error``
    why it did not; of an output at most 16,384 characters are kept. ``version`` is of the plugin that it began with.
    ``cancelled_by`` ordered its end.
    """

    handle: str
    plugin: str
    version: str
    tool: str
    request_id: str
    actor: Actor
    began: dt.datetime
    state: str = "running"
    progress: Progress | None = None
    ended: dt.datetime | None = None
    result: Mapping[str, Any] | None = None
    error: CallError | None = None
    cancelled_by: str = ""

    @property
    def runs_on(self) -> str:
        return f"{provider_of(self.plugin)}@{self.version}"

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.handle,
            "plugin": self.plugin,
            "version": self.version,
            "tool": self.tool,
            "request_id": self.request_id,
            "state": self.state,
            "progress": self.progress.to_json() if self.progress is not None else None,
            "result": dict(self.result) if self.result is not None else None,
            "error": self.error.to_json() if self.error is not None else None,
        }


Work = Coroutine[Any, Any, dict[str, Any]]


class PluginTasks:
    """At most 32 at once; the newest 100 that have ended are kept. For one event loop.

    ``tell`` hears of each that begins and ends: ``started``, ``finished``.
    """

    def __init__(self, clock: Clock, tell: Callable[[str, PluginTask], None]) -> None:
        self._clock = clock
        self._tell = tell
        self._tasks: dict[str, PluginTask] = {}
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.stays = True
        """Is the runtime there for longer than a command? Else a tool would be ended just after it began."""

    @property
    def rows(self) -> tuple[PluginTask, ...]:
        """The newest first."""
        return tuple(reversed(self._tasks.values()))

    @property
    def full(self) -> bool:
        return len(self._running) >= _AT_ONCE

    def begin(
        self, plugin: str, version: str, tool: str, request_id: str, actor: Actor, work: Callable[[str], Work]
    ) -> PluginTask:
        """``work`` gets the handle. Nobody need wait for it."""
        task = PluginTask(
            handle=new_id("task"),
            plugin=plugin,
            version=version,
            tool=tool,
            request_id=request_id,
            actor=actor,
            began=self._clock.now(),
        )
        self._tasks[task.handle] = task
        running = self._running[task.handle] = asyncio.create_task(work(task.handle))
        running.add_done_callback(partial(self._ended, task.handle))
        self._tell("started", task)
        self.on_change()
        return task

    def progress(self, handle: str, progress: Progress) -> None:
        """A message without a number leaves the number that there was."""
        task = self._tasks.get(handle)
        if task is None or task.ended is not None:
            return
        before = task.progress
        if before is not None and progress.total is None:
            progress = replace(before, message=progress.message)
        self._tasks[handle] = replace(task, progress=progress)
        self.on_change()

    def cancel(self, what: str, by: str) -> Sequence[EndedTask]:
        """Ends a task by its handle, by the request that began it, or all of a version of a plugin."""
        running = [one for one in self._tasks.values() if one.handle in self._running and not one.cancelled_by]
        found = [one for one in running if what in (one.handle, one.request_id, one.runs_on)]
        ended = [one for one in found if self._running[one.handle].cancel()]
        for one in ended:
            self._tasks[one.handle] = replace(one, cancelled_by=by)
        return [self._told_of(one) for one in ended]

    async def end(self, plugin: str) -> None:
        """Ends those of a plugin, and waits for that."""
        running = [
            self._running[one.handle] for one in self.rows if one.plugin == plugin and one.handle in self._running
        ]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _told_of(self, task: PluginTask) -> EndedTask:
        return EndedTask(
            handle=task.handle,
            provider=provider_of(task.plugin),
            runs_on=task.runs_on,
            request_id=task.request_id,
            caller=clean_line(task.actor.id or task.actor.type.value, 128),
            elapsed_ms=(self._clock.now() - task.began).total_seconds() * 1000,
        )

    def _ended(self, handle: str, running: asyncio.Task[dict[str, Any]]) -> None:
        del self._running[handle]
        before = self._tasks[handle]
        task = replace(before, ended=self._clock.now(), **_outcome(running, before.cancelled_by))
        self._tasks[handle] = task
        for old in [one.handle for one in self._tasks.values() if one.ended is not None][:-_KEPT]:
            del self._tasks[old]
        self._tell("finished", task)
        self.on_change()


def _outcome(running: asyncio.Task[dict[str, Any]], cancelled_by: str) -> dict[str, Any]:
    if running.cancelled():
        why = f"cancelled by {cancelled_by}" if cancelled_by else "the plugin left service"
        return {"state": "cancelled", "error": CallError(ErrorKind.CANCELLED, why)}
    error = running.exception()
    if isinstance(error, CallFailed):
        return {"state": "failed", "error": error.error}
    if error is not None:
        return {
            "state": "failed",
            "error": CallError(ErrorKind.INTERNAL, f"it failed in the kernel ({type(error).__name__})"),
        }
    return {"state": "done", "result": _short(running.result())}


def _short(result: Mapping[str, Any]) -> dict[str, Any]:
    return {**result, "output": cut(str(result.get("output", "")), _SHOWN)}
