"""In which process a capability runs, and how it gets there: by right, or because its code had to be stopped."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from evatui.control.answers import inspected, listed
from evatui.kernel.lua.threads import Threads
from evatui.kernel.lua.worker.launch import NotLaunched
from evatui.kernel.lua.worker.nursery import Nursery
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.sandbox import NO_SANDBOX
from evatui.runtime import Runtime
from tests.lua.worker.harness import below
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

IN, OUT = Isolation.IN_PROCESS, Isolation.PROCESS
WILD = """\
function invoke(ctx, request)
  local how = request.payload.how
  while how == "spin" do end
  if how == "hoard" then return {ok = true, result = ("x"):rep(1 << 28)} end
  if how == "go" then ctx.host.state_set{key = "go", value = true} end
  while how == "wait" and ctx.host.state_get{key = "go"}.version == 0 do end
  return {ok = true, result = {how = how, by = "one"}}
end
"""
LIMITS = "{timeout_ms: 20000, memory_bytes: 4194304}"
PATH = "capabilities/tools/wild.lua"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are no grandchildren")


@pytest.fixture
def wild(workspace: Path) -> Path:
    write(workspace, tool("wild", WILD, limits=LIMITS))
    return workspace


@pytest.fixture
async def ready(start) -> Callable[[], Awaitable[Runtime]]:
    """Opens the workspace, with workers at hand: the first one costs a call what a second one does not."""

    async def ready() -> Runtime:
        runtime = await start()
        await asyncio.to_thread(runtime.workers.get_ready)
        return runtime

    return ready


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without worker processes."""
    for user in ("evatui.runtime.rooms", "evatui.kernel.lua.worker.workers"):
        monkeypatch.setattr(f"{user}.sandbox_facts", lambda: NO_SANDBOX)


async def do(runtime: Runtime, how: str = "", name: str = "test.wild") -> object:
    """The kind of the error, or what was answered."""
    response = (await call(runtime, name, {"how": how})).response
    return response.result["by"] if response.ok else response.error.kind


def workers(runtime: Runtime) -> int:
    """Processes that its zygote has forked."""
    pid = runtime.workers._launcher.pid
    return len(below(pid)) if pid else 0


def where(runtime: Runtime, name: str = "wild") -> Isolation:
    return runtime.table.active[name].program.isolation


def events(runtime: Runtime) -> list[str]:
    return [event.topic.rpartition("/")[2] for event in runtime.bus.since(0)[0] if "demot" in event.topic]


@pytest.mark.parametrize("how", [("spin", "spin"), ("hoard", "spin")])
async def test_two_strikes_move_a_capability_to_a_process_of_its_own(ready, wild: Path, how: tuple[str, ...]) -> None:
    write(wild, tool("wild", WILD, limits="{timeout_ms: 2000, memory_bytes: 4194304}"))
    runtime = await ready()
    kinds = {"spin": ErrorKind.TIMEOUT, "hoard": ErrorKind.MEMORY_EXCEEDED}
    assert await do(runtime, how[0]) is kinds[how[0]]
    assert (where(runtime), events(runtime)) == (IN, [])
    assert await do(runtime, how[1]) is kinds[how[1]]
    assert (where(runtime), events(runtime)) == (OUT, ["demoted"])
    assert workers(runtime) == 0
    assert await do(runtime) == "one"
    assert workers(runtime) == 1
    assert await do(runtime, "hoard") is kinds["hoard"]
    assert await do(runtime) == "one"
    assert events(runtime) == ["demoted"]
    assert (await call(runtime)).response.ok
    assert where(runtime, "greet") is IN
    row = next(row for row in listed(runtime)["capabilities"] if row["id"] == "wild")
    assert (row["state"], row["marks"]) == ("Active", ["demoted"])
    said = inspected(runtime, runtime.registry.capabilities["wild"])["isolation"]
    assert (said["asked"], said["in_force"], said["warm"]) == ("auto", "process", {"in_process": 0, "process": 1})
    assert sum(said["strikes"][name] for name in ("timeout", "memory", "stuck")) == 3
    assert "moved there after" in said["why"]
    await runtime.close()
    assert workers(runtime) == 0
    (record,) = [record for record in runtime.audit.tail(50) if record["code"] == "capability.demoted"]
    assert (record["outcome"], record["capability_id"], record["error_kind"]) == ("ok", "wild", kinds[how[1]])


