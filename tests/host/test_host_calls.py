"""The other functions of the host, how their arguments are checked, and what is written down about them."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from evatui.kernel.model.call import Response
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind
from tests.host.ground import Ground, asked, granting, report

DENIED = ErrorKind.POLICY_DENIED
INVALID = ErrorKind.INVALID_INPUT


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        ("fs_read_text", None, "fs_read_text needs path"),
        ("fs_read_text", "README.md", "fs_read_text takes one table of named arguments"),
        ("fs_read_text", {"pth": "a", "path": "a"}, "fs_read_text has no argument pth; did you mean path?"),
        ("fs_read_text", {"path": 3}, "path must be text"),
        ("fs_read_text", {"path": ""}, "path must have 1 to 4096 characters"),
        ("fs_read_text", {"path": "x" * 5000}, "path must have 1 to 4096 characters"),
        ("fs_read_text", {"path": "a", "max_bytes": "9"}, "max_bytes must be a whole number"),
        ("fs_read_text", {"path": "a", "max_bytes": True}, "max_bytes must be a whole number"),
        ("fs_read_text", {"path": "a", "max_bytes": 1.5}, "max_bytes must be a whole number"),
        ("fs_read_text", {"path": "a", "max_bytes": 10**9}, "max_bytes must be from 1 to 16777216"),
        ("fs_list", {"path": ".", "limit": 0}, "limit must be from 1 to 10000"),
        ("fs_list", {"path": ".", "recursive": True}, "has no argument recursive; it takes path, root, glob, limit"),
        ("state_set", {"key": "k"}, "state_set needs value"),
        ("state_set", {"key": "k" * 257, "value": 1}, "key must have 1 to 256 characters"),
        ("state_set", {"key": "k", "value": 1, "expected_version": -1}, "expected_version must be from 0"),
        ("now", {"zone": "UTC"}, "now has no argument zone; it takes none"),
        ("emit_event", {"topic": "repo"}, "repo is no topic such as /repo/done"),
        ("emit_event", {"topic": "/repo/*"}, "is no topic"),
        ("emit_event", {"topic": "/repo/.."}, "is no topic"),
        ("emit_event", {"topic": "/repo/../capability/loaded"}, "is no topic"),
        ("emit_event", {"topic": "/./capability/loaded"}, "is no topic"),
        ("emit_event", {"topic": "/repo", "payload": [1]}, "payload must be an object"),
        ("emit_event", {"topic": "/repo", "payload": {"t": "x" * 65_536}}, "65536 are allowed"),
        ("emit_event", {"topic": "/repo", "payload": {"n": 2**70}}, "cannot be written as JSON"),
        ("call_tool", {"capability": "no such name"}, "is no name of a capability"),
        ("invoke_adapter", {"capability": "no such name"}, "is no name of a capability"),
        ("invoke_adapter", {"capability": "a", "provider": "../b"}, "../b is no id of a provider"),
        ("invoke_adapter", {"capability": "a", "timeout_ms": 0}, "timeout_ms must be from 1 to 3600000"),
        ("progress", {}, "progress needs done"),
        ("progress", {"done": "1"}, "done must be a number from 0 to 2^53"),
        ("progress", {"done": True}, "done must be a number"),
        ("progress", {"done": -1}, "done must be a number"),
        ("progress", {"done": float("inf")}, "done must be a number"),
        ("progress", {"done": float("nan")}, "done must be a number"),
        ("progress", {"done": 3, "total": 2}, "done is 3, more than the total of 2"),
        ("progress", {"done": 1, "message": ["x"]}, "message must be text"),
        ("progress", {"done": 1, "of": 2}, "progress has no argument of"),
        ("log", {"lvl": "info"}, "log has no argument lvl; did you mean level?"),
        ("log", {"level": "loud"}, "the level must be one of debug, info, warn, error"),
        ("log", {"fields": {"t": "x" * 9_000}}, "8192 are allowed"),
    ],
)
async def test_an_argument_that_does_not_fit_is_named(
    ground: Ground, function: str, argument: Any, message: str
) -> None:
    ground.permissions = granting("*", emit=("*",), capabilities=("*",), providers=("*",))
    kind, said = await ground.refusal(function, argument)
    assert kind is INVALID
    assert message in said
    assert ground.events.since(0)[0] == ()
    assert ground.requests == []


async def test_what_a_name_hides_is_not_repeated(ground: Ground) -> None:
    _, message = await ground.refusal("fs_read_text", {"path": "a", "\x1b[31m\u202egnp": 1})
    assert "\x1b" not in message
    assert "\u202e" not in message


async def test_a_function_that_nobody_knows_is_not_found(ground: Ground) -> None:
    assert (await ground.refusal("by_name", {}))[0] is ErrorKind.NOT_FOUND
    assert (await ground.refusal("__class__", {}))[0] is ErrorKind.NOT_FOUND


async def test_state_is_kept_with_its_version(ground: Ground) -> None:
    assert await ground.ask("state_get", {"key": "k", "default": [1]}) == {"value": [1], "version": 0}
    assert await ground.ask("state_get", {"key": "k"}) == {"value": None, "version": 0}
    assert await ground.ask("state_set", {"key": "k", "value": {"n": 1}}) == {"version": 1}
    assert await ground.ask("state_set", {"key": "k", "value": {"n": 2}, "expected_version": 1}) == {"version": 2}
    assert await ground.ask("state_get", {"key": "k", "default": 0}) == {"value": {"n": 2}, "version": 2}
    assert (await ground.refusal("state_set", {"key": "k", "value": 1, "expected_version": 1}))[0] is ErrorKind.CONFLICT


async def test_state_belongs_to_one_capability_and_schema_version(ground: Ground) -> None:
    await ground.ask("state_set", {"key": "k", "value": 1})
    for other in ({"capability_id": "other"}, {"schema_version": 2}):
        assert (await asked(ground.bind(**other), "state_get", {"key": "k"}))["version"] == 0


async def test_state_is_limited_by_the_manifest(ground: Ground) -> None:
    kind, message = await ground.refusal("state_set", {"key": "k", "value": "x" * 1_000})
    assert kind is ErrorKind.HOST_ERROR
    assert "1000 are the limit" in message


async def test_a_granted_topic_is_emitted_in_the_name_of_the_capability(ground: Ground) -> None:
    ground.permissions = granting(emit=("/repo/**",))
    answer = await ground.ask("emit_event", {"topic": "/repo/done", "payload": {"n": 1}})
    [event] = ground.events.since(0)[0]
    assert answer == {"event_id": event.event_id}
    assert (event.topic, event.payload, event.cause) == ("/repo/done", {"n": 1}, "req_1")
    assert event.actor.to_json() == {"type": "capability", "id": "repo-summary"}


@pytest.mark.parametrize("topic", ["/other", "/repository/done"])
async def test_a_topic_that_is_not_granted_is_refused(ground: Ground, topic: str) -> None:
    ground.permissions = granting(emit=("/repo/**",))
    assert (await ground.refusal("emit_event", {"topic": topic}))[0] is DENIED


@pytest.mark.parametrize("topic", ["/capability/loaded", "/Runtime/log", "/audit", "/mcp/x"])
async def test_topics_of_the_kernel_are_refused_whatever_the_grant(ground: Ground, topic: str) -> None:
    ground.permissions = granting(emit=("*", "/**", topic))
    assert (await ground.refusal("emit_event", {"topic": topic}))[0] is DENIED
    assert ground.events.since(0)[0] == ()


async def test_a_tool_is_called_within_the_chain_and_the_deadline(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.*",))
    answer = await ground.ask("call_tool", {"capability": "repo.read", "payload": {"path": "a"}})
    assert answer == {"ok": True, "result": {"n": 1}}
    [request] = ground.requests
    assert (request.capability, request.payload) == ("repo.read", {"path": "a"})
    assert request.caller.to_json() == {"type": "capability", "id": "repo-summary"}
    assert request.ancestors == ("outer", "repo-summary")
    assert (request.deadline, request.trace_id, request.user, request.tags) == (1_000.0, "tr_1", "ada", {"team": "a"})
    assert request.request_id.startswith("req_")
    assert request.request_id != "req_1"


async def test_an_error_of_the_callee_is_an_answer(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.read",))
    ground.answer = report(Response(False, error=CallError(ErrorKind.TIMEOUT, "too slow", True)))
    answer = await ground.ask("call_tool", {"capability": "repo.read"})
    assert (answer["ok"], answer["error"]["kind"], answer["error"]["retryable"]) == (False, "Timeout", True)


async def test_where_nobody_was_called_the_call_raises(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.read",))
    error = CallError(ErrorKind.NOT_FOUND, "repo.read is not provided", details={"reason": "never_served"})
    ground.answer = report(Response(False, error=error), generation=None)
    with pytest.raises(CallFailed) as caught:
        await ground.ask("call_tool", {"capability": "repo.read"})
    assert caught.value.error == error


async def test_a_tool_that_is_not_granted_is_not_called(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.read",))
    assert (await ground.refusal("call_tool", {"capability": "repo.write"}))[0] is DENIED
    assert ground.requests == []


async def test_what_is_denied_is_not_called_whatever_the_pattern(ground: Ground) -> None:
    granted = granting(capabilities=("repo.*",), providers=("*",))
    ground.permissions = replace(granted, adapters=replace(granted.adapters, denied=("*.secret",)))
    for function in ("call_tool", "invoke_adapter"):
        assert (await ground.refusal(function, {"capability": "repo.secret"}))[0] is DENIED
        assert (await ground.ask(function, {"capability": "repo.read"}))["ok"]
    assert [request.capability for request in ground.requests] == ["repo.read", "repo.read"]


async def test_an_adapter_is_called_through_a_granted_provider(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.read",), providers=("files", "repo-*"))
    asked = {"capability": "repo.read", "payload": {"path": "a"}, "timeout_ms": 250}
    answer = await ground.ask("invoke_adapter", asked)
    assert answer == {"ok": True, "result": {"n": 1}}
    await ground.ask("invoke_adapter", {"capability": "repo.read", "provider": "repo-reader"})
    first, second = ground.requests
    assert (first.capability, first.payload, first.timeout_ms) == ("repo.read", {"path": "a"}, 250)
    assert (first.provider, first.providers) == (None, ("files", "repo-*"))
    assert (first.ancestors, first.deadline, first.trace_id) == (("outer", "repo-summary"), 1_000.0, "tr_1")
    assert (second.provider, second.payload, second.timeout_ms) == ("repo-reader", {}, None)


async def test_an_adapter_is_announced_before_it_is_called(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("repo.read",), providers=("*",))
    bound = ground.bind()
    await asked(bound, "invoke_adapter", {"capability": "repo.read", "provider": "files"})
    [record] = ground.audit.since(0)[0]
    assert record["code"] == "effect.intent"
    assert (record["host_calls"][0]["fn"], record["host_calls"][0]["target"]) == ("invoke_adapter", "files:repo.read")
    ground.audit.close()
    with pytest.raises(CallFailed) as caught:
        await asked(bound, "invoke_adapter", {"capability": "repo.read"})
    assert caught.value.error.kind is ErrorKind.AUDIT_UNAVAILABLE
    assert len(ground.requests) == 1


@pytest.mark.parametrize(
    ("capabilities", "providers", "provider", "said"),
    [
        ((), ("*",), None, "adapters.capabilities does not cover it"),
        (("repo.read",), (), None, "adapters.providers covers nobody"),
        (("repo.read",), (), "files", "adapters.providers does not cover files"),
        (("repo.read",), ("repo-*",), "files", "adapters.providers does not cover files"),
    ],
)
async def test_an_adapter_needs_the_grant_of_both_its_name_and_its_provider(
    ground: Ground, capabilities: tuple[str, ...], providers: tuple[str, ...], provider: str | None, said: str
) -> None:
    ground.permissions = granting(capabilities=capabilities, providers=providers)
    kind, message = await ground.refusal("invoke_adapter", {"capability": "repo.read", "provider": provider})
    assert (kind, ground.requests) == (DENIED, [])
    assert said in message


async def test_now_is_text_and_milliseconds_of_one_moment(ground: Ground) -> None:
    text, milliseconds = await ground.ask("now")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    assert int(text[-4:-1]) == milliseconds % 1000


async def test_log_lines_become_events_fit_to_be_shown(ground: Ground) -> None:
    await ground.ask("log", {"level": "warn", "fields": {"found": "\x1b[31m3", "list": ["\u202ea"]}})
    await ground.ask("log", {"fields": "only a text"})
    first, second = ground.events.since(0)[0]
    assert first.topic == "/runtime/log"
    assert first.payload == {
        "id": "repo-summary",
        "generation": "repo-summary@1.0.0+build.20260102.001",
        "request_id": "req_1",
        "level": "warn",
        "fields": {"found": "␛[31m3", "list": ["\ufffda"]},
    }
    assert (second.payload["level"], second.payload["fields"]) == ("info", {"message": "only a text"})


async def test_a_health_check_may_look_and_log_but_change_nothing(ground: Ground) -> None:
    ground.permissions = granting("*", emit=("*",), capabilities=("*",), providers=("*",))
    ground.write("a.md")
    bound = ground.bind(effects=False, audit=None, reservation=None)
    assert await asked(bound, "fs_read_text", {"path": "a.md"}) == "text"
    assert (await asked(bound, "state_get", {"key": "k"}))["version"] == 0
    await asked(bound, "log", {"level": "info"})
    for function, argument in (
        ("state_set", {"key": "k", "value": 1}),
        ("emit_event", {"topic": "/a"}),
        ("call_tool", {"capability": "a"}),
        ("invoke_adapter", {"capability": "a"}),
    ):
        with pytest.raises(CallFailed, match="health check may not change anything"):
            await asked(bound, function, argument)
    assert (await asked(bound, "state_get", {"key": "k"}))["version"] == 0
    assert [event.topic for event in ground.events.since(0)[0]] == ["/runtime/log"]
    assert ground.requests == []


async def test_every_call_is_listed_with_its_target_and_outcome(ground: Ground) -> None:
    ground.permissions = granting("workspace/docs", emit=("/repo/*",), capabilities=("a.b",))
    ground.write("docs/a.md")
    bound = ground.bind()
    for function, argument in (
        ("fs_read_text", {"path": "docs/a.md"}),
        ("fs_read_text", {"path": "src/\x1ba.md"}),
        ("state_set", {"key": "k", "value": 1}),
        ("emit_event", {"topic": "/repo/x"}),
        ("call_tool", {"capability": "a.b"}),
        ("http_request", {"url": "https://example.org"}),
    ):
        try:
            await asked(bound, function, argument)
        except CallFailed:
            continue
    assert [(call["fn"], call["target"], call["outcome"]) for call in bound.calls] == [
        ("fs_read_text", "workspace:docs/a.md", "ok"),
        ("fs_read_text", "workspace:src/␛a.md", "PolicyDenied"),
        ("state_set", "k", "ok"),
        ("emit_event", "/repo/x", "ok"),
        ("call_tool", "a.b", "ok"),
        ("http_request", "GET https://example.org/", "PolicyDenied"),
    ]
    assert all(call["duration_us"] >= 0 for call in bound.calls)
    assert bound.running is None


async def test_the_list_of_calls_has_an_end(ground: Ground) -> None:
    bound = ground.bind()
    for _ in range(1_005):
        await asked(bound, "now", None)
    assert len(bound.calls) == 1_000


async def test_an_effect_is_announced_before_it_happens(ground: Ground) -> None:
    ground.permissions = granting(emit=("/repo/*",))
    seen: list[int] = []
    ground.events.on_emit = lambda event: seen.append(len(ground.audit.since(0)[0]))
    await ground.ask("emit_event", {"topic": "/repo/x"})
    await ground.ask("state_set", {"key": "k", "value": 1})
    records = ground.audit.since(0)[0]
    assert seen == [1]
    assert [record["code"] for record in records] == ["effect.intent", "effect.intent"]
    assert [record["host_calls"][0]["fn"] for record in records] == ["emit_event", "state_set"]
    assert (records[0]["request_id"], records[0]["actor"]["id"]) == ("req_1", "ada")


async def test_an_effect_that_cannot_be_announced_does_not_happen(ground: Ground) -> None:
    ground.permissions = granting(emit=("/repo/*",))
    bound = ground.bind()
    ground.audit.close()
    with pytest.raises(CallFailed) as caught:
        await asked(bound, "state_set", {"key": "k", "value": 1})
    assert caught.value.error.kind is ErrorKind.AUDIT_UNAVAILABLE
    with pytest.raises(CallFailed):
        await asked(bound, "emit_event", {"topic": "/repo/x"})
    assert ground.events.since(0)[0] == ()
    assert (await asked(bound, "state_get", {"key": "k"}))["version"] == 0


async def test_a_call_that_is_cancelled_is_listed_so(ground: Ground) -> None:
    ground.permissions = granting(capabilities=("a.b",))
    ground.callee_hangs = True
    bound = ground.bind()
    task = asyncio.create_task(asked(bound, "call_tool", {"capability": "a.b"}))
    while not ground.requests:
        await asyncio.sleep(0)
    assert bound.running is not None
    assert (bound.running.fn, bound.running.target) == ("call_tool", "a.b")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [call["outcome"] for call in bound.calls] == ["Cancelled"]


async def test_a_call_that_does_not_come_back_is_listed_so(ground: Ground) -> None:
    bound, come_back = ground.bind(), threading.Event()
    ground.events.on_emit = lambda event: come_back.wait(20)
    task = asyncio.create_task(asked(bound, "log", {"level": "warn"}))
    while not ground.events.since(0)[0]:
        await asyncio.sleep(0)
    assert [(line["fn"], line["target"], line["outcome"]) for line in bound.account()] == [("log", "warn", "Cancelled")]
    come_back.set()
    await task
    assert [line["outcome"] for line in bound.account()] == ["ok"]


async def test_a_defect_of_the_kernel_shows_no_more_than_its_kind(ground: Ground) -> None:
    ground.permissions = None  # type: ignore[assignment]
    kind, message = await ground.refusal("fs_read_text", {"path": "a"})
    assert (kind, message) == (ErrorKind.HOST_ERROR, "fs_read_text failed in the kernel (AttributeError)")
