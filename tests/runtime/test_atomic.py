"""A failure at any step before the publish leaves the very table that served."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.table import Table
from tests.runtime.conftest import ANN, call
from tests.support.workspaces import SCRIPT, save

STEPS = {
    "the scan": ("reloader._scanner", "scan"),
    "the load": ("shadow", "load"),
    "the number": ("history", "record_generation"),
    "the health check": ("shadow", "health"),
    "the shadow edge": ("registry.attempts", "shadow_loaded"),
}


class Injected(Exception):
    pass


@pytest.mark.parametrize("step", STEPS)
async def test_a_defect_at_any_step_leaves_the_old_table(start, workspace: Path, monkeypatch, step: str) -> None:
    runtime = await start()
    serving = runtime.table
    where, name = STEPS[step]
    part = runtime
    for attribute in where.split("."):
        part = getattr(part, attribute)

    def fail(*_: object, **__: object) -> None:
        raise Injected

    with monkeypatch.context() as patched:
        patched.setattr(part, name, fail)
        save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
        with pytest.raises(Injected):
            await runtime.reloader.run(actor=ANN, explicit=True)
        assert runtime.table is serving
        assert (await call(runtime)).response.result["by"] == "one"
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.result["by"] == "two"
    counts = {state: n for state, n in runtime.registry.trail.counts.items() if n and state is not State.UNREGISTERED}
    assert counts[State.ACTIVE] == 1
    assert State.PENDING not in counts
    assert State.SHADOW not in counts


async def test_a_version_goes_into_service_by_one_assignment(start, workspace: Path, monkeypatch) -> None:
    runtime = await start()
    assigned: list[Table] = []

    class Told(type(runtime.registry)):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "table":
                assigned.append(value)
            super().__setattr__(name, value)

    monkeypatch.setattr(runtime.registry, "__class__", Told)
    before = runtime.table
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert assigned == [runtime.table]
    assert runtime.table is not before
    assert (await call(runtime)).response.result["by"] == "two"
    save(workspace, "capabilities/tools/greet.lua", "function (")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert len(assigned) == 1


VERSION = """
local version = {n}
function invoke(ctx, request)
  local begun, sum = version, 0
  for i = 1, 200 do sum = sum + i end
  local text = begun == version and "v" .. version or "mixed"
  return {{ok = true, result = {{text = text, by = request.context.generation}}}}
end
function health_check(ctx) return {{ok = true}} end
"""


async def test_fifty_swaps_under_load_lose_double_and_mix_nothing(start, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", VERSION.format(n=0))
    runtime = await start()
    seen: Counter[tuple[str, str]] = Counter()
    failed: list[object] = []
    stop = asyncio.Event()

    async def keep_calling() -> None:
        while not stop.is_set():
            report = await call(runtime)
            if report.response.ok:
                seen[report.generation, report.response.result["text"]] += 1
                assert report.response.result["by"] == report.generation
            else:
                failed.append(report.response.error)

    callers = [asyncio.create_task(keep_calling()) for _ in range(4)]
    script, chance = workspace / "capabilities/tools/greet.lua", random.Random(7)
    for n in range(1, 51):
        if chance.random() < 0.5:
            save(workspace, "capabilities/tools/greet.lua", VERSION.format(n=n))
        else:
            script.write_text(VERSION.format(n=n))
        async with asyncio.timeout(20):
            while (await call(runtime)).response.result["text"] != f"v{n}":
                await asyncio.sleep(0.001)
    stop.set()
    await asyncio.gather(*callers)
    assert failed == []
    assert not [text for _, text in seen if text == "mixed"]
    versions_of: dict[str, set[str]] = {}
    for generation, text in seen:
        versions_of.setdefault(generation, set()).add(text)
    assert all(len(texts) == 1 for texts in versions_of.values())
    assert runtime.registry.capabilities["greet"].in_flight == 0
