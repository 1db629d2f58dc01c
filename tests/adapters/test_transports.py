"""Each transport, from a handler's call to the audit log and back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from evatui.runtime import Runtime
from tests.adapters.ground import Start, adapter, asked, called, echoing, error, program
from tests.host.web import Server, answer, serving
from tests.support.waiting import until
from tests.support.workspaces import tool, write


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


def web(server: Server, more: str = "") -> str:
    return f"{{url: '{server.url}/x', allow_loopback: true{more}}}"


async def test_a_handler_calls_a_program_and_it_is_on_record(start: Start, workspace: Path, tmp_path: Path) -> None:
    command = echoing(tmp_path, "{'got': p['payload'], 'as': p['capability']}")
    write(workspace, adapter("prog", "stdio", f"{{command: {command}}}"))
    runtime = await start()
    found = await asked(runtime, capability="test.out", provider="prog", payload={"n": 1})
    assert found == {"answered": {"ok": True, "result": {"got": {"n": 1}, "as": "test.out"}}}
    records = [one for one in runtime.audit.tail(99) if one["capability_id"] == "prog" and one["host_calls"]]
    assert [(one["code"], one["host_calls"][0]["outcome"]) for one in records] == [
        ("effect.intent", "intent"),
        ("call.ok", "ok"),
    ]
    assert records[1]["generation"] == "prog@1.0.0"
    assert records[1]["actor"] == {"type": "capability", "id": "ask"}
    assert records[1]["host_calls"][0]["fn"] == "adapter.stdio"
    assert records[1]["host_calls"][0]["target"].endswith(" test.out")


async def test_a_program_may_refuse_and_may_answer_in_pieces(start: Start, workspace: Path, tmp_path: Path) -> None:
    body = """
while True:
    message = hear()
    if message["method"] == "health":
        say({"id": message["id"], "result": {"ok": True}})
    elif message["params"]["payload"] == "no":
        say({"id": message["id"], "result": {"ok": False, "error": {"kind": "Conflict", "message": "taken"}}})
    elif message["params"]["payload"] == "odd":
        say({"id": message["id"], "result": {"ok": False, "error": {"kind": [{}], "message": 5, "retryable": 1}}})
    elif message["params"]["payload"] == "error":
        say({"id": message["id"], "error": {"code": -1, "message": "broken", "data": {"kind": "Strange"}}})
    else:
        print("some noise")
        for piece in ("a", "b"):
            say({"method": "stream", "params": {"id": message["id"], "data": piece}})
        say({"id": message["id"], "result": {"ok": True}})
"""
    write(workspace, adapter("prog", "stdio", f"{{command: {program(tmp_path, body)}}}"))
    runtime = await start()
    assert (await called(runtime, payload="pieces")).response.result == ["a", "b"]
    refused = (await called(runtime, payload="no")).response.error
    assert refused is not None
    assert (refused.kind, refused.message, refused.origin, refused.generation) == (
        "Conflict",
        "taken",
        "handler",
        "prog@1.0.0",
    )
    odd = (await called(runtime, payload="odd")).response.error
    assert odd is not None
    assert (odd.kind, odd.message, odd.retryable) == ("HandlerError", "prog refused without a message", False)
    broken = (await called(runtime, payload="error")).response.error
    assert broken is not None
    assert (broken.kind, broken.details["kind"]) == ("HandlerError", "Strange")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.stderr.write('no such table\\n'); sys.exit(3)", "ended with the status 3: no such table"),
        ("sys.stdout.write('x' * 2_000_000); sys.stdout.flush(); time.sleep(60)", "a line of more than 1,048,576"),
        ("sys.stdout.write('junk\\n' * 500); sys.stdout.flush(); time.sleep(60)", "lines that are no messages"),
    ],
)
async def test_a_program_that_does_not_come_up_says_why(
    start: Start, workspace: Path, tmp_path: Path, body: str, said: str
) -> None:
    write(workspace, adapter("prog", "stdio", f"{{command: {program(tmp_path, body)}}}"))
    runtime = await start()
    kind, message = error(await called(runtime))
    assert (kind, said in message) == ("Unavailable", True), message
    assert (await asked(runtime, capability="test.out", provider="prog"))["raised"]["kind"] == "Unavailable"


async def test_a_program_that_says_what_nobody_asked_ends(start: Start, workspace: Path, tmp_path: Path) -> None:
    body = """
say({"id": hear()["id"], "result": {"ok": True}})
hear()
late = json.dumps({"jsonrpc": "2.0", "id": 777, "result": {}}) + "\\n"
while True:
    sys.stdout.write(late * 1_000)
"""
    write(workspace, adapter("prog", "stdio", f"{{command: {program(tmp_path, body)}}}"))
    kind, message = error(await called(await start()))
    assert (kind, "more than 10,000 lines that nobody waited for" in message) == ("Unavailable", True), message


async def test_what_waits_when_a_program_dies_fails_at_once_and_nothing_is_left_of_it(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    child = f"import subprocess; subprocess.Popen(['sleep', '987'], cwd={str(tmp_path)!r})"
    body = f"""
{child}
say({{"id": hear()["id"], "result": {{"ok": True}}}})
hear()
os._exit(9)
"""
    write(workspace, adapter("prog", "stdio", f"{{command: {program(tmp_path, body)}}}"))
    runtime = await start()
    report = await called(runtime)
    assert error(report)[1].startswith("prog is gone: ")
    assert report.generation == "prog@1.0.0"
    await until(lambda: not sleepers(tmp_path))


def sleepers(folder: Path) -> list[str]:
    """Processes that were left in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder:
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return [line for line in found if line.startswith("sleep")]