async def test_strikes_are_counted_over_generations_and_no_new_one_gets_round_them(ready, wild: Path) -> None:
    runtime = await ready()
    await do(runtime, "hoard")
    save(wild, PATH, WILD.replace("one", "two"))
    await runtime.reloader.run(explicit=True)
    assert where(runtime) is IN
    await do(runtime, "hoard")
    assert where(runtime) is OUT
    for manifest in ("auto", "in_process"):
        write(wild, tool("wild", WILD.replace("one", manifest), limits=LIMITS, isolation=manifest))
        await runtime.reloader.run(explicit=True)
        assert await do(runtime) == manifest
        assert where(runtime) is OUT
    await runtime.operations.rollback("wild", ANN)
    assert (await do(runtime), where(runtime)) == ("auto", OUT)


async def test_a_call_in_flight_ends_where_it_is(ready, wild: Path) -> None:
    write(wild, tool("wild", WILD, limits="{timeout_ms: 20000, memory_bytes: 4194304, host_calls: 1000000}"))
    runtime = await ready()
    waiting = asyncio.create_task(do(runtime, "wait"))
    wild_one = runtime.registry.capabilities["wild"]
    await until(lambda: wild_one.in_flight)
    for _ in range(2):
        assert await do(runtime, "hoard") is ErrorKind.MEMORY_EXCEEDED
    assert (where(runtime), workers(runtime)) == (OUT, 0)
    assert await do(runtime, "go") == "one"
    assert await waiting == "one"
    assert workers(runtime) == 1


async def test_enable_takes_it_back_as_a_new_generation_and_forgets(ready, wild: Path) -> None:
    runtime = await ready()
    for _ in range(2):
        await do(runtime, "hoard")
    before = runtime.table.active["wild"].name
    receipt = await runtime.operations.enable("wild", ANN)
    assert (receipt.source, receipt.target) == (before, runtime.table.active["wild"].name)
    assert receipt.source != receipt.target
    assert "in the process of the runtime again" in receipt.note
    assert (await do(runtime), where(runtime)) == ("one", IN)
    await do(runtime, "hoard")
    assert where(runtime) is IN
    await do(runtime, "hoard")
    assert (where(runtime), events(runtime)) == (OUT, ["demoted", "demoted"])


async def test_what_is_refused_by_now_stays_where_it_was_moved(ready, wild: Path) -> None:
    runtime = await ready()
    for _ in range(2):
        await do(runtime, "hoard")
    policy = wild / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "ceilings: {priority: 10}\n")
    with pytest.raises(CallFailed):
        await runtime.operations.enable("wild", ANN)
    assert where(runtime) is OUT
    assert runtime.registry.capabilities["wild"].conduct.demoted


async def test_in_process_by_hand_is_not_moved_for_verdicts_but_for_threads_that_do_not_come_back(
    ready, wild: Path
) -> None:
    write(wild, tool("wild", WILD, limits=LIMITS, isolation="in_process"))
    runtime = await ready()
    for _ in range(3):
        await do(runtime, "hoard")
    assert (where(runtime), events(runtime)) == (IN, [])
    strike = runtime.warden.strikes_of(runtime.table.active["wild"].candidate)
    for _ in range(2):
        await asyncio.to_thread(strike, ErrorKind.INTERNAL)
    await until(lambda: where(runtime) is OUT)
    assert await do(runtime) == "one"


