"""What an MCP server answered, and what goes wrong with it, in the kernel's words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from evatui.adapters.mcp_tools import Tool
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind, Origin, failure
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean, clean_line

__all__ = ["NO_ANSWER", "progress_from", "told", "tool_result"]

NO_ANSWER: Final = -32050
"""Our own code for what came in the place of an answer, and is none."""

_MESSAGE: Final = 2_000
_MAX_LINE: Final = 200
_MOST: Final = 2**53
"""Up to here every number is one of its own, and whatever reads JSON knows it."""
_INVALID_PARAMS: Final = -32602
_METHOD_NOT_FOUND: Final = -32601
_TIMEOUT: Final = -32001
_CLOSED: Final = -32000


def tool_result(result: Mapping[str, Any], tool: Tool, who: str) -> Mapping[str, Any]:
    """``{content, structuredContent?}``. Raises `CallFailed` where the tool says that it failed, and ``InvalidOutput``
    where what it gives is not what it declares. For a thread."""
    text = "\n".join(part["text"] for part in result.get("content", ()) if part.get("type") == "text")
    if result.get("isError"):
        details: dict[str, Any] = {"origin": Origin.HANDLER.value}
        message = clean(text, _MESSAGE) or f"{who} failed without a message"
        raise CallFailed(CallError(ErrorKind.HANDLER_ERROR, message, False, None, MappingProxyType(details)))
    structured = result.get("structuredContent")
    if tool.output is not None:
        found = tool.output.check(structured)
        if found:
            message = f"the answer of {who} does not fit its output schema: {found[0].text}"
            raise failure(ErrorKind.INVALID_OUTPUT, message, text=clean(text, _MESSAGE))
    kept = {"content": result.get("content", [])}
    return kept | ({"structuredContent": structured} if structured is not None else {})


def progress_from(done: float, total: float | None, message: str | None) -> Progress | None:
    """A server's word on how far a call has come; None where it makes no sense."""
    if not 0 <= done <= _MOST:
        return None
    known = total is not None and done <= total <= _MOST
    return Progress(_whole(done), _whole(total) if known and total else None, clean_line(message or "", _MAX_LINE))


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


def told(code: int, message: str, who: str) -> CallFailed:
    """An error of the protocol."""
    text = clean(message, _MESSAGE)
    if code == _INVALID_PARAMS:
        return failure(ErrorKind.INVALID_INPUT, f"{who} refuses the request: {text}", origin=Origin.HANDLER.value)
    if code == _METHOD_NOT_FOUND:
        return failure(ErrorKind.NOT_FOUND, f"{who} does not know the request: {text}", origin=Origin.HANDLER.value)
    if code == _TIMEOUT:
        return failure(ErrorKind.TIMEOUT, f"{who} has not answered in time", retryable=True)
    if code == NO_ANSWER:
        return failure(ErrorKind.INVALID_RESPONSE, f"{who} answered what the protocol does not allow")
    if code == _CLOSED:
        return failure(ErrorKind.UNAVAILABLE, f"{who} is gone: {text}", retryable=True)
    return failure(ErrorKind.HOST_ERROR, f"{who} answered with the error {code}: {text}")
