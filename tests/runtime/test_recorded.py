"""What of an input and an output is written down: the lower of what manifest and policy say, and no secret of it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Response
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.records.redact import REDACTED
from evatui.kernel.registry.interpret import interpret
from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

ECHO = "function invoke(ctx, request) return {ok = true, result = request.payload} end"
POLICY = "capabilities/policies/default.yaml"
GIVEN = {"name": "ann", "password": "swordfish", "list": [{"apiKey": "tuna"}, "x"]}
LEVELS = ("none", "metadata_only", "full")


def kept(level: str, found: dict[str, Any] | None) -> bool:
    if level == "none":
        return found is None
    assert found is not None
    shown = {"name": "ann", "password": REDACTED, "list": [{"apiKey": REDACTED}, "x"]}
    assert found.get("value") == (shown if level == "full" else None)
    return found["bytes"] > 40 and len(found["digest"]) == 64


async def recorded(runtime: Runtime, name: str, payload: Any) -> dict[str, Any]:
    """The record of a call's end; those of the start are written in the background, and may come later."""
    report = await call(runtime, name, payload)
    return next(one for one in runtime.audit.tail(20) if one["request_id"] == report.request_id)


@pytest.mark.parametrize("allowed", LEVELS)
@pytest.mark.parametrize("asked", LEVELS)
async def test_the_lower_of_manifest_and_policy(start, workspace: Path, asked: str, allowed: str) -> None:
    """For the input; the output has it the other way round."""
    write(workspace, tool("echo", ECHO, audit=f"{{log_input: {asked}, log_output: {allowed}}}"))
    write(workspace, {POLICY: f"version: 1\naudit: {{log_input: {allowed}, log_output: {asked}}}\n"})
    runtime = await start()
    record = await recorded(runtime, "test.echo", GIVEN)
    assert record["code"] == "call.ok"
    lower = min(asked, allowed, key=LEVELS.index)
    assert kept(lower, record["input"])
    assert kept(lower, record["output"])
    [file] = (workspace / ".eva/audit").glob("*.jsonl")
    text = file.read_text()
    assert "swordfish" not in text
    assert "tuna" not in text


async def test_a_policy_that_lowers_it_holds_from_the_next_call_on(start, workspace: Path) -> None:
    write(workspace, tool("echo", ECHO, audit="{log_input: full}"))
    runtime = await start()
    assert (await recorded(runtime, "test.echo", GIVEN))["input"]["value"]["name"] == "ann"
    save(workspace, POLICY, "version: 1\naudit: {log_input: none}\n")
    await runtime.reloader.run(explicit=True)
    assert (await recorded(runtime, "test.echo", GIVEN))["input"] is None


async def test_a_large_value_and_a_long_name_are_cut(start, workspace: Path) -> None:
    write(workspace, tool("echo", ECHO, audit="{log_input: full}", limits="{max_input_bytes: 200000}"))
    runtime = await start()
    assert (await recorded(runtime, "test.echo", {"name": "x" * 100_000}))["input"].keys() == {"bytes", "digest"}
    assert len((await recorded(runtime, "x" * 5_000, {}))["capability"]) < 1_100


async def test_a_call_that_is_given_up_before_it_is_written_down_is_on_record_once(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def slow(*given: Any) -> Response:
        go.wait(60)
        return interpret(*given)

    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 0.02)
    monkeypatch.setattr("evatui.kernel.registry.calls.interpret", slow)
    write(workspace, tool("echo", ECHO, limits="{timeout_ms: 1000}"))
    runtime = await start()
    report = await call(runtime, "test.echo", GIVEN)
    assert (report.response.error.kind, report.response.error.details["ran"]) == (ErrorKind.AUDIT_UNAVAILABLE, True)
    go.set()
    await until(lambda: runtime.engine.stuck == 0)
    own = [record["code"] for record in runtime.audit.tail(50) if record["request_id"] == report.request_id]
    assert own == ["call.ok"]
