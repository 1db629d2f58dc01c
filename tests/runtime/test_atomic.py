"""A failure at any step before the publish leaves the very table that served."""

from __future__ import annotations

import asyncio
import contextlib
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry import together
from evatui.kernel.registry.table import Table
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import SCRIPT, save, tool, write

NAMES = ("a", "b", "c")

ALL = {
    "the scan": (lambda runtime: runtime.reloader._looking._scanner, "scan"),
    "the gate's ruling": (lambda runtime: runtime.gate, "rule"),
    "the new table": (lambda runtime: Table, "changed"),
}
"""Steps that a set of changes takes as one."""
EACH = {
    "the beginning": (lambda runtime: runtime.registry.attempts, "begin"),
    "the load": (lambda runtime: runtime.shadow, "load"),
    "the number": (lambda runtime: runtime.history, "record_generation"),
    "the shadow edge": (lambda runtime: runtime.registry.attempts, "shadow_loaded"),
    "the health check": (lambda runtime: runtime.shadow, "health"),
    "the examples": (lambda runtime: runtime.examples, "tried"),
    "the schema of its state": (lambda runtime: runtime.operations._migrations, "in_force"),
    "the ruling of now": (lambda runtime: runtime.gate, "rule_again"),
    "the grant": (lambda runtime: runtime.gate, "serves"),
    "the content store": (lambda runtime: runtime.store, "save"),
    "the row of its serving": (lambda runtime: runtime.history, "serves"),
    "the place where it runs": (lambda runtime: runtime.shadow, "settle"),
}
"""Steps that each change takes for itself."""
TOLD = {
    "the event": (lambda runtime: runtime.bus, "emit"),
    "the record": (lambda runtime: runtime.audit, "note"),
    "a listener": (lambda runtime: runtime.metrics, "told"),
}
"""What is told of it decides nothing."""
STEPS = {**ALL, **EACH, **TOLD}


class Injected(Exception):
    pass


class Failing:
    """Fails once, at its ``nth`` call."""

    def __init__(self, call, nth: int) -> None:
        self._call = call
        self._left = nth
        self.failed = False

    def __call__(self, *given, **named):
        self._left -= 1
        if self._left == -1:
            self.failed = True
            raise Injected
        return self._call(*given, **named)


@settings(max_examples=2)
@given(
    st.permutations(sorted(STEPS)),
    st.lists(
        st.sampled_from([(3, 0), (3, 1), (3, 2), (2, 0), (2, 1), (1, 0)]), min_size=len(STEPS), max_size=len(STEPS)
    ),
)
def test_a_defect_at_any_step_leaves_what_served(steps: list[str], sets: list[tuple[int, int]]) -> None:
    """In one workspace, one step after the other, in sets of one to three; the next reload always works."""

    async def main(root: Path) -> None:
        for name in NAMES:
            write(root, tool(name, script(0)))
        runtime = await Runtime.open(root)
        await runtime.watch.close()
        try:
            for n, (step, (size, nth)) in enumerate(zip(steps, sets, strict=True), start=1):
                await struck(runtime, root, step, n, NAMES[:size], nth if step in EACH else 0)
        finally:
            await runtime.close()

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(together, "TOGETHER_SECONDS", 60)
        asyncio.run(main(Path(folder)))


async def struck(runtime: Runtime, root: Path, step: str, n: int, names: tuple[str, ...], nth: int) -> None:
    before, answers = runtime.table, await said(runtime)
    for name in names:
        save(root, f"capabilities/tools/{name}.lua", script(n))
    where, what = STEPS[step]
    failing = Failing(getattr(where(runtime), what), nth)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(where(runtime), what, failing)
        with contextlib.suppress(Injected):
            await runtime.reloader.run(actor=ANN, explicit=True)
            assert step in TOLD
    await runtime.refusals.settled()  # records are written in a thread
    assert failing.failed
    after = await said(runtime)
    if step in ALL or (step in EACH and len(names) == 1):
        assert runtime.table is before
    changed = [name for name in names if after[name] == n]
    assert len(changed) == (0 if step in ALL else len(names) - (step in EACH))
    for name in {*NAMES} - {*changed}:
        assert runtime.table.active[name] is before.active[name]
        assert after[name] == answers[name]
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert await said(runtime) == {**answers, **dict.fromkeys(names, n)}
    await until(lambda: not any(one.draining for one in runtime.registry.capabilities.values()))
    counts = {state: n for state, n in runtime.registry.trail.counts.items() if n and state is not State.UNREGISTERED}
    assert counts == {State.ACTIVE: len(NAMES)}


def script(n: int) -> str:
    return f"function invoke(ctx, request) return {{ok = true, result = {n}}} end"


async def said(runtime: Runtime) -> dict[str, int]:
    return {name: (await call(runtime, f"test.{name}", {})).response.result for name in NAMES}


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
        async with asyncio.timeout(60):
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
