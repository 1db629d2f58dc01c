"""What came of a call, as its client gets it: in the spelling of its era of the protocol, as it goes out.

What the kernel says by itself and what a handler declares passes; what only happened to it does not: that is for the
audit log, and the client gets the number of the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from mcp.types import SERVER_INFO_META_KEY, ContentBlock
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from evatui import __version__
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import HANDLER_KINDS, ErrorKind, Origin
from evatui.kernel.model.text import clean

__all__ = ["answered", "failed"]

_TOLD_BY_KERNEL = frozenset(
    {
        ErrorKind.INVALID_INPUT,
        ErrorKind.POLICY_DENIED,
        ErrorKind.NOT_FOUND,
        ErrorKind.UNAVAILABLE,
        ErrorKind.CONFLICT,
        ErrorKind.TIMEOUT,
        ErrorKind.MEMORY_EXCEEDED,
        ErrorKind.INPUT_TOO_LARGE,
        ErrorKind.OUTPUT_TOO_LARGE,
        ErrorKind.CONCURRENCY_LIMITED,
        ErrorKind.HOST_CALL_LIMIT,
        ErrorKind.CANCELLED,
    }
)
_KINDS = frozenset(map(str, ErrorKind))
"""A handler that fails with one of these has not declared it: it is what a host call failed with."""
_MAX_MESSAGE = 2_000
_META = "evatui"
_CONTENT = "mcp_content"
_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])
_SERVER = {"name": "evatui", "version": __version__}


def answered(report: Mapping[str, Any], protocol: str) -> dict[str, Any]:
    """``report`` is that of `mcp.call`. A result is structured content, and the same as text unless the handler gives
    other content (``meta.mcp_content``); an error has no structured content, which would have to fit the output
    schema."""
    response, request_id = report["response"], report["request_id"]
    meta = {f"{_META}/requestId": request_id, f"{_META}/generation": report["generation"]}
    if not response["ok"]:
        return _failed(_told(response["error"], request_id), meta, protocol)
    result, made = response["result"], (response.get("meta") or {}).get(_CONTENT)
    try:
        content = [_text(result)] if made is None else _checked(made)
    except ValidationError:
        return _failed(f"InvalidResponse: meta.{_CONTENT} of the tool is no content as MCP has it", meta, protocol)
    answer = _answer(content, meta, protocol, is_error=False)
    if isinstance(result, dict) or (protocol in MODERN_PROTOCOL_VERSIONS and result is not None):
        answer["structuredContent"] = result
    return answer


def _checked(made: Any) -> list[dict[str, Any]]:
    """What the handler made for people and models to look at. Raises `ValidationError`."""
    blocks = _BLOCKS.validate_python(made)
    return [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in blocks]


def _text(result: Any) -> dict[str, Any]:
    return {"type": "text", "text": result if isinstance(result, str) else orjson.dumps(result).decode()}


def failed(problem: CommandFailed, request_id: str, protocol: str) -> dict[str, Any]:
    """The runtime refused the request, or was lost over it."""
    error = {"kind": problem.kind.value, "message": problem.message, "retryable": problem.retryable}
    return _failed(_told(error, request_id), {f"{_META}/requestId": request_id}, protocol)


def _failed(text: str, meta: dict[str, Any], protocol: str) -> dict[str, Any]:
    return _answer([_text(text)], meta, protocol, is_error=True)


def _answer(content: list[dict[str, Any]], meta: dict[str, Any], protocol: str, *, is_error: bool) -> dict[str, Any]:
    answer = {"content": content, "isError": is_error, "_meta": meta}
    if protocol in MODERN_PROTOCOL_VERSIONS:
        answer |= {"resultType": "complete", "_meta": {**meta, SERVER_INFO_META_KEY: _SERVER}}
    return answer


def _told(error: Mapping[str, Any], request_id: str) -> str:
    kind, details = ErrorKind(error["kind"]), error.get("details") or {}
    if not _may_be_told(kind, details):
        return f"{kind.value}: the tool failed; the audit log has the reason under {request_id}"
    lines = [f"{kind.value}: {clean(str(error['message']), _MAX_MESSAGE)}"]
    lines += [
        f"{found['pointer'] or '/'}: {clean(found['message'], 400)}" for found in details.get("violations", ())[1:]
    ]
    if error.get("retryable"):
        lines.append("Trying again may help.")
    return "\n".join(lines)


def _may_be_told(kind: ErrorKind, details: Mapping[str, Any]) -> bool:
    if details.get("origin") != Origin.HANDLER.value:
        return kind in _TOLD_BY_KERNEL
    return kind in HANDLER_KINDS or details.get("kind", ErrorKind.INTERNAL) not in _KINDS