async def test_threads_that_nothing_brings_back_are_replaced_and_move_what_keeps_them(
    ready, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts of zero bytes are compared in C one by one, for longer than a call is waited for.

    A thread may come back before one can look, so what is counted is how often one was given up.
    """
    given_up: list[Threads] = []
    replace = Threads.lost
    monkeypatch.setattr(Threads, "lost", lambda threads: (given_up.append(threads), replace(threads)))
    body = 'local text = ("\\0"):rep(1 << 18) while request.payload.how do local _ = text < text end'
    script = f"function invoke(ctx, request) {body} return {{ok = true, result = {{by = 'one'}}}} end"
    write(workspace, tool("wild", script, limits="{timeout_ms: 200}", isolation="in_process"))
    runtime = await ready()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("evatui.kernel.lua.ending.GRACE_S", 0.005)
        for times in (1, 2):
            while len(given_up) < times:  # a busy machine takes that long before the handler has begun
                assert await do(runtime, "compare") is ErrorKind.TIMEOUT
            assert (await call(runtime)).response.ok
        await until(lambda: where(runtime) is OUT)
    assert events(runtime) == ["demoted"]
    assert await do(runtime, "compare") is ErrorKind.TIMEOUT
    await until(lambda: runtime.engine.stuck == 0)


async def test_a_caller_in_a_hurry_proves_nothing(ready, wild: Path) -> None:
    write(wild, tool("wild", WILD, limits="{timeout_ms: 20000}"))
    runtime = await ready()
    for _ in range(3):
        report = await call(runtime, "test.wild", {"how": "spin"}, timeout_ms=20)
        assert report.response.error.kind is ErrorKind.TIMEOUT
    assert not runtime.registry.capabilities["wild"].conduct.strikes


async def test_where_there_are_no_workers_it_says_so_and_stays(start, wild: Path, nowhere: None) -> None:
    runtime = await start()
    for _ in range(3):
        await do(runtime, "hoard")
    assert (where(runtime), events(runtime)) == (IN, ["demotion_failed"])
    assert await do(runtime) == "one"
    row = next(row for row in listed(runtime)["capabilities"] if row["id"] == "wild")
    assert row["marks"] == ["demotion failed"]
    assert (
        "no worker process is to be had"
        in inspected(runtime, runtime.registry.capabilities["wild"])["isolation"]["why"]
    )
    await runtime.close()
    (record,) = [record for record in runtime.audit.tail(50) if record["code"] == "capability.demotion_failed"]
    assert record["outcome"] == "error"


@pytest.mark.parametrize("manifest", [{"isolation": "process"}, {"trust": "{source: third_party}"}])
async def test_what_belongs_in_a_process_is_loaded_and_called_there(
    ready, workspace: Path, manifest: dict[str, str]
) -> None:
    write(workspace, tool("wild", WILD, **manifest))
    runtime = await ready()
    assert where(runtime) is OUT
    assert await do(runtime) == "one"
    assert workers(runtime) == 1
    row = next(row for row in listed(runtime)["capabilities"] if row["id"] == "wild")
    assert row["marks"] == ["process"]


@pytest.mark.parametrize("manifest", [{"isolation": "process"}, {"trust": "{source: third_party}"}])
async def test_what_belongs_in_a_process_is_refused_where_there_is_none(
    start, workspace: Path, manifest: dict[str, str], nowhere: None
) -> None:
    write(workspace, tool("wild", WILD, **manifest))
    runtime = await start()
    refused = runtime.registry.capabilities["wild"]
    assert refused.state is State.REJECTED
    assert refused.rejection.diagnostics[0].reason.value == "isolation_unavailable"


async def test_a_source_that_loses_its_trust_leaves_the_process(ready, wild: Path) -> None:
    runtime = await ready()
    assert (await do(runtime), where(runtime)) == ("one", IN)
    policy = wild / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "trusted_sources: [user]\n")
    await runtime.reloader.run(explicit=True)
    assert (await do(runtime), where(runtime), where(runtime, "greet")) == ("one", OUT, OUT)
    assert workers(runtime) == 1
    assert events(runtime) == []


async def test_a_version_that_comes_back_stays_in_a_process_of_its_own(ready, workspace: Path) -> None:
    write(workspace, tool("wild", WILD, trust="{source: third_party}"))
    runtime = await ready()
    write(workspace, {PATH: WILD.replace('"one"', '"two"')})
    policy = workspace / "capabilities/policies/default.yaml"
    await runtime.reloader.run(explicit=True)
    policy.write_text(policy.read_text() + "trusted_sources: [user, third_party]\n")
    await runtime.reloader.run(explicit=True)
    await runtime.operations.rollback("wild", ANN)
    assert (await do(runtime), where(runtime)) == ("one", OUT)


async def test_workers_that_do_not_start_are_said_so_and_tried_again(start, wild: Path, monkeypatch) -> None:
    def refuse(self: Nursery) -> None:
        raise NotLaunched("no room for another process")

    monkeypatch.setattr(Nursery, "start", refuse)
    write(wild, tool("apart", WILD, isolation="process"))
    runtime = await start()
    apart = runtime.registry.capabilities["apart"]
    found = apart.rejection.diagnostics[0]
    assert (found.code, found.reason.value) == ("EVA-416", "isolation_unavailable")
    assert "no room for another process" in found.message
    assert "isolation: process" in found.rendered
    for _ in range(2):
        await do(runtime, "hoard")
    assert (await do(runtime), where(runtime), events(runtime)) == ("one", IN, ["demotion_failed"])
    monkeypatch.undo()
    await runtime.reloader.run()
    assert (apart.state, where(runtime, "apart")) == (State.ACTIVE, OUT)
