"""What the end of a hook means, and what it is told of a call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evatui.extensions.hooks.armed import names_of
from evatui.extensions.hooks.meaning import Meaning, verdict
from evatui.extensions.hooks.payload import CUT_BYTES, ToolCall, ToolEnd, payload
from evatui.kernel.model.call import Actor, CallerType


@pytest.mark.parametrize(
    ("event", "code", "stdout", "meaning", "why"),
    [
        ("before_tool_call", 0, b"", Meaning.ALLOWED, ""),
        ("before_tool_call", 1, b"not on\n  fridays\n", Meaning.DENIED, "not on fridays"),
        ("before_tool_call", 1, b"", Meaning.DENIED, "it gives no reason"),
        ("before_tool_call", 1, b"\x1b[31mred\x07", Meaning.DENIED, "red"),
        ("before_tool_call", 2, b'{"a": 1}', Meaning.MODIFIED, ""),
        ("before_tool_call", 2, b"{", Meaning.FAILED, "printed no JSON"),
        ("before_tool_call", 2, b"[1]", Meaning.FAILED, "printed no object"),
        ("before_tool_call", 3, b"", Meaning.FAILED, "ended with the status 3: oh"),
        ("before_tool_call", 137, b"", Meaning.FAILED, "ended with the status 137"),
        ("after_tool_call", 1, b"too late", Meaning.FAILED, "ended with the status 1"),
        ("after_tool_call", 2, b"{}", Meaning.FAILED, "ended with the status 2"),
        ("on_spawn_complete", 0, b"", Meaning.ALLOWED, ""),
    ],
)
def test_an_exit_code_means_what_it_means_there(
    event: str, code: int, stdout: bytes, meaning: Meaning, why: str
) -> None:
    found = verdict(event, code, stdout, b"oh\n")
    assert found.meaning is meaning
    assert why in found.why
    assert found.arguments == ({"a": 1} if meaning is Meaning.MODIFIED else None)


def told(tool: str, arguments: Any, end: ToolEnd | None = None) -> dict[str, Any]:
    call = ToolCall(
        tool=tool, arguments=arguments, request_id="req-1", trace_id="t-1", caller=Actor(CallerType.CLI, "ann")
    )
    data = payload("before_tool_call", call, end)
    found: dict[str, Any] = json.loads(data)
    return found


def test_a_hook_is_told_the_call_and_its_end() -> None:
    found = told("text.greet", {"name": "ann"}, ToolEnd(ok=True, duration_ms=1.5, result={"text": "hi"}))
    assert found == {
        "event": "before_tool_call",
        "tool_name": "text.greet",
        "arguments": {"name": "ann"},
        "request_id": "req-1",
        "trace_id": "t-1",
        "caller": {"type": "cli", "id": "ann"},
        "success": True,
        "result": {"text": "hi"},
        "error": None,
        "duration_ms": 1.5,
        "task": None,
        "cut": [],
    }


def test_what_is_long_is_cut_and_what_is_private_is_not_told() -> None:
    long = {"text": "é" * 2_000}
    found = told("text.greet", long, ToolEnd(ok=False, duration_ms=1, result=long, error="x"))
    assert found["cut"] == ["arguments", "result"]
    assert len(found["arguments"].encode()) in (CUT_BYTES, CUT_BYTES - 1)
    assert found["arguments"].startswith('{"text":"éé')
    for tool in ("read_file", "plugin.pack.write_file", "plugin.pack.shell"):
        assert told(tool, {"path": "secret"})["arguments"] == "[REDACTED]"
    assert names_of("plugin.pack.a.b") == ("plugin.pack.a.b", "a.b")
