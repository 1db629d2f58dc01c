"""Worker processes and what is put around them: proven by starting one, not taken on trust."""

from __future__ import annotations

import time
from typing import Any

from evatui.control.doctor.check import Check
from evatui.kernel.lua.engine import Engine, LoadFailed
from evatui.kernel.lua.program import Chunk, Program
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.sandbox import SandboxFacts

__all__ = ["check_sandbox", "sandbox"]

_PROBE = Program(Chunk("probe.lua", b"function invoke(ctx, request) return {ok = true} end"))
_AT_MOST_S = 10.0


async def sandbox(engine: Engine, facts: SandboxFacts) -> dict[str, Any]:
    """``facts`` with ``worker: {started, ms, error}``, null where this platform has none."""
    return {**facts.to_json(), "worker": await _started(engine) if facts.process else None}


async def _started(engine: Engine) -> dict[str, Any]:
    began, error = time.monotonic(), None
    try:
        loaded = await engine.load(_PROBE, timeout_s=_AT_MOST_S, isolation=Isolation.PROCESS)
        loaded.close()
    except LoadFailed as failed:
        error = failed.message
    return {"started": error is None, "ms": round((time.monotonic() - began) * 1000, 1), "error": error}


def check_sandbox(found: dict[str, Any]) -> list[Check]:
    missing, worker = ", ".join(found["missing"]), found["worker"]
    if worker is None:
        fix = "Only what the policy trusts runs here; nothing is moved out of the process."
        return [Check("worker processes", False, f"missing here: {missing}", fix)]
    if not worker["started"]:
        fix = "Run what is not trusted elsewhere, and tell the makers of evatui what this says."
        return [Check("worker processes", False, f"none could be started: {worker['error']}", fix)]
    started = Check("worker processes", True, f"one was started and answered in {worker['ms']:.0f} ms")
    if not found["os_sandbox"]:
        fix = "Third-party and unknown sources are refused, unless the policy sets isolation.require_os_sandbox: false."
        return [started, Check("OS sandbox", False, f"missing here: {missing}", fix)]
    landlock = f"Landlock ABI {found['landlock_abi']}" if found["landlock_abi"] else "no Landlock"
    return [started, Check("OS sandbox", True, f"resource limits, {landlock}, seccomp")]
