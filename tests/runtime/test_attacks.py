"""Handlers that mean harm, called as any caller would call them, in both isolations."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from evatui.kernel.lua import sandbox_facts
from evatui.kernel.model.call import Response
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.support.workspaces import tool, write

FILES = sorted((Path(__file__).parents[1] / "lua" / "attacks").glob("*.yaml"))
ATTACKS: list[dict[str, str]] = [
    {**attack, "subject": file.stem}
    for file in FILES
    for attack in yaml.load(
        file.read_text("utf-8"), yaml.CSafeLoader
    )  # ten times as fast, in each process of the tests
]
ERRORS = {
    *(ErrorKind.HANDLER_ERROR, ErrorKind.INVALID_OUTPUT, ErrorKind.INVALID_RESPONSE),
    *(ErrorKind.HOST_ERROR, ErrorKind.POLICY_DENIED, ErrorKind.INVALID_INPUT),
}
KINDS = {
    "error": ERRORS,
    "timeout": {ErrorKind.TIMEOUT},
    "memory": {ErrorKind.MEMORY_EXCEEDED, ErrorKind.TIMEOUT},  # a busy machine may not get as far
    "output": {ErrorKind.OUTPUT_TOO_LARGE},
    "host_calls": {ErrorKind.HOST_CALL_LIMIT},
    "not_loaded": {ErrorKind.NOT_FOUND},
}
SCRIPT = """\
local function attack(ctx, request)
{body}
end
function invoke(ctx, request)
  if request.payload.again then return {{ok = true, result = "served"}} end
  return {{ok = true, result = {{value = attack(ctx, request)}}}}
end
"""
SHOWN = re.compile(rf"(table|function|thread|userdata): 0x|Traceback|[.]py\b|\[evatui\]|{re.escape(str(Path.home()))}")
AT_ONCE = 6


def written_out(source: str) -> str:
    """``{3*ab}`` stands for ``ababab``."""
    return re.sub(r"\{(\d+)\*(.+?)\}", lambda match: match[2] * int(match[1]), source, flags=re.DOTALL)


def plant(root: Path, isolation: Isolation) -> None:
    for number, attack in enumerate(ATTACKS):
        script = written_out(attack["source"]) if "source" in attack else SCRIPT.format(body=attack["body"])
        limits = "{timeout_ms: %d, memory_bytes: %d, max_output_bytes: 262144, host_calls: 20}"
        memory = (4 if attack["expect"] == "memory" else 16) << 20  # the less there is, the sooner it is full
        loads = 400 if attack["expect"] == "not_loaded" else 15_000
        write(root, tool(f"attack_{number}", script, isolation=str(isolation), limits=limits % (loads, memory)))


def miss(attack: dict[str, str], response: Response) -> str:
    """What is wrong with the answer to an attack; empty if nothing is."""
    if found := SHOWN.search(repr(response)):
        return f"shows {found[0]!r}: {response}"
    if attack["expect"] == "ok":
        return "" if response.ok else str(response.error)
    if response.ok or response.error is None:
        return f"answered {repr(response.result)[:200]}"
    return "" if response.error.kind in KINDS[attack["expect"]] else str(response.error)


async def attacked(runtime: Runtime, number: int, attack: dict[str, Any]) -> str:
    timeout_ms = 120 if attack["expect"] == "timeout" else None
    report = await call(runtime, f"test.attack_{number}", {"n": 1, "s": "x"}, timeout_ms=timeout_ms)
    said = miss(attack, report.response)
    if attack["expect"] != "not_loaded":
        after = (await call(runtime, f"test.attack_{number}", {"again": True})).response
        if not after.ok and after.error is not None and after.error.kind not in ERRORS:
            said += f" and afterwards {after.error}"
    return f"{attack['subject']}, {attack['name']}: wanted {attack['expect']}: {said}" if said else ""


@pytest.mark.parametrize("isolation", [Isolation.IN_PROCESS, Isolation.PROCESS], ids=str)
async def test_each_attack_ends_as_it_should(start, workspace: Path, isolation: Isolation) -> None:
    """The limits are the handlers' own; the runtime and its other capabilities go on as if nothing was."""
    if isolation is Isolation.PROCESS and not sandbox_facts().process:
        pytest.skip("there are no worker processes on this system")
    plant(workspace, isolation)
    runtime: Runtime = await start()
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, attack: dict[str, str]) -> str:
        async with gate:
            return await attacked(runtime, number, attack)

    misses = await asyncio.gather(*(one(number, attack) for number, attack in enumerate(ATTACKS)))
    assert "\n".join(filter(None, misses)) == ""
    assert (await call(runtime)).response.ok
    assert runtime.engine.stuck == 0
