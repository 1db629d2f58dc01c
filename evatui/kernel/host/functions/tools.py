"""Calling other capabilities."""

from __future__ import annotations

from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.ids import CAPABILITY_NAME
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line

__all__ = ["call_tool"]


async def call_tool(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    name, payload = given.take_text("capability", limit=256), given.take_value("payload")
    call.target = clean_line(name, 256)
    given.done()
    if not CAPABILITY_NAME.fullmatch(name):
        raise failure(ErrorKind.INVALID_INPUT, f"call_tool: {call.target} is no name of a capability")
    if not any(covers_name(grant, name) for grant in asker.scope.permissions().adapters.capabilities):
        raise failure(ErrorKind.POLICY_DENIED, f"{call.target} is not granted: adapters.capabilities does not cover it")
    asker.require_effects(call)
    report = await asker.parts.invoke(_request(asker, name, {} if payload is None else payload))
    response = report.response
    if response.error is not None and report.generation is None:
        error = response.error  # nobody was called
        raise failure(error.kind, error.message, retryable=error.retryable, **error.details)
    error_json = response.error.to_json() if response.error else None
    return {"ok": response.ok, "result": response.result, "error": error_json}


def _request(asker: Asker, capability: str, payload: Any) -> CallRequest:
    scope = asker.scope
    return CallRequest(
        capability,
        payload,
        asker.actor,
        user=scope.user,
        tags=scope.tags,
        trace_id=scope.trace_id,
        ancestors=scope.ancestors,
        deadline=scope.deadline,
    )
