"""The transport ``plugin``: a program of its own for each call, from the copy of what was hashed, and nothing left.

The tool's name is its argument and the arguments its input, as JSON; each line on its standard error is progress, and
its output is the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any, Final

import orjson

from evatui.adapters.answers import hidden
from evatui.adapters.plugin_answer import answer_of
from evatui.adapters.plugin_lines import ProgressLines
from evatui.adapters.plugin_room import Lent, PluginRoom
from evatui.adapters.plugin_work import confining, environment
from evatui.extensions.plugins.catalogue import lacking
from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.shared.machine import Machine
from evatui.extensions.shared.manifest import Tool
from evatui.kernel.host.ports import Command, Invocation, NotSent, Setting, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import CallerType
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo

__all__ = ["PluginWay"]

_MAX_BYTES: Final = 4 << 20
"""Of each of the two outputs of a run."""
_PEOPLE: Final = (CallerType.USER, CallerType.CLI)
_BACKGROUND: Final = (
    "SUCCESS: Task is now running in background. The result will be delivered to the user automatically. "
    "No further action needed."
)


class PluginWay:
    """A call runs what the plugin was when it began, to its end, whatever the plugin is by then."""

    server: ServerInfo | None = None

    def __init__(self, adapter: Adapter, setting: Setting, room: PluginRoom) -> None:
        self._adapter = adapter
        self._setting = setting
        self._room = room
        self._turn = _Turn()

    @property
    def _plugin(self) -> Plugin:
        plugin: Plugin = self._adapter.block["plugin"]
        return plugin

    @property
    def state(self) -> WayState:
        """As of the last look at the machine."""
        lacks = "; ".join(self._adapter.block["missing"])
        return WayState("down", clean_line(f"it lacks what it requires: {lacks}")) if lacks else WayState("up")

    def target(self, invocation: Invocation) -> str:
        plugin, tool = self._plugin, self._tool(invocation)
        if tool.by_hand and invocation.caller.type not in _PEOPLE:
            message = f"{invocation.capability} is of the risk {tool.risk}: only a person may call it"
            raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False, reason="risk")
        return clean_line(f"{plugin.location}/{plugin.runs(tool)} {tool.name}", 512)

    async def invoke(self, invocation: Invocation) -> Any:
        plugin, tool, room = self._plugin, self._tool(invocation), self._room
        lacks = await asyncio.to_thread(lacking, plugin, Machine(room.environ))
        if lacks:
            message = clean_line(f"{self._adapter.id} lacks what it requires: {'; '.join(lacks)}")
            raise NotSent(ErrorKind.UNAVAILABLE, message, reason="missing")
        if not tool.spawn_only or invocation.caller.type is CallerType.SUBAGENT or not room.tasks.stays:
            return await self._run(plugin, tool, invocation, None)
        if room.tasks.full:
            raise NotSent(ErrorKind.CONCURRENCY_LIMITED, "too many tools run in the background already")
        task = room.tasks.begin(
            plugin.name,
            self._adapter.version,
            tool.name,
            invocation.request_id,
            invocation.caller,
            partial(self._within, plugin, tool, invocation),
        )
        output = tool.spawn_only_message or f"{_BACKGROUND}\nOutput directory: {self._shown(plugin, invocation)}"
        return {
            "output": output,
            "success": True,
            "task": task.handle,
            "work_dir": self._shown(plugin, invocation),
        }

    async def probe(self) -> None:
        """The program is there, as it was hashed."""
        await asyncio.to_thread(self._room.verified.make, self._plugin)

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        """Each call starts a program of its own."""

    async def close(self) -> None:
        await self._room.tasks.end(self._plugin.name)

    def _tool(self, invocation: Invocation) -> Tool:
        tool = self._plugin.manifest.tool(invocation.capability.rpartition(".")[2])
        if tool is None:
            raise NotSent(ErrorKind.NOT_FOUND, f"{self._adapter.id} has no such tool any more")
        return tool

    async def _within(self, plugin: Plugin, tool: Tool, invocation: Invocation, handle: str) -> dict[str, Any]:
        """In the background: nobody else looks at the clock."""
        try:
            async with asyncio.timeout(plugin.manifest.timeout_s):
                return await self._run(plugin, tool, invocation, handle)
        except TimeoutError:
            message = f"{invocation.capability} has not ended within {plugin.manifest.timeout_s} s"
            raise failure(ErrorKind.TIMEOUT, message) from None

    async def _run(self, plugin: Plugin, tool: Tool, invocation: Invocation, handle: str | None) -> dict[str, Any]:
        """What runs in the background does so at once, and keeps no other call waiting."""
        turn = self._turn.taken(alone=tool.exclusive) if handle is None else nullcontext()
        with self._room.verified.held(plugin):  # while it waits for its turn too
            async with turn, self._room.lent(plugin, invocation.request_id) as lent:
                return await self._started(plugin, tool, invocation, lent, handle)

    async def _started(
        self, plugin: Plugin, tool: Tool, invocation: Invocation, lent: Lent, handle: str | None
    ) -> dict[str, Any]:
        room, root, who, work = self._room, self._setting.root, invocation.capability, lent.work
        given, secrets = environment(tool.env, room.environ, self._setting.key, work, root)
        lines = ProgressLines(partial(self._progress, invocation, handle, asyncio.get_running_loop()))
        program = str(lent.package / plugin.runs(tool))
        argv: tuple[str, ...] = (program, tool.name)
        if room.confines:
            network = plugin.manifest.requires_network
            argv = (*confining(program, lent.package, work, given, root, network=network), *argv)
        data = orjson.dumps(invocation.payload)
        try:
            command = Command(argv, data, work, _MAX_BYTES, argv[0], environ=given, hear=lines.hear)
            finished = await room.processes.run(command)
        except CallFailed as failed:
            raise _of_plugin(who, failed) from None
        finally:
            lines.end()
        shown, package = self._shown(plugin, invocation), (lent.package, plugin.location)
        answer = partial(answer_of, who, finished, invocation.payload, work, shown, package)
        found: dict[str, Any] = hidden(await asyncio.to_thread(answer), secrets)
        return found

    def _shown(self, plugin: Plugin, invocation: Invocation) -> str:
        return f"{self._room.shown}/{plugin.name}/{invocation.request_id}"

    def _progress(
        self,
        invocation: Invocation,
        handle: str | None,
        loop: asyncio.AbstractEventLoop,
        progress: Progress,
    ) -> None:
        """On the thread of the run."""
        told = {
            "capability": invocation.capability,
            "request_id": invocation.request_id,
            "task": handle,
            **progress.to_json(),
        }
        self._room.tell("progress", told)
        heard = invocation.told if handle is None else partial(self._room.tasks.progress, handle)
        loop.call_soon_threadsafe(heard, progress)


def _of_plugin(who: str, failed: CallFailed) -> CallFailed:
    """What comes of running a command, as that of a tool: too much that it wrote is its output."""
    error = failed.error
    if error.kind is not ErrorKind.INPUT_TOO_LARGE:
        return failed
    return failure(ErrorKind.OUTPUT_TOO_LARGE, f"{who} wrote more than {_MAX_BYTES:,} bytes, and was ended")


class _Turn:
    """Several calls at once, or one alone; first come, first served."""

    def __init__(self) -> None:
        self._door = asyncio.Lock()
        self._inside = 0
        self._left = asyncio.Event()

    @asynccontextmanager
    async def taken(self, *, alone: bool) -> AsyncIterator[None]:
        async with self._door:
            while alone and self._inside:
                self._left.clear()
                await self._left.wait()
            if not alone:
                self._inside += 1
            else:
                yield
                return
        try:
            yield
        finally:
            self._inside -= 1
            self._left.set()
