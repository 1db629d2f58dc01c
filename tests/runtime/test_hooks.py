"""Hooks of plugins around calls: they deny, change and hear, and one that fails holds nothing up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from evatui.control.extensions import Extensions
from evatui.control.plugin_rows import PluginRows, listed_plugins
from evatui.control.snapshot import Cursor
from evatui.control.view import View
from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.workspace.home import OperatorHome
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.plugins import plugin, program
from tests.support.waiting import until

Start = Callable[..., Awaitable[Runtime]]
SEEN = 'cat > "$EVA_WORK_DIR/part" && mv "$EVA_WORK_DIR/part" "$EVA_WORK_DIR/seen"\n'


def hooked(root: Path, name: str, source: str, *hooks: dict[str, Any], tools: bool = False) -> None:
    """A plugin with the hooks, each of which runs ``./hook``."""
    listed = [{"command": ["./hook"], "timeout_ms": 60_000, **hook} for hook in hooks]
    folder = plugin(root, name, "", hooks=listed)
    if not tools:
        said = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps({**said, "tools": []}))
    program(folder / "hook", source)


def seen(root: Path, name: str) -> list[dict[str, Any]]:
    """What the hooks of a plugin were told, oldest first."""
    found = sorted(root.glob(f".eva/work/{name}.hooks/*/seen"), key=lambda path: path.stat().st_mtime_ns)
    return [json.loads(path.read_text()) for path in found]


def records(runtime: Runtime, prefix: str) -> list[dict[str, Any]]:
    return [one for one in runtime.audit.tail(100) if str(one["code"]).startswith(prefix)]


async def greeted(runtime: Runtime, name: str = "ann") -> str:
    response = (await call(runtime, payload={"name": name})).response
    return response.result["text"] if response.ok else f"{response.error.kind}: {response.error.message}"


async def test_the_first_that_denies_has_the_last_word_and_all_of_it_is_on_record(
    start: Start, workspace: Path
) -> None:
    before = {"event": "before_tool_call", "tool_filter": ["text.*"]}
    hooked(workspace, "a-guard", SEEN + "echo no greetings today; exit 1", before)
    hooked(workspace, "b-late", SEEN, before)
    runtime = await start()
    report = await call(runtime)
    assert report.response.error is not None
    assert (report.response.error.kind.value, report.response.error.message) == (
        "PolicyDenied",
        "a hook of the plugin a-guard denies it: no greetings today",
    )
    (told,) = seen(workspace, "a-guard")
    assert (told["tool_name"], told["arguments"], told["caller"]) == (
        "text.greet",
        {"name": "ann"},
        {"type": "user", "id": "ann"},
    )
    assert seen(workspace, "b-late") == []
    (hook,), (refused,) = records(runtime, "hook."), records(runtime, "call.")
    assert (hook["code"], hook["capability_id"], hook["host_calls"][0]["fn"]) == (
        "hook.denied",
        "plugin.a-guard",
        "hook.before_tool_call",
    )
    assert (refused["code"], refused["capability"], refused["request_id"]) == (
        "call.denied",
        "text.greet",
        hook["request_id"],
    )


async def test_arguments_are_changed_and_held_to_the_schema_again(start: Start, workspace: Path) -> None:
    program_text = 'grep -q bob && { echo \'{"name": 3}\'; exit 2; }; echo \'{"name": "the hook"}\'; exit 2'
    hooked(workspace, "pack", program_text, {"event": "before_tool_call"})
    runtime = await start()
    assert await greeted(runtime) == "hello the hook"
    assert (await greeted(runtime, "bob")).startswith("InvalidInput")


async def test_one_that_fails_three_times_is_left_alone_until_its_plugin_changes(start: Start, workspace: Path) -> None:
    hooked(workspace, "pack", SEEN + "echo broken >&2; exit 9", {"event": "before_tool_call"})
    runtime = await start()
    for _ in range(4):
        assert await greeted(runtime) == "hello ann"
    assert len(seen(workspace, "pack")) == 3
    (state,) = runtime.hooking.states
    assert (state.state, state.failures) == ("disabled", 3)
    (event,) = [one for one in runtime.bus.since(0)[0] if one.topic == "/plugin/hook_disabled"]
    assert (event.payload["plugin"], event.payload["cause"]) == ("pack", "it ended with the status 9: broken")
    assert [one["code"] for one in records(runtime, "hook.")] == ["hook.failed"] * 3
    program(workspace / "plugins/pack/hook", SEEN)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert await greeted(runtime) == "hello ann"
    assert [one.state for one in runtime.hooking.states] == ["armed"]
    assert len(seen(workspace, "pack")) == 4


async def test_one_that_never_ends_is_ended_and_the_call_goes_on(start: Start, workspace: Path) -> None:
    hooked(workspace, "pack", "sleep 3600", {"event": "before_tool_call", "timeout_ms": 50})
    runtime = await start()
    assert await greeted(runtime) == "hello ann"
    (record,) = records(runtime, "hook.")
    assert (record["code"], record["details"]["why"]) == ("hook.failed", "it had not ended after 50 ms")


async def test_a_caller_without_patience_gets_past_no_hook(start: Start, workspace: Path) -> None:
    hooked(workspace, "pack", "sleep 3600; exit 1", {"event": "before_tool_call"})
    runtime = await start()
    error = (await call(runtime, timeout_ms=100)).response.error
    assert error is not None
    assert error.kind.value == "Timeout"
    assert [one["code"] for one in records(runtime, "call.")] == ["call.error"]
    assert [one.failures for one in runtime.hooking.states] == [0]


async def test_what_ended_is_told_and_other_events_never_come(start: Start, workspace: Path) -> None:
    done = {"event": "on_spawn_complete"}
    hooked(workspace, "pack", SEEN, {"event": "after_tool_call", "tool_filter": ["text.greet"]}, done)
    hooked(workspace, "other", SEEN, {"event": "on_spawn_failure", "tool_filter": ["slow"]}, {"event": "on_resume"})
    slow = {"name": "slow", "spawn_only": True}
    plugin(workspace, "works", "grep -q fail && exit 3; echo done", slow)
    runtime = await start()
    assert await greeted(runtime) == "hello ann"
    await until(lambda: len(seen(workspace, "pack")) == 1)
    (told,) = seen(workspace, "pack")
    assert (told["event"], told["success"], told["result"]["text"]) == ("after_tool_call", True, "hello ann")
    for payload in ({}, {"say": "fail"}):
        report = await call(runtime, "plugin.works.slow", payload)
        assert report.response.ok, report.response.error
    await until(lambda: len(seen(workspace, "pack")) == 2 and len(seen(workspace, "other")) == 1)
    ended, broke = seen(workspace, "pack")[1], seen(workspace, "other")[0]
    assert (ended["event"], ended["tool_name"], ended["success"]) == ("on_spawn_complete", "plugin.works.slow", True)
    assert (broke["event"], broke["success"], bool(broke["error"])) == ("on_spawn_failure", False, True)
    assert {(one.armed.plugin.name, one.armed.hook.event, one.state) for one in runtime.hooking.states} == {
        ("pack", "after_tool_call", "armed"),
        ("pack", "on_spawn_complete", "armed"),
        ("other", "on_spawn_failure", "armed"),
        ("other", "on_resume", "never fired"),
    }


async def test_a_call_whose_hooks_are_asked_is_in_flight_and_can_be_ended(start: Start, workspace: Path) -> None:
    wait = 'touch "$EVA_WORK_DIR/up"; while [ ! -e "$EVA_WORK_DIR/go" ]; do sleep 0.01; done'
    hooked(workspace, "guard", wait, {"event": "before_tool_call"})
    runtime = await start()
    view, work = View(runtime), workspace / ".eva/work/guard.hooks"

    def waiting() -> list[Path]:
        return [up.parent for up in work.glob("*/up")]

    ended, goes = asyncio.create_task(greeted(runtime)), asyncio.create_task(greeted(runtime))
    await until(lambda: len(waiting()) == 2)
    rows = view.snapshot(Cursor()).calls
    assert [(row.capability_id, row.queued, row.host_call) for row in rows] == [
        ("text.greet", True, "hook guard ./hook")
    ] * 2
    assert runtime.dispatch.in_flight == 2
    runtime.cancelling.cancel(rows[0].request_id, ANN)
    assert await ended == f"Cancelled: cancelled by {ANN.id}"
    for folder in waiting():
        (folder / "go").touch()
    assert await goes == "hello ann"
    assert view.snapshot(Cursor()).calls == ()
    assert {one["error_kind"] for one in records(runtime, "call.e")} == {"Cancelled"}


async def test_nothing_is_run_that_nobody_trusts_nor_what_leads_out_of_the_plugin(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    home = OperatorHome(tmp_path / "home")
    hooked(workspace, "pack", "exit 1", {"event": "before_tool_call"})
    hooked(workspace, "out", SEEN, {"event": "before_tool_call", "command": ["../pack/hook"]})
    runtime = await start(home=home)
    assert await greeted(runtime) == "hello ann"
    assert runtime.hooking.states == []
    await runtime.approvals.trust(ANN)
    assert (await greeted(runtime)).startswith("PolicyDenied: a hook of the plugin pack denies it")
    failed = next(one for one in records(runtime, "hook.") if one["capability_id"] == "plugin.out")
    assert failed["details"]["why"] == "../pack/hook is no executable file of the plugin out"


async def test_what_a_hook_calls_is_not_hooked_again(start: Start, workspace: Path) -> None:
    hooked(workspace, "pack", "exit 1", {"event": "before_tool_call"})
    runtime = await start()
    response = (await runtime.call(CallRequest("text.greet", {"name": "ann"}, Actor(CallerType.HOOK, "pack")))).response
    assert response.ok


async def test_the_list_says_how_each_hook_stands(start: Start, workspace: Path, tmp_path: Path) -> None:
    hooked(
        workspace, "pack", "exit 9", {"event": "before_tool_call", "tool_filter": ["text.*"]}, {"event": "on_resume"}
    )
    runtime = await start(home=OperatorHome(tmp_path / "home"))

    def told() -> list[tuple[str, str, int]]:
        (row,) = listed_plugins(runtime)["plugins"]
        assert PluginRows(runtime).added_to(Extensions()).plugins[0].hooks[0].state == row["hooks"][0]["state"]
        return [(one["event"], one["state"], one["failures"]) for one in row["hooks"]]

    assert told() == [("before_tool_call", "off", 0), ("on_resume", "off", 0)]
    await runtime.approvals.trust(ANN)
    assert told() == [("before_tool_call", "armed", 0), ("on_resume", "never fired", 0)]
    for _ in range(3):
        await greeted(runtime)
    assert told()[0] == ("before_tool_call", "disabled", 3)
