"""A capability whose calls last until they are let go, so that a test can hold a generation in use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from evatui.kernel.model.call import CallReport
from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

__all__ = ["held_call", "let_go", "patient", "save_version", "serves"]

_SCRIPT = """\
function invoke(ctx, request)
  local key = request.payload.key
  while key and ctx.host.state_get({{key = key}}).version == 0 do end
  return {{ok = true, result = {{by = "{by}"}}}}
end
"""
_LIMITS = "{timeout_ms: 60000, concurrency: 8, host_calls: 1000000}"


def patient(workspace: Path, **manifest: str) -> None:
    """The capability ``patient`` at its version ``one``."""
    fields: Mapping[str, str] = {"limits": _LIMITS, "reload": "{drain_timeout_ms: 60000}", **manifest}
    write(workspace, tool("patient", _SCRIPT.format(by="one"), **fields))


def save_version(workspace: Path, by: str) -> None:
    save(workspace, "capabilities/tools/patient.lua", _SCRIPT.format(by=by))


async def serves(runtime: Runtime, by: str) -> None:
    """Until the version is there, as its callers see it."""
    async with asyncio.timeout(60):
        while (await call(runtime, "test.patient", {})).response.result != {"by": by}:
            await asyncio.sleep(0.002)


async def held_call(runtime: Runtime, key: str) -> asyncio.Task[CallReport]:
    """A call under way; it lasts until `let_go`."""
    capability = runtime.registry.capabilities["patient"]
    before = capability.in_flight
    task = asyncio.create_task(call(runtime, "test.patient", {"key": key}))
    await until(lambda: capability.in_flight > before or task.done())
    return task


async def let_go(runtime: Runtime, key: str, task: asyncio.Task[CallReport]) -> CallReport:
    await asyncio.to_thread(runtime.state.set, "patient", 1, key, True)
    return await task
