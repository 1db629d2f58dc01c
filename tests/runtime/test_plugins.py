"""Plugins at work: what is hashed is what runs, each by itself, and of a hostile one nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Actor, CallerType, CallReport, CallRequest
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.records.redact import REDACTED
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call, records
from tests.support.plugins import plugin, program
from tests.support.waiting import until

Start = Callable[..., Awaitable[Runtime]]

ECHO = """\
#!/usr/bin/env python3
import json, os, sys
said = json.load(sys.stdin)
print("one of two", file=sys.stderr)
print(json.dumps({"type": "progress", "stage": "two", "progress": 0.5}), file=sys.stderr)
open("note.txt", "w").write("noted")
beside = open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "asset.txt")).read()
print(json.dumps({"output": json.dumps([sys.argv[1:], said, beside, dict(os.environ)]), "files_to_send": ["note.txt"]}))
"""
WILD = """\
case $1 in
  floods) yes 0123456789012345678901234567890123456789 >&2 ;;
  shouts) yes 0123456789012345678901234567890123456789 ;;
  stays) echo $$ > pids; sleep 3600 & echo $! >> pids; (setsid sleep 3600 & echo $! >> pids); wait ;;
  half) printf '{"output": "begun' ;;
  dies) kill -9 $$ ;;
  fails) echo "no bell"; exit 3 ;;
  refuses) echo '{"output": "not today", "success": false}' ;;
  wrong) echo '{"output": 3}' ;;
  reaches) echo '{"output": "x", "files_to_send": ["/etc/passwd"]}' ;;
  climbs) echo '{"output": "x", "file_modified": "../../../eva.yaml"}' ;;
  links) ln -s /etc/passwd here; echo '{"output": "x", "files_to_send": ["here"]}' ;;
  text) echo some; echo words >&2 ;;
  report) echo x > r.txt; echo y > s.txt; echo "Report saved to: r.txt"; echo "Generated: $PWD/s.txt" ;;
