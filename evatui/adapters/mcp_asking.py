"""What a call asks of an MCP server: by the protocol's own names, or by a name that the manifest gave to a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evatui.kernel.host.ports import Invocation, NotSent
from evatui.kernel.model.adapter import MCP_NAMES, SEPARATOR, Adapter
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line

__all__ = ["Asked", "understood"]

_RESOURCE: Final = MCP_NAMES["resources"]
_PROMPT: Final = MCP_NAMES["prompts"]


@dataclass(frozen=True, slots=True)
class Asked:
    """``kind`` is ``tool``, ``resource`` or ``prompt``; ``name`` that of it, or its URI."""

    kind: str
    name: str
    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def understood(adapter: Adapter, invocation: Invocation) -> Asked:
    """Raises `NotSent` for a payload of another shape, and ``PolicyDenied`` for what no allow-list covers."""
    name, payload, block = invocation.capability, invocation.payload, adapter.block
    if name in adapter.aliases:
        alias = adapter.aliases[name]
        return _tool(adapter, alias["tool"], {**_object(payload, name), **alias["arguments"]})
    given = _object(payload, name)
    if name == _RESOURCE:
        uri = _text(given, "uri", name, "uri")
        _check(block["resources"], uri, "resources", adapter.id)
        return Asked("resource", uri, f"{adapter.id} {clean_line(uri, 400)}")
    if name == _PROMPT:
        prompt = _text(given, "name", name, "name", "arguments")
        _check(block["prompts"], prompt, "prompts", adapter.id)
        arguments = _object(given.get("arguments") or {}, "arguments")
        if not all(isinstance(value, str) for value in arguments.values()):
            raise _invalid("the arguments of a prompt are texts")
        return Asked("prompt", prompt, f"{adapter.id} {clean_line(prompt, 400)}", arguments)
    tool = _text(given, "tool", name, "tool", "arguments")
    return _tool(adapter, tool, _object(given.get("arguments") or {}, "arguments"))


def _tool(adapter: Adapter, tool: str, arguments: Mapping[str, Any]) -> Asked:
    bare = tool.removeprefix(f"{adapter.id}{SEPARATOR}")
    _check(adapter.block["tools"], bare, "tools", adapter.id)
    return Asked("tool", bare, clean_line(f"{adapter.id}{SEPARATOR}{bare}", 400), arguments)


def _check(allowed: Sequence[str], name: str, where: str, server: str) -> None:
    if not any(covers_name(entry, name) for entry in allowed):
        message = f"{clean_line(name, 200)} of {server} is not allowed: mcp.{where} does not cover it"
        raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False)


def _text(given: Mapping[str, Any], key: str, capability: str, *known: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise _invalid(f"{capability} needs {key}")
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise _invalid(f"{capability} takes {', '.join(known)}, not {clean_line(unknown, 64)}")
    return value


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _invalid(f"{what} takes an object")
    return value


def _invalid(message: str) -> NotSent:
    return NotSent(ErrorKind.INVALID_INPUT, message, retryable=False)
