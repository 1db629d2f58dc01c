"""Calling other capabilities, and through adapters whatever else answers to a name."""

from __future__ import annotations

import asyncio
from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.ids import CAPABILITY_ID, CAPABILITY_NAME
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line

__all__ = ["call_tool", "invoke_adapter"]

_MAX_TIMEOUT_MS = 3_600_000


async def call_tool(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    name, payload = given.take_text("capability", limit=256), given.take_value("payload")
    call.target = clean_line(name, 256)
    given.done()
    _check_capability(asker, call, name)
    asker.require_effects(call)
    return await _called(asker, _request(asker, name, payload, local=True))


async def invoke_adapter(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    name, provider = given.take_text("capability", limit=256), given.take_text("provider", "", limit=128, empty=True)
    payload, timeout_ms = given.take_value("payload"), given.take_number("timeout_ms", None, 1, _MAX_TIMEOUT_MS)
    call.target = clean_line(f"{provider}:{name}" if provider else name, 256)
    given.done()
    if provider and not CAPABILITY_ID.fullmatch(provider):
        raise failure(ErrorKind.INVALID_INPUT, f"invoke_adapter: {clean_line(provider, 128)} is no id of a provider")
    _check_capability(asker, call, name)
    providers = asker.scope.permissions().adapters.providers
    if not any(covers_name(grant, provider) for grant in providers) if provider else not providers:
        missing = f"does not cover {provider}" if provider else "covers nobody"
        raise failure(ErrorKind.POLICY_DENIED, f"{call.target} is not granted: adapters.providers {missing}")
    asker.require_effects(call)
    await asyncio.to_thread(asker.announce, call)
    request = _request(asker, name, payload, provider=provider or None, providers=providers, timeout_ms=timeout_ms)
    return await _called(asker, request)


def _check_capability(asker: Asker, call: HostCall, name: str) -> None:
    if not CAPABILITY_NAME.fullmatch(name):
        raise failure(ErrorKind.INVALID_INPUT, f"{call.fn}: {clean_line(name, 256)} is no name of a capability")
    if not asker.scope.permissions().adapters.allow(name):
        denied = f"{call.target} is not granted: adapters.capabilities does not cover it"
        raise failure(ErrorKind.POLICY_DENIED, denied)


def _request(asker: Asker, capability: str, payload: Any, **way: Any) -> CallRequest:
    """In the name of the asker, within its chain and its deadline."""
    scope = asker.scope
    return CallRequest(
        capability,
        {} if payload is None else payload,
        asker.actor,
        user=scope.user,
        tags=scope.tags,
        trace_id=scope.trace_id,
        ancestors=scope.ancestors,
        deadline=scope.deadline,
        **way,
    )


async def _called(asker: Asker, request: CallRequest) -> dict[str, Any]:
    """What the other one answered: a ``result``, or an ``error``; the other key is nil to Lua, which null is not.

    Raises its `CallFailed` where nobody was called.
    """
    report = await asker.parts.invoke(request)
    response = report.response
    if response.error is None:
        return {"ok": True, "result": response.result}
    if report.generation is None:
        raise CallFailed(response.error)
    return {"ok": False, "error": response.error.to_json()}
