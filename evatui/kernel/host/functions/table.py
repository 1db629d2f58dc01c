"""Which functions ``ctx.host`` has, and on what thread each of them runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.host.functions import clock, events, files, http, process, state, tools

__all__ = ["AWAITED", "DIRECT", "Awaited", "Direct"]

Direct = Callable[[Asker, Arguments, HostCall], Any]
"""Takes its `Arguments`, sets the call's target, and raises `CallFailed`; the answer is JSON-like."""
Awaited = Callable[[Asker, Arguments, HostCall], Awaitable[Any]]

DIRECT: Mapping[str, Direct] = {
    "fs_read_text": files.fs_read_text,
    "fs_read_json": files.fs_read_json,
    "fs_list": files.fs_list,
    "fs_write_text": files.fs_write_text,
    "state_get": state.state_get,
    "state_set": state.state_set,
    "emit_event": events.emit_event,
    "log": events.log,
    "progress": events.progress,
    "now": clock.now,
}
"""Need no event loop: they run at once, on the thread of Lua that asks, and may block it."""

AWAITED: Mapping[str, Awaited] = {
    "call_tool": tools.call_tool,
    "invoke_adapter": tools.invoke_adapter,
    "http_request": http.http_request,
    "spawn_process": process.spawn_process,
}
"""Wait for somebody else: they run on the loop and must not block it. The handler holds no thread meanwhile."""