async def test_a_call_that_is_given_up_is_cancelled_at_the_program_too(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    body = f"""
say({{"id": hear()["id"], "result": {{"ok": True}}}})
first = hear()
second = hear()
open({str(heard)!r}, "w").write(json.dumps([second["method"], second["params"]["id"] == first["id"]]))
hear()
"""
    write(workspace, adapter("prog", "stdio", f"{{command: {program(tmp_path, body)}}}", limits="{timeout_ms: 1500}"))
    runtime = await start()
    assert error(await called(runtime))[0] == "Timeout"
    await until(lambda: heard.exists() and heard.read_text() == '["cancel", true]')


async def test_the_payload_goes_out_as_json_with_a_secret_that_never_comes_back(
    start: Start, workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-value")
    policy = workspace / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "credentials: {TOKEN: {from: env, hosts: [127.0.0.1], prefix: 'Bearer '}}\n")
    write(workspace, adapter("api", "http", web(server, ", headers: {X-Key: {credential: TOKEN}}")))
    server.say = lambda got: answer(json.dumps({"key": got.headers["x-key"], "body": json.loads(got.body)}))
    runtime = await start()
    found = await asked(runtime, capability="test.out", payload={"a": [1]})
    assert found["answered"]["result"] == {"key": "Bearer [redacted]", "body": {"a": [1]}}
    assert server.received[0].line == "POST /x HTTP/1.1"
    assert server.received[0].headers["x-key"] == "Bearer s3cret-value"
    assert "s3cret" not in json.dumps(runtime.audit.tail(99))


async def test_what_a_server_answers_is_told_apart(start: Start, workspace: Path, server: Server) -> None:
    write(workspace, adapter("api", "http", web(server), breaker="{failures: 100}"))
    runtime = await start()
    cases = [
        (answer("busy", "503 Slow Down"), "Unavailable", "status 503", True),
        (answer("no", "400 Bad"), "HostError", "status 400", False),
        (answer('{"error": {"kind": "NotFound", "message": "no such repo"}}', "404 Not"), "NotFound", "no such", False),
        (answer("text"), "InvalidResponse", "not JSON", False),
        (answer("", "302 Found", Location="http://10.0.0.1/"), "HostError", "not followed", False),
        (answer(json.dumps("x" * 300_000)), "OutputTooLarge", "262,144", False),
    ]
    for data, kind, said, retryable in cases:
        server.say = lambda _, data=data: data
        found = (await called(runtime)).response.error
        assert found is not None
        assert (found.kind.value, said in found.message, found.retryable) == (kind, True, retryable), found


@pytest.mark.parametrize(
    ("url", "more", "said"),
    [
        ("http://127.0.0.1:9/x", "", "allow_loopback is not set"),
        ("http://localhost/x", "", "allow_loopback is not set"),
        ("https://10.1.2.3/x", ", allow_loopback: true", "not a public address"),
        ("https://169.254.169.254/latest", ", allow_loopback: true", "not a public address"),
        ("http://api.example.org/x", "", "by https only"),
    ],
)
async def test_no_adapter_leads_inside(start: Start, workspace: Path, url: str, more: str, said: str) -> None:
    write(workspace, adapter("api", "http", f"{{url: '{url}'{more}}}"))
    report = await called(await start())
    kind, message = error(report)
    assert (kind, said in message, report.generation) == ("PolicyDenied", True, None), message


async def test_a_request_on_the_bus_is_answered_on_the_bus(start: Start, workspace: Path) -> None:
    write(workspace, adapter("bus", "eventbus", "{request_topic: /jobs/ask, reply_topic: /jobs/said}"))
    runtime = await start()
    requests = runtime.bus.subscribe("/jobs/ask")

    async def worker(runtime: Runtime) -> None:
        event = await requests.get()
        assert event is not None
        assert event.payload["payload"] == {"n": 2}
        runtime.bus.emit("/jobs/said", {"call_id": "another", "ok": True, "result": 1})
        reply = {"topic": "/jobs/said", "payload": {"call_id": event.payload["call_id"], "ok": True, "result": 4}}
        assert "answered" in await asked(runtime, "emit_event", **reply)

    working = asyncio.create_task(worker(runtime))
    assert (await called(runtime, payload={"n": 2})).response.result == 4
    await working


async def test_what_goes_in_and_comes_out_fits_the_schemas(start: Start, workspace: Path, tmp_path: Path) -> None:
    pair = "{test.out: {input: {type: object, required: [n]}, output: {type: integer}}}"
    command = echoing(tmp_path, "p['payload']['n']")
    write(workspace, adapter("prog", "stdio", f"{{command: {command}}}", schemas=pair, limits="{max_input_bytes: 99}"))
    runtime = await start()
    assert (await called(runtime, payload={"n": 3})).response.result == 3
    assert error(await called(runtime, payload={"n": "x"}))[0] == "InvalidOutput"
    assert error(await called(runtime, payload={}))[0] == "InvalidInput"
    assert error(await called(runtime, payload={"n": "x" * 200}))[0] == "InputTooLarge"


async def test_the_kernel_answers_who_provides_what(start: Start, workspace: Path) -> None:
    write(workspace, tool("other", "function invoke() return {ok = true} end"))
    runtime = await start()
    found = (await asked(runtime, "call_tool", capability="runtime.providers"))["answered"]
    assert found["result"]["names"] == {
        "runtime.providers": ["kernel"],
        "test.ask": ["ask"],
        "test.other": ["other"],
    }
    assert error(await called(runtime, "runtime.providers", {"x": 1}))[0] == "InvalidInput"
