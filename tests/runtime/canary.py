"""A workspace whose next version is a canary, and callers for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evatui.kernel.model.call import CallReport
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.rollout.rollout import Rollout
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.workspaces import MANIFEST, SCRIPT, save

GOOD = SCRIPT.replace('"one"', '"two"')
BAD = GOOD.replace("  return {ok = true, result", '  error("broken")\n  return {ok = true, result')
HALF = "{percent: 50, users: [ann]}"
FEW = "{min_samples: 5}"


def manifest(canary: str = HALF, analysis: str = FEW, more: str = "") -> str:
    block = f"reload: {{drain_timeout_ms: 20000, canary: {canary}, analysis: {analysis}}}"
    return MANIFEST.replace("reload: {drain_timeout_ms: 20000}", block) + more


def rollout_of(runtime: Runtime) -> Rollout:
    found = greet(runtime).rollout
    assert found is not None
    return found


def greet(runtime: Runtime) -> Capability:
    return runtime.registry.capabilities["greet"]


async def canary(runtime: Runtime, workspace: Path, script: str = GOOD, **blocks: str) -> Rollout:
    """The next version, tried out."""
    save(workspace, "capabilities/tools/greet.lua", script)
    save(workspace, "capabilities/greet.yaml", manifest(**blocks))
    await runtime.reloader.run(actor=ANN, explicit=True)
    return rollout_of(runtime)


async def asked(runtime: Runtime, user: str | None = "ann", name: str = "x", **fields: Any) -> str:
    """Which version answered: what it calls itself, or the kind of its error."""
    report: CallReport = await call(runtime, payload={"name": name}, user=user, **fields)
    response = report.response
    return str(response.result["by"]) if response.ok else str(response.error.kind if response.error else "")


def events(runtime: Runtime, what: str) -> list[dict[str, Any]]:
    found, _ = runtime.bus.since(0)
    return [dict(event.payload) for event in found if event.topic == f"/capability/{what}"]
