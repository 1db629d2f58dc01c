"""What metrics say of a runtime."""

from __future__ import annotations

from pathlib import Path

from evatui.kernel.model.lifecycle import State
from tests.runtime.conftest import call
from tests.support.waiting import until


async def test_a_capability_is_measured_while_it_is_there(start, workspace: Path) -> None:
    runtime = await start()
    assert (await call(runtime)).response.ok
    text = runtime.metrics.text()
    assert 'capability_invocations_total{capability_id="greet",kind="lua_tool",outcome="ok"} 1.0' in text
    assert 'capability_reload_total{capability_id="greet",kind="lua_tool",outcome="ok"} 1.0' in text
    assert 'capability_generation_active{capability_id="greet",generation="greet@1.0.0+build.' in text
    (workspace / "capabilities/greet.yaml").unlink()
    await until(lambda: runtime.registry.capabilities["greet"].state is State.UNREGISTERED)
    assert "greet" not in runtime.metrics.text()
