"""What a hook is told of a call, on its standard input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from evatui.extensions.hooks.armed import names_of
from evatui.kernel.model.call import Actor

__all__ = ["CUT_BYTES", "ToolCall", "ToolEnd", "payload"]

CUT_BYTES: Final = 1_024
"""Of the arguments, and of the result, as JSON."""
_REDACTED: Final = frozenset({"shell", "write_file", "read_file"})
_HIDDEN: Final = "[REDACTED]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    tool: str
    arguments: Any
    request_id: str
    trace_id: str
    caller: Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """``result`` where it is ``ok``, else ``error``."""

    ok: bool
    duration_ms: float
    result: Any = None
    error: str = ""
    task: str | None = None


def payload(event: str, call: ToolCall, end: ToolEnd | None = None) -> bytes:
    """``{event, tool_name, arguments, request_id, trace_id, caller}``, of one that has ended also ``{success, result,
    error, duration_ms, task}``.

    What is longer than `CUT_BYTES` is text, the beginning of its JSON, and then named in ``cut``.
    """
    cut: list[str] = []
    told: dict[str, Any] = {
        "event": event,
        "tool_name": call.tool,
        "arguments": _shown("arguments", call.tool, call.arguments, cut),
        "request_id": call.request_id,
        "trace_id": call.trace_id,
        "caller": call.caller.to_json(),
    }
    if end is not None:
        told |= {
            "success": end.ok,
            "result": _shown("result", call.tool, end.result, cut),
            "error": end.error or None,
            "duration_ms": round(end.duration_ms, 3),
            "task": end.task,
        }
    return orjson.dumps({**told, "cut": cut})


def _shown(what: str, tool: str, value: Any, cut: list[str]) -> Any:
    """What tools for files and commands are given, and give, is nobody else's business."""
    if value is not None and _REDACTED.intersection(names_of(tool)):
        return _HIDDEN
    try:
        data = orjson.dumps(value)
    except TypeError:  # the call ends for that very reason
        return None
    if len(data) <= CUT_BYTES:
        return value
    cut.append(what)
    return data[:CUT_BYTES].decode(errors="ignore")