esac
"""
TOOLS = [line.strip().partition(")")[0] for line in WILD.splitlines()[1:-1]]
ENDINGS = (
    ("floods", "OutputTooLarge", "wrote more than 4,194,304 bytes"),
    ("shouts", "OutputTooLarge", "wrote more than 4,194,304 bytes"),
    ("fails", "HandlerError", "no bell"),
    ("half", "InvalidResponse", "did not end it"),
    ("dies", "HostError", "ended by the signal 9"),
    ("refuses", "HandlerError", "not today"),
    ("wrong", "InvalidResponse", "output as text"),
    ("reaches", "InvalidResponse", "no file of its work folder"),
    ("climbs", "InvalidResponse", "no file of its work folder"),
    ("links", "InvalidResponse", "no file of its work folder"),
)
"""One after the other: no fault of one is held against the next."""


async def answer(runtime: Runtime, name: str, payload: Any = None, **fields: Any) -> dict[str, Any]:
    report = await call(runtime, name, payload or {}, **fields)
    assert report.response.ok, report.response.error
    return dict(report.response.result)


def failed(report: CallReport) -> tuple[str, str]:
    assert report.response.error is not None
    return report.response.error.kind.value, report.response.error.message


def alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def folders(workspace: Path, name: str) -> list[Path]:
    return sorted((workspace / ".eva/work" / name).iterdir(), key=lambda one: one.stat().st_mtime_ns)


def pids(workspace: Path) -> list[int]:
    """What the call that began last says that it has started."""
    return next((found for folder in reversed(folders(workspace, "wild")) if (found := _pids(folder))), [])


def _pids(folder: Path) -> list[int]:
    with suppress(OSError):
        return [int(line) for line in (folder / "pids").read_text().splitlines()]
    return []


async def test_a_tool_gets_its_name_its_input_and_a_folder_and_nothing_that_is_not_its_business(
    start: Start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_SECRET_KEY", "PYTHONPATH", "LD_PRELOAD_NOT", "BELL_HOST", "UNLISTED"):
        monkeypatch.setenv(name, "from outside")
    takes = {"type": "object", "properties": {"times": {"type": "integer"}}}
    folder = plugin(workspace, "ring", ECHO, {"name": "bell", "input_schema": takes, "env": ["BELL_HOST"]})
    (folder / "asset.txt").write_text("beside")
    runtime = await start()
    found = await answer(runtime, "plugin.ring.bell", {"times": 2})
    events = [dict(one.payload) for one in runtime.bus.since(0)[0] if one.topic == "/plugin/progress"]
    argv, said, beside, environ = json.loads(found["output"])
    assert (argv, said, beside) == (["bell"], {"times": 2}, "beside")
    assert environ["BELL_HOST"] == "from outside"
    assert not {"AWS_SECRET_KEY", "PYTHONPATH", "LD_PRELOAD_NOT", "UNLISTED"} & environ.keys()
    assert environ["EVA_WORK_DIR"] == environ["OCTOS_WORK_DIR"] == environ["HOME"]
    assert (found["files_to_send"], found["files"]) == (
        ["note.txt"],
        [{"path": "note.txt", "bytes": 5, "detected": False}],
    )
    assert (workspace / found["work_dir"] / "note.txt").read_text() == "noted"
    assert not (folder / "note.txt").exists()
    assert (events[-1]["done"], events[-1]["message"]) == (50, "two")
    record = (await records(runtime, 1))[0]
    assert (record["capability_id"], record["generation"]) == ("plugin.ring", "plugin.ring@1.0.0")
    assert record["host_calls"][0]["target"] == "plugins/ring/ring bell"
    assert failed(await call(runtime, "plugin.ring.bell", {"times": "x"}))[0] == "InvalidInput"


async def test_a_hostile_plugin_ends_in_the_right_error(start: Start, workspace: Path) -> None:
    plugin(workspace, "wild", WILD, *({"name": name, "concurrency_class": "safe"} for name in TOOLS))
    runtime = await start()
    for name, kind, says in ENDINGS:
        said = failed(await call(runtime, f"plugin.wild.{name}", {}))
        assert (name, said[0], says in said[1]) == (name, kind, True), said
        assert "/etc" not in said[1]
    assert (await answer(runtime, "plugin.wild.text"))["output"] == "some\n\nwords\n"
    report = await answer(runtime, "plugin.wild.report")
    assert [(one["path"], one["detected"]) for one in report["files"]] == [("r.txt", True), ("s.txt", True)]


async def test_one_that_never_ends_is_killed_with_all_that_it_started(start: Start, workspace: Path) -> None:
    plugin(workspace, "wild", WILD, "stays")
    runtime = await start()
    report = await call(runtime, "plugin.wild.stays", {}, timeout_ms=300)
    assert (failed(report)[0], "has not answered within" in failed(report)[1]) == ("Timeout", True)
    calling = asyncio.create_task(call(runtime, "plugin.wild.stays", {}))
    await until(lambda: len(pids(workspace)) == 3)
    started = pids(workspace)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await until(lambda: not any(map(alive, started)))


async def test_links_that_a_workspace_brings_along_lead_nothing_outside(start: Start, workspace: Path) -> None:
    for name in ("copies", "folders"):
        (workspace.parent / name).mkdir()
    kept = [workspace.parent / "folders" / f"{number}.txt" for number in range(30)]
    for path in kept:
        path.touch()
    (workspace / ".eva/work").mkdir(parents=True)
    (workspace / ".eva/verified").symlink_to(workspace.parent / "copies")
    (workspace / ".eva/work/ring").symlink_to(workspace.parent / "folders")
    plugin(workspace, "ring", "echo rung")
    assert (await answer(await start(), "plugin.ring.go"))["output"] == "rung\n"
    assert sorted((workspace.parent / "folders").iterdir()) == sorted(kept)
    assert list((workspace.parent / "copies").iterdir()) == []


async def test_what_was_hashed_is_what_runs_and_a_running_call_ends_on_the_version_that_it_began_with(
    start: Start, workspace: Path
) -> None:
    folder = plugin(
        workspace, "ring", 'echo $$ > up; while [ ! -e go ]; do sleep 0.01; done; echo first; cat "$(dirname $0)/asset"'
    )
    (folder / "asset").write_text("old")
    runtime = await start()
    before = asyncio.create_task(answer(runtime, "plugin.ring.go"))
    await until(
        lambda: (
            (workspace / ".eva/work/ring").is_dir() and any((one / "up").exists() for one in folders(workspace, "ring"))
        )
    )
    (folder / "asset").write_text("new")
    program(folder / "ring", 'echo second; cat "$(dirname $0)/asset"')
    known = await runtime.plugging.catalogue.look()
    assert known.plugins[0].plugin.digest == runtime.providers.serving["plugin.ring"].adapter.digest
    first = folders(workspace, "ring")[0]
    (first / "go").touch()
    assert (await before)["output"] == "first\nold"
    assert (await answer(runtime, "plugin.ring.go"))["output"] == "second\nnew"
    (folder / "manifest.json").write_text("{")
    known = await runtime.plugging.catalogue.look()
    assert (known.plugins[0].stale, known.refused[0].instead) == (True, "plugins/ring")
    assert (await answer(runtime, "plugin.ring.go"))["output"] == "second\nnew"
    (copy,) = (workspace / ".eva/verified").iterdir()
    (copy / "asset").chmod(0o600)
    (copy / "asset").write_text("forged")
    said = failed(await call(runtime, "plugin.ring.go", {}))
    assert (said[0], "as it was hashed" in said[1]) == ("Unavailable", True)
    (folder / "manifest.json").unlink()
    (folder / "ring").unlink()
    await runtime.plugging.catalogue.look()
    assert failed(await call(runtime, "plugin.ring.go", {}))[0] == "NotFound"


async def test_a_tool_in_the_background_answers_at_once_and_ends_later(start: Start, workspace: Path) -> None:
    source = 'echo "half way" >&2; while [ ! -e go ]; do sleep 0.01; done; echo "$1 done"; [ "$1" = good ]'
    tools = [{"name": name, "spawn_only": True} for name in ("good", "bad")]
    plugin(workspace, "slow", source, *tools)
    runtime = await start()
    tasks = runtime.plugging.tasks
    good, bad = [await answer(runtime, f"plugin.slow.{name}") for name in ("good", "bad")]
    assert "running in background" in good["output"]
    assert f"Output directory: {good['work_dir']}" in good["output"]
    assert [one.state for one in tasks.rows] == ["running", "running"]
    await until(lambda: all(one.progress is not None for one in tasks.rows))
    assert tasks.rows[0].progress.message == "half way"
    for one in (good, bad):
        (workspace / one["work_dir"] / "go").touch()
    await until(lambda: all(one.ended for one in tasks.rows))
    assert {one.handle: one.state for one in tasks.rows} == {good["task"]: "done", bad["task"]: "failed"}
    ended = {one.payload["task"]: one.payload for one in runtime.bus.since(0)[0] if one.topic == "/plugin/finished"}
    assert ended[good["task"]]["result"]["output"] == "good done\n\nhalf way\n"
    assert ended[bad["task"]]["error"]["kind"] == "HandlerError"
    codes = {one["code"]: one["request_id"] for one in await records(runtime, 10)}
    assert {"plugin.done", "plugin.failed"} <= codes.keys()


async def test_what_runs_in_the_background_is_ended_by_its_handle_and_nothing_of_it_stays(
    start: Start, workspace: Path
) -> None:
    plugin(workspace, "wild", WILD, {"name": "stays", "spawn_only": True})
    runtime = await start()
    kept, cut, other = [await answer(runtime, "plugin.wild.stays") for _ in range(3)]
    await until(lambda: all(len(_pids(workspace / one["work_dir"])) == 3 for one in (kept, cut, other)))
    data = runtime.cancelling.cancel(cut["task"], ANN)
    assert [(one["task"], one["capability_id"]) for one in data["cancelled"]] == [(cut["task"], "plugin.wild")]
    with pytest.raises(CallFailed, match="is in flight"):
        runtime.cancelling.cancel(cut["task"], ANN)
    started = _pids(workspace / cut["work_dir"])
    await until(lambda: not any(map(alive, started)))
    await until(lambda: [one.state for one in runtime.plugging.tasks.rows] == ["running", "cancelled", "running"])
    assert runtime.plugging.tasks.rows[1].error.message == f"cancelled by {ANN.id}"
    assert all(map(alive, _pids(workspace / kept["work_dir"])))
    left = runtime.cancelling.cancel("plugin.wild@1.0.0", ANN)
    assert {one["task"] for one in left["cancelled"]} == {kept["task"], other["task"]}
    await until(lambda: not any(alive(pid) for one in (kept, other) for pid in _pids(workspace / one["work_dir"])))
    written = [one for one in await records(runtime, 20) if one["code"] == "call.cancelled"]
    assert {one["details"]["task"] for one in written} == {one["task"] for one in (kept, cut, other)}


async def test_a_sub_agent_waits_for_what_others_have_in_the_background(start: Start, workspace: Path) -> None:
    plugin(workspace, "slow", 'echo "$1 done"', {"name": "good", "spawn_only": True, "spawn_only_message": "Later."})
    runtime = await start()
    request = CallRequest("plugin.slow.good", {}, Actor(CallerType.SUBAGENT, "sub"))
    report = await runtime.call(request)
    assert report.response.result["output"] == "good done\n"
    assert runtime.plugging.tasks.rows == ()
    assert (await answer(runtime, "plugin.slow.good"))["output"] == "Later."
    assert [one.state for one in runtime.plugging.tasks.rows] == ["running"]
    await runtime.close()
    assert runtime.plugging.tasks.rows[0].state in ("cancelled", "done")
    assert not (workspace / ".eva/verified").exists()


async def test_what_it_requires_is_looked_for_at_each_call(
    start: Start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BELL_HOST", raising=False)
    plugin(workspace, "ring", "echo rung", requires={"env": ["BELL_HOST"]})
    runtime = await start()
    said = failed(await call(runtime, "plugin.ring.go", {}))
    assert said == ("Unavailable", "plugin.ring lacks what it requires: env var 'BELL_HOST' is not set")
    assert runtime.providers.serving["plugin.ring"].state.word == "down"
    monkeypatch.setenv("BELL_HOST", "here")
    assert (await answer(runtime, "plugin.ring.go"))["output"] == "rung\n"


async def test_only_a_person_calls_a_risky_tool_and_a_secret_needs_the_policy(
    start: Start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2-hunter2")
    tools = [{"name": "wipe", "risk": "critical"}, {"name": "ask", "env": ["API_TOKEN"]}]
    plugin(workspace, "keys", 'echo "$1 $API_TOKEN"', *tools)
    runtime = await start()
    assert (await answer(runtime, "plugin.keys.wipe"))["output"] == "wipe \n"
    report = await runtime.call(CallRequest("plugin.keys.wipe", {}, replace(ANN, type=CallerType.MCP)))
    assert failed(report) == ("PolicyDenied", "plugin.keys.wipe is of the risk critical: only a person may call it")
    assert failed(await call(runtime, "plugin.keys.ask", {}))[0] == "PolicyDenied"
    policy = workspace / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "credentials: {API_TOKEN: {from: env, hosts: [api.example.org]}}\n")
    await runtime.reloader.run(explicit=True)
    assert (await answer(runtime, "plugin.keys.ask"))["output"] == f"ask {REDACTED}\n"
